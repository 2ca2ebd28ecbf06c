package secret

import (
	"io"
	"slices"
	"sync/atomic"
)

// Masker replaces secrets in logs and transcripts by "***": those that the rules find, and those that Assent holds.
// [NewMasker] makes one. It may be used from any goroutine. A nil Masker masks nothing.
type Masker struct {
	scanner *Scanner
	known   atomic.Pointer[func() []Known]
}

// NewMasker returns a masker that knows the rules, but no known secrets.
func NewMasker() *Masker { return &Masker{scanner: New()} }

// SetKnown sets the function that returns the secrets that Assent holds. Each Mask calls it, so it must be safe for
// concurrent use, must not wait, and must not log: a log line would call it again.
func (m *Masker) SetKnown(known func() []Known) {
	if m != nil {
		m.known.Store(&known)
	}
}

// Mask returns the text without secrets. It replaces all of them, in time that is linear in the text. The strings of
// JSON stay strings; a number that is a secret becomes invalid JSON.
func (m *Masker) Mask(text string) string {
	if m == nil {
		return text
	}
	var known []Known
	if h := m.known.Load(); h != nil {
		known = (*h)()
	}
	return replace(text, m.scanner.findAll(text, known), stars)
}

func stars(Finding) string { return "***" }

// MaskArgs returns the arguments of a program with "***" for what [Scanner.InArgs] finds.
func MaskArgs(args []string) []string {
	masked := slices.Clone(args)
	for i, findings := range New().InArgs(args) {
		masked[i] = replace(args[i], findings, stars)
	}
	return masked
}

// Writer returns a writer that masks each text before it writes it to w. A secret is found only within one Write, so each
// Write must be a whole text, such as a log line.
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
