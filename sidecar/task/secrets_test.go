package task_test

import (
	"encoding/json"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/tasktest"
)

func TestASecretGoesToTheServerAlone(t *testing.T) {
	q := protocol.McpElicitation{ElicitationRequest: protocol.McpElicitationRequest{Message: "?", Fields: []protocol.Field{
		protocol.StringField{FieldHead: protocol.FieldHead{Name: "user"}},
		protocol.StringField{FieldHead: protocol.FieldHead{Name: "password", Secret: true}},
		protocol.NumberField{FieldHead: protocol.FieldHead{Name: "pin", Secret: true}},
	}}}
	const typed, shown = `{"user":"ada","password":"s3cret"}`, `{"user":"ada","password":"•••"}`
	for _, key := range []string{"", task.KeyPrefix("s", "t1") + "q"} {
		t.Run("key "+key, func(t *testing.T) {
			f := newFixture(t, nil)
			defer f.close(t)
			ask := question(q)
			ask.Key = key
			done := f.ask(t.Context(), ask)
			open, _ := tasktest.AwaitAsk(t, f.events)
			_, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{
				AskID: open.AskID, AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(typed),
			}, "a test")
			if err != nil {
				t.Fatal(err)
			}
			got := <-done
			if got.err != nil || string(got.answer.Content) != typed {
				t.Fatalf("the server gets %s, %v, want %s", got.answer.Content, got.err, typed)
			}
			f.task.Release(key, &task.Ended{Reason: protocol.OutcomeCompleted})
			for _, event := range f.events.All() {
				if text := jsonOf(t, event); strings.Contains(text, "s3cret") {
					t.Errorf("front ends are told the secret: %s", text)
				}
			}
			for _, m := range f.messages(t) {
				a, ok := m.Body.(protocol.Ask)
				if !ok {
					continue
				}
				kept, ok := a.Question.(protocol.McpElicitation)
				if !ok || string(kept.ElicitationResponse.Content) != shown {
					t.Errorf("kept %s, want %s", kept.ElicitationResponse.Content, shown)
				}
			}
		})
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
