package task_test

import (
	"testing"
	"time"

	"assent/protocol"
)

// mcpTask runs a call that became an MCP task to its end.
func (f *fixture) mcpTask(t *testing.T, id string, result protocol.CallResult) int64 {
	t.Helper()
	call, err := f.task.StartCall("s", tool("long"))
	if err != nil {
		t.Fatal(err)
	}
	f.task.CallTask(call, protocol.McpTask{TaskID: id, Status: protocol.McpTaskCompleted, CreatedAt: time.Now().UnixMilli()})
	f.task.EndCall(call, result)
	return call
}

func text(s string, isError bool) protocol.ToolResult {
	return protocol.ToolResult{Content: []protocol.ContentBlock{protocol.TextContent{Text: s}}, IsError: isError}
}

func TestWhichMcpTasksAreHeld(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	running, err := f.task.StartCall("s", tool("long"))
	if err != nil {
		t.Fatal(err)
	}
	f.task.CallTask(running, protocol.McpTask{TaskID: "running", Status: protocol.McpTaskWorking, CreatedAt: 1})
	f.mcpTask(t, "ended", text("much", false))
	f.mcpTask(t, "lost", protocol.CallLost{Reason: "It is gone."})
	if _, _, err := f.task.FollowMcpTask("s", protocol.TaskResultRequest{McpTaskID: "found"}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		server, id string
		want       bool
	}{
		{"s", "running", true},
		{"s", "ended", true},
		{"s", "found", true},
		{"s", "lost", false}, // nobody knows its end
		{"s", "another", false},
		{"another", "running", false},
		{"another", "ended", false},
	} {
		if got, err := f.registry.HoldsMcpTask(t.Context(), tt.server, tt.id); err != nil || got != tt.want {
			t.Errorf("HoldsMcpTask(%s, %s) = %v, %v, want %v", tt.server, tt.id, got, err, tt.want)
		}
	}
}
