// Package task is the registry of tasks: their messages, their numbered events and their asks.
//
// A [Registry] owns every [Task]; both may be used from any goroutine. What a task does is ordered:
// under one lock a change is written to the store, then told to the front ends, so that events
// leave in the order of their numbers and nothing is announced that is not kept. What the journal says of
// a change is kept with it. [Task.Ask] blocks
// until its ask is settled, which [Task.Answer] or the end of Ask's context does, exactly once.
//
// The package knows nothing of MCP, models or front ends: it carries questions and answers.
package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/journal"
	"assent/sidecar/store"
)

// Events is who is told what happens: the part of [protocol.Editor] that a task needs. Its methods
// are called in order, one at a time for each task.
type Events interface {
	TaskEvent(context.Context, *protocol.TaskEventParams) error
	McpSamplingProgress(context.Context, *protocol.McpSamplingProgressParams) error
	CallProgress(context.Context, *protocol.CallProgressParams) error
	StorageFailed(context.Context, *protocol.StorageFailedParams) error
}

// Options are what a registry needs.
type Options struct {
	// OpenStore is called once, at the first use: starting up must not wait for a disk.
	OpenStore func() (*store.Store, error)
	Events    Events
	// Check returns the check of a question that was asked before a restart of the sidecar; see
	// [Question].
	Check func(protocol.UseMcpServer) Check
	// Journal says what is recorded of changes; nil means one that knows of no secrets.
	Journal *journal.Journal
	Log     zerolog.Logger
	// Now and NewID are replaced by tests that compare whole conversations.
	Now   func() time.Time
	NewID func() string
}

// Registry holds every task.
type Registry struct {
	opts Options
	load func() error

	// storageFailed makes the announcement once.
	storageFailed sync.Once

	// store is set by load, and not changed after.
	store *store.Store

	opening sync.Mutex // held while the store is opened or closed; guards closed
	closed  bool

	mu    sync.Mutex // guards the fields below
	tasks map[string]*Task
}

// NewRegistry returns a registry that reads the store at its first use. Close it after.
func NewRegistry(opts Options) *Registry {
	if opts.Journal == nil {
		opts.Journal = journal.New(journal.Options{})
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.NewID == nil {
		opts.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	r := &Registry{opts: opts, tasks: map[string]*Task{}}
	r.load = sync.OnceValue(r.open)
	return r
}

// open reads the store and settles what an earlier sidecar left open. A store that cannot be opened
// is replaced by one in memory: the session goes on, and says so.
func (r *Registry) open() error {
	r.opening.Lock()
	defer r.opening.Unlock()
	if r.closed {
		return errClosed
	}
	ctx := context.Background()
	s, err := r.opts.OpenStore()
	if err != nil {
		r.reportStorage(err)
		if s, err = store.OpenMemory(); err != nil {
			return err
		}
	}
	r.store = s
	infos, err := s.Tasks(ctx)
	if err != nil {
		return err
	}
	for _, info := range infos {
		t := &Task{registry: r, info: info, memory: map[int64]*message{}, asks: map[string]*ask{}, keys: map[string]*ask{}}
		if t.lastMessage, err = s.LastMessage(ctx, info.ID); err != nil {
			return err
		}
		if err := t.recover(ctx); err != nil {
			return err
		}
		r.tasks[info.ID] = t
	}
	return nil
}

var errClosed = errors.New("the registry is closed")

// Close closes the store, if it was opened. Tasks must be quiet by then.
func (r *Registry) Close() error {
	r.opening.Lock()
	defer r.opening.Unlock()
	r.closed = true
	if r.store == nil {
		return nil
	}
	return r.store.Close()
}

// Store returns the store that the tasks are in, for what belongs beside them. The registry closes it.
func (r *Registry) Store() (*store.Store, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	return r.store, nil
}

// Create starts a task.
func (r *Registry) Create(title string) (protocol.Task, error) {
	if err := r.load(); err != nil {
		return protocol.Task{}, err
	}
	t := &Task{
		registry: r,
		info:     protocol.Task{ID: r.opts.NewID(), Title: title, CreatedAt: r.now()},
		memory:   map[int64]*message{},
		asks:     map[string]*ask{},
		keys:     map[string]*ask{},
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r.mu.Lock()
	r.tasks[t.info.ID] = t
	r.mu.Unlock()
	t.changed()
	return t.info, nil
}

// List returns every task, the most recently created first.
func (r *Registry) List() ([]protocol.Task, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	tasks := r.all()
	infos := make([]protocol.Task, len(tasks))
	for i, t := range tasks {
		infos[i] = t.Info()
	}
	slices.SortFunc(infos, func(a, b protocol.Task) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return infos, nil
}

// all returns the tasks in no order.
func (r *Registry) all() []*Task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.tasks))
}

// Get returns a task, or a [protocol.CodeUnknownTask] error.
func (r *Registry) Get(id string) (*Task, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tasks[id]
	if t == nil {
		return nil, protocol.Errorf(protocol.CodeUnknownTask, "there is no task %q", id)
	}
	return t, nil
}

func (r *Registry) now() int64 { return r.opts.Now().UnixMilli() }

// reportStorage logs every failure and tells the front ends of the first.
func (r *Registry) reportStorage(err error) {
	r.opts.Log.Error().Err(err).Msg("storage failed")
	r.storageFailed.Do(func() {
		err := r.opts.Events.StorageFailed(context.Background(), &protocol.StorageFailedParams{
			Message: fmt.Sprintf("Tasks can not be kept on disk, this session goes on in memory: %v", err),
		})
		r.logSend(err)
	})
}

// logSend notes an event that no front end got. It is no failure of the task: whoever comes back
// opens the task after the last number that it saw.
func (r *Registry) logSend(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		r.opts.Log.Debug().Err(err).Msg("no front end took an event")
	}
}
