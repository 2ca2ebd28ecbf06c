package hub

import (
	"context"
	"encoding/json"
	"time"
)

// Some legacy servers ask for the roots once they are initialized, and serve a call that comes before the answer
// as if there were none. MCP has no word for "ready", so the first call of a connection waits for that answer. Most
// servers ask before they answer a ping that follows notifications/initialized.

const (
	// DefaultRootsTimeout is how long a first call waits for roots/list after the answer to the ping. A server that
	// does not ask by then is not waited for again.
	DefaultRootsTimeout = 100 * time.Millisecond
	// maxRootsWait bounds the whole wait of a first call. A server that asked the last time is given all of it.
	maxRootsWait = 3 * time.Second
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
	habit := c.server.rootsHabit()
	if habit == RootsIgnored && !isClosed(c.askedForRoots) {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, maxRootsWait)
	defer cancel()
	if !c.asksForRoots(bounded, habit) {
		if ctx.Err() == nil {
			c.server.learnRoots(RootsIgnored)
		}
		return context.Cause(ctx)
	}
	c.link.answered(bounded)
	c.ping(bounded) // the server answers this after it has read the roots
	return pause(ctx, rootsPause)
}

// asksForRoots waits until the server asks for the roots, and reports whether it did.
func (c *conn) asksForRoots(ctx context.Context, habit RootsHabit) bool {
	if !isClosed(c.askedForRoots) {
		c.ping(ctx)
	}
	if habit != RootsAsked {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.server.hub.opts.RootsTimeout)
		defer cancel()
	}
	select {
	case <-c.askedForRoots:
		return true
	case <-ctx.Done():
		return isClosed(c.askedForRoots)
	}
}

// ping returns when the server has answered a ping, or ctx ends.
func (c *conn) ping(ctx context.Context) {
	if err := c.session.Ping(ctx, nil); err != nil {
		c.log.Debug().Err(err).Msg("the server did not answer a ping")
	}
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
