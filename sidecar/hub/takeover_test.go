package hub_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/tasktest"
)

// TestACallGoesOnInAnotherWindow takes a task over while a question of its call is open. The other window has
// the question, gives the answer and gets the result. The server of the first is told nothing of it: neither
// that the person answered, nor that its task is to be cancelled.
func TestACallGoesOnInAnotherWindow(t *testing.T) {
	working := `"taskId":"one","status":"working","createdAt":"2020-01-01T00:00:00Z","lastUpdatedAt":"2020-01-01T00:00:00Z","ttl":null,"pollInterval":1`
	input := strings.Replace(strings.Replace(working, "working", "input_required", 1), `Interval":1`, `Interval":60000`, 1)
	asks := `
-- client s --
{"jsonrpc":"2.0","id":"$RESULT","method":"tasks/result","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"one"}},` + dayForm + `}}
`
	asksFirst := strings.Replace(legacyTasks+tool("required", asTask)+`
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"task":{`+working+`}}}
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tasks/get","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{`+input+`}}
`+asks, `"params":{"name":"tool","arguments":{}`, `"params":{"_meta":{"progressToken":"$P"},"name":"tool","arguments":{}`, 1)
	round := required(2, `"inputRequests":{"day":`+dayRequest+`},"requestState":"s"`)
	for _, tt := range []struct{ name, first, second string }{
		{
			"a round", modern(toldCall(2, 1, "")+"\n", serverSays(round)),
			modern(toldCall(2, 1, `"requestState":"s","inputResponses":{"day":{"action":"accept","content":{"day":"Monday"}}},`)+"\n", serverSays(complete(2))),
		},
		{"an MCP task", asksFirst, legacyTasks + `
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tasks/get","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{` + input + `}}
` + asks + `
-- client s --
{"jsonrpc":"2.0","id":"q","result":{"action":"accept","content":{"day":"Monday"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"one"}}}}
-- server s --
{"jsonrpc":"2.0","id":"$RESULT","result":{"content":[{"type":"text","text":"done"}]}}
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			first := liveAs(t, "first", dir, tt.first)
			defer first.end(t)
			info, err := first.tasks.Create("t")
			if err != nil {
				t.Fatal(err)
			}
			_, err = first.chat.StartCall(t.Context(), &protocol.StartCallParams{TaskID: info.ID, ServerName: "s", Request: protocol.CallToolRequest{ToolName: "tool"}})
			if err != nil {
				t.Fatal(err)
			}
			ask, _ := tasktest.AwaitAsk(t, first.events)
			old := first.task(t, info.ID)
			if err := old.SaveDraft(t.Context(), ask.AskID, []byte(`{"day":"Mon"}`)); err != nil {
				t.Fatal(err)
			}

			second := liveAs(t, "second", dir, tt.second)
			defer second.end(t)
			tk, err := second.tasks.TakeOver(t.Context(), info.ID)
			if err != nil {
				t.Fatal(err)
			}
			opened, err := tk.Open(t.Context(), 0, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			if there, ok := opened.Messages[1].Body.(protocol.Ask); !ok || there.Outcome != nil || string(there.Draft) != `{"day":"Mon"}` {
				t.Errorf("the question is %+v", opened.Messages[1].Body)
			}
			_, err = old.Answer(t.Context(), &protocol.AskResponseParams{
				AskID: ask.AskID, AskResponse: protocol.YesButtonClicked, ElicitationContent: []byte(`{"day":"Sunday"}`),
			}, "a test")
			if e, ok := err.(*protocol.Error); !ok || e.Code != protocol.CodeTaskElsewhere {
				t.Errorf("an answer where the task was = %v", err)
			}
			answer(t, tk, ask.AskID, `{"day":"Monday"}`)
			if diff := cmp.Diff(protocol.CallResult(done), second.ended(t)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			// It waits until nothing of the call goes on where the task was.
			if _, err := first.tasks.Own(t.Context(), info.ID); err != nil {
				t.Errorf("the first window, when nothing goes on in the task any more: %v", err)
			}
			first.mu.Lock()
			defer first.mu.Unlock()
			for _, frame := range first.sent {
				for _, never := range []string{"tasks/cancel", `"action"`, "inputResponses"} {
					if strings.Contains(frame, never) {
						t.Errorf("the server of the first window was sent %s", frame)
					}
				}
			}
		})
	}
}

// An older-era request cannot follow its task: in the window where it asked, its call is cancelled, and its server gets
// no answer.
func TestAnOlderRequestEndsWhereItsTaskWas(t *testing.T) {
	dir := t.TempDir()
	call := strings.Replace(tool("", ""), `"params":{"name":"tool","arguments":{}`, `"params":{"_meta":{"progressToken":"$P"},"name":"tool","arguments":{}`, 1)
	first := liveAs(t, "first", dir, legacyTasks+call+`
-- server s --
{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{`+dayForm+`}}
-- client s --
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"the client no longer waits for the result","requestId":3}}
`)
	defer first.end(t)
	info, err := first.tasks.Create("t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.chat.StartCall(t.Context(), &protocol.StartCallParams{TaskID: info.ID, ServerName: "s", Request: protocol.CallToolRequest{ToolName: "tool"}}); err != nil {
		t.Fatal(err)
	}
	ask, _ := tasktest.AwaitAsk(t, first.events)
	old := first.task(t, info.ID)
	second := liveAs(t, "second", dir, modern())
	defer second.end(t)
	tk, err := second.tasks.TakeOver(t.Context(), info.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Rename("mine"); err == nil {
		t.Error("the first window renamed the task that it lost")
	}
	if _, err := first.tasks.Own(t.Context(), info.ID); err != nil { // when all that it did has ended
		t.Errorf("the first window, of a task in which nothing goes on: %v", err)
	}
	opened, err := tk.Open(t.Context(), 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range opened.Messages {
		switch body := m.Body.(type) {
		case protocol.Call:
			lost, _ := body.Result.(protocol.CallLost)
			got = append(got, lost.Reason)
		case protocol.Ask:
			got = append(got, fmt.Sprintf("%v %v", body.AskID == ask.AskID, body.Outcome.Reason))
		}
	}
	want := []string{"The task was taken over in another window. Start it again.", "true takenOver"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the task (-want +got):\n%s", diff)
	}
	first.mu.Lock()
	defer first.mu.Unlock()
	if sent := strings.Join(first.sent, "\n"); !strings.Contains(sent, `"notifications/cancelled"`) || strings.Contains(sent, `"id":"q"`) {
		t.Errorf("the server was sent\n%s", sent)
	}
}
