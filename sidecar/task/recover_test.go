package task_test

import (
	"encoding/json"
	"testing"

	"assent/protocol"
	"assent/sidecar/store"
	"assent/sidecar/task"
	"assent/sidecar/task/tasktest"
)

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
