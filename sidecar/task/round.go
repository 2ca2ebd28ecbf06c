package task

import (
	"assent/protocol"
	"assent/sidecar/ask"
	"assent/sidecar/store"
	"assent/sidecar/tasklog"
)

// Round is where a call is whose server has answered with questions.
type Round = store.Round

// CallRound saves the round of a call, so that the call outlives the sidecar; nil says that the answers are on their way, from
// where on no later sidecar can go on with it. It is a no-op if the call has ended.
func (t *Task) CallRound(messageID int64, round *Round) {
	t.log.Lock()
	defer t.log.Unlock()
	if m, _, ok := t.liveCall(messageID); ok {
		callOf(m).round = round
		t.log.SaveRound(m.ID, round)
	}
}

// endRounds settles what a call that has ended still asks, and forgets its questions. The lock must be
// held.
func (t *Task) endRounds(m *tasklog.Message) {
	if state := callOf(m); state.round != nil {
		t.log.SaveRound(m.ID, nil)
		state.round = nil
	}
	ask.ReleaseLocked(t.asks, ask.RoundPrefix(m.ID), &ask.Ended{Reason: protocol.OutcomeCallEnded})
}
