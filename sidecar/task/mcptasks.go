package task

import (
	"context"

	"assent/protocol"
)

// HoldsMcpTask reports whether a call of any task follows this MCP task of a server, or has its end. One
// that lost its server has neither: where the server still knows the task, it can be followed again.
func (r *Registry) HoldsMcpTask(ctx context.Context, serverName, mcpTaskID string) (bool, error) {
	if err := r.load(); err != nil {
		return false, err
	}
	for _, t := range r.all() {
		if t.holds(serverName, mcpTaskID) {
			return true, nil
		}
	}
	calls, err := r.store.McpTask(ctx, mcpTaskID)
	if err != nil {
		return false, err
	}
	for _, e := range calls {
		if holds(e.Message, serverName, mcpTaskID) {
			return true, nil
		}
	}
	return false, nil
}

// holds is as [Registry.HoldsMcpTask], of what is in memory.
func (t *Task) holds(serverName, mcpTaskID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.memory {
		if holds(m.Message, serverName, mcpTaskID) {
			return true
		}
	}
	return false
}

func holds(m protocol.Message, serverName, mcpTaskID string) bool {
	call, ok := m.Body.(protocol.Call)
	if !ok || call.ServerName != serverName || call.Task == nil || call.Task.TaskID != mcpTaskID {
		return false
	}
	_, lost := call.Result.(protocol.CallLost)
	return !lost
}
