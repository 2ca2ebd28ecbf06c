package task

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"assent/protocol"
	"assent/sidecar/journal"
	"assent/sidecar/store"
)

// Task is one conversation.
type Task struct {
	registry *Registry

	waitingMu sync.Mutex // guards waiting; taken after mu
	waiting   []*joined

	asks asks
	// deleted is info.DeletedAt > 0, for goroutines that do not hold the lock.
	deleted atomic.Bool

	mu   sync.Mutex // guards the fields below, and the order of events
	info protocol.Task
	// removed is set once the task was removed for good: nothing of it is saved anew.
	removed bool
	// lastMessage is the greatest id of a message. It is known once counted is set; see checkOpen.
	lastMessage int64
	counted     bool
	// memory holds the messages that may still change, and those that the store refused.
	memory map[int64]*message
	// owed holds the changes that are not on disk yet.
	owed owed
	// unjournaled holds the journal records of changes that are not on disk yet.
	unjournaled []store.Record
	// quiet is closed when nothing goes on in the task any more; nil if no goroutine waits for that.
	quiet chan struct{}
	// opened is set once a front end read the task, and so has seen all that was announced since.
	opened bool
	// keys holds those that have a key, until they are released: open, or answered.
	keys     map[string]*ask
	together together
}

// message is a message in memory.
type message struct {
	protocol.Message
	number int64
	live   bool
	askID  string
	stream *stream // of a completion under way
	// sequence is the number of the next piece if stream is nil.
	sequence int64
	// begun is set once a model began to answer.
	begun bool
	// stop ends the model that is answering; nil if none is.
	stop context.CancelCauseFunc
	// round is the state of a call that its server has answered with questions; nil for other messages.
	round *store.Round
	// mcpStatus is the status of the MCP task that the journal has.
	mcpStatus protocol.McpTaskStatus
	// unacceptable is set if the store will never take the message as it is.
	unacceptable bool
	// progressDue is set while the next progress of a call waits to be announced.
	progressDue *time.Timer
}

// Info returns the task's own data.
func (t *Task) Info() protocol.Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.info
}

// Rename gives the task another title.
func (t *Task) Rename(title string) (protocol.Task, error) {
	title = strings.TrimSpace(title)
	if title == "" {
		return protocol.Task{}, protocol.Errorf(protocol.CodeInvalidParams, "a task's title cannot be empty")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.checkThere(); err != nil {
		return protocol.Task{}, err
	}
	t.info.Title = title
	t.changed()
	return t.info, nil
}

// Close ends the task: its open asks are dismissed and nothing new is taken. Closing it again
// changes nothing.
func (t *Task) Close(by string) (protocol.Task, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.checkThere(); err != nil {
		return protocol.Task{}, err
	}
	if t.info.Closed {
		return t.info, nil
	}
	for _, a := range t.asks.inOrder() {
		t.settle(a, nil, protocol.Outcome{
			Reason: protocol.OutcomeDismissed, By: by, At: t.registry.now(), Detail: "The task was closed.",
		})
	}
	t.info.Closed = true
	t.changed()
	return t.info, nil
}

// Open reads a part of the task; see [protocol.Sidecar.OpenTask].
func (t *Task) Open(ctx context.Context, after, before int64, limit int) (*protocol.OpenTaskResult, error) {
	if after < 0 || before < 0 || limit < 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "after, before and limit cannot be negative")
	}
	limit = cmp.Or(limit, 200)
	t.mu.Lock()
	defer t.mu.Unlock()
	messages, more, err := t.read(ctx, store.Range{After: after, Before: before, Limit: limit})
	if err != nil {
		return nil, err
	}
	t.opened = true
	reset := before == 0 && (after == 0 || more || after > t.info.LastNumber)
	if reset && after > 0 {
		if messages, more, err = t.read(ctx, store.Range{Limit: limit}); err != nil {
			return nil, err
		}
	}
	t.gotResults(messages)
	t.addDrafts(ctx, messages)
	return &protocol.OpenTaskResult{
		Task: t.info, Messages: messages, Reset: reset, Earlier: more && (reset || before > 0),
	}, nil
}

// contextMessages bounds how far back LastCalls looks.
const contextMessages = 200

// LastCalls returns the calls among the newest messages that have ended, the oldest first.
func (t *Task) LastCalls(ctx context.Context) ([]protocol.Call, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	messages, _, err := t.read(ctx, store.Range{Limit: contextMessages})
	if err != nil {
		return nil, err
	}
	var calls []protocol.Call
	for _, m := range messages {
		if call, ok := m.Body.(protocol.Call); ok && call.Result != nil {
			calls = append(calls, call)
		}
	}
	return calls, nil
}

// read merges the store with the memory, which is newer. It reports whether the limit left
// something out. The lock must be held.
func (t *Task) read(ctx context.Context, r store.Range) ([]protocol.Message, bool, error) {
	limit := r.Limit
	r.Limit++ // one more tells whether there is more, and so it does of bytes
	r.Bytes = t.registry.opts.MaxRead
	entries, err := t.registry.store.Messages(ctx, t.info.ID, r)
	all := make(map[int64]found, len(entries))
	if store.Damaged(err) {
		t.registry.reportStorage(err)
		last := t.lastMessage
		if r.Before > 0 {
			last = min(last, r.Before-1)
		}
		if len(entries) > 0 {
			last = entries[0].Message.ID - 1
		}
		if last > 0 {
			all[last] = found{message: unreadable(last)}
		}
	} else if err != nil {
		return nil, false, err
	}
	for _, e := range entries {
		all[e.Message.ID] = found{e.Message, e.Size}
	}
	for id, m := range t.memory {
		if (m.number > r.After || m.stream != nil) && (r.Before == 0 || id < r.Before) {
			all[id] = found{m.snapshot(), weight(m.Body)}
		}
	}
	ids := slices.Sorted(maps.Keys(all))
	more := len(ids) > limit
	if more {
		ids = ids[len(ids)-limit:]
	}
	if fit := newestWithin(r.Bytes, ids, all); fit < len(ids) {
		ids, more = ids[len(ids)-fit:], true
	}
	messages := make([]protocol.Message, len(ids))
	for i, id := range ids {
		messages[i] = shown(all[id].message)
		messages[i].Unsaved = t.isUnsaved(id)
	}
	return messages, more, nil
}

// found is a message that was read, and about how many bytes it has.
type found struct {
	message protocol.Message
	bytes   int
}

// newestWithin returns how many messages can be read at once, of those with these ids, the newest last: one at
// least. They have no more than left bytes.
func newestWithin(left int, ids []int64, messages map[int64]found) (count int) {
	for _, id := range slices.Backward(ids) {
		if left -= messages[id].bytes; left < 0 && count > 0 {
			break
		}
		count++
	}
	return count
}

// weight is about how many bytes a message in memory has, of those that may be very many.
func weight(body protocol.Body) (bytes int) {
	switch b := body.(type) {
	case protocol.Attachment:
		return journal.SizeOf([]protocol.ContentBlock{b.Content})
	case protocol.Call:
		if result, ok := b.Result.(protocol.ToolResult); ok {
			return len(result.StructuredContent) + journal.SizeOf(result.Content)
		}
	}
	return 0
}

// add makes a message. The lock must be held, and the task be open.
func (t *Task) add(body protocol.Body, live bool, askID string) *message {
	t.lastMessage++
	m := &message{
		Message: protocol.Message{ID: t.lastMessage, Time: t.registry.now(), Body: body},
		live:    live,
		askID:   askID,
	}
	t.memory[m.ID] = m
	t.commit(m, protocol.MessageAdded{Message: shown(m.Message)})
	return m
}

// changed announces the task itself. The lock must be held.
func (t *Task) changed() {
	t.info.LastNumber++
	saved := t.save(nil)
	said := t.said(protocol.TaskChanged{Task: t.info})
	said.Unsaved = !saved || t.registry.isHomeless()
	t.tell(&said)
}

// commit gives a change of m its number, keeps it, and announces it; it reports whether a front end took
// that. Of changes that are made together it does the last two when all are made, and assumes so. The lock
// must be held.
func (t *Task) commit(m *message, event protocol.Event) bool {
	t.info.LastNumber++
	m.number = t.info.LastNumber
	t.journal(m, event)
	if t.together.making {
		owe(&t.owed.messages, m.ID, m)
		t.together.events = append(t.together.events, eventOf{t.said(event), m.ID})
		return true
	}
	if t.save(m) && !m.live {
		delete(t.memory, m.ID)
	}
	said := t.said(event)
	said.Unsaved = t.isUnsaved(m.ID)
	return t.tell(&said)
}

// isUnsaved reports whether the current state of a message is in memory only. The lock must be held.
func (t *Task) isUnsaved(messageID int64) bool {
	if _, owed := t.owed.messages[messageID]; owed {
		return true
	}
	m := t.memory[messageID]
	return m != nil && m.unacceptable || t.registry.isHomeless()
}

// journal adds the records of a change, which are saved together with it. The lock must be held.
func (t *Task) journal(m *message, event protocol.Event) {
	if e, ok := event.(protocol.CallTaskChanged); ok {
		if m.mcpStatus == e.Task.Status {
			return // servers say at every turn that nothing has changed
		}
		m.mcpStatus = e.Task.Status
	}
	t.unjournaled = append(t.unjournaled, t.registry.opts.Journal.Change(t.info.ID, t.registry.now(), m.Message, event)...)
}

// Denied adds a record of requests that were refused and shown to no person; see [journal.Journal.Denied]. It tells the
// front ends nothing.
func (t *Task) Denied(origin protocol.Origin, method string, outcome protocol.Outcome, count int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	outcome.At = t.registry.now()
	t.unjournaled = append(t.unjournaled, t.registry.opts.Journal.Denied(t.info.ID, origin, method, outcome, count))
	t.save(nil)
}

// Tell adds a notice of Assent itself, unless the task takes no messages.
func (t *Task) Tell(notice protocol.Notice) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.checkOpen() == nil {
		t.add(notice, false, "")
	}
}

func (t *Task) announce(event protocol.Event) bool {
	said := t.said(event)
	return t.tell(&said)
}

// said is an event as of now. The lock must be held.
func (t *Task) said(event protocol.Event) protocol.TaskEventParams {
	return protocol.TaskEventParams{TaskID: t.info.ID, Number: t.info.LastNumber, OpenAsks: t.info.OpenAsks, Event: event}
}

// tell reports whether a front end took an event. The lock must be held.
func (t *Task) tell(said *protocol.TaskEventParams) bool {
	err := t.registry.opts.Events.TaskEvent(context.Background(), said)
	t.registry.logSend(err)
	return err == nil
}

// checkOpen fails in a closed or deleted task. Messages may be added then. The lock must be held.
func (t *Task) checkOpen() error {
	if err := t.checkThere(); err != nil {
		return err
	}
	if t.info.Closed {
		return protocol.Errorf(protocol.CodeTaskClosed, "the task %q is closed: start a new one", t.info.Title)
	}
	if t.counted {
		return nil
	}
	last, err := t.registry.store.LastMessage(context.Background(), t.info.ID)
	if err != nil {
		return err
	}
	t.lastMessage, t.counted = last, true
	return nil
}
