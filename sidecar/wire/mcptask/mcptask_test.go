package mcptask_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/wire/mcptask"
)

// script is a server that answers polls from a list. The last item repeats.
type script struct {
	begin  time.Time
	states []any // *mcptask.State or error
	result error // of a task without one

	mu        sync.Mutex // guards the fields below
	polls     []time.Duration
	cancelled []time.Duration
	onCancel  any
	attended  int
}

func (s *script) Get(context.Context) (*mcptask.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.polls = append(s.polls, time.Since(s.begin))
	next := s.states[0]
	if len(s.states) > 1 {
		s.states = s.states[1:]
	}
	if err, ok := next.(error); ok {
		return nil, err
	}
	return next.(*mcptask.State), nil
}

func (s *script) Result(_ context.Context, state *mcptask.State) (json.RawMessage, error) {
	if state.Result == nil {
		return nil, s.result
	}
	return state.Result, nil
}

func (s *script) Attend(context.Context, *mcptask.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attended++
}

func (s *script) Cancel(context.Context) (*mcptask.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelled = append(s.cancelled, time.Since(s.begin))
	switch c := s.onCancel.(type) {
	case error:
		return nil, c
	case *mcptask.State:
		return c, nil
	default:
		return nil, nil
	}
}

func state(status protocol.McpTaskStatus, change ...func(*mcptask.State)) *mcptask.State {
	s := &mcptask.State{ID: "t", Status: status}
	if status == protocol.McpTaskCompleted {
		s.Result = json.RawMessage(`{"done":true}`)
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func poll(d time.Duration) func(*mcptask.State) {
	return func(s *mcptask.State) { s.PollInterval = d }
}

func ttl(d time.Duration) func(*mcptask.State) { return func(s *mcptask.State) { s.TTL = &d } }

const (
	working   = protocol.McpTaskWorking
	completed = protocol.McpTaskCompleted
)

var unknown = &jsonrpc.Error{Code: -32602, Message: "unknown task"}

func TestPauses(t *testing.T) {
	seconds := func(values ...float64) []time.Duration {
		var d []time.Duration
		for _, v := range values {
			d = append(d, time.Duration(v*float64(time.Second)))
		}
		return d
	}
	down := errors.New("connection refused")
	tests := []struct {
		name   string
		first  *mcptask.State
		states []any
		want   []time.Duration
	}{
		{"the server's", state(working, poll(3*time.Second)), []any{state(working, poll(2*time.Second)), state(completed)}, seconds(3, 5)},
		{"a millisecond", state(working, poll(time.Millisecond)), []any{state(working, poll(time.Millisecond)), state(completed)}, seconds(0.5, 1)},
		{"a year", state(working, poll(365*24*time.Hour)), []any{state(working, poll(365*24*time.Hour)), state(completed)}, seconds(60, 360)},
		{"growing while nothing changes", state(working), []any{
			state(working), state(working), state(working), state(working), state(working), state(working), state(working), state(completed),
		}, seconds(1, 2.5, 4.75, 8.125, 13.1875, 20.78125, 30.78125, 40.78125)},
		{"short again after a change", state(working), []any{
			state(working), state(working), state(working, func(s *mcptask.State) { s.StatusMessage = "nearly" }), state(completed),
		}, seconds(1, 2.5, 4.75, 5.75)},
		{"up to the end of its time", state(working, poll(time.Minute), ttl(5*time.Second)), []any{state(completed)}, seconds(5)},
		{"past the end of its time", state(working, poll(time.Minute), ttl(5*time.Second)), []any{
			state(working, poll(time.Minute), ttl(5*time.Second)), state(completed),
		}, seconds(5, 65)},
		{"growing while the server is away", state(working, poll(time.Second)), []any{down, down, down, state(completed)}, seconds(1, 2, 4, 8)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &script{begin: time.Now(), states: tt.states}
				raw, err := mcptask.Follow(t.Context(), d, tt.first, mcptask.Options{Observe: func(protocol.McpTask) {}})
				if err != nil || string(raw) != `{"done":true}` {
					t.Errorf("Follow = %s, %v", raw, err)
				}
				if diff := cmp.Diff(tt.want, d.polls); diff != "" {
					t.Errorf("polls (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestNotificationsOfTheServerStopThePolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &script{begin: time.Now(), states: []any{state(working, poll(time.Second))}}
		news := make(chan *mcptask.State)
		go func() {
			time.Sleep(1500 * time.Millisecond)
			news <- state(working, poll(time.Second))
			time.Sleep(50 * time.Second)
			news <- state(completed)
		}()
		if _, err := mcptask.Follow(t.Context(), d, state(working, poll(time.Second)), mcptask.Options{Observe: func(protocol.McpTask) {}, News: news}); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]time.Duration{time.Second}, d.polls); diff != "" {
			t.Errorf("polls (-want +got):\n%s", diff)
		}
	})
}

// A server that sends notifications is polled once a minute, and when the task expires.
func TestATaskThatExpiresEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &script{begin: time.Now(), states: []any{unknown}}
		news := make(chan *mcptask.State, 1)
		news <- state(working, ttl(5*time.Second))
		_, err := mcptask.Follow(t.Context(), d, state(working), mcptask.Options{Observe: func(protocol.McpTask) {}, News: news})
		if err == nil || !strings.Contains(err.Error(), "it has expired") {
			t.Errorf("Follow = %v", err)
		}
		if took := time.Since(d.begin); took != 5*time.Second {
			t.Errorf("it ended after %v", took)
		}
	})
}

func TestHowATaskEnds(t *testing.T) {
	failed := &jsonrpc.Error{Code: 4001, Message: "no train", Data: json.RawMessage(`{"refund":true}`)}
	tests := []struct {
		name   string
		first  *mcptask.State
		states []any
		result error
		want   string
	}{
		{"an error", state(working), []any{state(protocol.McpTaskFailed)}, failed, "no train"},
		{"cancelled by the server", state(working), []any{state(protocol.McpTaskCancelled)}, failed, "the task was cancelled"},
		{"it vanishes", state(working), []any{unknown}, nil, "the server no longer knows it: unknown task (-32602)"},
		{"the server refuses for long", state(working), []any{&jsonrpc.Error{Code: -32603, Message: "disk full"}}, nil, "the server did not say how it is, 13 times in a row: disk full (-32603)"},
		{"the server has no tasks", state(working), []any{&jsonrpc.Error{Code: -32601, Message: "Method not found"}}, nil, "the server does not say how it is: Method not found (-32601)"},
		{"the server knows a task without a status", state(working), []any{mcptask.ErrNoStatus}, nil, "the server's answers have no status of it"},
		{"its time is over", state(working, ttl(time.Second), poll(2*time.Second)), []any{unknown}, nil, "it has expired, and the server no longer knows it: unknown task (-32602)"},
		{"its time was never", state(working, ttl(0)), []any{unknown}, nil, "it has expired, and the server no longer knows it: unknown task (-32602)"},
		{"nobody there", state(working, ttl(time.Second)), []any{errors.New("refused")}, nil, "it has expired, and the server cannot be asked: refused"},
		{"nobody there for long", state(working), []any{errors.New("refused")}, nil, "the server could not be asked 13 times in a row: refused"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &script{begin: time.Now(), states: tt.states, result: tt.result}
				_, err := mcptask.Follow(t.Context(), d, tt.first, mcptask.Options{Observe: func(protocol.McpTask) {}})
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("Follow = %v, want %s", err, tt.want)
				}
			})
		})
	}
}

func TestCancel(t *testing.T) {
	tests := []struct {
		name     string
		onCancel any
		states   []any
		result   string
		err      string
		seen     []protocol.McpTask
	}{
		{
			"at once", state(protocol.McpTaskCancelled),
			[]any{state(working)},
			"", "the task was cancelled",
			[]protocol.McpTask{{Status: working}, {Status: working, Cancelling: true}, {Status: protocol.McpTaskCancelled}},
		},
		{
			"later", nil,
			[]any{state(working), state(protocol.McpTaskCancelled)},
			"", "the task was cancelled",
			[]protocol.McpTask{{Status: working}, {Status: working, Cancelling: true}, {Status: protocol.McpTaskCancelled}},
		},
		{
			"too late", &jsonrpc.Error{Code: -32602, Message: "it has ended"},
			[]any{state(completed)},
			`{"done":true}`, "",
			[]protocol.McpTask{{Status: working}, {Status: working, Cancelling: true}, {Status: working, Problem: "The server did not cancel it: it has ended"}, {Status: completed}},
		},
		{
			"and forgotten", nil,
			[]any{unknown},
			"", "the task was cancelled",
			[]protocol.McpTask{{Status: working}, {Status: working, Cancelling: true}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &script{begin: time.Now(), states: tt.states, onCancel: tt.onCancel, result: errors.New("none")}
				asked := make(chan struct{})
				time.AfterFunc(300*time.Millisecond, func() { close(asked) })
				var seen []protocol.McpTask
				raw, err := mcptask.Follow(t.Context(), d, state(working, poll(time.Minute)), mcptask.Options{
					Cancel: asked,
					Observe: func(s protocol.McpTask) {
						if s.TaskID != "t" || s.CreatedAt != d.begin.UnixMilli() {
							t.Errorf("observed %+v", s)
						}
						s.TaskID, s.CreatedAt = "", 0
						if len(seen) == 0 || seen[len(seen)-1] != s {
							seen = append(seen, s)
						}
					},
				})
				if string(raw) != tt.result || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
					t.Errorf("Follow = %s, %v, want %s, %s", raw, err, tt.result, tt.err)
				}
				if diff := cmp.Diff(tt.seen, seen); diff != "" {
					t.Errorf("observed (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]time.Duration{300 * time.Millisecond}, d.cancelled); diff != "" {
					t.Errorf("cancelled at (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestHabitsOutliveARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &script{begin: time.Now(), states: []any{state(completed, ttl(time.Hour))}}
		known := &protocol.McpTask{TaskID: "t", Status: protocol.McpTaskInputRequired, CreatedAt: 5, ExpiresAt: 6}
		var seen []protocol.McpTask
		_, err := mcptask.Follow(t.Context(), d, &mcptask.State{ID: "t", Status: known.Status}, mcptask.Options{
			Known: known, Observe: func(s protocol.McpTask) { seen = append(seen, s) },
		})
		if err != nil {
			t.Error(err)
		}
		want := []protocol.McpTask{
			{TaskID: "t", Status: protocol.McpTaskInputRequired, CreatedAt: 5, ExpiresAt: 6},
			{TaskID: "t", Status: completed, CreatedAt: 5, ExpiresAt: 5 + time.Hour.Milliseconds()},
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("observed (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]time.Duration{0}, d.polls); diff != "" {
			t.Errorf("polls (-want +got):\n%s", diff)
		}
	})
}
