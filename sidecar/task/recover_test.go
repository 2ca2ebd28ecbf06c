package task_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"assent/protocol"
	"assent/sidecar/store"
	"assent/sidecar/task"
	"assent/sidecar/task/tasktest"
)

// What goes on after a restart is read by a front end that asks for what is new: of the sidecar before, it may
// have heard what is in no store.
func TestWhatGoesOnIsReadAgainAfterARestart(t *testing.T) {
	dir := t.TempDir()
	open := func() (*store.Store, error) { return store.Open(dir) }
	f := newFixture(t, open)
	call, err := f.task.StartCall("s", tool("tool"))
	if err != nil {
		t.Fatal(err)
	}
	f.task.CallTask(call, protocol.McpTask{TaskID: "job", Status: protocol.McpTaskInputRequired})
	f.task.CallProgress(call, protocol.Progress{Progress: 3, At: 1})
	q := question(form)
	q.Key, q.WaitsUntil = task.KeyPrefix("s", "job")+"q", time.Now().Add(time.Hour)
	ctx, end := context.WithCancelCause(t.Context())
	done := f.ask(ctx, q)
	tasktest.AwaitAsk(t, f.events)
	info := f.task.Info()
	end(&task.Ended{Reason: protocol.OutcomeRestarted})
	<-done
	f.close(t)

	f.registry, f.events = tasktest.Registry(t, open)
	defer f.close(t)
	if f.task, err = f.registry.Get(info.ID); err != nil {
		t.Fatal(err)
	}
	opened, err := f.task.Open(t.Context(), info.LastNumber, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if opened.Task.LastNumber <= info.LastNumber || len(opened.Messages) != 2 {
		t.Fatalf("what is new is %+v", opened)
	}
	if progress := opened.Messages[0].Body.(protocol.Call).Progress; progress != nil {
		t.Errorf("the call is still at %+v", progress)
	}
	if until := opened.Messages[1].Body.(protocol.Ask).WaitsUntil; until != 0 {
		t.Errorf("the server still waits until %d", until)
	}
}

// TestADeclinedCompletionStaysDeclined ends a sidecar while the answers to a call's questions are on their way to
// the server: the next one does not go on with the call, and has nothing to say of what was declined.
func TestADeclinedCompletionStaysDeclined(t *testing.T) {
	dir := t.TempDir()
	open := func() (*store.Store, error) { return store.Open(dir) }
	f := newFixture(t, open)
	call, err := f.task.StartCall("s", tool("tool"))
	if err != nil {
		t.Fatal(err)
	}
	f.task.CallRound(call, &task.Round{Required: json.RawMessage(`{}`)})
	q := question(sampling)
	q.Key = task.RoundPrefix(call) + "q"
	done := f.ask(t.Context(), q)
	ask, _ := tasktest.AwaitAsk(t, f.events)
	params := &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.NoButtonClicked}
	if _, err := f.task.Answer(t.Context(), params, "a test"); err != nil {
		t.Fatal(err)
	}
	<-done
	f.task.CallRound(call, nil)
	id := f.task.Info().ID
	f.close(t)

	f.registry, f.events = tasktest.Registry(t, open)
	defer f.close(t)
	if f.task, err = f.registry.Get(id); err != nil {
		t.Fatal(err)
	}
	got := f.messages(t)[1]
	if o := outcomeOf(t, got); o.Reason != protocol.OutcomeDeclined {
		t.Errorf("the outcome is %+v", o)
	}
	if result := got.Body.(protocol.Ask).Question.(protocol.McpSampling).Result; result != nil {
		t.Errorf("of a request that was declined the card says %+v", result)
	}
}
