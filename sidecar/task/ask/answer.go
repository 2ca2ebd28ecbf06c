package ask

import (
	"cmp"
	"context"
	"time"

	"assent/protocol"
)

// Answer settles an ask by a person's answer; by names their front end. When it returns, the answer
// is saved. See [protocol.Sidecar.AskResponse] for the errors.
func (s *Asks) Answer(ctx context.Context, params *protocol.AskResponseParams, by string) (*protocol.AskResponseResult, error) {
	a := s.open.get(params.AskID)
	var answer *Answer
	if a != nil {
		// The check runs without the lock, because it may be slow and must not block the task.
		var err error
		if answer, err = a.check(params); err != nil {
			return nil, err
		}
	}
	var result *protocol.AskResponseResult
	var err error
	s.log.Submit(func() { result, err = s.answerNow(ctx, params.AskID, a, answer, by) }, nil)
	if err != nil {
		return nil, err
	}
	return result, nil
}

// answerNow settles an ask by a checked answer. Afterwards it sets Unsaved in the result if the store could not be
// written. The lock must be held.
func (s *Asks) answerNow(ctx context.Context, askID string, a *ask, answer *Answer, by string) (*protocol.AskResponseResult, error) {
	if a == nil || s.open.get(askID) != a {
		return nil, NotOpen(ctx, s, askID)
	}
	if answer.Take != nil {
		if err := answer.Take(by); err != nil {
			return nil, err
		}
	}
	outcome := protocol.Outcome{By: by, At: s.now(), GrantID: answer.GrantID, DeclinedAll: answer.DeclinedAll}
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
	s.settle(a, answer, outcome)
	s.log.OnCommit(func() { result.Unsaved = s.log.IsUnsaved(a.message.ID) })
	return result, nil
}

// Question returns the question of an open ask, and a channel that is closed when the ask is settled. For an ask that is
// not open, the errors are those of Answer.
func (s *Asks) Question(ctx context.Context, askID string) (protocol.UseMcpServer, <-chan struct{}, error) {
	s.log.Lock()
	defer s.log.Unlock()
	if a := s.open.get(askID); a != nil {
		return a.question.Question, a.settled, nil
	}
	return nil, nil, NotOpen(ctx, s, askID)
}

// IsOpen reports whether an ask is open.
func IsOpen(s *Asks, askID string) bool { return s.open.get(askID) != nil }

// NotOpen returns the error that explains why an ask cannot be answered. The log's lock must be held.
func NotOpen(ctx context.Context, s *Asks, askID string) error {
	settled, err := s.log.FindAsk(ctx, askID)
	if err != nil {
		return err
	}
	if settled == nil || settled.Outcome == nil {
		return protocol.Errorf(protocol.CodeUnknownAsk, "the task %q has no ask %q", s.log.Info.Title, askID)
	}
	o := settled.Outcome
	who := cmp.Or(o.By, map[protocol.OutcomeReason]string{
		protocol.OutcomeServerStoppedWaiting: "the server, which stopped waiting",
		protocol.OutcomeServerLost:           "the loss of the server",
		protocol.OutcomeCallEnded:            "the end of its call",
		protocol.OutcomeTimedOut:             "the time that it had",
		protocol.OutcomeCompleted:            "the server, for which it is done",
		protocol.OutcomeRestarted:            "a restart of Assent",
		protocol.OutcomeGranted:              "a grant",
		protocol.OutcomeAnsweredInHost:       "an answer in the host",
		protocol.OutcomeHostStoppedWaiting:   "the host, which stopped waiting",
	}[o.Reason])
	return &protocol.Error{
		Code:    protocol.CodeAskSettled,
		Message: "this ask was already settled (" + string(o.Reason) + ") by " + who + " at " + time.UnixMilli(o.At).Format(time.TimeOnly),
		Data:    *o,
	}
}
