package tasklog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/task/journal"
	"assent/sidecar/task/store"
)

// Events receives the events of logs and of the store: the part of [protocol.FrontEnd] that the package needs. Its
// methods are called in order, one at a time for each log.
type Events interface {
	TaskEvent(context.Context, *protocol.TaskEventParams) error
	StorageFailed(context.Context, *protocol.StorageFailedParams) error
	StorageRecovered(context.Context, *protocol.StorageRecoveredParams) error
}

// Options configure a Storage. All fields are required.
type Options struct {
	// OpenStore opens the store. It is called by [Storage.Open], and again if it failed or the store's file was deleted.
	OpenStore func() (*store.Store, error)
	Events    Events
	// Journal makes the records of changes.
	Journal *journal.Journal
	// MaxRead bounds what [Log.Read] returns, in bytes of files and of results.
	MaxRead int
	Log     zerolog.Logger
	Now     func() time.Time
}

// Storage is the store that all logs are saved in. It continues in memory while the store fails.
type Storage struct {
	opts Options
	// store is set by Open, and does not change after. The store may move to another file.
	store *store.Store
	// failing has an element when the store begins to fail.
	failing chan struct{}
	// scrubbing has an element when a secret was overwritten in the store.
	scrubbing chan struct{}

	opening sync.Mutex // held while the store is opened or closed; guards closed
	closed  bool

	outage outage
}

// outage is the state of a failing store. The logs hold the changes that it refused; see [dirty].
type outage struct {
	// relocating is held while the store moves to its path. It is locked after a log's lock and before mu.
	relocating sync.Mutex

	mu sync.Mutex // guards the fields below, and the order of reports to front ends
	// failure is the sentence that the front ends got; empty while tasks are saved on disk.
	failure string
	// damaged is set for good: nothing more is written into that file, and the next start sets it aside.
	damaged bool
	// inMemory is set while the store is in memory, because its file could not be opened.
	inMemory bool
	// deleted is set while the store's file is deleted and cannot be recreated.
	deleted bool
	// unrecoverable is set if another attempt to open the file would fail, too.
	unrecoverable bool
	// dirty holds the logs with changes that the store refused.
	dirty map[*Log]struct{}
}

// NewStorage returns a Storage. Open it before the use of any Log, and Close it after.
func NewStorage(opts Options) *Storage {
	return &Storage{opts: opts, failing: make(chan struct{}, 1), scrubbing: make(chan struct{}, 1)}
}

var errClosed = errors.New("the registry is closed")

// Open opens the store and calls read with it. If either fails, it opens an empty store in memory and tells the front ends.
func (s *Storage) Open(read func(*store.Store) error) error {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.closed {
		return errClosed
	}
	opened, err := s.opts.OpenStore()
	if err != nil {
		return s.openMemory(err)
	}
	s.store = opened
	if err := read(opened); err != nil {
		s.markSuspect(err)
		if err := s.openMemory(err); err != nil {
			return err
		}
		return opened.Close()
	}
	if note := opened.SetAsideNote(); note != "" {
		s.reportRecovery(note)
	}
	return nil
}

// openMemory opens a store in memory, because the file could not be opened.
func (s *Storage) openMemory(why error) error {
	s.outage.mu.Lock()
	s.outage.inMemory, s.outage.unrecoverable = true, errors.Is(why, store.ErrNewer)
	s.outage.mu.Unlock()
	s.Report(why)
	memory, err := store.OpenMemory()
	if err != nil {
		return err
	}
	s.store = memory
	return nil
}

// Close saves what the store refused, and closes it. It is a no-op if the store was not opened. No log's lock may be held.
func (s *Storage) Close() error {
	s.opening.Lock()
	defer s.opening.Unlock()
	s.closed = true
	if s.store == nil {
		return nil
	}
	s.repair(context.Background()) // the last chance to save what the disk refused
	s.outage.giveUp()
	return s.store.Close()
}

// giveUp ends the attempts to open the store.
func (o *outage) giveUp() {
	o.relocating.Lock()
	defer o.relocating.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unrecoverable = true
}

// Store returns the open store. If its file was deleted, it recreates the file first.
func (s *Storage) Store(ctx context.Context) *store.Store {
	if !s.isFailing() {
		s.relocate(ctx)
	}
	return s.store
}

// Opened returns the store that [Storage.Open] opened.
func (s *Storage) Opened() *store.Store { return s.store }

// Now returns the time in milliseconds since the Unix epoch.
func (s *Storage) Now() int64 { return s.opts.Now().UnixMilli() }

// Failure returns why tasks are not saved on disk, as a sentence for the person; empty while they are.
func (s *Storage) Failure() string {
	s.outage.mu.Lock()
	defer s.outage.mu.Unlock()
	return s.outage.failure
}

// isFailing reports whether the store is known to fail. [Storage.Maintain] then tries again.
func (s *Storage) isFailing() bool { return s.Failure() != "" }

// HasDirty reports whether the store refused a change that is not saved yet.
func (s *Storage) HasDirty() bool {
	s.outage.mu.Lock()
	defer s.outage.mu.Unlock()
	return len(s.outage.dirty) > 0
}

// InMemory reports whether saved changes are not in a file at the store's path.
func (s *Storage) InMemory() bool {
	s.outage.mu.Lock()
	defer s.outage.mu.Unlock()
	return s.outage.inMemory || s.outage.deleted
}

// isDamaged reports whether the file is damaged, so that nothing may be written into it.
func (s *Storage) isDamaged() bool {
	s.outage.mu.Lock()
	defer s.outage.mu.Unlock()
	return s.outage.damaged
}

// Report logs a failure of the store, and reports the first failure of an outage to the front ends.
func (s *Storage) Report(err error) {
	s.opts.Log.Error().Err(err).Msg("storage failed")
	o := &s.outage
	o.mu.Lock()
	defer o.mu.Unlock()
	format := "Tasks cannot be saved on disk. This session continues in memory: %v"
	if store.Damaged(err) && !o.inMemory { // while in memory, only the file that could not be opened is damaged
		format = "The store is damaged. This session continues in memory. The next start sets the store aside and creates a new one: %v"
		if !o.damaged {
			s.markSuspect(err)
		}
		o.damaged = true
	}
	if o.failure != "" {
		return
	}
	o.failure = fmt.Sprintf(format, err)
	s.LogSend(s.opts.Events.StorageFailed(context.Background(), &protocol.StorageFailedParams{Message: o.failure}))
	select {
	case s.failing <- struct{}{}:
	default:
	}
}

// reportRecovery tells the front ends that tasks are saved on disk again.
func (s *Storage) reportRecovery(message string) {
	s.outage.mu.Lock()
	defer s.outage.mu.Unlock()
	s.outage.failure = ""
	s.LogSend(s.opts.Events.StorageRecovered(context.Background(), &protocol.StorageRecoveredParams{Message: message}))
}

// markSuspect has the next opening of the store read the whole file if the error says that it is damaged.
func (s *Storage) markSuspect(why error) {
	if !store.Damaged(why) {
		return
	}
	if err := s.store.Suspect(); err != nil {
		s.opts.Log.Warn().Err(err).Msg("the next start may not notice that the store is damaged")
	}
}

// SetAsideNote says in a sentence for the person why and where a store was moved to; empty if this one replaced none.
func (s *Storage) SetAsideNote(ctx context.Context) string { return s.Store(ctx).SetAsideNote() }

// LogSend logs an event that no front end received. This is not a failure of the task: a front end that attaches later
// opens the task after the last number that it has seen.
func (s *Storage) LogSend(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		s.opts.Log.Debug().Err(err).Msg("event dropped: no front end received it")
	}
}
