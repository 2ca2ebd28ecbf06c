package task

import (
	"context"
	"time"

	"assent/protocol"
	"assent/sidecar/task/retention"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasklog"
)

// KeepResults removes the results of MCP tasks that a front end received more days ago than the setting
// allows; see [retention.Keep]. It keeps results that no front end has received.
func (r *Registry) KeepResults(ctx context.Context, setting <-chan int) {
	clock := func(ctx context.Context, now time.Time) (time.Time, error) {
		if err := r.load(); err != nil {
			return time.Time{}, err
		}
		return r.storage.Opened().RetentionTime(ctx, now)
	}
	retention.Keep(ctx, setting, r.opts.Now, clock, r.removeResults, func(err error) {
		r.opts.Log.Error().Err(err).Msg("old results of MCP tasks were not removed")
	})
}

// removeResults removes the results that a front end received before a time, which was that many
// days ago.
func (r *Registry) removeResults(ctx context.Context, _ time.Time, days int, before int64) error {
	if err := r.load(); err != nil {
		return err
	}
	places, err := r.storage.Opened().ResultsGotBefore(ctx, before)
	if err != nil {
		return err
	}
	for _, p := range places {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.removeResult(ctx, p, days); err != nil { // a failure must not keep the others
			r.opts.Log.Warn().Err(err).Str("task", p.TaskID).Int64("message", p.MessageID).Msg("an old result was not removed")
		}
	}
	return nil
}

func (r *Registry) removeResult(ctx context.Context, p store.Place, days int) error {
	t, err := r.find(p.TaskID)
	if err != nil {
		return err
	}
	t.log.Lock()
	defer t.log.Unlock()
	if t.log.Info.DeletedAt > 0 {
		return nil
	}
	m, err := t.log.Find(ctx, p.MessageID)
	if err != nil || m == nil {
		return err
	}
	if !tasklog.HasResult(m.Message) {
		return nil
	}
	call := m.Body.(protocol.Call)
	call.Result = protocol.ToolResult{IsError: call.Result.(protocol.ToolResult).IsError, RemovedAfter: days}
	m.Body = call
	t.log.Commit(m, protocol.CallEnded{MessageID: m.ID, EndedAt: call.EndedAt, Result: call.Result})
	return nil
}

// gotResults records that a front end has received the results among these messages, which are in
// ascending order of id. The lock must be held.
func (t *Task) gotResults(messages []protocol.Message) {
	first, last := int64(0), int64(0)
	for _, m := range messages {
		if tasklog.HasResult(m) {
			if first == 0 {
				first = m.ID
			}
			last = m.ID
		}
	}
	if first == 0 {
		return
	}
	if err := t.registry.storage.Opened().GotResults(context.Background(), t.log.Info.ID, first, last, t.registry.now()); err != nil {
		t.registry.storage.Report(err)
	}
}
