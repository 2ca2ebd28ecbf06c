package task_test

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/journal"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

// journaled returns the kinds of a store's records, the oldest first, each with the reason of its outcome.
func journaled(t *testing.T, s *store.Store) (all []string) {
	t.Helper()
	records, _, err := s.Journal(t.Context(), store.JournalFilter{}, 100, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		var body struct{ Outcome protocol.Outcome }
		if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.TrimSpace(r.Kind+" "+string(body.Outcome.Reason)))
	}
	return all
}

func wantJournal(t *testing.T, r *task.Registry, want ...string) {
	t.Helper()
	s, err := r.Store()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, journaled(t, s)); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}

func TestTheJournalHasEachStepOfARequest(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	id, err := f.task.StartCall("s", tool("t"))
	if err != nil {
		t.Fatal(err)
	}
	done := f.ask(t.Context(), question(sampling))
	open, m := tasktest.AwaitAsk(t, f.events)
	wantJournal(t, f.registry, "callStarted", "askOpened")
	answer := &protocol.AskResponseParams{AskID: open.AskID, AskResponse: protocol.YesButtonClicked}
	if _, err := f.task.Answer(t.Context(), answer, "a test"); err != nil {
		t.Fatal(err)
	}
	// The record is there when the answer is acknowledged.
	wantJournal(t, f.registry, "callStarted", "askOpened", "askSettled answered")
	<-done
	for range 3 { // servers repeat the same state
		f.task.CallTask(id, protocol.McpTask{TaskID: "m", Status: protocol.McpTaskWorking, CreatedAt: 1})
		f.task.CallTask(id, protocol.McpTask{TaskID: "m", Status: protocol.McpTaskWorking, CreatedAt: 1, StatusMessage: "still"})
	}
	f.task.EndSampling(m.ID, protocol.SamplingFailure{Reason: "no"}, nil)
	f.task.EndCall(id, protocol.ToolResult{})
	f.task.EndCall(id, protocol.ToolResult{}) // only the first end counts
	if _, err := f.task.Answer(t.Context(), answer, "another"); err == nil {
		t.Error("an ask was answered twice")
	}
	f.task.Denied(protocol.Origin{ServerName: "s"}, "sampling/createMessage", protocol.Outcome{Reason: protocol.OutcomeDenied}, 1)
	wantJournal(
		t, f.registry, "callStarted", "askOpened", "askSettled answered", "callTaskChanged", "samplingEnded", "callEnded", "requestDenied denied",
	)
}

func TestTheJournalHasWhatARestartSettles(t *testing.T) {
	dir := t.TempDir()
	open := func() (*store.Store, error) { return store.Open(dir) }
	f := newFixture(t, open)
	if _, err := f.task.StartCall("s", tool("t")); err != nil {
		t.Fatal(err)
	}
	f.ask(t.Context(), question(form))
	one, _ := tasktest.AwaitAsk(t, f.events)
	f.ask(t.Context(), question(sampling))
	two, _ := tasktest.AwaitAsk(t, f.events, one.AskID)
	approve := &protocol.AskResponseParams{AskID: two.AskID, AskResponse: protocol.YesButtonClicked}
	if _, err := f.task.Answer(t.Context(), approve, "a test"); err != nil {
		t.Fatal(err)
	}
	f.close(t) // as a kill: open asks stay open

	r, _ := tasktest.Registry(t, open)
	defer r.Close()
	s, err := r.Store()
	if err != nil {
		t.Fatal(err)
	}
	got := journaled(t, s)
	if diff := cmp.Diff([]string{"callStarted", "askOpened", "askOpened", "askSettled answered"}, got[:4]); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
	after := map[string]int{}
	for _, kind := range got[4:] {
		after[kind]++
	}
	if diff := cmp.Diff(map[string]int{"callEnded": 1, "askSettled restarted": 1, "samplingEnded": 1}, after); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
}

func TestTheJournalWaitsForTheDisk(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
	defer f.close(t)
	refuseWrites(t, dir)
	f.ask(t.Context(), question(form))
	open, _ := tasktest.AwaitAsk(t, f.events)
	wantJournal(t, f.registry)
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(notFull); err != nil {
		t.Fatal(err)
	}
	no := &protocol.AskResponseParams{AskID: open.AskID, AskResponse: protocol.NoButtonClicked}
	if _, err := f.task.Answer(t.Context(), no, "a test"); err != nil {
		t.Fatal(err)
	}
	wantJournal(t, f.registry, "askOpened", "askSettled declined")
	s, err := f.registry.Store()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := store.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if v, err := journal.Verify(t.Context(), reader); err != nil || v.Records != 2 {
		t.Errorf("Verify = %+v, %v, want 2 records of %v", v, err, journaled(t, s))
	}
}
