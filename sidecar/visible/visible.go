// Package visible makes hidden characters visible: characters that control a terminal, change the direction of writing,
// or have no glyph. A server or a model can use them to disguise a text.
//
// Its functions keep no state and may be called from any goroutine. The webview does the same in
// webview-ui/src/lib/visible.ts.
package visible

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// blank holds letters, marks and symbols that are drawn as nothing, although Unicode does not call them formatting.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // the combining grapheme joiner
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // fillers of Hangul
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // vowels of Khmer
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // selectors of Mongolian
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // the blank Braille pattern
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe007f, Stride: 1}}, // tags, also those that are not assigned
}

// Hidden reports whether a character has no glyph of its own, or changes how others are drawn. So does the replacement
// character, which stands for bytes that are not UTF-8. Line ends and tabs are not hidden.
func Hidden(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, blank)
}

// Text returns a text with each hidden character written as its code point: <U+202E>.
func Text(text string) string { return escape(text, Hidden) }

// Line is [Text] for a text that is shown in one line: line ends and tabs are written as their code points too.
func Line(text string) string {
	return escape(text, func(r rune) bool { return r == '\n' || r == '\t' || Hidden(r) })
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

func controls(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp))
}

func escape(text string, hidden func(rune) bool) string {
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// JSON returns a JSON text with each hidden character as an escape of JSON: \u202e. Its value stays the same.
func JSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case !Hidden(r) || r == '\r': // a line end between values; inside a string JSON has it escaped
			out = append(out, text[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[size:]
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
