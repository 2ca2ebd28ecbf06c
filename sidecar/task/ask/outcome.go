package ask

import (
	"context"
	"strings"

	"assent/protocol"
)

// Completed notes that the server reported a page, which the person visited, as done. It is a no-op the second time, and if
// the message is no settled ask.
func (s *Asks) Completed(messageID int64) {
	s.changeSettled(messageID, func(_ *protocol.Ask, outcome *protocol.Outcome) protocol.Event {
		if outcome.CompletedAt != 0 {
			return nil
		}
		outcome.CompletedAt = s.now()
		return protocol.AskCompleted{MessageID: messageID, CompletedAt: outcome.CompletedAt}
	})
}

// ActedOn notes that the host of an agent has acted on the answer to an ask. It is a no-op the second time, and if the
// message is no settled ask.
func (s *Asks) ActedOn(messageID int64) {
	s.changeSettled(messageID, func(ask *protocol.Ask, _ *protocol.Outcome) protocol.Event {
		if ask.Delivered {
			return nil
		}
		ask.Delivered = true
		return protocol.AskDelivered{MessageID: messageID}
	})
}

// changeSettled changes a settled ask, and announces the event that change returns, unless that is nil.
func (s *Asks) changeSettled(messageID int64, change func(*protocol.Ask, *protocol.Outcome) protocol.Event) {
	s.log.Lock()
	defer s.log.Unlock()
	m, err := s.log.Find(context.Background(), messageID)
	if err != nil || m == nil {
		s.opts.Log.Warn().Err(err).Int64("message", messageID).Msg("an ask that was settled cannot be read")
		return
	}
	body, ok := m.Body.(protocol.Ask)
	if !ok || body.Outcome == nil {
		return
	}
	outcome := *body.Outcome
	event := change(&body, &outcome)
	if event == nil {
		return
	}
	body.Outcome = &outcome
	m.Body = body
	s.log.Commit(m, event)
}

// Sentences for the person on answers that did not reach their server, or may not have.
const (
	// AnswerUnknown: the answer was written, and nothing shows that the server got it.
	AnswerUnknown = "The answer is not known to have reached the server."
	// AnswerUnsent: the answer was not written.
	AnswerUnsent = "The call ended before the answer was sent to the server."
	// AnswerLost: Assent was killed before the answer was known to have arrived.
	AnswerLost = "Assent stopped before it was known whether the answer reached the server."
)

// Undelivered notes why the server did not get the answer to an ask, in a sentence for the person; with an empty
// reason, that it got the answer after all. It is a no-op if the message is no settled ask.
func (s *Asks) Undelivered(messageID int64, why string) {
	s.changeSettled(messageID, func(_ *protocol.Ask, outcome *protocol.Outcome) protocol.Event {
		if outcome.Undelivered == why {
			return nil
		}
		outcome.Undelivered = why
		return protocol.AskUndelivered{MessageID: messageID, Reason: why}
	})
}

// ReleaseUndelivered is [Asks.Release] for the questions of a call that ended without the server: answers that the server has not
// acknowledged are noted as undelivered first.
func (s *Asks) ReleaseUndelivered(prefix string, ended *Ended, why string) {
	s.log.Lock()
	defer s.log.Unlock()
	UndeliveredLocked(s, prefix, why)
	ReleaseLocked(s, prefix, ended)
}

// UndeliveredLocked notes why the server did not get the answers to the asks with keys that begin with prefix, except for
// those that it has acknowledged. The log's lock must be held.
func UndeliveredLocked(s *Asks, prefix, why string) {
	for key, a := range s.keys {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		body, ok := a.message.Body.(protocol.Ask)
		if !ok || !InDoubt(body) {
			continue
		}
		outcome := *body.Outcome
		outcome.Undelivered = why
		body.Outcome, a.question.Outcome = &outcome, &outcome
		a.message.Body = body
		s.log.Commit(a.message, protocol.AskUndelivered{MessageID: a.message.ID, Reason: why})
	}
}

// InDoubt reports whether an ask has an answer for a server of which nothing is known to have arrived or to be lost.
func InDoubt(body protocol.Ask) bool {
	if body.Outcome == nil || body.Outcome.Undelivered != "" || body.Delivered {
		return false
	}
	switch body.Outcome.Reason {
	case protocol.OutcomeAnswered, protocol.OutcomeGranted:
	case protocol.OutcomeDeclined:
		if _, ok := body.Question.(protocol.McpElicitation); !ok {
			return false
		}
	default:
		return false
	}
	switch q := body.Question.(type) {
	case protocol.McpElicitation, protocol.McpURLElicitation, protocol.McpSamplingReview:
		return true
	case protocol.McpSampling:
		_, has := q.Result.(protocol.McpSamplingResponse)
		return has
	default:
		return false
	}
}
