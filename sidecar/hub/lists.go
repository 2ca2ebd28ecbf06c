package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/protocol"
	"assent/sidecar/apps"
	"assent/sidecar/exchange"
	"assent/sidecar/form"
	"assent/sidecar/reason"
	"assent/sidecar/session"
	"assent/sidecar/wire"
)

// maxPages bounds a list, because a server may return cursors for ever.
const maxPages = 1000

// lister asks a session for one page of a list and returns the cursor of the next. If only is not nil, it removes from the
// page's result what go-sdk left out.
type lister func(ctx context.Context, session *mcp.ClientSession, cursor string) (next string, only func(json.RawMessage) (json.RawMessage, error), err error)

// list returns the pages of a list, and starts the server if it does not run. A server without
// the capability has an empty list.
func (h *Hub) list(ctx context.Context, serverName string, kind protocol.ListKind, has func(*mcp.ServerCapabilities) bool, ask lister) ([]json.RawMessage, error) {
	s, err := h.server(serverName)
	if err != nil {
		return nil, err
	}
	var raw []json.RawMessage
	for range session.MaxSends {
		if raw, err = s.list(ctx, kind, has, ask); !errors.Is(err, session.ErrUnsent) {
			break
		}
	}
	return raw, s.listError(ctx, err)
}

// list is [Hub.list] with one attempt.
func (s *server) list(ctx context.Context, kind protocol.ListKind, has func(*mcp.ServerCapabilities) bool, ask lister) ([]json.RawMessage, error) {
	if raw := s.lists.cached(kind); raw != nil && s.IsRunning() {
		return raw, nil
	}
	c, release, err := s.Borrow(ctx, "")
	if err != nil {
		return nil, err
	}
	defer release()
	if capabilities := c.Session().InitializeResult().Capabilities; capabilities == nil || !has(capabilities) {
		return nil, nil
	}
	generation := s.lists.generation(kind)
	var p pages
	var ttl time.Duration
	cursor := ""
	for range maxPages {
		next, only, capture, err := askPage(ctx, c, kind, ask, cursor)
		if err != nil {
			return nil, err
		}
		result := capture.Answer().Result
		if only != nil {
			if result, err = only(result); err != nil {
				return nil, session.Failed(s.name(), "its list cannot be read: "+reason.Of(err))
			}
		}
		p.raw = append(p.raw, result)
		var hint struct {
			TTL int64 `json:"ttlMs"`
		}
		if err := json.Unmarshal(result, &hint); err != nil {
			return nil, session.Failed(s.name(), "its list cannot be read: "+reason.Of(err))
		}
		if page := time.Duration(hint.TTL) * time.Millisecond; len(p.raw) == 1 || page < ttl {
			ttl = page
		}
		if next == "" || next == cursor {
			p.fresh = time.Now().Add(ttl)
			s.lists.keep(kind, p, generation)
			s.icons.listed(kind, p.raw)
			return p.raw, nil
		}
		cursor = next
	}
	return nil, session.Failed(s.name(), fmt.Sprintf("its list has no end: %d pages were read", maxPages))
}

// askPage asks for one page of a list.
func askPage(ctx context.Context, c *session.Conn, kind protocol.ListKind, ask lister, cursor string) (string, func(json.RawMessage) (json.RawMessage, error), *wire.Capture, error) {
	ctx, done := c.Within(ctx, "the list of "+string(kind))
	defer done()
	callCtx, capture := wire.WithCapture(ctx)
	next, only, err := ask(callCtx, c.Session(), cursor)
	if err != nil {
		err = c.Failure(ctx, capture, err)
	}
	return next, only, capture, err
}

// listError returns the [protocol.Error] that explains why a list cannot be read.
func (s *server) listError(ctx context.Context, err error) error {
	var answer *jsonrpc.Error
	switch {
	case err == nil, ctx.Err() != nil, errors.As(err, new(*protocol.Error)):
		return err
	case errors.As(err, &answer):
		return session.Failed(s.name(), fmt.Sprintf("it answered: %s (%d)", answer.Message, answer.Code))
	default:
		return session.Failed(s.name(), reason.Of(err))
	}
}

// Tools returns a server's tools, and starts the server if it does not run.
func (h *Hub) Tools(ctx context.Context, serverName string) ([]protocol.Tool, error) {
	raw, err := h.Pages(ctx, serverName, protocol.ListTools)
	if err != nil {
		return nil, err
	}
	s, err := h.server(serverName)
	takesTasks := err == nil && s.TakesTasks()
	var tools []protocol.Tool
	for _, page := range raw {
		more, err := parseTools(page)
		if err != nil {
			return nil, session.Failed(serverName, reason.Of(err))
		}
		for _, tool := range more {
			tool.McpTask = tool.McpTask && takesTasks
			tools = append(tools, tool)
		}
	}
	return tools, nil
}

func hasTools(c *mcp.ServerCapabilities) bool { return c.Tools != nil }

// listTools is the lister of tools.
func listTools(ctx context.Context, session *mcp.ClientSession, cursor string) (string, func(json.RawMessage) (json.RawMessage, error), error) {
	page, err := session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
	if err != nil {
		return "", nil, err
	}
	return page.NextCursor, onlyTools(page.Tools), nil
}

// onlyTools returns a function that removes from a page the tools that go-sdk refused: a tool with an invalid x-mcp-header
// must not be called (2026-07-28, "Transports: Custom Headers from Tool Parameters").
func onlyTools(taken []*mcp.Tool) func(json.RawMessage) (json.RawMessage, error) {
	return func(raw json.RawMessage) (json.RawMessage, error) {
		var page map[string]json.RawMessage
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, err
		}
		var tools, kept []json.RawMessage
		if list := page["tools"]; list == nil {
			return raw, nil
		} else if err := json.Unmarshal(list, &tools); err != nil {
			return nil, err
		}
		if len(tools) == len(taken) { // as nearly always
			return raw, nil
		}
		for _, tool := range tools {
			var named struct {
				Name string `json:"name"`
			}
			if err := json.Unmarshal(tool, &named); err != nil {
				return nil, err
			}
			if slices.ContainsFunc(taken, func(t *mcp.Tool) bool { return t.Name == named.Name }) {
				kept = append(kept, tool)
			}
		}
		list, err := json.Marshal(kept)
		if err != nil {
			return nil, err
		}
		page["tools"] = list
		return json.Marshal(page)
	}
}

// wireTool is a tool as its server lists it.
type wireTool struct {
	Name         string                    `json:"name"`
	Title        string                    `json:"title"`
	Description  string                    `json:"description"`
	InputSchema  json.RawMessage           `json:"inputSchema"`
	OutputSchema json.RawMessage           `json:"outputSchema"`
	Annotations  *protocol.ToolAnnotations `json:"annotations"`
	Execution    exchange.Execution        `json:"execution"`
	Meta         json.RawMessage           `json:"_meta"`
}

// tool returns the tool without its form.
func (t *wireTool) tool() protocol.Tool {
	tool := protocol.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
		Annotations: t.Annotations, McpTask: t.Execution.IsTask(),
	}
	if tool.Title == "" && t.Annotations != nil {
		tool.Title = t.Annotations.Title // 2025-03-26 had it there
	}
	ui := apps.ReadTool(t.Meta)
	tool.AppURI, tool.NotForModels, tool.NotForApps = ui.URI, ui.NotForModels, ui.NotForApps
	return tool
}

// withForm returns the tool with its form.
func (t *wireTool) withForm() (protocol.Tool, error) {
	tool := t.tool()
	var err error
	if tool.Fields, err = form.ParseInput(t.InputSchema); err != nil {
		return protocol.Tool{}, fmt.Errorf("its tool %q: inputSchema: %w", t.Name, err)
	}
	return tool, nil
}

// ParseTool returns a tool of a server's list, without its form.
func ParseTool(raw json.RawMessage) (protocol.Tool, error) {
	var t wireTool
	err := json.Unmarshal(raw, &t)
	return t.tool(), err
}

// parseTools reads a page of tools from the wire, where the order of a schema's properties is still
// the author's.
func parseTools(raw json.RawMessage) ([]protocol.Tool, error) {
	var page struct {
		Tools []wireTool `json:"tools"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return nil, fmt.Errorf("its tools cannot be read: %w", err)
	}
	var tools []protocol.Tool
	for _, t := range page.Tools {
		tool, err := t.withForm()
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// Resources returns a server's resources.
func (h *Hub) Resources(ctx context.Context, serverName string) ([]protocol.Resource, error) {
	raw, err := h.Pages(ctx, serverName, protocol.ListResources)
	if err != nil {
		return nil, err
	}
	return parseItems[protocol.Resource](serverName, raw, "resources")
}

// ResourceTemplates returns a server's resource templates.
func (h *Hub) ResourceTemplates(ctx context.Context, serverName string) ([]protocol.ResourceTemplate, error) {
	raw, err := h.Pages(ctx, serverName, listTemplates)
	if err != nil {
		return nil, err
	}
	return parseItems[protocol.ResourceTemplate](serverName, raw, "resourceTemplates")
}

// Prompts returns a server's prompts.
func (h *Hub) Prompts(ctx context.Context, serverName string) ([]protocol.Prompt, error) {
	raw, err := h.Pages(ctx, serverName, protocol.ListPrompts)
	if err != nil {
		return nil, err
	}
	return parseItems[protocol.Prompt](serverName, raw, "prompts")
}

// parseItems reads the pages of a list. The items stay as they are.
func parseItems[T any](serverName string, raw []json.RawMessage, member string) ([]T, error) {
	var items []T
	for _, page := range raw {
		var p map[string]json.RawMessage
		err := json.Unmarshal(page, &p)
		var more []T
		if err == nil && p[member] != nil {
			err = json.Unmarshal(p[member], &more)
		}
		if err != nil {
			return nil, session.Failed(serverName, fmt.Sprintf("its %s cannot be read: %s", member, reason.Of(err)))
		}
		items = append(items, more...)
	}
	return items, nil
}

// Complete returns what a server proposes for an argument of a prompt or a variable of a resource
// template (2025-03-26 and later, "Completion"). A server that does not complete proposes nothing.
func (h *Hub) Complete(ctx context.Context, p *protocol.CompleteParams) (*protocol.CompleteResult, error) {
	s, err := h.server(p.ServerName)
	if err != nil {
		return nil, err
	}
	c, release, err := s.Borrow(ctx, "")
	if err != nil {
		return nil, err
	}
	defer release()
	if capabilities := c.Session().InitializeResult().Capabilities; capabilities == nil || capabilities.Completions == nil {
		return &protocol.CompleteResult{}, nil
	}
	reference := &mcp.CompleteReference{Type: "ref/prompt", Name: p.PromptName}
	if p.URITemplate != "" {
		reference = &mcp.CompleteReference{Type: "ref/resource", URI: p.URITemplate}
	}
	ctx, done := c.Within(ctx, "the completion")
	defer done()
	callCtx, capture := wire.WithCapture(ctx)
	result, err := c.Session().Complete(callCtx, &mcp.CompleteParams{
		Ref:      reference,
		Argument: mcp.CompleteParamsArgument{Name: p.ArgumentName, Value: p.Value},
		Context:  &mcp.CompleteContext{Arguments: p.Arguments},
	})
	if err != nil {
		return nil, s.listError(ctx, c.Failure(ctx, capture, err))
	}
	return &protocol.CompleteResult{Values: result.Completion.Values, HasMore: result.Completion.HasMore}, nil
}

func hasResources(c *mcp.ServerCapabilities) bool { return c.Resources != nil }

// listResources is the lister of resources.
func listResources(ctx context.Context, session *mcp.ClientSession, cursor string) (string, func(json.RawMessage) (json.RawMessage, error), error) {
	page, err := session.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
	if err != nil {
		return "", nil, err
	}
	return page.NextCursor, nil, nil
}

// listResourceTemplates is the lister of resource templates.
func listResourceTemplates(ctx context.Context, session *mcp.ClientSession, cursor string) (string, func(json.RawMessage) (json.RawMessage, error), error) {
	page, err := session.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{Cursor: cursor})
	if err != nil {
		return "", nil, err
	}
	return page.NextCursor, nil, nil
}

// listPrompts is the lister of prompts.
func listPrompts(ctx context.Context, session *mcp.ClientSession, cursor string) (string, func(json.RawMessage) (json.RawMessage, error), error) {
	page, err := session.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
	if err != nil {
		return "", nil, err
	}
	return page.NextCursor, nil, nil
}

// listTemplates is cached beside the resources and changes with them.
const listTemplates protocol.ListKind = "resourceTemplates"
