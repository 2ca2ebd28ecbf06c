package mcptask_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/wire/mcptask"
)

// One refused poll says nothing about the task. The person sees why it is asked again, and no longer after that.
func TestAPollThatIsRefusedIsRepeated(t *testing.T) {
	refused := func(code int64) error { return &jsonrpc.Error{Code: code, Message: "try again"} }
	for _, tt := range []struct {
		name   string
		states []any
		took   time.Duration
	}{
		{"once", []any{refused(-32603), state(completed)}, 2 * time.Second},
		{"by an error of the server's own", []any{refused(-32000), refused(503), state(completed)}, 4 * time.Second},
		{"five times", []any{refused(-32603), refused(-32603), refused(-32603), refused(-32603), refused(-32603), state(completed)}, 32 * time.Second},
		{"beside a lost connection", []any{refused(-32603), errors.New("refused"), state(completed)}, 4 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &script{begin: time.Now(), states: tt.states}
				told, last := false, protocol.McpTask{}
				raw, err := mcptask.Follow(t.Context(), d, state(working), mcptask.Options{Observe: func(s protocol.McpTask) {
					told = told || s.Problem == "The server does not say how it is: try again ("+code(tt.states[0])+")"
					last = s
				}})
				if err != nil || string(raw) != `{"done":true}` || time.Since(d.begin) != tt.took {
					t.Errorf("Follow = %s, %v after %v, want %v", raw, err, time.Since(d.begin), tt.took)
				}
				if !told || last.Problem != "" {
					t.Errorf("the person was told: %t, and at the end %q", told, last.Problem)
				}
			})
		})
	}
}

func code(err any) string {
	var refused *jsonrpc.Error
	errors.As(err.(error), &refused)
	raw, _ := json.Marshal(refused.Code) // a number has no error
	return string(raw)
}

// A task that its server may still have is not to be started again.
func TestOnlyATaskThatIsGoneCanBeStartedAgain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first *mcptask.State
		err   error
		gone  bool
	}{
		{"unknown", state(working), unknown, true},
		{"expired", state(working, ttl(time.Second)), &jsonrpc.Error{Code: -32603, Message: "no"}, true},
		{"refused for long", state(working), &jsonrpc.Error{Code: -32603, Message: "no"}, false},
		{"no status", state(working), mcptask.ErrNoStatus, false},
		{"away", state(working), errors.New("refused"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := mcptask.Follow(t.Context(), &script{states: []any{tt.err}}, tt.first, mcptask.Options{Observe: func(protocol.McpTask) {}})
				var lost *mcptask.LostError
				if !errors.As(err, &lost) || lost.Gone != tt.gone {
					t.Errorf("Follow = %+v", err)
				}
			})
		})
	}
}

// A completed task has a result, so that an error is one of the request for it.
func TestTheResultOfACompletedTaskIsAskedForAgain(t *testing.T) {
	for _, tt := range []struct {
		code     int64
		refusals int
		isThere  bool
	}{
		{-32603, 1, true},
		{-32603, 3, true},
		{-32603, 4, false},
		{-32000, 1, true},
		{-32602, 1, true},
		{-32602, 4, false},
		{503, 3, true},
		{-32601, 1, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &refusingResult{script{begin: time.Now(), states: []any{state(completed)}}, tt.code, tt.refusals}
			raw, err := mcptask.Follow(t.Context(), d, state(working), mcptask.Options{Observe: func(protocol.McpTask) {}})
			if (err == nil) != tt.isThere || err == nil && string(raw) != `{"done":true}` {
				t.Errorf("%d refusals with %d: Follow = %s, %v", tt.refusals, tt.code, raw, err)
			}
		})
	}
}

// A server may forget a task with its result. To start the task again would do twice what it did.
func TestAResultThatIsGoneIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &refusingResult{script{begin: time.Now(), states: []any{state(completed), unknown}}, -32602, 1}
		_, err := mcptask.Follow(t.Context(), d, state(working), mcptask.Options{Observe: func(protocol.McpTask) {}})
		want := &mcptask.LostError{Over: true, Reason: "is completed, and the server no longer knows it: unknown task (-32602)"}
		var got *mcptask.LostError
		if errors.As(err, &got); !cmp.Equal(got, want) {
			t.Errorf("Follow = %+v", err)
		}
	})
}

// refusingResult refuses the request for the result at first.
type refusingResult struct {
	script
	code     int64
	refusals int
}

func (d *refusingResult) Result(ctx context.Context, s *mcptask.State) (json.RawMessage, error) {
	if d.refusals > 0 {
		d.refusals--
		return nil, &jsonrpc.Error{Code: d.code, Message: "busy"}
	}
	return d.script.Result(ctx, s)
}

func TestSpellingsOfAStatus(t *testing.T) {
	for word, want := range map[string]protocol.McpTaskStatus{
		"canceled": protocol.McpTaskCancelled, "Cancelled": protocol.McpTaskCancelled, "CANCELED": protocol.McpTaskCancelled,
		"done": completed, "success": completed, "SUCCEEDED": completed, " Completed ": completed,
		"error": protocol.McpTaskFailed, "rejected": protocol.McpTaskFailed, "Failed": protocol.McpTaskFailed,
		"input-required": protocol.McpTaskInputRequired, "Input Required": protocol.McpTaskInputRequired,
		"running": working, "in-progress": working, "IN_PROGRESS": working,
		"paused": "paused", "Zorg": "Zorg", "": "",
	} {
		if got := mcptask.StatusOf(word); got != want {
			t.Errorf("StatusOf(%q) = %q, want %q", word, got, want)
		}
	}
}

// A status that MCP does not have is said, and ends the wait if it stays.
func TestAStatusThatMCPDoesNotHave(t *testing.T) {
	for _, pace := range []time.Duration{0, time.Millisecond, 4 * time.Second, 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			d := &script{begin: time.Now(), states: []any{state("paused", poll(pace))}}
			told := ""
			_, err := mcptask.Follow(t.Context(), d, state(working, poll(pace)), mcptask.Options{Observe: func(s protocol.McpTask) { told = s.Problem }})
			if err == nil || !strings.Contains(err.Error(), `it stays in the status "paused"`) || told != `The server gives it the status "paused", which MCP does not have.` {
				t.Errorf("Follow = %v, the person was told %q", err, told)
			}
			if took := time.Since(d.begin); took < 10*time.Second || took > max(15*time.Second, 4*pace) {
				t.Errorf("it ended after %v", took)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		d := &script{begin: time.Now(), states: []any{state("paused"), state("frozen"), state("paused"), state(working), state("paused"), state(completed)}}
		if raw, err := mcptask.Follow(t.Context(), d, state(working), mcptask.Options{Observe: func(protocol.McpTask) {}}); err != nil || string(raw) != `{"done":true}` {
			t.Errorf("a task that goes on: Follow = %s, %v", raw, err)
		}
	})
}
