package task

import (
	"context"
	"strings"
	"time"

	"assent/protocol"
)

// restartedDetail is what became of everything that was open when a sidecar ended.
const restartedDetail = "Assent's sidecar was restarted."

// recover continues a task in which something went on when an earlier sidecar ended. Calls that are MCP tasks, and calls that their server has
// answered with questions, go on with their asks. The requests behind everything else are lost. The lock must be held.
func (t *Task) recover(ctx context.Context) error {
	var err error
	t.counted = true
	if t.lastMessage, err = t.registry.store.LastMessage(ctx, t.info.ID); err != nil {
		return err
	}
	entries, err := t.registry.store.Live(ctx, t.info.ID)
	if err != nil {
		return err
	}
	rounds, err := t.registry.store.Rounds(ctx, t.info.ID)
	if err != nil {
		return err
	}
	var running []string // the keys of the questions that go on begin so
	for _, e := range entries {
		call, ok := e.Message.Body.(protocol.Call)
		if !ok || t.info.Closed {
			continue
		}
		if call.Task != nil {
			running = append(running, KeyPrefix(call.ServerName, call.Task.TaskID))
		}
		if _, ok := rounds[e.Message.ID]; ok {
			running = append(running, RoundPrefix(e.Message.ID))
		}
	}
	goesOn := func(key string) bool {
		for _, prefix := range running {
			if strings.HasPrefix(key, prefix) {
				return true
			}
		}
		return false
	}
	now := t.registry.now()
	t.info.OpenAsks = 0
	for _, e := range entries { // first, so that the number of open asks is right whenever it is kept
		if body, ok := e.Message.Body.(protocol.Ask); ok && body.InputKey != "" && goesOn(body.InputKey) {
			m := &message{Message: e.Message, askID: e.AskID, number: e.Number, live: true}
			t.memory[m.ID] = m
			t.recoverAsk(m, body)
		}
	}
	// changes gives a message that goes on a new number: a front end that reads the changes after a number has the message
	// in the state of the other sidecar.
	changes := func(m *message) {
		t.info.LastNumber++
		m.number = t.info.LastNumber
		t.save(m)
	}
	interrupted := false // a model, or the calls that it asked for
	for _, e := range entries {
		if e.Damaged {
			continue // it stays in the store unchanged
		}
		m := &message{Message: e.Message, askID: e.AskID, number: e.Number}
		switch body := e.Message.Body.(type) {
		case protocol.Call:
			if round, ok := rounds[m.ID]; ok {
				m.round = &round
			}
			if (body.Task != nil || m.round != nil) && !t.info.Closed {
				body.Progress = nil
				m.Body = body
				m.live = true
				t.memory[m.ID] = m
				changes(m) // its progress is in no store
				continue
			}
			body.EndedAt, body.Progress = now, nil
			body.Result = protocol.CallLost{Reason: restartedDetail + " Start it again."}
			m.Body = body
			t.journal(m, protocol.CallEnded{MessageID: m.ID, EndedAt: now, Result: body.Result})
		case protocol.ModelMessage:
			if m.Body, err = t.interruptedMessage(ctx, m.ID, body); err != nil {
				return err
			}
			interrupted = interrupted || body.End == nil
		case protocol.Ask:
			if kept := t.memory[m.ID]; kept != nil {
				if a := t.keys[body.InputKey]; body.WaitsUntil != 0 || a != nil && a.completing() {
					changes(kept)
				}
				continue
			}
			var event protocol.Event
			if body.Outcome == nil {
				event = protocol.AskSettled{MessageID: m.ID}
				body.Outcome = &protocol.Outcome{Reason: protocol.OutcomeRestarted, At: now, Detail: restartedDetail + whatEnded(body.Question)}
			} else if q, ok := body.Question.(protocol.McpSampling); ok && q.Result == nil && answerOf(body).Response == protocol.YesButtonClicked {
				q.InReview, q.Result = false, protocol.SamplingFailure{Reason: restartedDetail}
				body.Question = q
				event = protocol.SamplingEnded{MessageID: m.ID, Result: q.Result}
			}
			m.Body = askWithoutSecrets(body)
			if event != nil {
				t.journal(m, event)
			}
		}
		t.info.LastNumber++
		m.number = t.info.LastNumber
		if !t.save(m) {
			t.memory[m.ID] = m
		}
	}
	t.recoverTurn(interrupted)
	return nil
}

// KeyPrefix is how the keys of an MCP task's questions begin.
func KeyPrefix(serverName, mcpTaskID string) string { return serverName + "\x00" + mcpTaskID + "\x00" }

// recoverAsk restores an ask of an MCP task, open or answered.
func (t *Task) recoverAsk(m *message, question protocol.Ask) {
	question.WaitsUntil = 0 // whom the server waited for ended with that sidecar
	m.Body = question
	a := &ask{message: m, question: question, settled: make(chan struct{}), drafted: true}
	t.keys[question.InputKey] = a
	if question.Outcome == nil {
		a.check = t.registry.opts.Check(question.Question)
		t.asks.put(a)
		t.info.OpenAsks++
		if question.ExpiresAt > 0 {
			// How much there was at first is forgotten with the sidecar; the same rule is good enough.
			a.timeout.each = time.Duration(question.ExpiresAt-m.Time) * time.Millisecond
			a.timeout.all = a.timeout.each
			left := time.Duration(question.ExpiresAt-t.registry.now()) * time.Millisecond
			t.expireAfter(a, min(left, a.timeout.each)) // a clock that was put back gives no more time
		}
		return
	}
	m.begun = true // for all that front ends know
	a.settlement = settlement{answer: answerOf(question), outcome: *question.Outcome}
	close(a.settled)
}

// answerOf reads an answer from the ask that it settled.
func answerOf(question protocol.Ask) *Answer {
	answer := &Answer{Response: protocol.CancelButtonClicked}
	switch question.Outcome.Reason {
	case protocol.OutcomeAnswered, protocol.OutcomeGranted:
		answer.Response = protocol.YesButtonClicked
	case protocol.OutcomeDeclined:
		answer.Response = protocol.NoButtonClicked
	case protocol.OutcomeRegenerated:
		answer.Response = protocol.RegenerateButtonClicked
	}
	switch q := question.Question.(type) {
	case protocol.McpElicitation:
		if q.ElicitationResponse != nil {
			answer.Content = q.ElicitationResponse.Content
		}
	case protocol.McpSampling:
		answer.Model, answer.SentRequest = q.Model, q.SentRequest
	case protocol.McpSamplingReview:
		answer.Model, answer.SentResponse = q.Model, q.SentResponse
	}
	return answer
}

// Unfinished is a call that goes on: it became an MCP task, or its server has answered with questions.
type Unfinished struct {
	Task      *Task
	MessageID int64
	Call      protocol.Call
	// Round is not nil in the second case.
	Round *Round
}

// Unfinished returns the calls of all tasks that go on from where an earlier sidecar left them.
func (r *Registry) Unfinished() ([]Unfinished, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	var all []Unfinished
	for _, t := range r.all() {
		all = append(all, t.Unfinished()...)
	}
	return all, nil
}

// Unfinished returns those of the task's calls.
func (t *Task) Unfinished() (all []Unfinished) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.memory {
		if call, ok := m.Body.(protocol.Call); ok && m.live && (call.Task != nil || m.round != nil) {
			all = append(all, Unfinished{t, m.ID, call, m.round})
		}
	}
	return all
}

// message returns a message as it stands now.
func (t *Task) message(ctx context.Context, id int64) (protocol.Message, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m := t.memory[id]; m != nil {
		return m.Message, nil
	}
	e, err := t.registry.store.Message(ctx, t.info.ID, id)
	if err != nil || e == nil {
		return protocol.Message{}, err
	}
	return e.Message, nil
}
