package session

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/sidecar/wire"
	"assent/sidecar/wire/quirk"
)

// Roots are what the person gave, never more. A task of a host has the host's roots, or none. A task of a terminal has those of
// the terminal, or none. Any other task has those of the workspace. A connection that all tasks share has none.

// HostRoots are the roots of a host.
type HostRoots struct {
	// Capability is what the host declared about roots; nil if it has none.
	Capability json.RawMessage
	// List returns the result of roots/list.
	List func(ctx context.Context, params json.RawMessage) (json.RawMessage, error)
}

// givenRoots are the roots of a connection. They stay the same for its lifetime.
type givenRoots struct {
	from rootsFrom
	// capability is what a legacy server is told, and list returns the roots; both are nil for noRoots.
	capability json.RawMessage
	list       func(ctx context.Context, params json.RawMessage) (json.RawMessage, error)
}

// rootsFrom says who gave the roots.
type rootsFrom int

const (
	noRoots     rootsFrom = iota
	folderRoots           // of the workspace, or of a terminal
	hostRoots
)

// rootsOf returns the roots of a task, or those for discovery if taskID is empty.
func (s *Server) rootsOf(taskID string) givenRoots {
	if s.config.Shared {
		return givenRoots{}
	}
	return s.taskRoots(taskID)
}

// taskRoots is rootsOf for a call that proves its task.
func (s *Server) taskRoots(taskID string) givenRoots {
	if of := s.dialer.opts.HostRoots; of != nil && taskID != "" {
		if roots, isHosts := of(taskID); isHosts && roots.Capability == nil {
			return givenRoots{}
		} else if isHosts {
			return givenRoots{hostRoots, roots.Capability, roots.List}
		}
	}
	if len(s.dialer.rootsOf(taskID)) == 0 {
		return givenRoots{}
	}
	return givenRoots{folderRoots, json.RawMessage(`{"listChanged":true}`), func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return s.dialer.listOf(taskID)
	}}
}

// rootsOf returns the roots of a task without a host: those of its terminal, or else of the workspace.
func (d *Dialer) rootsOf(taskID string) []*mcp.Root {
	if of := d.opts.TaskFolders; of != nil && taskID != "" {
		if folders, hasOwn := of(taskID); hasOwn {
			return rootsIn(folders)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return rootsIn(d.folders)
}

// listOf returns them as the result of roots/list.
func (d *Dialer) listOf(taskID string) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"roots": d.rootsOf(taskID)})
}

// HasRoots reports whether a task has roots, which modern servers are told with its calls.
func (s *Server) HasRoots(taskID string) bool { return s.taskRoots(taskID).from != noRoots }

// ListRoots returns the result of roots/list for a task of a modern server. It has no roots if there are none, or if the host
// does not tell them.
func (s *Server) ListRoots(ctx context.Context, taskID string, params json.RawMessage) json.RawMessage {
	if given := s.taskRoots(taskID); given.from != noRoots {
		raw, err := given.list(ctx, params)
		if err == nil {
			return raw
		}
		s.dialer.opts.Log.Debug().Err(err).Msg("the host did not list its roots")
	}
	return json.RawMessage(`{"roots":[]}`)
}

// HostRootsChanged tells the server that the roots of a task's host have changed.
func (s *Server) HostRootsChanged(taskID string) {
	s.mu.Lock()
	c := s.conns[taskID]
	told := c != nil && s.running[c] && c.roots.given.from == hostRoots
	s.mu.Unlock()
	if told {
		c.client.AddRoots(&mcp.Root{URI: "file:///"}) // go-sdk sends the notification; serveRoots answers what follows
	}
}

// Some legacy servers ask for the roots once they are initialized, and serve a call that comes before the answer as if
// there were no roots. MCP has no message for "ready", so the first call of a connection waits for that answer. Most
// servers ask before they answer a ping that follows notifications/initialized.

const (
	// DefaultRootsTimeout is how long a first call waits for roots/list after the answer to the ping. If the server
	// does not ask within that time, Assent does not wait for it again.
	DefaultRootsTimeout = 100 * time.Millisecond
	// maxRootsWait bounds the whole wait of a first call. A server that asked for the roots last time gets all of it.
	maxRootsWait = 3 * time.Second
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
	given givenRoots
	// task is the connection's task; "" for none. The lock of [Server] guards it.
	task string
	// note closes asked when the server asks. called is set once the first call may be sent.
	asked  chan struct{}
	note   func()
	called atomic.Bool
}

// serveRoots answers roots/list. A server that was told of no roots gets an error.
func (c *Conn) serveRoots(ctx context.Context, params json.RawMessage) func() (any, error) {
	return func() (any, error) {
		if c.roots.given.from == noRoots {
			return nil, wire.ErrMethod
		}
		list := c.roots.given.list
		if c.roots.given.from == folderRoots { // the connection may have been opened for no task
			list = func(context.Context, json.RawMessage) (json.RawMessage, error) {
				return c.server.dialer.listOf(c.task())
			}
		}
		raw, err := list(ctx, params)
		if err != nil {
			return nil, err
		}
		isFirst := !c.roots.called.Load()
		c.roots.note() // a call that comes now waits for the answer, and sends no ping before it
		if isFirst {
			c.server.learnRoots(RootsAsked)
		}
		return raw, nil
	}
}

// task returns the task of the connection; "" for none.
func (c *Conn) task() string {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.roots.task
}

// AwaitRoots delays the first call of a legacy connection until the server has read the roots, or a time limit is over.
func (c *Conn) AwaitRoots(ctx context.Context) error {
	if c.IsModern() || c.roots.called.Load() || c.roots.given.from == noRoots {
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
	for range quirk.RootsPings {
		sent := time.Now()
		c.ping(bounded) // the server answers the first ping after it has read the roots
		if err := Pause(ctx, quirk.RootsPause(time.Since(sent))); err != nil {
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
	return s.dialect.learned.Roots
}

func (s *Server) learnRoots(habit RootsHabit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dialect.learned.Roots != habit {
		s.dialect.learned.Roots = habit
		s.keepLearnedLocked()
	}
}
