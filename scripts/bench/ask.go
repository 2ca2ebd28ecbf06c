package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/errgroup"
)

// askTool asks N times, AtOnce of them open together, and returns an askTimes.
const askTool = "ask"

type askInput struct {
	N      int `json:"n"`
	AtOnce int `json:"atOnce"`

	// What only the raw server knows: how many fields each form has, and how large a result is that asks nothing.
	Fields int `json:"fields,omitempty"`
	Bytes  int `json:"bytes,omitempty"`
	// Image has the result be a picture, not text.
	Image bool `json:"image,omitempty"`
}

// askTimes is what a server measured.
type askTimes struct {
	// Each is how long each ask took, and All all of them.
	Each []time.Duration `json:"each"`
	All  time.Duration   `json:"all"`
}

// perSecond returns how many were answered in a second.
func (t *askTimes) perSecond() float64 { return float64(len(t.Each)) / t.All.Seconds() }

func (t *askTimes) micros() sample {
	s := make(sample, len(t.Each))
	for i, d := range t.Each {
		s[i] = float64(d) / float64(time.Microsecond)
	}
	return s
}

// askAll is the tool on go-sdk.
func askAll(ctx context.Context, request *mcp.CallToolRequest, in askInput) (*mcp.CallToolResult, any, error) {
	times := askTimes{Each: make([]time.Duration, in.N)}
	began := time.Now()
	asks, ctx := errgroup.WithContext(ctx)
	for first := range in.AtOnce {
		asks.Go(func() error {
			for i := first; i < in.N; i += in.AtOnce {
				began := time.Now()
				result, err := request.Session.Elicit(ctx, &mcp.ElicitParams{Message: "?", RequestedSchema: schema})
				if err != nil {
					return err
				}
				if result.Action != "accept" {
					return fmt.Errorf("the answer was %s", result.Action)
				}
				times.Each[i] = time.Since(began)
			}
			return nil
		})
	}
	if err := asks.Wait(); err != nil {
		return nil, nil, err
	}
	times.All = time.Since(began)
	text, err := json.Marshal(times)
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil, nil
}

// askCrowd is how many asks are open together where their number in a second is measured.
const askCrowd = 100

// asked is the result of one client with a server: asks one after the other, and askCrowd together, with the
// CPU time of the client's process, in microseconds per ask.
type asked struct {
	alone, together       askTimes
	cpuAlone, cpuTogether float64
}

// askRuns measures run for the client of a process, after a tenth of it unmeasured.
func (b *bench) askRuns(pid int, run func(askInput) (askTimes, error)) (a asked, err error) {
	if _, err = run(askInput{N: max(b.asks/10, 10), AtOnce: 1}); err != nil {
		return a, err
	}
	measured := func(in askInput) (askTimes, float64, error) {
		before, err := cpuMicros(pid)
		if err != nil {
			return askTimes{}, 0, err
		}
		times, err := run(in)
		if err != nil {
			return times, 0, err
		}
		after, err := cpuMicros(pid)
		return times, (after - before) / float64(in.N), err
	}
	if a.alone, a.cpuAlone, err = measured(askInput{N: b.asks, AtOnce: 1}); err != nil {
		return a, err
	}
	a.together, a.cpuTogether, err = measured(askInput{N: 5 * b.asks, AtOnce: askCrowd})
	return a, err
}

// cpuMicros reads from Linux for how long a process was on a CPU, to 10 ms.
func cpuMicros(pid int) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(data), ") ") // the name before it may hold anything
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0, errors.New("/proc/pid/stat has too few fields")
	}
	var ticks float64
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return ticks * 10_000, nil
}

// ask measures an ask from the server's request to its receipt of the answer, one after the other, and how many are
// answered a second while many are open. The reference is a client of go-sdk that stores the question and the answer; beside
// it stands one that stores nothing. All are measured with both servers: the server on go-sdk costs more than its client, and
// the one of raw JSON shows the client's part.
func (b *bench) ask() ([]row, error) {
	var rows []row
	for _, server := range []struct{ name, command string }{{"a go-sdk server", serverCommand}, {"a raw server", rawServerCommand}} {
		var p50, p95, rate, cpu, cpuTogether, stored comparison
		for i := range b.rounds {
			dir := b.dataDir(fmt.Sprint("ask-", server.command, i))
			bare, err := b.clientAsks(server.command, nil)
			if err != nil {
				return nil, fmt.Errorf("bare client of %s: %w", server.name, err)
			}
			lowest, err := b.storedAsks(dir+".db", server.command)
			if err != nil {
				return nil, fmt.Errorf("client of %s that stores: %w", server.name, err)
			}
			ours, err := b.sidecarAsks(dir, server.command)
			if err != nil {
				return nil, fmt.Errorf("sidecar of %s: %w", server.name, err)
			}
			alone, lowestAlone := ours.alone.micros(), lowest.alone.micros()
			stored.add(lowestAlone.median(), bare.alone.micros().median())
			p50.add(alone.median(), lowestAlone.median())
			p95.add(alone.quantile(0.95), lowestAlone.quantile(0.95))
			cpu.add(ours.cpuAlone, lowest.cpuAlone)
			cpuTogether.add(ours.cpuTogether, lowest.cpuTogether)
			rate.add(ours.together.perSecond(), lowest.together.perSecond())
		}
		const reference = "go-sdk client that stores"
		atMost, atLeast := bar{limit: 1.5}, bar{limit: 1, atLeast: true}
		rows = append(
			rows,
			row{what: "an ask of " + server.name + ", stored and answered by a client of go-sdk, p50", unit: "us", figure: stored.figure, reference: stored.reference, referenceIs: "go-sdk client that stores nothing"},
			row{what: "an ask of " + server.name + " answered at once, p50", unit: "us", figure: p50.figure, reference: p50.reference, referenceIs: reference, bar: atMost},
			row{what: "an ask of " + server.name + " answered at once, p95", unit: "us", figure: p95.figure, reference: p95.reference, referenceIs: reference, bar: atMost},
			row{what: fmt.Sprintf("asks of %s, %d open at once", server.name, askCrowd), unit: "1/s", figure: rate.figure, reference: rate.reference, referenceIs: reference, bar: atLeast},
			row{what: "CPU for an ask of " + server.name + ", one by one", unit: "us", figure: cpu.figure, reference: cpu.reference, referenceIs: reference},
			row{what: fmt.Sprintf("CPU for an ask of %s, %d open at once", server.name, askCrowd), unit: "us", figure: cpuTogether.figure, reference: cpuTogether.reference, referenceIs: reference},
		)
	}
	return rows, nil
}

// storedAsks is the lower bound of what keeps its asks.
func (b *bench) storedAsks(file, command string) (a asked, err error) {
	kept, err := openFloor(b.ctx, file)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, kept.close()) }()
	return b.clientAsks(command, kept)
}

// clientAsks measures a client of go-sdk with a handler that answers at once, and stores the ask unless kept is nil.
func (b *bench) clientAsks(command string, kept *floor) (a asked, err error) {
	var last atomic.Int64
	client := mcp.NewClient(&mcp.Implementation{Name: "bare", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			answer := &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "x"}}
			if kept == nil {
				return answer, nil
			}
			id := last.Add(1)
			question, err := json.Marshal(request.Params)
			if err != nil {
				return nil, err
			}
			if err := kept.question(id, string(question)); err != nil {
				return nil, err
			}
			text, err := json.Marshal(answer)
			if err != nil {
				return nil, err
			}
			return answer, kept.answer(id, string(text))
		},
	})
	session, err := client.Connect(b.ctx, &mcp.CommandTransport{Command: b.command(b.self, command)},
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	return b.askRuns(os.Getpid(), func(in askInput) (times askTimes, err error) {
		result, err := session.CallTool(b.ctx, &mcp.CallToolParams{Name: askTool, Arguments: in})
		if err != nil {
			return times, err
		}
		text, ok := result.Content[0].(*mcp.TextContent)
		if !ok || result.IsError {
			return times, fmt.Errorf("the client got %+v", result.Content[0])
		}
		return times, json.Unmarshal([]byte(text.Text), &times)
	})
}

// sidecarAsks is ours: the sidecar, and a front end that answers at once.
func (b *bench) sidecarAsks(dataDir, command string) (a asked, err error) {
	err = b.withSidecar(dataDir, b.oneServer(command), func(f *frontEnd) error {
		taskID, err := f.newTask()
		if err != nil {
			return err
		}
		a, err = b.askRuns(f.Cmd.Process.Pid, func(in askInput) (askTimes, error) { return f.answerAsks(taskID, in) })
		return err
	})
	return a, err
}

// answerAsks runs the tool and answers all that it asks.
func (f *frontEnd) answerAsks(taskID string, in askInput) (times askTimes, err error) {
	if err := f.runTool(taskID, "bench", askTool, in); err != nil {
		return times, err
	}
	for {
		h, err := f.happens()
		if err != nil {
			return times, err
		}
		if h.askID != "" {
			if err := f.answer(h, "x"); err != nil {
				return times, err
			}
			continue
		}
		text, err := h.text()
		if err != nil {
			return times, err
		}
		return times, json.Unmarshal([]byte(text), &times)
	}
}
