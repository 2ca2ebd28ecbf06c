package store_test

import (
	"database/sql"
	"errors"
	"math/rand/v2"
	"os"
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
