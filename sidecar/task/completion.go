package task

import (
	"context"
	"errors"
	"strings"

	"assent/protocol"
)

// Stopped is why a model's context ended that a person stopped.
type Stopped struct {
	// By names the front end.
	By string
	// Keep: Text is to go on as the model's answer.
	Keep bool
	// Text is what was written by then, and is not blank where Keep is set.
	Text string
}

// Error implements error.
func (s *Stopped) Error() string { return "The model was stopped in " + s.By + "." }

// BeginCompletion notes that a model begins to answer an approved sampling request, for the first time or
// anew. The context that it returns ends with a [Stopped] as its cause where a person stops the model; the
// function is to be called as soon as the model is done, after which nobody can.
func (t *Task) BeginCompletion(ctx context.Context, messageID int64, model *protocol.Model) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.memory[messageID]
	if m == nil {
		return ctx, func() { cancel(nil) }
	}
	if m.begun {
		m.stream = &stream{sequence: m.sequence}
		t.moveSampling(m, model, false)
	}
	m.begun, m.stop = true, cancel
	return ctx, func() {
		t.mu.Lock()
		m.stop = nil
		t.mu.Unlock()
		cancel(nil)
	}
}

// ReviewCompletion notes that the model is done, and that a person is asked about its answer.
func (t *Task) ReviewCompletion(messageID int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m := t.memory[messageID]; m != nil {
		m.endStream()
		t.moveSampling(m, nil, true)
	}
}

// moveSampling keeps and announces where an approved sampling request has got to. Without a model, it stays
// the one that it was. The lock must be held.
func (t *Task) moveSampling(m *message, model *protocol.Model, inReview bool) {
	a, ok := m.Body.(protocol.Ask)
	if !ok {
		return
	}
	q, ok := a.Question.(protocol.McpSampling)
	if !ok || q.Result != nil {
		return
	}
	if model != nil {
		q.Model = model
	}
	q.InReview = inReview
	a.Question = q
	m.Body = a
	event := protocol.SamplingMoved{MessageID: m.ID, Model: q.Model, InReview: inReview}
	if m.stream != nil {
		event.Progress = &protocol.SamplingProgress{Sequence: m.stream.sequence}
	}
	t.commit(m, event)
}

// endStream ends the announcements of what a model writes. The lock must be held.
func (m *message) endStream() {
	if m.stream == nil {
		return
	}
	if m.stream.timer != nil {
		m.stream.timer.Stop()
	}
	m.sequence, m.stream = m.stream.sequence, nil
}

// StopCompletion stops the model that is answering the sampling request of an ask; by names the front end.
// See [protocol.Sidecar.StopSampling].
func (t *Task) StopCompletion(ctx context.Context, askID string, keep bool, by string) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.memory {
		if m.askID != askID || m.stop == nil {
			continue
		}
		stopped := &Stopped{By: by, Keep: keep}
		if m.stream != nil {
			stopped.Text = m.stream.text.String() + m.stream.pending.String()
		}
		if keep && strings.TrimSpace(stopped.Text) == "" {
			return false, protocol.Errorf(protocol.CodeInvalidAnswer, "nothing is written yet that could be returned: wait for it, or stop the model without returning anything")
		}
		m.stop(stopped)
		m.stop = nil
		return true, nil
	}
	if t.asks.get(askID) != nil {
		return false, nil // not yet approved
	}
	err := t.notOpen(ctx, askID)
	if e := (*protocol.Error)(nil); errors.As(err, &e) && e.Code == protocol.CodeAskSettled {
		return false, nil
	}
	return false, err
}

// Asked returns what the ask of a key asks or asked, or nil where there is none.
func (t *Task) Asked(key string) protocol.UseMcpServer {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.keys[key]; a != nil {
		return a.question.Question
	}
	return nil
}
