package task_test

import (
	"encoding/json"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

func TestASecretGoesToTheServerAlone(t *testing.T) {
	q := protocol.McpElicitation{ElicitationRequest: protocol.McpElicitationRequest{Message: "?", Fields: []protocol.Field{
		protocol.StringField{FieldHead: protocol.FieldHead{Name: "user"}},
		protocol.StringField{FieldHead: protocol.FieldHead{Name: "password", Secret: true}},
		protocol.NumberField{FieldHead: protocol.FieldHead{Name: "pin", Secret: true}},
	}}}
	const typed, shown = `{"user":"ada","password":"s3cret"}`, `{"user":"ada","password":"•••"}`
	set := q // by a setting; the person is not asked
	set.ElicitationResponse = &protocol.McpElicitationResponse{Action: protocol.ActionAccept, Content: json.RawMessage(typed)}
	granted := &task.Granted{
		Answer:  &task.Answer{Response: protocol.YesButtonClicked, Content: json.RawMessage(typed)},
		Outcome: protocol.Outcome{Reason: protocol.OutcomeAnswered},
	}
	const key = "s\x00t1\x00q"
	for name, ask := range map[string]task.Question{
		"typed":             question(q),
		"typed, with a key": {Body: q, Check: question(q).Check, Key: key},
		"set":               {Body: set, Granted: granted},
		"set, with a key":   {Body: set, Granted: granted, Key: key},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
			done := f.ask(t.Context(), ask)
			if ask.Granted == nil {
				open, _ := tasktest.AwaitAsk(t, f.events)
				_, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{
					AskID: open.AskID, AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(typed),
				}, "a test")
				if err != nil {
					t.Fatal(err)
				}
			}
			got := <-done
			if got.err != nil || string(got.answer.Content) != typed {
				t.Fatalf("the server gets %s, %v, want %s", got.answer.Content, got.err, typed)
			}
			wantShown := func() {
				t.Helper()
				kept, ok := f.messages(t)[0].Body.(protocol.Ask).Question.(protocol.McpElicitation)
				if !ok || string(kept.ElicitationResponse.Content) != shown {
					t.Errorf("kept %s, want %s", kept.ElicitationResponse.Content, shown)
				}
			}
			wantShown()
			f.task.Release(key, &task.Ended{Reason: protocol.OutcomeCompleted})
			wantShown()
			for _, event := range f.events.All() {
				if text := jsonOf(t, event); strings.Contains(text, "s3cret") {
					t.Errorf("front ends are told the secret: %s", text)
				}
			}
			id := f.task.Info().ID
			f.close(t)
			onDisk(t, dir, func(s *store.Store) {
				left, err := s.Messages(t.Context(), id, store.Range{Limit: 10})
				if text := jsonOf(t, left); err != nil || len(left) != 1 || strings.Contains(text, "s3cret") {
					t.Errorf("on disk: %s, %v", text, err)
				}
			})
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
