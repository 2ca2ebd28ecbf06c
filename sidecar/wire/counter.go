package wire

import (
	"context"
	"sync"
)

// counter counts open items. A goroutine can wait until there are none.
type counter struct {
	mu    sync.Mutex // guards the fields below
	n     int
	quiet chan struct{} // closed when n is 0 again; nil while it is 0
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

// none reports whether the count is 0.
func (c *counter) none() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n == 0
}

// wait returns when the count is 0, or ctx ends.
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
