package task

import (
	"context"
	"errors"
	"strings"
	"time"

	"assent/protocol"
	"assent/sidecar/task/ask"
	"assent/sidecar/task/tasklog"
)

// frame is how often the pieces of a completion are announced: once a screen refresh.
const frame = 16 * time.Millisecond

// completion is the state of a completion that a model writes for a message: a model's message or a sampling request.
// The log's lock guards it.
type completion struct {
	stream *stream // nil unless a model is writing
	// sequence is the number of the next piece if stream is nil.
	sequence int64
	// begun is set once a model began to answer.
	begun bool
	// stop stops the model that is answering; nil if none is.
	stop context.CancelCauseFunc
}

// stream is a completion under way.
type stream struct {
	text     strings.Builder
	sequence int64
	pending  strings.Builder
	timer    *time.Timer // set until a frame after the last flush
}

// completionOf returns the completion of a message.
func completionOf(m *tasklog.Message) *completion {
	c, ok := m.Work.(*completion)
	if !ok {
		c = &completion{}
		m.Work = c
	}
	return c
}

// Stopped is the cause of a model's context if a person stopped the model.
type Stopped struct {
	// By names the front end.
	By string
	// Keep: Text becomes the model's answer.
	Keep bool
	// Text is the unfinished answer. It is not blank if Keep is set.
	Text string
}

// Error implements error.
func (s *Stopped) Error() string { return "The model was stopped in " + s.By + "." }

// BeginCompletion records that a model begins to answer an approved sampling request, for the first time
// or again. It returns a context whose cause is a [Stopped] if a person stops the model. The caller calls
// the returned function as soon as the model is done; after that, the model can no longer be stopped.
func (t *Task) BeginCompletion(ctx context.Context, messageID int64, model *protocol.Model) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	t.log.Lock()
	defer t.log.Unlock()
	m := t.log.Message(messageID)
	if m == nil {
		return ctx, func() { cancel(nil) }
	}
	c := completionOf(m)
	if c.begun {
		c.stream = &stream{sequence: c.sequence}
		t.moveSampling(m, model, false)
	}
	c.begun, c.stop = true, cancel
	return ctx, func() {
		t.log.Lock()
		c.stop = nil
		t.log.Unlock()
		cancel(nil)
	}
}

// ReviewCompletion records that the model is done, and that a person reviews its answer.
func (t *Task) ReviewCompletion(messageID int64) {
	t.log.Lock()
	defer t.log.Unlock()
	if m := t.log.Message(messageID); m != nil {
		completionOf(m).endStream()
		t.moveSampling(m, nil, true)
	}
}

// moveSampling saves and announces a step of an approved sampling request. If model is nil, the request
// keeps its model. The lock must be held.
func (t *Task) moveSampling(m *tasklog.Message, model *protocol.Model, inReview bool) {
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
	if c := completionOf(m); c.stream != nil {
		event.Progress = &protocol.SamplingProgress{Sequence: c.stream.sequence}
	}
	t.log.Commit(m, event)
}

// endStream ends the announcements of a model's text. The lock must be held.
func (c *completion) endStream() {
	if c.stream == nil {
		return
	}
	if c.stream.timer != nil {
		c.stream.timer.Stop()
	}
	c.sequence, c.stream = c.stream.sequence, nil
}

// StopCompletion stops the model that is answering the sampling request of an ask; by names the front end.
// See [protocol.Sidecar.StopSampling].
func (t *Task) StopCompletion(ctx context.Context, askID string, keep bool, by string) (bool, error) {
	t.log.Lock()
	defer t.log.Unlock()
	for m := range t.log.Messages() {
		c, ok := m.Work.(*completion)
		if !ok || m.AskID != askID || c.stop == nil {
			continue
		}
		stopped := &Stopped{By: by, Keep: keep}
		if c.stream != nil {
			stopped.Text = c.stream.text.String() + c.stream.pending.String()
		}
		if keep && strings.TrimSpace(stopped.Text) == "" {
			return false, protocol.Errorf(protocol.CodeInvalidAnswer, "nothing is written yet that could be returned: wait for it, or stop the model without returning anything")
		}
		c.stop(stopped)
		c.stop = nil
		return true, nil
	}
	if ask.IsOpen(t.asks, askID) {
		return false, nil // not yet approved
	}
	err := ask.NotOpen(ctx, t.asks, askID)
	if e := (*protocol.Error)(nil); errors.As(err, &e) && e.Code == protocol.CodeAskSettled {
		return false, nil
	}
	return false, err
}

// Progress adds a piece to an approved completion, or to a model's message. Pieces are announced together, at most once
// a frame.
func (t *Task) Progress(messageID int64, chunk string) {
	t.log.Lock()
	defer t.log.Unlock()
	m := t.log.Message(messageID)
	if m == nil || !m.Live || chunk == "" {
		return
	}
	c := completionOf(m)
	if c.stream == nil {
		c.stream = &stream{}
	}
	c.stream.pending.WriteString(chunk)
	if c.stream.timer != nil {
		return
	}
	t.flush(m, c.stream)
	t.awaitFrame(m, c)
}

// awaitFrame announces the pending pieces a frame later, and repeats that until a frame brings no
// piece. The lock must be held.
func (t *Task) awaitFrame(m *tasklog.Message, c *completion) {
	s := c.stream
	// The callback is a no-op once the completion has ended, so no goroutine waits for it.
	s.timer = time.AfterFunc(frame, func() {
		t.log.Lock()
		defer t.log.Unlock()
		s.timer = nil
		if c.stream == s && s.pending.Len() > 0 {
			t.flush(m, s)
			t.awaitFrame(m, c)
		}
	})
}

// flush announces the pending pieces. The lock must be held.
func (t *Task) flush(m *tasklog.Message, s *stream) {
	if s.pending.Len() == 0 {
		return
	}
	chunk := s.pending.String()
	s.pending.Reset()
	s.text.WriteString(chunk)
	var err error
	if _, ok := m.Body.(protocol.ModelMessage); ok {
		err = t.registry.opts.Events.ChatProgress(context.Background(), &protocol.ChatProgressParams{
			TaskID: t.log.Info.ID, MessageID: m.ID, Sequence: s.sequence, Chunk: chunk,
		})
	} else {
		err = t.registry.opts.Events.McpSamplingProgress(context.Background(), &protocol.McpSamplingProgressParams{
			TaskID: t.log.Info.ID, MessageID: m.ID, Sequence: s.sequence, Chunk: chunk,
		})
	}
	s.sequence++
	t.registry.storage.LogSend(err)
}

// EndSampling ends an approved completion with its result and usage; nil if no model was asked. Only the
// first end counts.
func (t *Task) EndSampling(messageID int64, result protocol.SamplingResult, usage *protocol.SamplingUsage) {
	t.log.Lock()
	defer t.log.Unlock()
	m := t.log.Message(messageID)
	if m == nil || !m.Live {
		return
	}
	a, ok := m.Body.(protocol.Ask)
	if !ok {
		return
	}
	q, ok := a.Question.(protocol.McpSampling)
	if !ok {
		return
	}
	completionOf(m).endStream()
	if q.Result != nil {
		return
	}
	q.InReview, q.Result, q.Usage = false, result, usage
	a.Question = q
	m.Body, m.Live = a, ask.HasKey(t.asks, a.InputKey)
	t.log.Commit(m, protocol.SamplingEnded{MessageID: messageID, Result: result, Usage: usage})
}

// Show implements [tasklog.Work]. The message has the announced part of an unfinished completion; the rest follows as
// events.
func (c *completion) Show(m protocol.Message) (protocol.Message, bool) {
	if c.stream == nil {
		return m, false
	}
	progress := &protocol.SamplingProgress{Text: c.stream.text.String(), Sequence: c.stream.sequence}
	switch body := m.Body.(type) {
	case protocol.ModelMessage:
		body.Progress = progress
		m.Body = body
	case protocol.Ask:
		if q, ok := body.Question.(protocol.McpSampling); ok {
			q.Progress = progress
			body.Question = q
			m.Body = body
		}
	}
	return m, true
}
