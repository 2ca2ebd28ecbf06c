package workspace_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/wire/wiretest"
	"assent/sidecar/workspace"
	"assent/sidecar/workspace/rpc/rpctest"
)

// asking is a legacy server that asks during each of two calls, and answers them when it has its answer.
const asking = `
-- client demo --
{"jsonrpc":"2.0","id":1000000001,"method":"server/discover","params":"$DISCOVER"}
-- server demo --
{"jsonrpc":"2.0","id":1000000001,"error":{"code":-32601,"message":"Method not found"}}
-- client demo --
{"jsonrpc":"2.0","id":1000000002,"method":"initialize","params":"$INITIALIZE"}
-- server demo --
{"jsonrpc":"2.0","id":1000000002,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"demo","version":"1"}}}
-- client demo --
{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":"$CALL"}
-- server demo --
{"jsonrpc":"2.0","id":"one","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}
-- client demo --
{"jsonrpc":"2.0","id":"one","result":"$ANSWER"}
-- server demo --
{"jsonrpc":"2.0","id":"two","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}
-- client demo --
{"jsonrpc":"2.0","id":"two","result":"$ANSWER2"}
`

// desk is a front end that tells answers from events.
type desk struct {
	*frontEnd
	last    int
	answers map[int]rpctest.Message
	asks    []protocol.Ask
	settled int      // how often an ask was said to be settled
	early   []string // messages that came before they were waited for
}

// next returns the next message.
func (d *desk) next() string {
	d.t.Helper()
	if len(d.early) == 0 {
		return d.frontEnd.next()
	}
	first := d.early[0]
	d.early = d.early[1:]
	return first
}

// newDesk returns a desk at a workspace, before the handshake.
func newDesk(t *testing.T, w *workspace.Workspace) *desk {
	t.Helper()
	return &desk{frontEnd: attach(t, w, func() {}), answers: map[int]rpctest.Message{}}
}

// ask sends a request and returns its id.
func (d *desk) ask(method, params string) int {
	d.t.Helper()
	d.last++
	d.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, d.last, method, params))
	return d.last
}

// until reads until done.
func (d *desk) until(done func() bool) {
	d.t.Helper()
	for !done() {
		m := d.read(d.next())
		if m.ID != nil {
			d.answers[*m.ID] = m
			continue
		}
		var p protocol.TaskEventParams
		if m.Method != "task/event" {
			continue
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			d.t.Fatal(err)
		}
		switch e := p.Event.(type) {
		case protocol.MessageAdded:
			if a, ok := e.Message.Body.(protocol.Ask); ok {
				d.asks = append(d.asks, a)
			}
		case protocol.AskSettled:
			d.settled++
		}
	}
}

// answer waits for the answer to a request.
func (d *desk) answer(id int) rpctest.Message {
	d.t.Helper()
	d.until(func() bool { return d.answers[id].ID != nil })
	return d.answers[id]
}

// refused wants an error of a code and returns it.
func (d *desk) refused(id int, code protocol.ErrorCode, words string) *protocol.Error {
	d.t.Helper()
	m := d.answer(id)
	if m.Error == nil || m.Error.Code != code || !strings.Contains(m.Error.Message, words) {
		d.t.Errorf("request %d got %s and the error %+v, want %d with %q", id, m.Result, m.Error, code, words)
	}
	return m.Error
}

func (d *desk) result(id int, into any) {
	d.t.Helper()
	m := d.answer(id)
	if m.Error != nil {
		d.t.Fatalf("request %d: %v", id, m.Error)
	}
	if err := json.Unmarshal(m.Result, into); err != nil {
		d.t.Fatal(err)
	}
}

func TestUnluckyFrontEnds(t *testing.T) {
	wiretest.Write(t, asking)
	d := &desk{frontEnd: newFrontEnd(t), answers: map[int]rpctest.Message{}}
	d.send(initialize)
	d.want([]string{initialized})
	var mine, other protocol.Task
	d.result(d.ask("task/create", `{"title":"Mine"}`), &mine)
	d.result(d.ask("task/create", `{"title":"Other"}`), &other)
	d.answer(d.ask("call/start", fmt.Sprintf(`{"taskId":%q,"serverName":"demo","request":{"type":"tools/call","toolName":"ask"}}`, mine.ID)))
	d.until(func() bool { return len(d.asks) == 1 })
	respond := func(taskID, askID string, response protocol.AskResponse) int {
		content := ""
		if response == protocol.YesButtonClicked {
			content = `,"elicitationContent":{}`
		}
		return d.ask("askResponse", fmt.Sprintf(`{"taskId":%q,"askId":%q,"askResponse":%q%s}`, taskID, askID, response, content))
	}
	first := d.asks[0].AskID

	// A front end with a number from the future, of another installation, gets everything again.
	var opened protocol.OpenTaskResult
	d.result(d.ask("task/open", fmt.Sprintf(`{"taskId":%q,"after":1000000}`, mine.ID)), &opened)
	if !opened.Reset || len(opened.Messages) != 2 || opened.Task.LastNumber >= 1000000 {
		t.Errorf("after a number in the future: reset = %v, %d messages, last number %d", opened.Reset, len(opened.Messages), opened.Task.LastNumber)
	}

	// An ask belongs to its task.
	d.refused(respond(other.ID, first, protocol.YesButtonClicked), protocol.CodeUnknownAsk, `"Other"`)
	d.answer(d.ask("ask/draft", fmt.Sprintf(`{"taskId":%q,"askId":%q,"draft":{"a":1}}`, other.ID, first)))
	d.result(d.ask("task/open", fmt.Sprintf(`{"taskId":%q}`, mine.ID)), &opened)
	if a := opened.Messages[1].Body.(protocol.Ask); a.Outcome != nil || a.Draft != nil {
		t.Errorf("by way of another task the ask became %+v", a)
	}

	// Many answers, all in the millisecond at which the clock stands: one is taken, and all are told of it.
	var ids []int
	for i := range 20 {
		ids = append(ids, respond(mine.ID, first, []protocol.AskResponse{protocol.YesButtonClicked, protocol.NoButtonClicked}[i%2]))
	}
	var taken []protocol.Outcome
	for _, id := range ids {
		if m := d.answer(id); m.Error == nil {
			var result protocol.AskResponseResult
			d.result(id, &result)
			taken = append(taken, result.Outcome)
		}
	}
	if len(taken) != 1 {
		t.Fatalf("%d answers were taken", len(taken))
	}
	for _, id := range ids {
		if d.answers[id].Error != nil {
			err := d.refused(id, protocol.CodeAskSettled, string(taken[0].Reason))
			if data, ok := err.Data.(map[string]any); !ok || data["reason"] != string(taken[0].Reason) {
				t.Errorf("whoever came late was told %+v, and taken was %+v", err.Data, taken[0])
			}
		}
	}
	d.until(func() bool { return len(d.asks) == 2 })
	if d.settled != 1 {
		t.Errorf("it was said to be settled %d times", d.settled)
	}

	// A closed task takes nothing, and says why.
	second := d.asks[1].AskID
	d.answer(d.ask("task/close", fmt.Sprintf(`{"taskId":%q}`, mine.ID)))
	err := d.refused(respond(mine.ID, second, protocol.YesButtonClicked), protocol.CodeAskSettled, "dismissed")
	if data, ok := err.Data.(map[string]any); !ok || data["detail"] != "The task was closed." {
		t.Errorf("an answer in a closed task was told %+v", err.Data)
	}
	d.refused(respond(mine.ID, "never", protocol.NoButtonClicked), protocol.CodeUnknownAsk, `"Mine"`)
	d.refused(d.ask("call/start", fmt.Sprintf(`{"taskId":%q,"serverName":"demo","request":{"type":"tools/call","toolName":"ask"}}`, mine.ID)), protocol.CodeTaskClosed, `"Mine"`)
	d.refused(respond("nowhere", second, protocol.NoButtonClicked), protocol.CodeUnknownTask, `"nowhere"`)
	d.close()
}
