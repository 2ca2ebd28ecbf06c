package hub_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/hub"
	"assent/sidecar/task/tasktest"
)

// legacyStatus is a task of a legacy server; it is polled soon while it works, and not while it asks.
func legacyStatus(status, pollInterval string) string {
	return `"taskId":"one","status":"` + status + `","createdAt":"2020-01-01T00:00:00Z","lastUpdatedAt":"2020-01-01T00:00:00Z","ttl":null,"pollInterval":` + pollInterval
}

func TestALegacyTasksProgressIsToldToItsEnd(t *testing.T) {
	const withToken = `,"_meta":{"progressToken":"call-1"}` + asTask
	converseOverEach(t, legacyTasks+tool("required", withToken)+`
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"task":{`+legacyStatus("working", "1")+`}}}
-- client s --
{"jsonrpc":"2.0","id":"$GET","method":"tasks/get","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-1","progress":1,"total":2,"message":"half"}}
{"jsonrpc":"2.0","method":"ping","id":"p"}
-- client s --
{"jsonrpc":"2.0","id":"p","result":{}}
-- server s --
{"jsonrpc":"2.0","id":"$GET","result":{`+legacyStatus("completed", "1")+`}}
-- client s --
{"jsonrpc":"2.0","id":"$RESULT","method":"tasks/result","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","id":"$RESULT","result":{"content":[{"type":"text","text":"done"}]}}
`, legacyWays, func(t *testing.T, c *conversation) {
		told := make(chan protocol.Progress, 2)
		got := c.CallTool(t.Context(), c.id, "s", "tool", json.RawMessage(`{}`), hub.Hooks{Progress: func(p protocol.Progress) { told <- p }})
		if diff := cmp.Diff(protocol.CallResult(done), got); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		select {
		case p := <-told:
			if p.Progress != 1 || p.Total != 2 || p.Message != "half" {
				t.Errorf("progress = %+v", p)
			}
		default:
			t.Error("the progress was not told")
		}
	})
}

func TestALegacyTaskMayComeWithoutTheMemberAroundIt(t *testing.T) {
	converseOverEach(t, legacyTasks+tool("required", asTask)+`
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{`+legacyStatus("working", "1")+`}}
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tasks/get","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{`+legacyStatus("completed", "1")+`}}
-- client s --
{"jsonrpc":"2.0","id":"$RESULT","method":"tasks/result","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","id":"$RESULT","result":{"content":[{"type":"text","text":"done"}]}}
`, legacyWays, func(t *testing.T, c *conversation) {
		if diff := cmp.Diff(protocol.CallResult(done), <-c.call(t.Context(), nil)); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	})
}

// A server that asks twice, by a task of Assent's each time, has one question and one answer.
func TestALegacyTasksQuestionMayBeATaskItself(t *testing.T) {
	const question = `"method":"elicitation/create","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"one"}},"task":{"ttl":60000},` + dayForm + `}}`
	converseOverEach(t, legacyTasks+tool("required", asTask)+`
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"task":{`+legacyStatus("input_required", "60000")+`}}}
-- client s --
{"jsonrpc":"2.0","id":"$RESULT","method":"tasks/result","params":{"taskId":"one"}}
-- server s --
{"jsonrpc":"2.0","id":"q",`+question+`
-- client s --
{"jsonrpc":"2.0","id":"q","result":{"task":{"taskId":"$TASK1","status":"working","createdAt":"$T1","lastUpdatedAt":"$T1","ttl":60000,"pollInterval":500}}}
-- server s --
{"jsonrpc":"2.0","id":"q2",`+question+`
-- client s --
{"jsonrpc":"2.0","id":"q2","result":{"task":{"taskId":"$TASK2","status":"working","createdAt":"$T2","lastUpdatedAt":"$T2","ttl":60000,"pollInterval":500}}}
-- server s --
{"jsonrpc":"2.0","id":"r1","method":"tasks/result","params":{"taskId":"$TASK1"}}
-- client s --
{"jsonrpc":"2.0","id":"r1","result":{"action":"accept","content":{"day":"monday"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"$TASK1"}}}}
-- server s --
{"jsonrpc":"2.0","id":"r2","method":"tasks/result","params":{"taskId":"$TASK2"}}
-- client s --
{"jsonrpc":"2.0","id":"r2","result":{"action":"accept","content":{"day":"monday"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"$TASK2"}}}}
-- server s --
{"jsonrpc":"2.0","id":"$RESULT","result":{"content":[{"type":"text","text":"done"}]}}
`, legacyWays, func(t *testing.T, c *conversation) {
		end := c.call(t.Context(), nil)
		ask, _ := tasktest.AwaitAsk(t, c.events)
		if ask.InputKey == "" {
			t.Error("the ask has no key: it would not outlive the sidecar")
		}
		c.answer(t, ask.AskID, `{"day":"monday"}`)
		if diff := cmp.Diff(protocol.CallResult(done), <-end); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	})
}

func TestTwoQuestionsOfATaskWithOneKey(t *testing.T) {
	status := `"taskId":"one","status":"input_required","createdAt":"2020-01-01T00:00:00Z","lastUpdatedAt":"2020-01-01T00:00:00Z","ttlMs":60000,"inputRequests":{"q":{"method":"elicitation/create","params":{`
	converseOverEach(t, `
-- client s --
{"jsonrpc":"2.0","id":1000000001,"method":"server/discover","params":{"_meta":{`+tasksMeta+`}}}
-- server s --
{"jsonrpc":"2.0","id":1000000001,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}}
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tools/call","params":{"name":"tool","arguments":{},"_meta":{`+tasksMeta+`}}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"resultType":"task",`+status+dayForm+`}}}}}
-- client s --
{"jsonrpc":"2.0","id":"$LISTEN","method":"subscriptions/listen","params":{"notifications":{"taskIds":["one"]},"_meta":{`+tasksMeta+`}}}
-- server s --
{"jsonrpc":"2.0","method":"notifications/tasks","params":{`+status+seatForm+`}}}}}
-- client? s --
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"$LISTEN"}}
-- client s --
{"jsonrpc":"2.0","id":"$ID","method":"tasks/cancel","params":{"taskId":"one","_meta":{`+tasksMeta+`}}}
-- server s --
{"jsonrpc":"2.0","id":"$ID","result":{"resultType":"complete"}}
`, modernWays, func(t *testing.T, c *conversation) {
		want := protocol.CallAbandoned{Reason: `The server asked two different questions by the one name "q".`}
		if diff := cmp.Diff(protocol.CallResult(want), <-c.call(t.Context(), nil)); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	})
}
