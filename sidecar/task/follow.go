package task

import (
	"context"
	"reflect"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/store"
)

// seen is what the store said when it was looked at last.
type seen struct {
	mu               sync.Mutex // held while somebody looks; guards the fields below
	version, claimed int64
	// others are the living sidecars that have tasks.
	others map[string]bool
	// failed: the last look did.
	failed bool
}

// note takes in how a task stands.
func (s *seen) note(st *store.Standing) {
	s.claimed = max(s.claimed, st.Claimed)
	if e := st.Task.Elsewhere; e != nil && !e.Gone {
		s.others[st.Owner] = true
	}
}

// Follow looks again and again what other windows have done: it tells the front ends of it, and lets go of
// the tasks that another window took. A look at a store in which nothing has changed costs next to nothing, and
// one in memory, which no other window can have open, is not looked at. It returns when ctx ends.
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

// catchUp takes in what other windows have written until now. [Registry.Follow] does so again and again, and
// whoever lists tasks or asks does so first: what another window acknowledged before must be in the list. Where the
// store cannot be read, what was known stays. No lock of a task may be held.
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

// look takes in what has changed since the last look. The lock of seen must be held.
func (r *Registry) look(ctx context.Context) error {
	// The number first: what is written after it is found by the next look.
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

// othersLive reports whether everybody lives who did at the last look: who is killed writes nothing.
func (r *Registry) othersLive() bool {
	for owner := range r.seen.others {
		if !r.store.Alive(owner) {
			return false
		}
	}
	return true
}

// follow takes in how one task stands.
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

// follow takes in how the task stands in the store, unless more is known already. The lock must be held.
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

// refresh looks how a task stands that is not live here. The lock must be held.
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
