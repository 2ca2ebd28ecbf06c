package wire

import (
	"context"
	"sync"
)

// counter counts what is going on, and can be waited for to come down to nothing.
type counter struct {
	mu    sync.Mutex // guards the fields below
	n     int
	quiet chan struct{} // closed when n is 0 again; nil while it is
}

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n++; c.n == 1 {
		c.quiet = make(chan struct{})
	}
}

func (c *counter) done() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n--; c.n == 0 {
		close(c.quiet)
		c.quiet = nil
	}
}

// none reports whether nothing is going on.
func (c *counter) none() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n == 0
}

// wait returns when there is nothing, or ctx ends.
func (c *counter) wait(ctx context.Context) {
	c.mu.Lock()
	quiet := c.quiet
	c.mu.Unlock()
	if quiet == nil {
		return
	}
	select {
	case <-quiet:
	case <-ctx.Done():
	}
}
