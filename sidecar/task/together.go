package task

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"assent/protocol"
)

// together collects the changes that are made while the task is locked once. They are saved in one transaction, and
// announced after it. With many open questions, saving is most of the cost of an answer.
type together struct {
	// making is set until all are made.
	making bool
	// Once the changes are saved or owed, then is called, the events are announced, and last is called. A goroutine that
	// waits for an answer goes on while the events are announced.
	then   []func()
	events []eventOf
	last   []func()
}

// eventOf is an event, with the id of the message that it is about.
type eventOf struct {
	said      protocol.TaskEventParams
	messageID int64
}

// mostTogether bounds how many changes wait for each other.
const mostTogether = 128

// joined is a change that waits for the lock. The first goroutine that gets the lock makes it.
type joined struct {
	change func()
	// made is set once the change is made, and panicked is its panic. The task's lock guards both.
	made     bool
	panicked error
}

// join makes a change while the task is locked, and returns when the change is saved or owed, and announced. Another
// goroutine may make it, together with other changes. Code that depends on the saved change goes to [Task.afterwards].
// Changes are made in the order in which they join. Queued is called when this one has joined; it may be nil.
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
		panic(j.panicked) // on the goroutine that made the change
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
	for _, then := range all.then {
		then()
	}
	if len(all.then) > 0 {
		// Let the goroutine that waited for an answer send it to the server now, on this thread, which is awake.
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

// afterwards calls then once the changes of this lock are saved or owed; at once if no changes are being collected. The
// lock must be held, and is held during the call.
func (t *Task) afterwards(then func()) {
	if t.together.making {
		t.together.then = append(t.together.then, then)
	} else {
		then()
	}
}

// atLast calls last once the changes of this lock are announced; at once if no changes are being collected. The lock must
// be held, and is held during the call.
func (t *Task) atLast(last func()) {
	if t.together.making {
		t.together.last = append(t.together.last, last)
	} else {
		last()
	}
}
