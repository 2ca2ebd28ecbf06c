package terminal

import (
	"math"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// The longest cells, in characters. The first cell of a row is longer, because people copy it.
const (
	mostFirst       = 1000
	mostDescription = 100 // in a line for a pipe
	mostWrapped     = 400 // in a table on a terminal
)

// column is a column of a table.
type column struct {
	header string
	// cut reports whether a cell that does not fit is cut. Other cells are wrapped between words.
	cut bool
	// ids reports whether the cells are ids. A terminal shows them shortened, because commands accept the beginning of
	// an id.
	ids bool
}

// table is a list. The first cell of each row names the item.
type table struct {
	columns []column
	rows    [][]string
	// whole allows every cell to be as long as the first one of a row.
	whole bool
}

// gap is the space between two columns.
const gap = 2

// narrow is the minimum width of a column with wrapped or cut cells, unless all its cells are shorter.
const narrow = 20

// lines returns the table for a pipe: a line for each row, its cells separated by tabs, without headers. Empty cells at
// the end are left out.
func (t table) lines() string {
	var b strings.Builder
	for _, row := range t.rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			limit := mostDescription
			if i == 0 || t.whole {
				limit = mostFirst
			}
			cells[i] = oneLine(cell, limit)
		}
		b.WriteString(strings.TrimRight(strings.Join(cells, "\t"), "\t") + "\n")
	}
	return b.String()
}

// drawn returns the table for a terminal that is width columns wide: aligned under its headers or, if that does not
// fit, with a block for each row. Empty columns are left out. The text is safe to show.
func (t table) drawn(width int, p paint) string {
	t = t.filled()
	widths, fit := t.widths(width)
	if !fit {
		return t.stacked(width, p)
	}
	var b strings.Builder
	var headers []string
	for _, c := range t.columns {
		headers = append(headers, strings.ToUpper(c.header))
	}
	b.WriteString(aligned(split(t.columns, headers, widths), widths, p.bold))
	for _, row := range t.rows {
		b.WriteString(aligned(split(t.columns, row, widths), widths, func(text string) string { return text }))
	}
	return b.String()
}

// Table returns rows below their headers, for a stream. On a terminal it fits the width; elsewhere it is as wide as its
// cells need.
func Table(stream any, headers []string, rows [][]string) string {
	t := table{rows: rows}
	for _, header := range headers {
		t.columns = append(t.columns, column{header: header})
	}
	width := widthOf(stream)
	if width == 0 {
		width = math.MaxInt
	}
	return t.drawn(width, paintOf(stream))
}

// filled returns the table with cells that are safe to show, without its empty columns.
func (t table) filled() table {
	var used []int
	for i := range t.columns {
		for _, row := range t.rows {
			if i == 0 || strings.TrimSpace(row[i]) != "" {
				used = append(used, i)
				break
			}
		}
	}
	out := table{whole: t.whole}
	for _, i := range used {
		out.columns = append(out.columns, t.columns[i])
	}
	for r, row := range t.rows {
		var cells []string
		for _, i := range used {
			limit := mostWrapped
			if i == 0 || t.whole {
				limit = mostFirst
			}
			cell := row[i]
			if t.columns[i].ids {
				cell = t.shortened(r, i)
			}
			cells = append(cells, oneLine(cell, limit))
		}
		out.rows = append(out.rows, cells)
	}
	return out
}

// shortened returns the shortest beginning of a cell, of at least eight bytes, that begins no other cell of its column.
func (t table) shortened(row, column int) string {
	id := t.rows[row][column]
	n := min(8, len(id))
	for _, other := range t.rows {
		for other[column] != id && n < len(id) && strings.HasPrefix(other[column], id[:n]) {
			n++
		}
	}
	for n < len(id) && !utf8.RuneStart(id[n]) {
		n++
	}
	return id[:n]
}

// widths returns the widths of the columns, and whether the table fits. The first column is never made narrower, and
// no word of a wrapped one is broken.
func (t table) widths(width int) ([]int, bool) {
	widths, least := make([]int, len(t.columns)), make([]int, len(t.columns))
	total := gap * (len(t.columns) - 1)
	for i, c := range t.columns {
		widths[i] = ansi.StringWidth(c.header)
		word := widths[i]
		for _, row := range t.rows {
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
			for w := range strings.SplitSeq(row[i], " ") {
				if !c.cut {
					word = max(word, ansi.StringWidth(w))
				}
			}
		}
		least[i] = max(word, min(widths[i], narrow))
		if i == 0 {
			least[i] = widths[i]
		}
		total += widths[i]
	}
	for total > width {
		widest := -1
		for i := range widths {
			if widths[i] > least[i] && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return widths, false
		}
		widths[widest]--
		total--
	}
	return widths, true
}

// split breaks the cells of a row into lines of the columns' widths.
func split(columns []column, cells []string, widths []int) [][]string {
	out := make([][]string, len(cells))
	for i, cell := range cells {
		if columns[i].cut {
			out[i] = []string{ansi.Truncate(cell, widths[i], "…")}
		} else {
			out[i] = byWords(cell, widths[i])
		}
	}
	return out
}

// aligned writes the lines of cells below each other.
func aligned(cells [][]string, widths []int, style func(string) string) string {
	rows := 0
	for _, lines := range cells {
		rows = max(rows, len(lines))
	}
	var b strings.Builder
	for r := range rows {
		var line strings.Builder
		column := 0
		for i, lines := range cells {
			if r < len(lines) && lines[r] != "" {
				line.WriteString(strings.Repeat(" ", column-ansi.StringWidth(line.String())))
				line.WriteString(lines[r])
			}
			column += widths[i] + gap
		}
		b.WriteString(style(line.String()) + "\n")
	}
	return b.String()
}

// stacked writes a block for each row: its first cell, and the others with their headers below it.
func (t table) stacked(width int, p paint) string {
	var b strings.Builder
	for _, row := range t.rows {
		b.WriteString(p.bold(row[0]) + "\n")
		for i, cell := range row[1:] {
			if cell == "" {
				continue
			}
			c := t.columns[i+1]
			line := "  " + c.header + ": " + cell
			if c.cut {
				line = ansi.Truncate(line, width, "…")
			}
			b.WriteString(wrapped(line, width) + "\n")
		}
	}
	return b.String()
}

// list prints a list: one object as JSON, an aligned table on a terminal, or the lines for a pipe. An empty list prints
// the sentence empty to stderr.
func (s *session) list(whole any, t table, empty string) error {
	switch {
	case s.line.json:
		return s.printJSON(whole)
	case len(t.rows) == 0:
		s.note("%s", empty)
		return nil
	case s.stdout.isTerminal:
		return s.write(t.drawn(s.stdout.width(), s.stdout.paint))
	}
	return s.print("%s", t.lines())
}

// near returns a path relative to the current folder. A pipe gets the whole path.
func (s *session) near(path string) string {
	if !s.stdout.isTerminal {
		return path
	}
	if inside, err := filepath.Rel(s.o.Folder, path); err == nil && filepath.IsLocal(inside) {
		return inside
	}
	return path
}
