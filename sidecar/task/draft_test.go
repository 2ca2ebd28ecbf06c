package task_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/tasktest"
)

func (f *fixture) draft(t *testing.T, askID string) string {
	t.Helper()
	for _, m := range f.messages(t) {
		if ask, ok := m.Body.(protocol.Ask); ok && ask.AskID == askID {
			return string(ask.Draft)
		}
	}
	t.Fatalf("there is no ask %s", askID)
	return ""
}

func TestDrafts(t *testing.T) {
	stoppedWaiting, stop := context.WithCancelCause(context.Background())
	tests := []struct {
		name string
		end  func(f *fixture, t *testing.T, askID string)
		want string // once the ask is settled
	}{
		{"of an ask that is answered", func(f *fixture, t *testing.T, askID string) {
			if _, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: askID, AskResponse: protocol.YesButtonClicked}, ""); err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"of an ask that ended by itself", func(*fixture, *testing.T, string) {
			stop(&task.Ended{Reason: protocol.OutcomeServerStoppedWaiting})
		}, `{"a":"typed"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			defer f.close(t)
			done := f.ask(stoppedWaiting, question(form))
			ask, _ := tasktest.AwaitAsk(t, f.events)
			for _, draft := range []string{`{"a":"typ"}`, `{"a":"typed"}`} {
				if err := f.task.SaveDraft(t.Context(), ask.AskID, json.RawMessage(draft)); err != nil {
					t.Fatal(err)
				}
				if got := f.draft(t, ask.AskID); got != draft {
					t.Errorf("the draft is %s, want %s", got, draft)
				}
			}
			for _, wrong := range []string{`[1]`, `{`, `{"a":"` + strings.Repeat("x", 256<<10) + `"}`} {
				if err := f.task.SaveDraft(t.Context(), ask.AskID, json.RawMessage(wrong)); codeOf(err) != protocol.CodeInvalidParams {
					t.Errorf("SaveDraft(%.20s) = %v", wrong, err)
				}
			}
			tt.end(f, t, ask.AskID)
			<-done
			if got := f.draft(t, ask.AskID); got != tt.want {
				t.Errorf("after the end the draft is %q, want %q", got, tt.want)
			}
			if err := f.task.SaveDraft(t.Context(), ask.AskID, json.RawMessage(`{"late":1}`)); err != nil {
				t.Errorf("a draft that comes late: %v", err)
			}
			if got := f.draft(t, ask.AskID); got != tt.want {
				t.Errorf("a late draft was kept: %q", got)
			}
		})
	}
	t.Run("are forgotten", func(t *testing.T) {
		f := newFixture(t, nil)
		defer f.close(t)
		done := f.ask(t.Context(), question(form))
		ask, _ := tasktest.AwaitAsk(t, f.events)
		for _, draft := range []string{`{"a":1}`, `null`} {
			if err := f.task.SaveDraft(t.Context(), ask.AskID, json.RawMessage(draft)); err != nil {
				t.Fatal(err)
			}
		}
		if got := f.draft(t, ask.AskID); got != "" {
			t.Errorf("the draft is %s", got)
		}
		f.task.Close("")
		<-done
	})
}

func TestADraftHasNoSecrets(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	asks := form
	asks.ElicitationRequest.Fields = []protocol.Field{
		protocol.StringField{FieldHead: protocol.FieldHead{Name: "password", Secret: true}},
		protocol.StringField{FieldHead: protocol.FieldHead{Name: "name"}},
	}
	done := f.ask(t.Context(), question(asks))
	ask, _ := tasktest.AwaitAsk(t, f.events)
	if err := f.task.SaveDraft(t.Context(), ask.AskID, json.RawMessage(`{"password":"hunter2","name":"Ada"}`)); err != nil {
		t.Fatal(err)
	}
	if got := f.draft(t, ask.AskID); got != `{"name":"Ada"}` {
		t.Errorf("the draft is %s", got)
	}
	f.task.Close("")
	<-done
}
