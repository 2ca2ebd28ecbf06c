package terminal

import (
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// usualWidth is the assumed width of a terminal that does not report its width, in columns.
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

// wrapped wraps the lines of a text between words if they are longer than width, and keeps their indentation. A word
// that is longer than a line stays whole, so that people can copy it. A width of 0 means no limit.
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

// Hanging formats a line for a stream. On a terminal, it wraps the line between words, and indents the rows after the
// first. Elsewhere it returns the line unchanged. The line must be safe to show.
func Hanging(stream any, line string, indent int) string {
	width := widthOf(stream)
	if width == 0 || ansi.StringWidth(line) <= width {
		return line
	}
	// The beginning of the line stays unchanged, because it may have columns.
	rows := byWords(line, width)
	if len(rows) == 1 || width <= 2*indent {
		return strings.Join(rows, "\n")
	}
	rest := byWords(strings.TrimLeft(strings.TrimPrefix(line, rows[0]), " "), width-indent)
	before := "\n" + strings.Repeat(" ", indent)
	return rows[0] + before + strings.Join(rest, before)
}

// Heading formats a line above columns for a stream. It returns "" for a stream that is no terminal.
func Heading(stream any, line string) string {
	width := widthOf(stream)
	if width == 0 {
		return ""
	}
	return paintOf(stream).bold(ansi.Truncate(line, width, "…")) + "\n"
}

// byWords breaks a line between words into rows of at most width columns. A longer word gets its own row.
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

// paint reports whether a stream's texts are highlighted; if it is false, its methods return them unchanged. The texts
// must be safe to show.
type paint bool

// paintOf returns true for a terminal that can be drawn on, unless the environment has NO_COLOR (https://no-color.org).
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
