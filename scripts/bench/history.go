package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// How many messages the tasks have that are compared.
const (
	shortHistory = 10
	longHistory  = 100_000
)

// historyCost is what an ask costs the host, on average.
type historyCost struct{ p50, cpu, bytes comparison }

// history compares an ask in a long task with one in a short task: its time, the host's CPU time, and the bytes
// sent to the front end. It measures a host that sends its whole conversation with every ask in the same way.
func (b *bench) history() ([]row, error) {
	dir, err := b.histories()
	if err != nil {
		return nil, err
	}
	lengths := [2]int{longHistory, shortHistory}
	var ours, polled historyCost
	for range b.rounds {
		err := b.withSidecar(dir, b.oneServer(), func(f *frontEnd) error {
			var costs [2]askCost
			for i, n := range lengths {
				if costs[i], err = f.askCost(historyTask(n), b.asks); err != nil {
					return err
				}
			}
			ours.add(costs)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
		var costs [2]askCost
		for i, n := range lengths {
			asks := 3 // of the long ones
			if n == shortHistory {
				asks = 20
			}
			err := b.withHost(b.oneServer(), func(f *frontEnd) error {
				costs[i], err = f.askCost(historyTask(n), asks)
				return err
			}, pollingHost, strconv.Itoa(n))
			if err != nil {
				return nil, err
			}
		}
		polled.add(costs)
	}
	what := fmt.Sprintf("an ask in a task of %d messages, ", longHistory)
	reference := fmt.Sprintf("%d messages", shortHistory)
	polling := pollingName + ": " + what
	return []row{
		{what: what + "p50", unit: "us", figure: ours.p50.figure, reference: ours.p50.reference, referenceIs: reference},
		{what: what + "CPU", unit: "us", figure: ours.cpu.figure, reference: ours.cpu.reference, referenceIs: reference, bar: bar{limit: 1.1}},
		{what: what + "to the front end", unit: "B", figure: ours.bytes.figure, reference: ours.bytes.reference, referenceIs: reference, bar: bar{limit: 1.1}},
		{what: polling + "CPU", unit: "us", figure: polled.cpu.figure, reference: polled.cpu.reference, referenceIs: reference},
		{what: polling + "to the front end", unit: "B", figure: polled.bytes.figure, reference: polled.bytes.reference, referenceIs: reference},
	}, nil
}

// add notes a round: what the long task costs, and the short one.
func (h *historyCost) add(costs [2]askCost) {
	h.p50.add(costs[0].p50, costs[1].p50)
	h.cpu.add(costs[0].cpu, costs[1].cpu)
	h.bytes.add(costs[0].bytes, costs[1].bytes)
}

// askCost is the cost of one ask, in microseconds and bytes.
type askCost struct{ p50, cpu, bytes float64 }

// askCost has n asks answered at once, one after the other, and before that a few unmeasured ones.
func (f *frontEnd) askCost(taskID string, n int) (c askCost, err error) {
	if _, err := f.answerAll(taskID, "bench", 1+n/10); err != nil {
		return c, err
	}
	cpu, err := cpuMicros(f.Cmd.Process.Pid)
	if err != nil {
		return c, err
	}
	sent := f.Bytes
	took, err := f.answerAll(taskID, "bench", n)
	if err != nil {
		return c, err
	}
	after, err := cpuMicros(f.Cmd.Process.Pid)
	return askCost{took.median(), (after - cpu) / float64(n), float64(f.Bytes-sent) / float64(n)}, err
}

func historyTask(n int) string { return fmt.Sprintf("task-of-%d", n) }

// histories returns a data directory with tasks of several lengths.
func (b *bench) histories() (string, error) {
	dir := b.dataDir("history")
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := b.fill(dir, []int{shortHistory, 100, 1_000, longHistory}); err != nil {
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
