package server

import (
	"context"

	"github.com/google/uuid"

	"assent/protocol"
	"assent/sidecar/hub"
	"assent/sidecar/inbox"
	"assent/sidecar/store"
)

// newInbox returns where requests wait of which nothing proves whose they are.
func (w *Workspace) newInbox() *inbox.Inbox {
	return inbox.New(inbox.Options{
		Changed: func(count int) {
			w.waiting.setUnclaimed(count)
			w.person.asksChanged(w)
			if err := w.editor.UnclaimedChanged(context.Background(), &protocol.UnclaimedChangedParams{Count: count}); err != nil {
				w.opts.Log.Debug().Err(err).Msg("no front end took an event")
			}
		},
		Ended: func(r inbox.Request, outcome protocol.Outcome) {
			w.record(w.journal.Unclaimed(r.ServerName, r.Method, r.Text, outcome))
		},
		NewTask: func(r inbox.Request) (string, error) {
			info, err := w.tasks.Create(r.ServerName)
			return info.ID, err
		},
		Now:   w.now,
		NewID: w.newID,
	})
}

// whose asks the person whose a request is.
func (w *Workspace) whose(ctx context.Context, u hub.Unclaimed) (hub.Place, error) {
	place, err := w.inbox.Await(ctx, inbox.Request{
		ServerName: u.ServerName, Method: u.Method, Wants: u.Wants, Text: u.Text,
		Candidates: func() []protocol.AskCandidate { return w.openCandidates(u.Candidates()) },
		Queued:     u.Queued,
	})
	if err != nil {
		return hub.Place{}, err
	}
	return hub.Place(*place), nil
}

// openCandidates returns those candidates whose tasks are open, with their titles.
func (w *Workspace) openCandidates(all []protocol.AskCandidate) []protocol.AskCandidate {
	var open []protocol.AskCandidate
	for _, c := range all {
		t, err := w.tasks.Get(c.TaskID)
		if err != nil {
			continue
		}
		if info := t.Info(); !info.Closed {
			c.Title = info.Title
			open = append(open, c)
		}
	}
	return open
}

// deniedUnclaimed has the journal say that requests were refused before they were of any task.
func (w *Workspace) deniedUnclaimed(origin protocol.Origin, method string, outcome protocol.Outcome, count int64) {
	outcome.At = w.now().UnixMilli()
	w.record(w.journal.Denied("", origin, method, outcome, count))
}

func (w *Workspace) newID() string {
	if w.opts.NewID != nil {
		return w.opts.NewID()
	}
	return uuid.Must(uuid.NewV7()).String()
}

// record writes what the journal says of no task. What cannot be written is no reason to keep a server
// waiting.
func (w *Workspace) record(r store.Record) {
	kept, err := w.tasks.Store()
	if err == nil {
		err = kept.AppendJournal(context.Background(), r)
	}
	if err != nil {
		w.opts.Log.Error().Err(err).Str("kind", r.Kind).Msg("the journal cannot be written")
	}
}
