package session

import (
	"context"
	"math/rand/v2"
	"time"
)

// The pause between attempts to reconnect doubles from firstRetry to lastRetry. A random part of up to the same length
// is added, because many windows may have lost the same server.
const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
	maxRetries = 8
)

// retryLocked starts reconnecting to a server after its network connection was lost. A server that is a process starts
// at its next use instead.
func (s *Server) retryLocked(c *Conn) {
	if !c.link.network() || s.gone != nil {
		return
	}
	taskID := c.Ledger.TaskID()
	if s.retries[taskID] != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.retries[taskID] = cancel
	s.ending.Go(func() {
		defer cancel()
		s.retry(ctx, taskID)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.retries, taskID)
		s.dialer.opts.Changed(s.infoLocked())
	})
}

// retry tries to connect until it succeeds, ctx ends, or it has tried [maxRetries] times.
func (s *Server) retry(ctx context.Context, taskID string) {
	wait := firstRetry
	for range maxRetries {
		if Pause(ctx, wait+rand.N(wait)) != nil {
			return
		}
		if _, err := s.Connection(ctx, taskID); err == nil || ctx.Err() != nil {
			return
		}
		wait = min(2*wait, lastRetry)
	}
}

// Pause waits for d. If ctx ends first, it returns the cause.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
