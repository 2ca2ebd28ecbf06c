package workspace_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/task/store"
	"assent/sidecar/wire/wiretest"
	"assent/sidecar/workspace/rpc/rpctest"
)

// request sends a request and returns its answer, and the messages that came before it.
func (f *frontEnd) request(id int, method, params string) (answer rpctest.Message, before []rpctest.Message) {
	f.t.Helper()
	f.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
	answer = f.await(id, func(_ string, m rpctest.Message) { before = append(before, m) })
	return answer, before
}

// result is request, of what must not fail.
func (f *frontEnd) result(id int, method, params string, result any) (before []rpctest.Message) {
	f.t.Helper()
	answer, before := f.request(id, method, params)
	if answer.Error != nil {
		f.t.Fatalf("%s %s: %v", method, params, answer.Error)
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		f.t.Fatal(err)
	}
	return before
}

// demoAsks is a transcript of the server "demo", up to where it has the call of its tool "ask" and asks.
const demoAsks = `
-- client demo --
{"jsonrpc":"2.0","id":1000000001,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}},"sampling":{"context":{},"tools":{}}},"io.modelcontextprotocol/clientInfo":{"name":"assent","version":"test"},"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
-- server demo --
{"jsonrpc":"2.0","id":1000000001,"error":{"code":-32601,"message":"Method not found"}}
-- client demo --
{"jsonrpc":"2.0","id":1000000002,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{}},"sampling":{"context":{},"tools":{}},"tasks":{"cancel":{},"list":{},"requests":{"elicitation":{"create":{}},"sampling":{"createMessage":{}}}}},"clientInfo":{"name":"assent","version":"test"}}}
-- server demo --
{"jsonrpc":"2.0","id":1000000002,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"demo","version":"1"}}}
-- client demo --
{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{},"_meta":{"progressToken":"call-1"}}}
-- server demo --
`

// TestAnswersThatBelongNowhere answers, extends and drafts asks that do not exist: of another task, of a
// closed one, of none.
func TestAnswersThatBelongNowhere(t *testing.T) {
	wiretest.Write(t, demoAsks+`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}
-- client demo --
{"jsonrpc":"2.0","id":"q","result":{"action":"cancel"}}
`)
	f := newFrontEnd(t)
	f.send(initialize)
	f.want([]string{initialized})
	var asking, other protocol.Task
	f.result(1, "task/create", `{"title":"asking"}`, &asking)
	f.result(2, "task/create", `{"title":"other"}`, &other)
	f.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"call/start","params":{"taskId":%q,"serverName":"demo","request":{"type":"tools/call","toolName":"ask"}}}`, asking.ID))
	for !strings.Contains(f.next(), `"askId"`) {
		continue
	}
	var inbox protocol.ListOpenAsksResult
	f.result(4, "ask/list", `{}`, &inbox)
	if len(inbox.Asks) != 1 {
		t.Fatalf("the open asks are %+v", inbox.Asks)
	}
	ask := inbox.Asks[0].AskID

	id := 10
	refused := func(method, taskID, askID, more string, want protocol.ErrorCode, words string) {
		t.Helper()
		id++
		r, _ := f.request(id, method, fmt.Sprintf(`{"taskId":%q,"askId":%q%s}`, taskID, askID, more))
		if r.Error == nil || r.Error.Code != want || !strings.Contains(r.Error.Message, words) {
			t.Errorf("%s of %s in %s = %s, %+v; want code %d, %q", method, askID, taskID, r.Result, r.Error, want, words)
		}
	}
	const yes = `,"askResponse":"yesButtonClicked","elicitationContent":{}`
	refused("askResponse", other.ID, ask, yes, protocol.CodeUnknownAsk, `the task "other" has no ask`)
	refused("askResponse", other.ID, ask, `,"askResponse":"noButtonClicked","declineAll":true`, protocol.CodeUnknownAsk, `the task "other" has no ask`)
	refused("askResponse", "nobody's", ask, yes, protocol.CodeUnknownTask, "there is no task")
	refused("askResponse", asking.ID, "nobody's", yes, protocol.CodeUnknownAsk, `the task "asking" has no ask`)
	refused("ask/extend", other.ID, ask, "", protocol.CodeUnknownAsk, "has no ask")
	refused("ask/openUrl", other.ID, ask, "", protocol.CodeUnknownAsk, "has no ask")
	refused("sampling/stop", other.ID, ask, "", protocol.CodeUnknownAsk, "has no ask")
	refused("ask/draft", "nobody's", ask, `,"draft":{}`, protocol.CodeUnknownTask, "there is no task")

	// A draft for an ask of another task is as one for an ask that is not open: nothing is kept.
	f.result(5, "ask/draft", fmt.Sprintf(`{"taskId":%q,"askId":%q,"draft":{"a":"elsewhere"}}`, other.ID, ask), &protocol.SaveDraftResult{})
	var opened protocol.OpenTaskResult
	f.result(6, "task/open", fmt.Sprintf(`{"taskId":%q}`, asking.ID), &opened)
	open := 0
	for _, m := range opened.Messages {
		if a, ok := m.Body.(protocol.Ask); ok && a.Outcome == nil && a.Draft == nil {
			open++
		}
	}
	if open != 1 || opened.Task.OpenAsks != 1 {
		t.Errorf("after all that the task is %+v", opened)
	}

	f.result(7, "task/close", fmt.Sprintf(`{"taskId":%q}`, asking.ID), &asking)
	refused("askResponse", asking.ID, ask, yes, protocol.CodeAskSettled, "already settled (dismissed) by a test")
	refused("ask/extend", asking.ID, ask, "", protocol.CodeAskSettled, "already settled (dismissed) by a test")
	refused("call/start", asking.ID, "", `,"serverName":"demo","request":{"type":"tools/call","toolName":"ask"}`, protocol.CodeTaskClosed, `the task "asking" is closed`)
	f.result(8, "task/open", fmt.Sprintf(`{"taskId":%q}`, asking.ID), &opened)
	if !opened.Task.Closed || opened.Task.OpenAsks != 0 {
		t.Errorf("the closed task is %+v", opened.Task)
	}
	f.close()
}

// TestTenThousandTasks counts messages and reads as tasks become many: a change of one task must cost the
// same as with a single task.
func TestTenThousandTasks(t *testing.T) {
	const many = 10_000
	id := 0
	next := func() int { id++; return id }
	// One is begun, read, renamed and closed, alone and beside all the others.
	one := func(f *frontEnd) (said int) {
		t.Helper()
		f.send(initialize)
		f.want([]string{initialized})
		var task protocol.Task
		said = len(f.result(next(), "task/create", `{"title":"one"}`, &task))
		var opened protocol.OpenTaskResult
		params := fmt.Sprintf(`{"taskId":%q,"title":"another"}`, task.ID)
		said += len(f.result(next(), "task/open", params, &opened))
		said += len(f.result(next(), "task/rename", params, &task))
		said += len(f.result(next(), "task/close", params, &task))
		if opened.Task.Title != "one" || task.Title != "another" || !task.Closed {
			t.Errorf("the task is %+v, and was %+v", task, opened.Task)
		}
		return said
	}
	f := newFrontEnd(t)
	alone := one(f)
	f.close()
	f = newFrontEndOn(t, dirOfTasks(t, many))
	if beside := one(f); beside != alone {
		t.Errorf("a task beside %d others is announced by %d messages, and alone by %d", many, beside, alone)
	}
	var listed protocol.ListTasksResult
	if said := len(f.result(next(), "task/list", `{}`, &listed)); len(listed.Tasks) != many+1 || said != 0 {
		t.Errorf("%d tasks are listed, and %d messages said", len(listed.Tasks), said)
	}
	ids := map[string]bool{}
	for _, task := range listed.Tasks {
		ids[task.ID] = true
	}
	if len(ids) != many+1 {
		t.Errorf("the list has %d different tasks", len(ids))
	}
	f.close()
}

// dirOfTasks returns a data directory with so many tasks, which are written at once.
func dirOfTasks(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(dir) // makes the tables
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO tasks (id, created_at, title, closed) SELECT 'many-' || i, i, 'of many', 0 FROM n;
		INSERT INTO heads (task_id, message_id, number, open_asks) SELECT id, 0, 1, 0 FROM tasks`, n)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}
