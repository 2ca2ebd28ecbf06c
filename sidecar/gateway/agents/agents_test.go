package agents_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/gateway/agents"
	"assent/sidecar/gateway/mcpserver"
	"assent/sidecar/task"
	"assent/sidecar/task/tasktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a task with all that an agent asks in it.
type world struct {
	t      *testing.T
	agents *agents.Agents
	task   *task.Task
	events *tasktest.Events
	leave  context.CancelFunc
	ctx    context.Context
	seen   []string
	hooks  sync.WaitGroup
	// forwarded is the message that Assent itself has the host ask.
	forwarded string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldThat(t, broker.Options{})
}

// newWorldThat returns a world with settings.
func newWorldThat(t *testing.T, o broker.Options) *world {
	t.Helper()
	w := &world{t: t}
	o.Log = zerolog.Nop()
	b := broker.New(o)
	registry, events := tasktest.Registry(t, nil, func(o *task.Options) { o.Check = b.Check })
	info, err := registry.Create("a task")
	if err != nil {
		t.Fatal(err)
	}
	w.task, err = registry.Get(info.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.events = events
	w.ctx, w.leave = context.WithCancel(t.Context())
	w.agents = agents.New(agents.Options{
		Converse: func(mcpserver.Client, string) (*task.Task, func(), error) { return w.task, func() {}, nil },
		Ask: func(ctx context.Context, t *task.Task, q protocol.UseMcpServer) (*task.Answer, error) {
			if form, ok := q.(protocol.McpElicitation); ok {
				return b.Question(ctx, t, form)
			}
			return b.Permit(ctx, t, q.(protocol.HostPermission))
		},
		Forwarded: func(_ mcpserver.Client, _, message string) bool { return message == w.forwarded },
		Log:       zerolog.Nop(),
	})
	t.Cleanup(func() {
		w.leave()
		w.hooks.Wait()
		if err := registry.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// hook is the daemon's connection with a hook.
type hook struct {
	net.Conn
	in     *bufio.Reader
	served chan struct{}
}

// hook starts a hook of Claude Code with a frame. It returns at once if the frame is a question.
func (w *world) hook(frame string) *hook {
	w.t.Helper()
	return w.hookOf("claude", frame)
}

func (w *world) hookOf(host, frame string) *hook {
	w.t.Helper()
	e, err := agents.Read(host, []byte(frame))
	if err != nil {
		w.t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	h := &hook{ours, bufio.NewReader(ours), make(chan struct{})}
	w.hooks.Go(func() {
		_ = w.agents.Serve(w.ctx, theirs, e) // fails if the hook leaves
		close(h.served)
	})
	if !e.Asks() {
		<-h.served
	}
	w.t.Cleanup(h.leave)
	return h
}

// leave ends a hook without a word.
func (h *hook) leave() {
	_ = h.Close()
	<-h.served
}

// prints reads what a hook prints, and says that it did; "" for no decision.
func (h *hook) prints() string {
	line, err := h.in.ReadString('\n')
	if err != nil {
		return ""
	}
	_, _ = io.WriteString(h, "printed\n")
	<-h.served
	var printed struct {
		HookSpecificOutput struct {
			Decision struct{ Behavior, Message string }
		}
	}
	if err := json.Unmarshal([]byte(line), &printed); err != nil {
		return line
	}
	return printed.HookSpecificOutput.Decision.Behavior
}

// question returns the next question that is asked.
func (w *world) question() (protocol.HostPermission, protocol.Ask) {
	w.t.Helper()
	ask, _ := tasktest.AwaitAsk(w.t, w.events, w.seen...)
	w.seen = append(w.seen, ask.AskID)
	q, _ := ask.Question.(protocol.HostPermission)
	return q, ask
}

func (w *world) answer(ask protocol.Ask, response protocol.AskResponse) {
	w.t.Helper()
	if _, err := w.task.Answer(w.t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: response}, "a test"); err != nil {
		w.t.Fatal(err)
	}
}

// state says in a word or two what became of the n-th question.
func (w *world) state(n int64) string {
	w.t.Helper()
	m, err := w.task.Message(w.t.Context(), n)
	if err != nil {
		w.t.Fatal(err)
	}
	ask, ok := m.Body.(protocol.Ask)
	switch {
	case !ok:
		return "no ask"
	case ask.Outcome == nil:
		return "open"
	}
	state := string(ask.Outcome.Reason)
	if ask.Delivered {
		state += ", acted on"
	}
	if ask.Outcome.Undelivered != "" {
		state += ", without effect"
	}
	return state
}

// awaitOver waits for the end of the n-th question.
func (w *world) awaitOver(n int64) {
	w.t.Helper()
	tasktest.Await(w.t, w.events, func(p protocol.TaskEventParams) bool {
		e, ok := p.Event.(protocol.AskSettled)
		return ok && e.MessageID == n
	})
}

// event returns a frame about a command of an agent; "" is the main one.
func event(name, agent, command string) string {
	return fmt.Sprintf(`{"session_id":"s","prompt_id":"p","hook_event_name":%q,"agent_id":%q,"tool_name":"Bash","tool_input":{"command":%q}}`, name, agent, command)
}

// A question ends with the first sign that it is no longer asked, and an answer is only sent until a sign confirms it.
func TestWhatBecomesOfAQuestion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		// answer is the person's; "" leaves the question open.
		answer protocol.AskResponse
		// then are what the host says afterwards.
		then []string
		// prints is the decision, and want what becomes of the question.
		prints, want string
	}{
		{"a yes", protocol.YesButtonClicked, nil, "allow", "answered"},
		{"a yes that runs", protocol.YesButtonClicked, []string{event("PostToolUse", "", "x")}, "allow", "answered, acted on"},
		{"a yes that fails", protocol.YesButtonClicked, []string{event("PostToolUseFailure", "", "x")}, "allow", "answered, acted on"},
		{"a yes, and another command runs", protocol.YesButtonClicked, []string{event("PostToolUse", "", "y")}, "allow", "answered"},
		{"a yes, and the same runs of a sub-agent", protocol.YesButtonClicked, []string{event("PostToolUse", "a", "x")}, "allow", "answered"},
		{"a no", protocol.NoButtonClicked, nil, "deny", "declined"},
		{"a no until the end of the turn", protocol.NoButtonClicked, []string{event("Stop", "", "")}, "deny", "declined, acted on"},
		{"a no that came too late", protocol.NoButtonClicked, []string{event("PostToolUse", "", "x")}, "deny", "declined, without effect"},
		{"left to the prompt", protocol.CancelButtonClicked, []string{event("PostToolUse", "", "x")}, "", "dismissed"},
		{"allowed in the host", "", []string{event("PostToolUse", "", "x")}, "", "answeredInHost"},
		{"the input in another order", "", []string{
			`{"session_id":"s","prompt_id":"p","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{ "command" : "x" }}`,
		}, "", "answeredInHost"},
		{"the end of the turn", "", []string{event("Stop", "", "")}, "", "hostStoppedWaiting"},
		{"the end of a sub-agent's turn", "", []string{event("SubagentStop", "a", "")}, "", "open"},
		{"another turn", "", []string{event("UserPromptSubmit", "", "")}, "", "hostStoppedWaiting"},
		{"the end of the session", "", []string{event("SessionEnd", "", "")}, "", "hostStoppedWaiting"},
		{"the end of another session", "", []string{strings.Replace(event("SessionEnd", "", ""), `"s"`, `"t"`, 1)}, "", "open"},
		{"another tool", "", []string{strings.Replace(event("PostToolUse", "", "x"), "Bash", "Sh", 1)}, "", "open"},
		{"another turn's use", "", []string{strings.Replace(event("PostToolUse", "", "x"), `"p"`, `"q"`, 1)}, "", "open"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			hook := w.hook(event("PermissionRequest", "", "x"))
			_, ask := w.question()
			if tt.answer != "" {
				w.answer(ask, tt.answer)
				if got := hook.prints(); got != tt.prints {
					t.Errorf("the hook printed %q, want %q", got, tt.prints)
				}
			}
			for _, frame := range tt.then {
				w.hook(frame)
			}
			if tt.answer == "" && tt.want != "open" {
				w.awaitOver(1)
				if got := hook.prints(); got != "" {
					t.Errorf("the hook printed %q without an answer", got)
				}
			}
			if got := w.state(1); got != tt.want {
				t.Errorf("the question is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAnAgentAsksOneAfterTheOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.hook(event("PermissionRequest", "", "x"))
	w.question()
	w.hook(event("PermissionRequest", "a", "x"))
	w.question()
	w.hook(event("PermissionRequest", "", "y"))
	w.question()
	w.awaitOver(1)
	if got := first.prints(); got != "" {
		t.Errorf("the hook printed %q", got)
	}
	w.hook(event("PermissionRequest", "", "y")) // such as by a second entry for the same hook
	w.question()
	w.awaitOver(3)
	// The first command runs at last, which says nothing of the questions that are open.
	w.hook(event("PostToolUse", "", "x"))
	for n, want := range []string{"answeredInHost", "open", "hostStoppedWaiting", "open"} {
		if got := w.state(int64(n + 1)); got != want {
			t.Errorf("question %d is %q, want %q", n+1, got, want)
		}
	}
}

// The same command may be asked about again in a turn. Each run confirms one answer, and none after a no in the host.
func TestTheSameCommandAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 2 {
		hook := w.hook(event("PermissionRequest", "", "x"))
		_, ask := w.question()
		w.answer(ask, protocol.YesButtonClicked)
		if got := hook.prints(); got != "allow" {
			t.Errorf("the hook printed %q", got)
		}
	}
	w.hook(event("PostToolUse", "", "x"))
	w.hook(event("PermissionRequest", "", "y")).leave()
	w.question()
	w.hook(event("PermissionRequest", "", "y"))
	w.question()
	w.hook(event("PostToolUse", "", "y"))
	w.awaitOver(4)
	for n, want := range []string{"answered, acted on", "answered", "hostStoppedWaiting", "answeredInHost"} {
		if got := w.state(int64(n + 1)); got != want {
			t.Errorf("question %d is %q, want %q", n+1, got, want)
		}
	}
}

// The person answers in Assent while the host goes on by its own prompt. One of them is first, and what is said of the question fits
// what the hook printed.
func TestBothAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 200 {
		command := fmt.Sprint(n)
		hook := w.hook(event("PermissionRequest", "", command))
		_, ask := w.question()
		response, inHost := protocol.YesButtonClicked, func() { w.hook(event("PostToolUse", "", command)) }
		switch n % 3 {
		case 1:
			response = protocol.NoButtonClicked
		case 2: // the prompt says no, so that the host ends the hook
			inHost = func() { _ = hook.Close() }
		}
		var refused error
		var both sync.WaitGroup
		inAssent := func() {
			_, refused = w.task.Answer(w.ctx, &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: response}, "a test")
		}
		sides := []func(){inAssent, inHost}
		if n%2 == 1 { // the other one is likely to be first
			slices.Reverse(sides)
		}
		for _, side := range sides {
			both.Go(side)
			for range n % 7 {
				runtime.Gosched()
			}
		}
		printed := hook.prints()
		both.Wait()
		<-hook.served
		got := fmt.Sprintf("printed %q, %s", printed, w.state(int64(n+1)))
		var want []string
		switch {
		case refused != nil && n%3 == 2:
			want = []string{`printed "", hostStoppedWaiting`}
		case refused != nil:
			want = []string{`printed "", answeredInHost`}
		case n%3 == 0:
			want = []string{`printed "allow", answered, acted on`}
		case n%3 == 1:
			want = []string{`printed "deny", declined, without effect`}
		default:
			want = []string{`printed "", answered, without effect`, `printed "allow", answered, without effect`, `printed "allow", answered`}
		}
		if !slices.Contains(want, got) {
			t.Errorf("%d: %s, want %q (%v)", n, got, want, refused)
		}
	}
}

// A command that was refused and asked about again is not one that ran in spite of the refusal.
func TestTheSameCommandAfterANo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, response := range []protocol.AskResponse{protocol.NoButtonClicked, protocol.YesButtonClicked} {
		hook := w.hook(event("PermissionRequest", "", "x"))
		_, ask := w.question()
		w.answer(ask, response)
		hook.prints()
	}
	w.hook(event("PostToolUse", "", "x"))
	w.hook(event("PermissionRequest", "", "x"))
	w.question()
	w.hook(event("PostToolUse", "", "x"))
	w.awaitOver(3)
	for n, want := range []string{"declined", "answered, acted on", "answeredInHost"} {
		if got := w.state(int64(n + 1)); got != want {
			t.Errorf("question %d is %q, want %q", n+1, got, want)
		}
	}
	w.hook(event("PostToolUse", "", "x")) // without another question
	if got := w.state(1); got != "declined, without effect" {
		t.Errorf("the first question is %q", got)
	}
}

// A hook that has gone gets no decision, and nothing claims that it did.
func TestAHookThatLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook(event("PermissionRequest", "", "x")).leave()
	if got := w.state(1); got != "hostStoppedWaiting" {
		t.Errorf("the question is %q", got)
	}
	w.question()
	hook := w.hook(event("PermissionRequest", "", "y"))
	_, ask := w.question()
	w.answer(ask, protocol.YesButtonClicked)
	if _, err := hook.in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	hook.leave() // before it says that it has printed
	if got := w.state(2); got != "answered, without effect" {
		t.Errorf("the question is %q", got)
	}
	w.hook(event("PostToolUse", "", "y")) // it did print
	if got := w.state(2); got != "answered, acted on" {
		t.Errorf("the question is %q", got)
	}
}

func TestADaemonThatLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := w.hook(event("PermissionRequest", "", "x"))
	w.question()
	w.leave()
	if got := hook.prints(); got != "" {
		t.Errorf("the hook printed %q", got)
	}
	if got := w.state(1); got != "restarted" {
		t.Errorf("the question is %q", got)
	}
}

// The end of the time that the person set is no answer.
func TestAQuestionWithoutAnAnswerInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldThat(t, broker.Options{AskTimeout: func() time.Duration { return time.Minute }})
		hook := w.hook(event("PermissionRequest", "", "x"))
		w.question()
		if got := hook.prints(); got != "" {
			t.Errorf("the hook printed %q", got)
		}
		if got := w.state(1); got != "timedOut" {
			t.Errorf("the question is %q", got)
		}
	})
}

// Questions that are too many are left to the host's own prompt.
func TestManyQuestions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 100 {
		w.hook(event("PermissionRequest", fmt.Sprint(n), "x"))
		w.question()
	}
	if got := w.hook(event("PermissionRequest", "one more", "x")).prints(); got != "" {
		t.Errorf("the hook printed %q", got)
	}
	w.hook(event("SessionEnd", "", ""))
	for n := range int64(100) {
		w.awaitOver(n + 1)
	}
	w.hook(event("PermissionRequest", "one more", "x"))
	w.question()
}
