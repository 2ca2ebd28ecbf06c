package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is the JSON of a run.
type report struct {
	Machine machine     `json:"machine"`
	Rows    []rowReport `json:"rows"`
}

// machine is what a run was measured on.
type machine struct {
	Platform string `json:"platform"`
	CPU      string `json:"cpu"`
	CPUs     int    `json:"cpus"`
	Go       string `json:"go"`
	// Load is the machine's average over the minute before the run: what others did to it.
	Load string    `json:"load"`
	Time time.Time `json:"time"`
}

// thisMachine describes it. What Linux alone tells is left out elsewhere.
func thisMachine() *machine {
	m := &machine{
		Platform: runtime.GOOS + "/" + runtime.GOARCH, CPU: "unknown CPU", CPUs: runtime.NumCPU(), Go: runtime.Version(),
		Load: "unknown", Time: time.Now().UTC().Truncate(time.Second),
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(load), " ")
	}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, after, ok := strings.Cut(string(info), "model name"); ok {
			line, _, _ := strings.Cut(after, "\n")
			m.CPU = strings.Trim(line, "\t :")
		}
	}
	return m
}

func (m *machine) String() string {
	return fmt.Sprintf("%s, %d × %s, %s, load %s, %s", m.Platform, m.CPUs, m.CPU, m.Go, m.Load, m.Time.Format(time.DateOnly))
}

// rowReport is a row of the table, with all rounds.
type rowReport struct {
	Group  string `json:"group"`
	What   string `json:"what"`
	Unit   string `json:"unit,omitempty"`
	Figure spread `json:"figure"`
	// Reference is measured in the same rounds, and Ratio is of those of one round.
	Reference   *spread `json:"reference,omitempty"`
	ReferenceIs string  `json:"referenceIs,omitempty"`
	Ratio       *spread `json:"ratio,omitempty"`
	// AtMost or AtLeast is the bar for the ratio's median, and Met whether it is met.
	AtMost  *float64 `json:"atMost,omitempty"`
	AtLeast *float64 `json:"atLeast,omitempty"`
	Met     *bool    `json:"met,omitempty"`
}

// spread is a sample with its text.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Rounds sample  `json:"rounds"`
}

func (s sample) spread() *spread {
	if len(s) == 0 {
		return nil
	}
	return &spread{Median: s.median(), Min: slices.Min(s), Max: slices.Max(s), Rounds: s}
}

func (r *row) report() rowReport {
	ratios := r.ratios()
	out := rowReport{
		Group: r.group, What: r.what, Unit: r.unit, Figure: *r.figure.spread(),
		Reference: r.reference.spread(), ReferenceIs: r.referenceIs, Ratio: ratios.spread(),
	}
	if r.bar == (bar{}) {
		return out
	}
	out.Met = new(r.bar.met(ratios.median()))
	if r.bar.atLeast {
		out.AtLeast = &r.bar.limit
	} else {
		out.AtMost = &r.bar.limit
	}
	return out
}

// writeReport writes the JSON to a file.
func writeReport(file string, m *machine, rows []row) error {
	out := report{Machine: *m}
	for _, r := range rows {
		out.Rows = append(out.Rows, r.report())
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
