package task

import (
	"context"
	"database/sql"
	"errors"

	"assent/protocol"
	"assent/sidecar/store"
)

const (
	// takenOverDetail is what became of everything that was open when another window took the task.
	takenOverDetail = "The task was taken over in another window."
	// goesOnDetail is why a question that goes on there is none of this window's any more.
	goesOnDetail = "The question goes on in another window."
)

// newTask makes a task of what the store says of it.
func (r *Registry) newTask(st *store.Standing) *Task {
	t := &Task{
		registry: r, owner: st.Owner, claimed: st.Claimed,
		memory: map[int64]*message{}, keys: map[string]*ask{},
	}
	t.setInfo(st.Task)
	return t
}

// Own returns a task to change: it is live in this window then, and what its calls left behind in a window
// that is gone is taken up here. Where another window has it, the error is [protocol.CodeTaskElsewhere]. Who
// only reads a task uses [Registry.Get].
func (r *Registry) Own(ctx context.Context, id string) (*Task, error) {
	if _, err := r.Get(id); err != nil {
		return nil, err
	}
	return r.own(ctx, id, false)
}

// OwnToAnswer is as Own, and does not wait for what is being saved where the ask is open: then the task is live here.
func (r *Registry) OwnToAnswer(ctx context.Context, id, askID string) (*Task, error) {
	if t, err := r.Get(id); err != nil || t.asks.get(askID) != nil {
		return t, err
	}
	return r.Own(ctx, id)
}

// TakeOver is as Own, and takes the task from the window that has it; see [protocol.Sidecar.TakeOver]. Of
// windows that take a task over at once, one has it in the end.
func (r *Registry) TakeOver(ctx context.Context, id string) (*Task, error) {
	if _, err := r.Get(id); err != nil {
		return nil, err
	}
	return r.own(ctx, id, true)
}

// own is Own, also of a deleted task.
func (r *Registry) own(ctx context.Context, id string, force bool) (*Task, error) {
	t, err := r.find(id)
	if err != nil {
		return nil, err
	}
	if t.isOwned(ctx, force) {
		return t, nil
	}
	r.claiming.Lock()
	defer r.claiming.Unlock()
	if err := r.awaitLeft(ctx, id); err != nil {
		return nil, err
	}
	if t, err = r.find(id); err != nil { // another one, where this window has just lost it
		return nil, err
	}
	if t.isOwned(ctx, false) {
		return t, nil
	}
	r.introduce()
	if err := t.claim(ctx, force); err != nil {
		return nil, err
	}
	if r.opts.Claimed != nil {
		r.opts.Claimed(t)
	}
	return t, nil
}

// isOwned reports whether the task is live here; where that matters, the store is asked, too.
func (t *Task) isOwned(ctx context.Context, surely bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.owned && surely {
		if st, err := t.registry.store.Task(ctx, t.info.ID); err == nil && st != nil && !st.Mine {
			t.letGo(st)
		}
	}
	return t.owned
}

// IsLive reports whether the task is live in this window. One that it lost is never live again: the registry
// has another one then.
func (t *Task) IsLive() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.owned
}

// isLost reports whether another window took the task from this one.
func (t *Task) isLost() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.successor != nil
}

// claim makes the task this window's. While the store fails it is so in memory, until that can be written.
func (t *Task) claim(ctx context.Context, force bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.registry
	var st *store.Standing
	var taken bool
	err := r.damage()
	if err == nil {
		st, taken, err = r.store.Claim(ctx, t.info.ID, r.now(), force)
	}
	var owned *store.OwnedError
	switch {
	case errors.As(err, &owned):
		return elsewhereError(t.info.Title, &owned.Elsewhere)
	case errors.Is(err, sql.ErrNoRows):
		return protocol.Errorf(protocol.CodeUnknownTask, "there is no task %q", t.info.ID)
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		r.reportStorage(err)
		if st, err = t.unclaimedStanding(ctx); err != nil {
			return err
		}
		t.unclaimed = true
	}
	if err := t.take(context.WithoutCancel(ctx), st, taken); err != nil {
		return err
	}
	t.announce(protocol.TaskFollowed{Task: t.info})
	return nil
}

// unclaimedStanding returns how a task stands that can not be claimed now, if no living window has it. The lock
// must be held.
func (t *Task) unclaimedStanding(ctx context.Context) (*store.Standing, error) {
	st, err := t.registry.store.Task(ctx, t.info.ID)
	if err != nil || st == nil {
		return nil, errors.Join(err, t.checkOwned())
	}
	if e := st.Task.Elsewhere; e != nil && !e.Gone {
		return nil, elsewhereError(t.info.Title, e)
	}
	st.Task.Elsewhere = nil
	return st, nil
}

// claimNow claims a task that could not be claimed when it was taken. The lock must be held.
func (t *Task) claimNow(ctx context.Context) error {
	if !t.unclaimed {
		return nil
	}
	_, _, err := t.registry.store.Claim(ctx, t.info.ID, t.registry.now(), false)
	if errors.As(err, new(*store.OwnedError)) {
		return store.ErrNotOwner
	}
	t.unclaimed = err != nil
	return err
}

// take begins to keep a task in memory that was claimed: from a living window where taken is set. The lock
// must be held.
func (t *Task) take(ctx context.Context, st *store.Standing, taken bool) error {
	t.setInfo(st.Task)
	t.owner, t.claimed, t.owned, t.following = st.Owner, st.Claimed, true, nil
	left := left{protocol.OutcomeRestarted, restartedDetail}
	if taken {
		left.reason, left.detail = protocol.OutcomeTakenOver, takenOverDetail
	}
	err := t.recover(ctx, left)
	if err != nil && t.owned {
		t.forget()
		return errors.Join(err, t.registry.store.Release(ctx, t.info.ID))
	}
	return t.checkOwned() // it may be taken away already
}

// checkOwned fails in a task that is not live here. The lock must be held.
func (t *Task) checkOwned() error {
	switch {
	case t.owned:
		return nil
	case t.successor != nil:
		info := t.successor.Info()
		return elsewhereError(info.Title, info.Elsewhere)
	default:
		return elsewhereError(t.info.Title, t.info.Elsewhere)
	}
}

func elsewhereError(title string, elsewhere *protocol.Elsewhere) error {
	if elsewhere == nil { // nobody has it any more
		return protocol.Errorf(protocol.CodeTaskElsewhere, "the task %q was taken over by another window: try again", title)
	}
	err := protocol.Errorf(protocol.CodeTaskElsewhere, "the task %q is live in another window (%s): go on there, or continue it here", title, elsewhere.Window)
	err.Data = *elsewhere
	return err
}

// tookAway reports whether the store refused a change because another window has the task by now, and lets go
// of it then. The lock must be held.
func (t *Task) tookAway(err error) bool {
	if !errors.Is(err, store.ErrNotOwner) {
		return false
	}
	st, err := t.registry.store.Task(context.Background(), t.info.ID)
	if err != nil || st == nil {
		t.registry.opts.Log.Error().Err(err).Str("task", t.info.ID).Msg("whose the task is cannot be read")
		st = &store.Standing{Task: t.info, Claimed: t.claimed}
		st.Task.Elsewhere = &protocol.Elsewhere{Since: t.registry.now()}
	}
	t.letGo(st)
	return true
}

// letGo forgets a task that another window has, without writing a word: whoever holds it can do nothing with it
// any more, and the registry has another one in its place, which follows. Who asks by a request that cannot
// follow is told; a question that goes on there is left to its asker, who is told by [Options.Lost]. The lock
// must be held.
func (t *Task) letGo(st *store.Standing) {
	if !t.owned {
		return
	}
	r := t.registry
	t.successor = r.newTask(st)
	for _, m := range t.memory {
		m.endStream()
		m.live = false
	}
	for _, a := range t.forget() {
		t.end(a)
	}
	t.successor.mu.Lock()
	defer t.successor.mu.Unlock()
	r.leave(t.info.ID, t.successor)
	t.successor.announce(protocol.TaskFollowed{Task: t.successor.info})
}

// forget drops what is kept of a task that is not live here any more, and returns the asks that were open. The lock
// must be held.
func (t *Task) forget() []*ask {
	t.owned = false
	t.memory, t.keys = map[int64]*message{}, map[string]*ask{}
	t.unjournaled, t.owed = nil, owed{}
	t.noteQuiet()
	return t.asks.dropAll()
}

// end ends an ask of a task that this window has lost; see letGo. The lock must be held.
func (t *Task) end(a *ask) {
	if a.timeout.timer != nil {
		a.timeout.timer.Stop()
	}
	if a.question.InputKey != "" {
		return
	}
	a.settlement = settlement{outcome: protocol.Outcome{Reason: protocol.OutcomeTakenOver, At: t.registry.now(), Detail: takenOverDetail}}
	close(a.settled)
}

// leave puts a task in the place of one that this window has lost, and has its calls end.
func (r *Registry) leave(id string, successor *Task) {
	done := make(chan struct{})
	r.mu.Lock()
	r.tasks[id] = successor
	r.leaving[id] = done
	r.mu.Unlock()
	r.left.Go(func() {
		if r.opts.Lost != nil {
			r.opts.Lost(id)
		}
		r.mu.Lock()
		delete(r.leaving, id)
		r.mu.Unlock()
		close(done)
	})
}

// awaitLeft waits until nothing of a task is going on any more that this window has lost.
func (r *Registry) awaitLeft(ctx context.Context, id string) error {
	r.mu.Lock()
	done := r.leaving[id]
	r.mu.Unlock()
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// introduce says which window the tasks are claimed for.
func (r *Registry) introduce() {
	if r.opts.Window != nil {
		r.store.Introduce(r.opts.Window())
	}
}

// borrow runs a change of a task that is not live anywhere, and leaves it so. Of a task that another window has,
// or left, nothing is changed.
func (r *Registry) borrow(ctx context.Context, id string, change func(*Task) error) error {
	t, err := r.find(id)
	if err != nil || t.Info().DeletedAt > 0 {
		return err
	}
	t.mu.Lock()
	// For this, a task is not taken from a living window either in which nothing goes on: its connections would end.
	owned, elsewhere := t.owned, t.info.Elsewhere != nil || t.owner != "" && r.store.Alive(t.owner)
	t.mu.Unlock()
	if owned {
		return change(t)
	}
	if elsewhere {
		return nil
	}
	if t, err = r.Own(ctx, id); err != nil {
		return err
	}
	err = change(t)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.owned || len(t.memory) > 0 {
		return err
	}
	t.owned, t.owner = false, ""
	return errors.Join(err, r.store.Release(ctx, id))
}
