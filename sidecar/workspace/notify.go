package workspace

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/rs/zerolog"
)

// notifyPause is how long the next call for the person waits for the one before.
const notifyPause = 30 * time.Second

// notify calls the person to a question of a task, if no front end shows it. Several questions at once are one call. It does
// not wait.
func (p *Person) notify(title string, log zerolog.Logger) {
	p.mu.Lock()
	defer p.mu.Unlock()
	attended := slices.ContainsFunc(p.open, func(w *Workspace) bool { return w.attached.asks() })
	if p.Notify == nil || attended || p.closed || time.Since(p.notified) < notifyPause {
		return
	}
	p.notified = time.Now()
	p.telling.Go(func() {
		if err := p.Notify(fmt.Sprintf("%s waits for your answer. Run assent open to see the question.", plain(title))); err != nil {
			log.Info().Err(err).Msg("the operating system shows no notification")
		}
	})
}

// plain returns a text in which only letters, digits and a few signs are as they were. Some systems take a notification as a
// script or as XML, and a host and a folder can have any name.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" .-_", r) {
			return r
		}
		return '?'
	}, text)
}
