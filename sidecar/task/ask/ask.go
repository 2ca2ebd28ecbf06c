// Package ask asks the person. [Asks.Ask] blocks until its ask is settled, exactly once, by [Asks.Answer] or by the end
// of Ask's context.
//
// An [Asks] holds the asks of one task. The task's messages are in a [tasklog.Log]. It may be used from any goroutine. Its
// methods take the log's lock. Some functions need the lock, as their comments say. They are for the owner of the log.
//
// The package knows nothing of MCP, models or front ends: it carries questions and answers.
package ask

import (
	"cmp"
	"context"
	"errors"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/task/tasklog"
)

// Options configure Asks. All fields are required.
type Options struct {
	// Check returns the check of a question that was asked before a restart of the sidecar; see [Question].
	Check func(protocol.UseMcpServer) Check
	// NewID returns the id of a new ask.
	NewID func() string
	Log   zerolog.Logger
}

// Asks are the asks of one task. Create them with [New].
type Asks struct {
	log  *tasklog.Log
	opts *Options
	open openAsks
	// keys holds those that have a key, until they are released: open, or answered. The log's lock guards it.
	keys map[string]*ask
}

// New returns the asks of a log, none yet.
func New(log *tasklog.Log, opts *Options) *Asks {
	return &Asks{log: log, opts: opts, keys: map[string]*ask{}}
}

func (s *Asks) now() int64 { return s.log.Storage().Now() }

// ask is an open ask, or an answered one that has a key.
type ask struct {
	message  *tasklog.Message
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

// Ask adds an ask to the task and blocks until it is settled. The error is an [Ended] if no person answered, and a
// [protocol.Error] if the task takes no ask.
func (s *Asks) Ask(ctx context.Context, q *Question) (*Answer, error) {
	a, err := s.submit(q)
	if err != nil {
		return nil, err
	}
	if q.Asked != nil {
		q.Asked(a.message.ID, a.question.AskID) // which do not change
	}
	select {
	case <-a.settled:
	case g := <-q.Other:
		s.settleElsewhere(a, g)
	case <-ctx.Done():
		if err := s.leave(a, context.Cause(ctx)); err != nil {
			return nil, err
		}
	}
	return s.result(a)
}

// submit adds an ask, and returns when it is saved and announced.
func (s *Asks) submit(q *Question) (a *ask, err error) {
	s.log.Submit(func() { a, err = s.add(q) }, q.Queued)
	return a, err
}

// settleElsewhere settles an ask with an answer from [Question.Other], unless an answer was first.
func (s *Asks) settleElsewhere(a *ask, g *Granted) {
	s.log.Submit(func() {
		outcome := g.Outcome
		outcome.At = s.now()
		s.settle(a, g.Answer, outcome)
	}, nil)
	<-a.settled
}

// leave settles an ask whose context ended, unless an answer was first. It fails if the ask stays open, and will be asked
// again.
func (s *Asks) leave(a *ask, cause error) error {
	select {
	case <-a.settled: // before ctx ended, and a grant may have paid for it
		return nil
	default:
	}
	outcome := outcomeOf(cause)
	if a.question.InputKey != "" && outcome.Reason == protocol.OutcomeRestarted {
		return &Ended{Reason: outcome.Reason, Detail: outcome.Detail}
	}
	s.log.Lock()
	defer s.log.Unlock()
	outcome.At = s.now()
	s.settle(a, nil, outcome)
	return nil
}

// add makes an ask of a question, or finds the one of its key. The lock must be held.
func (s *Asks) add(q *Question) (*ask, error) {
	if err := s.log.CheckOpen(); err != nil {
		return nil, err
	}
	if a := s.keys[q.Key]; q.Key != "" && a != nil {
		return a, nil
	}
	a := &ask{
		question: protocol.Ask{AskID: s.opts.NewID(), Ask: cmp.Or(q.Kind, protocol.AskUseMcpServer), Question: q.Body, InputKey: q.Key},
		check:    q.Check,
		settled:  make(chan struct{}),
		timeout:  timeout{each: q.Timeout, all: q.Timeout},
	}
	if !q.WaitsUntil.IsZero() {
		a.question.WaitsUntil = q.WaitsUntil.UnixMilli()
	}
	if q.Granted != nil {
		s.grant(a, q.Granted)
		return a, nil
	}
	s.open.put(a)
	if q.Key != "" {
		s.keys[q.Key] = a
	}
	s.log.Info.OpenAsks++
	if q.Timeout > 0 {
		a.question.ExpiresAt = s.now() + q.Timeout.Milliseconds()
	}
	s.expireAfter(a, q.Timeout)
	a.message = s.log.Add(a.question, true, a.question.AskID)
	return a, nil
}

// grant adds an ask that is settled already. The lock must be held.
func (s *Asks) grant(a *ask, g *Granted) {
	outcome := g.Outcome
	outcome.At = s.now()
	a.question.Outcome = &outcome
	if a.question.InputKey != "" {
		s.keys[a.question.InputKey] = a
	} else {
		a.question = tasklog.WithoutSecrets(a.question)
	}
	a.message = s.log.Add(a.question, a.livesOn(g.Answer), a.question.AskID)
	s.log.OnCommit(func() {
		a.settlement = settlement{answer: g.Answer, outcome: outcome}
		close(a.settled)
	})
}

// livesOn reports whether the message of an ask may change after this answer settles it: the answer is saved until the key
// of the ask is released, or a model generates the completion.
func (a *ask) livesOn(answer *Answer) bool {
	if answer == nil {
		return false
	}
	_, isSampling := a.question.Question.(protocol.McpSampling)
	return a.question.InputKey != "" || isSampling && answer.Response == protocol.YesButtonClicked && answer.SentResponse == nil
}

// result returns how an ask was settled.
func (s *Asks) result(a *ask) (*Answer, error) {
	if a.answer == nil {
		return nil, &Ended{Reason: a.outcome.Reason, Detail: a.outcome.Detail}
	}
	answer := *a.answer
	answer.MessageID, answer.Kept, answer.GrantID = a.message.ID, a.question.InputKey != "", a.outcome.GrantID
	if !answer.Kept {
		return &answer, nil // nothing has happened since
	}
	s.log.Lock()
	defer s.log.Unlock()
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
