package task_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
		{"s", "lost", false}, // its result is unknown
		{"s", "another", false},
		{"another", "running", false},
		{"another", "ended", false},
	} {
		if got, err := f.registry.HoldsMcpTask(t.Context(), tt.server, tt.id); err != nil || got != tt.want {
			t.Errorf("HoldsMcpTask(%s, %s) = %v, %v, want %v", tt.server, tt.id, got, err, tt.want)
		}
	}
}

// Running MCP tasks come first, regardless of their age, so none is on a page behind those that
// ended.
func TestTheListOfMcpTasksHasPages(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	running, err := f.task.StartCall("s", tool("long"))
	if err != nil {
		t.Fatal(err)
	}
	f.task.CallTask(running, protocol.McpTask{TaskID: "running", Status: protocol.McpTaskWorking, CreatedAt: 1})
	want := []string{"running"}
	for i := range 250 {
		id := fmt.Sprintf("ended %d", i)
		call, err := f.task.StartCall("s", tool("long"))
		if err != nil {
			t.Fatal(err)
		}
		f.task.CallTask(call, protocol.McpTask{TaskID: id, Status: protocol.McpTaskCompleted, CreatedAt: int64(2 + i/3)}) // some at the same time
		f.task.EndCall(call, text("much", false))
		want = slices.Insert(want, 1, id)
	}
	var got []string
	var pages []int
	for cursor := ""; len(pages) == 0 || cursor != ""; {
		var entries []protocol.McpTaskEntry
		if entries, cursor, err = f.registry.McpTasks(t.Context(), cursor); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, len(entries))
		for _, e := range entries {
			got = append(got, e.Call.Task.TaskID)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("MCP tasks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{100, 100, 51}, pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	for _, wrong := range []string{"x", "true.1.t", "true.one.t.1", "maybe.1.t.1"} {
		if _, _, err := f.registry.McpTasks(t.Context(), wrong); err == nil {
			t.Errorf("the cursor %q is taken", wrong)
		}
	}
}

func TestMcpTasksAreFoundByTheBeginningOfTheirIDs(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	for _, id := range []string{"ab1", "ab2", "a%", "ab1"} {
		f.mcpTask(t, id, text("much", false))
	}
	for _, tt := range []struct {
		beginning string
		want      []string
	}{
		{"ab1", []string{"ab1", "ab1"}},
		{"ab", []string{"ab1", "ab2", "ab1"}},
		{"a%", []string{"a%"}}, // % has no special meaning
		{"b", nil},
	} {
		entries, err := f.registry.McpTasksNamed(t.Context(), tt.beginning)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.Call.Task.TaskID)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.beginning, diff)
		}
	}
}
