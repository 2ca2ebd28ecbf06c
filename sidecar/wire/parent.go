package wire

import (
	"os/exec"
	"runtime"
	"sync"
)

// parent starts processes on a thread that stays while any of them runs: on Linux a child is told when the thread that
// started it ends.
var parent thread

// thread is an operating system's thread, for as long as somebody needs it.
type thread struct {
	mu    sync.Mutex // guards the fields below
	users int
	work  chan func()
}

// start starts cmd in a group of its own, see [group]. Whoever got no error calls left once the process has ended.
func (t *thread) start(cmd *exec.Cmd) (g group, err error) {
	t.mu.Lock()
	if t.users++; t.users == 1 {
		t.work = make(chan func())
		go run(t.work)
	}
	work := t.work
	t.mu.Unlock()

	started := make(chan struct{})
	work <- func() {
		defer close(started)
		g, err = startInGroup(cmd)
	}
	<-started
	if err != nil {
		t.left()
	}
	return g, err
}

// left says that a process has ended. With the last one the thread does.
func (t *thread) left() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.users--; t.users == 0 {
		close(t.work)
	}
}

func run(work <-chan func()) {
	runtime.LockOSThread() // and not unlocked: the thread is no other's
	for f := range work {
		f()
	}
}
