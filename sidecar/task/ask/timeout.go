package ask

import (
	"context"
	"time"

	"assent/protocol"
)

// timeout is how long an ask waits for the person.
type timeout struct {
	// each is the first time limit, and the time that each extension adds; all is the sum.
	each, all time.Duration
	// ends is the end of the time by the monotonic clock.
	ends  time.Time
	timer *time.Timer
}

// expireAfter starts an ask's clock, unless its time is not limited. The lock must be held.
func (s *Asks) expireAfter(a *ask, left time.Duration) {
	if a.timeout.each <= 0 {
		return
	}
	// The callback is a no-op once the ask is settled, so no goroutine waits for it.
	var timer *time.Timer
	timer = time.AfterFunc(left, func() {
		s.log.Lock()
		defer s.log.Unlock()
		if a.timeout.timer != timer {
			return // it was extended just now
		}
		s.settle(a, nil, protocol.Outcome{Reason: protocol.OutcomeTimedOut, At: s.now(), Detail: "There was no answer within " + a.timeout.all.String() + "."})
	})
	a.timeout.timer, a.timeout.ends = timer, time.Now().Add(left)
}

// Extend gives the person more time for an ask, and returns until when; see [protocol.Sidecar.ExtendAsk].
func (s *Asks) Extend(ctx context.Context, askID string) (int64, error) {
	s.log.Lock()
	defer s.log.Unlock()
	a := s.open.get(askID)
	switch {
	case a == nil:
		return 0, NotOpen(ctx, s, askID)
	case a.timeout.timer == nil:
		return 0, protocol.Errorf(protocol.CodeInvalidParams, "the time for this ask is not limited")
	}
	a.timeout.timer.Stop()
	a.timeout.all += a.timeout.each
	left := max(0, time.Until(a.timeout.ends)) + a.timeout.each
	a.question.ExpiresAt = s.now() + left.Milliseconds()
	s.expireAfter(a, left)
	a.message.Body = a.question
	s.log.Commit(a.message, protocol.AskExtended{MessageID: a.message.ID, ExpiresAt: a.question.ExpiresAt})
	return a.question.ExpiresAt, nil
}
