package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"assent/protocol"
)

const (
	kills         = 100
	conversations = 4 // side by side, which share the kills
	// mostFrames is before which frame of a life it ends, at the latest.
	mostFrames = 70
)

// TestNothingAcknowledgedIsLostByAKill kills the real sidecar at random moments of conversations that go on
// after each kill. Whatever was acknowledged is there in the next life; an ask has one outcome for good, and
// the true one; the numbers of events never go back.
func TestNothingAcknowledgedIsLostByAKill(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Cleanup(func() { // of a parallel test, all of whose parts have ended
		if t.Failed() {
			t.Logf("the seed was %d", seed)
		}
	})
	for i := range conversations {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			m := &memory{
				t: t, random: rand.New(rand.NewPCG(seed, uint64(i))), dir: t.TempDir(),
				tasks: map[string]*knownTask{}, asks: map[string]*knownAsk{},
			}
			for life := range kills / conversations {
				m.live()
				if t.Failed() {
					t.Fatalf("in life %d of conversation %d, seed %d", life, i, seed)
				}
			}
			settled := 0
			for _, a := range m.asks {
				if a.final != nil {
					settled++
				}
			}
			if len(m.tasks) == 0 || settled == 0 {
				t.Errorf("%d tasks and %d settled asks prove nothing", len(m.tasks), settled)
			}
		})
	}
}

// memory is what a front end that outlives its sidecars knows.
type memory struct {
	t      *testing.T
	random *rand.Rand
	dir    string
	tasks  map[string]*knownTask
	asks   map[string]*knownAsk // by their id
	waits  []*knownAsk          // seen in this life and not answered
	ended  int                  // calls of this life that have ended
}

type knownTask struct {
	number int64   // of the last event
	calls  []int64 // those that were acknowledged
}

type knownAsk struct {
	taskID    string
	askID     string
	messageID int64
	// sent is how it was answered, acknowledged or not; empty where it was not.
	sent protocol.OutcomeReason
	// final is what was said of its end, by whatever message.
	final *protocol.Outcome
	// drafts are those that were sent, of which the first was acknowledged; none where none was.
	drafts []string
	saved  bool
}

// live is a life of a sidecar, from its start to its kill.
func (m *memory) live() {
	c := startTalk(m.t, exec.Command("assent", "serve", "--data-dir", m.dir))
	defer c.kill()
	c.heard = m.hear
	m.waits, m.ended = nil, 0
	left, pause := 1+m.random.IntN(mostFrames), time.Duration(m.random.IntN(3000))*time.Microsecond
	c.step = func() {
		if left--; left == 0 {
			time.AfterFunc(pause, func() { _ = c.assent.Process.Kill() })
		}
	}
	// The rest fails when the sidecar has ended, wherever it is by then.
	err := m.converse(c)
	if r := (*refused)(nil); errors.As(err, &r) {
		m.t.Error(err)
	}
}

func (m *memory) converse(c *talk) error {
	if err := c.shakeHands(); err != nil {
		return err
	}
	if err := m.check(c); err != nil {
		return err
	}
	for {
		var created protocol.Task
		if err := c.call("task/create", map[string]any{"title": "A task"}, &created); err != nil {
			return err
		}
		task := m.task(created.ID)
		task.number = max(task.number, created.LastNumber)
		const calls = 2
		m.ended = 0
		for range calls {
			var started protocol.StartCallResult
			params := map[string]any{"taskId": created.ID, "serverName": "asker", "request": map[string]any{"type": "tools/call", "toolName": "ask"}}
			if err := c.call("call/start", params, &started); err != nil {
				return err
			}
			task.calls = append(task.calls, started.MessageID)
		}
		for m.ended < calls {
			if len(m.waits) > 0 {
				a := m.waits[0]
				m.waits = m.waits[1:]
				if err := m.answer(c, a); err != nil {
					return err
				}
			} else if _, err := c.next(); err != nil {
				return err
			}
		}
	}
}

// answer types something, or nothing, and answers.
func (m *memory) answer(c *talk, a *knownAsk) error {
	for range m.random.IntN(3) {
		draft := fmt.Sprintf(`{"typed":%d}`, m.random.IntN(1000))
		a.drafts = append(a.drafts, draft)
		params := map[string]any{"taskId": a.taskID, "askId": a.askID, "draft": json.RawMessage(draft)}
		if err := c.call("ask/draft", params, &struct{}{}); err != nil {
			return err
		}
		a.drafts, a.saved = []string{draft}, true
	}
	params := map[string]any{"taskId": a.taskID, "askId": a.askID, "askResponse": protocol.NoButtonClicked}
	a.sent = protocol.OutcomeDeclined
	if m.random.IntN(2) == 0 {
		a.sent = protocol.OutcomeAnswered
		params["askResponse"], params["elicitationContent"] = protocol.YesButtonClicked, map[string]any{"a": "x"}
	}
	var result protocol.AskResponseResult
	if err := c.call("askResponse", params, &result); err != nil {
		return err
	}
	m.settle(a, result.Outcome)
	return nil
}

func (m *memory) task(id string) *knownTask {
	if m.tasks[id] == nil {
		m.tasks[id] = &knownTask{}
	}
	return m.tasks[id]
}

// hear takes an event.
func (m *memory) hear(method string, params json.RawMessage) {
	if strings.HasPrefix(method, "storage/") {
		m.t.Errorf("the sidecar said %s %s", method, params)
	}
	if method != "task/event" {
		return
	}
	var p protocol.TaskEventParams
	if err := json.Unmarshal(params, &p); err != nil {
		m.t.Error(err)
		return
	}
	task := m.task(p.TaskID)
	if p.Number <= task.number {
		m.t.Errorf("event %d of task %s came after event %d", p.Number, p.TaskID, task.number)
	}
	task.number = p.Number
	switch e := p.Event.(type) {
	case protocol.MessageAdded:
		if a, ok := e.Message.Body.(protocol.Ask); ok {
			known := &knownAsk{taskID: p.TaskID, askID: a.AskID, messageID: e.Message.ID}
			if m.asks[a.AskID] != nil {
				m.t.Errorf("the ask %s was made twice", a.AskID)
			}
			m.asks[a.AskID] = known
			m.waits = append(m.waits, known)
		}
	case protocol.AskSettled:
		for _, a := range m.asks {
			if a.taskID == p.TaskID && a.messageID == e.MessageID {
				m.settle(a, e.Outcome)
			}
		}
	case protocol.CallEnded:
		m.ended++
	}
}

// settle takes the end of an ask, which may be told many times and is always the same.
func (m *memory) settle(a *knownAsk, outcome protocol.Outcome) {
	m.t.Helper()
	if a.final == nil {
		a.final = &outcome
	}
	if *a.final != outcome {
		m.t.Errorf("the ask %s was settled by %+v and by %+v", a.askID, *a.final, outcome)
	}
	if r := outcome.Reason; r != protocol.OutcomeRestarted && r != a.sent {
		m.t.Errorf("the ask %s is settled as %s and was answered so: %q", a.askID, r, a.sent)
	}
}

// check compares what a new life says of the earlier ones with what is known of them.
func (m *memory) check(c *talk) error {
	var listed protocol.ListTasksResult
	if err := c.call("task/list", map[string]any{}, &listed); err != nil {
		return err
	}
	for id, task := range m.tasks {
		i := slices.IndexFunc(listed.Tasks, func(t protocol.Task) bool { return t.ID == id })
		if i < 0 {
			m.t.Errorf("the task %s is lost", id)
			continue
		}
		if n := listed.Tasks[i].LastNumber; n < task.number {
			m.t.Errorf("the task %s went back from event %d to %d", id, task.number, n)
		}
	}
	for _, listed := range listed.Tasks {
		task := m.task(listed.ID) // which may be one whose creation was never acknowledged
		var opened protocol.OpenTaskResult
		if err := c.call("task/open", map[string]any{"taskId": listed.ID, "limit": 1000}, &opened); err != nil {
			return err
		}
		task.number = max(task.number, opened.Task.LastNumber)
		asks := map[string]protocol.Ask{}
		for _, message := range opened.Messages {
			switch body := message.Body.(type) {
			case protocol.Call:
				if body.Result == nil {
					m.t.Errorf("call %d of task %s neither ended nor goes on", message.ID, listed.ID)
				}
				task.calls = slices.DeleteFunc(task.calls, func(id int64) bool { return id == message.ID })
			case protocol.Ask:
				asks[body.AskID] = body
			default:
				m.t.Errorf("message %d of task %s = %+v", message.ID, listed.ID, body)
			}
		}
		if len(task.calls) > 0 {
			m.t.Errorf("the calls %v of task %s are lost", task.calls, listed.ID)
		}
		for _, known := range m.asks {
			if known.taskID != listed.ID {
				continue
			}
			ask, ok := asks[known.askID]
			if !ok || ask.Outcome == nil {
				m.t.Errorf("the ask %s is lost, or open: %+v", known.askID, ask)
				continue
			}
			m.settle(known, *ask.Outcome)
			if known.saved && ask.Outcome.Reason == protocol.OutcomeRestarted && !slices.Contains(known.drafts, string(ask.Draft)) {
				m.t.Errorf("what was typed into the ask %s is %q, and was %q", known.askID, ask.Draft, known.drafts)
			}
		}
	}
	return nil
}
