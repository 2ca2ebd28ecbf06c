package hub

import (
	"context"
	"fmt"
	"time"

	"assent/protocol"
	"assent/sidecar/patience"
)

// DefaultHousekeeping bounds each request for a list, a resource, a prompt, a completion, or the state of an MCP task. It
// bounds no call of a tool, and not tasks/result, which a server answers at the end of the MCP task.
const DefaultHousekeeping = time.Minute

// SetToolTimeout sets for how long a call of a tool may have neither a result nor progress, unless the server's own
// configuration says so. The time in which a person is asked for the server is not counted. 0 is for ever. Calls that
// are under way keep their limit.
func (h *Hub) SetToolTimeout(limit time.Duration) { h.toolTimeout.Store(int64(limit)) }

// overdueError is the cause with which a request ends that took too long.
type overdueError struct {
	what  string
	limit time.Duration
}

func (e overdueError) Error() string {
	return fmt.Sprintf("%s took longer than %v", e.what, e.limit)
}

// limit returns what bounds the requests of an exchange; a limit of 0 bounds nothing.
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

// within bounds a request of ours that is no call of a tool. Done is to be called when it has its answer.
func (c *conn) within(ctx context.Context, what string) (_ context.Context, done func()) {
	limit := c.server.hub.opts.Housekeeping
	ctx, clock, cancel := patience.WithClock(ctx, limit, overdueError{what, limit})
	stop := c.time(clock)
	return ctx, func() {
		stop()
		cancel()
	}
}

// time lets a clock run until stop is called, but not while the server has asked a person. The clock may be nil.
func (c *conn) time(clock *patience.Clock) (stop func()) {
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

// holdForPerson is as hold, for as long as the server waits for a person. No clock of the connection runs meanwhile,
// because a server does not say which of our requests waits for the person as well.
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

// restarting returns who is told of a call's progress, after which the time of the call begins anew. Both may be nil.
func restarting(clock *patience.Clock, tell func(protocol.Progress)) func(protocol.Progress) {
	return func(p protocol.Progress) {
		if clock != nil {
			clock.Restart()
		}
		if tell != nil {
			tell(p)
		}
	}
}
