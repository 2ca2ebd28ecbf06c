package task

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"assent/protocol"
)

// Question is an ask to make.
type Question struct {
	// Kind is empty for [protocol.AskUseMcpServer].
	Kind  protocol.AskKind
	Body  protocol.UseMcpServer
	Check Check
	// Key identifies a question that may be asked again; it may be empty. Until [Task.Release], a question with the same
	// key is the same ask, or gets the same answer. Such an ask outlives the sidecar.
	Key string
	// Granted settles the ask at once unless it is nil; see [Granted].
	Granted *Granted
	// Timeout limits how long the ask waits for the person; 0 is no limit.
	Timeout time.Duration
	// Asked is called with the id of the ask's message once it exists; it may be nil.
	Asked func(messageID int64)
	// Queued is called once the ask has its place in the task; it may be nil. A question that is asked from then on comes
	// after it. Queued must not block, nor call the task.
	Queued func()
	// WaitsUntil is when the asker gives up and ends its context; zero if that is unknown.
	WaitsUntil time.Time
}

// Granted answers a question in a person's name, who said before how. Front ends see a settled ask, and
// never an open one. Where the question has a key and was asked before, it changes nothing.
type Granted struct {
	Answer *Answer
	// Outcome is the ask's outcome without the time.
	Outcome protocol.Outcome
}

// Check refuses answers that a question's own rules forbid, and completes the others. It is called
// before an answer settles the ask, so that a refused person can try again.
type Check func(*protocol.AskResponseParams) (*Answer, error)

// Answer is what a person answered.
type Answer struct {
	// Response is the button that the person chose.
	Response protocol.AskResponse
	// Content is the form's content for the server, if the question was a form and the answer is yes; or a tool's
	// arguments, if the person edited them.
	Content json.RawMessage
	// SecretFields are the fields of a form that the person marked as secret.
	SecretFields []string
	// Model is the model to ask: for a sampling request that was approved, and for a completion that the person had
	// generated again.
	Model *protocol.Model
	// SentRequest is the server's request as the person edited it; nil if they did not.
	SentRequest *protocol.McpSamplingRequest
	// SentResponse is the completion as the person edited it in the review, or wrote it in place of a model; nil if they
	// did neither.
	SentResponse *protocol.McpSamplingResponse
	// MessageID is the ask's message. Ask sets it.
	MessageID int64
	// Result is the known result of an approved sampling request that was asked before; nil if there is none.
	Result protocol.SamplingResult
	// Kept reports that the ask has a key.
	Kept bool
	// Delivered reports that the server has acknowledged the answer; see [Task.Delivered].
	Delivered bool
	// GrantID names the grant that approved, or that the person made with the answer.
	GrantID string
	// DeclinedAll goes to the outcome.
	DeclinedAll bool
	// Take is called just before the answer settles the ask, with the name of the front end; it may be nil. It may complete
	// the answer. If it fails, the ask stays open. It must not call the task.
	Take func(by string) error
	// Held belongs to the asker, who gets it back from Ask. It does not outlive the sidecar.
	Held any
}

// Ended says why an ask ended without an answer. Code that cancels the context of an Ask gives an Ended as the cause. Any
// other cause counts as the end of the server.
type Ended struct {
	Reason protocol.OutcomeReason
	// Detail is a sentence for the person.
	Detail string
}

// Error implements error.
func (e *Ended) Error() string {
	return cmp.Or(e.Detail, string(e.Reason))
}

// ask is an open ask.
type ask struct {
	message  *message
	question protocol.Ask
	check    Check
	settled  chan struct{} // closed when settlement is set
	timeout  timeout
	// drafted is set if the store may have a draft of the answer.
	drafted bool
	settlement
}

type settlement struct {
	answer  *Answer // nil if no person answered
	outcome protocol.Outcome
}

// Ask adds an ask to the task and blocks until it is settled. The error is an [Ended] where no
// person answered, and a [protocol.Error] where the task takes no ask.
func (t *Task) Ask(ctx context.Context, q Question) (*Answer, error) {
	a, err := t.open(q)
	if err != nil {
		return nil, err
	}
	if q.Asked != nil {
		q.Asked(a.message.ID) // which does not change
	}
	select {
	case <-a.settled:
		return t.result(a)
	case <-ctx.Done():
	}
	select {
	case <-a.settled: // before ctx ended, and a grant may have paid for it
		return t.result(a)
	default:
	}
	outcome := outcomeOf(context.Cause(ctx))
	if a.question.InputKey != "" && outcome.Reason == protocol.OutcomeRestarted {
		return nil, &Ended{Reason: outcome.Reason, Detail: outcome.Detail} // it will be asked again
	}
	t.mu.Lock()
	outcome.At = t.registry.now()
	t.settle(a, nil, outcome) // unless an answer was first
	t.mu.Unlock()
	return t.result(a)
}

// Release forgets the keys that begin with prefix, because their questions are not asked again. Asks that are still open
// are settled as ended says.
func (t *Task) Release(prefix string, ended *Ended) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.releaseAll(prefix, ended)
}

// releaseAll is Release. The lock must be held.
func (t *Task) releaseAll(prefix string, ended *Ended) {
	for key, a := range t.keys {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		t.settle(a, nil, protocol.Outcome{Reason: ended.Reason, Detail: ended.Detail, At: t.registry.now()})
		t.release(a)
	}
}

// ReleaseAnswered is as Release, for those that were answered before a time.
func (t *Task) ReleaseAnswered(prefix string, before time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, a := range t.keys {
		if strings.HasPrefix(key, prefix) && a.question.Outcome != nil && a.question.Outcome.At < before.UnixMilli() && !a.completing() {
			t.release(a)
		}
	}
}

// Delivered notes that the server has acknowledged the answer to the ask of a key.
func (t *Task) Delivered(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.keys[key]
	if a == nil {
		return
	}
	question, ok := a.message.Body.(protocol.Ask)
	if !ok {
		return
	}
	if question.Delivered {
		return
	}
	question.Delivered, a.question.Delivered = true, true
	a.message.Body = question
	t.commit(a.message, protocol.AskDelivered{MessageID: a.message.ID})
}

// release forgets the key of an ask that is settled. The lock must be held.
func (t *Task) release(a *ask) {
	if t.keys[a.question.InputKey] != a {
		return
	}
	delete(t.keys, a.question.InputKey)
	if a.completing() {
		return // its end will be kept
	}
	if q, ok := a.message.Body.(protocol.Ask); ok {
		masked := askWithoutSecrets(q)
		t.owed.scrub = t.owed.scrub || !bytes.Equal(contentOf(q), contentOf(masked))
		a.message.Body = masked
	}
	a.message.live = false
	if t.save(a.message) {
		delete(t.memory, a.message.ID)
	}
}

// contentOf returns the content of a form's answer, or nil.
func contentOf(ask protocol.Ask) json.RawMessage {
	if q, ok := ask.Question.(protocol.McpElicitation); ok && q.ElicitationResponse != nil {
		return q.ElicitationResponse.Content
	}
	return nil
}

// completing reports whether a model is at work for an approved sampling request. The lock must be held.
func (a *ask) completing() bool {
	q, ok := a.message.Body.(protocol.Ask)
	if !ok {
		return false
	}
	sampling, ok := q.Question.(protocol.McpSampling)
	return ok && sampling.Result == nil && a.answer != nil && a.answer.Response == protocol.YesButtonClicked
}

// open makes an ask of a question, or finds the one of its key.
func (t *Task) open(q Question) (a *ask, err error) {
	t.join(func() { a, err = t.openNow(q) }, q.Queued)
	return a, err
}

// openNow is open. The lock must be held.
func (t *Task) openNow(q Question) (*ask, error) {
	if err := t.checkOpen(); err != nil {
		return nil, err
	}
	if a := t.keys[q.Key]; q.Key != "" && a != nil {
		return a, nil
	}
	a := &ask{
		question: protocol.Ask{AskID: t.registry.opts.NewID(), Ask: cmp.Or(q.Kind, protocol.AskUseMcpServer), Question: q.Body, InputKey: q.Key},
		check:    q.Check,
		settled:  make(chan struct{}),
		timeout:  timeout{each: q.Timeout, all: q.Timeout},
	}
	if !q.WaitsUntil.IsZero() {
		a.question.WaitsUntil = q.WaitsUntil.UnixMilli()
	}
	if q.Granted != nil {
		t.grant(a, q.Granted)
		return a, nil
	}
	t.asks.put(a)
	if q.Key != "" {
		t.keys[q.Key] = a
	}
	t.info.OpenAsks++
	if q.Timeout > 0 {
		a.question.ExpiresAt = t.registry.now() + q.Timeout.Milliseconds()
	}
	t.expireAfter(a, q.Timeout)
	a.message = t.add(a.question, true, a.question.AskID)
	return a, nil
}

// grant adds an ask that is settled already. The lock must be held.
func (t *Task) grant(a *ask, g *Granted) {
	outcome := g.Outcome
	outcome.At = t.registry.now()
	a.question.Outcome = &outcome
	if a.question.InputKey != "" {
		t.keys[a.question.InputKey] = a
	} else {
		a.question = askWithoutSecrets(a.question)
	}
	a.message = t.add(a.question, a.livesOn(g.Answer), a.question.AskID)
	t.afterwards(func() {
		a.settlement = settlement{answer: g.Answer, outcome: outcome}
		close(a.settled)
	})
}

// livesOn reports whether the message of an ask may still change once this settles it: its answer is kept until its
// key is released, or a model is at work for it.
func (a *ask) livesOn(answer *Answer) bool {
	if answer == nil {
		return false
	}
	_, isSampling := a.question.Question.(protocol.McpSampling)
	return a.question.InputKey != "" || isSampling && answer.Response == protocol.YesButtonClicked && answer.SentResponse == nil
}

// result returns how an ask was settled.
func (t *Task) result(a *ask) (*Answer, error) {
	if a.answer == nil {
		return nil, &Ended{Reason: a.outcome.Reason, Detail: a.outcome.Detail}
	}
	answer := *a.answer
	answer.MessageID, answer.Kept, answer.GrantID = a.message.ID, a.question.InputKey != "", a.outcome.GrantID
	if !answer.Kept {
		return &answer, nil // nothing has happened since
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	answer.Delivered = a.question.Delivered
	if q, ok := a.message.Body.(protocol.Ask); ok {
		if sampling, ok := q.Question.(protocol.McpSampling); ok {
			answer.Result = sampling.Result
		}
	}
	return &answer, nil
}

// outcomeOf returns the outcome of an ask after its context was cancelled with a cause.
func outcomeOf(cause error) protocol.Outcome {
	var ended *Ended
	switch {
	case errors.As(cause, &ended):
		return protocol.Outcome{Reason: ended.Reason, Detail: ended.Detail}
	case errors.Is(cause, context.DeadlineExceeded), errors.Is(cause, context.Canceled):
		return protocol.Outcome{Reason: protocol.OutcomeServerStoppedWaiting}
	default:
		return protocol.Outcome{Reason: protocol.OutcomeServerLost, Detail: cause.Error()}
	}
}

// Answer settles an ask by a person's answer; by names their front end. When it returns, the answer
// is kept. See [protocol.Sidecar.AskResponse] for the errors.
func (t *Task) Answer(ctx context.Context, params *protocol.AskResponseParams, by string) (*protocol.AskResponseResult, error) {
	a := t.asks.get(params.AskID)
	var answer *Answer
	if a != nil {
		// Without the lock: a check may take its time, and must not hold up the task.
		var err error
		if answer, err = a.check(params); err != nil {
			return nil, err
		}
	}
	var result *protocol.AskResponseResult
	var err error
	t.join(func() { result, err = t.answerNow(ctx, params.AskID, a, answer, by) }, nil)
	if err != nil {
		return nil, err
	}
	return result, nil
}

// answerNow settles an ask by a checked answer. Afterwards it sets Unsaved in the result if the store could not be
// written. The lock must be held.
func (t *Task) answerNow(ctx context.Context, askID string, a *ask, answer *Answer, by string) (*protocol.AskResponseResult, error) {
	if a == nil || t.asks.get(askID) != a {
		return nil, t.notOpen(ctx, askID)
	}
	if answer.Take != nil {
		if err := answer.Take(by); err != nil {
			return nil, err
		}
	}
	outcome := protocol.Outcome{By: by, At: t.registry.now(), GrantID: answer.GrantID, DeclinedAll: answer.DeclinedAll}
	switch answer.Response {
	case protocol.YesButtonClicked:
		outcome.Reason = protocol.OutcomeAnswered
	case protocol.NoButtonClicked:
		outcome.Reason = protocol.OutcomeDeclined
	case protocol.CancelButtonClicked:
		outcome.Reason = protocol.OutcomeDismissed
	case protocol.RegenerateButtonClicked:
		outcome.Reason = protocol.OutcomeRegenerated
	}
	result := &protocol.AskResponseResult{Outcome: outcome}
	t.settle(a, answer, outcome)
	t.afterwards(func() { result.Unsaved = t.isUnsaved(a.message.ID) })
	return result, nil
}

// Question returns the question of an open ask, and a channel that is closed when the ask is settled. For an ask that is
// not open, the errors are those of Answer.
func (t *Task) Question(ctx context.Context, askID string) (protocol.UseMcpServer, <-chan struct{}, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.asks.get(askID); a != nil {
		return a.question.Question, a.settled, nil
	}
	return nil, nil, t.notOpen(ctx, askID)
}

// settle is the only way an ask ends. The first settlement wins, the others change nothing. The
// lock must be held.
func (t *Task) settle(a *ask, answer *Answer, outcome protocol.Outcome) {
	if t.asks.get(a.question.AskID) != a {
		return
	}
	t.asks.drop(a.question.AskID)
	t.info.OpenAsks--
	a.question.Outcome = &outcome
	event := protocol.AskSettled{MessageID: a.message.ID, Outcome: outcome}
	a.message.live = a.livesOn(answer)
	if answer == nil {
		delete(t.keys, a.question.InputKey)
	}
	switch q := a.question.Question.(type) {
	case protocol.McpElicitation:
		q.ElicitationResponse = elicitationResponse(answer)
		shown := withoutSecrets(q)
		event.ElicitationResponse = shown.ElicitationResponse
		if a.question.InputKey == "" {
			q = shown
		} // else the answer outlives the sidecar until the MCP task's server has it; see release
		a.question.Question = q
	case protocol.McpURLElicitation:
		if !q.AwaitsCompletion {
			q.ElicitationResponse = elicitationResponse(answer)
			event.ElicitationResponse = q.ElicitationResponse
			a.question.Question = q
		}
	case protocol.McpSampling:
		if answer != nil && answer.Response == protocol.YesButtonClicked {
			q.Model, q.SentRequest = answer.Model, answer.SentRequest
			event.Model, event.SentRequest = answer.Model, answer.SentRequest
			if answer.SentResponse != nil {
				q.Result, event.SentResponse = *answer.SentResponse, answer.SentResponse
			}
		}
		a.question.Question = q
	case protocol.UseMcpTool:
		if answer != nil && answer.Response == protocol.YesButtonClicked {
			q.SentArguments, event.SentArguments = answer.Content, answer.Content
		}
		a.question.Question = q
	case protocol.McpSamplingReview:
		if answer != nil && answer.Response == protocol.RegenerateButtonClicked {
			q.Model, event.Model = answer.Model, answer.Model
		} else if answer != nil && answer.Response == protocol.YesButtonClicked {
			q.SentResponse, event.SentResponse = answer.SentResponse, answer.SentResponse
		}
		a.question.Question = q
	}
	a.message.Body = a.question
	t.commit(a.message, event)
	t.afterwards(func() {
		a.settlement = settlement{answer: answer, outcome: outcome}
		if a.timeout.timer != nil {
			a.timeout.timer.Stop()
		}
		close(a.settled)
	})
	t.atLast(func() { t.forgetDraft(a) })
}

// askWithoutSecrets is an ask as it is kept for good.
func askWithoutSecrets(ask protocol.Ask) protocol.Ask {
	if q, ok := ask.Question.(protocol.McpElicitation); ok && q.ElicitationResponse != nil {
		ask.Question = withoutSecrets(q)
	}
	return ask
}

// shown returns a message as front ends see it. The answer to an ask with a key is stored with its secrets until the server
// has it; front ends never see them.
func shown(m protocol.Message) protocol.Message {
	ask, ok := m.Body.(protocol.Ask)
	if !ok {
		return m
	}
	if q, ok := ask.Question.(protocol.McpElicitation); ok && q.ElicitationResponse != nil {
		m.Body = askWithoutSecrets(ask)
	}
	return m
}

// withoutSecrets masks the values of fields that ask for a secret or that the person marked as secret.
func withoutSecrets(q protocol.McpElicitation) protocol.McpElicitation {
	if q.ElicitationResponse != nil {
		masked := *q.ElicitationResponse
		masked.Content = protocol.MaskSecrets(q.ElicitationRequest.Fields, masked.Content, masked.SecretFields...)
		q.ElicitationResponse = &masked
	}
	return q
}

func elicitationResponse(answer *Answer) *protocol.McpElicitationResponse {
	if answer == nil {
		return nil
	}
	switch answer.Response {
	case protocol.YesButtonClicked:
		return &protocol.McpElicitationResponse{Action: protocol.ActionAccept, Content: answer.Content, SecretFields: answer.SecretFields}
	case protocol.NoButtonClicked:
		return &protocol.McpElicitationResponse{Action: protocol.ActionDecline}
	default:
		return &protocol.McpElicitationResponse{Action: protocol.ActionCancel}
	}
}

// askOf returns an ask as it was asked or settled, or nil where the task never had it. The lock must be held.
func (t *Task) askOf(ctx context.Context, askID string) (*protocol.Ask, error) {
	for _, m := range t.memory { // also what the store refused
		if q, ok := m.Body.(protocol.Ask); ok && q.AskID == askID {
			return &q, nil
		}
	}
	entry, err := t.registry.store.Ask(ctx, t.info.ID, askID)
	if err != nil || entry == nil {
		return nil, err
	}
	q, ok := entry.Message.Body.(protocol.Ask)
	if !ok {
		return nil, nil // it is damaged
	}
	return &q, nil
}

// notOpen explains why an ask cannot be answered. The lock must be held.
func (t *Task) notOpen(ctx context.Context, askID string) error {
	settled, err := t.askOf(ctx, askID)
	if err != nil {
		return err
	}
	if settled == nil || settled.Outcome == nil {
		return protocol.Errorf(protocol.CodeUnknownAsk, "the task %q has no ask %q", t.info.Title, askID)
	}
	o := settled.Outcome
	who := cmp.Or(o.By, map[protocol.OutcomeReason]string{
		protocol.OutcomeServerStoppedWaiting: "the server, which stopped waiting",
		protocol.OutcomeServerLost:           "the loss of the server",
		protocol.OutcomeCallEnded:            "the end of its call",
		protocol.OutcomeTimedOut:             "the time that it had",
		protocol.OutcomeCompleted:            "the server, for which it is done",
		protocol.OutcomeRestarted:            "a restart of the sidecar",
		protocol.OutcomeGranted:              "a grant",
		protocol.OutcomeTakenOver:            "the window that took over its task",
	}[o.Reason])
	return &protocol.Error{
		Code:    protocol.CodeAskSettled,
		Message: "this ask was already settled (" + string(o.Reason) + ") by " + who + " at " + time.UnixMilli(o.At).Format(time.TimeOnly),
		Data:    *o,
	}
}
