package mcptask

import (
	"strings"

	"assent/protocol"
)

// spellings are words that servers use in place of MCP's for the status of a task.
var spellings = map[string]protocol.McpTaskStatus{
	"canceled": protocol.McpTaskCancelled, "aborted": protocol.McpTaskCancelled, "terminated": protocol.McpTaskCancelled,

	"complete": protocol.McpTaskCompleted, "done": protocol.McpTaskCompleted, "success": protocol.McpTaskCompleted,
	"successful": protocol.McpTaskCompleted, "succeeded": protocol.McpTaskCompleted, "finished": protocol.McpTaskCompleted,

	"failure": protocol.McpTaskFailed, "error": protocol.McpTaskFailed, "errored": protocol.McpTaskFailed,
	"rejected": protocol.McpTaskFailed, "expired": protocol.McpTaskFailed, "timed_out": protocol.McpTaskFailed, "timeout": protocol.McpTaskFailed,

	"pending": protocol.McpTaskWorking, "queued": protocol.McpTaskWorking, "submitted": protocol.McpTaskWorking, "created": protocol.McpTaskWorking,
	"running": protocol.McpTaskWorking, "in_progress": protocol.McpTaskWorking, "processing": protocol.McpTaskWorking, "started": protocol.McpTaskWorking,

	"input_needed": protocol.McpTaskInputRequired, "requires_input": protocol.McpTaskInputRequired, "waiting_for_input": protocol.McpTaskInputRequired,
}

// StatusOf returns MCP's status for the word of a server: the status itself in any case and with any separator, or a
// spelling that other task systems use. Any other word stays as it is.
func StatusOf(word string) protocol.McpTaskStatus {
	plain := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(word)))
	if s := (&State{Status: protocol.McpTaskStatus(plain)}); s.Valid() {
		return s.Status
	}
	if status, ok := spellings[plain]; ok {
		return status
	}
	return protocol.McpTaskStatus(word)
}
