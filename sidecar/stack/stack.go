// Package stack calls functions on stacks that have grown already.
//
// A goroutine begins with a stack of a few kB, and each time that this is too small the runtime copies it to one of
// twice the size. A goroutine for each request pays that again for every one; and one that then waits for a person
// keeps what it needed once, to read a form or to write to the disk. So what needs depth is called on a stack of a
// [Pool], and what waits has a small one.
//
// The stack is that of a coroutine ([iter.Pull]): the caller goes on there and comes back, past the scheduler, and
// wakes nobody. A Pool may be used from any goroutine.
package stack

import (
	"fmt"
	"iter"
	"runtime/debug"
	"sync"
)

// mostIdle bounds how many stacks are kept that nobody uses. More than that are made where more are used at once.
const mostIdle = 8

// Pool is stacks to be used again. The zero value has none yet. A nil one has none ever, and calls functions on the
// stack of whoever calls.
type Pool struct {
	mu     sync.Mutex // guards the fields below
	closed bool
	idle   []*stack // the last one used last
}

// stack is one of them, which runs one function at a time.
type stack struct {
	call     func()
	panicked error
	resume   func() (struct{}, bool)
	end      func()
}

// Call calls f on a stack of the pool, and returns when it does. F may block, and may call Call. A panic of f is
// one of Call, with an error that has the stack of where it came from. F must not call [runtime.Goexit].
func (p *Pool) Call(f func()) {
	if p == nil {
		f()
		return
	}
	s := p.take()
	s.call = f
	s.resume()
	err := s.panicked
	s.panicked = nil
	p.put(s)
	if err != nil {
		panic(err)
	}
}

// Close ends the stacks that nobody uses, and those in use when they are not any more. Call works on.
func (p *Pool) Close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, s := range idle {
		s.end()
	}
}

func (p *Pool) take() *stack {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return s
	}
	s := &stack{}
	s.resume, s.end = iter.Pull(func(yield func(struct{}) bool) {
		for more := true; more; more = yield(struct{}{}) {
			s.run()
		}
	})
	return s
}

func (p *Pool) put(s *stack) {
	p.mu.Lock()
	keep := !p.closed && len(p.idle) < mostIdle
	if keep {
		p.idle = append(p.idle, s)
	}
	p.mu.Unlock()
	if !keep {
		s.end()
	}
}

// run calls the function. Its panic must not end the coroutine, which would lose where it came from.
func (s *stack) run() {
	defer func() {
		s.call = nil
		if r := recover(); r != nil {
			s.panicked = fmt.Errorf("%v\n\n%s", r, debug.Stack())
		}
	}()
	s.call()
}
