package session

import (
	"sync"
	"time"

	"assent/protocol"
)

// usage counts the uses of a connection.
type usage struct {
	mu sync.Mutex // guards the fields below
	// held counts the uses. idle is the timer that closes an unused connection; it is nil until the connection is first
	// unused.
	held int
	idle *time.Timer
	// leaving reports that the connection accepts no new use, and is closed once nothing holds it.
	leaving bool
}

// UpdateIdle applies the time of [Dialer.SetIdle] to the open connections.
func (s *Server) UpdateIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.running {
		c.Hold()()
	}
}

// Hold keeps the connection from being closed as unused, until release is called.
func (c *Conn) Hold() (release func()) {
	c.usage.mu.Lock()
	defer c.usage.mu.Unlock()
	c.usage.held++
	return func() {
		c.usage.mu.Lock()
		defer c.usage.mu.Unlock()
		if c.usage.held--; c.usage.held == 0 {
			c.unusedLocked()
		}
	}
}

// leave closes the connection as soon as nothing holds it.
func (c *Conn) leave() {
	c.usage.mu.Lock()
	defer c.usage.mu.Unlock()
	c.usage.leaving = true
	if c.usage.held == 0 {
		c.unusedLocked()
	}
}

// unusedLocked starts the timer that closes the connection.
func (c *Conn) unusedLocked() {
	after := time.Duration(c.server.dialer.idle.Load())
	if c.usage.leaving {
		after = time.Nanosecond // at once, but without the locks that are held here
	}
	switch idle := c.usage.idle; {
	case c.ctx.Err() != nil:
	case after == 0 && idle != nil:
		idle.Stop()
	case after == 0:
	case idle == nil:
		// Nothing waits for the callback: it does nothing once the connection is over.
		c.usage.idle = time.AfterFunc(after, func() { c.server.closeUnused(c) })
	default:
		idle.Reset(after)
	}
}

// stopIdle stops the timer that closes the connection.
func (c *Conn) stopIdle() {
	c.usage.mu.Lock()
	defer c.usage.mu.Unlock()
	if c.usage.idle != nil {
		c.usage.idle.Stop()
	}
}

// closeUnused closes a connection that has been idle long enough. It does nothing if the connection is in use again;
// the end of that use restarts the timer.
func (s *Server) closeUnused(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.usage.mu.Lock()
	held, leaving := c.usage.held > 0, c.usage.leaving
	c.usage.mu.Unlock()
	stays := !leaving && (s.config.Shared || c.IsModern() && c.Ledger.TaskID() == "")
	if s.gone != nil || !s.running[c] || stays || held || c.ctx.Err() != nil {
		return
	}
	taskID := c.Ledger.TaskID()
	for _, of := range s.uses {
		if of == taskID && !leaving {
			return
		}
	}
	c.log.Info().Msg("closing an unused connection")
	if s.conns[taskID] == c {
		delete(s.conns, taskID)
	}
	delete(s.running, c)
	s.ending.Go(func() { c.stop(Stopped{"it was idle", protocol.OutcomeServerLost}) })
	s.dialer.opts.Changed(s.infoLocked())
}
