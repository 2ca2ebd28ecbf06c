// Package stack calls functions on stacks that have grown before.
//
// A goroutine begins with a stack of a few kB. Each time that it is too small, the runtime copies it to one of
// twice the size. A goroutine per request pays that for every request, and one that then waits for a person keeps
// the large stack that it needed to read a form or write to the disk. So functions that need depth run on a stack
// of a [Pool], and waiting goroutines have small stacks.
//
// The stack belongs to a coroutine ([iter.Pull]). A call switches to it and back without the scheduler. A Pool may
// be used from any goroutine.
package stack

import (
	"fmt"
	"iter"
	"runtime/debug"
	"sync"
)

// mostIdle bounds the unused stacks in a pool. More stacks are created while more are in use at once.
const mostIdle = 8

// Pool is a pool of stacks. The zero value is an empty pool. A nil Pool calls functions on the caller's stack.
type Pool struct {
	mu     sync.Mutex // guards the fields below
	closed bool
	idle   []*stack // the last one was used last
}

// stack is a stack that runs one function at a time.
type stack struct {
	call     func()
	panicked error
	resume   func() (struct{}, bool)
	end      func()
}

// Call calls f on a stack of the pool, and returns when f does. F may block, and may call Call. A panic of f
// becomes a panic of Call, with an error that has the original stack trace. F must not call [runtime.Goexit].
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

// Close ends the unused stacks now, and the others after their use. Call still works.
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

// run calls the function. It recovers a panic, which would end the coroutine and lose the stack
// trace.
func (s *stack) run() {
	defer func() {
		s.call = nil
		if r := recover(); r != nil {
			s.panicked = fmt.Errorf("%v\n\n%s", r, debug.Stack())
		}
	}()
	s.call()
}
