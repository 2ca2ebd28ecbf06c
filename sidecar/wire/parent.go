package wire

import (
	"os/exec"
	"runtime"
	"sync"
)

// parent starts processes on a thread that stays while any of them runs. On Linux, a child gets its death signal when
// the thread that started it ends.
var parent thread

// thread is an operating system thread that exists while it is needed.
type thread struct {
	mu    sync.Mutex // guards the fields below
	users int
	work  chan func()
}

// start starts cmd in its own group; see [group]. Without an error, the caller calls left once the process has
// ended.
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

// left records that a process has ended. The thread ends with the last one.
func (t *thread) left() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.users--; t.users == 0 {
		close(t.work)
	}
}

func run(work <-chan func()) {
	runtime.LockOSThread() // not unlocked: the thread is not reused
	for f := range work {
		f()
	}
}
