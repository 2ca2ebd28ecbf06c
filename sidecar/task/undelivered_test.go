package task_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/tasktest"
)

func TestAnAnswerThatTheServerDidNotGet(t *testing.T) {
	const late = "The server stopped waiting before the answer reached it."
	f := newFixture(t, nil)
	defer f.close(t)
	done := f.ask(t.Context(), question(form))
	ask, message := tasktest.AwaitAsk(t, f.events)
	f.task.Undelivered(message.ID, late) // a no-op for an open ask
	if _, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.NoButtonClicked}, "a test"); err != nil {
		t.Fatal(err)
	}
	<-done
	for _, why := range []string{late, late, "", ""} { // only a change is announced
		f.task.Undelivered(message.ID, why)
		if o := outcomeOf(t, f.messages(t)[0]); o.Reason != protocol.OutcomeDeclined || o.Undelivered != why {
			t.Errorf("outcome = %+v, want it undelivered: %q", o, why)
		}
	}
	f.task.Undelivered(99, late) // a no-op for an unknown message
	var announced []string
	for _, e := range f.events.All() {
		if p, ok := e.(protocol.TaskEventParams); ok {
			if e, ok := p.Event.(protocol.AskUndelivered); ok {
				announced = append(announced, e.Reason)
			}
		}
	}
	if diff := cmp.Diff([]string{late, ""}, announced); diff != "" {
		t.Errorf("announced (-want +got):\n%s", diff)
	}
	wantJournal(t, f.registry, "askOpened", "askSettled declined", "askUndelivered", "askUndelivered")
}

// Asks have the order in which they were queued, even if many wait for the task's lock.
func TestAsksHaveTheOrderInWhichTheyWereQueued(t *testing.T) {
	const n = 50
	f := newFixture(t, nil)
	defer f.close(t)
	ctx, cancel := context.WithCancel(t.Context())
	var want []string
	var dones []<-chan asked
	for i := range n {
		q := question(form)
		body := q.Body.(protocol.McpElicitation)
		body.ElicitationRequest.Message = fmt.Sprint(i)
		q.Body = body
		queued := make(chan struct{})
		q.Queued = func() { close(queued) }
		dones = append(dones, f.ask(ctx, q))
		<-queued
		want = append(want, fmt.Sprint(i))
	}
	var got, seen []string
	for range n {
		ask, _ := tasktest.AwaitAsk(t, f.events, seen...)
		seen = append(seen, ask.AskID)
		got = append(got, ask.Question.(protocol.McpElicitation).ElicitationRequest.Message)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("asks (-want +got):\n%s", diff)
	}
	cancel()
	for _, done := range dones {
		<-done
	}
}
