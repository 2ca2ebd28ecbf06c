package session

import (
	"context"
	"sync"
	"time"
)

const (
	// startsAtOnce bounds how many processes of servers start at the same time: each needs a processor then, and the
	// first ones should be there soon.
	startsAtOnce = 16
	// longestStart is how long a start holds its slot at most. It is then assumed to wait for I/O.
	longestStart = 3 * time.Second
)

// startSlots is a semaphore of the starts that go on at the same time.
type startSlots chan struct{}

// take waits for a slot until ctx ends; the error is then its cause. Release frees the slot and may be called again. After
// longest the slot is free in any case.
func (t startSlots) take(ctx context.Context, longest time.Duration) (release func(), err error) {
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	end := sync.OnceFunc(func() { <-t })
	timer := time.AfterFunc(longest, end)
	return func() {
		timer.Stop()
		end()
	}, nil
}
