package task

import (
	"context"

	"assent/protocol"
)

// Completed notes that the server says of a page, to which the person went, that it is done there. It says
// so once; of a message that is nothing of the kind it changes nothing.
func (t *Task) Completed(messageID int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.owned {
		return
	}
	m := t.memory[messageID]
	if m == nil {
		e, err := t.registry.store.Message(context.Background(), t.info.ID, messageID)
		if err != nil || e == nil {
			t.registry.opts.Log.Warn().Err(err).Int64("message", messageID).Msg("a page is done whose ask cannot be read")
			return
		}
		m = &message{Message: e.Message, askID: e.AskID}
	}
	body, ok := m.Body.(protocol.Ask)
	if !ok || body.Outcome == nil || body.Outcome.CompletedAt != 0 {
		return
	}
	outcome := *body.Outcome
	outcome.CompletedAt = t.registry.now()
	body.Outcome = &outcome
	m.Body = body
	t.memory[m.ID] = m // until it is on disk
	t.commit(m, protocol.AskCompleted{MessageID: messageID, CompletedAt: outcome.CompletedAt})
}
