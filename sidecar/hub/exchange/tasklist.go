package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/base/reason"
	"assent/sidecar/hub/session"
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

// TaskList is a server's list of MCP tasks. The problems are sentences on why it is incomplete.
type TaskList struct {
	Tasks    []protocol.ServerMcpTask
	Problems []string
}

// ListTasks asks on every connection, because each may be a process that knows no other's tasks. A server that does not run
// or does not declare its list lists nothing, and so does one of 2026-07-28. It takes a few seconds at most.
func (s *Exchanges) ListTasks(ctx context.Context) TaskList {
	conns, release := s.session.Connections()
	defer release()
	conns = slices.DeleteFunc(conns, func(c *session.Conn) bool {
		return c.IsModern() || !declaredTasks(c.Handshake()).list()
	})
	lists := make([]TaskList, len(conns))
	var asking sync.WaitGroup
	for i, c := range conns {
		asking.Go(func() { lists[i] = s.listTasks(ctx, c) })
	}
	asking.Wait()
	var all TaskList
	listed, told := map[string]bool{}, map[string]bool{}
	for _, list := range lists {
		for _, t := range list.Tasks {
			if !listed[t.McpTaskID] && len(all.Tasks) < maxListed {
				listed[t.McpTaskID] = true
				all.Tasks = append(all.Tasks, t)
			}
		}
		for _, problem := range list.Problems {
			if !told[problem] {
				told[problem] = true
				all.Problems = append(all.Problems, problem)
			}
		}
	}
	return all
}

// listTasks reads the list on one connection, page by page.
func (s *Exchanges) listTasks(ctx context.Context, c *session.Conn) (list TaskList) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTimeout, fmt.Errorf("it gave no whole answer within %v", listTimeout))
	defer cancel()
	unread := 0
	defer func() {
		if unread > 0 {
			list.Problems = append(list.Problems, fmt.Sprintf("%d of the tasks that it lists cannot be read.", unread))
		}
	}()
	seen := map[string]bool{}
	params := map[string]any{}
	for {
		raw, err := c.Call(ctx, "tasks/list", params)
		var page struct {
			Tasks      []json.RawMessage `json:"tasks"`
			NextCursor string            `json:"nextCursor"`
		}
		if err == nil && json.Unmarshal(raw, &page) != nil {
			err = errors.New("its answer cannot be read")
		}
		if err != nil {
			list.Problems = append(list.Problems, fmt.Sprintf("Its tasks cannot be listed: %s.", words(reason.Of(err))))
			return list
		}
		for _, one := range page.Tasks {
			if len(list.Tasks) == maxListed {
				list.Problems = append(list.Problems, fmt.Sprintf("It lists more than %d tasks; the others are left out.", maxListed))
				return list
			}
			if t, ok := s.listedTask("", one); ok {
				list.Tasks = append(list.Tasks, t)
			} else {
				unread++
			}
		}
		next := page.NextCursor
		if next == "" {
			return list
		}
		if seen[next] || len(seen)+1 == maxTaskPages {
			list.Problems = append(list.Problems, fmt.Sprintf("Its list of tasks has no end: %d pages were read.", len(seen)+1))
			return list
		}
		seen[next] = true
		params["cursor"] = next
	}
}

// listedTask reads a task of a list, or the one with an id.
func (s *Exchanges) listedTask(id string, raw json.RawMessage) (protocol.ServerMcpTask, bool) {
	state := parseTaskOf(id, raw)
	if state == nil || len(state.ID) > maxWords || !state.Valid() {
		return protocol.ServerMcpTask{}, false
	}
	var updated struct {
		At any `json:"lastUpdatedAt"`
	}
	_ = json.Unmarshal(raw, &updated) // this cannot fail: parseTaskOf has read it
	t := protocol.ServerMcpTask{
		ServerName: s.name(), McpTaskID: state.ID, Status: state.Status, StatusMessage: words(state.StatusMessage),
		CreatedAt: state.CreatedAt, LastUpdatedAt: unixMilli(updated.At),
	}
	if t.CreatedAt != 0 && state.TTL != nil {
		t.ExpiresAt = t.CreatedAt + state.TTL.Milliseconds()
	}
	return t, true
}

// unixMilli reads a time of the wire. It returns 0 for anything else.
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

// GetTask asks a server for one of its MCP tasks, starting the server if it is not running. It returns nil if
// the server refuses: then it does not know the task. Each connection is asked, because each may be to a process
// that knows no other's tasks.
func (s *Exchanges) GetTask(ctx context.Context, id string) (*protocol.ServerMcpTask, error) {
	c, release, err := s.session.Borrow(ctx, "")
	if err != nil {
		return nil, err
	}
	defer release()
	conns, releaseAll := s.session.Connections()
	defer releaseAll()
	conns = slices.DeleteFunc(conns, func(other *session.Conn) bool { return other == c })
	for _, c := range slices.Insert(conns, 0, c) {
		t, err := s.getTask(ctx, c, id)
		if t != nil || err != nil {
			return t, err
		}
	}
	return nil, nil
}

func (s *Exchanges) getTask(ctx context.Context, c *session.Conn, id string) (*protocol.ServerMcpTask, error) {
	raw, err := askTask(ctx, c, "tasks/get", id, map[string]any{})
	if errors.As(err, new(*jsonrpc.Error)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t, ok := s.listedTask(id, raw)
	if !ok || t.McpTaskID != id {
		return nil, errors.New("its answer about the MCP task cannot be read")
	}
	return &t, nil
}
