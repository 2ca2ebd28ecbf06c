package task

import (
	"context"
	"reflect"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/store"
)

// seen is the state of the store at the last look.
type seen struct {
	mu               sync.Mutex // held during a look; guards the fields below
	version, claimed int64
	// others are the living sidecars that have tasks.
	others map[string]bool
	// failed is set if the last look failed.
	failed bool
}

// note records the state of a task.
func (s *seen) note(st *store.Standing) {
	s.claimed = max(s.claimed, st.Claimed)
	if e := st.Task.Elsewhere; e != nil && !e.Gone {
		s.others[st.Owner] = true
	}
}

// Follow reads in intervals what other windows have written, until ctx ends. It tells the front ends, and lets go of tasks
// that another window took. A look at an unchanged store is one PRAGMA. A store in memory has no other windows, and is
// skipped.
func (r *Registry) Follow(ctx context.Context, every time.Duration) {
	if r.load() != nil {
		return
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		r.catchUp(ctx)
	}
}

// catchUp reads what other windows have written until now. [Registry.Follow] calls it in intervals. Lists of tasks and asks
// call it first, because a list must have everything that another window acknowledged before the call. If the store cannot
// be read, the known state stays. No lock of a task may be held.
func (r *Registry) catchUp(ctx context.Context) {
	if !r.store.Shared() {
		return
	}
	r.seen.mu.Lock()
	defer r.seen.mu.Unlock()
	err := r.look(ctx)
	if err != nil && !r.seen.failed && ctx.Err() == nil {
		r.opts.Log.Error().Err(err).Msg("what other windows do cannot be followed")
	}
	r.seen.failed = err != nil
}

// look reads the changes since the last look. The lock of seen must be held.
func (r *Registry) look(ctx context.Context) error {
	// The version is read first, so that the next look finds what is written from here on.
	version, err := r.store.Version(ctx)
	if err != nil {
		return err
	}
	if version == r.seen.version && r.othersLive() {
		return nil
	}
	moved, err := r.store.Moved(ctx, r.seen.claimed)
	if err != nil {
		return err
	}
	r.seen.others = map[string]bool{}
	for i := range moved {
		r.seen.note(&moved[i])
		r.follow(&moved[i])
	}
	r.seen.version = version
	return nil
}

// othersLive reports whether all sidecars that lived at the last look still live. One that is killed writes nothing, so the
// version does not tell.
func (r *Registry) othersLive() bool {
	for owner := range r.seen.others {
		if !r.store.Alive(owner) {
			return false
		}
	}
	return true
}

// follow takes over the state of one task from the store.
func (r *Registry) follow(st *store.Standing) {
	r.mu.Lock()
	t := r.tasks[st.Task.ID]
	if t == nil && !st.Mine {
		t = r.newTask(st)
		r.tasks[st.Task.ID] = t
		r.mu.Unlock()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.announce(protocol.TaskFollowed{Task: t.info})
		return
	}
	r.mu.Unlock()
	if t == nil {
		return // it is being made here
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.follow(st)
}

// follow takes over the task's state from the store, unless a newer state is known. The lock must be held.
func (t *Task) follow(st *store.Standing) {
	if st.Mine || st.Claimed < t.claimed || t.successor != nil {
		return
	}
	if t.owned {
		t.letGo(st)
		return
	}
	if st.Claimed == t.claimed && st.Task.LastNumber < t.info.LastNumber {
		return
	}
	t.owner, t.claimed = st.Owner, st.Claimed
	if reflect.DeepEqual(t.info, st.Task) {
		return
	}
	t.setInfo(st.Task)
	t.announce(protocol.TaskFollowed{Task: t.info})
}

// refresh reads the state of a task that is not live here. The lock must be held.
func (t *Task) refresh(ctx context.Context) error {
	if t.owned || t.successor != nil {
		return nil
	}
	st, err := t.registry.store.Task(ctx, t.info.ID)
	if err != nil || st == nil {
		return err
	}
	t.follow(st)
	return nil
}
