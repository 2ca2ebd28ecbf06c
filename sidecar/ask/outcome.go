package ask

import (
	"context"

	"assent/protocol"
)

// Completed notes that the server reported a page, which the person visited, as done. It is a no-op the second time, and if
// the message is no settled ask.
func (s *Asks) Completed(messageID int64) {
	s.changeOutcome(messageID, func(outcome *protocol.Outcome) protocol.Event {
		if outcome.CompletedAt != 0 {
			return nil
		}
		outcome.CompletedAt = s.now()
		return protocol.AskCompleted{MessageID: messageID, CompletedAt: outcome.CompletedAt}
	})
}

// changeOutcome changes how an ask was settled, and announces the event that change returns, unless that is nil.
func (s *Asks) changeOutcome(messageID int64, change func(*protocol.Outcome) protocol.Event) {
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
	event := change(&outcome)
	if event == nil {
		return
	}
	body.Outcome = &outcome
	m.Body = body
	s.log.Commit(m, event)
}

// Undelivered notes why the server did not get the answer to an ask, in a sentence for the person; with an empty
// reason, that it got the answer after all. It is a no-op if the message is no settled ask.
func (s *Asks) Undelivered(messageID int64, why string) {
	s.changeOutcome(messageID, func(outcome *protocol.Outcome) protocol.Event {
		if outcome.Undelivered == why {
			return nil
		}
		outcome.Undelivered = why
		return protocol.AskUndelivered{MessageID: messageID, Reason: why}
	})
}
