package hub

import (
	"context"
	"sync"
	"time"
)

const (
	// startsAtOnce bounds how many processes of servers start at the same time: each needs a processor then, and the
	// first ones should be there soon.
	startsAtOnce = 16
	// longestTurn is when a start gives its turn away: it waits for something else than a processor.
	longestTurn = 3 * time.Second
)

// turns are those that may go on at once.
type turns chan struct{}

// take waits for a turn, until ctx ends, with its cause. Release ends the turn and may be called again; a turn that was
// longest ends by itself.
func (t turns) take(ctx context.Context, longest time.Duration) (release func(), err error) {
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
