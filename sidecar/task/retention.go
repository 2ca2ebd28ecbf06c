package task

import (
	"context"
	"time"

	"assent/protocol"
	"assent/sidecar/retention"
	"assent/sidecar/store"
)

// KeepResults removes the results of MCP tasks that a front end got more days ago than the setting says; see
// [retention.Keep]. It keeps results that no front end has got.
func (r *Registry) KeepResults(ctx context.Context, setting <-chan int) {
	clock := func(ctx context.Context, now time.Time) (time.Time, error) {
		if err := r.load(); err != nil {
			return time.Time{}, err
		}
		return r.store.RetentionTime(ctx, now)
	}
	retention.Keep(ctx, setting, r.opts.Now, clock, r.removeResults, func(err error) {
		r.opts.Log.Error().Err(err).Msg("old results of MCP tasks were not removed")
	})
}

// removeResults removes the results that a front end got before a time, which was so many days ago.
func (r *Registry) removeResults(ctx context.Context, _ time.Time, days int, before int64) error {
	if err := r.load(); err != nil {
		return err
	}
	places, err := r.store.ResultsGotBefore(ctx, before)
	if err != nil {
		return err
	}
	for _, p := range places {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.removeResult(ctx, p, days); err != nil { // one that cannot be read must not keep the others
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
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.info.DeletedAt > 0 {
		return nil
	}
	m := t.memory[p.MessageID]
	if m == nil {
		e, err := t.registry.store.Message(ctx, p.TaskID, p.MessageID)
		if err != nil || e == nil {
			return err
		}
		m = &message{Message: e.Message, number: e.Number}
	}
	if !hasResult(m.Message) {
		return nil
	}
	call := m.Body.(protocol.Call)
	call.Result = protocol.ToolResult{IsError: call.Result.(protocol.ToolResult).IsError, RemovedAfter: days}
	m.Body = call
	t.memory[m.ID] = m // until it is on disk
	t.commit(m, protocol.CallEnded{MessageID: m.ID, EndedAt: call.EndedAt, Result: call.Result})
	return nil
}

// hasResult reports whether a message is a call that became an MCP task and still has its result.
func hasResult(m protocol.Message) bool {
	call, ok := m.Body.(protocol.Call)
	if !ok || call.Task == nil {
		return false
	}
	result, ok := call.Result.(protocol.ToolResult)
	return ok && result.RemovedAfter == 0
}

// gotResults notes that a front end has the results among these messages, which are in ascending order
// of id. The lock must be held.
func (t *Task) gotResults(messages []protocol.Message) {
	first, last := int64(0), int64(0)
	for _, m := range messages {
		if hasResult(m) {
			if first == 0 {
				first = m.ID
			}
			last = m.ID
		}
	}
	if first == 0 {
		return
	}
	if err := t.registry.store.GotResults(context.Background(), t.info.ID, first, last, t.registry.now()); err != nil {
		t.registry.reportStorage(err)
	}
}
