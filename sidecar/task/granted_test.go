package task_test

import (
	"context"
	"errors"
	"testing"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/tasktest"
)

func TestAGrantedAskIsSettledAsItIsMade(t *testing.T) {
	f := newFixture(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&task.Ended{Reason: protocol.OutcomeRestarted})
	q := task.Question{
		Key:  "k",
		Body: protocol.McpSampling{Origin: protocol.Origin{ServerName: "s"}},
		Granted: &task.Granted{
			Answer:  &task.Answer{Response: protocol.YesButtonClicked, Held: "mine"},
			Outcome: protocol.Outcome{Reason: protocol.OutcomeGranted, GrantID: "g", Detail: "By a grant."},
		},
	}
	for _, held := range []string{"mine", "another's"} {
		answer, err := f.task.Ask(ctx, &q)
		if err != nil {
			t.Fatal(err)
		}
		if answer.GrantID != "g" || answer.Held != "mine" || !answer.Kept {
			t.Errorf("Ask with what is %s = %+v", held, answer)
		}
		q.Granted = &task.Granted{Answer: &task.Answer{Response: protocol.YesButtonClicked, Held: "another's"}, Outcome: protocol.Outcome{GrantID: "h"}}
	}
	opened, err := f.task.Open(t.Context(), 0, 0, 0)
	if err != nil || len(opened.Messages) != 1 {
		t.Fatalf("Open = %+v, %v", opened, err)
	}
	ask := opened.Messages[0].Body.(protocol.Ask)
	if o := ask.Outcome; o == nil || o.Reason != protocol.OutcomeGranted || o.GrantID != "g" || o.Detail != "By a grant." {
		t.Errorf("the outcome = %+v", o)
	}
	_, err = f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.NoButtonClicked}, "a test")
	if code := (*protocol.Error)(nil); !errors.As(err, &code) || code.Code != protocol.CodeAskSettled {
		t.Errorf("Answer = %v", err)
	}
}

// An ask that is answered without asking does not keep its task busy.
func TestAGrantedAskKeepsNoTaskBusy(t *testing.T) {
	origin := protocol.Origin{ServerName: "s"}
	for name, q := range map[string]task.Question{
		"a tool": {Body: protocol.UseMcpTool{Origin: origin}, Granted: &task.Granted{
			Answer: &task.Answer{Response: protocol.YesButtonClicked}, Outcome: protocol.Outcome{Reason: protocol.OutcomeGranted},
		}},
		"a form that is declined": {Body: form, Granted: &task.Granted{
			Answer: &task.Answer{Response: protocol.NoButtonClicked}, Outcome: protocol.Outcome{Reason: protocol.OutcomeDeclined},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			defer f.close(t)
			if _, err := f.task.Ask(t.Context(), &q); err != nil {
				t.Fatal(err)
			}
			if _, err := f.task.Delete("a person"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnAnswerThatCannotBeTakenLeavesTheAskOpen(t *testing.T) {
	f := newFixture(t, nil)
	failing := true
	done := make(chan *task.Answer, 1)
	go func() {
		answer, err := f.task.Ask(t.Context(), &task.Question{
			Body: protocol.McpSampling{Origin: protocol.Origin{ServerName: "s"}},
			Check: func(p *protocol.AskResponseParams) (*task.Answer, error) {
				answer := &task.Answer{Response: p.AskResponse}
				answer.Take = func(by string) error {
					if failing {
						return errors.New("not now")
					}
					answer.GrantID = "made in " + by
					return nil
				}
				return answer, nil
			},
		})
		if err != nil {
			t.Error(err)
		}
		done <- answer
	}()
	ask, _ := tasktest.AwaitAsk(t, f.events)
	yes := &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked}
	if _, err := f.task.Answer(t.Context(), yes, "a test"); err == nil {
		t.Fatal("an answer was taken that cannot be")
	}
	failing = false
	result, err := f.task.Answer(t.Context(), yes, "a test")
	if err != nil || result.Outcome.GrantID != "made in a test" {
		t.Fatalf("Answer = %+v, %v", result, err)
	}
	if answer := <-done; answer == nil || answer.GrantID != "made in a test" {
		t.Errorf("Ask = %+v", answer)
	}
}
