package exchange

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/hub/session"
	"assent/sidecar/wire"
)

// CallTool calls a tool for a task, and returns how the call ended. The end of ctx cancels the call. The result is nil if the
// call became an MCP task and Assent closes before the task ends; see [Exchanges.ResumeTool].
func (s *Exchanges) CallTool(ctx context.Context, taskID, toolName string, arguments json.RawMessage, hooks Hooks) protocol.CallResult {
	raw, err := s.exchange(ctx, request{
		taskID: taskID, toolName: toolName, hooks: hooks,
		send: func(ctx context.Context, session *mcp.ClientSession) error {
			params := &mcp.CallToolParams{Name: toolName, Arguments: arguments}
			if token := progressToken(ctx); token != nil {
				params.SetProgressToken(token)
			}
			_, err := session.CallTool(ctx, params)
			return err
		},
	})
	return toolResult(s.name(), raw, err)
}

// endedOrNot returns how a call ended without a result, or nil if the next sidecar continues the call.
func endedOrNot(serverName string, err error) protocol.CallResult {
	if errors.Is(err, errGoesOn) {
		return nil
	}
	return CallFailure(serverName, err)
}

// toolResult returns how a tool call ended.
func toolResult(serverName string, raw json.RawMessage, err error) protocol.CallResult {
	if err != nil {
		return endedOrNot(serverName, err)
	}
	raw, err = readable("tools/call", raw)
	if err != nil {
		return CallFailure(serverName, err)
	}
	return parseToolResult(raw)
}

// ReadResource reads a resource for a task.
func (s *Exchanges) ReadResource(ctx context.Context, taskID, uri string, hooks Hooks) protocol.CallResult {
	raw, err := s.exchange(ctx, request{
		taskID: taskID, resourceURI: uri, hooks: hooks,
		send: func(ctx context.Context, session *mcp.ClientSession) error {
			_, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
			return err
		},
	})
	if err != nil {
		return endedOrNot(s.name(), err)
	}
	return resourceResult(s.name(), raw)
}

// resourceResult returns the contents of a resource.
func resourceResult(serverName string, raw json.RawMessage) protocol.CallResult {
	raw, err := readable("resources/read", raw)
	if err != nil {
		return CallFailure(serverName, err)
	}
	var wire struct {
		Contents []json.RawMessage `json:"contents"`
	}
	if err := jsonscan.Unmarshal(raw, &wire); err != nil {
		return unusable(serverName, "its resource cannot be read: "+reason.Of(err))
	}
	var result protocol.ToolResult
	for _, contents := range wire.Contents {
		result.Content = append(result.Content, parseContents(contents))
	}
	return result
}

// GetPrompt fills in a prompt for a task.
func (s *Exchanges) GetPrompt(ctx context.Context, taskID, promptName string, arguments map[string]string, hooks Hooks) protocol.CallResult {
	raw, err := s.exchange(ctx, request{
		taskID: taskID, promptName: promptName, hooks: hooks,
		send: func(ctx context.Context, session *mcp.ClientSession) error {
			_, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: promptName, Arguments: arguments})
			return err
		},
	})
	if err != nil {
		return endedOrNot(s.name(), err)
	}
	return promptResult(s.name(), raw)
}

// promptResult returns a prompt that was filled in.
func promptResult(serverName string, raw json.RawMessage) protocol.CallResult {
	raw, err := readable("prompts/get", raw)
	if err != nil {
		return CallFailure(serverName, err)
	}
	var wire struct {
		Description json.RawMessage   `json:"description"`
		Messages    []json.RawMessage `json:"messages"`
	}
	if err := jsonscan.Unmarshal(raw, &wire); err != nil {
		return unusable(serverName, "its prompt cannot be read: "+reason.Of(err))
	}
	result := protocol.PromptResult{Description: textOf(wire.Description)}
	for _, raw := range wire.Messages {
		var m struct {
			Role    protocol.Role   `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if jsonscan.Unmarshal(raw, &m) != nil || m.Content == nil {
			m.Content = raw
		}
		result.Messages = append(result.Messages, protocol.PromptMessage{Role: cmp.Or(m.Role, protocol.RoleUser), Content: parseBlock(m.Content)})
	}
	return result
}

// exchange runs an exchange with the server.
func (s *Exchanges) exchange(ctx context.Context, r request) (json.RawMessage, error) {
	x := &exchange{server: s, request: r}
	ctx, end := s.begin(ctx, x)
	defer end()
	return x.runOrFallBack(ctx)
}

// CallFailure returns how an exchange without a result ended.
func CallFailure(serverName string, err error) protocol.CallResult {
	var rpc *jsonrpc.Error
	var abandoned attribution.Abandoned
	var over session.LostError
	var taskLost taskLostError
	var stopped session.Stopped
	var none session.NoAnswerError
	var bad session.BadAnswerError
	var own *protocol.Error
	var long *wire.TooLongError
	var unread *wire.UnreadableError
	var overdue session.Overdue
	var panicked *reason.Panic
	switch {
	case errors.As(err, &rpc):
		return protocol.CallError{Code: rpc.Code, Message: rpc.Message, Data: rpc.Data}
	case errors.As(err, &abandoned):
		return protocol.CallAbandoned{Reason: abandoned.Reason}
	case errors.As(err, &taskLost):
		return protocol.CallLost{Reason: taskLost.reason}
	case errors.As(err, &over):
		return lost(serverName, over.Reason)
	case errors.As(err, &long):
		return protocol.CallLost{Reason: fmt.Sprintf(
			"The answer of the MCP server %q has %.1f MB, and no more than %.0f MB are read. Ask for less at a time.",
			serverName, megabytes(long.Size), megabytes(long.Max))}
	case errors.Is(err, wire.ErrTooDeep):
		return noAnswer(serverName, wire.ErrTooDeep.Error())
	case errors.As(err, &unread):
		return unusable(serverName, unread.Error())
	case errors.As(err, &overdue):
		return noAnswer(serverName, overdue.Error())
	case errors.As(err, &none):
		return noAnswer(serverName, none.Reason)
	case errors.As(err, &bad):
		return unusable(serverName, bad.Reason)
	case errors.As(err, &stopped):
		return lost(serverName, stopped.Reason)
	case errors.As(err, &own):
		return protocol.CallLost{Reason: own.Message}
	case errors.As(err, &panicked):
		return protocol.CallLost{Reason: panicked.Error() + "."}
	case attribution.WasCancelled(err):
		return protocol.CallCancelled{}
	default:
		return noAnswer(serverName, reason.Of(err))
	}
}

func megabytes(size int) float64 { return float64(size) / (1 << 20) }

// lost is the result of a call when its server has ended.
func lost(name, reason string) protocol.CallLost {
	return protocol.CallLost{Reason: fmt.Sprintf("The MCP server %q is gone: %s. Run the tool again to restart it.", name, reason)}
}

// noAnswer is the result of a call without an answer. The server still runs.
func noAnswer(name, reason string) protocol.CallLost {
	return protocol.CallLost{Reason: fmt.Sprintf("The MCP server %q gave no answer: %s.", name, reason)}
}

// unusable is the result of a call with an answer that cannot be used.
func unusable(name, reason string) protocol.CallLost {
	return protocol.CallLost{Reason: fmt.Sprintf("The answer of the MCP server %q cannot be used: %s.", name, reason)}
}

// parseToolResult returns a result that [readable] has returned, and keeps the members that it does not know. It copies
// only what it decodes: a result may have megabytes.
func parseToolResult(raw json.RawMessage) protocol.ToolResult {
	var result protocol.ToolResult
	for name, value := range jsonscan.Of(raw) {
		switch name {
		case "content":
			result.Content = nil
			for block := range jsonscan.Elements(value) {
				result.Content = append(result.Content, parseBlock(block))
			}
		case "structuredContent":
			result.StructuredContent = bytes.Clone(value)
		case "isError":
			result.IsError = string(value) == "true"
		case "_meta":
			result.Meta = bytes.Clone(value)
		}
	}
	return result
}
