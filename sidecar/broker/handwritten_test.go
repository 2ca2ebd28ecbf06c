package broker_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/base/secret"
	"assent/sidecar/task/tasktest"
)

func byHand(written protocol.HandWritten) protocol.AskResponseParams {
	return protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, HandWritten: &written}
}

func TestACompletionByHand(t *testing.T) {
	provider := &scripted{words: []string{"Hel", "lo"}}
	f := newFixture(t, provider)
	f.review = protocol.ReviewAlways // of a model's answers
	done := f.serve(t.Context(), f.CreateMessage, sample)
	f.answerNext(t, byHand(protocol.HandWritten{Text: "Bye", Model: "human", StopReason: "weary"}))
	got := <-done
	if got.err != nil {
		t.Fatal(got.err)
	}
	wantJSON(t, got.result, `{"role":"assistant","content":{"type":"text","text":"Bye"},"model":"human","stopReason":"weary"}`)
	if provider.got.Messages != nil {
		t.Errorf("a model was asked: %+v", provider.got)
	}
	q := f.sampled(t)
	response, ok := q.Result.(protocol.McpSamplingResponse)
	if !ok || !response.ByPerson || q.Model != nil || q.Usage != nil || q.InReview {
		t.Errorf("kept is %+v", q)
	}
}

// A completion by hand sends nothing to a model, so there is nothing to confirm or allow.
func TestACompletionByHandSendsNothing(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"Hello"}})
	f.known = []secret.Known{{Value: "Be brief.", Description: "a password"}} // which is in the request
	done := f.serve(t.Context(), f.CreateMessage, sample)
	ask, _ := tasktest.AwaitAsk(t, f.events)
	answer := byHand(protocol.HandWritten{Text: "Bye", Model: "human"})
	answer.AskID = ask.AskID
	answer.Grant = &protocol.GrantTerms{Models: []string{"openai:first"}, MaxRequests: 5}
	var refusal *protocol.Error
	if _, err := f.task.Answer(t.Context(), &answer, "a test"); !errors.As(err, &refusal) || refusal.Code != protocol.CodeInvalidParams {
		t.Errorf("a grant with a completion by hand: %v", err)
	}
	answer.Grant = nil
	if _, err := f.task.Answer(t.Context(), &answer, "a test"); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil {
		t.Fatal(got.err)
	}
}

func TestAWrongCompletionByHand(t *testing.T) {
	long := strings.Repeat("x", 201)
	tests := []struct {
		name    string
		written protocol.HandWritten
		want    []string
	}{
		{"nothing", protocol.HandWritten{}, []string{"text", "model"}},
		{"blanks", protocol.HandWritten{Text: " \n", Model: " "}, []string{"text", "model"}},
		{"long words", protocol.HandWritten{Text: "Hi", Model: long, StopReason: long}, []string{"model", "stopReason"}},
		{"calls that are not there", protocol.HandWritten{Text: "Hi", Model: "m", StopReason: "toolUse"}, []string{"stopReason"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, &scripted{})
			done := f.serve(t.Context(), f.CreateMessage, sample)
			ask, _ := tasktest.AwaitAsk(t, f.events)
			answer := byHand(tt.written)
			answer.AskID = ask.AskID
			_, err := f.task.Answer(t.Context(), &answer, "a test")
			var refusal *protocol.Error
			if !errors.As(err, &refusal) || refusal.Code != protocol.CodeInvalidAnswer {
				t.Fatalf("the answer got %v", err)
			}
			data, _ := refusal.Data.(protocol.InvalidAnswerData)
			var names []string
			for _, p := range data.Problems {
				names = append(names, p.Name)
			}
			if !slices.Equal(names, tt.want) {
				t.Errorf("the problems are of %q, want %q", names, tt.want)
			}
			no := protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.NoButtonClicked}
			if _, err := f.task.Answer(t.Context(), &no, "a test"); err != nil {
				t.Fatal(err)
			}
			<-done
		})
	}
}
