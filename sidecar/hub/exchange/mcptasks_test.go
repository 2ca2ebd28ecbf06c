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

// legacyTasks are the capabilities of a legacy server of which tools can be called as tasks.
const legacyTasks = `{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}`

// state is a server's state of the MCP task "one".
func state(status, more string) string {
	return fmt.Sprintf(`"taskId":"one","status":%q,"createdAt":"2026-01-02T03:04:05Z","lastUpdatedAt":"2026-01-02T03:04:05Z"%s`, status, more)
}

// statuses returns hooks that note the statuses of the MCP task.
func statuses(seen *[]protocol.McpTaskStatus) exchange.Hooks {
	return exchange.Hooks{Task: func(s protocol.McpTask) {
		if n := len(*seen); n == 0 || (*seen)[n-1] != s.Status {
			*seen = append(*seen, s.Status)
		}
	}}
}

func TestALegacyCallThatBecomesATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		called, answered := make(chan string, 1), make(chan string, 1)
		f := newFixture(t, func(p *peer) {
			p.shake(legacyTasks)
			call := p.await("tools/call")
			called <- string(call.Params)
			p.result(call, `{"task":{`+state("working", `,"ttl":60000,"pollInterval":2000`)+`}}`)
			p.result(p.await("tasks/get"), `{`+state("input_required", `,"ttl":60000,"pollInterval":2000`)+`}`)
			result := p.await("tasks/result")
			p.write(`{"id":7,"method":"elicitation/create","params":{"message":"day?","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"one"}}}}`)
			answered <- p.answerTo("7")
			p.done(result)
			p.rest()
		})
		f.tools = `{"tools":[{"name":"tool","execution":{"taskSupport":"required"}}]}`
		var seen []protocol.McpTaskStatus
		hooks := statuses(&seen)
		hooks.TaskTTL = time.Hour
		end := f.call(t.Context(), hooks)
		if params, want := <-called, `"task":{"ttl":3600000}`; !strings.Contains(params, want) {
			t.Errorf("params = %s, want %s in them", params, want)
		}
		q := f.ask(t, end)
		if q.task != "t" || q.message != "day?" || q.key == "" {
			t.Errorf("%q was asked in %q with the key %q", q.message, q.task, q.key)
		}
		q.accept(`{"day":1}`)
		want := `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"one"}},"action":"accept","content":{"day":1}}`
		if got := <-answered; got != want {
			t.Errorf("the server got %s", got)
		}
		if diff := cmp.Diff(protocol.CallResult(text), <-end); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		wantSeen := []protocol.McpTaskStatus{protocol.McpTaskWorking, protocol.McpTaskInputRequired, protocol.McpTaskCompleted}
		if diff := cmp.Diff(wantSeen, seen); diff != "" {
			t.Errorf("statuses (-want +got):\n%s", diff)
		}
	})
}

// A failed task has the result of a failed tool, also if the result does not say so.
func TestAFailedTaskIsNoSuccess(t *testing.T) {
	for _, status := range []string{"failed", "rejected", "Expired"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, func(p *peer) {
				p.shake(legacyTasks)
				p.result(p.await("tools/call"), `{"task":{`+state("working", "")+`}}`)
				p.result(p.await("tasks/get"), `{`+state(status, "")+`}`)
				p.done(p.await("tasks/result"))
				p.rest()
			})
			f.tools = `{"tools":[{"name":"tool","execution":{"taskSupport":"required"}}]}`
			want := text
			want.IsError = true
			if diff := cmp.Diff(protocol.CallResult(want), <-f.call(t.Context(), exchange.Hooks{})); diff != "" {
				t.Errorf("%s: result (-want +got):\n%s", status, diff)
			}
		})
	}
}

// A tool that does not support tasks is called without one.
func TestALegacyCallThatIsNoTask(t *testing.T) {
	for _, tt := range []struct{ name, capabilities, execution string }{
		{"the tool forbids it", legacyTasks, `{"taskSupport":"forbidden"}`},
		{"the tool does not say", legacyTasks, `{}`},
		{"the server has no tasks", `{"tools":{}}`, `{"taskSupport":"required"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				called := make(chan string, 1)
				f := newFixture(t, func(p *peer) {
					p.shake(tt.capabilities)
					call := p.await("tools/call")
					called <- string(call.Params)
					p.done(call)
					p.rest()
				})
				f.tools = `{"tools":[{"name":"tool","execution":` + tt.execution + `}]}`
				<-f.call(t.Context(), exchange.Hooks{})
				if params := <-called; strings.Contains(params, `"task"`) {
					t.Errorf("params = %s", params)
				}
			})
		})
	}
}

// serveModernTask serves the requests about an MCP task of 2026-07-28, until the client leaves. Each method has its answers, of
// which the last one counts from then on; a method with an empty list is not answered. The requests are noted.
func (p *peer) serveModernTask(answers map[string][]string, note func(frame)) {
	p.shakeModern()
	for {
		f, ok := p.read()
		if !ok {
			return
		}
		note(f)
		all, isKnown := answers[f.Method]
		switch {
		case len(all) > 0:
			p.result(f, all[0])
			answers[f.Method] = all[min(1, len(all)-1):]
		case !isKnown && f.ID != nil && f.Method != "":
			p.write(`{"id":%s,"error":{"code":-32601,"message":"Method not found"}}`, f.ID)
		}
	}
}

func TestAModernCallThatBecomesATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asking := `,"pollIntervalMs":2000,"inputRequests":{"one":` + elicitation("day?") + `}`
		updates := make(chan string, 10)
		f := newFixture(t, func(p *peer) {
			p.serveModernTask(map[string][]string{
				"tools/call": {`{"resultType":"task",` + state("working", `,"pollIntervalMs":2000`) + `}`},
				"tasks/get": {
					`{` + state("input_required", asking) + `}`, `{` + state("input_required", asking) + `}`,
					`{` + state("completed", `,"result":{"content":[{"type":"text","text":"done"}]}`) + `}`,
				},
				"tasks/update": {`{}`},
			}, func(f frame) {
				if f.Method == "tasks/update" {
					var params struct {
						TaskID         string
						InputResponses json.RawMessage
					}
					if err := json.Unmarshal(f.Params, &params); err != nil {
						t.Error(err)
					}
					updates <- params.TaskID + " " + string(params.InputResponses)
				}
			})
		})
		var seen []protocol.McpTaskStatus
		end := f.call(t.Context(), statuses(&seen))
		q := f.ask(t, end)
		time.Sleep(3 * time.Second) // the next poll has the question again
		select {
		case again := <-f.questions:
			t.Errorf("%q was asked again", again.message)
		default:
		}
		q.accept(`{"day":1}`)
		if got, want := <-updates, `one {"one":{"action":"accept","content":{"day":1}}}`; got != want {
			t.Errorf("the server got %s, want %s", got, want)
		}
		if diff := cmp.Diff(protocol.CallResult(text), <-end); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		if len(updates) != 0 {
			t.Errorf("the server got another answer: %s", <-updates)
		}
		want := []protocol.McpTaskStatus{protocol.McpTaskWorking, protocol.McpTaskInputRequired, protocol.McpTaskCompleted}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("statuses (-want +got):\n%s", diff)
		}
	})
}

func TestAPersonCancelsAnMCPTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled := make(chan string, 1)
		f := newFixture(t, func(p *peer) {
			get := []string{`{` + state("working", "") + `}`}
			answers := map[string][]string{
				"tools/call":   {`{"resultType":"task",` + state("working", "") + `}`},
				"tasks/get":    get,
				"tasks/cancel": {`{}`},
			}
			p.serveModernTask(answers, func(f frame) {
				if f.Method == "tasks/cancel" {
					answers["tasks/get"] = []string{`{` + state("cancelled", "") + `}`}
					cancelled <- string(f.Params)
				}
			})
		})
		working, cancel := make(chan struct{}, 10), make(chan struct{})
		end := f.call(t.Context(), exchange.Hooks{Cancel: cancel, Task: func(protocol.McpTask) { working <- struct{}{} }})
		<-working
		close(cancel)
		if params := <-cancelled; !strings.Contains(params, `"taskId":"one"`) {
			t.Errorf("tasks/cancel has the params %s", params)
		}
		if got := <-end; got != (protocol.CallCancelled{}) {
			t.Errorf("result = %+v", got)
		}
	})
}

func TestOneMCPTaskForTwoCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(p *peer) {
			p.serveModernTask(map[string][]string{
				"tools/call": {`{"resultType":"task",` + state("working", "") + `}`},
				"tasks/get":  {`{` + state("working", "") + `}`},
			}, func(frame) {})
		})
		working := make(chan struct{}, 10)
		first := f.call(t.Context(), exchange.Hooks{Task: func(protocol.McpTask) { working <- struct{}{} }})
		<-working
		if got := reasonOf(t, <-f.call(t.Context(), exchange.Hooks{})); !strings.Contains(got, `it gave the task "one" to two calls`) {
			t.Errorf("reason = %s", got)
		}
		select {
		case result := <-first:
			t.Errorf("the first call ended with %+v", result)
		default:
		}
	})
}

// The server's notification about a task is faster than the next poll.
func TestTheServerTellsOfItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listening := make(chan string, 1)
		f := newFixture(t, func(p *peer) {
			p.serveModernTask(map[string][]string{
				"tools/call": {`{"resultType":"task",` + state("working", `,"pollIntervalMs":3600000`) + `}`},
				"tasks/get":  {`{` + state("working", `,"pollIntervalMs":3600000`) + `}`},

				"subscriptions/listen": {},
			}, func(f frame) {
				if f.Method == "subscriptions/listen" {
					listening <- string(f.Params)
					p.write(`{"method":"notifications/tasks","params":{%s}}`, state("completed", `,"result":{"content":[{"type":"text","text":"done"}]}`))
				}
			})
		})
		began := time.Now()
		if diff := cmp.Diff(protocol.CallResult(text), <-f.call(t.Context(), exchange.Hooks{})); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
		if params := <-listening; !strings.Contains(params, `"taskIds":["one"]`) {
			t.Errorf("subscriptions/listen has the params %s", params)
		}
	})
}

func TestResumeAnMCPTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		called, polled := false, ""
		f := newFixture(t, func(p *peer) {
			p.serveModernTask(map[string][]string{
				"tasks/get": {`{` + state("completed", `,"result":{"content":[{"type":"text","text":"done"}]}`) + `}`},
			}, func(f frame) {
				called = called || f.Method == "tools/call"
				if f.Method == "tasks/get" {
					polled = string(f.Params)
				}
			})
		})
		known := protocol.McpTask{TaskID: "one", Status: protocol.McpTaskWorking}
		got := f.ResumeTool(t.Context(), "t", "tool", known, exchange.Hooks{})
		if diff := cmp.Diff(protocol.CallResult(text), got); diff != "" || called {
			t.Errorf("the tool was called: %t; result (-want +got):\n%s", called, diff)
		}
		if !strings.Contains(polled, `"taskId":"one"`) {
			t.Errorf("tasks/get has the params %s", polled)
		}
	})
}

func TestTheListOfMCPTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(p *peer) {
			p.shake(legacyTasks)
			p.done(p.await("tools/call"))
			p.result(p.await("tasks/list"), `{"tasks":[{`+state("working", `,"ttl":1000`)+`},{"taskId":"no status"}],"nextCursor":"c"}`)
			second := p.await("tasks/list")
			if !strings.Contains(string(second.Params), `"cursor":"c"`) {
				t.Errorf("the second page is asked for with %s", second.Params)
			}
			p.result(second, `{"tasks":[{`+state("working", "")+`}],"nextCursor":"c"}`) // the same again
			p.result(p.await("tasks/get"), `{`+state("completed", "")+`}`)
			p.write(`{"id":%s,"error":{"code":-32602,"message":"no such task"}}`, p.await("tasks/get").ID)
			p.rest()
		})
		if list := f.ListTasks(t.Context()); len(list.Tasks) != 0 || len(list.Problems) != 0 {
			t.Errorf("a server that does not run lists %+v", list)
		}
		<-f.call(t.Context(), exchange.Hooks{})
		created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixMilli()
		one := protocol.ServerMcpTask{
			ServerName: "s", McpTaskID: "one", Status: protocol.McpTaskWorking, CreatedAt: created, LastUpdatedAt: created, ExpiresAt: created + 1000,
		}
		want := exchange.TaskList{Tasks: []protocol.ServerMcpTask{one}, Problems: []string{
			"Its list of tasks has no end: 2 pages were read.", "1 of the tasks that it lists cannot be read.",
		}}
		if diff := cmp.Diff(want, f.ListTasks(t.Context())); diff != "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
		one.Status, one.ExpiresAt = protocol.McpTaskCompleted, 0
		got, err := f.GetTask(t.Context(), "one")
		if diff := cmp.Diff(&one, got); diff != "" || err != nil {
			t.Errorf("err = %v, task (-want +got):\n%s", err, diff)
		}
		if got, err := f.GetTask(t.Context(), "two"); got != nil || err != nil {
			t.Errorf("a task that the server does not know is %+v, %v", got, err)
		}
	})
}
