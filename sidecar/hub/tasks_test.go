package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/config"
	"assent/sidecar/hub"
	"assent/sidecar/hub/session"
	"assent/sidecar/task"
	"assent/sidecar/task/tasktest"
	"assent/sidecar/wire/wiretest"
)

// conversation is a hub with real tasks and the real broker, on one server.
type conversation struct {
	*hub.Hub
	task   *task.Task
	id     string
	events *tasktest.Events

	said chan string // what the server says of its task, where that changes
	sent sent

	mu   sync.Mutex // guards the fields below
	seen []protocol.McpTaskStatus
	last string
}

// converseOverEach runs a test with a server reached in each of the ways.
func converseOverEach(t *testing.T, transcript string, ways []protocol.Transport, test func(t *testing.T, c *conversation)) {
	t.Helper()
	for _, way := range ways {
		t.Run(string(way), func(t *testing.T) {
			s := server("s")
			if way == protocol.TransportStdio {
				wiretest.Write(t, transcript)
			} else {
				s = config.Server{Name: "s", Source: "test", Transport: way, URL: wiretest.Serve(t, string(way), transcript, "s")}
			}
			test(t, converse(t, s))
		})
	}
}

// converse returns a hub with real tasks on a server, and one of the tasks.
func converse(t *testing.T, s config.Server, edit ...func(*hub.Options)) *conversation {
	t.Helper()
	tasks, events := tasktest.Registry(t, nil)
	info, err := tasks.Create("t")
	if err != nil {
		t.Fatal(err)
	}
	c := &conversation{id: info.ID, events: events, said: make(chan string, 10)}
	if c.task, err = tasks.Get(info.ID); err != nil {
		t.Fatal(err)
	}
	log := zerolog.New(zerolog.NewTestWriter(t))
	opts := hub.Options{
		Options: session.Options{
			Changed: func(protocol.Server) {},
			Capabilities: func() protocol.FrontEndCapabilities {
				return protocol.FrontEndCapabilities{Elicitation: true, OpenURL: true}
			},
			Client:      protocol.Implementation{Name: "assent", Version: "test"},
			Environment: config.Environment{Environ: environ()},
			Tap:         c.sent.tap,
			Log:         log,
		},
		Broker: broker.New(broker.Options{FrontEnd: func() protocol.FrontEndCapabilities {
			return protocol.FrontEndCapabilities{Elicitation: true, Sampling: true, OpenURL: true}
		}, Log: log}),
		Task:        func(id string) (attribution.Task, error) { return tasks.Get(id) },
		ListChanged: func(string, protocol.ListKind) {},
		PollFloor:   time.Millisecond,
	}
	for _, e := range edit {
		e(&opts)
	}
	c.Hub = hub.New(opts)
	t.Cleanup(func() {
		c.Close()
		if err := tasks.Close(); err != nil {
			t.Error(err)
		}
	})
	c.Configure([]config.Server{s})
	return c
}

// call runs the tool "tool" and returns where its end will be.
func (c *conversation) call(ctx context.Context, cancel <-chan struct{}) <-chan protocol.CallResult {
	end := make(chan protocol.CallResult, 1)
	go func() {
		end <- c.CallTool(ctx, c.id, "s", "tool", json.RawMessage(`{}`), hub.Hooks{Cancel: cancel, Task: func(s protocol.McpTask) {
			c.mu.Lock()
			defer c.mu.Unlock()
			if len(c.seen) == 0 || c.seen[len(c.seen)-1] != s.Status {
				c.seen = append(c.seen, s.Status)
			}
			if s.StatusMessage != c.last {
				c.last = s.StatusMessage
				c.said <- c.last
			}
		}})
	}()
	return end
}

func (c *conversation) answer(t *testing.T, askID, content string) {
	t.Helper()
	_, err := c.task.Answer(t.Context(), &protocol.AskResponseParams{
		AskID: askID, AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(content),
	}, "a test")
	if err != nil {
		t.Errorf("answer: %v", err)
	}
}

const (
	tasksMeta = `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}},"io.modelcontextprotocol/clientInfo":{"name":"assent","version":"test"},"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	// dayForm and seatForm are two questions.
	dayForm  = `"message":"which day?","requestedSchema":{"type":"object","properties":{"day":{"type":"string"}}}`
	seatForm = `"message":"which seat?","requestedSchema":{"type":"object","properties":{"seat":{"type":"string"}}}`
)

// legacyTasks is how a conversation begins with a legacy server that has tasks.
const legacyTasks = `
-- client? s --
{"jsonrpc":"2.0","id":1000000001,"method":"server/discover","params":{"_meta":{` + tasksMeta + `}}}
-- server? s --
{"jsonrpc":"2.0","id":1000000001,"error":{"code":-32601,"message":"Method not found"}}
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}},"tasks":{"cancel":{},"list":{},"requests":{"elicitation":{"create":{}}}}},"clientInfo":{"name":"assent","version":"test"}}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"cancel":{},"list":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"s","version":"1"}}}
-- client s --
{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}
`

// tool is what follows: the list of tools, and the call of one, as a task or not.
func tool(support string, extra string) string {
	return strings.NewReplacer("SUPPORT", support, "EXTRA", extra).Replace(`
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tools/list","params":{}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"tools":[{"name":"tool","inputSchema":{"type":"object"},"execution":{"taskSupport":"SUPPORT"}}]}}
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tools/call","params":{"name":"tool","arguments":{}EXTRA}}
`)
}

const asTask = `,"task":{"ttl":604800000}`

func TestALegacyToolIsATaskWhereItSaysSo(t *testing.T) {
	for support, extra := range map[string]string{"required": asTask, "optional": asTask, "forbidden": "", "": ""} {
		t.Run(support, func(t *testing.T) {
			converseOverEach(t, legacyTasks+tool(support, extra)+`
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"content":[{"type":"text","text":"done"}]}}
`, legacyWays[:1], func(t *testing.T, c *conversation) {
				if diff := cmp.Diff(protocol.CallResult(done), <-c.call(t.Context(), nil)); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestALegacyTask(t *testing.T) {
	status := func(s string) string {
		poll := map[string]int{"working": 1, "input_required": 60000}[s] // one poll only
		return fmt.Sprintf(`"taskId":"one","status":%q,"createdAt":"2020-01-01T00:00:00Z","lastUpdatedAt":"2020-01-01T00:00:00Z","ttl":null,"pollInterval":%d`, s, poll)
	}
	converseOverEach(t, legacyTasks+tool("required", asTask)+`
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"task":{`+status("working")+`}}}
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tasks/get","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{`+status("input_required")+`}}
-- client s --
{"jsonrpc":"2.0","id":"$RESULT","method":"tasks/result","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{`+status("input_required")+`}}
{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"one"}},`+dayForm+`}}
-- client s --
{"jsonrpc":"2.0","id":"q","result":{"action":"accept","content":{"day":"monday"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"one"}}}}
-- server s --
{"jsonrpc":"2.0","id":"$RESULT","result":{"content":[{"type":"text","text":"done"}]}}
`, legacyWays, func(t *testing.T, c *conversation) {
		end := c.call(t.Context(), nil)
		ask, _ := tasktest.AwaitAsk(t, c.events)
		if diff := cmp.Diff(protocol.Origin{ServerName: "s", ToolNames: []string{"tool"}}, ask.Question.(protocol.McpElicitation).Origin); diff != "" {
			t.Errorf("who asks (-want +got):\n%s", diff)
		}
		c.answer(t, ask.AskID, `{"day":"monday"}`)
		if diff := cmp.Diff(protocol.CallResult(done), <-end); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]protocol.McpTaskStatus{"working", "input_required", "completed"}, c.seen); diff != "" {
			t.Errorf("observed (-want +got):\n%s", diff)
		}
	})
}

func TestAModernTask(t *testing.T) {
	status := func(s string) string {
		return fmt.Sprintf(`"taskId":"one","status":%q,"createdAt":"2020-01-01T00:00:00Z","lastUpdatedAt":"2020-01-01T00:00:00Z","ttlMs":60000`, s)
	}
	both := `,"inputRequests":{"day":{"method":"elicitation/create","params":{` + dayForm + `}},"seat":{"method":"elicitation/create","params":{` + seatForm + `}}}`
	discovered := `
-- client s --
{"jsonrpc":"2.0","id":1000000001,"method":"server/discover","params":{"_meta":{` + tasksMeta + `}}}
-- server s --
{"jsonrpc":"2.0","id":1000000001,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}}
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tools/call","params":{"name":"tool","arguments":{},"_meta":{` + tasksMeta + `}}}
-- server s --
`
	for _, created := range []string{`"resultType":"task",`, ``} { // some servers omit the type
		converseOverEach(t, discovered+`{"jsonrpc":"2.0","id":"$ID","result":{`+created+status("working")+`}}
-- client s --
{"jsonrpc":"2.0","id":"$LISTEN","method":"subscriptions/listen","params":{"notifications":{"taskIds":["one"]},"_meta":{`+tasksMeta+`}}}
-- server s --
{"jsonrpc":"2.0","method":"notifications/tasks","params":{`+status("input_required")+both+`}}
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tasks/update","params":{"taskId":"one","inputResponses":{"seat":{"action":"accept","content":{"seat":"aisle"}}},"_meta":{`+tasksMeta+`}}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"resultType":"complete"}}
{"jsonrpc":"2.0","method":"notifications/tasks","params":{`+status("input_required")+both+`,"statusMessage":"one to go"}}
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tasks/update","params":{"taskId":"one","inputResponses":{"day":{"action":"accept","content":{"day":"monday"}}},"_meta":{`+tasksMeta+`}}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"resultType":"complete"}}
{"jsonrpc":"2.0","method":"notifications/tasks","params":{`+status("completed")+`,"result":{"content":[{"type":"text","text":"done"}]}}}
`, modernWays, func(t *testing.T, c *conversation) {
			end := c.call(t.Context(), nil)
			first, _ := tasktest.AwaitAsk(t, c.events)
			second, _ := tasktest.AwaitAsk(t, c.events, first.AskID)
			day, seat := first, second
			if strings.Contains(first.Question.(protocol.McpElicitation).ElicitationRequest.Message, "seat") {
				day, seat = second, first
			}
			c.answer(t, seat.AskID, `{"seat":"aisle"}`)
			if got := <-c.said; got != "one to go" {
				t.Errorf("the server says %q", got)
			}
			c.answer(t, day.AskID, `{"day":"monday"}`)
			if diff := cmp.Diff(protocol.CallResult(done), <-end); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			asks := 0
			for _, e := range c.events.All() {
				if p, ok := e.(protocol.TaskEventParams); ok {
					if added, ok := p.Event.(protocol.MessageAdded); ok {
						if _, ok := added.Message.Body.(protocol.Ask); ok {
							asks++
						}
					}
				}
			}
			if asks != 2 {
				t.Errorf("asked %d times, want each of the two questions once", asks)
			}
		})
	}
}

func TestAServerMayMakeATaskOfItsQuestion(t *testing.T) {
	converseOverEach(t, legacyTasks+tool("", "")+`
-- server s --
{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"task":{"ttl":60000},`+dayForm+`}}
-- client s --
{"jsonrpc":"2.0","id":"q","result":{"task":{"taskId":"$TASK","status":"working","createdAt":"$T1","lastUpdatedAt":"$T1","ttl":60000,"pollInterval":500}}}
-- server s --
{"jsonrpc":"2.0","id":"r","method":"tasks/result","params":{"taskId":"$TASK"}}
-- client s --
{"jsonrpc":"2.0","id":"r","result":{"action":"accept","content":{"day":"monday"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"$TASK"}}}}
-- server s --
{"jsonrpc":"2.0","id":"c","method":"tasks/cancel","params":{"taskId":"$TASK"}}
-- client s --
{"jsonrpc":"2.0","id":"c","error":{"code":-32602,"message":"the task has ended already"}}
-- server s --
{"jsonrpc":"2.0","id":"g","method":"tasks/get","params":{"taskId":"of somebody else"}}
-- client s --
{"jsonrpc":"2.0","id":"g","error":{"code":-32602,"message":"there is no task of somebody else, or none any more"}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"content":[{"type":"text","text":"done"}]}}
`, legacyWays, func(t *testing.T, c *conversation) {
		before := time.Now()
		end := c.call(t.Context(), nil)
		ask, _ := tasktest.AwaitAsk(t, c.events)
		if least, most := before.Add(time.Minute).UnixMilli(), time.Now().Add(time.Minute).UnixMilli(); ask.WaitsUntil < least || ask.WaitsUntil > most {
			t.Errorf("the server waits until %d, want %d to %d", ask.WaitsUntil, least, most)
		}
		c.answer(t, ask.AskID, `{"day":"monday"}`)
		if diff := cmp.Diff(protocol.CallResult(done), <-end); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	})
}

func TestAPageThatWasOpenedByRequestIsSaidToBeDone(t *testing.T) {
	complete := func(id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"` + id + `"}}` + "\n"
	}
	for _, tt := range []struct {
		name, before, after string
		want                int // how often the person is told
	}{
		{"after the answer", "", complete("e1") + complete("e1"), 1},
		{"before the answer", complete("e1"), "", 1},
		{"of another", complete("unknown"), complete("unknown"), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			converseOverEach(t, legacyTasks+tool("", "")+`
-- server s --
`+tt.before+`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"url","elicitationId":"e1","url":"https://example.com/","message":"go"}}
-- client s --
{"jsonrpc":"2.0","id":"q","result":{"action":"accept"}}
-- server s --
`+tt.after+`{"jsonrpc":"2.0","id":"$ID","result":{"content":[{"type":"text","text":"done"}]}}
`, []protocol.Transport{protocol.TransportStdio, protocol.TransportSSE, protocol.TransportWS}, func(t *testing.T, c *conversation) {
				end := c.call(t.Context(), nil)
				ask, _ := tasktest.AwaitAsk(t, c.events)
				c.answer(t, ask.AskID, "")
				<-end // events sent before the result have been handled by now
				opened, err := c.task.Open(t.Context(), 0, 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				shown := map[int64]int64{} // when each ask was done, by its message
				for _, m := range opened.Messages {
					if ask, ok := m.Body.(protocol.Ask); ok {
						shown[m.ID] = ask.Outcome.CompletedAt
					}
				}
				told := 0
				for _, e := range c.events.All() {
					p, _ := e.(protocol.TaskEventParams)
					if said, ok := p.Event.(protocol.AskCompleted); ok {
						told++
						if said.CompletedAt == 0 || shown[said.MessageID] != said.CompletedAt {
							t.Errorf("told of %+v, and shown %v", said, shown)
						}
					}
				}
				if told != tt.want {
					t.Errorf("told %d times, want %d", told, tt.want)
				}
			})
		})
	}
}

func TestURLElicitationRequired(t *testing.T) {
	refused := `
-- server s --
{"jsonrpc":"2.0","id":"$ID","error":{"code":-32042,"message":"go there first","data":{"elicitations":[{"mode":"url","elicitationId":"e1","url":"https://example.com/one","message":"one"},{"mode":"url","elicitationId":"e2","url":"https://example.com/two","message":"two"}],"more":1}}}
`
	t.Run("done", func(t *testing.T) {
		converseOverEach(t, legacyTasks+tool("", "")+strings.TrimSuffix(refused, "\n")+`
{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"unknown"}}
{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e2"}}
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tools/call","params":{"name":"tool","arguments":{}}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"content":[{"type":"text","text":"done"}]}}
`, []protocol.Transport{protocol.TransportStdio, protocol.TransportSSE, protocol.TransportWS}, func(t *testing.T, c *conversation) {
			end := c.call(t.Context(), nil)
			one, _ := tasktest.AwaitAsk(t, c.events)
			if !strings.HasSuffix(one.Question.(protocol.McpURLElicitation).URL, "one") {
				other, _ := tasktest.AwaitAsk(t, c.events, one.AskID)
				one = other
			}
			c.answer(t, one.AskID, "")
			if diff := cmp.Diff(protocol.CallResult(done), <-end); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("impossible", func(t *testing.T) {
		impossible := strings.ReplaceAll(refused, "https:", "file:")
		converseOverEach(t, legacyTasks+tool("", "")+impossible, legacyWays, func(t *testing.T, c *conversation) {
			got, ok := (<-c.call(t.Context(), nil)).(protocol.CallAbandoned)
			if !ok || !strings.Contains(got.Reason, "url must be an absolute http or https URL") {
				t.Errorf("result = %+v, want that we did not go on", got)
			}
		})
	})
	t.Run("given up", func(t *testing.T) {
		converseOverEach(t, legacyTasks+tool("", "")+refused, legacyWays, func(t *testing.T, c *conversation) {
			end := c.call(t.Context(), nil)
			ask, _ := tasktest.AwaitAsk(t, c.events)
			if _, err := c.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.CancelButtonClicked}, "a test"); err != nil {
				t.Error(err)
			}
			got, ok := (<-end).(protocol.CallError)
			if !ok || got.Code != -32042 || !strings.Contains(string(got.Data), `"more":1`) {
				t.Errorf("result = %+v, want the server's own error", got)
			}
		})
	})
}
