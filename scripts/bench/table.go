package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
)

// row is a line of the table: a figure, and what it is compared with.
type row struct {
	what, unit  string
	figure      sample
	reference   sample // empty where there is none
	referenceIs string
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

func print(w io.Writer, rows []row) error {
	lines := []string{
		"| what | unit | median | spread | reference | median | ratio |",
		"|---|---|---:|---:|---|---:|---:|",
	}
	for _, r := range rows {
		reference, ratio := "", ""
		if len(r.reference) > 0 {
			reference = fmt.Sprintf("%.1f", r.reference.median())
			ratio = fmt.Sprintf("%.2f", r.figure.median()/r.reference.median())
		}
		lines = append(lines, fmt.Sprintf("| %s | %s | %.1f | %.1f–%.1f | %s | %s | %s |",
			r.what, r.unit, r.figure.median(), slices.Min(r.figure), slices.Max(r.figure), r.referenceIs, reference, ratio))
	}
	_, err := fmt.Fprintf(w, "%s/%s, %d CPUs, %s\n\n%s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), strings.Join(lines, "\n"))
	return err
}
