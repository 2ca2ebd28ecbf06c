// Package visible makes hidden characters visible: characters that control a terminal, change the direction of writing,
// or have no glyph. A server or a model can use them to disguise a text.
//
// Its functions keep no state and may be called from any goroutine. Which characters are hidden is in a table of the
// package protocol. protocol/visible.ts has the same rule, for the panel and the extension.
package visible

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"assent/protocol"
)

var (
	hidden  = table(protocol.HiddenCharacters)
	emoji   = table(protocol.EmojiCharacters)
	joining = table(protocol.JoiningCharacters)
)

// table reads one of the protocol's tables.
func table(ranges string) *unicode.RangeTable {
	var t unicode.RangeTable
	for r := range strings.FieldsSeq(ranges) {
		first, last, isRange := strings.Cut(r, "-")
		if !isRange {
			last = first
		}
		lo, errLo := strconv.ParseUint(first, 16, 32)
		hi, errHi := strconv.ParseUint(last, 16, 32)
		if err := errors.Join(errLo, errHi); err != nil {
			panic(err) // a constant is wrong
		}
		if hi <= 0xffff {
			t.R16 = append(t.R16, unicode.Range16{Lo: uint16(lo), Hi: uint16(hi), Stride: 1})
		} else {
			t.R32 = append(t.R32, unicode.Range32{Lo: uint32(lo), Hi: uint32(hi), Stride: 1})
		}
	}
	return &t
}

// Hidden reports whether a character has no glyph of its own, or changes how others are drawn. So does the replacement
// character, which stands for bytes that are not UTF-8. Line ends and tabs are not hidden.
func Hidden(r rune) bool { return unicode.Is(hidden, r) }

// Text returns a text with each hidden character written as its code point: <U+202E>. Ordinary text stays as it is, also
// where it needs such a character: the line end of Windows, an emoji's form, joined emoji, and joiners between letters
// of scripts that have them.
func Text(text string) string { return escape(text, unseen) }

// unseen reports whether a character is hidden between its neighbours, which are 0 at the ends of a text.
func unseen(before, r, after rune) bool {
	switch {
	case !Hidden(r):
		return false
	case r == '\r':
		return after != '\n'
	case r == emojiForm || r == textForm:
		return !unicode.Is(emoji, before) && (after != keycap || !strings.ContainsRune("0123456789#*", before))
	case r == joiner && unicode.Is(emoji, after):
		return before != emojiForm && !unicode.Is(emoji, before)
	case r == joiner || r == nonJoiner:
		return !unicode.Is(joining, before) || !unicode.Is(joining, after)
	}
	return true
}

const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
	keycap    = '\u20e3'
	textForm  = '\ufe0e'
	emojiForm = '\ufe0f'
)

// Line is [Text] for a text that is shown in one line: line ends and tabs are written as their code points too.
func Line(text string) string {
	return escape(text, func(before, r, after rune) bool {
		return r == '\r' || r == '\n' || r == '\t' || unseen(before, r, after)
	})
}

// Data returns a text for a program to read. Only characters that control a terminal or change the direction of writing
// are written as their code points. Line ends stay as they are, also those of Windows; so do joiners, which emoji need.
func Data(text string) string {
	lines := strings.Split(text, "\r\n")
	for i, line := range lines {
		lines[i] = escape(line, controls)
	}
	return strings.Join(lines, "\r\n")
}

func controls(_, r, _ rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp))
}

func escape(text string, hides func(before, r, after rune) bool) string {
	var b strings.Builder
	var before rune
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		after := rune(0)
		if rest := text[i+size:]; rest != "" {
			after, _ = utf8.DecodeRuneInString(rest)
		}
		if hides(before, r, after) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// JSON returns a JSON text with each hidden character as an escape of JSON: \u202e. Its value stays the same.
func JSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	var before rune
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		after, _ := utf8.DecodeRune(text[size:])
		switch {
		case !unseen(before, r, after) || r == '\r': // a line end between values; inside a string JSON has it escaped
			out = append(out, text[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		before, text = r, text[size:]
	}
	return out
}

// JSONWriter returns a writer that passes JSON texts on as [JSON] does. Each write is a whole text, such as a log line.
func JSONWriter(to io.Writer) io.Writer { return jsonWriter{to} }

type jsonWriter struct{ to io.Writer }

// Write implements [io.Writer].
func (w jsonWriter) Write(text []byte) (int, error) {
	if _, err := w.to.Write(JSON(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}
