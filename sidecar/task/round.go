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
// sidecar; nil says that the answers are on their way, from where on nobody else can go on with it. It reports
// false where another window has the call by now, and this one must not go on with it.
func (t *Task) CallRound(messageID int64, round *Round) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.owned {
		return false
	}
	m, _, ok := t.liveCall(messageID)
	if !ok {
		return true
	}
	m.round = round
	t.saveRound(m.ID, round)
	return t.owned
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
