// Package task is the registry of tasks. It composes their logs ([tasklog]), their asks ([ask]) and their recovery
// after a restart ([recovery]), and adds calls, turns and completions.
//
// A [Registry] owns every [Task]; both may be used from any goroutine. The lock of a task's log orders its changes: a
// change is saved, then announced. [Task.Ask] blocks until its ask is settled, exactly once, by [Task.Answer] or by the
// end of Ask's context.
//
// The package knows nothing of MCP, models or front ends: it carries questions and answers.
package task

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/task/ask"
	"assent/sidecar/task/journal"
	"assent/sidecar/task/recovery"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasklog"
)

// Events receives the changes of tasks: the part of [protocol.FrontEnd] that tasks need. Its methods are called in
// order, one at a time for each task.
type Events interface {
	tasklog.Events
	McpSamplingProgress(context.Context, *protocol.McpSamplingProgressParams) error
	ChatProgress(context.Context, *protocol.ChatProgressParams) error
	CallProgress(context.Context, *protocol.CallProgressParams) error
}

// Options configure a registry.
type Options struct {
	// OpenStore opens the store. It is called at the first use, because the start must not wait for a disk. It is
	// called again if it failed, and if the store's file was deleted.
	OpenStore func() (*store.Store, error)
	Events    Events
	// Check returns the check of a question that was asked before a restart; see [ask.Question].
	Check func(protocol.UseMcpServer) ask.Check
	// Journal makes the records of changes; nil means a journal that knows no secrets.
	Journal *journal.Journal
	// MaxRead bounds one reading of a task, in bytes of files and of results, because a front end gets it in one
	// message. 0 means 16 MB.
	MaxRead int
	Log     zerolog.Logger
	// Now and NewID are replaced by tests that compare whole conversations.
	Now   func() time.Time
	NewID func() string
}

// Registry holds every task.
type Registry struct {
	opts    Options
	asks    ask.Options
	storage *tasklog.Storage
	load    func() error

	mu    sync.Mutex // guards tasks
	tasks map[string]*Task
}

// NewRegistry returns a registry that opens the store at its first use. The caller closes it.
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
	if opts.MaxRead == 0 {
		opts.MaxRead = 16 << 20
	}
	r := &Registry{
		opts: opts,
		asks: ask.Options{Check: opts.Check, NewID: opts.NewID, Log: opts.Log},
		storage: tasklog.NewStorage(tasklog.Options{
			OpenStore: opts.OpenStore, Events: opts.Events, Journal: opts.Journal, MaxRead: opts.MaxRead,
			Log: opts.Log, Now: opts.Now,
		}),
		tasks: map[string]*Task{},
	}
	r.load = sync.OnceValue(r.open)
	return r
}

// open reads the store and recovers what an earlier sidecar left open.
func (r *Registry) open() error {
	return r.storage.Open(func(s *store.Store) error {
		err := r.readTasks(context.Background(), s)
		if err != nil {
			r.mu.Lock()
			clear(r.tasks)
			r.mu.Unlock()
		}
		return err
	})
}

// readTasks reads the tasks in the store, and recovers them.
func (r *Registry) readTasks(ctx context.Context, s *store.Store) error {
	if err := s.Purge(ctx, math.MaxInt64); err != nil && !store.Damaged(err) {
		r.storage.Report(err) // they stay in the store until the next start
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
		r.tasks[info.ID] = r.newTask(tasklog.NewLog(r.storage, info))
		if info.Running {
			live = append(live, info.ID)
		}
	}
	r.mu.Unlock()
	slices.Sort(live)
	for _, id := range slices.Compact(live) {
		t := r.get(id)
		if t == nil {
			continue // the store has messages of a task, but not the task
		}
		if err := t.recover(ctx); err != nil {
			return err
		}
	}
	return nil
}

// recover recovers a task that was not quiet when an earlier sidecar ended.
func (t *Task) recover(ctx context.Context) error {
	t.log.Lock()
	defer t.log.Unlock()
	rounds, err := recovery.Run(ctx, t.log, t.asks)
	if err != nil {
		return err
	}
	for m := range t.log.Messages() {
		switch body := m.Body.(type) {
		case protocol.Call:
			if round, ok := rounds[m.ID]; ok {
				callOf(m).round = &round
			}
		case protocol.Ask:
			if body.Outcome != nil {
				completionOf(m).begun = true // front ends may have seen it begin
			}
		}
	}
	return nil
}

// Close closes the store, if it was opened. All tasks must be quiet.
func (r *Registry) Close() error {
	for _, t := range r.all() {
		t.Settle()
	}
	return r.storage.Close()
}

// Store returns the store of the tasks, for other data of the workspace. The registry closes it.
func (r *Registry) Store() (*store.Store, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	return r.storage.Store(context.Background()), nil
}

// KeepStore maintains the store until ctx ends; see [tasklog.Storage.Maintain].
func (r *Registry) KeepStore(ctx context.Context) { r.storage.Maintain(ctx) }

// StorageFailure returns why tasks are not saved on disk, as a sentence for the person; empty while they are.
func (r *Registry) StorageFailure() string { return r.storage.Failure() }

// StorageNote says in a sentence for the person where a damaged store was moved to; empty if this store did not replace
// one.
func (r *Registry) StorageNote() string {
	if err := r.load(); err != nil {
		return ""
	}
	return r.storage.SetAsideNote(context.Background())
}

// Unsaved reports whether a change is only in memory, and would be lost with this process.
func (r *Registry) Unsaved() bool {
	all := r.all()
	return r.storage.HasDirty() || len(all) > 0 && r.storage.InMemory() || slices.ContainsFunc(all, func(t *Task) bool {
		t.log.Lock()
		defer t.log.Unlock()
		return t.log.HasUnacceptable()
	})
}

// Create starts a task.
func (r *Registry) Create(title string) (protocol.Task, error) {
	if err := r.load(); err != nil {
		return protocol.Task{}, err
	}
	return r.create(r.opts.NewID(), title), nil
}

// GoOn returns the task with an id, or starts it. If the person has closed or deleted it, the new one has another id.
func (r *Registry) GoOn(id string, title func() string) (protocol.Task, error) {
	t, err := r.find(id)
	switch {
	case isUnknown(err):
	case err != nil:
		return protocol.Task{}, err
	case t.IsClosed() || t.log.Deleted():
		id = r.opts.NewID()
	default:
		return t.Info(), nil
	}
	return r.create(id, title()), nil
}

// create starts a task with an id that no other has.
func (r *Registry) create(id, title string) protocol.Task {
	t := r.newTask(tasklog.NewEmptyLog(r.storage, protocol.Task{ID: id, Title: title, CreatedAt: r.now()}))
	t.log.Lock()
	defer t.log.Unlock()
	r.mu.Lock()
	r.tasks[t.log.Info.ID] = t
	r.mu.Unlock()
	t.log.Changed()
	return t.log.Info
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

// Get returns a task. The error is a [protocol.CodeUnknownTask] if there is none, or if it was
// deleted.
func (r *Registry) Get(id string) (*Task, error) {
	t, err := r.find(id)
	if err != nil {
		return nil, err
	}
	if t.log.Deleted() {
		return nil, tasklog.DeletedError(t.Info().Title)
	}
	return t, nil
}

// find is Get, but it also finds deleted tasks.
func (r *Registry) find(id string) (*Task, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	if t := r.get(id); t != nil {
		return t, nil
	}
	return nil, protocol.Errorf(protocol.CodeUnknownTask, "there is no task %q", id)
}

// get returns a task from memory, or nil.
func (r *Registry) get(id string) *Task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tasks[id]
}

func (r *Registry) now() int64 { return r.storage.Now() }

// OpenAsks returns the asks of all tasks that wait for a person, and whether there are more; see [ask.List].
func (r *Registry) OpenAsks() (asks []protocol.OpenAsk, truncated bool, err error) {
	if err := r.load(); err != nil {
		return nil, false, err
	}
	asks, truncated = ask.List(r.allAsks())
	return asks, truncated, nil
}

// DeclineAll declines every open elicitation of a server, in any task; see [ask.Asks.DeclineAll].
func (r *Registry) DeclineAll(serverName, by string) {
	for asks := range r.allAsks() {
		asks.DeclineAll(serverName, by)
	}
}

// allAsks returns the asks of each task.
func (r *Registry) allAsks() iter.Seq[*ask.Asks] {
	return func(yield func(*ask.Asks) bool) {
		for _, t := range r.all() {
			if !yield(t.asks) {
				return
			}
		}
	}
}
