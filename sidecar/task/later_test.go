package task_test

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

// numbers returns the numbers of the events that were announced.
func numbers(events *tasktest.Events) (all []int64) {
	for _, e := range events.All() {
		if event, ok := e.(protocol.TaskEventParams); ok {
			all = append(all, event.Number)
		}
	}
	return all
}

// A call of a host is saved and announced without another change, and its end with it if both are quick.
func TestACallOfAHostIsSavedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, store.OpenMemory)
		defer f.close(t)
		id, err := f.task.StartHostCall("s", tool("t"))
		if err != nil {
			t.Fatal(err)
		}
		f.task.EndHostCall(id, protocol.CallCancelled{})
		f.task.EndHostCall(id, protocol.CallAbandoned{}) // only the first end counts
		if diff := cmp.Diff([]int64{1}, numbers(f.events)); diff != "" {
			t.Errorf("the first announced events (-want +got):\n%s", diff)
		}
		tasktest.Await(t, f.events, func(p protocol.TaskEventParams) bool { return p.Number == 3 })
		if diff := cmp.Diff([]int64{1, 2, 3}, numbers(f.events)); diff != "" {
			t.Errorf("all announced events (-want +got):\n%s", diff)
		}
		call := f.messages(t)[0].Body.(protocol.Call)
		if _, ok := call.Result.(protocol.CallCancelled); !ok {
			t.Errorf("the call is %+v", call)
		}
	})
}

// Another change of the task comes after a call that is saved later, in the store and in the events.
func TestWhatIsSavedLaterComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, store.OpenMemory)
		defer f.close(t)
		if _, err := f.task.StartHostCall("s", tool("t")); err != nil {
			t.Fatal(err)
		}
		if _, err := f.task.Say(protocol.UserMessage{Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{1, 2, 3}, numbers(f.events)[:3]); diff != "" {
			t.Errorf("the announced events (-want +got):\n%s", diff)
		}
		if messages := f.messages(t); len(messages) != 2 {
			t.Errorf("the task has %+v", messages)
		}
	})
}

// The registry saves everything before it closes the store.
func TestTheEndSavesWhatIsSavedLater(t *testing.T) {
	dir := t.TempDir()
	open := func() (*store.Store, error) { return store.Open(dir) }
	f := newFixture(t, open)
	id, err := f.task.StartHostCall("s", tool("t"))
	if err != nil {
		t.Fatal(err)
	}
	f.task.EndHostCall(id, protocol.CallCancelled{})
	if err := f.registry.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	saved, err := s.Message(t.Context(), f.task.ID(), id)
	if err != nil || saved == nil || saved.Live {
		t.Errorf("the store has %+v, %v", saved, err)
	}
}
