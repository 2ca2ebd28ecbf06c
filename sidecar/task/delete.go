package task

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"assent/protocol"
)

const (
	// keepDeleted is how long a deleted task can be restored, and purgeEvery how often expired ones are
	// removed.
	keepDeleted = 24 * time.Hour
	purgeEvery  = time.Hour
)

// Delete deletes a task for the front end that by names; see [protocol.Sidecar.DeleteTask]. The task must be
// quiet; see [Task.AwaitQuiet].
func (t *Task) Delete(by string) (protocol.Task, error) {
	t.log.Lock()
	defer t.log.Unlock()
	if t.log.Info.DeletedAt > 0 {
		return t.log.Info, nil
	}
	if what := t.log.GoingOn(); len(what) > 0 {
		return protocol.Task{}, protocol.Errorf(protocol.CodeTaskBusy,
			"the task %q cannot be deleted while it is busy (%s): end that first, or close the task", t.log.Info.Title, strings.Join(what, ", "))
	}
	return t.setDeleted(t.registry.now(), by), nil
}

// Restore restores a deleted task for the front end that by names; see [protocol.Sidecar.RestoreTask].
func (r *Registry) Restore(id, by string) (protocol.Task, error) {
	t, err := r.find(id)
	if err != nil {
		return protocol.Task{}, err
	}
	t.log.Lock()
	defer t.log.Unlock()
	switch {
	case t.log.Removed():
		return protocol.Task{}, protocol.Errorf(protocol.CodeUnknownTask, "there is no task %q", id)
	case t.log.Info.DeletedAt == 0:
		return t.log.Info, nil
	}
	return t.setDeleted(0, by), nil
}

// setDeleted records when the task was deleted; 0 restores it. The lock must be held.
func (t *Task) setDeleted(at int64, by string) protocol.Task {
	t.log.Info.DeletedAt = at
	t.log.Record(t.registry.opts.Journal.TaskDeleted(t.log.Info, by, t.registry.now()))
	t.log.SetDeleted(at)
	return t.log.Info
}

// GoingOn names for the person the work under way in one of the tasks, or returns "".
func (r *Registry) GoingOn() string {
	for _, t := range r.all() {
		t.log.Lock()
		what := t.log.GoingOn()
		t.log.Unlock()
		if len(what) > 0 {
			return strings.Join(what, ", ")
		}
	}
	return ""
}

// isUnknown reports whether an error says that a task does not exist.
func isUnknown(err error) bool {
	var e *protocol.Error
	return errors.As(err, &e) && e.Code == protocol.CodeUnknownTask
}

// Deleted returns the tasks that can be restored, the last deleted first.
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

// KeepDeleted removes the deleted tasks that can no longer be restored. It returns when ctx ends.
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
			r.opts.Log.Error().Err(err).Msg("cannot remove deleted tasks")
		}
	}
}

func (r *Registry) purge(ctx context.Context) error {
	if err := r.load(); err != nil {
		return err
	}
	before := r.opts.Now().Add(-keepDeleted).UnixMilli()
	for _, t := range r.all() {
		t.log.Lock()
		id := t.log.Info.ID
		old := t.log.Info.DeletedAt > 0 && t.log.Info.DeletedAt < before
		if old {
			t.log.Remove() // code that still has the task must not save it again
		}
		t.log.Unlock()
		if !old {
			continue
		}
		r.mu.Lock()
		if r.tasks[id] == t {
			delete(r.tasks, id)
		}
		r.mu.Unlock()
	}
	return r.storage.Opened().Purge(ctx, before)
}
