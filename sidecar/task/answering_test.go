package task_test

import (
	"context"
	"testing"
	"time"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/tasktest"
)

// slow is a front end that accepts a new title only after a goroutine got the task. The task is locked
// until then.
type slow struct {
	*tasktest.Events
	t           *testing.T
	locked, got chan struct{}
}

func (s slow) TaskEvent(ctx context.Context, p *protocol.TaskEventParams) error {
	if e, ok := p.Event.(protocol.TaskChanged); ok && e.Task.Title == "another title" {
		close(s.locked)
		select {
		case <-s.got:
		case <-time.After(2 * time.Minute):
			s.t.Error("nobody gets the task while it is locked")
		}
	}
	return s.Events.TaskEvent(ctx, p)
}

// An answer to an open ask does not wait until another change is saved before it gets the task.
func TestATaskIsGotToAnswerWhileItIsLocked(t *testing.T) {
	front := slow{t: t, locked: make(chan struct{}), got: make(chan struct{})}
	f := newFixture(t, nil, func(o *task.Options) {
		front.Events = o.Events.(*tasktest.Events)
		o.Events = front
	})
	defer f.close(t)
	id := f.task.Info().ID
	answered := f.ask(t.Context(), question(form))
	ask, _ := tasktest.AwaitAsk(t, f.events)
	renamed := make(chan error, 1)
	go func() {
		_, err := f.task.Rename("another title")
		renamed <- err
	}()
	<-front.locked
	tk, err := f.registry.Get(id)
	if err != nil || tk != f.task {
		t.Errorf("Get = %p, %v, want %p", tk, err, f.task)
	}
	close(front.got)
	if err := <-renamed; err != nil {
		t.Error(err)
	}
	if _, err := tk.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked}, "a test"); err != nil {
		t.Error(err)
	}
	if got := <-answered; got.err != nil || got.answer.Response != protocol.YesButtonClicked {
		t.Errorf("Ask = %+v", got)
	}
}
