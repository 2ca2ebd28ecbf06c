package session

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"assent/sidecar/attribution"
)

// Some legacy servers ask for the roots once they are initialized, and serve a call that comes before the answer as if
// there were no roots. MCP has no message for "ready", so the first call of a connection waits for that answer. Most
// servers ask before they answer a ping that follows notifications/initialized.

const (
	// DefaultRootsTimeout is how long a first call waits for roots/list after the answer to the ping. If the server
	// does not ask within that time, Assent does not wait for it again.
	DefaultRootsTimeout = 100 * time.Millisecond
	// maxRootsWait bounds the whole wait of a first call. A server that asked for the roots last time gets all of it.
	maxRootsWait = 3 * time.Second
	// After the answer, the server reads the folders. rootsPings pings, each followed by rootsPause, give it the time
	// for that. On a busy machine they take longer, too.
	rootsPings = 5
	rootsPause = 20 * time.Millisecond
)

// RootsHabit tells whether a server asks for the roots before its first call.
type RootsHabit string

// The values of RootsHabit.
const (
	RootsUnknown RootsHabit = ""
	RootsAsked   RootsHabit = "asked"
	RootsIgnored RootsHabit = "ignored"
)

// rootsRequest tracks whether the server asked for the roots before its first call.
type rootsRequest struct {
	// note closes asked when the server asks. called is set once the first call may be sent.
	asked  chan struct{}
	note   func()
	called atomic.Bool
}

// serveRoots answers roots/list with the roots of the host that a call under way belongs to, or else with those of the
// workspace.
func (c *Conn) serveRoots(ctx context.Context, params json.RawMessage) func() (any, error) {
	hosts := c.Ledger.Hosts()
	return func() (any, error) {
		for _, h := range hosts {
			raw, err := h.Roots(ctx, &attribution.Request{Method: "roots/list", Params: params})
			if err == nil {
				return raw, nil
			}
			c.log.Debug().Err(err).Msg("the host did not list its roots")
		}
		if !c.roots.called.Load() {
			c.server.learnRoots(RootsAsked)
		}
		c.roots.note()
		return map[string]any{"roots": c.server.dialer.Roots()}, nil
	}
}

// AwaitRoots delays the first call of a legacy connection until the server has read the roots, or a time limit is over.
func (c *Conn) AwaitRoots(ctx context.Context) error {
	if c.IsModern() || c.roots.called.Load() || len(c.server.dialer.Roots()) == 0 {
		return nil
	}
	defer c.roots.called.Store(true)
	habit := c.server.rootsHabit()
	if habit == RootsIgnored && !isClosed(c.roots.asked) {
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
	for range rootsPings {
		c.ping(bounded) // the server answers the first ping after it has read the roots
		if err := Pause(ctx, rootsPause); err != nil {
			return err
		}
	}
	return nil
}

// asksForRoots waits until the server asks for the roots, and reports whether it did.
func (c *Conn) asksForRoots(ctx context.Context, habit RootsHabit) bool {
	if !isClosed(c.roots.asked) {
		c.ping(ctx)
	}
	if habit != RootsAsked {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.server.dialer.opts.RootsTimeout)
		defer cancel()
	}
	select {
	case <-c.roots.asked:
		return true
	case <-ctx.Done():
		return isClosed(c.roots.asked)
	}
}

// ping returns when the server has answered a ping, or ctx ends.
func (c *Conn) ping(ctx context.Context) {
	if err := c.session.Ping(ctx, nil); err != nil {
		c.log.Debug().Err(err).Msg("the server did not answer a ping")
	}
}

func (s *Server) rootsHabit() RootsHabit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.habits.learned.Roots
}

func (s *Server) learnRoots(habit RootsHabit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.habits.learned.Roots != habit {
		s.habits.learned.Roots = habit
		s.keepLearnedLocked()
	}
}
