package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// machine is what a run was measured on.
type machine struct {
	Platform string
	CPU      string
	CPUs     int
	Go       string
	// Load is the machine's average over the minute before the run: what others did to it.
	Load string
	Time time.Time
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
