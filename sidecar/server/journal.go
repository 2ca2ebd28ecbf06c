package server

import (
	"cmp"
	"context"
	"time"

	"assent/protocol"
	"assent/sidecar/journal"
	"assent/sidecar/store"
)

// mostJournal is how many records are listed at once.
const mostJournal = 1000

// ListJournal implements [protocol.Sidecar].
func (s *Server) ListJournal(ctx context.Context, params *protocol.ListJournalParams) (*protocol.ListJournalResult, error) {
	if params.Before < 0 || params.Limit < 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "before and limit cannot be negative")
	}
	kept, err := s.tasks.Store()
	if err != nil {
		return nil, err
	}
	limit := min(cmp.Or(params.Limit, 200), mostJournal)
	records, err := kept.Journal(ctx, store.JournalFilter{
		Server: params.ServerName, TaskID: params.TaskID, Kind: string(params.Kind), Since: params.Since, Before: params.Before,
	}, limit+1)
	if err != nil {
		return nil, err
	}
	result := &protocol.ListJournalResult{}
	if len(records) > limit { // one more tells whether there is more
		result.Earlier, records = true, records[1:]
	}
	for i := range records {
		result.Records = append(result.Records, journal.Wire(&records[i]))
	}
	return result, nil
}

// keepJournalDays returns for how many days records are kept.
func keepJournalDays(c protocol.Configuration) int {
	if c.Journal == nil {
		return journal.DefaultKeepDays
	}
	return c.Journal.KeepDays
}

func (s *Server) now() time.Time {
	if s.opts.Now != nil {
		return s.opts.Now()
	}
	return time.Now()
}
