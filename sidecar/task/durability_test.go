package task_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"assent/protocol"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

// A commit that has an act of a person waits for the disk, so that a loss of power does not undo an acknowledged act. A
// commit without one does not wait. The test asks SQLite itself, within the transaction.
func TestActsOfAPersonWaitForTheDisk(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, func() (*store.Store, error) { return store.Open(dir) })
	defer f.close(t)
	tk := f.task
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.Exec(`
		CREATE TABLE commits (full INTEGER);
		CREATE TRIGGER saved AFTER INSERT ON heads WHEN NEW.task_id <> '' AND NEW.message_id = 0 BEGIN
			INSERT INTO commits SELECT synchronous >= 2 FROM pragma_synchronous;
		END`)
	if err != nil {
		t.Fatal(err)
	}
	// want runs a step and checks whether its commits waited for the disk.
	want := func(what string, full bool, step func()) {
		t.Helper()
		if _, err := db.Exec(`DELETE FROM commits`); err != nil {
			t.Fatal(err)
		}
		step()
		var commits, waited int
		if err := db.QueryRow(`SELECT COUNT(*), COALESCE(SUM(full), 0) FROM commits`).Scan(&commits, &waited); err != nil {
			t.Fatal(err)
		}
		if commits == 0 || full && waited == 0 || !full && waited > 0 {
			t.Errorf("%s: %d of %d commits waited for the disk; want that some did: %v", what, waited, commits, full)
		}
	}
	var done <-chan asked
	var ask protocol.Ask
	var call int64
	want("a call that the person starts", true, func() {
		if call, err = tk.StartCall("s", tool("t")); err != nil {
			t.Fatal(err)
		}
	})
	want("a call of a host, and its end", false, func() {
		id, err := tk.StartHostCall("s", tool("t"))
		if err != nil {
			t.Fatal(err)
		}
		tk.EndHostCall(id, protocol.CallCancelled{})
		tk.Settle()
	})
	want("a question of a server", false, func() {
		done = f.ask(t.Context(), question(form))
		ask, _ = tasktest.AwaitAsk(t, f.events)
	})
	want("the answer", true, func() {
		if _, err := tk.Answer(t.Context(), &protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked}, "a test"); err != nil {
			t.Fatal(err)
		}
		<-done
	})
	want("the end of the call", false, func() { tk.EndCall(call, protocol.CallCancelled{}) })
	want("a message", true, func() {
		if _, err := tk.Say(protocol.UserMessage{Text: "hello"}); err != nil {
			t.Fatal(err)
		}
	})
	want("a new title", true, func() {
		if _, err := tk.Rename("another"); err != nil {
			t.Fatal(err)
		}
	})
	want("a notice of Assent's", false, func() { tk.Tell(protocol.Notice{Level: protocol.NoticeInfo, Text: "hello"}) })
}
