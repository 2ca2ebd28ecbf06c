package workspace

import (
	"context"
	"errors"
	"time"

	"assent/protocol"
)

// closingTime is how long the work of a task may take to end before the task is deleted.
const closingTime = 10 * time.Second

// DeleteTask implements [protocol.Sidecar].
func (f *frontEnd) DeleteTask(ctx context.Context, params *protocol.DeleteTaskParams) (*protocol.Task, error) {
	t, err := f.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	if params.Close {
		if _, err := f.CloseTask(ctx, &protocol.CloseTaskParams{TaskID: params.TaskID}); err != nil {
			return nil, err
		}
		closing, cancel := context.WithTimeout(ctx, closingTime)
		defer cancel()
		// The next step returns an error if work has not ended by then.
		if err := t.AwaitQuiet(closing); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
	}
	info, err := t.Delete(f.info.Name)
	if err != nil {
		return nil, err
	}
	f.hub.CloseTask(params.TaskID) // the connections that are no longer used
	if err := f.toolRules.EndTask(ctx, params.TaskID, f.info.Name); err != nil {
		return nil, err
	}
	f.policy.Changed()
	return &info, nil
}
