package server_test

import (
	"errors"
	"testing"

	"assent/protocol"
)

// A turn is its window's: another one sees it, cannot go on with it, and ends it by taking the task over.
func TestATurnIsTakenOver(t *testing.T) {
	dir := t.TempDir()
	one := openWindow(t, dir, newEndpoint(t), nil)
	one.call("task/create", map[string]any{}, &one.task)
	step, began := hangs("Once upon")
	one.model.then(step)
	one.say("A story.")
	<-began

	two := openWindow(t, dir, one.model, nil)
	two.task = one.task
	send := map[string]any{"taskId": two.task.ID, "text": "And then?"}
	err := two.try("chat/send", send, nil)
	if e := (*protocol.Error)(nil); !errors.As(err, &e) || e.Code != protocol.CodeTaskElsewhere {
		t.Fatalf("chat/send = %v, want that the task is elsewhere", err)
	}
	two.call("task/takeOver", map[string]any{"taskId": two.task.ID}, nil)
	var kept protocol.OpenTaskResult
	two.call("task/open", map[string]any{"taskId": two.task.ID}, &kept)
	two.task = kept.Task
	for _, m := range kept.Messages {
		two.messages[m.ID] = m
	}
	end := last[protocol.ModelMessage](two).End
	if end == nil || end.Reason != protocol.ModelEndInterrupted || end.Detail != "The task was taken over in another window." || two.task.Running {
		t.Errorf("the end is %+v, the task %+v", end, two.task)
	}
	two.model.then(says("Once upon a time."))
	two.call("chat/retry", map[string]any{"taskId": two.task.ID}, nil)
	two.until("the answer", func() bool { return !two.task.Running && len(ends(two)) == 2 })
	two.done()
	one.close()
}
