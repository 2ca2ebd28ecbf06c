// Package tasklog keeps the messages of each task as a numbered log. A change is in the store before it is announced.
//
// A [Log] holds one task, and a [Storage] is the store of all. Both may be used from any goroutine. The lock of a Log
// orders its changes: under the lock a change gets a number, is saved, and is announced to the front ends. So events
// are sent in the order of their numbers, and every announced change is saved. If the store fails, changes stay in
// memory as dirty, are announced as unsaved, and are saved later. Changes of [Log.Submit] that wait for the lock are
// saved together.
//
// A method needs the lock if its comment says so. The callbacks of this package are called with the lock, and must not
// take it.
//
// The package interprets only the parts of a message that the store indexes and those that are secret.
package tasklog

import (
	"context"
	"iter"
	"maps"
	"sync"
	"sync/atomic"

	"assent/protocol"
)

// Log is the messages and events of one task. Create it with [NewLog].
type Log struct {
	storage *Storage

	queueMu sync.Mutex // guards queue; taken after mu
	queue   []*pendingChange

	// deleted is Info.DeletedAt > 0, for goroutines that do not hold the lock.
	deleted atomic.Bool

	mu sync.Mutex // guards the fields below, and the order of events
	// Info is the task's own data. After a change call [Log.Changed].
	Info protocol.Task
	// removed is set once the task was removed permanently: no part of it is saved again.
	removed bool
	// lastMessage is the greatest id of a message. It is known once counted is set; see CheckOpen.
	lastMessage int64
	counted     bool
	// memory holds the messages that may still change, and those that the store refused.
	memory map[int64]*Message
	dirty  dirty
	// quiet is closed when the task is quiet; nil if no goroutine waits for that.
	quiet chan struct{}
	batch batch
}

// Message is a message in memory. The log's lock guards it.
type Message struct {
	protocol.Message
	// Number is the number of the event that changed the message last.
	Number int64
	// Live messages may still change, and stay in memory.
	Live bool
	// ByHost messages are not acts of a person, although they may look like one.
	ByHost bool
	// AskID is the ask's id; empty if the message is no ask.
	AskID string
	// Work is the state of a live message; nil if it has none.
	Work Work
	// unacceptable is set if the store will never take the message as it is.
	unacceptable bool
}

// Work is the state of a live message that is not stored.
type Work interface {
	// Show returns the message as a front end should see it now, and whether that is newer than the saved
	// state.
	Show(protocol.Message) (protocol.Message, bool)
}

// NewLog returns the log of a task with messages in the store.
func NewLog(storage *Storage, info protocol.Task) *Log {
	l := &Log{storage: storage, Info: info, memory: map[int64]*Message{}}
	l.deleted.Store(info.DeletedAt > 0)
	return l
}

// NewEmptyLog returns the log of a task that has no messages yet.
func NewEmptyLog(storage *Storage, info protocol.Task) *Log {
	l := NewLog(storage, info)
	l.counted = true
	return l
}

// Lock locks the log, and settles the changes of [Log.Defer].
func (l *Log) Lock() {
	l.mu.Lock()
	if len(l.batch.events) > 0 {
		l.settle()
	}
}

// IsClosed reports whether the task is closed. The lock must not be held.
func (l *Log) IsClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Info.Closed
}

// Unlock unlocks the log.
func (l *Log) Unlock() { l.mu.Unlock() }

// Storage returns the store that the log is saved in.
func (l *Log) Storage() *Storage { return l.storage }

// Add adds a message, saves and announces it. The lock must be held, and [Log.CheckOpen] have succeeded.
func (l *Log) Add(body protocol.Body, live bool, askID string) *Message {
	l.lastMessage++
	m := &Message{
		Message: protocol.Message{ID: l.lastMessage, Time: l.storage.Now(), Body: body},
		Live:    live,
		AskID:   askID,
	}
	l.Commit(m, protocol.MessageAdded{Message: shown(m.Message)})
	return m
}

// Append saves a message as it is, with the next id unless it has one. It neither announces nor records it. The lock must be
// held.
func (l *Log) Append(m protocol.Message) {
	if m.ID == 0 {
		m.ID = l.lastMessage + 1
	}
	l.lastMessage = m.ID
	l.Renumber(&Message{Message: m})
}

// Renumber gives a message the next number and saves it, so that front ends that read the changes get it. It announces
// nothing. The lock must be held.
func (l *Log) Renumber(m *Message) {
	l.Info.LastNumber++
	m.Number = l.Info.LastNumber
	l.Save(m)
}

// Changed saves and announces the task's own data. The lock must be held.
func (l *Log) Changed() {
	l.Info.LastNumber++
	saved := l.Save(nil)
	params := l.params(protocol.TaskChanged{Task: l.Info})
	params.Unsaved = !saved || l.storage.InMemory()
	l.send(&params)
}

// Commit gives a change of a message its number, records it in the journal, saves and announces it. It reports whether a
// front end received the event. In a batch, saving and announcing follow later, and it returns true. The lock must be held.
func (l *Log) Commit(m *Message, event protocol.Event) (received bool) {
	l.RecordChange(m, event)
	return l.CommitUnrecorded(m, event)
}

// CommitUnrecorded is Commit without the records of the journal. The lock must be held.
func (l *Log) CommitUnrecorded(m *Message, event protocol.Event) (received bool) {
	l.Info.LastNumber++
	m.Number = l.Info.LastNumber
	if l.batch.collecting {
		l.memory[m.ID] = m
		markDirty(&l.dirty.messages, m.ID, m)
		l.batch.events = append(l.batch.events, pendingEvent{l.params(event), m.ID})
		l.notifyQuiet()
		return true
	}
	l.Save(m)
	params := l.params(event)
	params.Unsaved = l.IsUnsaved(m.ID)
	return l.send(&params)
}

// Announce announces an event about a change that is saved already. The lock must be held.
func (l *Log) Announce(event protocol.Event) {
	params := l.params(event)
	l.send(&params)
}

// params returns an event as of now. The lock must be held.
func (l *Log) params(event protocol.Event) protocol.TaskEventParams {
	return protocol.TaskEventParams{TaskID: l.Info.ID, Number: l.Info.LastNumber, OpenAsks: l.Info.OpenAsks, Event: event}
}

// send reports whether a front end received an event. The lock must be held.
func (l *Log) send(params *protocol.TaskEventParams) bool {
	err := l.storage.opts.Events.TaskEvent(context.Background(), params)
	l.storage.LogSend(err)
	return err == nil
}

// Keep keeps a stored message in memory. It becomes live. The lock must be held.
func (l *Log) Keep(m *Message) {
	m.Live = true
	l.memory[m.ID] = m
}

// Message returns a message that is in memory, or nil. The lock must be held.
func (l *Log) Message(id int64) *Message { return l.memory[id] }

// Messages returns the messages in memory, in no order: those that are live, and those that the store refused. The lock must
// be held.
func (l *Log) Messages() iter.Seq[*Message] { return maps.Values(l.memory) }

// IsUnsaved reports whether the current state of a message is in memory only. The lock must be held.
func (l *Log) IsUnsaved(messageID int64) bool {
	if _, unsaved := l.dirty.messages[messageID]; unsaved {
		return true
	}
	m := l.memory[messageID]
	return m != nil && m.unacceptable || l.storage.InMemory()
}

// HasUnacceptable reports whether there is a message that the store will never take. The lock must be held.
func (l *Log) HasUnacceptable() bool {
	for _, m := range l.memory {
		if m.unacceptable {
			return true
		}
	}
	return false
}

// Deleted reports whether the task is deleted. The lock need not be held.
func (l *Log) Deleted() bool { return l.deleted.Load() }

// SetDeleted records when the task was deleted; 0 restores it. The lock must be held.
func (l *Log) SetDeleted(at int64) {
	l.Info.DeletedAt = at
	l.deleted.Store(at > 0)
	l.Changed()
}

// Remove records that the task is removed permanently: no part of it is saved again. The lock must be
// held.
func (l *Log) Remove() { l.removed = true }

// Removed reports whether [Log.Remove] was called. The lock must be held.
func (l *Log) Removed() bool { return l.removed }

// CheckOpen fails in a closed or deleted task. Otherwise messages may be added. The lock must be held.
func (l *Log) CheckOpen() error {
	if err := l.CheckNotDeleted(); err != nil {
		return err
	}
	if l.Info.Closed {
		return protocol.Errorf(protocol.CodeTaskClosed, "the task %q is closed: start a new one", l.Info.Title)
	}
	if l.counted {
		return nil
	}
	return l.Count(context.Background())
}

// CheckNotDeleted fails in a deleted task. The lock must be held.
func (l *Log) CheckNotDeleted() error {
	if l.Info.DeletedAt > 0 {
		return DeletedError(l.Info.Title)
	}
	return nil
}

// DeletedError returns the error of a request that names a deleted task.
func DeletedError(title string) error {
	return protocol.Errorf(protocol.CodeUnknownTask, "the task %q was deleted: restore it first", title)
}

// Count reads the greatest id of a message. The lock must be held.
func (l *Log) Count(ctx context.Context) error {
	last, err := l.storage.store.LastMessage(ctx, l.Info.ID)
	if err != nil {
		return err
	}
	l.lastMessage, l.counted = last, true
	return nil
}
