// Package deadline bounds how long a server may take. The time in which the server waits for a person does not count.
//
// A caller that sets a bound calls [WithTimeout], or [WithClock] for several waits under one context. Code further down
// that makes the server wait for a person calls [Pause], without knowing who set the bound. All functions may be called
// from any goroutine.
package deadline

import (
	"context"
	"sync"
	"time"
)

type key struct{}

// clock is the bound of one context. It is paused while pauses is not 0.
type clock struct {
	outer *clock

	mu      sync.Mutex // guards the fields below
	timer   *time.Timer
	left    time.Duration
	running time.Time // the time since which it runs
	pauses  int
}

// WithTimeout returns a context that ends with the cause when d has passed, not counting pauses.
func WithTimeout(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &clock{left: d, running: time.Now()}
	c.outer, _ = ctx.Value(key{}).(*clock)
	c.timer = time.AfterFunc(d, func() { cancel(cause) })
	return context.WithValue(ctx, key{}, c), func() {
		c.mu.Lock()
		c.timer.Stop()
		c.pauses++ // never resumed
		c.mu.Unlock()
		cancel(context.Canceled)
	}
}

// Pause stops every clock of a context until resume is called. A clock that is paused several times continues after
// the last resume. Calling resume again is a no-op.
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

// Clock bounds each of several waits under one context. It runs from Start to Stop. All methods may be called from any
// goroutine, but each Start needs its Stop.
type Clock struct {
	clock *clock
	whole time.Duration
}

// WithClock returns a context that ends with the cause when its clock has run for d since the last Start or Restart, not
// counting pauses. The clock does not run before Start. The caller calls cancel when it no longer needs the context.
func WithClock(ctx context.Context, d time.Duration, cause error) (_ context.Context, _ *Clock, cancel context.CancelFunc) {
	ctx, cancel = WithTimeout(ctx, d, cause)
	c := &Clock{clock: ctx.Value(key{}).(*clock), whole: d}
	c.Stop()
	return ctx, c, cancel
}

// Start starts the clock with its whole time.
func (c *Clock) Start() {
	c.Restart()
	c.clock.resume()
}

// Stop stops the clock until the next Start.
func (c *Clock) Stop() { c.clock.pause() }

// Pause is the function [Pause] for this clock alone.
func (c *Clock) Pause() (resume func()) {
	c.clock.pause()
	return sync.OnceFunc(c.clock.resume)
}

// Restart gives the clock its whole time again. It does not start a stopped clock.
func (c *Clock) Restart() {
	c.clock.mu.Lock()
	defer c.clock.mu.Unlock()
	c.clock.left = c.whole
	if c.clock.pauses == 0 && c.clock.timer.Stop() {
		c.clock.running = time.Now()
		c.clock.timer.Reset(c.whole)
	}
}
