// Package tasktest provides the dependencies of a [task.Registry] in a test.
package tasktest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/store"
)

// Events records everything that a registry announces.
type Events struct {
	mu      sync.Mutex // guards the fields below
	all     []any
	changed chan struct{} // closed at the next announcement
}

var _ task.Events = (*Events)(nil)

// TaskEvent implements [task.Events].
func (e *Events) TaskEvent(_ context.Context, p *protocol.TaskEventParams) error { return e.add(*p) }

// McpSamplingProgress implements [task.Events].
func (e *Events) McpSamplingProgress(_ context.Context, p *protocol.McpSamplingProgressParams) error {
	return e.add(*p)
}

// ChatProgress implements [task.Events].
func (e *Events) ChatProgress(_ context.Context, p *protocol.ChatProgressParams) error {
	return e.add(*p)
}

// CallProgress implements [task.Events].
func (e *Events) CallProgress(_ context.Context, p *protocol.CallProgressParams) error {
	return e.add(*p)
}

// StorageFailed implements [task.Events].
func (e *Events) StorageFailed(_ context.Context, p *protocol.StorageFailedParams) error {
	return e.add(*p)
}

// StorageRecovered implements [task.Events].
func (e *Events) StorageRecovered(_ context.Context, p *protocol.StorageRecoveredParams) error {
	return e.add(*p)
}

func (e *Events) add(event any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, event)
	if e.changed != nil {
		close(e.changed)
		e.changed = nil
	}
	return nil
}

// All returns the announcements so far: values of the protocol's params.
func (e *Events) All() []any {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]any(nil), e.all...)
}

// Await returns the first announcement that match accepts, now or later.
func Await[T any](t *testing.T, e *Events, match func(T) bool) T {
	t.Helper()
	for seen := 0; ; {
		e.mu.Lock()
		all := e.all
		if e.changed == nil {
			e.changed = make(chan struct{})
		}
		changed := e.changed
		e.mu.Unlock()
		for _, event := range all[seen:] {
			if v, ok := event.(T); ok && match(v) {
				return v
			}
		}
		seen = len(all)
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatal("the event never came")
		}
	}
}

// AwaitAsk returns the next ask of a task that is not one of those seen before, and its message.
func AwaitAsk(t *testing.T, e *Events, seen ...string) (protocol.Ask, protocol.Message) {
	t.Helper()
	var ask protocol.Ask
	var message protocol.Message
	Await(t, e, func(p protocol.TaskEventParams) bool {
		added, ok := p.Event.(protocol.MessageAdded)
		if !ok {
			return false
		}
		a, ok := added.Message.Body.(protocol.Ask)
		for _, id := range seen {
			ok = ok && a.AskID != id
		}
		ask, message = a, added.Message
		return ok
	})
	return ask, message
}

// Registry returns a registry on a store in memory, and its announcements. Ids count from id-1, and
// the clock is the caller's. The options may be edited.
func Registry(t *testing.T, open func() (*store.Store, error), edit ...func(*task.Options)) (*task.Registry, *Events) {
	t.Helper()
	if open == nil {
		open = store.OpenMemory
	}
	events := &Events{}
	var mu sync.Mutex
	ids := 0
	opts := task.Options{
		OpenStore: open,
		Events:    events,
		Check: func(protocol.UseMcpServer) task.Check {
			return func(p *protocol.AskResponseParams) (*task.Answer, error) {
				return &task.Answer{Response: p.AskResponse, Content: p.ElicitationContent}, nil
			}
		},
		Log: zerolog.New(zerolog.NewTestWriter(t)),
		Now: time.Now,
		NewID: func() string {
			mu.Lock()
			defer mu.Unlock()
			ids++
			return fmt.Sprintf("id-%d", ids)
		},
	}
	for _, e := range edit {
		e(&opts)
	}
	return task.NewRegistry(opts), events
}
