package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// ended is a call that became an MCP task and has a result that no front end has received.
func ended(id int64, mcpTaskID string) store.Entry {
	return store.Entry{
		Message: protocol.Message{ID: id, Time: 1000, Body: protocol.Call{
			ServerName: "s", Request: protocol.TaskResultRequest{McpTaskID: mcpTaskID},
			Task: &protocol.McpTask{TaskID: mcpTaskID, Status: protocol.McpTaskCompleted, CreatedAt: 5}, EndedAt: 6, Result: protocol.ToolResult{},
		}},
		Number: id, McpTask: 5, McpTaskID: mcpTaskID, ResultGot: new(int64),
	}
}

func TestResultsAreFoundByWhenTheyWereGot(t *testing.T) {
	s := open(t, t.TempDir())
	one, two := protocol.Task{ID: "t1"}, protocol.Task{ID: "t2"}
	for id := int64(1); id <= 3; id++ {
		save(t, s, one, ended(id, "a"))
	}
	save(t, s, one, notice(4, 4, "no result"))
	save(t, s, two, ended(1, "a"))
	got := func(task string, first, last, now int64) {
		t.Helper()
		if err := s.GotResults(t.Context(), task, first, last, now); err != nil {
			t.Fatal(err)
		}
	}
	got("t1", 2, 2, 10)
	got("t1", 2, 4, 20) // 2 was received before
	removed := ended(3, "a")
	removed.ResultGot = nil
	want := func(before int64, places ...store.Place) {
		t.Helper()
		found, err := s.ResultsGotBefore(t.Context(), before)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(places, found); diff != "" {
			t.Errorf("got before %d (-want +got):\n%s", before, diff)
		}
	}
	want(10)
	want(11, store.Place{TaskID: "t1", MessageID: 2})
	want(21, store.Place{TaskID: "t1", MessageID: 2}, store.Place{TaskID: "t1", MessageID: 3})
	save(t, s, one, removed)
	want(21, store.Place{TaskID: "t1", MessageID: 2})

	calls, err := s.McpTask(t.Context(), "a")
	if err != nil || len(calls) != 4 {
		t.Errorf("McpTask = %d calls, %v, want 4", len(calls), err)
	}
}
