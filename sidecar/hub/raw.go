package hub

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/hub/exchange"
	"assent/sidecar/hub/session"
)

// What a gateway needs: servers' own words and hosts' own requests, byte for byte.

// Introduction is what a server says about itself in the handshake.
type Introduction struct {
	// Info is its Implementation object, and Capabilities its ServerCapabilities.
	Info         json.RawMessage `json:"serverInfo"`
	Capabilities json.RawMessage `json:"capabilities"`
	// Instructions is the JSON string as the server wrote it; nil if it sent none.
	Instructions json.RawMessage `json:"instructions"`
}

// Introduction returns what a server says about itself. It starts the server if that is not running.
func (h *Hub) Introduction(ctx context.Context, serverName string) (Introduction, error) {
	s, err := h.server(serverName)
	if err != nil {
		return Introduction{}, err
	}
	c, release, err := s.Borrow(ctx, "")
	if err != nil {
		return Introduction{}, err
	}
	defer release()
	var i struct {
		Introduction
		Meta struct {
			Info json.RawMessage `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if err := jsonscan.Unmarshal(c.Handshake().Result, &i); err != nil {
		return Introduction{}, session.Failed(serverName, "its handshake cannot be read")
	}
	if i.Info == nil { // since 2026-07-28
		i.Info = i.Meta.Info
	}
	if len(i.Instructions) == 0 || i.Instructions[0] != '"' {
		i.Instructions = nil
	}
	if i.Info == nil {
		if i.Info, err = json.Marshal(map[string]string{"name": serverName, "version": ""}); err != nil {
			return Introduction{}, err
		}
	}
	return i.Introduction, nil
}

// Pages returns the pages of a list of a server, with the items that can be used, as all get them: their right
// parts are as the server wrote them, byte for byte. It starts the server if that is not running. A server without the
// capability has no pages.
func (h *Hub) Pages(ctx context.Context, serverName string, kind protocol.ListKind) ([]json.RawMessage, error) {
	if _, ok := listers[kind]; !ok {
		return nil, fmt.Errorf("no server has the list %q", kind)
	}
	return h.list(ctx, serverName, kind)
}

// Request sends a request of a host to a server for a task; see [exchange.Exchanges.Request].
func (h *Hub) Request(ctx context.Context, taskID, serverName, method string, params json.RawMessage, hooks Hooks) (json.RawMessage, protocol.CallResult) {
	s, err := h.server(serverName)
	if err != nil {
		return nil, exchange.CallFailure(serverName, err)
	}
	return s.Request(ctx, taskID, method, params, hooks)
}

// KnownTool returns a tool from the list of a server as it was read last, or nil. It sends no request.
func (h *Hub) KnownTool(serverName, toolName string) *protocol.Tool {
	raw := h.RawTool(serverName, toolName)
	if raw == nil {
		return nil
	}
	var t wireTool
	if jsonscan.Unmarshal(raw, &t) != nil {
		return nil
	}
	tool := t.withForm()
	return &tool
}

// RawTool returns the definition of a tool as its server wrote it, or nil. It sends no request; see KnownTool.
func (h *Hub) RawTool(serverName, toolName string) json.RawMessage {
	s, err := h.server(serverName)
	if err != nil {
		return nil
	}
	return s.lists.tool(toolName)
}

// Watch subscribes to a resource of a server until ctx ends; see [exchange.Exchanges.Watch]. [Options.ResourceUpdated]
// gets the server's notifications.
func (h *Hub) Watch(ctx context.Context, serverName, uri string, began func(error)) {
	s, err := h.server(serverName)
	if err != nil {
		began(err)
		return
	}
	s.Watch(ctx, uri, began)
}

// listRequests are how a list is read.
type listRequests struct {
	// has reports whether a server with these capabilities has the list.
	has func(*mcp.ServerCapabilities) bool
	ask lister
}

// listers are those of all lists.
var listers = map[protocol.ListKind]listRequests{
	protocol.ListTools:     {hasTools, listTools},
	protocol.ListResources: {hasResources, listResources},
	ListTemplates:          {hasResources, listResourceTemplates},
	protocol.ListPrompts:   {func(c *mcp.ServerCapabilities) bool { return c.Prompts != nil }, listPrompts},
}

// ParseResult returns a raw result of a host's request as the task shows it. The params are the host's.
func (h *Hub) ParseResult(serverName, method string, params, raw json.RawMessage) protocol.CallResult {
	result := exchange.ParseResult(serverName, method, raw)
	if method != "tools/call" {
		return result
	}
	var call struct {
		Name string `json:"name"`
	}
	if err := jsonscan.Unmarshal(params, &call); err != nil {
		return result // the server took it, so it knows better
	}
	s, err := h.server(serverName)
	if err != nil {
		return result // the server has gone since, and its tools are not known
	}
	return s.checked(call.Name, result)
}
