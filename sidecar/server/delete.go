package server

import (
	"context"
	"errors"
	"time"

	"assent/protocol"
)

// closingTime is how long what goes on in a task has to end before the task is deleted.
const closingTime = 10 * time.Second

// DeleteTask implements [protocol.Sidecar].
func (s *Server) DeleteTask(ctx context.Context, params *protocol.DeleteTaskParams) (*protocol.Task, error) {
	t, err := s.tasks.Own(ctx, params.TaskID)
	if err != nil {
		return nil, err
	}
	if params.Close {
		if _, err := s.CloseTask(ctx, &protocol.CloseTaskParams{TaskID: params.TaskID}); err != nil {
			return nil, err
		}
		closing, cancel := context.WithTimeout(ctx, closingTime)
		defer cancel()
		// What has not ended by then is in the error of the next step.
		if err := t.AwaitQuiet(closing); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
	}
	info, err := t.Delete(s.frontEnd.Name)
	if err != nil {
		return nil, err
	}
	s.hub.CloseTask(params.TaskID) // the connections that nobody uses any more
	if err := s.toolRules.EndTask(ctx, params.TaskID, s.frontEnd.Name); err != nil {
		return nil, err
	}
	return &info, nil
}

// RestoreTask implements [protocol.Sidecar].
func (s *Server) RestoreTask(ctx context.Context, params *protocol.RestoreTaskParams) (*protocol.Task, error) {
	info, err := s.tasks.Restore(ctx, params.TaskID, s.frontEnd.Name)
	if err != nil {
		return nil, err
	}
	return &info, nil
}
