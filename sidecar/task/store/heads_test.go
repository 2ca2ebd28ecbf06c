package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// TestLateChangesAreFound changes messages right after they were added and long after that, some of them
// live, and looks for the changes after events of all ages.
func TestLateChangesAreFound(t *testing.T) {
	s, err := store.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	random := rand.New(rand.NewPCG(1, 2))
	const messages = 2 * store.Lately
	var all []store.Entry
	task := protocol.Task{ID: "t"}
	change := func(i int) *store.Entry {
		task.LastNumber++
		if i == len(all) {
			all = append(all, notice(int64(i+1), 0, "said"))
		}
		all[i].Number, all[i].Live = task.LastNumber, random.IntN(50) == 0
		e := all[i]
		return &e
	}
	for len(all) < messages {
		batch := []*store.Entry{change(len(all))}
		for random.IntN(3) == 0 { // a recent message, or any
			batch = append(batch, change(max(0, len(all)-1-random.IntN(20))), change(random.IntN(len(all))))
		}
		if err := s.SaveAll(t.Context(), task, batch); err != nil {
			t.Fatal(err)
		}
	}
	want := func(keep func(store.Entry) bool) (ids []int64) {
		for _, e := range all {
			if keep(e) {
				ids = append(ids, e.Message.ID)
			}
		}
		return ids
	}
	idsOf := func(entries []store.Entry, err error) (ids []int64) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			ids = append(ids, e.Message.ID)
		}
		return ids
	}
	if diff := cmp.Diff(want(func(e store.Entry) bool { return e.Live }), idsOf(s.Live(t.Context(), "t"))); diff != "" {
		t.Errorf("live messages (-want +got):\n%s", diff)
	}
	for range 10 {
		r := store.Range{After: 1 + random.Int64N(task.LastNumber), Before: messages - random.Int64N(500), Limit: messages}
		changed := want(func(e store.Entry) bool { return e.Number > r.After && e.Message.ID < r.Before })
		if diff := cmp.Diff(changed, idsOf(s.Messages(t.Context(), "t", r))); diff != "" {
			t.Fatalf("changed in %+v (-want +got):\n%s", r, diff)
		}
		if r.Limit = len(changed) / 2; r.Limit > 0 {
			if diff := cmp.Diff(changed[len(changed)-r.Limit:], idsOf(s.Messages(t.Context(), "t", r))); diff != "" {
				t.Fatalf("changed in %+v (-want +got):\n%s", r, diff)
			}
		}
	}
}

// TestAStoreThatMovesKnowsWhatIsLive moves messages over others with the same ids, some of them live before or
// after.
func TestAStoreThatMovesKnowsWhatIsLive(t *testing.T) {
	dir := t.TempDir()
	to := open(t, dir)
	from, err := store.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	live := func(id, number int64) store.Entry {
		e := notice(id, number, "live")
		e.Live = true
		return e
	}
	save(t, to, protocol.Task{ID: "t"}, live(1, 1))
	save(t, to, protocol.Task{ID: "t"}, notice(2, 2, "ended"))
	save(t, to, protocol.Task{ID: "u"}, live(1, 1))
	save(t, from, protocol.Task{ID: "t", Title: "newer", OpenAsks: 1}, notice(1, 3, "ended"))
	save(t, from, protocol.Task{ID: "t", Title: "newer", OpenAsks: 1}, live(2, 4))
	if err := from.Relocate(t.Context(), opened(to)); err != nil {
		t.Fatal(err)
	}
	for task, want := range map[string][]store.Entry{"t": {live(2, 4)}, "u": {live(1, 1)}} {
		got, err := from.Live(t.Context(), task)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("live messages of %s: %v (-want +got):\n%s", task, err, diff)
		}
	}
	changed, err := from.Messages(t.Context(), "t", store.Range{After: 2, Limit: 10})
	if diff := cmp.Diff([]store.Entry{notice(1, 3, "ended"), live(2, 4)}, changed); diff != "" || err != nil {
		t.Errorf("changed messages: %v (-want +got):\n%s", err, diff)
	}
	if got := taskOf(t, from, "t"); got.Title != "newer" || got.LastNumber != 4 || got.OpenAsks != 1 {
		t.Errorf("the task is %+v", got)
	}
}

// TestAMessageThatMovesAloneIsLate moves a changed message into a store that does not know how many came
// after it.
func TestAMessageThatMovesAloneIsLate(t *testing.T) {
	const messages = 2 * store.Lately
	to := open(t, t.TempDir())
	var all []*store.Entry
	for i := int64(1); i <= messages; i++ {
		e := notice(i, i, "said")
		all = append(all, &e)
	}
	if err := to.SaveAll(t.Context(), protocol.Task{ID: "t", LastNumber: messages}, all); err != nil {
		t.Fatal(err)
	}
	from, err := store.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	save(t, from, protocol.Task{ID: "t"}, notice(1, messages+5, "changed"))
	if err := from.Relocate(t.Context(), opened(to)); err != nil {
		t.Fatal(err)
	}
	changed, err := from.Messages(t.Context(), "t", store.Range{After: messages + 2, Limit: 10})
	if diff := cmp.Diff([]store.Entry{notice(1, messages+5, "changed")}, changed); diff != "" || err != nil {
		t.Errorf("changed messages: %v (-want +got):\n%s", err, diff)
	}
}

// headless makes a store of the version before heads, with rows in every table.
func headless(t *testing.T) (dir string, db *sql.DB) {
	t.Helper()
	dir = t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, "assent.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, migration := range store.Migrations[:11] {
		if _, err := db.Exec(migration); err != nil {
			t.Fatal(err)
		}
	}
	first := store.Record{Seq: 1, At: 5, Kind: "k", TaskID: "t1", Body: "{}"}
	first.Hash = first.Follow("")
	_, err = db.Exec(fmt.Sprintf(`PRAGMA user_version = 11;
		INSERT INTO tasks (id, created_at, title, closed, last_number, open_asks) VALUES ('t1', 5, 'One', 0, 7, 1), ('t2', 6, 'Two', 1, 3, 0);
		INSERT INTO messages (task_id, id, number, live, ask_id, body) VALUES
			('t1', 1, 7, 0, NULL, '{"id":1,"time":1001,"body":{"type":"notice","level":"info","text":"changed last"}}'),
			('t1', 2, 6, 1, 'a1', '{"id":2,"time":1002,"body":{"type":"notice","level":"info","text":"live"}}'),
			('t1', 3, 3, 0, 'a2', '{"id":3,"time":1003,"body":{"type":"notice","level":"info","text":"settled"}}'),
			('t2', 1, 3, 0, NULL, '{"id":1,"time":1001,"body":{"type":"notice","level":"info","text":"another"}}');
		INSERT INTO journal VALUES (1, 5, 'k', 't1', '', '', '{}', '%[1]s');
		UPDATE journal_ends SET last_seq = 1, last_hash = '%[1]s';`, first.Hash))
	if err != nil {
		t.Fatal(err)
	}
	return dir, db
}

func TestAStoreGetsItsHeads(t *testing.T) {
	dir, db := headless(t)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	live := notice(2, 6, "live")
	live.Live, live.AskID = true, "a1"
	settled := notice(3, 3, "settled")
	settled.AskID = "a2"
	for name, tt := range map[string]struct {
		got  func() ([]store.Entry, error)
		want []store.Entry
	}{
		"live":    {func() ([]store.Entry, error) { return s.Live(t.Context(), "t1") }, []store.Entry{live}},
		"changed": {func() ([]store.Entry, error) { return s.Messages(t.Context(), "t1", store.Range{After: 5, Limit: 9}) }, []store.Entry{notice(1, 7, "changed last"), live}},
		"asked": {func() ([]store.Entry, error) {
			e, err := s.Ask(t.Context(), "t1", "a2")
			return []store.Entry{*e}, err
		}, []store.Entry{settled}},
	} {
		got, err := tt.got()
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	got := taskOf(t, s, "t1")
	if got.LastNumber != 7 || got.OpenAsks != 1 {
		t.Fatalf("the task is %+v", got)
	}
	ended := live
	ended.Number, ended.Live = 8, false
	got.LastNumber, got.OpenAsks = 8, 0
	if err := s.Save(t.Context(), got, &ended, record(2, "s")); err != nil {
		t.Fatal(err)
	}
	if left, err := s.Live(t.Context(), "t1"); err != nil || len(left) > 0 {
		t.Errorf("Live = %+v, %v, want none", left, err)
	}
	if got := seqs(t, s); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("records %d, want the old one and the new one", got)
	}
}

// A sidecar of the earlier version, in a window that was not reloaded, writes its version when its saves
// fail.
func TestAnOlderSidecarDoesNotUndoTheVersion(t *testing.T) {
	dir, old := headless(t)
	closed(t, open(t, dir))
	_, err := old.Exec("PRAGMA user_version = 11")
	if err := errors.Join(err, old.Close()); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	if got := taskOf(t, s, "t1"); got.LastNumber != 7 {
		t.Errorf("the task is %+v", got)
	}
}

func TestProbingLeavesTheVersionOfANewerAssent(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	db, err := sql.Open("sqlite", s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA user_version = 999"); err != nil {
		t.Fatal(err)
	}
	if err := s.Probe(t.Context()); !errors.Is(err, store.ErrNewer) {
		t.Errorf("Probe = %v, want that it is newer", err)
	}
}

// TestAnAskWritesFewPages counts the pages that an ask adds to the write-ahead log, which are most of its
// cost.
func TestAnAskWritesFewPages(t *testing.T) {
	s := open(t, t.TempDir())
	saveAsks(t, s, 1, 10)
	before, err := os.Stat(s.Path() + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	const asks, most = 50, 40 << 10
	saveAsks(t, s, 11, asks)
	after, err := os.Stat(s.Path() + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if each := (after.Size() - before.Size()) / asks; each > most {
		t.Errorf("an ask writes %d bytes, want %d at most", each, most)
	} else {
		t.Logf("an ask writes %d bytes", each)
	}
}
