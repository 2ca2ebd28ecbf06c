package hub

import (
	"context"
	"math/rand/v2"
	"time"
)

// The pauses between attempts to reach a server again grow from the first to the last, each with as
// much again by chance: many windows may have lost the same server.
const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
	maxRetries = 8
)

// retryLocked begins to reach again a server whose connection over the network was lost. A process is
// started at its next use instead.
func (s *server) retryLocked(c *conn) {
	if !c.link.network() || s.gone != "" {
		return
	}
	c.mu.Lock()
	taskID := c.taskID
	c.mu.Unlock()
	if s.retries[taskID] != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.retries[taskID] = cancel
	s.retrying.Go(func() {
		defer cancel()
		s.retry(ctx, taskID)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.retries, taskID)
		s.hub.opts.Changed(s.infoLocked())
	})
}

// retry tries until the server is reached, ctx ends, or it is given up.
func (s *server) retry(ctx context.Context, taskID string) {
	wait := firstRetry
	for range maxRetries {
		if pause(ctx, wait+rand.N(wait)) != nil {
			return
		}
		if _, err := s.connection(ctx, taskID); err == nil || ctx.Err() != nil {
			return
		}
		wait = min(2*wait, lastRetry)
	}
}
