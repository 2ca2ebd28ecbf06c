package hub_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/hub"
	"assent/sidecar/task/tasktest"
)

// form is a request for a form.
func form(id, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"elicitation/create","params":{"message":%q,"requestedSchema":{"type":"object","properties":{}}}}`, id, message)
}

func resultOf(f rawFrame) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}`, f.ID)
}

// messageOf returns what an ask asks.
func messageOf(question protocol.UseMcpServer) string {
	switch q := question.(type) {
	case protocol.McpElicitation:
		return q.ElicitationRequest.Message
	case protocol.McpURLElicitation:
		return q.Message
	case protocol.McpSampling:
		return "a completion"
	default:
		return fmt.Sprintf("%T", question)
	}
}

// asked returns the messages of the first n asks, in the order in which front ends were told of them.
func (c *conversation) asked(t *testing.T, n int) (messages []string) {
	t.Helper()
	var seen []string
	for range n {
		ask, _ := tasktest.AwaitAsk(t, c.events, seen...)
		seen = append(seen, ask.AskID)
		messages = append(messages, messageOf(ask.Question))
	}
	return messages
}

// numbered returns n texts that count.
func numbered(prefix string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%s %d", prefix, i))
	}
	return all
}

func TestQuestionsAreAskedInTheOrderOfTheirFrames(t *testing.T) {
	const n = 30
	c := converse(t, serveRaw(t, func(s *rawServer) {
		s.shake(`{"tools":{}}`)
		s.await("tools/call")
		for i := range n {
			s.write(form(fmt.Sprint(i), fmt.Sprintf("question %d", i)))
		}
		s.rest()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	end := c.call(ctx, nil)
	if diff := cmp.Diff(numbered("question", n), c.asked(t, n)); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	cancel()
	<-end
}

// Of too many questions, those that came first are asked.
func TestTheFirstQuestionsAreAdmitted(t *testing.T) {
	const most = 32
	refused := make(chan []string, 1)
	c := converse(t, serveRaw(t, func(s *rawServer) {
		s.shake(`{"tools":{}}`)
		s.await("tools/call")
		for i := range most + 3 {
			s.write(form(fmt.Sprint(i), fmt.Sprintf("question %d", i)))
		}
		var ids []string
		for range 3 {
			f, _ := s.read()
			ids = append(ids, string(f.ID))
		}
		slices.Sort(ids)
		refused <- ids
		s.rest()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	end := c.call(ctx, nil)
	if diff := cmp.Diff([]string{`"32"`, `"33"`, `"34"`}, <-refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	cancel()
	<-end
}

// The members of a round's JSON object are asked in the order in which they are written.
func TestTheQuestionsOfARoundAreAskedAsTheyAreWritten(t *testing.T) {
	const n = 20
	var members []string
	for i := range n {
		members = append(members, fmt.Sprintf(`"%c":{"method":"elicitation/create","params":{"message":"question %d","requestedSchema":{"type":"object","properties":{}}}}`, 'z'-i, i))
	}
	round := `"inputRequests":{` + strings.Join(members, ",") + `}`
	for _, tt := range []struct{ name, result string }{
		{"of a call", `{"resultType":"input_required",` + round + `}`},
		{"of an MCP task", `{"resultType":"task","taskId":"one","status":"input_required","createdAt":"2020-01-01T00:00:00Z","lastUpdatedAt":"2020-01-01T00:00:00Z","ttlMs":60000,` + round + `}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := converse(t, serveRaw(t, func(s *rawServer) {
				s.shakeModern()
				call := s.await("tools/call")
				s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, tt.result))
				if f := s.await("tasks/cancel"); f.ID != nil {
					s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete"}}`, f.ID))
				}
				s.rest()
			}))
			ctx, cancel := context.WithCancel(t.Context())
			end := c.call(ctx, nil)
			if diff := cmp.Diff(numbered("question", n), c.asked(t, n)); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			cancel()
			<-end
			c.Stop("s")
		})
	}
}

func TestPagesAreAskedForInTheOrderOfTheirList(t *testing.T) {
	const n = 10
	var pages []string
	for i := range n {
		pages = append(pages, fmt.Sprintf(`{"mode":"url","elicitationId":"%d","url":"https://example.com/%d","message":"page %d"}`, i, i, i))
	}
	c := converse(t, serveRaw(t, func(s *rawServer) {
		s.shake(`{"tools":{}}`)
		call := s.await("tools/call")
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"go there","data":{"elicitations":[%s]}}}`, call.ID, strings.Join(pages, ",")))
		s.rest()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	end := c.call(ctx, nil)
	if diff := cmp.Diff(numbered("page", n), c.asked(t, n)); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	cancel()
	<-end
}

// Requests of no known task wait in the order of their frames, too.
func TestUnattributedRequestsWaitInTheOrderOfTheirFrames(t *testing.T) {
	const n = 20
	waiting := make(chan string, n)
	server := serveRaw(t, func(s *rawServer) {
		s.shake(`{"tools":{}}`)
		list := s.await("tools/list")
		for i := range n {
			s.write(form(fmt.Sprint(i), fmt.Sprintf("question %d", i)))
		}
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}`, list.ID))
		s.rest()
	})
	server.Shared = true
	c := converse(t, server, func(o *hub.Options) {
		o.Broker = broker.New(broker.Options{
			FrontEnd: o.Capabilities,
			Queue: assigner(func(ctx context.Context, r *attribution.Request) error {
				waiting <- r.Text
				r.Slot.Pass()
				<-ctx.Done()
				return context.Cause(ctx)
			}),
			Log: o.Log,
		})
	})
	if _, err := c.Tools(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for range n {
		got = append(got, <-waiting)
	}
	if diff := cmp.Diff(numbered("question", n), got); diff != "" {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
}
