package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// oneServer configures a server that asks: this program with a command.
func (b *bench) oneServer(command string) map[string]any {
	return map[string]any{"bench": map[string]any{"command": b.self, "args": []string{command}, "protocolVersion": "2025-11-25"}}
}

func (b *bench) dataDir(name string) string { return filepath.Join(b.dir, name) }

// roundDir is a new data directory for one round.
func (b *bench) roundDir(name string, round int) string {
	return b.dataDir(fmt.Sprint(name, "-", round))
}

// withSidecar runs f with a sidecar and ends it.
func (b *bench) withSidecar(dataDir string, servers map[string]any, f func(*frontEnd) error) error {
	fe, err := b.startSidecar(dataDir, servers)
	if err != nil {
		return err
	}
	return errors.Join(f(fe), fe.Close())
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// start measures from the start of the process to the answer of the handshake.
func (b *bench) start() ([]row, error) {
	const times = 5 // in a round
	var took comparison
	for i := range b.rounds {
		var ours, host sample
		for j := range times {
			began := time.Now()
			note := func(s *sample) func(*frontEnd) error {
				return func(*frontEnd) error {
					*s = append(*s, milliseconds(time.Since(began)))
					return nil
				}
			}
			if err := b.withSidecar(b.roundDir("start", i*times+j), nil, note(&ours)); err != nil {
				return nil, fmt.Errorf("start: %w", err)
			}
			began = time.Now()
			if err := b.withHost(nil, note(&host), promiseHost); err != nil {
				return nil, err
			}
		}
		took.add(ours.median(), host.median())
	}
	return []row{{
		what: "process start to handshake answered", unit: "ms", figure: took.figure,
		reference: took.reference, referenceIs: "bundled " + promiseName, bar: bar{limit: 0.1},
	}}, nil
}

const idleServers = 50

// memory measures the resident memory, idle and with idle servers, and the part of it that is the process's alone:
// the rest is its program, which all windows share. The servers' own is in none of it.
func (b *bench) memory() ([]row, error) {
	servers := b.rawServers(idleServers)
	var idle, busy, own comparison
	for i := range b.rounds {
		measure := func(idle, busy, own *sample) func(*frontEnd) error {
			return func(f *frontEnd) error {
				if _, err := f.newTask(); err != nil { // the store is open
					return err
				}
				before, err := f.memoryAtRest(wholeMemory)
				if err != nil {
					return err
				}
				if _, err := f.listAll(servers); err != nil {
					return err
				}
				after, err := f.memoryAtRest(wholeMemory)
				if err != nil {
					return err
				}
				alone, err := residentMB(f.Cmd.Process.Pid, ownMemory)
				*idle, *busy, *own = append(*idle, before), append(*busy, after), append(*own, alone)
				return err
			}
		}
		if err := b.withSidecar(b.roundDir("memory", i), servers, measure(&idle.figure, &busy.figure, &own.figure)); err != nil {
			return nil, fmt.Errorf("memory: %w", err)
		}
		if err := b.withHost(servers, measure(&idle.reference, &busy.reference, &own.reference), promiseHost); err != nil {
			return nil, err
		}
	}
	what := fmt.Sprintf("memory, %d idle servers", idleServers)
	return []row{
		{what: "memory, idle", unit: "MB", figure: idle.figure, reference: idle.reference, referenceIs: promiseName, bar: bar{limit: 0.3}},
		{what: what, unit: "MB", figure: busy.figure, reference: busy.reference, referenceIs: promiseName, bar: bar{limit: 0.4}},
		{what: what + ", but for the program's file", unit: "MB", figure: own.figure, reference: own.reference, referenceIs: promiseName},
	}, nil
}

// What Linux calls a process's memory: all that is resident, and that of it which is no file's.
const (
	wholeMemory = "VmRSS:"
	ownMemory   = "RssAnon:"
)

// rest is how long a process is idle before it is measured, as while it waits for a person.
const rest = 8 * time.Second

// memoryAtRest reads one of them after a rest.
func (f *frontEnd) memoryAtRest(which string) (float64, error) {
	time.Sleep(rest)
	return residentMB(f.Cmd.Process.Pid, which)
}

// residentMB reads one of them.
func residentMB(pid int, which string) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, which); ok {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kb / 1024, err
		}
	}
	return 0, fmt.Errorf("no %s", which)
}
