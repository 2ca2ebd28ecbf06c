package task_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/store"
)

// gate is a front end that blocks at a task's second event until it is opened. Other changes wait for the
// task's lock. At every event it checks that the store has the change.
type gate struct {
	silent
	t     *testing.T
	store *store.Store
	shut  chan struct{} // closed when the event has arrived
	open  chan struct{}
	asks  chan protocol.Ask

	mu      sync.Mutex // guards numbers
	numbers []int64
}

func (g *gate) TaskEvent(ctx context.Context, p *protocol.TaskEventParams) error {
	if p.Number == 2 {
		close(g.shut)
		<-g.open
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.numbers = append(g.numbers, p.Number)
	switch e := p.Event.(type) {
	case protocol.MessageAdded:
		ask, ok := e.Message.Body.(protocol.Ask)
		if !ok {
			break
		}
		if kept, err := g.store.Ask(ctx, p.TaskID, ask.AskID); err != nil || kept == nil {
			g.t.Errorf("the question %d is announced, and the store has %+v, %v", e.Message.ID, kept, err)
		}
		g.asks <- ask
	case protocol.AskSettled:
		kept, err := g.store.Message(ctx, p.TaskID, e.MessageID)
		if err != nil || kept == nil || kept.Message.Body.(protocol.Ask).Outcome == nil {
			g.t.Errorf("the answer to %d is announced, and the store has %+v, %v", e.MessageID, kept, err)
		}
	}
	return nil
}

// TestChangesThatWaitForTheLockAreSavedAndAnnouncedInOrder has many questions and answers wait for a task's lock. One
// question panics while it is made.
func TestChangesThatWaitForTheLockAreSavedAndAnnouncedInOrder(t *testing.T) {
	const questions, broken = 300, 7
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{t: t, store: s, shut: make(chan struct{}), open: make(chan struct{}), asks: make(chan protocol.Ask, questions)}
	var ids sync.Mutex
	made := 0
	r := task.NewRegistry(task.Options{
		OpenStore: func() (*store.Store, error) { return s, nil }, Events: g, Log: zerolog.Nop(),
		NewID: func() string {
			ids.Lock()
			defer ids.Unlock()
			if made++; made == broken {
				panic("no more ids")
			}
			return fmt.Sprint("id-", made)
		},
	})
	var all sync.WaitGroup
	info, err := r.Create("a task")
	if err != nil {
		t.Fatal(err)
	}
	tk, err := r.Get(info.ID)
	if err != nil {
		t.Fatal(err)
	}
	all.Go(func() {
		if _, err := tk.Rename("another title"); err != nil {
			t.Error(err)
		}
	})
	<-g.shut // the task is locked
	var mu sync.Mutex
	panics := 0
	for range questions {
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					mu.Lock()
					defer mu.Unlock()
					if panics++; !strings.Contains(fmt.Sprint(p), "no more ids") || !strings.Contains(fmt.Sprint(p), "Asks).add") {
						t.Errorf("it panicked with %v", p)
					}
				}
			}()
			if answer, err := tk.Ask(context.Background(), new(question(form))); err != nil || answer.Response != protocol.YesButtonClicked {
				t.Errorf("Ask = %+v, %v", answer, err)
			}
		})
	}
	close(g.open)
	for range questions - 1 {
		ask := <-g.asks
		all.Go(func() {
			yes := &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked}
			if _, err := tk.Answer(context.Background(), yes, "a test"); err != nil {
				t.Errorf("Answer = %v", err)
			}
			if _, err := tk.Answer(context.Background(), yes, "a test"); codeOf(err) != protocol.CodeAskSettled {
				t.Errorf("a second Answer = %v", err)
			}
		})
	}
	all.Wait()
	if panics != 1 {
		t.Errorf("%d questions panicked", panics)
	}
	for i, number := range g.numbers {
		if number != int64(i)+1 {
			t.Fatalf("event %d has the number %d", i+1, number)
		}
	}
	if want := 2 + 2*(questions-1); len(g.numbers) != want || tk.Info().OpenAsks != 0 {
		t.Errorf("%d events and %d open questions, want %d and none", len(g.numbers), tk.Info().OpenAsks, want)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
