package terminal

import (
	"bytes"
	"io"
	"sync"

	"github.com/charmbracelet/x/ansi"
)

// mostHeld bounds the text for stderr that is held back while a dialog has the terminal, in bytes. The newest part is
// kept.
const mostHeld = 64 << 10

// display is a stderr that is a terminal with cursor movement. It draws one line, the status, below the written text.
// While a dialog has the terminal, it holds back the newest text for stderr and all text for stdout. Its methods may be
// called from any goroutine.
type display struct {
	out   io.Writer
	width func() int // of the terminal, in columns

	mu       sync.Mutex // guards the fields below, and writing
	status   func(width int) string
	drawn    int  // the columns of the status that is on the screen
	midLine  bool // the last write did not end its line
	occupied bool // a dialog has the terminal
	held     []byte
	results  []heldResult
}

// heldResult is a text for a stdout that is the same terminal.
type heldResult struct {
	to   io.Writer
	text []byte
}

// results is a stdout that is the terminal of a display.
type results struct {
	d  *display
	to io.Writer
}

// Write implements [io.Writer]. Text that is held back is written when the dialog ends; errors of that write are
// ignored.
func (r *results) Write(p []byte) (int, error) {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	if r.d.occupied {
		r.d.results = append(r.d.results, heldResult{r.to, bytes.Clone(p)})
		return len(p), nil
	}
	return r.d.write(r.to, p)
}

// Write implements [io.Writer]. It does not fail while it holds text back.
func (d *display) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.occupied {
		d.held = append(d.held, p...)
		if over := len(d.held) - mostHeld; over > 0 {
			_, rest, _ := bytes.Cut(d.held[over:], []byte("\n")) // keep whole lines
			d.held = append(d.held[:0], rest...)
		}
		return len(p), nil
	}
	return d.write(d.out, p)
}

// show draws a status in place of the one before; nil removes it.
func (d *display) show(status func(width int) string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.status = status
	if !d.occupied {
		_, _ = d.write(d.out, nil) // the run continues without the status
	}
}

// occupy gives the terminal to a dialog, until the dialog calls release. Only one dialog has it at a time.
func (d *display) occupy() (release func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
	if d.midLine {
		_, _ = io.WriteString(d.out, "\n")
		d.midLine = false
	}
	d.occupied = true
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.occupied = false
		held, results := d.held, d.results
		d.held, d.results = nil, nil
		for _, r := range results {
			_, _ = d.write(r.to, r.text)
		}
		_, _ = d.write(d.out, held)
	}
}

// write writes p, and draws the status below. The lock must be held.
func (d *display) write(to io.Writer, p []byte) (n int, err error) {
	d.erase()
	if len(p) > 0 {
		n, err = to.Write(p)
		d.midLine = p[len(p)-1] != '\n'
	}
	if d.status != nil && !d.midLine && err == nil {
		width := d.width()
		line := ansi.Truncate(d.status(width), width-1, "…") // a full row would wrap
		_, err = io.WriteString(d.out, line)
		d.drawn = max(1, ansi.StringWidth(line))
	}
	return n, err
}

// erase removes the status. If the terminal has become narrower since, it has wrapped the status to several rows.
func (d *display) erase() {
	if d.drawn == 0 {
		return
	}
	erase := "\r" + ansi.EraseEntireLine
	if rows := (d.drawn - 1) / max(1, d.width()); rows > 0 {
		erase = "\r" + ansi.CursorUp(rows) + ansi.EraseScreenBelow
	}
	_, _ = io.WriteString(d.out, erase)
	d.drawn = 0
}
