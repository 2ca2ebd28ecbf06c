package task_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/tasktest"
)

func TestAnAskTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		defer f.close(t)
		start := time.Now()
		q := question(form)
		q.Timeout = time.Minute
		done := f.ask(t.Context(), q)
		ask, _ := tasktest.AwaitAsk(t, f.events)
		if ask.ExpiresAt == 0 {
			t.Error("the front end is not told until when there is time")
		}
		time.Sleep(50 * time.Second)
		if until, err := f.task.Extend(t.Context(), ask.AskID); err != nil || until != ask.ExpiresAt+60_000 {
			t.Errorf("Extend = %d, %v, want %d", until, err, ask.ExpiresAt+60_000)
		}
		extended := tasktest.Await(t, f.events, func(p protocol.TaskEventParams) bool { _, ok := p.Event.(protocol.AskExtended); return ok })
		if e := extended.Event.(protocol.AskExtended); e.ExpiresAt != ask.ExpiresAt+60_000 {
			t.Errorf("the front end is told of %d", e.ExpiresAt)
		}
		got := <-done
		var ended *task.Ended
		if !errors.As(got.err, &ended) || ended.Reason != protocol.OutcomeTimedOut {
			t.Errorf("Ask = %v", got.err)
		}
		if took := time.Since(start); took.Round(time.Second) != 2*time.Minute {
			t.Errorf("it took %v, want two minutes", took)
		}
		if o := outcomeOf(t, f.messages(t)[0]); o.Reason != protocol.OutcomeTimedOut || o.Detail != "There was no answer within 2m0s." {
			t.Errorf("outcome = %+v", o)
		}
		if _, err := f.task.Extend(t.Context(), ask.AskID); codeOf(err) != protocol.CodeAskSettled {
			t.Errorf("Extend of an ask that is over = %v", err)
		}
	})
}

func TestAnAskThatIsAnsweredInTimeStaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		defer f.close(t)
		q := question(form)
		q.Timeout = time.Minute
		done := f.ask(t.Context(), q)
		ask, _ := tasktest.AwaitAsk(t, f.events)
		if _, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.NoButtonClicked}, "a test"); err != nil {
			t.Fatal(err)
		}
		<-done
		time.Sleep(time.Hour)
		if o := outcomeOf(t, f.messages(t)[0]); o.Reason != protocol.OutcomeDeclined {
			t.Errorf("outcome = %+v", o)
		}
		done = f.ask(t.Context(), question(form))
		unlimited, _ := tasktest.AwaitAsk(t, f.events, ask.AskID)
		if _, err := f.task.Extend(t.Context(), unlimited.AskID); codeOf(err) != protocol.CodeInvalidParams {
			t.Errorf("Extend of an ask without a limit = %v", err)
		}
		f.task.Close("a test")
		<-done
	})
}
