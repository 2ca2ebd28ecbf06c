package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assent/protocol"
	"assent/sidecar/daemon"
)

const (
	kills         = 200
	conversations = 4 // side by side, which share the kills
	frontEnds     = 3 // of each daemon
	// mostFrames is before which frame of a life it ends, at the latest.
	mostFrames = 120
)

// TestNothingAcknowledgedIsLostByAKill kills the daemon at random moments of the conversations of three front ends,
// which continue with the next daemon. Everything acknowledged is there in the next life; an ask has one final outcome,
// the true one, and is not asked again; the numbers of events never decrease; and no server gets an answer twice, or
// another answer than the person's.
func TestNothingAcknowledgedIsLostByAKill(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	var forms, pages atomic.Int64
	t.Cleanup(func() { // called after all parallel parts of the test
		if forms.Load() == 0 || pages.Load() == 0 {
			t.Errorf("answers to %d forms and %d pages prove nothing", forms.Load(), pages.Load())
		}
		if t.Failed() {
			t.Logf("the seed was %d", seed)
		}
	})
	for i := range conversations {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			m := newMemory(t, rand.New(rand.NewPCG(seed, uint64(i))))
			for life := range kills / conversations {
				m.live()
				if t.Failed() {
					t.Fatalf("in life %d of conversation %d, seed %d", life, i, seed)
				}
			}
			kinds := m.checkDelivered()
			forms.Add(int64(kinds["form"]))
			pages.Add(int64(kinds["url"]))
		})
	}
}

// memory is what front ends that outlive their daemons know.
type memory struct {
	t      *testing.T
	random *rand.Rand
	home   daemonHome
	log    string // the servers'
	daemon daemon.Options
	tasks  map[string]*knownTask
	asks   map[string]*knownAsk // by their id
	named  map[string]*knownAsk // by the name that the server gave

	// Of this life:
	windows []*window
	waits   []*knownAsk // seen and not answered
	ended   int         // calls that have ended
}

// window is a front end.
type window struct {
	*talk
	numbers map[string]int64 // of the last events, by task
}

type knownTask struct {
	number int64   // of the last event
	calls  []int64 // those that were acknowledged
}

type knownAsk struct {
	taskID    string
	askID     string
	messageID int64
	number    int64 // of the event that told of it first; 0 if a read did
	question  protocol.UseMcpServer
	name      string // empty for one that the server did not name
	// sent is how it was answered, acknowledged or not.
	sent []protocol.OutcomeReason
	// final is the outcome of its end, from any message.
	final *protocol.Outcome
	// drafts are the sent drafts. The first one was acknowledged. It is empty if none was.
	drafts []string
	saved  bool
}

func newMemory(t *testing.T, random *rand.Rand) *memory {
	t.Helper()
	m := &memory{
		t: t, random: random, home: newDaemonHome(t), tasks: map[string]*knownTask{}, asks: map[string]*knownAsk{}, named: map[string]*knownAsk{},
	}
	m.log = filepath.Join(m.home.folder, "delivered")
	a, err := daemon.Locate()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []*string{&a.Lock, &a.Holder} {
		*path = filepath.Join(m.home.folder, filepath.Base(*path))
	}
	m.daemon.Address = a
	t.Cleanup(func() {
		if t.Failed() {
			log, err := os.ReadFile(filepath.Join(m.home.folder, filepath.Base(a.Log)))
			t.Logf("the daemons' log: %v\n%s", err, log)
		}
	})
	return m
}

// live is a life of a daemon, from its start to its kill.
func (m *memory) live() {
	m.windows, m.waits, m.ended = nil, nil, 0
	left := 1 + m.random.IntN(mostFrames)
	var killing sync.WaitGroup
	killed := false
	kill := func() {
		if _, err := daemon.Kill(m.t.Context(), m.daemon); err != nil && !errors.Is(err, daemon.ErrNone) {
			m.t.Error(err)
		}
	}
	known := map[string]int64{}
	for id, task := range m.tasks {
		known[id] = task.number
	}
	for range frontEnds {
		w := &window{m.home.serve(), maps.Clone(known)}
		w.Heard = func(method string, params json.RawMessage) { m.hear(w, method, params) }
		w.Step = func() {
			if left--; left == 0 {
				left = 1 + m.random.IntN(mostFrames) // a relay that was slow may have started the next daemon
				killed = true
				pause := time.Duration(m.random.IntN(3000)) * time.Microsecond
				killing.Go(func() {
					time.Sleep(pause) // at any moment of the work
					kill()
				})
			}
		}
		m.windows = append(m.windows, w)
	}
	// It fails at any point when the daemon has ended.
	err := m.converse()
	if _, refused := errors.AsType[*protocol.Error](err); refused {
		m.t.Error(err)
	}
	if !killed {
		m.t.Errorf("the daemon has ended by itself: %v", err)
		return
	}
	killing.Wait()
	left = 0 // to read the messages that are left must not kill the daemon of the next life
	for _, w := range m.windows {
		_ = w.Cmd.Process.Kill()
	}
	kill() // the next daemon, if a relay has started it
	for _, w := range m.windows {
		for err := error(nil); err == nil; {
			_, err = w.Next()
		}
		w.kill()
	}
}

func (m *memory) converse() error {
	server := func(era string) map[string]any {
		return map[string]any{"command": "logs-answers", "env": map[string]any{"ERA": era, "LOG": m.log}}
	}
	for _, w := range m.windows {
		err := w.Call("initialize", map[string]any{
			"protocolVersion": 1, "clientInfo": map[string]any{"name": "a test", "version": "1"},
			"capabilities": map[string]any{"elicitation": true, "sampling": true, "openUrl": true},
			"configuration": map[string]any{"model": map[string]any{}, "servers": map[string]any{
				"legacy": server("2025-06-18"), "modern": server("2026-07-28"),
			}},
		}, &struct{}{})
		if err != nil {
			return err
		}
	}
	if err := m.check(m.anyWindow()); err != nil {
		return err
	}
	for {
		w := m.anyWindow()
		var created protocol.Task
		if err := w.Call("task/create", map[string]any{"title": "A task"}, &created); err != nil {
			return err
		}
		task := m.task(created.ID)
		task.number = max(task.number, created.LastNumber)
		const calls = 3
		m.ended = 0
		for i := range calls {
			var started protocol.StartCallResult
			server := [...]string{"legacy", "modern"}[i%2]
			tools := []string{"form", "sample"}
			if server == "modern" { // 2025-06-18 has no pages
				tools = append(tools, "url")
			}
			params := map[string]any{"taskId": created.ID, "serverName": server, "request": map[string]any{
				"type": "tools/call", "toolName": tools[m.random.IntN(len(tools))],
			}}
			if err := w.Call("call/start", params, &started); err != nil {
				return err
			}
			task.calls = append(task.calls, started.MessageID)
		}
		if m.random.IntN(3) == 0 { // the demo calls a tool, which needs an approval
			if err := w.Call("chat/send", map[string]any{"taskId": created.ID, "text": "find users"}, &struct{}{}); err != nil {
				return err
			}
		}
		for m.ended < calls {
			if len(m.waits) > 0 {
				a := m.waits[0]
				m.waits = m.waits[1:]
				if err := m.answer(a); err != nil {
					return err
				}
			} else if _, err := m.windows[0].Next(); err != nil {
				return err
			}
		}
	}
}

func (m *memory) anyWindow() *window { return m.windows[m.random.IntN(len(m.windows))] }

// answer types something, or nothing, and answers; or two windows do so at the same time.
func (m *memory) answer(a *knownAsk) error {
	if a.final != nil { // another window was told
		return nil
	}
	w := m.anyWindow()
	_, isForm := a.question.(protocol.McpElicitation)
	for range m.random.IntN(3) {
		if !isForm {
			break
		}
		draft := fmt.Sprintf(`{"typed":%d}`, m.random.IntN(1000))
		a.drafts = append(a.drafts, draft)
		params := map[string]any{"taskId": a.taskID, "askId": a.askID, "draft": json.RawMessage(draft)}
		if err := w.Call("ask/draft", params, &struct{}{}); err != nil {
			return err
		}
		a.drafts, a.saved = []string{draft}, true
	}
	if _, isPage := a.question.(protocol.McpURLElicitation); isPage && m.random.IntN(2) == 0 {
		a.sent = append(a.sent, protocol.OutcomeAnswered)
		return w.Call("ask/openUrl", map[string]any{"taskId": a.taskID, "askId": a.askID}, &struct{}{})
	}
	no := func(w *window) (int, error) {
		a.sent = append(a.sent, protocol.OutcomeDeclined)
		return w.Send("askResponse", map[string]any{"taskId": a.taskID, "askId": a.askID, "askResponse": protocol.NoButtonClicked})
	}
	yes := func(w *window) (int, error) {
		a.sent = append(a.sent, protocol.OutcomeAnswered)
		params := map[string]any{"taskId": a.taskID, "askId": a.askID, "askResponse": protocol.YesButtonClicked}
		if isForm {
			params["elicitationContent"] = map[string]any{"a": "x"}
		}
		return w.Send("askResponse", params)
	}
	ways := []func(*window) (int, error){no}
	if _, isPage := a.question.(protocol.McpURLElicitation); !isPage {
		ways = append(ways, yes)
	}
	m.random.Shuffle(len(ways), func(i, j int) { ways[i], ways[j] = ways[j], ways[i] })
	if len(ways) == 1 || m.random.IntN(3) > 0 {
		id, err := ways[0](w)
		if err != nil {
			return err
		}
		_, err = m.acknowledge(w, a, id)
		return err
	}
	i := m.random.IntN(len(m.windows))
	first, second := m.windows[i], m.windows[(i+1)%len(m.windows)]
	id, err := ways[0](first)
	if err != nil {
		return err
	}
	otherID, err := ways[1](second)
	if err != nil {
		return err
	}
	won, err := m.acknowledge(first, a, id)
	if err != nil && !wasFirst(err) {
		return err
	}
	alsoWon, err := m.acknowledge(second, a, otherID)
	if err != nil && !wasFirst(err) {
		return err
	}
	if won == alsoWon {
		m.t.Errorf("two windows answered the ask %s: %v, %v", a.askID, won, alsoWon)
	}
	return nil
}

// wasFirst reports whether another answer was first.
func wasFirst(err error) bool {
	refusal, ok := errors.AsType[*protocol.Error](err)
	return ok && strings.Contains(refusal.Message, "already settled")
}

func (m *memory) acknowledge(w *window, a *knownAsk, id int) (won bool, err error) {
	var result protocol.AskResponseResult
	if err := w.Await(id, "askResponse", &result); err != nil {
		return false, err
	}
	m.settle(a, result.Outcome)
	return true, nil
}

func (m *memory) task(id string) *knownTask {
	if m.tasks[id] == nil {
		m.tasks[id] = &knownTask{}
	}
	return m.tasks[id]
}

// meet notes an ask that is seen for the first time.
func (m *memory) meet(taskID string, messageID int64, ask protocol.Ask) *knownAsk {
	if known := m.asks[ask.AskID]; known != nil {
		return known
	}
	known := &knownAsk{taskID: taskID, askID: ask.AskID, messageID: messageID, question: ask.Question}
	switch q := ask.Question.(type) {
	case protocol.McpElicitation:
		known.name = q.ElicitationRequest.Message
	case protocol.McpURLElicitation:
		known.name = q.Message
	case protocol.McpSampling:
		known.name = q.SamplingRequest.Messages[0].Content[0].(protocol.TextContent).Text
	}
	m.asks[ask.AskID] = known
	if known.name != "" {
		if m.named[known.name] != nil {
			m.t.Errorf("%q was asked twice", known.name)
		}
		m.named[known.name] = known
	}
	return known
}

// hear takes an event.
func (m *memory) hear(w *window, method string, params json.RawMessage) {
	if strings.HasPrefix(method, "storage/") {
		m.t.Errorf("the daemon said %s %s", method, params)
	}
	if method != "task/event" {
		return
	}
	var p protocol.TaskEventParams
	if err := json.Unmarshal(params, &p); err != nil {
		m.t.Error(err)
		return
	}
	if p.Number <= w.numbers[p.TaskID] {
		m.t.Errorf("event %d of task %s came after event %d", p.Number, p.TaskID, w.numbers[p.TaskID])
	}
	w.numbers[p.TaskID] = p.Number
	task := m.task(p.TaskID)
	task.number = max(task.number, p.Number)
	switch e := p.Event.(type) {
	case protocol.MessageAdded:
		if ask, ok := e.Message.Body.(protocol.Ask); ok {
			isNew := m.asks[ask.AskID] == nil
			known := m.meet(p.TaskID, e.Message.ID, ask)
			if isNew {
				known.number = p.Number
			}
			if ask.Outcome != nil {
				m.settle(known, *ask.Outcome)
			} else if w == m.windows[0] && !slices.Contains(m.waits, known) {
				m.waits = append(m.waits, known)
			}
		}
	case protocol.AskSettled:
		for _, a := range m.asks {
			if a.taskID == p.TaskID && a.messageID == e.MessageID {
				m.settle(a, e.Outcome)
			}
		}
	case protocol.CallEnded:
		if w == m.windows[0] {
			m.ended++
		}
	}
}

// settle takes the end of an ask, which may be told many times and is always the same.
func (m *memory) settle(a *knownAsk, outcome protocol.Outcome) {
	m.t.Helper()
	if a.final == nil {
		a.final = &outcome
	}
	if f := a.final; f.Reason != outcome.Reason || f.At != outcome.At || f.By != outcome.By {
		m.t.Errorf("the ask %s was settled by %+v and by %+v", a.askID, *a.final, outcome)
	}
	if r := outcome.Reason; r != protocol.OutcomeRestarted && !slices.Contains(a.sent, r) {
		m.t.Errorf("the ask %s is settled as %s and was answered so: %q", a.askID, r, a.sent)
	}
}

// check compares a new life's state of the earlier ones with the test's own records.
func (m *memory) check(w *window) error {
	before := map[string]int64{} // continuing calls add events
	for id, task := range m.tasks {
		before[id] = task.number
	}
	var listed protocol.ListTasksResult
	if err := w.Call("task/list", map[string]any{}, &listed); err != nil {
		return err
	}
	for id, number := range before {
		i := slices.IndexFunc(listed.Tasks, func(t protocol.Task) bool { return t.ID == id })
		if i < 0 {
			m.t.Errorf("the task %s is lost", id)
			continue
		}
		if n := listed.Tasks[i].LastNumber; n < number {
			m.t.Errorf("the task %s went back from event %d to %d", id, number, n)
		}
	}
	for _, listed := range listed.Tasks {
		if err := m.checkTask(w, listed.ID); err != nil {
			return err
		}
	}
	return nil
}

// checkTask compares a task, which may have been created without an acknowledgement.
func (m *memory) checkTask(w *window, id string) error {
	var opened protocol.OpenTaskResult
	if err := w.Call("task/open", map[string]any{"taskId": id, "limit": 1000}, &opened); err != nil {
		return err
	}
	task := m.task(id)
	task.number = max(task.number, opened.Task.LastNumber)
	there := map[string]bool{}
	for _, message := range opened.Messages {
		switch body := message.Body.(type) {
		case protocol.Call:
			if body.Result == nil && body.ServerName != "modern" {
				m.t.Errorf("call %d of task %s neither ended nor goes on", message.ID, id)
			}
			task.calls = slices.DeleteFunc(task.calls, func(id int64) bool { return id == message.ID })
		case protocol.Ask:
			there[body.AskID] = true
			m.checkAsk(m.meet(id, message.ID, body), body)
		}
	}
	if len(task.calls) > 0 {
		m.t.Errorf("the calls %v of task %s are lost", task.calls, id)
	}
	for _, known := range m.asks {
		// An event that came after the read may overtake its answer.
		if known.taskID == id && !there[known.askID] && known.number <= opened.Task.LastNumber {
			m.t.Errorf("the ask %s is lost", known.askID)
		}
	}
	return nil
}

func (m *memory) checkAsk(known *knownAsk, now protocol.Ask) {
	open := now.Outcome == nil
	switch {
	case open && known.final != nil:
		m.t.Errorf("the ask %s was settled by %+v, and is asked again", known.askID, *known.final)
	case open && from(known.question) != "modern":
		m.t.Errorf("the ask %s is open, and its server is dead", known.askID)
	case open:
		if !slices.Contains(m.waits, known) {
			m.waits = append(m.waits, known)
		}
	default:
		m.settle(known, *now.Outcome)
	}
	if known.saved && (open || now.Outcome.Reason == protocol.OutcomeRestarted) && !slices.Contains(known.drafts, string(now.Draft)) {
		m.t.Errorf("the draft of the ask %s is %s, and was one of %q", known.askID, now.Draft, known.drafts)
	}
}

// from names the server that asks; it is empty for what Assent asks.
func from(q protocol.UseMcpServer) string {
	if q, ok := q.(interface{ From() protocol.Origin }); ok {
		return q.From().ServerName
	}
	return ""
}

// checkDelivered compares the answers that the servers received with the test's records of their questions. It returns
// the number of answers of each kind.
func (m *memory) checkDelivered() (kinds map[string]int) {
	data, err := os.ReadFile(m.log)
	if err != nil {
		m.t.Fatal(err)
	}
	kinds = map[string]int{}
	seen := map[string]bool{}
	for line := range bytes.Lines(data) {
		var g given
		if err := json.Unmarshal(line, &g); err != nil {
			m.t.Fatal(err)
		}
		if seen[g.Name] {
			m.t.Errorf("the answer to %q was delivered twice", g.Name)
		}
		seen[g.Name] = true
		known := m.named[g.Name]
		var answer struct{ Action protocol.ElicitationAction }
		if known == nil || json.Unmarshal(g.What, &answer) != nil || answer.Action == "" {
			continue // a forgotten question, or a completion
		}
		kinds[strings.Fields(g.Name)[0]]++
		want := map[protocol.ElicitationAction]protocol.OutcomeReason{
			protocol.ActionAccept: protocol.OutcomeAnswered, protocol.ActionDecline: protocol.OutcomeDeclined,
		}[answer.Action]
		if !slices.Contains(known.sent, want) || known.final != nil && known.final.Reason != want {
			m.t.Errorf("the answer to %q is %s, and the person's was one of %q, %+v", g.Name, g.What, known.sent, known.final)
		}
	}
	return kinds
}
