package task

import (
	"fmt"

	"assent/protocol"
	"assent/sidecar/task/ask"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasklog"
)

// Round is the state of a call that its server has answered with questions.
type Round = store.Round

// CallRound saves the round of a call, so that the call outlives the sidecar. A nil round says that the answers are
// being sent; from then on, a later sidecar cannot continue the call. It is a no-op if the call has ended.
func (t *Task) CallRound(messageID int64, round *Round) {
	t.log.Lock()
	defer t.log.Unlock()
	if m, _, ok := t.liveCall(messageID); ok {
		callOf(m).round = round
		t.log.SaveRound(m.ID, round)
	}
}

// endRounds settles the open questions of a call that has ended, and deletes its round. The lock must
// be held.
func (t *Task) endRounds(m *tasklog.Message) {
	if state := callOf(m); state.round != nil {
		ask.UndeliveredLocked(t.asks, fmt.Sprintf("%s%d\x00", ask.RoundPrefix(m.ID), state.round.Number), ask.AnswerUnsent)
		t.log.SaveRound(m.ID, nil)
		state.round = nil
	}
	ask.ReleaseLocked(t.asks, ask.RoundPrefix(m.ID), &ask.Ended{Reason: protocol.OutcomeCallEnded})
}
