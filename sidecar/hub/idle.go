package hub

import (
	"time"

	"assent/protocol"
)

// SetIdle sets for how long a task's own connection to a legacy server may go unused before it is closed, and
// so the one that serves discovery; the next use starts the server again. 0 keeps them. A connection that all
// tasks share stays: it is one, and the server may keep in it what cannot be made anew. Unused means that no
// exchange of its task is under way, be it a call, an MCP task that is followed, or a page that the person
// has gone to; that no list is read, and that nothing is asked on it.
func (h *Hub) SetIdle(after time.Duration) {
	h.idle.Store(int64(after))
	h.mu.Lock()
	servers := h.servers
	h.mu.Unlock()
	for _, s := range servers {
		s.mu.Lock()
		for c := range s.running {
			c.hold()()
		}
		s.mu.Unlock()
	}
}

// hold keeps the connection from being closed as unused, until release is called.
func (c *conn) hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.held--; c.held == 0 {
			c.unusedLocked()
		}
	}
}

// leave has the connection closed as soon as nothing holds it.
func (c *conn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving = true
	if c.held == 0 {
		c.unusedLocked()
	}
}

// unusedLocked begins the time after which the connection is closed.
func (c *conn) unusedLocked() {
	after := time.Duration(c.server.hub.idle.Load())
	if c.leaving {
		after = time.Nanosecond // at once, but without the locks that are held here
	}
	switch {
	case c.ctx.Err() != nil:
	case after == 0 && c.idle != nil:
		c.idle.Stop()
	case after == 0:
	case c.idle == nil:
		// Nobody waits for the callback: it does nothing once the connection is over.
		c.idle = time.AfterFunc(after, func() { c.server.closeUnused(c) })
	default:
		c.idle.Reset(after)
	}
}

// closeUnused closes a connection whose time is over, unless it is in use again: the end of that begins the
// time anew.
func (s *server) closeUnused(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.mu.Lock()
	held, leaving, taskID := c.held > 0, c.leaving, c.taskID
	c.mu.Unlock()
	stays := !leaving && (s.config.Shared || c.modern())
	if s.gone != "" || !s.running[c] || stays || held || c.ctx.Err() != nil {
		return
	}
	for _, of := range s.exchanges {
		if of == taskID && !leaving {
			return
		}
	}
	c.log.Info().Msg("closing an unused connection")
	if s.conns[taskID] == c {
		delete(s.conns, taskID)
	}
	delete(s.running, c)
	s.closing.Go(func() { c.stop(stoppedError{"nobody used it", protocol.OutcomeServerLost}) })
	s.hub.opts.Changed(s.infoLocked())
}

// exchangeEndedLocked begins the time of a task's connection anew.
func (s *server) exchangeEndedLocked(taskID string) {
	if c := s.conns[taskID]; c != nil {
		c.hold()()
	}
}
