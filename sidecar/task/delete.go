package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"assent/protocol"
)

const (
	// keepDeleted is how long a deleted task can be restored at most, and purgeEvery how often is looked for
	// those that cannot be any more.
	keepDeleted = 24 * time.Hour
	purgeEvery  = time.Hour
)

// Delete takes a task out of all lists, in the front end that by names; see [protocol.Sidecar.DeleteTask]. What
// goes on in it has to be ended before; see [Task.AwaitQuiet].
func (t *Task) Delete(by string) (protocol.Task, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.info.DeletedAt > 0 {
		return t.info, nil
	}
	if what := t.goingOn(); len(what) > 0 {
		return protocol.Task{}, protocol.Errorf(protocol.CodeTaskBusy,
			"the task %q cannot be deleted while something goes on in it (%s): end that, or close the task, first", t.info.Title, strings.Join(what, ", "))
	}
	return t.setDeleted(t.registry.now(), by), nil
}

// Restore brings a deleted task back, in the front end that by names; see [protocol.Sidecar.RestoreTask].
func (r *Registry) Restore(id, by string) (protocol.Task, error) {
	t, err := r.find(id)
	if err != nil {
		return protocol.Task{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.removed:
		return protocol.Task{}, protocol.Errorf(protocol.CodeUnknownTask, "there is no task %q", id)
	case t.info.DeletedAt == 0:
		return t.info, nil
	}
	return t.setDeleted(0, by), nil
}

// setDeleted notes that the task is deleted, or is not where at is 0. The lock must be held.
func (t *Task) setDeleted(at int64, by string) protocol.Task {
	t.info.DeletedAt = at
	t.deleted.Store(at > 0)
	t.unjournaled = append(t.unjournaled, t.registry.opts.Journal.TaskDeleted(t.info, by, t.registry.now()))
	t.changed()
	return t.info
}

// goingOn says for the person what goes on in the task. The lock must be held.
func (t *Task) goingOn() (what []string) {
	calls, other := 0, false
	for _, m := range t.memory {
		_, isCall := m.Body.(protocol.Call)
		if m.live && isCall {
			calls++
		}
		other = other || m.live && !isCall
	}
	switch n := t.info.OpenAsks; {
	case n == 1:
		what = append(what, "a question is open")
	case n > 1:
		what = append(what, fmt.Sprintf("%d questions are open", n))
	}
	switch {
	case calls == 1:
		what = append(what, "a call runs")
	case calls > 1:
		what = append(what, fmt.Sprintf("%d calls run", calls))
	}
	if t.info.Running || other && len(what) == 0 {
		what = append(what, "a model is at work")
	}
	return what
}

// GoingOn says for the person what goes on in one of the tasks, or returns an empty text.
func (r *Registry) GoingOn() string {
	for _, t := range r.all() {
		t.mu.Lock()
		what := t.goingOn()
		t.mu.Unlock()
		if len(what) > 0 {
			return strings.Join(what, ", ")
		}
	}
	return ""
}

// AwaitQuiet returns when nothing goes on in the task any more: no call, no turn, no question.
func (t *Task) AwaitQuiet(ctx context.Context) error {
	t.mu.Lock()
	if len(t.goingOn()) == 0 {
		t.mu.Unlock()
		return nil
	}
	if t.quiet == nil {
		t.quiet = make(chan struct{})
	}
	quiet := t.quiet
	t.mu.Unlock()
	select {
	case <-quiet:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// noteQuiet tells who waits for it that nothing goes on any more, where that is so; see AwaitQuiet. The lock must be
// held.
func (t *Task) noteQuiet() {
	if t.quiet != nil && len(t.goingOn()) == 0 {
		close(t.quiet)
		t.quiet = nil
	}
}

// checkThere fails in a deleted task. The lock must be held.
func (t *Task) checkThere() error {
	if t.info.DeletedAt > 0 {
		return deletedError(t.info.Title)
	}
	return nil
}

func deletedError(title string) error {
	return protocol.Errorf(protocol.CodeUnknownTask, "the task %q was deleted: restore it first", title)
}

// isUnknown reports whether an error says that there is no such task.
func isUnknown(err error) bool {
	var e *protocol.Error
	return errors.As(err, &e) && e.Code == protocol.CodeUnknownTask
}

// Deleted returns the tasks that can be restored, the one deleted last first.
func (r *Registry) Deleted() ([]protocol.Task, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	var infos []protocol.Task
	for _, t := range r.all() {
		if info := t.Info(); info.DeletedAt > 0 {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b protocol.Task) int {
		return cmp.Or(cmp.Compare(b.DeletedAt, a.DeletedAt), cmp.Compare(b.ID, a.ID))
	})
	return infos, nil
}

// KeepDeleted removes for good the tasks that were deleted too long ago to be restored. It returns when ctx ends.
func (r *Registry) KeepDeleted(ctx context.Context) {
	ticker := time.NewTicker(purgeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := r.purge(ctx); err != nil && ctx.Err() == nil {
			r.opts.Log.Error().Err(err).Msg("deleted tasks were not removed for good")
		}
	}
}

func (r *Registry) purge(ctx context.Context) error {
	if err := r.load(); err != nil {
		return err
	}
	before := r.opts.Now().Add(-keepDeleted).UnixMilli()
	for _, t := range r.all() {
		t.mu.Lock()
		id := t.info.ID
		old := t.info.DeletedAt > 0 && t.info.DeletedAt < before
		if old {
			t.removed = true // whoever holds it must not write it anew
		}
		t.mu.Unlock()
		if !old {
			continue
		}
		r.mu.Lock()
		if r.tasks[id] == t {
			delete(r.tasks, id)
		}
		r.mu.Unlock()
	}
	return r.store.Purge(ctx, before)
}
