package task

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// mcpTasksPage is how many MCP tasks a page of their list has.
const mcpTasksPage = 100

// McpTasks returns a page of the calls that became MCP tasks, and the cursor of the next page; see
// [protocol.ListMcpTasksResult]. The cursor of the first page, and after the last one, is empty.
func (r *Registry) McpTasks(ctx context.Context, cursor string) (entries []protocol.McpTaskEntry, next string, err error) {
	after, err := parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	if err := r.load(); err != nil {
		return nil, "", err
	}
	places, err := r.storage.Opened().McpTasks(ctx, after, mcpTasksPage+1)
	if err != nil {
		return nil, "", err
	}
	if len(places) > mcpTasksPage {
		places = places[:mcpTasksPage]
		next = cursorAfter(places[mcpTasksPage-1])
	}
	var at []store.Place
	for _, p := range places {
		at = append(at, p.Place)
	}
	return r.mcpTasksAt(ctx, at), next, nil
}

// cursorAfter returns the cursor of the page that begins after a place.
func cursorAfter(p store.McpTaskPlace) string {
	return fmt.Sprintf("%t.%d.%s.%d", p.Live, p.McpTask, p.TaskID, p.MessageID)
}

func parseCursor(cursor string) (*store.McpTaskPlace, error) {
	if cursor == "" {
		return nil, nil
	}
	parts := strings.Split(cursor, ".")
	if len(parts) == 4 {
		live, err1 := strconv.ParseBool(parts[0])
		since, err2 := strconv.ParseInt(parts[1], 10, 64)
		message, err3 := strconv.ParseInt(parts[3], 10, 64)
		if errors.Join(err1, err2, err3) == nil {
			return &store.McpTaskPlace{Place: store.Place{TaskID: parts[2], MessageID: message}, Live: live, McpTask: since}, nil
		}
	}
	return nil, protocol.Errorf(protocol.CodeInvalidParams, "%q is not a cursor of a list of MCP tasks", cursor)
}

// McpTasksNamed returns the calls that became an MCP task with this id or prefix of an id, the newest first.
func (r *Registry) McpTasksNamed(ctx context.Context, beginning string) ([]protocol.McpTaskEntry, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	places, err := r.storage.Opened().McpTasksNamed(ctx, beginning)
	if err != nil {
		return nil, err
	}
	return r.mcpTasksAt(ctx, places), nil
}

// mcpTasksAt reads entries of the list. It leaves out those of deleted conversations, and those that cannot
// be read.
func (r *Registry) mcpTasksAt(ctx context.Context, places []store.Place) (entries []protocol.McpTaskEntry) {
	for _, p := range places {
		entry, err := r.mcpTask(ctx, p)
		switch {
		case err == nil:
			entries = append(entries, *entry)
		case !isUnknown(err):
			r.opts.Log.Warn().Err(err).Str("task", p.TaskID).Int64("message", p.MessageID).Msg("an MCP task cannot be read")
		}
	}
	return entries
}

// mcpTask reads one entry of the list: a call and how it ended, without the content of its result.
func (r *Registry) mcpTask(ctx context.Context, p store.Place) (*protocol.McpTaskEntry, error) {
	t, err := r.Get(p.TaskID)
	if err != nil {
		return nil, err
	}
	m, err := t.message(ctx, p.MessageID)
	if err != nil {
		return nil, err
	}
	call, ok := m.Body.(protocol.Call)
	if !ok {
		return nil, errors.New("the message is not a call")
	}
	if result, ok := call.Result.(protocol.ToolResult); ok {
		call.Result = protocol.ToolResult{IsError: result.IsError}
	}
	return &protocol.McpTaskEntry{TaskID: p.TaskID, Title: t.Info().Title, MessageID: m.ID, Time: m.Time, Call: call}, nil
}

// HoldsMcpTask reports whether a call of any task follows this MCP task of a server, or has its result.
// A call that lost its server does neither: if the server still has the task, another call can follow
// it.
func (r *Registry) HoldsMcpTask(ctx context.Context, serverName, mcpTaskID string) (bool, error) {
	if err := r.load(); err != nil {
		return false, err
	}
	for _, t := range r.all() {
		if t.holds(serverName, mcpTaskID) {
			return true, nil
		}
	}
	calls, err := r.storage.Opened().McpTask(ctx, mcpTaskID)
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

// holds is [Registry.HoldsMcpTask] for the messages in memory.
func (t *Task) holds(serverName, mcpTaskID string) bool {
	t.log.Lock()
	defer t.log.Unlock()
	for m := range t.log.Messages() {
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
