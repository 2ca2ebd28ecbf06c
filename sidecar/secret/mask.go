package secret

import (
	"io"
	"strings"
	"sync/atomic"
)

// Masker replaces secrets in what is written to logs and transcripts by "***": those that the rules find, and those that
// Assent holds. It may be used from any goroutine; the zero value is not usable, see [NewMasker]. A nil Masker masks
// nothing.
type Masker struct {
	scanner *Scanner
	held    atomic.Pointer[func() []Held]
}

// NewMasker returns a masker that knows the rules, and no held secrets yet.
func NewMasker() *Masker { return &Masker{scanner: New()} }

// Hold makes held the source of the secrets that Assent has. It is called for each text, so it must be safe for
// concurrent use, and must neither log nor wait.
func (m *Masker) Hold(held func() []Held) {
	if m != nil {
		m.held.Store(&held)
	}
}

// Mask returns the text without secrets. What is JSON stays JSON.
func (m *Masker) Mask(text string) string {
	if m == nil {
		return text
	}
	var held []Held
	if h := m.held.Load(); h != nil {
		held = (*h)()
	}
	var b strings.Builder
	for {
		findings := m.scanner.Scan(text, held)
		end := 0
		for _, f := range findings {
			if f.Rule == RuleRest {
				break
			}
			b.WriteString(text[end:f.Start])
			b.WriteString("***")
			end = f.End
		}
		text = text[end:]
		if end == 0 || len(findings) < MostFindings {
			b.WriteString(text)
			return b.String()
		}
	}
}

// Writer returns a writer that masks what goes to w. Each write is a whole text, such as a log line.
func (m *Masker) Writer(w io.Writer) io.Writer { return maskedWriter{m, w} }

type maskedWriter struct {
	masker *Masker
	to     io.Writer
}

// Write implements [io.Writer].
func (w maskedWriter) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.masker.Mask(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
