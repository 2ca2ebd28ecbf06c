package exchange

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
)

// Request sends a request of a host to the server for a task, and returns the raw result, or else how the request ended. The
// params are the host's, without its progress token. If the call became an MCP task that goes on when Assent has closed, both
// are nil.
func (s *Exchanges) Request(ctx context.Context, taskID, method string, params json.RawMessage, hooks Hooks) (json.RawMessage, protocol.CallResult) {
	members := map[string]json.RawMessage{}
	if len(params) > 0 {
		maps.Insert(members, jsonscan.Of(params))
	}
	r := request{taskID: taskID, hooks: hooks, params: members}
	switch method {
	case "tools/call":
		r.toolName = textOf(members["name"])
		r.send = func(ctx context.Context, session *mcp.ClientSession) error {
			params := &mcp.CallToolParams{Name: r.toolName, Arguments: members["arguments"]}
			if token := progressToken(ctx); token != nil {
				params.SetProgressToken(token)
			}
			_, err := session.CallTool(ctx, params)
			return err
		}
	case "resources/read":
		r.resourceURI = textOf(members["uri"])
		r.send = func(ctx context.Context, session *mcp.ClientSession) error {
			_, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: r.resourceURI})
			return err
		}
	case "prompts/get":
		r.promptName = textOf(members["name"])
		r.send = func(ctx context.Context, session *mcp.ClientSession) error {
			_, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: r.promptName})
			return err
		}
	default:
		raw, err := s.passOn(ctx, taskID, method, params)
		if err != nil {
			return nil, CallFailure(s.name(), err)
		}
		return raw, nil
	}
	var raw json.RawMessage
	var err error
	if hooks.Known != nil {
		raw, err = s.resume(ctx, r, *hooks.Known)
	} else {
		raw, err = s.exchange(ctx, r)
	}
	if err == nil {
		raw, err = readable(method, raw)
	}
	if err != nil {
		return nil, endedOrNot(s.name(), err)
	}
	return forHost(method, r.resourceURI, raw), nil
}

// passOn sends a request that leads to no question.
func (s *Exchanges) passOn(ctx context.Context, taskID, method string, params json.RawMessage) (json.RawMessage, error) {
	c, release, err := s.session.Borrow(ctx, taskID)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, done := c.Within(ctx, method)
	defer done()
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	if !c.IsModern() {
		return c.Call(ctx, method, params)
	}
	members := maps.Collect(jsonscan.Of(params))
	meta := map[string]json.RawMessage{}
	if own := members["_meta"]; len(own) > 0 && own[0] == '{' {
		meta = maps.Collect(jsonscan.Of(own))
	}
	for name, value := range modernMeta(c) {
		if meta[name], err = json.Marshal(value); err != nil {
			return nil, err
		}
	}
	if members["_meta"], err = json.Marshal(meta); err != nil {
		return nil, err
	}
	return c.Call(ctx, method, members)
}

// withLogLevel returns the members of params with the level of the log messages that are wanted (2026-07-28, "Logging"),
// unless they have one.
func withLogLevel(params map[string]json.RawMessage, level string) (map[string]json.RawMessage, error) {
	const name = "io.modelcontextprotocol/logLevel"
	meta := map[string]json.RawMessage{}
	if own := params["_meta"]; len(own) > 0 && own[0] == '{' {
		maps.Insert(meta, jsonscan.Of(own))
	}
	if meta[name] != nil {
		return params, nil
	}
	var err error
	if meta[name], err = json.Marshal(level); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(meta)
	return union(params, map[string]json.RawMessage{"_meta": raw}), err
}

// ParseResult returns a raw result of a request as the task shows it.
func ParseResult(serverName, method string, raw json.RawMessage) protocol.CallResult {
	switch method {
	case "resources/read":
		return resourceResult(serverName, raw)
	case "prompts/get":
		return promptResult(serverName, raw)
	}
	return toolResult(serverName, raw, nil)
}

// textOf returns a string of JSON, or "".
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}
