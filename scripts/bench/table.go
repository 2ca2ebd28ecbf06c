package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// row is a line of the table: a figure with its reference.
type row struct {
	group       string // what -only calls it
	what, unit  string
	figure      sample // of each round
	reference   sample // of the same rounds; empty if there is none
	referenceIs string
	bar         bar
}

// bar is how the ratio of a figure to its reference should be. The zero value asks for nothing.
type bar struct {
	limit   float64
	atLeast bool // else at most
}

func (b bar) String() string {
	switch {
	case b == bar{}:
		return ""
	case b.atLeast:
		return fmt.Sprintf("≥ %.3g", b.limit)
	default:
		return fmt.Sprintf("≤ %.3g", b.limit)
	}
}

// met says whether a ratio is as it should be.
func (b bar) met(ratio float64) bool {
	if b.atLeast {
		return ratio >= b.limit
	}
	return ratio <= b.limit
}

// ratios compares the measurements of each round, which removes the effects of the machine on both.
func (r *row) ratios() sample {
	s := make(sample, min(len(r.figure), len(r.reference)))
	for i := range s {
		s[i] = r.figure[i] / r.reference[i]
	}
	return s
}

// sample is what the rounds measured.
type sample []float64

// median returns the median, or 0 of nothing.
func (s sample) median() float64 { return s.quantile(0.5) }

// quantile returns the value below which the part q of the sample lies.
func (s sample) quantile(q float64) float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func (s sample) String() string {
	switch len(s) {
	case 0:
		return ""
	case 1:
		return decimal(s[0])
	}
	return fmt.Sprintf("%s (%s–%s)", decimal(s.median()), decimal(slices.Min(s)), decimal(slices.Max(s)))
}

// decimal writes three digits of a number, or all that stand before its point.
func decimal(f float64) string {
	if f == 0 {
		return "0"
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(f))))
	return strconv.FormatFloat(f, 'f', max(digits, 0), 64)
}

// comparison is a figure beside its reference, round by round.
type comparison struct{ figure, reference sample }

func (c *comparison) add(figure, reference float64) {
	c.figure, c.reference = append(c.figure, figure), append(c.reference, reference)
}

// printTable writes Markdown: medians, and the least and the most of the rounds in parentheses.
func printTable(w io.Writer, m *machine, rows []row) error {
	lines := [][]string{
		{"what", "", "figure", "reference", "", "ratio", "bar", "met"},
		{"", "", "", "", "", "", "", ""}, // the rule
	}
	group := ""
	for _, r := range rows {
		if r.group != group {
			group = r.group
			lines = append(lines, []string{"**" + group + "**", "", "", "", "", "", "", ""})
		}
		ratios, met := r.ratios(), ""
		if r.bar != (bar{}) {
			met = "no"
			if r.bar.met(ratios.median()) {
				met = "yes"
			}
		}
		lines = append(lines, []string{r.what, r.unit, r.figure.String(), r.referenceIs, r.reference.String(), ratios.String(), r.bar.String(), met})
	}
	_, err := fmt.Fprintf(w, "%v\n\n%s", m, aligned(lines))
	return err
}

// aligned makes columns of the same width. The second line is the rule below the first.
func aligned(lines [][]string) string {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), 3)
		}
	}
	for i, width := range widths {
		lines[1][i] = strings.Repeat("-", width)
	}
	var out strings.Builder
	for _, line := range lines {
		for i, cell := range line {
			out.WriteString("| " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+1))
		}
		out.WriteString("|\n")
	}
	return out.String()
}
