package hub

import (
	"context"
	"encoding/json"
	"time"
)

// Some legacy servers ask for the roots once they are initialized, and serve a call that comes before the answer
// as if there were none. MCP has no word for "ready", so the first call of a connection waits for that answer.

const (
	// DefaultRootsPatience bounds how long a first call waits for a server to ask for the roots. A server that did
	// not do so in this time is not waited for again.
	DefaultRootsPatience = 300 * time.Millisecond
	// knownRootsPatience is how many times longer a call waits for a server that asked the last time.
	knownRootsPatience = 10
	// rootsPause is for the server to look at the folders, once it has read the answer.
	rootsPause = 100 * time.Millisecond
)

// RootsHabit is whether a server asks for the roots before its first call.
type RootsHabit string

// The habits.
const (
	RootsUnknown RootsHabit = ""
	RootsAsked   RootsHabit = "asked"
	RootsIgnored RootsHabit = "ignored"
)

// serveRoots serves roots/list.
func (c *conn) serveRoots(context.Context, json.RawMessage) func() (any, error) {
	return func() (any, error) {
		if !c.called.Load() {
			c.server.learnRoots(RootsAsked)
		}
		c.rootsAsked()
		return map[string]any{"roots": c.server.hub.roots()}, nil
	}
}

// awaitRoots holds the first call of a legacy connection until the server has the roots, within bounds.
func (c *conn) awaitRoots(ctx context.Context) error {
	if c.modern() || c.called.Load() || len(c.server.hub.roots()) == 0 {
		return nil
	}
	defer c.called.Store(true)
	patience := c.server.hub.opts.RootsPatience
	switch c.server.rootsHabit() {
	case RootsIgnored:
		return nil
	case RootsAsked:
		patience *= knownRootsPatience
	}
	c.mu.Lock()
	bounded, cancel := context.WithDeadline(ctx, c.since.Add(patience))
	c.mu.Unlock()
	defer cancel()
	select {
	case <-c.askedForRoots:
	case <-bounded.Done():
		if ctx.Err() == nil {
			c.server.learnRoots(RootsIgnored)
		}
		return context.Cause(ctx)
	}
	c.link.answered(bounded)
	// The server answers this after it has read the roots.
	if err := c.session.Ping(bounded, nil); err != nil {
		c.log.Debug().Err(err).Msg("the server did not answer a ping")
	}
	return pause(ctx, rootsPause)
}

func (s *server) rootsHabit() RootsHabit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.learned.Roots
}

func (s *server) learnRoots(habit RootsHabit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.learned.Roots != habit {
		s.learned.Roots = habit
		s.keepLearnedLocked()
	}
}
