package task

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"assent/protocol"
)

// together is what the changes have in common that are made while the task is locked once: they are saved in
// one transaction, and announced after. With many questions open, that is most of what an answer costs.
type together struct {
	// making is set until all are made.
	making bool
	// When what they say is saved, or owed, those of then are called, the events announced, and those of last
	// called. Who waits for an answer goes on while the front ends hear of it.
	then   []func(kept bool)
	events []eventOf
	last   []func()
}

// eventOf is an event of a message.
type eventOf struct {
	said      protocol.TaskEventParams
	messageID int64
}

// mostTogether bounds how many changes wait for each other.
const mostTogether = 128

// joined is a change that waits for the lock, for whoever gets it first to make it.
type joined struct {
	change func()
	// made is set once it is made; panicked is what it panicked with. The task's lock guards them.
	made     bool
	panicked error
}

// join has change be made while the task is locked, maybe by another goroutine and together with what others
// have to change; it returns when it is saved, or owed, and announced. What depends on that change gives to
// [Task.afterwards]. Changes are made in the order in which they join; queued, where it is not nil, is called when this
// one has.
func (t *Task) join(change, queued func()) {
	j := &joined{change: change}
	t.waitingMu.Lock()
	t.waiting = append(t.waiting, j)
	t.waitingMu.Unlock()
	if queued != nil {
		queued()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for !j.made {
		t.registry.opts.Stacks.Call(t.makeWaiting)
	}
	if j.panicked != nil {
		panic(j.panicked) // where it would have, had it not joined
	}
}

// makeWaiting makes the changes that have waited longest. The lock must be held.
func (t *Task) makeWaiting() {
	t.waitingMu.Lock()
	n := min(len(t.waiting), mostTogether)
	waiting := t.waiting[:n:n]
	if t.waiting = t.waiting[n:]; len(t.waiting) == 0 {
		t.waiting = nil
	}
	t.waitingMu.Unlock()
	t.together.making = true
	for _, j := range waiting {
		j.make()
	}
	all := t.together
	t.together = together{}
	if len(all.events) > 0 {
		t.pay()
	}
	kept := t.owned
	for _, then := range all.then {
		then(kept)
	}
	if len(all.then) > 0 {
		// Whoever waited for an answer gives it to the server now: on this thread, which is awake.
		runtime.Gosched()
	}
	for i := range all.events {
		e := &all.events[i]
		e.said.Unsaved = t.isUnsaved(e.messageID)
		t.tell(&e.said)
	}
	for _, last := range all.last {
		last()
	}
}

// make makes the change. A panic is its maker's, and must not end the others'.
func (j *joined) make() {
	defer func() {
		j.made = true
		if r := recover(); r != nil {
			j.panicked = fmt.Errorf("%v\n\n%s", r, debug.Stack())
		}
	}()
	j.change()
}

// afterwards calls then when the changes that are being made are saved, or owed: at once, where none are made
// together. Kept is false where another window took the task in this moment, so that they were not. The lock
// must be held, and is held then.
func (t *Task) afterwards(then func(kept bool)) {
	if t.together.making {
		t.together.then = append(t.together.then, then)
	} else {
		then(t.owned)
	}
}

// atLast calls last when the changes that are being made are announced: at once, where none are made together.
// The lock must be held, and is held then.
func (t *Task) atLast(last func()) {
	if t.together.making {
		t.together.last = append(t.together.last, last)
	} else {
		last()
	}
}
