package task_test

import (
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/ask"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

// TestAClockThatIsPutBack sets the clock back by an hour at each step. Later events still have greater
// numbers, and no time limit grows.
func TestAClockThatIsPutBack(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var putBack atomic.Int64 // read by an ask's own goroutine
		begin := func() (*task.Registry, *tasktest.Events) {
			events := &tasktest.Events{}
			return task.NewRegistry(task.Options{
				OpenStore: func() (*store.Store, error) { return store.Open(dir) },
				Events:    events,
				Check:     func(protocol.UseMcpServer) task.Check { return question(form).Check },
				Now:       func() time.Time { return time.Now().Add(-time.Duration(putBack.Load())) },
			}), events
		}
		r, events := begin()
		info, err := r.Create("a task")
		if err != nil {
			t.Fatal(err)
		}
		tk, err := r.Get(info.ID)
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{r, events, tk}

		call, err := tk.StartCall("s", tool("t"))
		if err != nil {
			t.Fatal(err)
		}
		tk.CallTask(call, protocol.McpTask{TaskID: "m", Status: protocol.McpTaskInputRequired})
		var asks []protocol.Ask
		var seen []string
		for _, key := range []string{"a", "b", "c"} {
			q := question(form)
			q.Key, q.Timeout = ask.McpTaskPrefix("s", "m")+key, 10*time.Minute
			f.ask(t.Context(), q)
			ask, _ := tasktest.AwaitAsk(t, events, seen...)
			asks, seen = append(asks, ask), append(seen, ask.AskID)
			putBack.Add(int64(time.Hour))
		}
		open, _, err := r.OpenAsks()
		if err != nil || len(open) != 3 {
			t.Fatal(len(open), err)
		}
		for i := range open {
			if open[i].AskID != asks[i].AskID {
				t.Errorf("the inbox has the ask of message %d at place %d", open[i].MessageID, i)
			}
		}
		time.Sleep(5 * time.Minute)
		until, err := tk.Extend(t.Context(), asks[0].AskID)
		if want := time.Now().Add(15*time.Minute - time.Duration(putBack.Load())).UnixMilli(); err != nil || until != want {
			t.Errorf("Extend = %d, %v, want %d: 15 minutes from now", until, err, want)
		}
		if _, err := tk.Answer(t.Context(), &protocol.AskResponseParams{AskID: asks[1].AskID, AskResponse: protocol.NoButtonClicked}, "me"); err != nil {
			t.Fatal(err)
		}
		_, err = tk.Answer(t.Context(), &protocol.AskResponseParams{AskID: asks[1].AskID, AskResponse: protocol.YesButtonClicked}, "you")
		if codeOf(err) != protocol.CodeAskSettled {
			t.Errorf("a second answer = %v", err)
		}
		number := int64(0)
		for _, e := range events.All() {
			if p, ok := e.(protocol.TaskEventParams); ok {
				if p.Number != number+1 {
					t.Errorf("event %d came after event %d", p.Number, number)
				}
				number = p.Number
			}
		}
		f.close(t)

		putBack.Add(int64(24 * time.Hour))
		r, events = begin()
		f = &fixture{registry: r, events: events}
		if f.task, err = r.Get(info.ID); err != nil {
			t.Fatal(err)
		}
		if n := f.task.Info().LastNumber; n < number {
			t.Errorf("the task went back from event %d to %d", number, n)
		}
		messages := f.messages(t)
		if len(messages) != 4 {
			t.Fatalf("%d messages", len(messages))
		}
		for i, m := range messages {
			if m.ID != int64(i+1) {
				t.Errorf("message %d is at place %d", m.ID, i)
			}
		}
		q := question(form)
		q.Key = ask.McpTaskPrefix("s", "m") + "c"
		got := f.ask(t.Context(), q)
		began := time.Now()
		var ended *task.Ended
		if a := <-got; !errors.As(a.err, &ended) || ended.Reason != protocol.OutcomeTimedOut {
			t.Errorf("the ask that was open = %+v", a)
		}
		if took := time.Since(began); took > 10*time.Minute {
			t.Errorf("a clock that was put back gave the person %v", took)
		}
		s, err := r.Store()
		if err != nil {
			t.Fatal(err)
		}
		records, _, err := s.Journal(t.Context(), store.JournalFilter{}, 100, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for i, record := range records {
			if record.Seq != int64(i+1) || !json.Valid([]byte(record.Body)) {
				t.Errorf("record %d is at place %d", record.Seq, i)
			}
		}
		f.close(t)
	})
}
