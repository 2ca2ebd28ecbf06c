package server

import (
	"context"

	"assent/protocol"
)

// SearchTasks implements [protocol.Sidecar].
func (s *Server) SearchTasks(ctx context.Context, params *protocol.SearchTasksParams) (*protocol.SearchTasksResult, error) {
	return s.tasks.Search(ctx, params)
}
