package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/config"
	"assent/sidecar/hub"
	"assent/sidecar/task/tasktest"
)

// sent records the messages to the server, in brief: methods, and the ids of answers.
type sent struct {
	mu  sync.Mutex // guards all
	all []string
}

func (s *sent) tap(_ string, fromServer bool, frame []byte) {
	var f rawFrame
	if fromServer || json.Unmarshal(frame, &f) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Method == "" {
		f.Method = "answer to " + string(f.ID)
	}
	s.all = append(s.all, f.Method)
}

// after returns the messages after the first frame of this kind.
func (s *sent) after(kind string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all[slices.Index(s.all, kind)+1:])
}

// outcomes returns how the asks of the task were settled, without the time.
func (c *conversation) outcomes(t *testing.T) (all []protocol.Outcome) {
	t.Helper()
	opened, err := c.task.Open(t.Context(), 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range opened.Messages {
		if ask, ok := m.Body.(protocol.Ask); ok && ask.Outcome != nil {
			o := *ask.Outcome
			o.At = 0
			all = append(all, o)
		}
	}
	return all
}

const cancelledFrame = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"$ID","reason":"the client no longer waits for the result"}}`

func TestOnlyTheCancellationOfACallIsSentForItsQuestion(t *testing.T) {
	for range 5 {
		converseOverEach(t, legacyTasks+tool("", "")+`
-- server s --
`+form("q", "day?")+`
-- client s --
`+cancelledFrame+`
`, legacyWays, func(t *testing.T, c *conversation) {
			ctx, cancel := context.WithCancel(t.Context())
			end := c.call(ctx, nil)
			tasktest.AwaitAsk(t, c.events)
			cancel()
			if got, ok := (<-end).(protocol.CallCancelled); !ok {
				t.Errorf("result = %+v", got)
			}
			want := []protocol.Outcome{{Reason: protocol.OutcomeCallEnded, Detail: "The call was cancelled."}}
			if diff := cmp.Diff(want, c.outcomes(t)); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s", diff)
			}
			c.Close() // sends pending messages
			if diff := cmp.Diff([]string{"notifications/cancelled"}, c.sent.after("tools/call")); diff != "" {
				t.Errorf("the server was sent (-want +got):\n%s", diff)
			}
		})
	}
}

// Closing a conversation dismisses its asks and cancels its calls.
func TestOnlyTheCancellationIsSentWhenTheTaskIsClosed(t *testing.T) {
	for range 5 {
		converseOverEach(t, legacyTasks+tool("", "")+`
-- server s --
`+form("q", "day?")+`
-- client s --
`+cancelledFrame+`
`, legacyWays, func(t *testing.T, c *conversation) {
			ctx, cancel := context.WithCancel(t.Context())
			end := c.call(ctx, nil)
			tasktest.AwaitAsk(t, c.events)
			if _, err := c.task.Close("a test"); err != nil {
				t.Fatal(err)
			}
			cancel()
			c.CloseTask(c.id)
			if got, ok := (<-end).(protocol.CallCancelled); !ok {
				t.Errorf("result = %+v", got)
			}
			want := []protocol.Outcome{{Reason: protocol.OutcomeDismissed, By: "a test", Detail: "The task was closed."}}
			if diff := cmp.Diff(want, c.outcomes(t)); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"notifications/cancelled"}, c.sent.after("tools/call")); diff != "" {
				t.Errorf("the server was sent (-want +got):\n%s", diff)
			}
		})
	}
}

// The answer to a question of a round is in the next request, which a closed conversation does not make.
func TestNoRoundFollowsWhenTheTaskIsClosed(t *testing.T) {
	c := converse(t, serveRaw(t, func(s *rawServer) {
		s.shakeModern()
		call := s.await("tools/call")
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"day?","requestedSchema":{"type":"object","properties":{}}}}}}}`, call.ID))
		s.rest()
	}))
	end := c.call(t.Context(), nil)
	tasktest.AwaitAsk(t, c.events)
	if _, err := c.task.Close("a test"); err != nil {
		t.Fatal(err)
	}
	if got, ok := (<-end).(protocol.CallCancelled); !ok {
		t.Errorf("result = %+v", got)
	}
	if got := c.sent.after("tools/call"); len(got) > 0 {
		t.Errorf("the server was sent %q", got)
	}
}

// status is what a server says of the MCP task "one".
func status(s string, more string) string {
	return fmt.Sprintf(`"taskId":"one","status":%q,"createdAt":"2020-01-01T00:00:00Z","lastUpdatedAt":"2020-01-01T00:00:00Z","ttl":null%s`, s, more)
}

// handleAfterQuestion is the conversation of a call whose server asks before it returns the handle of the MCP
// task, until the first request for the status.
func handleAfterQuestion(question string) string {
	return legacyTasks + tool("required", asTask) + `
-- server s --
` + question + `
{"jsonrpc":"2.0","id":"$ID","result":{"task":{` + status("working", `,"pollInterval":1`) + `}}}
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tasks/get","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{` + status("working", `,"statusMessage":"polled","pollInterval":60000`) + `}}
`
}

func TestAQuestionFromBeforeTheHandleBelongsToTheMCPTask(t *testing.T) {
	for _, tt := range []struct{ name, question, answer string }{
		{"without a word about the task", form("q", "day?"), `{"action":"accept","content":{}}`},
		{
			"about the task", strings.Replace(form("q", "day?"), `"params":{`, `"params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"one"}},`, 1),
			`{"action":"accept","content":{},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"one"}}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			converseOverEach(t, handleAfterQuestion(tt.question)+`
-- client s --
{"jsonrpc":"2.0","id":"q","result":`+tt.answer+`}
-- server s --
{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{`+status("completed", "")+`}}
-- client s --
{"jsonrpc":"2.0","id":"$RESULT","method":"tasks/result","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","id":"$RESULT","result":{"content":[{"type":"text","text":"done"}]}}
`, legacyWays, func(t *testing.T, c *conversation) {
				end := c.call(t.Context(), nil)
				ask, _ := tasktest.AwaitAsk(t, c.events)
				if got := <-c.said; got != "polled" {
					t.Errorf("the server says %q", got)
				}
				c.answer(t, ask.AskID, `{}`)
				if diff := cmp.Diff(protocol.CallResult(done), <-end); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestAQuestionFromBeforeTheHandleEndsWithTheMCPTask(t *testing.T) {
	converseOverEach(t, handleAfterQuestion(form("q", "day?"))+`
{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{`+status("completed", "")+`}}
-- client s --
{"jsonrpc":"2.0","id":"$RESULT","method":"tasks/result","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","id":"$RESULT","result":{"content":[{"type":"text","text":"done"}]}}
-- client s --
{"jsonrpc":"2.0","id":"q","result":{"action":"cancel"}}
`, legacyWays, func(t *testing.T, c *conversation) {
		if diff := cmp.Diff(protocol.CallResult(done), <-c.call(t.Context(), nil)); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]protocol.Outcome{{Reason: protocol.OutcomeCallEnded}}, c.outcomes(t)); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
	})
}

// A person cancels an MCP task in two steps: the first asks the server to, the second waits no longer.
func TestNoAnswerFollowsTheCancellationOfAnMCPTask(t *testing.T) {
	cancel := `
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tasks/cancel","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{` + status("cancelled", "") + `}}
-- client? s --
{"jsonrpc":"2.0","id":"$ID","method":"tasks/result","params":{"taskId":"one"}}
-- server? s --
{"jsonrpc":"2.0","id":"$ID","error":{"code":-32603,"message":"cancelled"}}
`
	related := strings.Replace(form("q", "day?"), `"params":{`, `"params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"one"}},`, 1)
	for _, question := range []struct{ name, script string }{
		{"asked before the handle", handleAfterQuestion(form("q", "day?"))},
		{"asked by the MCP task", strings.Replace(handleAfterQuestion(""), "\n\n{", "\n{", 1) + related},
	} {
		for _, step := range []string{"asked to cancel", "given up"} {
			t.Run(question.name+", "+step, func(t *testing.T) {
				converseOverEach(t, question.script+cancel, legacyWays, func(t *testing.T, c *conversation) {
					ctx, giveUp := context.WithCancel(t.Context())
					defer giveUp()
					asked := make(chan struct{})
					end := c.call(ctx, asked)
					tasktest.AwaitAsk(t, c.events)
					<-c.said
					if step == "given up" {
						giveUp()
					} else {
						close(asked)
					}
					if got, ok := (<-end).(protocol.CallCancelled); !ok {
						t.Errorf("result = %+v", got)
					}
					want := []protocol.Outcome{{Reason: protocol.OutcomeCallEnded, Detail: "The call was cancelled."}}
					if diff := cmp.Diff(want, c.outcomes(t)); diff != "" {
						t.Errorf("outcomes (-want +got):\n%s", diff)
					}
					c.Close()
					if got := c.sent.after("tasks/get"); !slices.Contains(got, "tasks/cancel") || slices.Contains(got, `answer to "q"`) {
						t.Errorf("the server was sent %q", got)
					}
				})
			})
		}
	}
}

// A question that follows the result of the only call is of the task, and waits for the person.
func TestAQuestionRightAfterTheResultStaysOpen(t *testing.T) {
	const rounds = 10
	answers := make(chan rawFrame, rounds)
	overWebSocket := serveRaw(t, func(s *rawServer) {
		s.shake(`{"tools":{}}`)
		for i := range rounds {
			call := s.await("tools/call")
			s.write(resultOf(call), form(fmt.Sprintf("q%d", i), "and now?"))
			answers <- s.answer(fmt.Sprintf(`"q%d"`, i))
		}
		s.rest()
	})
	// The result and the question are in the stream of the call, and in one packet.
	var number int
	overHTTP := config.Server{Name: "s", Source: "test", Transport: protocol.TransportHTTP, URL: serveRawHTTP(t, func(call rawFrame) string {
		number++
		return "data: " + resultOf(call) + "\n\ndata: " + form(fmt.Sprintf("q%d", number), "and now?") + "\n\n"
	}, func(answer rawFrame) { answers <- answer })}
	for name, s := range map[string]config.Server{"over a WebSocket": overWebSocket, "over HTTP": overHTTP} {
		t.Run(name, func(t *testing.T) {
			c := converse(t, s)
			var seen []string
			for range rounds {
				if diff := cmp.Diff(protocol.CallResult(done), <-c.call(t.Context(), nil)); diff != "" {
					t.Fatalf("result (-want +got):\n%s", diff)
				}
				ask, _ := tasktest.AwaitAsk(t, c.events, seen...)
				seen = append(seen, ask.AskID)
				if origin := ask.Question.From(); len(origin.ToolNames) > 0 {
					t.Errorf("the question is said to be of %q", origin.ToolNames)
				}
				c.answer(t, ask.AskID, `{}`)
				if got := <-answers; !strings.Contains(string(got.Result), "accept") {
					t.Errorf("the server got %s", got.Result)
				}
			}
		})
	}
}

// serveRawHTTP returns the URL of a legacy server over Streamable HTTP. A call of a tool is answered with a stream,
// which ends with the test; answered is told of the answers to its requests.
func serveRawHTTP(t *testing.T, stream func(call rawFrame) string, answered func(rawFrame)) string {
	t.Helper()
	over := make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var f rawFrame
		if err != nil || r.Method != http.MethodPost || json.Unmarshal(body, &f) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		switch {
		case f.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "one")
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`, f.ID)
		case f.Method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, stream(f))
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			select {
			case <-over:
			case <-r.Context().Done():
			}
		case f.Method != "" && f.ID != nil:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, f.ID)
		default:
			w.WriteHeader(http.StatusAccepted)
			if f.Method == "" {
				answered(f)
			}
		}
	}))
	t.Cleanup(h.Close)
	t.Cleanup(func() { close(over) })
	return h.URL
}

// betweenBroker lets a test stand between the broker and the hub.
type betweenBroker struct {
	hub.Broker
	elicited func(ctx context.Context)
}

func (b *betweenBroker) Serve(ctx context.Context, r *attribution.Request) (any, error) {
	result, err := b.Broker.Serve(ctx, r)
	b.elicited(ctx)
	return result, err
}

// The person answers, and the server withdraws its request before the answer is written.
func TestAnAnswerThatTheServerDidNotGetIsSaidToBeUndelivered(t *testing.T) {
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}`
	answered := protocol.Outcome{Reason: protocol.OutcomeAnswered, By: "a test"}
	for _, tt := range []struct {
		name string
		// act comes between.
		act  func(s *rawServer, cancelCall context.CancelFunc)
		want string
	}{
		{
			"the server stopped waiting", func(s *rawServer, _ context.CancelFunc) { s.write(cancel) },
			"The server stopped waiting before the answer reached it.",
		},
		{
			"the call was cancelled", func(_ *rawServer, cancelCall context.CancelFunc) { cancelCall() },
			"The call was cancelled before the answer reached the server.",
		},
		{
			"the connection ended", func(s *rawServer, _ context.CancelFunc) { s.conn.CloseNow() },
			"The connection to the server ended before the answer reached it.",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancelCall := context.WithCancel(t.Context())
			defer cancelCall()
			settled := make(chan struct{})
			s := serveRaw(t, func(s *rawServer) {
				s.shake(`{"tools":{}}`)
				s.await("tools/call")
				s.write(form("q", "day?"))
				<-settled
				tt.act(s, cancelCall)
				s.rest()
			})
			c := converse(t, s, func(o *hub.Options) {
				o.Broker = &betweenBroker{o.Broker, func(ctx context.Context) {
					close(settled)
					<-ctx.Done()
				}}
			})
			end := c.call(ctx, nil)
			ask, message := tasktest.AwaitAsk(t, c.events)
			c.answer(t, ask.AskID, `{}`)
			said := tasktest.Await(t, c.events, func(p protocol.TaskEventParams) bool {
				_, ok := p.Event.(protocol.AskUndelivered)
				return ok
			})
			if diff := cmp.Diff(protocol.AskUndelivered{MessageID: message.ID, Reason: tt.want}, said.Event.(protocol.AskUndelivered)); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			want := answered
			want.Undelivered = tt.want
			if diff := cmp.Diff([]protocol.Outcome{want}, c.outcomes(t)); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s", diff)
			}
			cancelCall()
			<-end
		})
	}
}

// The answers of a round go to the server together, or not at all.
func TestAnAnswerOfARoundThatIsNotSentIsSaidToBeUndelivered(t *testing.T) {
	answered := make(chan struct{})
	const question = `{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`
	c := converse(t, serveRaw(t, func(s *rawServer) {
		s.shakeModern()
		call := s.await("tools/call")
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","inputRequests":{"day":%s,"seat":%[2]s}}}`, call.ID, question))
		s.rest()
	}), func(o *hub.Options) {
		o.Broker = &betweenBroker{o.Broker, func(ctx context.Context) {
			if ctx.Err() == nil {
				close(answered)
			}
		}}
	})
	ctx, cancel := context.WithCancel(t.Context())
	end := c.call(ctx, nil)
	first, _ := tasktest.AwaitAsk(t, c.events)
	tasktest.AwaitAsk(t, c.events, first.AskID)
	c.answer(t, first.AskID, `{}`)
	<-answered
	cancel()
	<-end
	want := []protocol.Outcome{
		{Reason: protocol.OutcomeAnswered, By: "a test", Undelivered: "The call was cancelled before the answer reached the server."},
		{Reason: protocol.OutcomeCallEnded, Detail: "The call was cancelled."},
	}
	if diff := cmp.Diff(want, c.outcomes(t)); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}
