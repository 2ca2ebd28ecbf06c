package workspace

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"assent/protocol"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/task/store"
)

// newQueue returns the queue of requests that could not be attributed to a task.
func (w *Workspace) newQueue() *attribution.Queue {
	return attribution.NewQueue(attribution.QueueOptions{
		Changed: func(count int) {
			w.counted.waiting.setUnattributed(count)
			w.person.asksChanged(w)
			if err := w.editor.UnattributedChanged(context.Background(), &protocol.UnattributedChangedParams{Count: count}); err != nil {
				w.opts.Log.Debug().Err(err).Msg("an event was not delivered to a front end")
			}
		},
		Ended: func(r *attribution.Request, outcome protocol.Outcome) {
			w.record(w.journal.Unattributed(r.Origin.ServerName, r.Method, r.Text, outcome))
		},
		Task: w.taskOf,
		NewTask: func(r *attribution.Request) (string, error) {
			info, err := w.tasks.Create(cmp.Or(r.Text, r.Origin.ServerName))
			return info.ID, err
		},
		Now:   w.now,
		NewID: w.newID,
	})
}

// taskOf returns the task that a request of a server belongs to.
func (w *Workspace) taskOf(id string) (attribution.Task, error) {
	t, err := w.tasks.Get(id)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// deniedUnattributed has the journal say that requests were refused before they were of any task.
func (w *Workspace) deniedUnattributed(origin protocol.Origin, method string, outcome protocol.Outcome, count int64) {
	outcome.At = w.now().UnixMilli()
	w.record(w.journal.Denied("", origin, method, outcome, count))
}

// invalidUnattributed has the journal say that a question of no task cannot be shown.
func (w *Workspace) invalidUnattributed(origin protocol.Origin, method, why string) {
	w.record(w.journal.Invalid(w.now().UnixMilli(), "", origin, method, why))
}

func (w *Workspace) newID() string {
	if w.opts.NewID != nil {
		return w.opts.NewID()
	}
	return uuid.Must(uuid.NewV7()).String()
}

// record writes what the journal says of no task. A failure is logged, and does not block the server.
func (w *Workspace) record(r store.Record) {
	kept, err := w.tasks.Store()
	if err == nil {
		err = kept.AppendJournal(context.Background(), r)
	}
	if err != nil {
		w.opts.Log.Error().Err(err).Str("kind", r.Kind).Msg("the journal cannot be written")
	}
}
