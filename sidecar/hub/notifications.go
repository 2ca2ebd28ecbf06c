package hub

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/members"
)

// notifications returns who is told of a server's notifications, by method. They are called before the next frame is
// read: a server that sends more than this can take has to wait, and nothing is queued. What is told to others from
// here is merged there: changes of a list in [server.listChanged], progress in task.Task.CallProgress, log messages in
// [noise].
func (c *conn) notifications() map[string]func(json.RawMessage) {
	changed := func(kind protocol.ListKind) func(json.RawMessage) {
		return func(json.RawMessage) { c.server.listChanged(kind) }
	}
	return map[string]func(json.RawMessage){
		"notifications/tasks":                  c.server.taskNews,
		"notifications/tasks/status":           c.server.taskNews,
		"notifications/elicitation/complete":   c.server.elicitationComplete,
		"notifications/progress":               c.progressed,
		"notifications/message":                c.logged,
		"notifications/tools/list_changed":     changed(protocol.ListTools),
		"notifications/prompts/list_changed":   changed(protocol.ListPrompts),
		"notifications/resources/list_changed": changed(protocol.ListResources),
	}
}

// logged takes a message of the server's log (2025-11-25, "Logging"). One that cannot be read is left out.
func (c *conn) logged(params json.RawMessage) {
	var m struct {
		Level  string          `json:"level"`
		Logger string          `json:"logger"`
		Data   json.RawMessage `json:"data"`
	}
	if members.Unmarshal(params, &m) != nil || m.Data == nil {
		return
	}
	c.server.noted.tail.addMessage(m.Level, m.Logger, m.Data)
	c.noise.log.WithLevel(logLevel(m.Level)).Str("logger", clip(m.Logger, tailLine)).Interface("data", m.Data).Msg("server log")
}

// logLevel is the nearest of ours to one of syslog's.
func logLevel(level string) zerolog.Level {
	switch level {
	case "debug":
		return zerolog.DebugLevel
	case "info", "notice":
		return zerolog.InfoLevel
	case "warning":
		return zerolog.WarnLevel
	default:
		return zerolog.ErrorLevel
	}
}

// noMemory takes the time to live from a list or a resource that go-sdk is about to keep. The hub has a memory of its
// own, which learns of changes in the order of the frames; go-sdk is not told of them.
func noMemory(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, r)
		switch result := result.(type) {
		case *mcp.ListToolsResult:
			result.TTLMs = 0
		case *mcp.ListPromptsResult:
			result.TTLMs = 0
		case *mcp.ListResourcesResult:
			result.TTLMs = 0
		case *mcp.ListResourceTemplatesResult:
			result.TTLMs = 0
		case *mcp.ReadResourceResult:
			result.TTLMs = 0
		}
		return result, err
	}
}
