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
func (s *Server) newInbox() *inbox.Inbox {
	return inbox.New(inbox.Options{
		Changed: func(count int) {
			if err := s.editor.UnclaimedChanged(context.Background(), &protocol.UnclaimedChangedParams{Count: count}); err != nil {
				s.opts.Log.Debug().Err(err).Msg("no front end took an event")
			}
		},
		Ended: func(r inbox.Request, outcome protocol.Outcome) {
			s.record(s.journal.Unclaimed(r.ServerName, r.Method, r.Text, outcome))
		},
		NewTask: func(r inbox.Request) (string, error) {
			info, err := s.tasks.Create(r.ServerName)
			return info.ID, err
		},
		Now:   s.now,
		NewID: s.newID,
	})
}

// whose asks the person whose a request is.
func (s *Server) whose(ctx context.Context, u hub.Unclaimed) (hub.Place, error) {
	place, err := s.inbox.Await(ctx, inbox.Request{
		ServerName: u.ServerName, Method: u.Method, Wants: u.Wants, Text: u.Text,
		Candidates: func() []protocol.AskCandidate { return s.openCandidates(u.Candidates()) },
		Queued:     u.Queued,
	})
	if err != nil {
		return hub.Place{}, err
	}
	return hub.Place(*place), nil
}

// openCandidates returns those candidates whose tasks are open, with their titles.
func (s *Server) openCandidates(all []protocol.AskCandidate) []protocol.AskCandidate {
	var open []protocol.AskCandidate
	for _, c := range all {
		t, err := s.tasks.Get(c.TaskID)
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

// ClaimAsk implements [protocol.Sidecar].
func (s *Server) ClaimAsk(ctx context.Context, params *protocol.ClaimAskParams) (*protocol.ClaimAskResult, error) {
	return s.inbox.Claim(ctx, params, s.frontEnd.Name)
}

// deniedUnclaimed has the journal say that requests were refused before they were of any task.
func (s *Server) deniedUnclaimed(origin protocol.Origin, method string, outcome protocol.Outcome, count int64) {
	outcome.At = s.now().UnixMilli()
	s.record(s.journal.Denied("", origin, method, outcome, count))
}

func (s *Server) newID() string {
	if s.opts.NewID != nil {
		return s.opts.NewID()
	}
	return uuid.Must(uuid.NewV7()).String()
}

// record writes what the journal says of no task. What cannot be written is no reason to keep a server
// waiting.
func (s *Server) record(r store.Record) {
	kept, err := s.tasks.Store()
	if err == nil {
		err = kept.AppendJournal(context.Background(), r)
	}
	if err != nil {
		s.opts.Log.Error().Err(err).Str("kind", r.Kind).Msg("the journal cannot be written")
	}
}
