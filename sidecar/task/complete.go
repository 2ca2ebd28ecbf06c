package task

import (
	"context"

	"assent/protocol"
)

// Completed notes that the server says of a page, to which the person went, that it is done there. It says
// so once; of a message that is nothing of the kind it changes nothing.
func (t *Task) Completed(messageID int64) {
	t.changeOutcome(messageID, func(outcome *protocol.Outcome) protocol.Event {
		if outcome.CompletedAt != 0 {
			return nil
		}
		outcome.CompletedAt = t.registry.now()
		return protocol.AskCompleted{MessageID: messageID, CompletedAt: outcome.CompletedAt}
	})
}

// changeOutcome changes how an ask was settled, and announces the event that change returns, unless that is nil.
func (t *Task) changeOutcome(messageID int64, change func(*protocol.Outcome) protocol.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.memory[messageID]
	if m == nil {
		e, err := t.registry.store.Message(context.Background(), t.info.ID, messageID)
		if err != nil || e == nil {
			t.registry.opts.Log.Warn().Err(err).Int64("message", messageID).Msg("an ask that was settled cannot be read")
			return
		}
		m = &message{Message: e.Message, askID: e.AskID}
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
	t.memory[m.ID] = m // until it is on disk
	t.commit(m, event)
}

// Undelivered notes why the server did not get the answer to an ask, in a sentence for the person; with an empty
// reason, that it got the answer after all. Of a message that is no settled ask it changes nothing.
func (t *Task) Undelivered(messageID int64, why string) {
	t.changeOutcome(messageID, func(outcome *protocol.Outcome) protocol.Event {
		if outcome.Undelivered == why {
			return nil
		}
		outcome.Undelivered = why
		return protocol.AskUndelivered{MessageID: messageID, Reason: why}
	})
}
