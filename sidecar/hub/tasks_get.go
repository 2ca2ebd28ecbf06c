package hub

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
)

// GetTask asks a server for one of its MCP tasks, starting the server if it is not running. It returns nil if
// the server refuses: then it does not know the task. Each connection is asked, because each may be to a process
// that knows no other's tasks.
func (h *Hub) GetTask(ctx context.Context, serverName, id string) (*protocol.ServerMcpTask, error) {
	s, err := h.server(serverName)
	if err != nil {
		return nil, err
	}
	c, release, err := s.borrow(ctx, "")
	if err != nil {
		return nil, err
	}
	defer release()
	conns := []*conn{c}
	s.mu.Lock()
	for other := range s.running {
		if other != c {
			conns = append(conns, other)
			defer other.hold()()
		}
	}
	s.mu.Unlock()
	for _, c := range conns {
		t, err := c.getTask(ctx, id)
		if t != nil || err != nil {
			return t, s.listError(ctx, err)
		}
	}
	return nil, nil
}

func (c *conn) getTask(ctx context.Context, id string) (*protocol.ServerMcpTask, error) {
	raw, err := c.askTask(ctx, "tasks/get", id, map[string]any{})
	if errors.As(err, new(*jsonrpc.Error)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t, ok := c.listedTask(raw)
	if !ok || t.McpTaskID != id {
		return nil, errors.New("its answer about the MCP task cannot be read")
	}
	return &t, nil
}
