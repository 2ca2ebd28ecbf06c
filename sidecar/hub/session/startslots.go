package session

import (
	"context"
	"sync"
	"time"
)

const (
	// startsAtOnce bounds how many server processes start at the same time. A starting process needs a processor, and
	// the first servers should be ready soon.
	startsAtOnce = 16
	// longestStart is how long a start holds its slot at most. A longer start is assumed to wait for I/O.
	longestStart = 3 * time.Second
)

// startSlots is a semaphore that bounds concurrent starts.
type startSlots chan struct{}

// take waits for a slot. If ctx ends first, it returns the cause. release frees the slot, and may be called more than
// once. After the duration longest, the slot is freed in any case.
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
