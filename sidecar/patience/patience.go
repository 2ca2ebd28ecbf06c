// Package patience bounds how long a server may take, without counting the time in which a person is
// asked something on its behalf.
//
// Whoever sets a bound calls [WithTimeout]; whoever makes a server wait for a person, further down and
// without knowing who bounds it, calls [Pause]. All functions may be called from any goroutine.
package patience

import (
	"context"
	"sync"
	"time"
)

type key struct{}

// clock is the bound of one context. It stands while it is paused at least once.
type clock struct {
	outer *clock

	mu      sync.Mutex // guards the fields below
	timer   *time.Timer
	left    time.Duration
	running time.Time // since when it runs
	pauses  int
}

// WithTimeout returns a context that ends for a cause when d has passed, pauses not counted.
func WithTimeout(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &clock{left: d, running: time.Now()}
	c.outer, _ = ctx.Value(key{}).(*clock)
	c.timer = time.AfterFunc(d, func() { cancel(cause) })
	return context.WithValue(ctx, key{}, c), func() {
		c.mu.Lock()
		c.timer.Stop()
		c.pauses++ // for good
		c.mu.Unlock()
		cancel(context.Canceled)
	}
}

// Pause stops every clock of a context, until resume is called. Clocks that others paused as well go on
// when the last of them has resumed.
func Pause(ctx context.Context) (resume func()) {
	innermost, _ := ctx.Value(key{}).(*clock)
	for c := innermost; c != nil; c = c.outer {
		c.pause()
	}
	return sync.OnceFunc(func() {
		for c := innermost; c != nil; c = c.outer {
			c.resume()
		}
	})
}

func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses++
	if c.pauses == 1 && c.timer.Stop() {
		c.left -= time.Since(c.running)
	}
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses--
	if c.pauses == 0 {
		c.running = time.Now()
		c.timer.Reset(max(c.left, 0))
	}
}

// Clock bounds the parts of something long in which others are to act. It stands until Start, and between Stop and the
// next Start. All methods may be called from any goroutine.
type Clock struct {
	clock *clock
	whole time.Duration
}

// WithClock returns a context that ends for a cause when the clock has run for d since it was last started or
// restarted. Cancel has to be called once the context is not used any more.
func WithClock(ctx context.Context, d time.Duration, cause error) (_ context.Context, _ *Clock, cancel context.CancelFunc) {
	ctx, cancel = WithTimeout(ctx, d, cause)
	c := &Clock{clock: ctx.Value(key{}).(*clock), whole: d}
	c.Stop()
	return ctx, c, cancel
}

// Start lets a clock run that stands, from the beginning.
func (c *Clock) Start() {
	c.Restart()
	c.clock.resume()
}

// Stop has the clock stand until the next Start.
func (c *Clock) Stop() { c.clock.pause() }

// Pause is as the function Pause, for this clock alone.
func (c *Clock) Pause() (resume func()) {
	c.clock.pause()
	return sync.OnceFunc(c.clock.resume)
}

// Restart gives the clock its whole time again. It does not start a clock that stands.
func (c *Clock) Restart() {
	c.clock.mu.Lock()
	defer c.clock.mu.Unlock()
	c.clock.left = c.whole
	if c.clock.pauses == 0 && c.clock.timer.Stop() {
		c.clock.running = time.Now()
		c.clock.timer.Reset(c.whole)
	}
}
