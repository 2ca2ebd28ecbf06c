package hub_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"assent/protocol"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/config"
	"assent/sidecar/hub"
	"assent/sidecar/task"
	"assent/sidecar/wire/wiretest"
)

// unattributed is an unattributed request, which the test assigns.
type unattributed struct {
	*attribution.Request
	ctx   context.Context
	place chan<- *attribution.Assignment
}

// newFixtureWhose returns a hub on a server of a transcript, and where the requests come that nothing proves
// to be of one task.
func newFixtureWhose(t *testing.T, configured config.Server, transcript string) (*fixture, <-chan unattributed) {
	t.Helper()
	asked := make(chan unattributed)
	wiretest.Write(t, transcript)
	f := newFixtureOf(t, func(o *hub.Options) {
		o.Broker.(*asks).person = func(ctx context.Context, r *attribution.Request) error {
			place := make(chan *attribution.Assignment, 1)
			asked <- unattributed{r, ctx, place}
			select {
			case a := <-place:
				r.Assign(a)
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}, configured)
	return f, asked
}

// assignTo is a person's word that a request belongs to a task.
func assignTo(id string) *attribution.Assignment {
	return &attribution.Assignment{Task: taskName{name: id}, TaskID: id, By: "a test", Asked: func(int64, string) {}}
}

func shared(name string) config.Server {
	s := server(name)
	s.Shared = true
	return s
}

// callOf is a call of a tool on a server's side, which it lets the hub know of by a change of a list.
func callOf(id int, tool string) string {
	return fmt.Sprintf(`
-- client s --
{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}
-- server s --
{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
`, id, tool)
}

const question = `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}` + "\n"

// wantCandidates compares the candidates of a request, except for their times.
func wantCandidates(t *testing.T, u unattributed, want ...protocol.AskCandidate) {
	t.Helper()
	if diff := cmp.Diff(want, u.Candidates(), cmpopts.IgnoreFields(protocol.AskCandidate{}, "Since")); diff != "" {
		t.Errorf("candidates (-want +got):\n%s", diff)
	}
}

func candidate(taskID, tool string, state protocol.CandidateState) protocol.AskCandidate {
	return protocol.AskCandidate{TaskID: taskID, ToolName: tool, State: state}
}

func TestAPersonPlacesAQuestionOfASharedConnection(t *testing.T) {
	f, asked := newFixtureWhose(t, shared("s"), handshake("s")+callOf(2, "a")+callOf(3, "b")+question+`
-- client s --
{"jsonrpc":"2.0","id":"q","result":{"told":"me"}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"content":[]}}
{"jsonrpc":"2.0","id":3,"result":{"content":[]}}
`)
	first := f.call(t.Context(), "t1", "s", "a")
	f.awaitChange(t, protocol.ListTools)
	second := f.call(t.Context(), "t2", "s", "b")
	u := <-asked
	wantCandidates(t, u, candidate("t1", "a", protocol.CandidateInFlight), candidate("t2", "b", protocol.CandidateInFlight))
	u.place <- assignTo("t2")
	r := f.nextAsk(t, nil)
	if diff := cmp.Diff(protocol.Origin{ServerName: "s", ToolNames: []string{"b"}, PlacedBy: "a test"}, r.origin); diff != "" || r.task != "t2" {
		t.Errorf("asked in %q; origin (-want +got):\n%s", r.task, diff)
	}
	r.answer <- map[string]string{"told": "me"}
	<-first
	<-second
}

func TestCallsOfOneTaskProveTheTaskOfAQuestion(t *testing.T) {
	f, _ := newFixtureWhose(t, shared("s"), handshake("s")+callOf(2, "a")+callOf(3, "b")+question+`
-- client s --
{"jsonrpc":"2.0","id":"q","result":{}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"content":[]}}
{"jsonrpc":"2.0","id":3,"result":{"content":[]}}
`)
	first := f.call(t.Context(), "t1", "s", "a")
	f.awaitChange(t, protocol.ListTools)
	second := f.call(t.Context(), "t1", "s", "b")
	r := f.nextAsk(t, nil)
	if diff := cmp.Diff(protocol.Origin{ServerName: "s", ToolNames: []string{"a", "b"}}, r.origin); diff != "" || r.task != "t1" {
		t.Errorf("asked in %q; origin (-want +got):\n%s", r.task, diff)
	}
	r.answer <- struct{}{}
	<-first
	<-second
}

// A server may still work on a cancelled call, so its next question is not proof of the only remaining call.
func TestACallThatWasGivenUpMayAskStill(t *testing.T) {
	f, asked := newFixtureWhose(t, shared("s"), handshake("s")+callOf(2, "a")+`
-- client s --
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"the client no longer waits for the result"}}
-- server s --
{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}
`+callOf(3, "b")+question+`
-- client s --
{"jsonrpc":"2.0","id":"q","result":{}}
-- server s --
{"jsonrpc":"2.0","id":3,"result":{"content":[]}}
`)
	ctx, cancel := context.WithCancel(t.Context())
	first := f.call(ctx, "t1", "s", "a")
	f.awaitChange(t, protocol.ListTools)
	cancel()
	<-first
	f.awaitChange(t, protocol.ListPrompts) // go-sdk says in its own time that a call is cancelled
	second := f.call(t.Context(), "t2", "s", "b")
	u := <-asked
	wantCandidates(t, u, candidate("t1", "a", protocol.CandidateGivenUp), candidate("t2", "b", protocol.CandidateInFlight))
	u.place <- assignTo("t1")
	r := f.nextAsk(t, second)
	if r.task != "t1" {
		t.Errorf("asked in %q, want t1", r.task)
	}
	r.answer <- struct{}{}
	<-second
}

func TestAQuestionWithoutACallIsPlacedAmongTheLastUses(t *testing.T) {
	f, asked := newFixtureWhose(t, shared("s"), handshake("s")+callOf(2, "a")+`
{"jsonrpc":"2.0","id":2,"result":{"content":[]}}
-- client s --
{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{}}
-- server s --
`+question+`
-- client s --
{"jsonrpc":"2.0","id":"q","result":{}}
-- server s --
{"jsonrpc":"2.0","id":3,"result":{"tools":[]}}
`)
	<-f.call(t.Context(), "t1", "s", "a")
	listed := make(chan error, 1)
	go func() {
		_, err := f.Tools(t.Context(), "s")
		listed <- err
	}()
	u := <-asked
	wantCandidates(t, u, candidate("t1", "a", protocol.CandidateEnded))
	u.place <- assignTo("new")
	r := f.nextAsk(t, nil)
	if diff := cmp.Diff(protocol.Origin{ServerName: "s", PlacedBy: "a test"}, r.origin); diff != "" || r.task != "new" {
		t.Errorf("asked in %q; origin (-want +got):\n%s", r.task, diff)
	}
	r.answer <- struct{}{}
	if err := <-listed; err != nil {
		t.Error(err)
	}
}

func TestWhyAnUnplacedQuestionEnds(t *testing.T) {
	twoCalls := handshake("s") + callOf(2, "a") + callOf(3, "b") + question
	for _, tt := range []struct {
		name, script string
		act          func(*fixture)
		want         task.Ended
	}{
		{
			"the server stopped waiting", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}` + "\n",
			func(*fixture) {},
			task.Ended{Reason: protocol.OutcomeServerStoppedWaiting, Detail: "The server stopped waiting."},
		},
		{
			"both calls ended", `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}` + "\n" + `{"jsonrpc":"2.0","id":3,"result":{"content":[]}}` + "\n",
			func(*fixture) {},
			task.Ended{Reason: protocol.OutcomeCallEnded},
		},
		{
			"the server was stopped", "",
			func(f *fixture) { _, _ = f.Stop("s") },
			task.Ended{Reason: protocol.OutcomeServerLost, Detail: "The server is gone: it was stopped."},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, asked := newFixtureWhose(t, shared("s"), twoCalls+tt.script+"-- client? s --\n"+`{"never":"sent"}`+"\n")
			ctx, cancel := context.WithCancel(t.Context())
			first := f.call(ctx, "t1", "s", "a")
			f.awaitChange(t, protocol.ListTools)
			second := f.call(ctx, "t2", "s", "b")
			u := <-asked
			tt.act(f)
			<-u.ctx.Done()
			var ended *task.Ended
			if !errors.As(context.Cause(u.ctx), &ended) || *ended != tt.want {
				t.Errorf("it ended by %+v, want %+v", ended, tt.want)
			}
			cancel()
			<-first
			<-second
		})
	}
}

// What a server says in the stream of its own is unrelated to the calls in flight, even if there is only one
// (2025-11-25, "Transports: Streamable HTTP").
func TestAQuestionInTheServersOwnStreamIsOfNoCall(t *testing.T) {
	answered := make(chan struct{})
	calling := make(chan struct{})
	handler := legacy(func() string { return "one" }, func(w http.ResponseWriter, _ *http.Request, m rpc) {
		if m.Method == "" {
			w.WriteHeader(http.StatusAccepted)
			close(answered)
			return
		}
		close(calling)
		<-answered
		result(w, m.ID, thanks)
	})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			handler(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		stream := http.NewResponseController(w)
		_ = stream.Flush() // or the client has gone, here and below
		select {
		case <-calling:
		case <-r.Context().Done():
			return
		}
		fmt.Fprintf(w, "data: %s\n", question)
		_ = stream.Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	f, asked := newFixtureWhose(t, config.Server{Name: "s", Source: "test", Transport: protocol.TransportHTTP, URL: s.URL, Usage: config.Usage{Shared: true}}, "")
	t.Cleanup(f.Close) // before the server, which waits for its streams
	end := f.call(t.Context(), "t1", "s", "a")
	u := <-asked
	wantCandidates(t, u, candidate("t1", "a", protocol.CandidateInFlight))
	u.place <- assignTo("t1")
	r := f.nextAsk(t, end)
	r.answer <- struct{}{}
	if diff := cmp.Diff(protocol.CallResult(done), <-end); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}
