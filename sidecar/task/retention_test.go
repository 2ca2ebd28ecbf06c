package task_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

const day = 24 * time.Hour

// keep runs the retention, and returns the channel for settings.
func (f *fixture) keep(t *testing.T) chan<- int {
	t.Helper()
	setting := make(chan int)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.registry.KeepResults(ctx, setting)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		f.close(t)
	})
	return setting
}

// results returns the results of the calls, by their messages.
func (f *fixture) results(t *testing.T) map[int64]protocol.CallResult {
	t.Helper()
	results := map[int64]protocol.CallResult{}
	for _, m := range f.messages(t) {
		results[m.ID] = m.Body.(protocol.Call).Result
	}
	return results
}

func TestResultsOfMcpTasksAreRemovedWhenTheirDaysAreOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		setting := f.keep(t)
		f.messages(t) // the front end has the task open
		setting <- 30
		good := f.mcpTask(t, "good", text("much", false))
		bad := f.mcpTask(t, "bad", text("more", true))
		refused := f.mcpTask(t, "refused", protocol.CallError{Message: "no"})
		short, err := f.task.StartCall("s", tool("short"))
		if err != nil {
			t.Fatal(err)
		}
		f.task.EndCall(short, text("little", false))

		time.Sleep(30*day - time.Hour)
		synctest.Wait()
		late := f.mcpTask(t, "late", text("new", false))
		before := f.results(t)
		want := map[int64]protocol.CallResult{
			good: text("much", false), bad: text("more", true), late: text("new", false),
			refused: protocol.CallError{Message: "no"}, short: text("little", false),
		}
		if diff := cmp.Diff(want, before); diff != "" {
			t.Fatalf("results after 30 days less an hour (-want +got):\n%s", diff)
		}
		opened, err := f.task.Open(t.Context(), 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		last := opened.Task.LastNumber

		time.Sleep(2 * day)
		synctest.Wait()
		want[good] = protocol.ToolResult{RemovedAfter: 30}
		want[bad] = protocol.ToolResult{RemovedAfter: 30, IsError: true}
		if diff := cmp.Diff(want, f.results(t)); diff != "" {
			t.Errorf("results after 32 days (-want +got):\n%s", diff)
		}
		// A front end that was away reads only the changed messages; an attached one got events.
		changed, err := f.task.Open(t.Context(), last, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(changed.Messages) != 2 || changed.Reset || changed.Task.LastNumber != last+2 {
			t.Errorf("what changed after %d: %+v, want the two messages by two events", last, changed)
		}
		for _, id := range []int64{good, bad} {
			tasktest.Await(t, f.events, func(p protocol.TaskEventParams) bool {
				ended, ok := p.Event.(protocol.CallEnded)
				return ok && p.Number > last && ended.MessageID == id && cmp.Equal(ended.Result, want[id]) && ended.EndedAt != 0
			})
		}
	})
}

func TestTheSettingOfResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		setting := f.keep(t)
		f.messages(t)
		id := f.mcpTask(t, "one", text("much", false))
		setting <- 0
		time.Sleep(1000 * day)
		synctest.Wait()
		if got := f.results(t)[id]; !cmp.Equal(got, protocol.CallResult(text("much", false))) {
			t.Errorf("kept for ever: %+v", got)
		}
		setting <- 1_000_000_000_000 // more than a date can hold
		synctest.Wait()
		setting <- 7 // a new setting applies at once
		synctest.Wait()
		if got := f.results(t)[id]; !cmp.Equal(got, protocol.CallResult(protocol.ToolResult{RemovedAfter: 7})) {
			t.Errorf("after the setting changed: %+v", got)
		}
	})
}

func TestAnUnreadResultIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		setting := f.keep(t)
		id := f.mcpTask(t, "one", text("much", false))
		setting <- 1
		time.Sleep(10 * day)
		synctest.Wait()
		// A front end receives the result now, so its time begins.
		if got := f.results(t)[id]; !cmp.Equal(got, protocol.CallResult(text("much", false))) {
			t.Fatalf("not got: %+v", got)
		}
		time.Sleep(day - time.Hour)
		synctest.Wait()
		if got := f.results(t)[id]; !cmp.Equal(got, protocol.CallResult(text("much", false))) {
			t.Errorf("got a day ago: %+v", got)
		}
		time.Sleep(2 * day)
		synctest.Wait()
		if got := f.results(t)[id]; !cmp.Equal(got, protocol.CallResult(protocol.ToolResult{RemovedAfter: 1})) {
			t.Errorf("got three days ago: %+v", got)
		}
	})
}

// The next sidecar, on the same disk, removes all results of the earlier one. No row has their text
// afterwards.
func TestResultsAreRemovedAtTheNextStart(t *testing.T) {
	dir := t.TempDir()
	open := func() (*store.Store, error) { return store.Open(dir) }
	f := newFixture(t, open)
	ids := []int64{f.mcpTask(t, "one", text("much to be removed", false)), f.mcpTask(t, "two", text("and much more", false))}
	f.messages(t)
	f.close(t)
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE messages SET result_got = result_got - ?", (8 * day).Milliseconds()); err != nil {
		t.Fatal(err)
	}

	registry, events := tasktest.Registry(t, open)
	next := &fixture{registry: registry, events: events}
	next.keep(t) <- 7
	for _, id := range ids {
		tasktest.Await(t, events, func(p protocol.TaskEventParams) bool {
			ended, ok := p.Event.(protocol.CallEnded)
			return ok && ended.MessageID == id
		})
	}
	var rows int
	if err := db.QueryRow("SELECT count(*) FROM messages WHERE body LIKE '%removed%' AND body NOT LIKE '%much%' AND result_got IS NULL").Scan(&rows); err != nil || rows != 2 {
		t.Errorf("%d rows say that the result was removed, %v, want 2", rows, err)
	}
}
