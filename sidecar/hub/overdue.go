package hub

import (
	"context"
	"fmt"
	"time"

	"assent/protocol"
	"assent/sidecar/deadline"
)

// DefaultHousekeeping bounds each request for a list, a resource, a prompt, a completion, or the state of an MCP task. It
// does not bound calls of tools, nor tasks/result, which a server answers at the end of the MCP task.
const DefaultHousekeeping = time.Minute

// SetToolTimeout sets for how long a call of a tool may have neither a result nor progress; 0 means for ever. A timeout in
// the server's own configuration comes first. The time in which the server waits for a person is not counted. Calls
// under way keep their limit.
func (h *Hub) SetToolTimeout(limit time.Duration) { h.toolTimeout.Store(int64(limit)) }

// overdueError is the cause of the end of a request that took too long.
type overdueError struct {
	what  string
	limit time.Duration
}

func (e overdueError) Error() string {
	return fmt.Sprintf("%s took longer than %v", e.what, e.limit)
}

// limit returns the error with the time limit for each request of an exchange; 0 means none.
func (x *exchange) limit() overdueError {
	switch {
	case x.toolName == "":
		return overdueError{"the request", x.server.hub.opts.Housekeeping}
	case x.server.config.ToolTimeout != nil:
		return overdueError{"the call", *x.server.config.ToolTimeout}
	default:
		return overdueError{"the call", time.Duration(x.server.hub.toolTimeout.Load())}
	}
}

// within returns a context for a request that is no call of a tool, with its time limit. The caller calls done after the
// answer.
func (c *conn) within(ctx context.Context, what string) (_ context.Context, done func()) {
	limit := c.server.hub.opts.Housekeeping
	ctx, clock, cancel := deadline.WithClock(ctx, limit, overdueError{what, limit})
	stop := c.time(clock)
	return ctx, func() {
		stop()
		cancel()
	}
}

// time runs a clock until stop is called, except while the server waits for a person. The clock may be nil.
func (c *conn) time(clock *deadline.Clock) (stop func()) {
	if clock == nil {
		return func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	resume := func() {}
	if c.asked > 0 {
		resume = clock.Pause()
	}
	c.clocks[clock] = resume
	clock.Start()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.clocks[clock]()
		delete(c.clocks, clock)
		clock.Stop()
	}
}

// holdForPerson is hold for the time in which the server waits for a person. It stops every clock of the connection,
// because a server does not say which of our requests wait for that person too.
func (c *conn) holdForPerson() (release func()) {
	unused := c.hold()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	if c.asked == 1 {
		for clock := range c.clocks {
			c.clocks[clock] = clock.Pause()
		}
	}
	return func() {
		defer unused()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asked--
		if c.asked == 0 {
			for clock, resume := range c.clocks {
				resume()
				c.clocks[clock] = func() {}
			}
		}
	}
}

// restarting returns a function that gets a call's progress, restarts the clock and calls tell. Both may be nil.
func restarting(clock *deadline.Clock, tell func(protocol.Progress)) func(protocol.Progress) {
	return func(p protocol.Progress) {
		if clock != nil {
			clock.Restart()
		}
		if tell != nil {
			tell(p)
		}
	}
}
