package task

import (
	"strconv"

	"assent/protocol"
	"assent/sidecar/store"
)

// Round is where a call is whose server has answered with questions.
type Round = store.Round

// RoundPrefix is how the keys of the questions begin that came in results of a call.
func RoundPrefix(messageID int64) string { return "\x00" + strconv.FormatInt(messageID, 10) + "\x00" }

// CallRound keeps where a call is whose server has answered with questions, so that the call outlives the
// sidecar; nil says that the answers are on their way, from where on no later sidecar can go on with it.
func (t *Task) CallRound(messageID int64, round *Round) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m, _, ok := t.liveCall(messageID); ok {
		m.round = round
		t.saveRound(m.ID, round)
	}
}

// endRounds settles what a call that has ended still asks, and forgets its questions. The lock must be
// held.
func (t *Task) endRounds(m *message) {
	if m.round != nil {
		t.saveRound(m.ID, nil)
		m.round = nil
	}
	t.releaseAll(RoundPrefix(m.ID), &Ended{Reason: protocol.OutcomeCallEnded})
}
