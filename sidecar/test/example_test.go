package test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
)

// TestTheExampleServerAsksWithoutANetwork adds the example server to a sidecar that has no server and no model, and
// answers its questions.
func TestTheExampleServerAsksWithoutANetwork(t *testing.T) {
	t.Parallel()
	c := startTalk(t, newDaemonHome(t).command("serve", "--data-dir", t.TempDir()))
	must := func(method string, params, result any) {
		t.Helper()
		if err := c.Call(method, params, result); err != nil {
			t.Fatal(err)
		}
	}
	configured := func(on bool) []protocol.Server {
		t.Helper()
		if err := c.Notify("workspace/didChangeConfiguration", map[string]any{"model": map[string]any{}, "exampleServer": on}); err != nil {
			t.Fatal(err)
		}
		var listed protocol.ServersChangedParams
		must("server/list", nil, &listed)
		if len(listed.Problems) > 0 {
			t.Errorf("problems: %v", listed.Problems)
		}
		return listed.Servers
	}
	must("initialize", map[string]any{
		"protocolVersion": 1, "clientInfo": map[string]any{"name": "a test", "version": "1"},
		"capabilities":  map[string]any{"elicitation": true, "sampling": true},
		"configuration": map[string]any{"model": map[string]any{}},
	}, &struct{}{})
	if servers := configured(false); len(servers) > 0 {
		t.Errorf("without a wish there are %v", servers)
	}
	servers := configured(true)
	if len(servers) != 1 || servers[0].Name != "example-server" || servers[0].Source != "built in" || servers[0].State != protocol.ServerStopped {
		t.Fatalf("got %+v", servers)
	}

	var asks []protocol.Ask
	var result string
	c.Heard = func(method string, params json.RawMessage) {
		if method != "task/event" {
			return
		}
		var told protocol.TaskEventParams
		if err := json.Unmarshal(params, &told); err != nil {
			t.Errorf("%s: %v", params, err)
			return
		}
		switch event := told.Event.(type) {
		case protocol.MessageAdded:
			if ask, ok := event.Message.Body.(protocol.Ask); ok {
				asks = append(asks, ask)
			}
		case protocol.CallEnded:
			text, err := json.Marshal(event.Result)
			if err != nil {
				t.Error(err)
			}
			result = string(text)
		}
	}
	var task protocol.Task
	must("task/create", map[string]any{}, &task)
	must("call/start", map[string]any{"taskId": task.ID, "serverName": "example-server", "request": map[string]any{"type": "tools/call", "toolName": "plan_lunch"}}, &struct{}{})
	var asked []protocol.AskWants
	for result == "" {
		if len(asks) == 0 {
			if _, err := c.Next(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		ask := asks[0]
		asks = asks[1:]
		answer := map[string]any{"taskId": task.ID, "askId": ask.AskID, "askResponse": protocol.YesButtonClicked}
		switch ask.Question.(type) {
		case protocol.McpElicitation:
			asked = append(asked, protocol.WantsForm)
			answer["elicitationContent"] = map[string]any{"food": "noodle soup", "guests": 3}
		case protocol.McpSampling:
			asked = append(asked, protocol.WantsCompletion)
		case protocol.McpSamplingReview:
			asked = append(asked, protocol.WantsReview)
		default:
			t.Fatalf("asked %T", ask.Question)
		}
		must("askResponse", answer, &struct{}{})
	}
	if diff := cmp.Diff([]protocol.AskWants{protocol.WantsForm, protocol.WantsCompletion, protocol.WantsReview}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	for _, want := range []string{"Lunch: noodle soup for 3.", "You are invited to lunch!"} {
		if !strings.Contains(result, want) {
			t.Errorf("the result has no %q: %s", want, result)
		}
	}

	if servers := configured(false); slices.ContainsFunc(servers, func(s protocol.Server) bool { return s.Name == "example-server" }) {
		t.Errorf("after it was removed there are %v", servers)
	}
}
