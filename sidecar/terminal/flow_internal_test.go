package terminal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestAFlowIsWrappedBetweenWords has a text come in all pieces that it can be cut into.
func TestAFlowIsWrappedBetweenWords(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"words", "one two three four five", "one two\nthree four\nfive"},
		{"lines", "one\ntwo\n\nthree", "one\ntwo\n\nthree"},
		{"an indented line", "  - one two three", "  - one\ntwo three"},
		{"a long word", "see https://example.com/a/long/path there", "see\nhttps://example.com/a/long/path\nthere"},
		{"no spaces between words", "日本語のテキスト", "日本語のテ\nキスト"},
	}
	for _, tt := range tests {
		for size := range len(tt.text) {
			var b strings.Builder
			f := &flow{width: func() int { return 10 }, write: func(text string) error { b.WriteString(text); return nil }}
			pieces := []rune(tt.text)
			for len(pieces) > 0 {
				n := min(size+1, len(pieces))
				if err := f.put(string(pieces[:n])); err != nil {
					t.Fatal(err)
				}
				pieces = pieces[n:]
			}
			if err := f.end(); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("%s in pieces of %d: %q, want %q", tt.name, size+1, b.String(), tt.want)
			}
		}
	}
}

func TestANarrowedTerminalKeepsNothingOfTheStatus(t *testing.T) {
	var out bytes.Buffer
	width := 80
	d := &display{out: &out, width: func() int { return width }}
	d.show(func(int) string { return strings.Repeat("x", 70) })
	out.Reset()
	width = 30 // which has made three rows of it
	d.show(nil)
	if want := "\r" + ansi.CursorUp(2) + ansi.EraseScreenBelow; out.String() != want {
		t.Errorf("the terminal got %q, want %q", out.String(), want)
	}
}
