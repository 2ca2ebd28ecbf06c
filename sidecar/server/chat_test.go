package server_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
)

func TestAConversationUsesTools(t *testing.T) {
	w := newWindow(t, nil)
	w.model.then(uses("t__echo", `{"text":"hi"}`), says("It said hi."))
	w.say("Say hi to the echo, please.")
	ask := w.open(1)[0]
	question, ok := ask.Question.(protocol.UseMcpTool)
	if !ok || question.ServerName != "t" || question.Tool.Name != "echo" || string(question.Arguments) != `{"text":"hi"}` || question.Destructive || !*question.Tool.Annotations.ReadOnlyHint {
		t.Errorf("the question is %+v", ask.Question)
	}
	if !w.task.Running || w.task.Title != "Say hi to the echo, please." {
		t.Errorf("the task is %+v", w.task)
	}
	if err := w.answer(ask, protocol.YesButtonClicked); err != nil {
		t.Fatal(err)
	}
	w.idle()

	asked := w.model.asked()
	if len(asked) != 2 {
		t.Fatalf("the model was asked %d times", len(asked))
	}
	function := map[string]any{"name": "t__echo", "arguments": `{"text":"hi"}`}
	system := asked[0]["messages"].([]any)[0].(map[string]any)
	want := []any{
		system,
		map[string]any{"role": "user", "content": "Say hi to the echo, please."},
		map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{"id": "u1", "type": "function", "function": function}}},
		map[string]any{"role": "tool", "tool_call_id": "u1", "content": "echo: hi"},
	}
	delete(want[2].(map[string]any), "content")
	if diff := cmp.Diff(want, asked[1]["messages"]); diff != "" {
		t.Errorf("the model got (-want +got):\n%s", diff)
	}
	if system["role"] != "system" || !strings.Contains(system["content"].(string), "MCP servers") {
		t.Errorf("the system prompt is %v", system)
	}
	var names []string
	for _, tool := range asked[0]["tools"].([]any) {
		names = append(names, tool.(map[string]any)["function"].(map[string]any)["name"].(string))
	}
	if diff := cmp.Diff([]string{"t__ask", "t__big", "t__echo", "t__fail", "t__look", "t__slow", "t__wipe", "read_mcp_resource"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}

	if diff := cmp.Diff([]protocol.ModelEndReason{protocol.ModelEndToolUse, protocol.ModelEndTurn}, ends(w)); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
	call := last[protocol.Call](w)
	if call.ToolUse == nil || *call.ToolUse != question.ToolUse || call.ServerName != "t" {
		t.Errorf("the call is %+v", call)
	}
	answer := last[protocol.ModelMessage](w)
	if answer.Text != "It said hi." || answer.ResponseModel != "gpt-test-1" || answer.Model.ID != "openai:gpt-test" || answer.Usage == nil {
		t.Errorf("the model said %+v", answer)
	}
	w.done()
}
