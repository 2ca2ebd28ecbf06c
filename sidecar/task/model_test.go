package task_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"pgregory.net/rapid"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/ask"
	"assent/sidecar/task/store"
)

// TestModel runs random sequences of operations on a registry, and compares it after each operation with a
// simple model: a list of tasks, with lists of calls and asks. The operations are the methods of world in
// model_ops_test.go; a new method takes part without registration.
//
// A failing sequence is shortened, and printed with the flag that replays it. For a longer run: go test
// ./sidecar/task -run TestModel -rapid.checks=5000 -rapid.steps=100.
func TestModel(t *testing.T) {
	testModel(t, func(w *world) rapid.StateMachine { return w })
}

// TestModelOfRaces is TestModel with concurrent operations. Their order depends on the machine, so a
// replay may not repeat a failure.
func TestModelOfRaces(t *testing.T) {
	testModel(t, func(w *world) rapid.StateMachine { return racingWorld{w} })
}

func init() { // before the flags are parsed, which override these
	if err := errors.Join(flag.Set("rapid.checks", "20"), flag.Set("rapid.steps", "60")); err != nil {
		panic(err)
	}
}

func testModel(t *testing.T, machine func(*world) rapid.StateMachine) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		inBubble(t, func() {
			w := newWorld(rt, dir)
			defer w.end()
			actions := rapid.StateMachineActions(machine(w))
			for i, often := range []func(*rapid.T){w.Ask, w.Ask, w.Ask, w.Answer, w.ModelMoves, w.ModelMoves} {
				actions[fmt.Sprint("often ", i)] = often
			}
			w.CreateTask(rt)
			rt.Repeat(actions)
			w.FrontEndReads(rt)
			for _, t := range w.tasks {
				t.touched = true
			}
			w.Check(rt)
		})
	})
}

// inBubble runs f in a synctest bubble, and rethrows its panics on the caller's goroutine. rapid ends
// a sequence with a panic.
func inBubble(t *testing.T, f func()) {
	var failure any
	synctest.Test(t, func(*testing.T) {
		defer func() {
			failure = recover()
			if err, ok := failure.(runtime.Error); ok {
				failure = fmt.Sprintf("%v\n%s", err, debug.Stack())
			}
		}()
		f()
	})
	// rapid identifies a failure by its stack, so a skip has to panic on a line of its own.
	switch {
	case failure == nil:
	case fmt.Sprintf("%T", failure) == "rapid.invalidData":
		panic(failure)
	default:
		panic(failure)
	}
}

// world is a registry on a file, a front end, the servers that ask, and the model.
type world struct {
	rt       *rapid.T
	root     string // of the directories of the sidecars
	dir      string // of the one that runs
	lives    int    // how many sidecars there were
	registry *task.Registry
	wire     *link
	ids      int
	texts    int

	tasks []*modelTask
}

type modelTask struct {
	id, title string
	closed    bool
	calls     []*modelCall
	asks      []*modelAsk

	touched bool  // since the last check
	number  int64 // of its newest event at the last check
}

type modelCall struct {
	in        *modelTask
	messageID int64
	server    string
	ended     bool
	mcpTask   string // its id, once the call became one
	round     *task.Round
}

// prefixes returns the prefixes of the keys of questions that outlive a sidecar because of the
// call.
func (c *modelCall) prefixes() []string {
	var all []string
	if c.mcpTask != "" {
		all = append(all, ask.McpTaskPrefix(c.server, c.mcpTask))
	}
	if c.round != nil {
		all = append(all, ask.RoundPrefix(c.messageID))
	}
	return all
}

type modelAsk struct {
	in        *modelTask
	askID     string
	messageID int64
	at        int64
	question  protocol.UseMcpServer
	draft     string
	expiresAt int64 // 0 is never
	each      int64 // ms: how much time an extension gives

	key  string
	held bool // a repeated question with its key is this ask

	reason  protocol.OutcomeReason // empty while it is open
	outcome string                 // as it was first seen, in JSON; empty before
	answer  *task.Answer           // the result of Ask; nil if there was no answer

	// The rest is for an approved sampling request.
	model   modelState
	begun   bool            // a model has begun, as far as front ends know
	next    *protocol.Model // the model that began after the first one
	result  protocol.SamplingResult
	waiting []*asker
}

// modelState is the state of an approved sampling request.
type modelState int

const (
	noModel  modelState = iota // not approved, or finished
	approved                   // no model has begun
	writing
	reviewed
)

// asker is a server with a request that blocks in Ask.
type asker struct {
	done chan asked // of one
	end  context.CancelCauseFunc
}

func (a *modelAsk) open() bool { return a.reason == "" }

func (a *modelAsk) server() string { return originOf(a.question).ServerName }

func originOf(q protocol.UseMcpServer) protocol.Origin {
	switch q := q.(type) {
	case protocol.McpElicitation:
		return q.Origin
	case protocol.McpURLElicitation:
		return q.Origin
	case protocol.McpSampling:
		return q.Origin
	case protocol.McpSamplingReview:
		return q.Origin
	}
	panic(fmt.Sprintf("a question is a %T", q))
}

func newWorld(rt *rapid.T, root string) *world {
	dir, err := os.MkdirTemp(root, "")
	if err != nil {
		rt.Fatal(err)
	}
	w := &world{rt: rt, root: dir, dir: filepath.Join(dir, "0")}
	w.start()
	return w
}

// end ends everything, after success and failure.
func (w *world) end() {
	w.wire.cut()
	w.endAskers(errors.New("the test is over"))
	if err := errors.Join(w.registry.Close(), os.RemoveAll(w.root)); err != nil {
		w.rt.Error(err)
	}
}

// endAskers ends the waiting requests, and waits for them.
func (w *world) endAskers(cause error) {
	var all []*asker
	for a := range w.asks() {
		all = append(all, a.waiting...)
		a.waiting = nil
	}
	for _, r := range all {
		r.end(cause)
	}
	for _, r := range all {
		<-r.done
	}
}

// start opens a registry on the existing store.
func (w *world) start() {
	views := map[string]*view{}
	if w.wire != nil {
		views = w.wire.views
	}
	w.wire = &link{views: views, newest: map[string]*protocol.TaskEventParams{}, settled: map[string]int{}}
	dir := w.dir
	w.registry = task.NewRegistry(task.Options{
		OpenStore: func() (*store.Store, error) { return store.Open(dir) },
		Events:    w.wire,
		Check:     check,
		Log:       zerolog.Nop(),
		NewID: func() string {
			w.ids++
			return fmt.Sprint("id-", w.ids)
		},
	})
}

// check checks an answer as the broker does.
func check(question protocol.UseMcpServer) task.Check {
	return func(p *protocol.AskResponseParams) (*task.Answer, error) {
		if string(p.ElicitationContent) == wrongContent {
			return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "that is wrong")
		}
		return answerTo(question, p), nil
	}
}

const wrongContent = `{"wrong":true}`

// answerTo returns the expected answer for the server.
func answerTo(question protocol.UseMcpServer, p *protocol.AskResponseParams) *task.Answer {
	answer := &task.Answer{Response: p.AskResponse}
	yes := p.AskResponse == protocol.YesButtonClicked
	switch question.(type) {
	case protocol.McpElicitation:
		if yes {
			answer.Content = p.ElicitationContent
		}
	case protocol.McpSampling:
		if yes && p.HandWritten != nil {
			answer.SentResponse = &protocol.McpSamplingResponse{Model: p.HandWritten.Model, ByPerson: true}
		} else if yes {
			answer.Model = &protocol.Model{ID: p.ModelID}
			if p.SamplingEdit != nil {
				answer.SentRequest = &protocol.McpSamplingRequest{SystemPrompt: p.SamplingEdit.SystemPrompt, MaxTokens: 1}
			}
		}
	case protocol.McpSamplingReview:
		if yes && p.SamplingContent != nil {
			answer.SentResponse = &protocol.McpSamplingResponse{Content: p.SamplingContent}
		}
		if p.AskResponse == protocol.RegenerateButtonClicked {
			answer.Model = &protocol.Model{ID: p.ModelID}
		}
	}
	return answer
}

// asks returns the asks of all tasks.
func (w *world) asks() func(func(*modelAsk) bool) {
	return func(yield func(*modelAsk) bool) {
		for _, t := range w.tasks {
			for _, a := range t.asks {
				if !yield(a) {
					return
				}
			}
		}
	}
}

// get returns a task of the registry.
func (w *world) get(t *modelTask) *task.Task {
	t.touched = true
	tk, err := w.registry.Get(t.id)
	if err != nil {
		w.rt.Fatalf("task %s: %v", t.id, err)
	}
	return tk
}

// read reads a task from its beginning.
func (w *world) read(t *modelTask) *protocol.OpenTaskResult {
	opened, err := w.get(t).Open(context.Background(), 0, 0, 1<<20)
	if err != nil {
		w.rt.Fatalf("open task %s: %v", t.id, err)
	}
	return opened
}

// settled records that an ask was settled, and compares the results of its askers with the model. The
// answer is nil if there was none.
func (w *world) settled(a *modelAsk, reason protocol.OutcomeReason, answer *task.Answer) {
	if !a.open() {
		w.rt.Fatalf("%s is settled twice in the model", a.askID)
	}
	a.reason, a.answer = reason, answer
	if answer == nil {
		a.held = false
	}
	if !keepsDraft(reason) {
		a.draft = ""
	}
	if _, ok := a.question.(protocol.McpSampling); ok && answer != nil && answer.Response == protocol.YesButtonClicked {
		if answer.SentResponse == nil {
			a.model = approved
		} else {
			a.result = *answer.SentResponse
		}
	}
	synctest.Wait()
	for _, r := range a.waiting {
		w.returned(a, r)
	}
	a.waiting = nil
}

// returned compares a result of Ask with the model.
func (w *world) returned(a *modelAsk, r *asker) {
	var got asked
	select {
	case got = <-r.done:
	default:
		w.rt.Fatalf("%s is settled (%s), and its asker still waits", a.askID, a.reason)
	}
	if a.answer == nil {
		var ended *task.Ended
		if !errors.As(got.err, &ended) || ended.Reason != a.reason {
			w.rt.Fatalf("Ask of %s = %+v, %v; want an end for %s", a.askID, got.answer, got.err, a.reason)
		}
		return
	}
	want := *a.answer
	want.MessageID, want.Kept = a.messageID, a.key != ""
	if want.Kept {
		want.Result = a.result
	}
	if got.answer != nil && want.Model == nil {
		got.answer.Model = nil // it has no meaning if no model is asked
	}
	if got.err != nil {
		w.rt.Fatalf("Ask of %s failed: %v; want %+v", a.askID, got.err, want)
	}
	if diff := cmp.Diff(&want, got.answer); diff != "" {
		w.rt.Fatalf("Ask of %s (-want +got):\n%s", a.askID, diff)
	}
}

func keepsDraft(reason protocol.OutcomeReason) bool {
	return slices.Contains([]protocol.OutcomeReason{
		protocol.OutcomeTimedOut, protocol.OutcomeServerStoppedWaiting, protocol.OutcomeServerLost, protocol.OutcomeRestarted,
		protocol.OutcomeCallEnded,
	}, reason)
}

// Check compares everything with the model. It runs after each operation.
func (w *world) Check(rt *rapid.T) {
	synctest.Wait()
	infos, err := w.registry.List()
	if err != nil || len(infos) != len(w.tasks) {
		rt.Fatalf("%d tasks, %v; want %d", len(infos), err, len(w.tasks))
	}
	var open []string
	numbers := map[string]int64{}
	for _, info := range infos {
		numbers[info.ID] = info.LastNumber
	}
	for _, t := range w.tasks {
		for _, a := range t.asks {
			if a.open() {
				open = append(open, a.askID)
			}
		}
		if t.touched || t.number != numbers[t.id] { // other tasks are unchanged, and reading takes long
			w.checkTask(rt, t)
			t.touched, t.number = false, numbers[t.id]
		}
	}
	asks, _, err := w.registry.OpenAsks()
	if err != nil {
		rt.Fatal(err)
	}
	var listed []string
	for _, a := range asks {
		listed = append(listed, a.AskID)
	}
	slices.Sort(open)
	slices.Sort(listed)
	if diff := cmp.Diff(open, listed); diff != "" {
		rt.Fatalf("the inbox (-want +got):\n%s", diff)
	}
	w.checkUnfinished(rt)
	w.wire.mu.Lock()
	defer w.wire.mu.Unlock()
	if len(w.wire.wrong) > 0 {
		rt.Fatalf("announced was:\n%s", strings.Join(w.wire.wrong, "\n"))
	}
}

func (w *world) checkTask(rt *rapid.T, t *modelTask) {
	open, opened := 0, w.read(t)
	calls := map[int64]*modelCall{}
	for _, c := range t.calls {
		calls[c.messageID] = c
	}
	asks := map[int64]*modelAsk{}
	for _, a := range t.asks {
		asks[a.messageID] = a
		if !a.open() {
			continue
		}
		open++
		for _, r := range a.waiting {
			select {
			case got := <-r.done:
				rt.Fatalf("%s is open, and Ask returned %+v, %v", a.askID, got.answer, got.err)
			default:
			}
		}
	}
	info := opened.Task
	if info.OpenAsks != open || info.Closed != t.closed || info.Title != t.title {
		rt.Fatalf("the task is %+v; want the title %q, closed %v, %d open asks", info, t.title, t.closed, open)
	}
	if len(opened.Messages) != len(calls)+len(asks) {
		rt.Fatalf("task %s has %d messages, want %d calls and %d asks", t.id, len(opened.Messages), len(calls), len(asks))
	}
	for _, m := range opened.Messages {
		switch body := m.Body.(type) {
		case protocol.Call:
			c := calls[m.ID]
			if c == nil || (body.Result != nil) != c.ended || (body.Task != nil) != (c.mcpTask != "") {
				rt.Fatalf("the call is %+v, want %+v", body, c)
			}
		case protocol.Ask:
			checkAsk(rt, asks[m.ID], body)
		}
	}
	w.checkDrafts(rt, t)
	w.wire.mu.Lock()
	defer w.wire.mu.Unlock()
	if newest := w.wire.newest[t.id]; newest != nil && (newest.Number != info.LastNumber || newest.OpenAsks != info.OpenAsks) {
		rt.Fatalf("the newest event of task %s is %+v, and the task %+v", t.id, newest, info)
	}
	v := w.wire.views[t.id]
	if v.gap || v.task.LastNumber != info.LastNumber {
		return // it has not read the task yet
	}
	messages := opened.Messages
	if v.earlier && len(v.messages) > 0 {
		messages = slices.DeleteFunc(slices.Clone(messages), func(m protocol.Message) bool { return m.ID < v.messages[0].ID })
	}
	if diff := cmp.Diff(lines(messages), lines(v.messages)); diff != "" {
		rt.Fatalf("what the front end folded of task %s is not what it would read (-want +got):\n%s", t.id, diff)
	}
	if diff := cmp.Diff(info, v.task); diff != "" {
		rt.Fatalf("the front end's task (-want +got):\n%s", diff)
	}
}

// checkDrafts checks the drafts in the store. A draft that is no longer shown must be deleted.
func (w *world) checkDrafts(rt *rapid.T, t *modelTask) {
	s, err := w.registry.Store()
	if err != nil {
		rt.Fatal(err)
	}
	drafts, err := s.Drafts(context.Background(), t.id)
	if err != nil {
		rt.Fatal(err)
	}
	want, got := map[string]string{}, map[string]string{}
	for id, draft := range drafts {
		got[id] = string(draft)
	}
	for _, a := range t.asks {
		if a.draft != "" {
			want[a.askID] = a.draft
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		rt.Fatalf("the drafts in the store (-want +got):\n%s", diff)
	}
}

func checkAsk(rt *rapid.T, a *modelAsk, got protocol.Ask) {
	if a == nil {
		rt.Fatalf("nobody asked %+v", got)
		return
	}
	if got.AskID != a.askID || got.InputKey != a.key || got.ExpiresAt != a.expiresAt || string(got.Draft) != a.draft {
		rt.Fatalf("the ask is %+v\nwant id %s, key %q, until %d, draft %s", got, a.askID, a.key, a.expiresAt, a.draft)
	}
	if (got.Outcome == nil) != a.open() || got.Outcome != nil && got.Outcome.Reason != a.reason {
		rt.Fatalf("the outcome of %s is %+v, want %q", a.askID, got.Outcome, a.reason)
	}
	if q, ok := got.Question.(protocol.McpSampling); ok {
		if diff := cmp.Diff(a.result, q.Result); diff != "" {
			rt.Fatalf("the completion of %s (-want +got):\n%s", a.askID, diff)
		}
	}
	if got.Outcome == nil {
		return
	}
	outcome := *got.Outcome
	outcome.CompletedAt, outcome.Undelivered = 0, "" // these follow later
	text, err := json.Marshal(outcome)
	if err != nil {
		rt.Fatal(err)
	}
	if a.outcome == "" {
		a.outcome = string(text)
	}
	if a.outcome != string(text) {
		rt.Fatalf("the outcome of %s was %s, and is %s", a.askID, a.outcome, text)
	}
}

// checkUnfinished compares the calls that another sidecar would continue with the model.
func (w *world) checkUnfinished(rt *rapid.T) {
	unfinished, err := w.registry.Unfinished()
	if err != nil {
		rt.Fatal(err)
	}
	var want, got []string
	for _, u := range unfinished {
		got = append(got, fmt.Sprint(u.Task.Info().ID, " ", u.MessageID))
		for _, t := range w.tasks {
			for _, c := range t.calls {
				if t.id == u.Task.Info().ID && c.messageID == u.MessageID {
					if diff := cmp.Diff(c.round, u.Round); diff != "" {
						rt.Fatalf("the round of call %d of task %s (-want +got):\n%s", c.messageID, t.id, diff)
					}
				}
			}
		}
	}
	for _, t := range w.tasks {
		for _, c := range t.calls {
			if !c.ended && len(c.prefixes()) > 0 {
				want = append(want, fmt.Sprint(t.id, " ", c.messageID))
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		rt.Fatalf("the calls that go on (-want +got):\n%s", diff)
	}
}

// link is the connection between a registry and the front end. It drops messages on request.
type link struct {
	mu     sync.Mutex // guards the fields below
	isCut  bool       // drops all later messages
	lose   int        // how many of the next announcements are dropped
	views  map[string]*view
	newest map[string]*protocol.TaskEventParams
	// settled counts how often each ask was announced as settled, by task and message.
	settled map[string]int
	// wrong lists invalid announcements.
	wrong []string
}

var (
	_ task.Events = (*link)(nil)

	errLost = errors.New("the wire lost it")
)

func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = true
}

// takes reports whether an announcement arrives. The lock must be held.
func (l *link) takes() error {
	if l.isCut {
		return errLost
	}
	if l.lose > 0 {
		l.lose--
		return errLost
	}
	return nil
}

// TaskEvent implements [task.Events].
func (l *link) TaskEvent(_ context.Context, p *protocol.TaskEventParams) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isCut {
		return errLost
	}
	p = overWire(p)
	if before := l.newest[p.TaskID]; before != nil && p.Number != before.Number+1 {
		l.wrong = append(l.wrong, fmt.Sprintf("event %d of task %s after %d", p.Number, p.TaskID, before.Number))
	}
	l.newest[p.TaskID] = p
	if e, ok := p.Event.(protocol.AskSettled); ok {
		id := fmt.Sprint(p.TaskID, " ", e.MessageID)
		if l.settled[id]++; l.settled[id] > 1 {
			l.wrong = append(l.wrong, fmt.Sprintf("the ask of message %d of task %s was settled twice", e.MessageID, p.TaskID))
		}
	}
	if l.views[p.TaskID] == nil {
		l.views[p.TaskID] = &view{}
	}
	if err := l.takes(); err != nil {
		return err
	}
	l.views[p.TaskID].fold(p)
	return nil
}

// McpSamplingProgress implements [task.Events].
func (l *link) McpSamplingProgress(_ context.Context, p *protocol.McpSamplingProgressParams) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.views[p.TaskID]
	if err := l.takes(); err != nil {
		if !l.isCut && v != nil {
			v.gap = true // a front end detects that at the next piece; the model does not wait for it
		}
		return err
	}
	if v != nil {
		v.foldPiece(overWire(p))
	}
	return nil
}

// CallProgress implements [task.Events]. Lost progress is not repeated: the next report replaces it.
func (l *link) CallProgress(context.Context, *protocol.CallProgressParams) error { return nil }

// ChatProgress implements [task.Events]. No test here has a conversation with a model.
func (l *link) ChatProgress(context.Context, *protocol.ChatProgressParams) error { return nil }

// StorageRecovered implements [task.Events].
func (l *link) StorageRecovered(_ context.Context, p *protocol.StorageRecoveredParams) error {
	return l.StorageFailed(context.Background(), &protocol.StorageFailedParams{Message: p.Message})
}

// StorageFailed implements [task.Events].
func (l *link) StorageFailed(_ context.Context, p *protocol.StorageFailedParams) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isCut {
		l.wrong = append(l.wrong, "the store failed: "+p.Message)
	}
	return nil
}
