package exchange_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/hub/exchange"
)

// A modern server refuses the answer. It gets it again while it asks the same, and the person learns if it never takes it.
func TestAnAnswerThatIsRefusedIsSentAgain(t *testing.T) {
	const refused = `The MCP server "s" did not take the answer, and gets it again: cannot store (-32603).`
	for _, tt := range []struct {
		refusals int
		want     protocol.CallResult
		told     []string
	}{
		{0, text, nil},
		{1, text, []string{refused}},
		{3, text, []string{refused}},
		{7, text, []string{refused}},
		{
			8,
			protocol.CallAbandoned{Reason: "The server did not take your answer, 8 times: cannot store (-32603)"},
			[]string{refused, "The server did not take the answer.", "The answer is not known to have reached the server."},
		},
	} {
		t.Run(fmt.Sprint(tt.refusals), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				updates, cancelled := []string{}, make(chan bool, 10)
				f := newFixture(t, func(p *peer) {
					p.shakeModern()
					for {
						m, ok := p.read()
						switch {
						case !ok:
							return
						case m.Method == "tools/call":
							p.result(m, `{"resultType":"task",`+state("working", `,"pollIntervalMs":1000`)+`}`)
						case m.Method == "tasks/get" && len(updates) > tt.refusals:
							p.result(m, `{`+state("completed", `,"result":{"content":[{"type":"text","text":"done"}]}`)+`}`)
						case m.Method == "tasks/get":
							p.result(m, `{`+state("input_required", `,"inputRequests":{"one":`+elicitation("day?")+`}`)+`}`)
						case m.Method == "tasks/update":
							updates = append(updates, string(m.Params))
							if len(updates) > tt.refusals {
								p.result(m, `{}`)
							} else {
								p.write(`{"id":%s,"error":{"code":-32603,"message":"cannot store"}}`, m.ID)
							}
						case m.Method == "tasks/cancel":
							cancelled <- true
							p.result(m, `{}`)
						case m.ID != nil && m.Method != "":
							p.write(`{"id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
						}
					}
				})
				var last protocol.McpTask
				end := f.call(t.Context(), exchange.Hooks{Task: func(s protocol.McpTask) { last = s }})
				f.ask(t, end).accept(`{"day":1}`)
				if diff := cmp.Diff(tt.want, <-end); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
				for _, update := range updates {
					if !strings.Contains(update, `"inputResponses":{"one":{"action":"accept","content":{"day":1}}}`) {
						t.Errorf("the server got %s", update)
					}
				}
				if diff := cmp.Diff(tt.told, f.notices()); diff != "" {
					t.Errorf("the person was told (-want +got):\n%s", diff)
				}
				if abandoned, ok := tt.want.(protocol.CallAbandoned); ok && (last.Abandoned != abandoned.Reason || len(cancelled) != 1) {
					t.Errorf("the task was cancelled %d times, and abandoned for %q", len(cancelled), last.Abandoned)
				}
			})
		})
	}
}

// Assent was killed after it gave a task up, and before the call's end was saved. The call keeps its reason.
func TestAnAbandonedTaskKeepsItsReasonAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled := make(chan bool, 10)
		f := newFixture(t, func(p *peer) {
			p.serveModernTask(map[string][]string{"tasks/get": {`{` + state("cancelled", "") + `}`}, "tasks/cancel": {`{}`}}, func(m frame) {
				if m.Method == "tasks/cancel" {
					cancelled <- true
				}
			})
		})
		const why = "The server did not get an answer: you declined."
		got := f.ResumeTool(t.Context(), "t", "tool", protocol.McpTask{TaskID: "one", Status: protocol.McpTaskInputRequired, Abandoned: why}, exchange.Hooks{})
		if diff := cmp.Diff(protocol.CallResult(protocol.CallAbandoned{Reason: why}), got); diff != "" || len(cancelled) != 1 {
			t.Errorf("the task was cancelled %d times, and the result is (-want +got):\n%s", len(cancelled), diff)
		}
	})
}

// Members of another type than MCP's do not keep a task from being followed.
func TestTasksWithOddMembers(t *testing.T) {
	const result = `,"result":{"content":[{"type":"text","text":"done"}]}`
	for _, tt := range []struct {
		name, made, got string
		id              string
		want            protocol.CallResult
	}{
		{"a number for an id", `"taskId":7,"status":"working"`, `"taskId":7,"status":"completed"` + result, `7`, text},
		{"a text for the pause", `"taskId":"a","status":"working","pollIntervalMs":"2000"`, `"taskId":"a","status":"completed"` + result, `"a"`, text},
		{"odd times", `"taskId":"a","status":"working","ttlMs":"forever","pollIntervalMs":{}`, `"taskId":"a","status":"completed","ttlMs":-1` + result, `"a"`, text},
		{"a number for the message", `"taskId":"a","status":"working","statusMessage":5,"createdAt":5`, `"taskId":"a","status":"completed","statusMessage":{}` + result, `"a"`, text},
		{"a list without questions", `"taskId":"a","status":"working","inputRequests":[]`, `"taskId":"a","status":"completed","inputRequests":null` + result, `"a"`, text},
		{"a misspelt end", `"taskId":"a","status":"Working"`, `"taskId":"a","status":"done"` + result, `"a"`, text},
		{"no status at first", `"taskId":"a"`, `"taskId":"a","status":"completed"` + result, `"a"`, text},
		{"no id at last", `"taskId":"a","status":"working"`, `"status":"completed"` + result, `"a"`, text},
		{"no id in a member", `"taskId":"a","status":"working"`, `"task":{"status":"completed"` + result + `}`, `"a"`, text},
		{"a state in a member", `"taskId":"a","status":"working"`, `"task":{"taskId":"a","status":"completed"` + result + `}`, `"a"`, text},
		{
			"no result", `"taskId":"a","status":"working"`, `"taskId":"a","status":"completed"`, `"a"`,
			protocol.CallLost{Reason: `The MCP task "a" of the server "s" is completed, and the server sent no result.`},
		},
		{
			"no error", `"taskId":"a","status":"working"`, `"taskId":"a","status":"failed"`, `"a"`,
			protocol.CallLost{Reason: `The MCP task "a" of the server "s" is failed, and the server does not say why.`},
		},
		{"a text for the error", `"taskId":"a","status":"working"`, `"taskId":"a","status":"failed","error":"disk full"`, `"a"`, protocol.CallError{Code: -32603, Message: "disk full"}},
		{"an object for the error", `"taskId":"a","status":"working"`, `"taskId":"a","status":"error","error":{"why":1}`, `"a"`, protocol.CallError{Code: -32603, Message: `{"why":1}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := make(chan json.RawMessage, 10)
				f := newFixture(t, func(p *peer) {
					p.serveModernTask(map[string][]string{"tools/call": {`{"resultType":"task",` + tt.made + `}`}, "tasks/get": {`{` + tt.got + `}`}}, func(m frame) {
						var params struct{ TaskID json.RawMessage }
						if m.Method == "tasks/get" && json.Unmarshal(m.Params, &params) == nil {
							asked <- params.TaskID
						}
					})
				})
				began := time.Now()
				if diff := cmp.Diff(tt.want, <-f.call(t.Context(), exchange.Hooks{})); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
				if got := string(<-asked); got != tt.id || time.Since(began) > 3*time.Second {
					t.Errorf("the task %s was asked for, after %v", got, time.Since(began))
				}
			})
		})
	}
}

// A legacy answer with a task that cannot be followed is no result.
func TestATaskThatCannotBeFollowedIsSaid(t *testing.T) {
	for _, made := range []string{`{"task":{"status":"working"}}`, `{"task":{"taskId":{},"status":"working"}}`, `{"task":{"id":"a"}}`} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, func(p *peer) {
				p.shake(legacyTasks)
				p.result(p.await("tools/call"), made)
				p.rest()
			})
			f.tools = `{"tools":[{"name":"tool","execution":{"taskSupport":"required"}}]}`
			want := `The answer of the MCP server "s" cannot be used: it made a task of the call that cannot be followed: it has no taskId that can be read.`
			if got := reasonOf(t, <-f.call(t.Context(), exchange.Hooks{})); got != want {
				t.Errorf("%s: %s", made, got)
			}
		})
	}
}

// A legacy server leaves out the id of the task that it was asked for, and says that the task ended before it has the result.
func TestTheResultOfALegacyTaskComesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(p *peer) {
			p.shake(legacyTasks)
			p.result(p.await("tools/call"), `{"task":{`+state("working", "")+`}}`)
			p.result(p.await("tasks/get"), `{"status":"completed"}`)
			p.write(`{"id":%s,"error":{"code":-32602,"message":"not ready"}}`, p.await("tasks/result").ID)
			p.result(p.await("tasks/get"), `{"status":"completed"}`)
			p.done(p.await("tasks/result"))
			p.rest()
		})
		f.tools = `{"tools":[{"name":"tool","execution":{"taskSupport":"required"}}]}`
		if diff := cmp.Diff(protocol.CallResult(text), <-f.call(t.Context(), exchange.Hooks{})); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	})
}

// A legacy task has ended, and its server never gives the result.
func TestAResultThatDoesNotComeIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(p *peer) {
			p.shake(legacyTasks)
			p.result(p.await("tools/call"), `{"task":{`+state("working", "")+`}}`)
			p.result(p.await("tasks/get"), `{`+state("Finished", "")+`}`)
			p.rest()
		})
		f.tools = `{"tools":[{"name":"tool","execution":{"taskSupport":"required"}}]}`
		want := protocol.CallLost{Reason: `The MCP task "one" of the server "s" is completed, and its server did not give the result within 1m0s.`}
		if diff := cmp.Diff(protocol.CallResult(want), <-f.call(t.Context(), exchange.Hooks{})); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	})
}
