package broker_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/tasktest"
)

const namedForm = `{"message":"m","requestedSchema":{"type":"object","properties":{"name":{"type":"string","maxLength":5},"age":{"type":"integer"}},"required":["name"]}}`

func TestEverythingFromAServerIsDeclined(t *testing.T) {
	f := newFixture(t, nil)
	done := f.serve(t.Context(), f.Elicit, namedForm)
	ask, _ := tasktest.AwaitAsk(t, f.events)
	wrong := protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.CancelButtonClicked, DeclineAll: true}
	if _, err := f.task.Answer(t.Context(), &wrong, "a test"); err == nil {
		t.Error("putting an ask away declined everything")
	}
	f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked, DeclineAll: true})
	wantJSON(t, (<-done).result, `{"action":"decline"}`)

	for range 2 {
		result, err := f.Elicit(t.Context(), request(f.task, origin, namedForm))
		if err != nil {
			t.Fatal(err)
		}
		wantJSON(t, result, `{"action":"decline"}`)
	}
	if n := f.task.Info().OpenAsks; n != 0 {
		t.Errorf("%d asks are open", n)
	}
	want := []protocol.DeclinedServer{{ServerName: "s", By: "a test"}}
	if diff := cmp.Diff(want, f.policy.Declined()); diff != "" {
		t.Errorf("declined (-want +got):\n%s", diff)
	}
	opened, err := f.task.Open(t.Context(), 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range opened.Messages {
		shown := m.Body.(protocol.Ask)
		if standing := shown.Outcome.Standing == protocol.StandingDeclineAll; standing != (i > 0) {
			t.Errorf("the message %d was settled by a standing decision: %t", i, standing)
		}
		if o := shown.Outcome; o == nil || o.Reason != protocol.OutcomeDeclined || !o.DeclinedAll || o.By != "a test" {
			t.Errorf("the person is shown %+v", shown.Outcome)
		}
		if r := shown.Question.(protocol.McpElicitation).ElicitationResponse; r == nil || r.Action != protocol.ActionDecline {
			t.Errorf("the server was told %+v", r)
		}
	}
	other := protocol.Origin{ServerName: "another"}
	answered := make(chan served, 1)
	go func() {
		result, err := f.Elicit(t.Context(), request(f.task, other, namedForm))
		answered <- served{result, err}
	}()
	seen := []string{}
	for _, m := range opened.Messages {
		seen = append(seen, m.Body.(protocol.Ask).AskID)
	}
	seen = append(seen, f.answerNext(t, no, seen...).AskID)
	wantJSON(t, (<-answered).result, `{"action":"decline"}`)

	f.policy.AskAgain("s")
	if declined := f.policy.Declined(); len(declined) != 0 {
		t.Errorf("declined is still %v", declined)
	}
	done = f.serve(t.Context(), f.Elicit, namedForm)
	f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(`{"name":"Ada"}`)}, seen...)
	wantJSON(t, (<-done).result, `{"action":"accept","content":{"name":"Ada"}}`)
}

func TestFixedAnswers(t *testing.T) {
	tests := []struct {
		name   string
		set    protocol.FixedAnswer
		origin protocol.Origin
		asked  bool
	}{
		{"fits", protocol.FixedAnswer{ServerName: "s", ToolName: "t", Content: json.RawMessage(`{"name":"Ada","age":36}`)}, origin, false},
		{"of another server", protocol.FixedAnswer{ServerName: "r", ToolName: "t", Content: json.RawMessage(`{"name":"Ada","age":36}`)}, origin, true},
		{"of another tool", protocol.FixedAnswer{ServerName: "s", ToolName: "u", Content: json.RawMessage(`{"name":"Ada","age":36}`)}, origin, true},
		{"of any tool", protocol.FixedAnswer{ServerName: "s", Content: json.RawMessage(`{"name":"Ada","age":36}`)}, protocol.Origin{ServerName: "s"}, true},
		{"of one of two tools", protocol.FixedAnswer{ServerName: "s", ToolName: "t", Content: json.RawMessage(`{"name":"Ada","age":36}`)}, protocol.Origin{ServerName: "s", ToolNames: []string{"t", "u"}}, true},
		{"has less", protocol.FixedAnswer{ServerName: "s", ToolName: "t", Content: json.RawMessage(`{"name":"Ada"}`)}, origin, true},
		{"has more", protocol.FixedAnswer{ServerName: "s", ToolName: "t", Content: json.RawMessage(`{"name":"Ada","age":36,"x":1}`)}, origin, true},
		{"breaks a rule", protocol.FixedAnswer{ServerName: "s", ToolName: "t", Content: json.RawMessage(`{"name":"Ada Lovelace","age":36}`)}, origin, true},
		{"is none", protocol.FixedAnswer{ServerName: "s", ToolName: "t", Content: json.RawMessage(`7`)}, origin, true},
	}
	t.Run("is a secret", func(t *testing.T) {
		f := newFixture(t, nil)
		f.answers = []protocol.FixedAnswer{{ServerName: "s", ToolName: "t", Content: json.RawMessage(`{"password":"x"}`)}}
		done := f.serve(t.Context(), f.Elicit, `{"message":"m","requestedSchema":{"type":"object","properties":{"password":{"type":"string"}}}}`)
		f.answerNext(t, no)
		wantJSON(t, (<-done).result, `{"action":"decline"}`)
	})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.answers = []protocol.FixedAnswer{tt.set}
			done := make(chan served, 1)
			go func() {
				result, err := f.Elicit(t.Context(), request(f.task, tt.origin, namedForm))
				done <- served{result, err}
			}()
			ask, _ := tasktest.AwaitAsk(t, f.events)
			if asked := ask.Outcome == nil; asked != tt.asked {
				t.Fatalf("the person is asked: %v, want %v", asked, tt.asked)
			}
			if tt.asked {
				f.answerNext(t, no)
				<-done
				return
			}
			wantJSON(t, (<-done).result, `{"action":"accept","content":{"name":"Ada","age":36}}`)
			if q := ask.Question.(protocol.McpElicitation); ask.Outcome.Reason != protocol.OutcomeGranted || ask.Outcome.Detail == "" || q.ElicitationResponse == nil {
				t.Errorf("the person is shown %+v, %+v", ask.Outcome, q.ElicitationResponse)
			}
			_, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.NoButtonClicked}, "a test")
			if e := (*protocol.Error)(nil); !errors.As(err, &e) || e.Code != protocol.CodeAskSettled {
				t.Errorf("a second answer: %v", err)
			}
		})
	}
}
