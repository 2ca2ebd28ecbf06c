package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/chat"
	"assent/sidecar/config"
	"assent/sidecar/hub"
	"assent/sidecar/hub/session"
	"assent/sidecar/task"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
	"assent/sidecar/wire/wiretest"
)

// life is one sidecar's time on a store.
type life struct {
	hub    *hub.Hub
	chat   *chat.Chat
	tasks  *task.Registry
	events *tasktest.Events
	store  *store.Store // once it was opened
	killed bool

	mu   sync.Mutex // guards sent
	sent []string   // to the server
}

// live begins a life on the store in dir, with a server that plays a transcript.
func live(t *testing.T, dir, transcript string) *life {
	t.Helper()
	wiretest.Write(t, transcript)
	l := &life{}
	l.tasks, l.events = tasktest.Registry(t, func() (_ *store.Store, err error) {
		l.store, err = store.Open(dir)
		return l.store, err
	}, func(o *task.Options) {
		o.NewID = func() string { return uuid.NewString() }
	})
	log := zerolog.New(zerolog.NewTestWriter(t))
	l.hub = hub.New(hub.Options{
		Options: session.Options{
			Changed: func(protocol.Server) {},
			Capabilities: func() protocol.FrontEndCapabilities {
				return protocol.FrontEndCapabilities{Elicitation: true, OpenURL: true}
			},
			Client:      protocol.Implementation{Name: "assent", Version: "test"},
			Environment: config.Environment{Environ: environ()},
			Tap: func(_ string, fromServer bool, frame []byte) {
				if !fromServer {
					l.mu.Lock()
					defer l.mu.Unlock()
					l.sent = append(l.sent, string(frame))
				}
			},
			Log: log,
		},
		Broker: broker.New(broker.Options{FrontEnd: func() protocol.FrontEndCapabilities {
			return protocol.FrontEndCapabilities{Elicitation: true, Sampling: true, OpenURL: true}
		}, Log: log}),
		Task:        func(id string) (attribution.Task, error) { return l.tasks.Get(id) },
		ListChanged: func(string, protocol.ListKind) {},
		PollFloor:   time.Millisecond,
	})
	l.chat = chat.New(chat.Options{Tasks: l.tasks, Servers: l.hub})
	l.hub.Configure([]config.Server{server("s")})
	return l
}

func (l *life) end(t *testing.T) {
	t.Helper()
	l.hub.Close()
	l.chat.Close()
	if err := l.tasks.Close(); err != nil && !l.killed {
		t.Error(err)
	}
}

// kill simulates SIGKILL: this life saves nothing more, and no process takes it for alive.
func (l *life) kill(t *testing.T) {
	t.Helper()
	l.killed = true
	if err := l.store.Close(); err != nil {
		t.Fatal(err)
	}
}

func (l *life) task(t *testing.T, id string) *task.Task {
	t.Helper()
	tk, err := l.tasks.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

// ended waits for the end of the task's call.
func (l *life) ended(t *testing.T) protocol.CallResult {
	t.Helper()
	p := tasktest.Await(t, l.events, func(p protocol.TaskEventParams) bool { _, ok := p.Event.(protocol.CallEnded); return ok })
	return p.Event.(protocol.CallEnded).Result
}

// modern is how a conversation with a modern server begins that may elicit.
func modern(lines ...string) string {
	return strings.NewReplacer(modernMeta, tasksMeta).Replace(discovery("s", `{"tools":{}}`) + strings.Join(lines, ""))
}

// toldCall is a request with a progress token.
func toldCall(id, token int, extra string) string {
	return strings.Replace(toolCall(id, extra), `"_meta":{`, fmt.Sprintf(`"_meta":{"progressToken":"call-%d",`, token), 1)
}

const (
	dayRequest  = `{"method":"elicitation/create","params":{` + dayForm + `}}`
	seatRequest = `{"method":"elicitation/create","params":{` + seatForm + `}}`
)

// TestRoundsOutliveTheSidecar ends a sidecar while two questions of a round are open, one of them answered
// already. The next one asks for the other alone, and makes the call again with the server's state.
func TestRoundsOutliveTheSidecar(t *testing.T) {
	asked := required(2, `"inputRequests":{"day":`+dayRequest+`,"seat":`+seatRequest+`},"requestState":"s\u0041/\/é"`)
	dir := t.TempDir()
	first := live(t, dir, modern(toldCall(2, 1, "")+"\n", serverSays(asked)))
	info, err := first.tasks.Create("t")
	if err != nil {
		t.Fatal(err)
	}
	_, err = first.chat.StartCall(t.Context(), &protocol.StartCallParams{TaskID: info.ID, ServerName: "s", Request: protocol.CallToolRequest{ToolName: "tool"}})
	if err != nil {
		t.Fatal(err)
	}
	one, _ := tasktest.AwaitAsk(t, first.events)
	other, _ := tasktest.AwaitAsk(t, first.events, one.AskID)
	if isDay(one) {
		one, other = other, one
	}
	answer(t, first.task(t, info.ID), one.AskID, `{"seat":"12A"}`)
	first.kill(t)
	defer first.end(t)

	// A sidecar that closes before it takes up the call does not change it.
	closing := live(t, dir, modern())
	closing.hub.Close()
	if err := closing.chat.Resume(func(task.Unfinished) bool { return false }); err != nil {
		t.Fatal(err)
	}
	closing.end(t)

	second := live(t, dir, modern(
		toldCall(2, 1, `"requestState":"sA//é","inputResponses":{"day":{"action":"accept","content":{"day":"Monday"}},"seat":{"action":"accept","content":{"seat":"12A"}}},`)+"\n",
		serverSays(complete(2))))
	defer second.end(t)
	tk := second.task(t, info.ID)
	if n := tk.Info().OpenAsks; n != 1 {
		t.Errorf("%d asks are open after the restart, want 1", n)
	}
	if err := second.chat.Resume(func(task.Unfinished) bool { return false }); err != nil {
		t.Fatal(err)
	}
	answer(t, tk, other.AskID, `{"day":"Monday"}`)
	if diff := cmp.Diff(protocol.CallResult(done), second.ended(t)); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	opened, err := tk.Open(t.Context(), 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(opened.Messages) != 3 {
		t.Errorf("there are %d messages, want the call and its two questions", len(opened.Messages))
	}
	for _, m := range opened.Messages {
		if ask, ok := m.Body.(protocol.Ask); ok && (ask.Outcome == nil || ask.Outcome.Reason != protocol.OutcomeAnswered) {
			t.Errorf("the outcome of %q is %+v", ask.AskID, ask.Outcome)
		}
	}
}

// Once the answers are being sent, the server may have used them: such a call is lost with its
// sidecar, and is not repeated.
func TestACallIsNotRepeatedAfterItsAnswersWereSent(t *testing.T) {
	dir := t.TempDir()
	first := live(t, dir, modern(toldCall(2, 1, "")+"\n",
		serverSays(required(2, `"inputRequests":{"day":`+dayRequest+`}`)),
		clientSays(toldCall(3, 2, `"inputResponses":{"day":{"action":"accept","content":{"day":"Monday"}}},`)),
		serverSays(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-2","progress":1}}`),
		clientSays(`{"jsonrpc":"2.0","method":"never","params":{}}`)))
	info, err := first.tasks.Create("t")
	if err != nil {
		t.Fatal(err)
	}
	_, err = first.chat.StartCall(t.Context(), &protocol.StartCallParams{TaskID: info.ID, ServerName: "s", Request: protocol.CallToolRequest{ToolName: "tool"}})
	if err != nil {
		t.Fatal(err)
	}
	ask, _ := tasktest.AwaitAsk(t, first.events)
	answer(t, first.task(t, info.ID), ask.AskID, `{"day":"Monday"}`)
	tasktest.Await(t, first.events, func(protocol.CallProgressParams) bool { return true }) // the server has it
	first.kill(t)
	defer first.end(t)

	second := live(t, dir, modern())
	defer second.end(t)
	opened, err := second.task(t, info.ID).Open(t.Context(), 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.chat.Resume(func(task.Unfinished) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if _, ok := opened.Messages[0].Body.(protocol.Call).Result.(protocol.CallLost); !ok {
		t.Errorf("the call is %+v, want lost", opened.Messages[0].Body)
	}
}

// The person is not asked about a call that they cancelled, or about one of a server that is no longer configured.
func TestTheAsksOfARoundEndWithTheirCall(t *testing.T) {
	dir := t.TempDir()
	first := live(t, dir, modern(toldCall(2, 1, "")+"\n", serverSays(required(2, `"inputRequests":{"day":`+dayRequest+`}`))))
	info, err := first.tasks.Create("t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.chat.StartCall(t.Context(), &protocol.StartCallParams{TaskID: info.ID, ServerName: "s", Request: protocol.CallToolRequest{ToolName: "tool"}}); err != nil {
		t.Fatal(err)
	}
	ask, _ := tasktest.AwaitAsk(t, first.events)
	first.end(t)

	second := live(t, dir, modern())
	defer second.end(t)
	second.hub.Configure(nil)
	tk := second.task(t, info.ID)
	if err := second.chat.Resume(func(task.Unfinished) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if _, ok := second.ended(t).(protocol.CallLost); !ok {
		t.Error("the call of a server that is gone is not lost")
	}
	if n := tk.Info().OpenAsks; n != 0 {
		t.Errorf("%d asks are open", n)
	}
	_, err = tk.Answer(context.Background(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(`{}`)}, "")
	if e := (*protocol.Error)(nil); !errors.As(err, &e) || e.Code != protocol.CodeAskSettled {
		t.Errorf("Answer = %v", err)
	}
}

func isDay(ask protocol.Ask) bool {
	return ask.Question.(protocol.McpElicitation).ElicitationRequest.Fields[0].Head().Name == "day"
}

func answer(t *testing.T, tk *task.Task, askID, content string) {
	t.Helper()
	_, err := tk.Answer(t.Context(), &protocol.AskResponseParams{
		AskID: askID, AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(content),
	}, "a test")
	if err != nil {
		t.Fatal(err)
	}
}
