package broker_test

import (
	"testing"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/tasktest"
)

// What an answer brings with it is as it was before, where the answer is not kept after all.
func TestWhatComesWithAnAnswerIsTakenBack(t *testing.T) {
	take := func(t *testing.T, f *fixture, q protocol.UseMcpServer, p protocol.AskResponseParams) {
		t.Helper()
		answer, err := f.Check(q)(&p)
		if err != nil {
			t.Fatal(err)
		}
		undo, err := answer.Take("a test")
		if err != nil || undo == nil {
			t.Fatal(err)
		}
		if err := undo(); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("declining everything", func(t *testing.T) {
		f := newFixture(t, nil)
		q := protocol.McpElicitation{Origin: origin}
		take(t, f, q, protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked, DeclineAll: true})
		done := f.serve(t.Context(), f.Elicit, namedForm)
		tasktest.AwaitAsk(t, f.events)
		f.answerNext(t, no)
		wantJSON(t, (<-done).result, `{"action":"decline"}`)
	})
	t.Run("what was declined before", func(t *testing.T) {
		f := newFixture(t, nil)
		check := f.Check(protocol.McpElicitation{Origin: origin})
		var answers [2]*task.Answer
		for i := range answers {
			var err error
			if answers[i], err = check(&protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked, DeclineAll: true}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := answers[0].Take("a test"); err != nil {
			t.Fatal(err)
		}
		if undo, err := answers[1].Take("a test"); err != nil || undo != nil {
			t.Errorf("the second can take back what the first has declined: %v", err)
		}
	})
	t.Run("a grant", func(t *testing.T) {
		f := newFixture(t, &counted{})
		models, err := (&counted{}).Models(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		q := protocol.McpSampling{Origin: origin, SamplingRequest: protocol.McpSamplingRequest{MaxTokens: 1}, Model: &models[0]}
		take(t, f, q, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, Grant: &tenRequests})
		list, err := f.grants.List(t.Context())
		if err != nil || len(list) != 1 || list[0].EndedAt == 0 || list[0].Spent != (protocol.GrantSpent{}) {
			t.Errorf("grants: %+v, %v", list, err)
		}
	})
}
