package tasklog

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"assent/protocol"
)

const (
	// maxBatch bounds how many changes wait for each other.
	maxBatch = 128
	// saveWithin bounds how long a change of [Log.Defer] waits to be saved.
	saveWithin = 5 * time.Millisecond
)

// batch collects the changes that are made while the log is locked once, or by [Log.Defer]. They are saved in one
// transaction, and announced after it. With many open questions, saving is most of the cost of an answer.
type batch struct {
	// collecting is set until all changes are made.
	collecting bool
	// Once the changes are saved or marked dirty, onCommit is called, the events are announced, and onPublish is called. A
	// goroutine that waits for an answer goes on while the events are announced.
	onCommit  []func()
	events    []pendingEvent
	onPublish []func()
}

// pendingEvent is an event, with the id of its message.
type pendingEvent struct {
	params    protocol.TaskEventParams
	messageID int64
}

// pendingChange is a change that waits for the lock. The first goroutine that gets the lock makes it.
type pendingChange struct {
	change func()
	// made is set once the change is made, and panicked is its panic. The log's lock guards both.
	made     bool
	panicked error
}

// Submit makes a change while the log is locked, and returns when the change is saved or marked dirty, and announced. Another
// goroutine may make it, together with other changes. Code that depends on the saved change goes to [Log.OnCommit].
// Changes are made in the order in which they are queued. Queued is called when this one is; it may be nil.
func (l *Log) Submit(change, queued func()) {
	c := &pendingChange{change: change}
	l.queueMu.Lock()
	l.queue = append(l.queue, c)
	l.queueMu.Unlock()
	if queued != nil {
		queued()
	}
	l.Lock()
	defer l.Unlock()
	for !c.made {
		l.makeQueued()
	}
	if c.panicked != nil {
		panic(c.panicked) // on the goroutine that submitted the change
	}
}

// makeQueued makes the changes that have waited longest. The lock must be held.
func (l *Log) makeQueued() {
	l.queueMu.Lock()
	n := min(len(l.queue), maxBatch)
	queue := l.queue[:n:n]
	if l.queue = l.queue[n:]; len(l.queue) == 0 {
		l.queue = nil
	}
	l.queueMu.Unlock()
	l.batch.collecting = true
	for _, c := range queue {
		c.make()
	}
	l.settle()
}

// Defer makes a change while the log is locked. The change is saved and announced together with those that follow: before
// the next lock of the log, and within a few milliseconds. If the process is killed before that, the change is lost.
// The change may be refused by the store, or find the log closed, like any other.
func (l *Log) Defer(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	isFirst := len(l.batch.events) == 0
	l.batch.collecting = true
	defer func() { l.batch.collecting = false }()
	change()
	switch {
	case len(l.batch.events) >= maxBatch:
		l.settle()
	case isFirst:
		// The callback is a no-op once another goroutine has locked the log, so no goroutine waits for it.
		time.AfterFunc(saveWithin, l.Settle)
	}
}

// Settle saves and announces the changes of [Log.Defer]. The lock must not be held.
func (l *Log) Settle() {
	l.Lock()
	defer l.Unlock()
}

// settle saves and announces the collected changes. The lock must be held.
func (l *Log) settle() {
	all := l.batch
	l.batch = batch{}
	if len(all.events) > 0 {
		l.flush()
	}
	for _, f := range all.onCommit {
		f()
	}
	if len(all.onCommit) > 0 {
		// Let the goroutine that waited for an answer send it to the server now, on this thread, which is awake.
		runtime.Gosched()
	}
	for i := range all.events {
		e := &all.events[i]
		e.params.Unsaved = l.IsUnsaved(e.messageID)
		l.send(&e.params)
	}
	for _, f := range all.onPublish {
		f()
	}
}

// make makes the change. A panic is returned to the change's own caller, and does not end the other
// changes.
func (c *pendingChange) make() {
	defer func() {
		c.made = true
		if r := recover(); r != nil {
			c.panicked = fmt.Errorf("%v\n\n%s", r, debug.Stack())
		}
	}()
	c.change()
}

// OnCommit calls f once the changes of this lock are saved or marked dirty; at once if no changes are being collected. The
// lock must be held, and is held during the call.
func (l *Log) OnCommit(f func()) {
	if l.batch.collecting {
		l.batch.onCommit = append(l.batch.onCommit, f)
	} else {
		f()
	}
}

// OnPublish calls f once the changes of this lock are announced; at once if no changes are being collected. The lock must be
// held, and is held during the call.
func (l *Log) OnPublish(f func()) {
	if l.batch.collecting {
		l.batch.onPublish = append(l.batch.onPublish, f)
	} else {
		f()
	}
}
