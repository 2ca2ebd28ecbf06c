// Package task is the registry of tasks: their messages, their numbered events and their asks.
//
// A [Registry] owns every [Task]; both may be used from any goroutine. What a task does is ordered:
// under one lock a change is written to the store, then told to the front ends, so that events
// leave in the order of their numbers and nothing is announced that is not kept. Questions and answers that
// wait for the lock at the same time are written together. What the journal says of
// a change is kept with it. [Task.Ask] blocks
// until its ask is settled, which [Task.Answer] or the end of Ask's context does, exactly once.
//
// The package knows nothing of MCP, models or front ends: it carries questions and answers.
package task

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/journal"
	"assent/sidecar/stack"
	"assent/sidecar/store"
)

// Events is who is told what happens: the part of [protocol.Editor] that a task needs. Its methods
// are called in order, one at a time for each task.
type Events interface {
	TaskEvent(context.Context, *protocol.TaskEventParams) error
	McpSamplingProgress(context.Context, *protocol.McpSamplingProgressParams) error
	ChatProgress(context.Context, *protocol.ChatProgressParams) error
	CallProgress(context.Context, *protocol.CallProgressParams) error
	StorageFailed(context.Context, *protocol.StorageFailedParams) error
	StorageRecovered(context.Context, *protocol.StorageRecoveredParams) error
}

// Options are what a registry needs.
type Options struct {
	// OpenStore is called at the first use: starting up must not wait for a disk. It is called again where it
	// failed, and where the store's file has gone.
	OpenStore func() (*store.Store, error)
	Events    Events
	// Check returns the check of a question that was asked before a restart of the sidecar; see
	// [Question].
	Check func(protocol.UseMcpServer) Check
	// Journal says what is recorded of changes; nil means one that knows of no secrets.
	Journal *journal.Journal
	// MaxRead bounds what is read of a task at once, in bytes of files and of results: a front end gets it in one
	// piece. 0 means 16 MB.
	MaxRead int
	// Stacks are where changes are made that are saved together, so that who then waits for an answer has a small one;
	// nil means some of the registry's own.
	Stacks *stack.Pool
	Log    zerolog.Logger
	// Now and NewID are replaced by tests that compare whole conversations.
	Now   func() time.Time
	NewID func() string
}

// Registry holds every task.
type Registry struct {
	opts        Options
	load        func() error
	closeStacks func()

	outage outage
	// failing has an element when the store begins to fail.
	failing chan struct{}
	// scrubbing has an element when a secret was overwritten in the store.
	scrubbing chan struct{}

	// store is set by load, and not changed after. It may move.
	store *store.Store

	opening sync.Mutex // held while the store is opened or closed; guards closed
	closed  bool

	mu    sync.Mutex // guards tasks
	tasks map[string]*Task
}

// NewRegistry returns a registry that reads the store at its first use. Close it after.
func NewRegistry(opts Options) *Registry {
	if opts.Journal == nil {
		opts.Journal = journal.New(journal.Options{})
	}
	closeStacks := func() {}
	if opts.Stacks == nil {
		opts.Stacks = &stack.Pool{}
		closeStacks = opts.Stacks.Close
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.NewID == nil {
		opts.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if opts.MaxRead == 0 {
		opts.MaxRead = 16 << 20
	}
	r := &Registry{
		opts: opts, tasks: map[string]*Task{}, failing: make(chan struct{}, 1), scrubbing: make(chan struct{}, 1),
		closeStacks: closeStacks,
	}
	r.load = sync.OnceValue(r.open)
	return r
}

// open reads the store and settles what an earlier sidecar left open. A store that cannot be opened is replaced by one in
// memory: the session goes on, and says so.
func (r *Registry) open() error {
	r.opening.Lock()
	defer r.opening.Unlock()
	if r.closed {
		return errClosed
	}
	s, err := r.opts.OpenStore()
	if err != nil {
		return r.useMemory(err)
	}
	r.store = s
	if err := r.readTasks(context.Background(), s); err != nil {
		r.mu.Lock()
		clear(r.tasks)
		r.mu.Unlock()
		r.suspect(err)
		if err := r.useMemory(err); err != nil {
			return err
		}
		return s.Close()
	}
	if note := setAsideNote(s); note != "" {
		r.recovered(note)
	}
	return nil
}

// readTasks takes up the tasks that are in the store, and what an earlier sidecar left in them.
func (r *Registry) readTasks(ctx context.Context, s *store.Store) error {
	if err := s.Purge(ctx, math.MaxInt64); err != nil && !store.Damaged(err) {
		r.reportStorage(err) // they stay for the next time
	}
	all, err := s.Tasks(ctx)
	if err != nil {
		return err
	}
	live, err := s.LiveTasks(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	for _, info := range all {
		r.tasks[info.ID] = r.newTask(info)
		if info.Running {
			live = append(live, info.ID)
		}
	}
	r.mu.Unlock()
	slices.Sort(live)
	for _, id := range slices.Compact(live) {
		t := r.get(id)
		if t == nil {
			continue // the store has messages of a task without the task
		}
		t.mu.Lock()
		err := t.recover(ctx)
		t.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// newTask makes a task of what the store says of it.
func (r *Registry) newTask(info protocol.Task) *Task {
	t := &Task{registry: r, info: info, memory: map[int64]*message{}, keys: map[string]*ask{}}
	t.deleted.Store(info.DeletedAt > 0)
	return t
}

var errClosed = errors.New("the registry is closed")

// Close closes the store, if it was opened. Tasks must be quiet by then.
func (r *Registry) Close() error {
	r.opening.Lock()
	defer r.opening.Unlock()
	defer r.closeStacks()
	r.closed = true
	if r.store == nil {
		return nil
	}
	r.repair(context.Background()) // the last chance to save what the disk refused
	r.outage.giveUp()
	return r.store.Close()
}

// Store returns the store that the tasks are in, for what belongs beside them. The registry closes it.
func (r *Registry) Store() (*store.Store, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	if !r.isFailing() {
		r.goHome(context.Background())
	}
	return r.store, nil
}

// Create starts a task.
func (r *Registry) Create(title string) (protocol.Task, error) {
	if err := r.load(); err != nil {
		return protocol.Task{}, err
	}
	t := r.newTask(protocol.Task{ID: r.opts.NewID(), Title: title, CreatedAt: r.now()})
	t.counted = true
	t.mu.Lock()
	defer t.mu.Unlock()
	r.mu.Lock()
	r.tasks[t.info.ID] = t
	r.mu.Unlock()
	t.changed()
	return t.info, nil
}

// List returns every task that is not deleted, the most recently created first.
func (r *Registry) List() ([]protocol.Task, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	infos := []protocol.Task{}
	for _, t := range r.all() {
		if info := t.Info(); info.DeletedAt == 0 {
			infos = append(infos, info)
		}
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

// Get returns a task, or a [protocol.CodeUnknownTask] error: there is none, or it was deleted.
func (r *Registry) Get(id string) (*Task, error) {
	t, err := r.find(id)
	if err != nil {
		return nil, err
	}
	if t.deleted.Load() {
		return nil, deletedError(t.Info().Title)
	}
	return t, nil
}

// find is as Get, and finds deleted tasks, too.
func (r *Registry) find(id string) (*Task, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	if t := r.get(id); t != nil {
		return t, nil
	}
	return nil, protocol.Errorf(protocol.CodeUnknownTask, "there is no task %q", id)
}

// get returns a task that is known, or nil.
func (r *Registry) get(id string) *Task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tasks[id]
}

func (r *Registry) now() int64 { return r.opts.Now().UnixMilli() }

// logSend notes an event that no front end got. It is no failure of the task: whoever comes back
// opens the task after the last number that it saw.
func (r *Registry) logSend(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		r.opts.Log.Debug().Err(err).Msg("no front end took an event")
	}
}
