// Package awaited tells those who wait for some work that the work itself waits for something, such as a window.
//
// The caller that shows the wait calls [WithListener]. Code further down calls [Begin] when it waits, and does not know the
// listeners. Work that several callers wait for has a [Shared]. All functions may be called from any goroutine.
package awaited

import (
	"context"
	"sync"
)

type key struct{}

// listener hears what the work under a context waits for.
type listener struct {
	outer *listener

	mu    sync.Mutex // guards the fields below, and is held while hear runs
	waits int
	hear  func(what string)
}

// WithListener returns a context for work. Hear is told what the work waits for, and an empty text once it waits no more.
// Of several waits at the same time it is told the first. Hear must not wait for the work.
func WithListener(ctx context.Context, hear func(what string)) context.Context {
	return context.WithValue(ctx, key{}, &listener{outer: listenerOf(ctx), hear: hear})
}

// Begin tells the listeners of a context that its work waits, until end is called once.
func Begin(ctx context.Context, what string) (end func()) {
	l := listenerOf(ctx)
	l.begin(what)
	return l.end
}

func listenerOf(ctx context.Context) *listener {
	l, _ := ctx.Value(key{}).(*listener)
	return l
}

func (l *listener) begin(what string) {
	for ; l != nil; l = l.outer {
		l.count(1, what)
	}
}

func (l *listener) end() {
	for ; l != nil; l = l.outer {
		l.count(-1, "")
	}
}

func (l *listener) count(by int, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.waits
	l.waits += by
	if (before == 0) != (l.waits == 0) {
		l.hear(what)
	}
}

// Shared is what work waits for that several others wait for. The zero value is ready.
type Shared struct {
	mu     sync.Mutex // guards the fields below
	what   string
	joined map[*listener]int
}

// Context returns the context for the work.
func (s *Shared) Context(ctx context.Context) context.Context {
	return WithListener(ctx, func(what string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.what = what
		for l, times := range s.joined {
			for range times {
				l.tell(what)
			}
		}
	})
}

// Join tells the listeners of a context what the work waits for, until leave is called once.
func (s *Shared) Join(ctx context.Context) (leave func()) {
	l := listenerOf(ctx)
	if l == nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.joined == nil {
		s.joined = map[*listener]int{}
	}
	s.joined[l]++
	if s.what != "" {
		l.begin(s.what)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.joined[l]--; s.joined[l] == 0 {
			delete(s.joined, l)
		}
		if s.what != "" {
			l.end()
		}
	}
}

func (l *listener) tell(what string) {
	if what == "" {
		l.end()
	} else {
		l.begin(what)
	}
}
