package terminal

import (
	"strings"
	"sync"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// flow writes a text that comes in pieces to a terminal, and wraps it between words. It holds back the last word until
// the word is complete. Its methods are called from any goroutine.
type flow struct {
	write func(string) error
	width func() int

	mu     sync.Mutex // guards the fields below, and writing
	column int
	space  string
	word   strings.Builder
}

// put writes a piece of the text, which is safe to show.
func (f *flow) put(text string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			f.take(&out)
			out.WriteByte('\n')
			f.column, f.space = 0, ""
		case unicode.IsSpace(r):
			f.take(&out)
			f.space += string(r)
		case ansi.StringWidth(string(r)) > 1: // scripts with wide characters put no spaces between words
			f.take(&out)
			f.word.WriteRune(r)
			f.take(&out)
		default:
			f.word.WriteRune(r)
		}
	}
	if f.word.Len() > mostHeldWord {
		f.take(&out)
	}
	return f.out(out.String())
}

// mostHeldWord bounds how much of a word is held back, in bytes.
const mostHeldWord = 200

// take moves the held word to the output. The lock must be held.
func (f *flow) take(out *strings.Builder) {
	if f.word.Len() == 0 {
		return
	}
	word := f.word.String()
	f.word.Reset()
	w, before := ansi.StringWidth(word), ansi.StringWidth(f.space)
	if f.column > 0 && f.column+before+w > f.width() {
		out.WriteByte('\n')
		f.column = 0
	} else {
		out.WriteString(f.space)
		f.column += before
	}
	f.space = ""
	out.WriteString(word)
	f.column += w
}

// end writes the word that is held back. The next piece begins a new line.
func (f *flow) end() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out strings.Builder
	f.take(&out)
	f.column, f.space = 0, ""
	return f.out(out.String())
}

func (f *flow) out(text string) error {
	if text == "" {
		return nil
	}
	return f.write(text)
}
