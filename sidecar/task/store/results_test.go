package store_test

import (
	"database/sql"
	"path/filepath"
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

// toVersion2 removes the additions of later versions.
const toVersion2 = `
	DROP TABLE retention_clock; DROP TABLE host_calls; DROP TABLE tool_approvals;
	DROP TRIGGER live_added; DROP TRIGGER live_again; DROP TRIGGER live_ended; DROP TABLE heads;
	DROP INDEX late_messages; ALTER TABLE messages DROP COLUMN late;
	CREATE INDEX messages_by_number ON messages (task_id, number);
	CREATE INDEX live_messages ON messages (task_id) WHERE live = 1;
	CREATE UNIQUE INDEX messages_by_ask ON messages (ask_id) WHERE ask_id IS NOT NULL;
	ALTER TABLE tasks ADD COLUMN last_number INTEGER NOT NULL DEFAULT 0;
	DROP INDEX messages_by_mcp_task_id; DROP INDEX messages_by_result;
	ALTER TABLE messages DROP COLUMN mcp_task_id; ALTER TABLE messages DROP COLUMN result_got;
	DROP INDEX messages_by_sampling; DROP TABLE grants; DROP TABLE drafts; DROP TABLE rounds; DROP TABLE journal; DROP TABLE journal_ends;
	ALTER TABLE messages DROP COLUMN sampling_server; ALTER TABLE messages DROP COLUMN sampling_at;
	ALTER TABLE tasks DROP COLUMN chat; DROP TABLE tool_rules;
	DROP INDEX tasks_by_deletion; ALTER TABLE tasks DROP COLUMN deleted;
	PRAGMA user_version = 2`

// The store of an earlier version gets its MCP tasks. A damaged row does not prevent the opening.
func TestTheStoreOfAnEarlierVersionIsTakenOver(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for id := int64(1); id <= 2; id++ {
		save(t, s, protocol.Task{ID: "t1"}, ended(id, "a"))
	}
	save(t, s, protocol.Task{ID: "t1"}, notice(3, 3, "no result"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`UPDATE messages SET body = '{' WHERE id = 2;` + toVersion2)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	calls, err := s.McpTask(t.Context(), "a")
	if err != nil || len(calls) != 1 {
		t.Errorf("McpTask = %d calls, %v, want 1", len(calls), err)
	}
	if err := s.GotResults(t.Context(), "t1", 1, 3, 10); err != nil {
		t.Fatal(err)
	}
	places, err := s.ResultsGotBefore(t.Context(), 11)
	if diff := cmp.Diff([]store.Place{{TaskID: "t1", MessageID: 1}}, places); diff != "" || err != nil {
		t.Errorf("got (-want +got): %v\n%s", err, diff)
	}
}
