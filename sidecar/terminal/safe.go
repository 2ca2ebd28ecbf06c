package terminal

import (
	"fmt"
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
)

// safe returns a stranger's text as a terminal may show it: what would move the cursor, change colours, turn
// the direction of writing or hide is drawn as its code point. Line ends and tabs stay.
func safe(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029', r == unicode.ReplacementChar:
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// oneLine is safe without line ends, and no longer than limit characters.
func oneLine(text string, limit int) string {
	text = safe(strings.Join(strings.Fields(text), " "))
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}

// strong has a text, which is safe to show, stand out in a dialog.
func strong(text string) string { return lipgloss.NewStyle().Bold(true).Render(text) }

// plain has a text stand out in no way: where it is read line by line.
func plain(text string) string { return text }
