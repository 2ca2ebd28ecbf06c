package workspace

import (
	"context"

	"assent/protocol"
)

// SearchTasks implements [protocol.Sidecar].
func (w *Workspace) SearchTasks(ctx context.Context, params *protocol.SearchTasksParams) (*protocol.SearchTasksResult, error) {
	if params.TaskID != "" {
		if _, err := w.tasks.Get(params.TaskID); err != nil { // another workspace may have it
			return nil, err
		}
	}
	return w.tasks.Search(ctx, params)
}
