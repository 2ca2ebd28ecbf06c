package attribution

import (
	"context"
	"sync"
	"time"
)

// Sequence keeps the order of the requests of one connection, or of one round: each is asked after the one before it,
// although each is served in a goroutine of its own. The zero value has no requests yet. It may be used from any goroutine.
type Sequence struct {
	mu   sync.Mutex    // guards last
	last chan struct{} // closed when the request before has been asked; nil before the first
}

// slowest bounds how long a request waits for the one before it. That one may wait for a list of models, and a request must
// not block its neighbours.
const slowest = 10 * time.Second

// Slot is the place of a request in a [Sequence]. A nil Slot waits for nothing.
type Slot struct {
	before <-chan struct{}
	mine   chan struct{}
	once   sync.Once // closes mine
}

// Join returns the next place. It never blocks.
func (s *Sequence) Join() *Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := &Slot{before: s.last, mine: make(chan struct{})}
	s.last = next.mine
	return next
}

// Await returns when the request before has been asked or was refused, or when ctx ends.
func (s *Slot) Await(ctx context.Context) {
	if s == nil || s.before == nil {
		return
	}
	select {
	case <-s.before:
		return
	default:
	}
	timer := time.NewTimer(slowest)
	defer timer.Stop()
	select {
	case <-s.before:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Pass lets the next request be asked. Later calls change nothing.
func (s *Slot) Pass() {
	if s != nil {
		s.once.Do(func() { close(s.mine) })
	}
}
