package protocol_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
)

// asked is an event with a question: seven types deep, four of them unions.
var asked = &protocol.TaskEventParams{
	TaskID: "0c1f7e6a-task", Number: 12, OpenAsks: 1,
	Event: protocol.MessageAdded{Message: protocol.Message{ID: 7, Time: 1_800_000_000_000, Body: protocol.Ask{
		AskID: "0c1f7e6a-ask", Ask: protocol.AskUseMcpServer, WaitsUntil: 1_800_000_060_000,
		Question: protocol.McpElicitation{
			Origin: protocol.Origin{ServerName: "database", ToolNames: []string{"query"}, MessageID: 6},
			ElicitationRequest: protocol.McpElicitationRequest{Message: "Which **tables** may be read?", Fields: []protocol.Field{
				protocol.ChoiceField{FieldHead: protocol.FieldHead{Name: "tables", Required: true}, Options: []protocol.Option{{Value: "all"}, {Value: "some", Title: "Some <of> them"}}},
				protocol.StringField{FieldHead: protocol.FieldHead{Name: "reason", Title: "Reason"}, MaxLength: new(200)},
			}},
		},
	}}},
}

func TestATagIsFirstAtEveryLevel(t *testing.T) {
	got, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"taskId":"0c1f7e6a-task","number":12,"openAsks":1,"event":{"type":"messageAdded","message":{"id":7,"time":1800000000000,"body":` +
		`{"type":"ask","askId":"0c1f7e6a-ask","ask":"use_mcp_server","question":{"type":"mcp_elicitation","serverName":"database","toolNames":["query"],"messageId":6,` +
		`"elicitationRequest":{"message":"Which **tables** may be read?","fields":[` +
		`{"type":"choice","name":"tables","required":true,"options":[{"value":"all"},{"value":"some","title":"Some \u003cof\u003e them"}]},` +
		`{"type":"string","name":"reason","title":"Reason","maxLength":200}]}},"waitsUntil":1800000060000}}}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("Marshal (-want +got):\n%s", diff)
	}
	var again protocol.TaskEventParams
	if err := json.Unmarshal(got, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asked, &again); diff != "" {
		t.Errorf("Unmarshal (-want +got):\n%s", diff)
	}
}

// Each level of a union is decoded again, so a block that could contain itself would cost quadratic
// time: 8 seconds for 200 kB.
func TestAToolsResultHoldsNoOther(t *testing.T) {
	const depth = 4000
	nested := strings.Repeat(`{"type":"tool_result","toolUseId":"x","content":[`, depth) + strings.Repeat(`]}`, depth)
	if block, err := protocol.UnmarshalContentBlock([]byte(nested)); err == nil || !strings.Contains(err.Error(), `no variant "tool_result"`) {
		t.Errorf("UnmarshalContentBlock = %T, %v", block, err)
	}
	plain := `{"type":"tool_result","toolUseId":"x","content":[{"type":"text","text":"18"}],"isError":true}`
	block, err := protocol.UnmarshalContentBlock([]byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(block); err != nil || string(again) != plain {
		t.Errorf("it became %s, %v", again, err)
	}
}
