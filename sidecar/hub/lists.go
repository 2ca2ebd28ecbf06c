package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
	"assent/sidecar/broker/form"
	"assent/sidecar/hub/exchange"
	"assent/sidecar/hub/session"
	"assent/sidecar/hub/shape"
	"assent/sidecar/wire"
	"assent/sidecar/wire/apps"
)

// lister asks a session for one page of a list. For tools it returns those of the page that go-sdk did not refuse.
type lister func(ctx context.Context, session *mcp.ClientSession, cursor string) ([]*mcp.Tool, error)

// list returns the pages of a list, and starts the server if it does not run. A server without
// the capability has an empty list.
func (h *Hub) list(ctx context.Context, serverName string, kind protocol.ListKind) ([]json.RawMessage, error) {
	s, err := h.server(serverName)
	if err != nil {
		return nil, err
	}
	raw, err := s.list(ctx, kind)
	return raw, s.listError(ctx, err)
}

// list is [Hub.list] of one server, with the errors of the session.
func (s *server) list(ctx context.Context, kind protocol.ListKind) (raw []json.RawMessage, err error) {
	for range session.MaxSends {
		var again bool
		if raw, again, err = s.readList(ctx, kind); !again {
			break
		}
	}
	return raw, err
}

// readList is one attempt of list. Again: the connection ended, and another one can take the request. It was the
// connection of a task, for example, which was closed.
func (s *server) readList(ctx context.Context, kind protocol.ListKind) (_ []json.RawMessage, again bool, _ error) {
	if raw := s.lists.cached(kind); raw != nil && s.IsRunning() {
		return raw, false, nil
	}
	c, release, err := s.Borrow(ctx, "")
	if err != nil {
		return nil, false, err
	}
	defer release()
	l := listers[kind]
	capabilities := c.Session().InitializeResult().Capabilities
	declared := capabilities != nil && l.has(capabilities)
	if !declared && (kind != protocol.ListTools || declaresLists(capabilities)) {
		return nil, false, nil
	}
	generation := s.lists.generation(kind)
	r := &listReader{kind: kind, modern: c.IsModern(), keys: map[string]bool{}, cursors: map[string]bool{}}
	err = r.read(ctx, c, l.ask)
	again = errors.Is(err, session.ErrUnsent) || ctx.Err() == nil && c.ClosedWithAnother("")
	var refusal *jsonrpc.Error
	switch asRefusal := errors.As(err, &refusal); {
	case !declared && (asRefusal || errors.As(err, new(session.BadAnswerError)) || errors.As(err, new(session.NoAnswerError))): // it has none
		err = nil
	case !declared && r.items > 0:
		r.say("The server does not declare %s, and has some", r.name())
	case asRefusal && refusal.Code == jsonrpc.CodeMethodNotFound:
		if err = nil; kind != ListTemplates { // which many servers with resources do not have
			r.say("The server declares %s, and does not know the request for their list", r.name())
		}
	case kind == ListTemplates && err != nil && ctx.Err() == nil && !again:
		// They must not take the resources away, which front ends and hosts show beside them.
		r.say("The list of %s is missing: %s", r.name(), strings.TrimSuffix(listProblem(err), "."))
		err = nil
	}
	if err != nil {
		return nil, again, err
	}
	s.lists.keep(kind, pages{raw: r.pages, fresh: time.Now().Add(r.ttl), problems: r.told()}, generation)
	s.icons.listed(kind, r.pages)
	return r.pages, false, nil
}

// declaresLists reports whether a server declares any list. Servers that are written by hand, and have tools, often declare
// nothing.
func declaresLists(capabilities *mcp.ServerCapabilities) bool {
	return capabilities != nil && (capabilities.Tools != nil || capabilities.Prompts != nil || capabilities.Resources != nil)
}

// listError returns the [protocol.Error] that explains why a list cannot be read.
func (s *server) listError(ctx context.Context, err error) error {
	switch {
	case err == nil, ctx.Err() != nil, errors.As(err, new(*protocol.Error)):
		return err
	default:
		return session.Failed(s.name(), listProblem(err))
	}
}

// listProblem returns why a list cannot be read, as the rest of a sentence about its server.
func listProblem(err error) string {
	var answer *jsonrpc.Error
	if errors.As(err, &answer) {
		return fmt.Sprintf("it answered: %s (%d)", answer.Message, answer.Code)
	}
	return reason.Of(err)
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
	for _, one := range parseItems[wireTool](raw, protocol.ListTools) {
		tool := one.withForm()
		tool.McpTask = tool.McpTask && takesTasks
		tools = append(tools, tool)
	}
	return tools, nil
}

// ListProblems returns sentences about the odd parts of a list of a server, as it was read last. It sends no request.
func (h *Hub) ListProblems(serverName string, kind protocol.ListKind) []string {
	s, err := h.server(serverName)
	if err != nil {
		return nil
	}
	return s.lists.problemsOf(kind)
}

func hasTools(c *mcp.ServerCapabilities) bool { return c.Tools != nil }

// listTools is the lister of tools.
func listTools(ctx context.Context, session *mcp.ClientSession, cursor string) ([]*mcp.Tool, error) {
	page, err := session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
	if err != nil {
		return nil, err
	}
	return page.Tools, nil
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

// withForm returns the tool with its form. Its schema may name a required property that it does not describe.
func (t *wireTool) withForm() protocol.Tool {
	tool := t.tool()
	schema, merged := form.Flat(t.InputSchema)
	more := jsonscan.Member(schema, "additionalProperties")
	tool.MoreArguments = merged || string(more) == "true" || shape.KindOf(more) == "object"
	described := jsonscan.Member(schema, "properties")
	if described == nil {
		described = json.RawMessage("{}")
	}
	all := described
	for _, one := range elements(jsonscan.Member(schema, "required")) {
		var name string
		if json.Unmarshal(one, &name) == nil && jsonscan.Member(all, name) == nil {
			all = jsonscan.With(all, name, json.RawMessage("{}"))
		}
	}
	if len(all) > len(described) {
		schema = jsonscan.With(jsonscan.Edit(schema, func(name string, value json.RawMessage) json.RawMessage {
			if name == "properties" {
				return nil
			}
			return value
		}), "properties", all)
	}
	var err error
	if tool.Fields, err = form.ParseInput(schema); err != nil {
		tool.Fields, tool.MoreArguments = nil, true
	}
	return tool
}

// ParseTool returns a tool of a server's list, without its form.
func ParseTool(raw json.RawMessage) (protocol.Tool, error) {
	var t wireTool
	err := jsonscan.Unmarshal(raw, &t)
	return t.tool(), err
}

// Resources returns a server's resources.
func (h *Hub) Resources(ctx context.Context, serverName string) ([]protocol.Resource, error) {
	raw, err := h.Pages(ctx, serverName, protocol.ListResources)
	if err != nil {
		return nil, err
	}
	return parseItems[protocol.Resource](raw, protocol.ListResources), nil
}

// ResourceTemplates returns a server's resource templates.
func (h *Hub) ResourceTemplates(ctx context.Context, serverName string) ([]protocol.ResourceTemplate, error) {
	raw, err := h.Pages(ctx, serverName, ListTemplates)
	if err != nil {
		return nil, err
	}
	return parseItems[protocol.ResourceTemplate](raw, ListTemplates), nil
}

// Prompts returns a server's prompts.
func (h *Hub) Prompts(ctx context.Context, serverName string) ([]protocol.Prompt, error) {
	raw, err := h.Pages(ctx, serverName, protocol.ListPrompts)
	if err != nil {
		return nil, err
	}
	return parseItems[protocol.Prompt](raw, protocol.ListPrompts), nil
}

// parseItems reads the items of a list, which a [listReader] has repaired.
func parseItems[T any](pages []json.RawMessage, kind protocol.ListKind) (items []T) {
	for _, page := range pages {
		for _, raw := range elements(jsonscan.Member(page, string(kind))) {
			var item T
			if jsonscan.Unmarshal(raw, &item) == nil {
				items = append(items, item)
			}
		}
	}
	return items
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
func listResources(ctx context.Context, session *mcp.ClientSession, cursor string) ([]*mcp.Tool, error) {
	_, err := session.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
	return nil, err
}

// listResourceTemplates is the lister of resource templates.
func listResourceTemplates(ctx context.Context, session *mcp.ClientSession, cursor string) ([]*mcp.Tool, error) {
	_, err := session.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{Cursor: cursor})
	return nil, err
}

// listPrompts is the lister of prompts.
func listPrompts(ctx context.Context, session *mcp.ClientSession, cursor string) ([]*mcp.Tool, error) {
	_, err := session.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
	return nil, err
}

// ListTemplates is cached beside the resources and changes with them.
const ListTemplates protocol.ListKind = "resourceTemplates"
