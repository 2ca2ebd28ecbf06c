package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/reason"
)

// Bounds of what a server may list.
const (
	// listTimeout is for all pages of a connection: a person is looking at the list.
	listTimeout  = 3 * time.Second
	maxTaskPages = 50
	// maxListed bounds the tasks of one server, and maxWords the bytes of each text of a task.
	maxListed = 500
	maxWords  = 1000
)

// ListTasks returns the MCP tasks that servers list (2025-11-25, "Tasks: Listing Tasks"), in the order of
// the configuration, and why some lists are not whole. Only servers that run and declare their list are
// asked; those of 2026-07-28 have none. It takes a few seconds at most.
func (h *Hub) ListTasks(ctx context.Context) ([]protocol.ServerMcpTask, []protocol.ServerMcpTasksProblem) {
	h.mu.Lock()
	servers := h.servers
	h.mu.Unlock()
	lists := make([]taskList, len(servers))
	var asking sync.WaitGroup
	for i, s := range servers {
		asking.Go(func() { lists[i] = s.listTasks(ctx) })
	}
	asking.Wait()
	var tasks []protocol.ServerMcpTask
	var problems []protocol.ServerMcpTasksProblem
	for i, list := range lists {
		tasks = append(tasks, list.tasks...)
		for _, problem := range list.problems {
			problems = append(problems, protocol.ServerMcpTasksProblem{ServerName: servers[i].config.Name, Message: problem})
		}
	}
	return tasks, problems
}

// taskList is what was read of a server's list, and in sentences why it is no more.
type taskList struct {
	tasks    []protocol.ServerMcpTask
	problems []string
}

// listTasks asks on every connection, because each may be a process that knows no other's tasks.
func (s *server) listTasks(ctx context.Context) taskList {
	s.mu.Lock()
	var conns []*conn
	for c := range s.running {
		if !c.modern() && c.declaredTasks().list() {
			conns = append(conns, c)
			defer c.hold()()
		}
	}
	s.mu.Unlock()
	lists := make([]taskList, len(conns))
	var asking sync.WaitGroup
	for i, c := range conns {
		asking.Go(func() { lists[i] = c.listTasks(ctx) })
	}
	asking.Wait()
	var all taskList
	listed, told := map[string]bool{}, map[string]bool{}
	for _, list := range lists {
		for _, t := range list.tasks {
			if !listed[t.McpTaskID] && len(all.tasks) < maxListed {
				listed[t.McpTaskID] = true
				all.tasks = append(all.tasks, t)
			}
		}
		for _, problem := range list.problems {
			if !told[problem] {
				told[problem] = true
				all.problems = append(all.problems, problem)
			}
		}
	}
	return all
}

// listTasks reads the list on one connection, page by page.
func (c *conn) listTasks(ctx context.Context) (list taskList) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTimeout, fmt.Errorf("it gave no whole answer within %v", listTimeout))
	defer cancel()
	unread := 0
	defer func() {
		if unread > 0 {
			list.problems = append(list.problems, fmt.Sprintf("%d of the tasks that it lists cannot be read.", unread))
		}
	}()
	seen := map[string]bool{}
	params := map[string]any{}
	for {
		raw, err := c.link.call(ctx, "tasks/list", params)
		var page struct {
			Tasks      []json.RawMessage `json:"tasks"`
			NextCursor string            `json:"nextCursor"`
		}
		if err == nil && json.Unmarshal(raw, &page) != nil {
			err = errors.New("its answer cannot be read")
		}
		if err != nil {
			list.problems = append(list.problems, fmt.Sprintf("Its tasks cannot be listed: %s.", words(reason.Of(err))))
			return list
		}
		for _, one := range page.Tasks {
			if len(list.tasks) == maxListed {
				list.problems = append(list.problems, fmt.Sprintf("It lists more than %d tasks; the others are left out.", maxListed))
				return list
			}
			if t, ok := c.listedTask(one); ok {
				list.tasks = append(list.tasks, t)
			} else {
				unread++
			}
		}
		next := page.NextCursor
		if next == "" {
			return list
		}
		if seen[next] || len(seen)+1 == maxTaskPages {
			list.problems = append(list.problems, fmt.Sprintf("Its list of tasks has no end: %d pages were read.", len(seen)+1))
			return list
		}
		seen[next] = true
		params["cursor"] = next
	}
}

// listedTask reads a task of a list.
func (c *conn) listedTask(raw json.RawMessage) (protocol.ServerMcpTask, bool) {
	state := parseTask(raw)
	if state == nil || len(state.ID) > maxWords || !state.Valid() {
		return protocol.ServerMcpTask{}, false
	}
	var updated struct {
		At any `json:"lastUpdatedAt"`
	}
	_ = json.Unmarshal(raw, &updated) // it was read as a task before, so that this cannot fail
	t := protocol.ServerMcpTask{
		ServerName: c.server.config.Name, McpTaskID: state.ID, Status: state.Status, StatusMessage: words(state.StatusMessage),
		CreatedAt: state.CreatedAt, LastUpdatedAt: unixMilli(updated.At),
	}
	if t.CreatedAt != 0 && state.TTL != nil {
		t.ExpiresAt = t.CreatedAt + state.TTL.Milliseconds()
	}
	return t, true
}

// unixMilli reads a time of the wire, 0 where it is none.
func unixMilli(value any) int64 {
	text, _ := value.(string)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// words bounds a server's text.
func words(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxWords)], "")
}
