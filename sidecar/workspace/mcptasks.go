package workspace

import (
	"context"
	"strings"

	"assent/protocol"
)

// ListMcpTasks implements [protocol.Sidecar].
func (w *Workspace) ListMcpTasks(ctx context.Context) (*protocol.ListMcpTasksResult, error) {
	return w.mcpTasks(ctx, "")
}

// MoreMcpTasks implements [protocol.Sidecar].
func (w *Workspace) MoreMcpTasks(ctx context.Context, params *protocol.MoreMcpTasksParams) (*protocol.ListMcpTasksResult, error) {
	if params.Cursor == "" {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "cursor must not be empty: mcpTask/list has the first page")
	}
	return w.mcpTasks(ctx, params.Cursor)
}

func (w *Workspace) mcpTasks(ctx context.Context, cursor string) (*protocol.ListMcpTasksResult, error) {
	entries, next, err := w.tasks.McpTasks(ctx, cursor)
	if err != nil {
		return nil, err
	}
	return &protocol.ListMcpTasksResult{McpTasks: entries, NextCursor: next}, nil
}

// ListServerMcpTasks implements [protocol.Sidecar].
func (w *Workspace) ListServerMcpTasks(ctx context.Context) (*protocol.ListServerMcpTasksResult, error) {
	// The servers come first, so that a call that adopts a task in the meantime is known.
	listed, problems := w.hub.ListTasks(ctx)
	result := &protocol.ListServerMcpTasksResult{Problems: problems}
	for _, t := range listed {
		held, err := w.tasks.HoldsMcpTask(ctx, t.ServerName, t.McpTaskID)
		if err != nil {
			return nil, err
		}
		if !held {
			result.McpTasks = append(result.McpTasks, t)
		}
	}
	return result, nil
}

// GetMcpTask implements [protocol.Sidecar]. The calls come first, since they need no server.
func (w *Workspace) GetMcpTask(ctx context.Context, params *protocol.GetMcpTaskParams) (*protocol.GetMcpTaskResult, error) {
	if params.McpTaskID == "" {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "mcpTaskId must not be empty")
	}
	held, err := w.heldMcpTask(ctx, params)
	if err != nil {
		return nil, err
	}
	if held != nil && (params.ServerName == "" || !isLost(held.Call)) {
		return &protocol.GetMcpTaskResult{McpTask: held}, nil
	}
	if params.ServerName != "" {
		id := params.McpTaskID
		if held != nil {
			id = held.Call.Task.TaskID
		}
		ofServer, err := w.serverMcpTask(ctx, params.ServerName, id)
		if err != nil {
			return nil, err
		}
		if ofServer != nil {
			return &protocol.GetMcpTaskResult{ServerMcpTask: ofServer}, nil
		}
	}
	if held == nil {
		return nil, protocol.Errorf(protocol.CodeUnknownMcpTask, "there is no MCP task %q", params.McpTaskID)
	}
	return &protocol.GetMcpTaskResult{McpTask: held}, nil
}

// heldMcpTask returns the newest call that has the MCP task or waits for it, or nil.
func (w *Workspace) heldMcpTask(ctx context.Context, params *protocol.GetMcpTaskParams) (*protocol.McpTaskEntry, error) {
	entries, err := w.tasks.McpTasksNamed(ctx, params.McpTaskID)
	if err != nil {
		return nil, err
	}
	var names []mcpTaskName
	newest := map[mcpTaskName]*protocol.McpTaskEntry{}
	for i, e := range entries {
		name := mcpTaskName{e.Call.ServerName, e.Call.Task.TaskID}
		if newest[name] == nil && (params.ServerName == "" || params.ServerName == name.server) {
			names = append(names, name)
			newest[name] = &entries[i]
		}
	}
	name, err := uniqueMcpTask(params.McpTaskID, names)
	return newest[name], err
}

// serverMcpTask asks a server for an MCP task, and returns nil if the server knows none.
func (w *Workspace) serverMcpTask(ctx context.Context, serverName, id string) (*protocol.ServerMcpTask, error) {
	t, err := w.hub.GetTask(ctx, serverName, id)
	if t != nil || err != nil {
		return t, err
	}
	listed, _ := w.hub.ListTasks(ctx) // a list that cannot be had has no task
	var names []mcpTaskName
	tasks := map[mcpTaskName]*protocol.ServerMcpTask{}
	for i, t := range listed {
		if t.ServerName == serverName {
			name := mcpTaskName{serverName, t.McpTaskID}
			names = append(names, name)
			tasks[name] = &listed[i]
		}
	}
	name, err := uniqueMcpTask(id, names)
	return tasks[name], err
}

func isLost(call protocol.Call) bool {
	_, lost := call.Result.(protocol.CallLost)
	return lost
}

// mcpTaskName names an MCP task: each server has ids of its own.
type mcpTaskName struct{ server, id string }

// uniqueMcpTask returns the one of several MCP tasks with an id, or the one with an id that begins so. It is empty if
// there is none, and an error if there are several.
func uniqueMcpTask(given string, all []mcpTaskName) (mcpTaskName, error) {
	var exact, begin []mcpTaskName
	for _, name := range all {
		switch {
		case name.id == given:
			exact = append(exact, name)
		case strings.HasPrefix(name.id, given):
			begin = append(begin, name)
		}
	}
	switch {
	case len(exact) == 1:
		return exact[0], nil
	case len(exact) > 1:
		return mcpTaskName{}, protocol.Errorf(protocol.CodeInvalidParams, "several servers have an MCP task %q: name the server", given)
	case len(begin) == 0:
		return mcpTaskName{}, nil
	case len(begin) == 1:
		return begin[0], nil
	}
	var ids []string
	for _, name := range begin[:min(len(begin), 3)] {
		ids = append(ids, name.id)
	}
	return mcpTaskName{}, protocol.Errorf(protocol.CodeInvalidParams, "%d MCP tasks have an id that begins with %q, such as %s: write more of it, or name the server",
		len(begin), given, strings.Join(ids, " and "))
}
