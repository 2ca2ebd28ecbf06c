package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"assent/protocol"
	"assent/sidecar/store"
)

// oneServer configures the server that asks.
func (b *bench) oneServer() map[string]any {
	return map[string]any{"bench": map[string]any{"command": b.self, "args": []string{serverCommand}, "protocolVersion": "2025-11-25"}}
}

func (b *bench) dataDir(name string) string { return filepath.Join(b.dir, name) }

// withSidecar runs f with a sidecar and ends it.
func (b *bench) withSidecar(dataDir string, servers map[string]any, f func(*frontEnd) error) error {
	fe, err := b.startSidecar(dataDir, servers, protocol.ModelSettings{})
	if err != nil {
		return err
	}
	return errors.Join(f(fe), fe.close())
}

// roundTrip measures an ask from the server's request to its receipt of the answer.
func (b *bench) roundTrip() ([]row, error) {
	var p50, p95, floor50, floor95 sample
	for i := range b.rounds {
		bare, err := b.bareClient()
		if err != nil {
			return nil, fmt.Errorf("bare client: %w", err)
		}
		floor50, floor95 = append(floor50, bare.median()), append(floor95, bare.quantile(0.95))
		err = b.withSidecar(b.dataDir(fmt.Sprint("roundtrip", i)), b.oneServer(), func(f *frontEnd) error {
			var task protocol.Task
			if err := f.call("task/create", protocol.CreateTaskParams{}, &task); err != nil {
				return err
			}
			took, err := f.answerAll(task.ID, "bench", b.asks)
			p50, p95 = append(p50, took.median()), append(p95, took.quantile(0.95))
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("round trip: %w", err)
		}
	}
	const reference = "bare go-sdk client"
	return []row{
		{what: "an ask answered at once, p50", unit: "us", figure: p50, reference: floor50, referenceIs: reference},
		{what: "an ask answered at once, p95", unit: "us", figure: p95, reference: floor95, referenceIs: reference},
	}, nil
}

// start measures from the start of the process to the answer of the handshake.
func (b *bench) start() ([]row, error) {
	var took sample
	for i := range b.rounds {
		began := time.Now()
		err := b.withSidecar(b.dataDir(fmt.Sprint("start", i)), nil, func(*frontEnd) error {
			took = append(took, float64(time.Since(began))/float64(time.Millisecond))
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("start: %w", err)
		}
	}
	return []row{{what: "process start to handshake answered", unit: "ms", figure: took}}, nil
}

const idleServers = 50

// memory measures the sidecar's resident memory, idle and with idle servers. The servers' own is not
// in it.
func (b *bench) memory() ([]row, error) {
	servers := map[string]any{}
	for i := range idleServers {
		servers[fmt.Sprint("idle", i)] = b.oneServer()["bench"]
	}
	var idle, busy sample
	for i := range b.rounds {
		err := b.withSidecar(b.dataDir(fmt.Sprint("memory", i)), servers, func(f *frontEnd) error {
			if err := f.call("task/list", nil, nil); err != nil { // the store is open
				return err
			}
			before, err := residentMB(f.cmd.Process.Pid)
			if err != nil {
				return err
			}
			for name := range servers {
				if err := f.call("tools/list", protocol.ServerParams{ServerName: name}, nil); err != nil {
					return err
				}
			}
			after, err := residentMB(f.cmd.Process.Pid)
			idle, busy = append(idle, before), append(busy, after)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("memory: %w", err)
		}
	}
	return []row{
		{what: "memory, idle", unit: "MB", figure: idle},
		{what: fmt.Sprintf("memory, %d idle servers", idleServers), unit: "MB", figure: busy, reference: idle, referenceIs: "idle"},
	}, nil
}

// residentMB reads a process's resident memory from Linux.
func residentMB(pid int) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kb / 1024, err
		}
	}
	return 0, errors.New("no VmRSS")
}

// history measures an ask in tasks of different lengths: its time, and the bytes that it sends to the
// front end.
func (b *bench) history() ([]row, error) {
	lengths := []int{0, 1_000, 100_000}
	dir, err := b.histories()
	if err != nil {
		return nil, err
	}
	times, bytes := map[int]sample{}, map[int]sample{}
	asks := max(b.asks/10, 10)
	for range b.rounds {
		err := b.withSidecar(dir, b.oneServer(), func(f *frontEnd) error {
			for _, n := range lengths {
				before := f.bytes
				id, err := f.taskOf(n)
				if err != nil {
					return err
				}
				took, err := f.answerAll(id, "bench", asks)
				if err != nil {
					return err
				}
				times[n] = append(times[n], took.median())
				bytes[n] = append(bytes[n], float64(f.bytes-before)/float64(asks))
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
	}
	var rows []row
	for _, n := range lengths {
		rows = append(rows, row{
			what: fmt.Sprintf("an ask in a task of %d messages, p50", n), unit: "us",
			figure: times[n], reference: times[lengths[0]], referenceIs: fmt.Sprintf("%d messages", lengths[0]),
		})
	}
	for _, n := range lengths {
		rows = append(rows, row{
			what: fmt.Sprintf("bytes to the front end for an ask, %d messages", n), unit: "B",
			figure: bytes[n], reference: bytes[lengths[0]], referenceIs: fmt.Sprintf("%d messages", lengths[0]),
		})
	}
	return rows, nil
}

// taskOf returns a task of so many messages: a new one, where that is none.
func (f *frontEnd) taskOf(n int) (string, error) {
	if n > 0 {
		return historyTask(n), nil
	}
	var task protocol.Task
	err := f.call("task/create", protocol.CreateTaskParams{}, &task)
	return task.ID, err
}

func historyTask(n int) string { return fmt.Sprintf("task-of-%d", n) }

// histories returns a data directory with tasks of several lengths.
func (b *bench) histories() (string, error) {
	dir := b.dataDir("history")
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := b.fill(dir, []int{100, 1_000, 100_000}); err != nil {
		return "", fmt.Errorf("fill the history: %w", err)
	}
	return dir, nil
}

// fill writes tasks of the given lengths, which would take long through the wire.
func (b *bench) fill(dir string, lengths []int) error {
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	call := protocol.Call{
		ServerName: "bench", Request: protocol.CallToolRequest{ToolName: elicitTool, Arguments: json.RawMessage(`{"n":1}`)}, EndedAt: 1,
		Result: protocol.ToolResult{Content: []protocol.ContentBlock{protocol.TextContent{Text: strings.Repeat("text ", 40)}}},
	}
	for _, n := range lengths {
		for i := int64(1); i <= int64(n); i++ {
			task := protocol.Task{ID: historyTask(n), Title: "history", LastNumber: i}
			entry := store.Entry{Message: protocol.Message{ID: i, Body: call}, Number: i}
			if err := s.Save(b.ctx, task, &entry); err != nil {
				return errors.Join(err, s.Close())
			}
		}
	}
	return s.Close()
}
