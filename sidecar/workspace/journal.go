package workspace

import (
	"cmp"
	"context"
	"time"

	"assent/protocol"
	"assent/sidecar/task/journal"
	"assent/sidecar/task/store"
)

// mostJournal and mostJournalBytes are how many records are listed at once.
const (
	mostJournal      = 1000
	mostJournalBytes = 4 << 20
)

// ListJournal implements [protocol.Sidecar].
func (w *Workspace) ListJournal(ctx context.Context, params *protocol.ListJournalParams) (*protocol.ListJournalResult, error) {
	if params.Before < 0 || params.Limit < 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "before and limit cannot be negative")
	}
	kept, err := w.tasks.Store()
	if err != nil {
		return nil, err
	}
	records, earlier, err := kept.Journal(ctx, store.JournalFilter{
		Server: params.ServerName, TaskID: params.TaskID, Kind: string(params.Kind), Since: params.Since, Before: params.Before,
	}, min(cmp.Or(params.Limit, 200), mostJournal), mostJournalBytes)
	if err != nil {
		return nil, err
	}
	result := &protocol.ListJournalResult{Earlier: earlier}
	for i := range records {
		r := journal.Wire(&records[i])
		result.Records = append(result.Records, r)
		result.Lines = append(result.Lines, journal.Line(r, time.Local))
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

func (w *Workspace) now() time.Time {
	if w.opts.Now != nil {
		return w.opts.Now()
	}
	return time.Now()
}
