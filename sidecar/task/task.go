package task

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"assent/protocol"
	"assent/sidecar/task/ask"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasklog"
)

// Task is one conversation. Its methods include those of [ask.Asks].
type Task struct {
	id       string
	registry *Registry
	log      *tasklog.Log
	*asks
	// opened is set once a front end has read the task, and so gets all later events. The log's lock guards it.
	opened bool
}

// asks gives a Task the methods of [ask.Asks] without an exported field.
type asks = ask.Asks

// newTask returns a task with this log.
func (r *Registry) newTask(log *tasklog.Log) *Task {
	return &Task{id: log.Info.ID, registry: r, log: log, asks: ask.New(log, &r.asks)}
}

// ID returns the task's id.
func (t *Task) ID() string { return t.id }

// IsClosed reports whether the task is closed.
func (t *Task) IsClosed() bool { return t.log.IsClosed() }

// Settle saves and announces the changes of which a comment says that they are saved later.
func (t *Task) Settle() { t.log.Settle() }

// Info returns the task's own data.
func (t *Task) Info() protocol.Task {
	t.log.Lock()
	defer t.log.Unlock()
	return t.log.Info
}

// Rename changes the task's title.
func (t *Task) Rename(title string) (protocol.Task, error) {
	title = strings.TrimSpace(title)
	if title == "" {
		return protocol.Task{}, protocol.Errorf(protocol.CodeInvalidParams, "a task's title cannot be empty")
	}
	t.log.Lock()
	defer t.log.Unlock()
	if err := t.log.CheckNotDeleted(); err != nil {
		return protocol.Task{}, err
	}
	t.log.Info.Title = title
	t.log.Changed()
	return t.log.Info, nil
}

// Close closes the task: its open asks are dismissed, and it accepts no more changes. It is a no-op if the task
// is closed.
func (t *Task) Close(by string) (protocol.Task, error) {
	t.log.Lock()
	defer t.log.Unlock()
	if err := t.log.CheckNotDeleted(); err != nil {
		return protocol.Task{}, err
	}
	if t.log.Info.Closed {
		return t.log.Info, nil
	}
	ask.DismissAll(t.asks, by, "The task was closed.")
	t.log.Info.Closed = true
	t.log.Changed()
	return t.log.Info, nil
}

// Open reads a part of the task; see [protocol.Sidecar.OpenTask].
func (t *Task) Open(ctx context.Context, after, before int64, limit int) (*protocol.OpenTaskResult, error) {
	if after < 0 || before < 0 || limit < 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "after, before and limit cannot be negative")
	}
	limit = cmp.Or(limit, 200)
	t.log.Lock()
	defer t.log.Unlock()
	messages, more, err := t.log.Read(ctx, store.Range{After: after, Before: before, Limit: limit})
	if err != nil {
		return nil, err
	}
	t.opened = true
	reset := before == 0 && (after == 0 || more || after > t.log.Info.LastNumber)
	if reset && after > 0 {
		if messages, more, err = t.log.Read(ctx, store.Range{Limit: limit}); err != nil {
			return nil, err
		}
	}
	t.gotResults(messages)
	ask.AddDrafts(ctx, t.asks, messages)
	return &protocol.OpenTaskResult{
		Task: t.log.Info, Messages: messages, Reset: reset, Earlier: more && (reset || before > 0),
	}, nil
}

// contextMessages bounds how far back LastCalls looks.
const contextMessages = 200

// LastCalls returns the calls among the newest messages that have ended, the oldest first.
func (t *Task) LastCalls(ctx context.Context) ([]protocol.Call, error) {
	t.log.Lock()
	defer t.log.Unlock()
	messages, _, err := t.log.Read(ctx, store.Range{Limit: contextMessages})
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

// Message returns a message as it stands now, or a [protocol.CodeInvalidParams] error if there is none.
func (t *Task) Message(ctx context.Context, id int64) (protocol.Message, error) {
	m, err := t.message(ctx, id)
	if err == nil && m.ID == 0 {
		err = protocol.Errorf(protocol.CodeInvalidParams, "the task has no message %d", id)
	}
	return m, err
}

// message is Message, but it returns a zero message if there is none.
func (t *Task) message(ctx context.Context, id int64) (protocol.Message, error) {
	t.log.Lock()
	defer t.log.Unlock()
	m, err := t.log.Find(ctx, id)
	if err != nil || m == nil {
		return protocol.Message{}, err
	}
	return m.Message, nil
}

// Denied journals count requests that policy rejected without asking the person; outcome is that of the last. It tells the
// front ends nothing. See [journal.Journal.Denied].
func (t *Task) Denied(origin protocol.Origin, method string, outcome protocol.Outcome, count int64) {
	t.log.Lock()
	defer t.log.Unlock()
	outcome.At = t.registry.now()
	t.log.Record(t.registry.opts.Journal.Denied(t.log.Info.ID, origin, method, outcome, count))
	t.log.Save(nil)
}

// Invalid journals that a server asked a question that cannot be shown, and tells the person why.
func (t *Task) Invalid(origin protocol.Origin, method, why string) {
	t.log.Lock()
	defer t.log.Unlock()
	t.log.Record(t.registry.opts.Journal.Invalid(t.registry.now(), t.log.Info.ID, origin, method, why))
	if t.log.CheckOpen() == nil {
		t.log.Add(protocol.Notice{
			Level: protocol.NoticeWarning,
			Text:  fmt.Sprintf("The MCP server %q asked a question that cannot be shown: %s.", origin.ServerName, strings.TrimSuffix(why, ".")),
		}, false, "")
	}
	t.log.Save(nil)
}

// Tell adds a notice from Assent. It is a no-op if the task is closed or deleted.
func (t *Task) Tell(notice protocol.Notice) {
	t.log.Lock()
	defer t.log.Unlock()
	if t.log.CheckOpen() == nil {
		t.log.Add(notice, false, "")
	}
}

// AwaitQuiet returns when the task is quiet: it has no running call, no turn and no open question.
func (t *Task) AwaitQuiet(ctx context.Context) error { return t.log.AwaitQuiet(ctx) }
