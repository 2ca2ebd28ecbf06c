package task_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/ask"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

// After a restart, a front end that reads the changes gets all live messages again, because it may have events
// of the earlier sidecar that were not saved.
func TestLiveMessagesAreReadAgainAfterARestart(t *testing.T) {
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
	q.Key, q.WaitsUntil = ask.McpTaskPrefix("s", "job")+"q", time.Now().Add(time.Hour)
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
// the server. The next sidecar does not continue the call, and does not change the declined ask.
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
	q.Key = ask.RoundPrefix(call) + "q"
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

// TestRecoveryAfterADeadSidecar starts a sidecar on the store of a killed one. Questions that can continue are open, the
// others end, and drafts are kept. A quiet task does not change.
func TestRecoveryAfterADeadSidecar(t *testing.T) {
	living, dir := t.TempDir(), filepath.Join(t.TempDir(), "killed")
	f := newFixture(t, func() (*store.Store, error) { return store.Open(living) })
	defer f.close(t)
	idle, err := f.registry.Create("idle")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.task.StartCall("s", tool("older")); err != nil {
		t.Fatal(err)
	}
	call, err := f.task.StartCall("s", tool("modern"))
	if err != nil {
		t.Fatal(err)
	}
	f.task.CallRound(call, &task.Round{Number: 1, Required: json.RawMessage(`{}`)})
	ctx, cancel := context.WithCancel(t.Context())
	olderEnded := f.ask(ctx, question(form))
	older, _ := tasktest.AwaitAsk(t, f.events)
	keyed := question(form)
	keyed.Key = ask.RoundPrefix(call) + "1\x00day"
	modernEnded := f.ask(ctx, keyed)
	modern, _ := tasktest.AwaitAsk(t, f.events, older.AskID)
	for _, id := range []string{older.AskID, modern.AskID} {
		if err := f.task.SaveDraft(t.Context(), id, json.RawMessage(`{"typed":"`+id+`"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyStore(dir, living); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-olderEnded
	<-modernEnded

	r, _ := tasktest.Registry(t, func() (*store.Store, error) { return store.Open(dir) })
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	open, _, err := r.OpenAsks()
	if err != nil || len(open) != 1 || open[0].AskID != modern.AskID {
		t.Errorf("OpenAsks = %+v, %v, want the modern one", open, err)
	}
	unfinished, err := r.Unfinished()
	if err != nil || len(unfinished) != 1 || unfinished[0].MessageID != call || unfinished[0].Round == nil {
		t.Errorf("Unfinished = %+v, %v, want the modern call", unfinished, err)
	}
	next, err := r.Get(f.task.Info().ID)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := next.Open(t.Context(), 0, 0, 0)
	if err != nil || len(opened.Messages) != 4 || opened.Task.OpenAsks != 1 {
		t.Fatalf("Open = %+v, %v", opened, err)
	}
	if lost, ok := opened.Messages[0].Body.(protocol.Call).Result.(protocol.CallLost); !ok || !strings.Contains(lost.Reason, "restarted") {
		t.Errorf("the older call = %+v", opened.Messages[0].Body)
	}
	for i, ask := range []protocol.Ask{older, modern} {
		got := opened.Messages[2+i].Body.(protocol.Ask)
		if string(got.Draft) != `{"typed":"`+ask.AskID+`"}` {
			t.Errorf("the draft of ask %d = %s", i, got.Draft)
		}
		if ended := got.Outcome != nil && got.Outcome.Reason == protocol.OutcomeRestarted; ended != (i == 0) {
			t.Errorf("the outcome of ask %d = %+v", i, got.Outcome)
		}
	}
	other, err := r.Get(idle.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(idle, other.Info()); diff != "" {
		t.Errorf("the idle task (-before +after):\n%s", diff)
	}
	// New messages get ids after those in the store.
	if id, err := next.StartCall("s", tool("new")); err != nil || id != 5 {
		t.Errorf("StartCall = %d, %v, want 5", id, err)
	}
	if id, err := other.StartCall("s", tool("first")); err != nil || id != 1 {
		t.Errorf("StartCall = %d, %v, want 1", id, err)
	}
}

// A message that is added after a start does not replace a stored one.
func TestMessagesGoOnAfterThoseOfTheStore(t *testing.T) {
	dir := t.TempDir()
	open := func() (*store.Store, error) { return store.Open(dir) }
	f := newFixture(t, open)
	call, err := f.task.StartCall("s", tool("one"))
	if err != nil {
		t.Fatal(err)
	}
	f.task.EndCall(call, text("done", false))
	id := f.task.Info().ID
	f.close(t)
	for range 2 { // the second time, the task has no live message
		f.registry, f.events = tasktest.Registry(t, open)
		if f.task, err = f.registry.Get(id); err != nil {
			t.Fatal(err)
		}
		next, err := f.task.StartCall("s", tool("another"))
		if err != nil || next != call+1 {
			t.Errorf("StartCall = %d, %v, want %d", next, err, call+1)
		}
		f.task.EndCall(next, text("done", false))
		call = next
		f.close(t)
	}
}
