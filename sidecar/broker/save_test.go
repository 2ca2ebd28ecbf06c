package broker_test

import (
	"testing"

	"assent/protocol"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/task"
)

// saving is a task with a save that is under way. Its log is locked, so each method that needs the lock waits.
type saving struct {
	*task.Task
	t *testing.T
}

func (s saving) Info() protocol.Task {
	s.t.Error("a question waits for the save before it is in line for the next one: it reads the task")
	return s.Task.Info()
}

func (s saving) Asked(key string) protocol.UseMcpServer {
	s.t.Error("a question waits for the save before it is in line for the next one: it looks up an earlier question")
	return s.Task.Asked(key)
}

func (s saving) IsOpen(key string) bool {
	s.t.Error("a question waits for the save before it is in line for the next one: it looks up an open question")
	return s.Task.IsOpen(key)
}

// Questions that come during a save are saved together by the next one only if each is in line by then. With a hundred
// open at once, a wait for the lock before that costs two thirds of the answers in a second.
func TestAQuestionIsInLineForTheNextSaveAtOnce(t *testing.T) {
	f := newFixture(t, nil)
	call := &attribution.Call{TaskID: f.task.ID(), ToolName: "t"}
	ledger := attribution.NewLedger(t.Context(), f.task.ID())
	ledger.Begin(t.Context(), call)
	defer ledger.End(call, nil)
	r := request(saving{f.task, t}, origin, elicit)
	if taskID := ledger.Attribute(r, nil, nil); taskID != f.task.ID() {
		t.Fatalf("the request belongs to the task %q", taskID)
	}
	done := make(chan served, 1)
	go func() {
		result, err := f.Elicit(t.Context(), r)
		done <- served{result, err}
	}()
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked}); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil {
		t.Fatal(got.err)
	}
}
