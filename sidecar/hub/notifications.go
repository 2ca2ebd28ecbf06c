package hub

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/diagnose"
	"assent/sidecar/jsonscan"
)

// notifications returns the functions that handle a server's notifications, by method. The next frame is read when they
// return, so a server that sends faster has to wait, and nothing is queued. [server.listChanged] merges changes of a
// list, task.Task.CallProgress merges progress, and [noise] samples log messages.
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

// logged handles a message for the log (2025-11-25, "Logging"). It ignores one that cannot be read or has no data.
func (c *conn) logged(params json.RawMessage) {
	var m struct {
		Level  string          `json:"level"`
		Logger string          `json:"logger"`
		Data   json.RawMessage `json:"data"`
	}
	if jsonscan.Unmarshal(params, &m) != nil || m.Data == nil {
		return
	}
	c.server.noted.tail.AddMessage(m.Level, m.Logger, m.Data)
	c.noise.log.WithLevel(logLevel(m.Level)).Str("logger", diagnose.Clip(m.Logger, diagnose.MaxLine)).Interface("data", m.Data).Msg("server log")
}

// logLevel returns the level of zerolog that is nearest to one of syslog.
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

// noMemory has go-sdk cache no list and no resource, by removing the time to live from results. The hub has a cache of its
// own, which learns of changes in the order of the frames. go-sdk does not get these notifications.
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
