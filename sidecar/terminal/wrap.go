package terminal

import (
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// usualWidth is the width of a terminal that does not tell its own, in columns.
const usualWidth = 80

// widthOf returns the width of a stream's terminal in columns, or 0 for another stream.
func widthOf(stream any) int {
	if !IsTerminal(stream) {
		return 0
	}
	width, _, err := term.GetSize(int(stream.(*os.File).Fd()))
	if err != nil || width <= 0 {
		return usualWidth
	}
	return width
}

// wrapped breaks the lines of a text that are longer than width between words, and keeps their indentation. A word that
// is longer than a line stays whole, so that it can be copied. A width of 0 wraps nothing.
func wrapped(text string, width int) string {
	if width <= 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if ansi.StringWidth(line) > width {
			rest := strings.TrimLeft(line, " ")
			indent := line[:len(line)-len(rest)]
			lines[i] = indent + strings.Join(byWords(rest, max(1, width-len(indent))), "\n"+indent)
		}
	}
	return strings.Join(lines, "\n")
}

// Hanging is a line that is safe to show, for a stream: on a terminal it is wrapped between words, and the rows after
// the first are indented. Elsewhere it is as it was.
func Hanging(stream any, line string, indent int) string {
	width := widthOf(stream)
	if width == 0 || ansi.StringWidth(line) <= width {
		return line
	}
	// The beginning is kept as it is: it may have columns.
	rows := byWords(line, width)
	if len(rows) == 1 || width <= 2*indent {
		return strings.Join(rows, "\n")
	}
	rest := byWords(strings.TrimLeft(strings.TrimPrefix(line, rows[0]), " "), width-indent)
	before := "\n" + strings.Repeat(" ", indent)
	return rows[0] + before + strings.Join(rest, before)
}

// Heading is a line above columns, for a stream: only a terminal gets it.
func Heading(stream any, line string) string {
	width := widthOf(stream)
	if width == 0 {
		return ""
	}
	return paintOf(stream).bold(ansi.Truncate(line, width, "…")) + "\n"
}

// byWords breaks a line between words into rows of at most width columns. A longer word has a row for itself.
func byWords(line string, width int) []string {
	var rows []string
	row, used := "", 0
	for i, word := range strings.Split(line, " ") {
		w := ansi.StringWidth(word)
		switch {
		case i == 0:
			row, used = word, w
		case used+1+w <= width:
			row, used = row+" "+word, used+1+w
		default:
			rows = append(rows, strings.TrimRight(row, " "))
			row, used = word, w
		}
	}
	return append(rows, strings.TrimRight(row, " "))
}

// paint highlights texts on a stream; with false it does not change them. The texts are safe to show.
type paint bool

// paintOf paints on terminals that can be drawn on, unless the environment has NO_COLOR (https://no-color.org).
func paintOf(stream any) paint {
	return paint(IsTerminal(stream) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}

func (p paint) in(style ansi.Style, text string) string {
	if !p || text == "" {
		return text
	}
	return style.Styled(text)
}

func (p paint) bold(text string) string { return p.in(ansi.NewStyle().Bold(), text) }

func (p paint) red(text string) string { return p.in(ansi.NewStyle().ForegroundColor(ansi.Red), text) }

func (p paint) faint(text string) string { return p.in(ansi.NewStyle().Faint(), text) }
