package store_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/store"
)

// live is a call under way, with an ask.
func live(id int64) store.Entry {
	return store.Entry{
		Message: protocol.Message{ID: id, Body: protocol.Call{ServerName: "s", Request: protocol.CallToolRequest{ToolName: "t", Arguments: json.RawMessage("{}")}}},
		Number:  id, Live: true,
	}
}

// kill ends a store as a SIGKILL does: its tasks stay in its name.
func kill(t *testing.T, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// openWindow opens a store that a test may kill.
func openWindow(t *testing.T, dir, name, workspace string) *store.Store {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Introduce(store.Window{Name: name, Workspace: workspace})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestATaskIsClaimed(t *testing.T) {
	tests := []struct {
		name  string
		after func(t *testing.T, owner *store.Store)
		force bool
		// want is what is said in the error, or empty.
		want  string
		taken bool
	}{
		{"from a living window", func(*testing.T, *store.Store) {}, false, "one", true},
		{"from a living window by force", func(*testing.T, *store.Store) {}, true, "", true},
		{"from a dead window", kill, false, "", false},
		{"from a dead window by force", kill, true, "", false},
		{"that was released", func(t *testing.T, owner *store.Store) {
			if err := owner.Release(t.Context(), "t1"); err != nil {
				t.Fatal(err)
			}
		}, false, "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			one, two := openWindow(t, dir, "one", "a"), openWindow(t, dir, "two", "b")
			save(t, one, protocol.Task{ID: "t1", OpenAsks: 3}, live(1))
			test.after(t, one)
			st, taken, err := two.Claim(t.Context(), "t1", 70, test.force)
			if test.want != "" {
				var owned *store.OwnedError
				if !errors.As(err, &owned) || owned.Elsewhere.Window != test.want || owned.Elsewhere.Gone {
					t.Errorf("Claim = %v", err)
				}
				return
			}
			want := &store.Standing{Task: protocol.Task{ID: "t1", LastNumber: 1, OpenAsks: 3}, Mine: true}
			if err == nil {
				want.Owner, want.Claimed = st.Owner, st.Claimed
			}
			if diff := cmp.Diff(want, st); diff != "" || err != nil || taken != test.taken || st.Claimed < 2 {
				t.Errorf("Claim: taken %v, %v (-want +got):\n%s", taken, err, diff)
			}
			again, taken, err := two.Claim(t.Context(), "t1", 80, true)
			if diff := cmp.Diff(st, again); diff != "" || taken || err != nil {
				t.Errorf("claimed again: taken %v, %v (-want +got):\n%s", taken, err, diff)
			}
			three := openWindow(t, dir, "three", "a")
			seen, err := three.Task(t.Context(), "t1")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&protocol.Elsewhere{Window: "two", Since: 70}, seen.Task.Elsewhere); diff != "" {
				t.Errorf("seen from elsewhere (-want +got):\n%s", diff)
			}
		})
	}
	if _, _, err := openWindow(t, t.TempDir(), "", "").Claim(t.Context(), "t9", 0, true); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("Claim of no task = %v", err)
	}
}

// Whoever lost a task can change nothing of it, whatever they still believe.
func TestOnlyTheOwnerWrites(t *testing.T) {
	dir := t.TempDir()
	one, two := openWindow(t, dir, "one", "a"), openWindow(t, dir, "two", "a")
	task := protocol.Task{ID: "t1", Title: "before", LastNumber: 1}
	e := live(1)
	if err := one.Save(t.Context(), task, &e, record(1, "s")); err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	round := &store.Round{Number: 1, Required: json.RawMessage(`{"a":1}`)}
	must(one.SaveDraft(t.Context(), "t1", "a1", json.RawMessage(`{"a":1}`)))
	must(one.SaveRound(t.Context(), "t1", 1, round))
	if _, _, err := two.Claim(t.Context(), "t1", 0, true); err != nil {
		t.Fatal(err)
	}
	task.Title = "after"
	e.Live = false
	for name, write := range map[string]func() error{
		"Save":             func() error { return one.Save(t.Context(), task, &e, record(2, "s")) },
		"SaveDraft":        func() error { return one.SaveDraft(t.Context(), "t1", "a1", json.RawMessage(`{"a":2}`)) },
		"SaveDraft new":    func() error { return one.SaveDraft(t.Context(), "t1", "a2", json.RawMessage(`{"a":2}`)) },
		"SaveDraft none":   func() error { return one.SaveDraft(t.Context(), "t1", "a1", nil) },
		"SaveRound":        func() error { return one.SaveRound(t.Context(), "t1", 1, &store.Round{Number: 2}) },
		"SaveRound new":    func() error { return one.SaveRound(t.Context(), "t1", 2, &store.Round{Number: 2}) },
		"SaveRound forget": func() error { return one.SaveRound(t.Context(), "t1", 1, nil) },
	} {
		if err := write(); !errors.Is(err, store.ErrNotOwner) {
			t.Errorf("%s = %v, want ErrNotOwner", name, err)
		}
	}
	st, err := two.Task(t.Context(), "t1")
	must(err)
	if st.Task.Title != "before" || !st.Mine {
		t.Errorf("the task = %+v", st)
	}
	if left, err := two.Live(t.Context(), "t1"); err != nil || len(left) != 1 {
		t.Errorf("live messages = %v, %v, want the call", left, err)
	}
	drafts, err := two.Drafts(t.Context(), "t1")
	if diff := cmp.Diff(map[string]json.RawMessage{"a1": json.RawMessage(`{"a":1}`)}, drafts); diff != "" || err != nil {
		t.Errorf("drafts: %v (-want +got):\n%s", err, diff)
	}
	rounds, err := two.Rounds(t.Context(), "t1")
	if diff := cmp.Diff(map[int64]store.Round{1: *round}, rounds); diff != "" || err != nil {
		t.Errorf("rounds: %v (-want +got):\n%s", err, diff)
	}
	if records, _, err := two.Journal(t.Context(), store.JournalFilter{}, 10, 1<<20); err != nil || len(records) != 1 {
		t.Errorf("the journal has %d records, %v, want 1", len(records), err)
	}
	must(two.SaveRound(t.Context(), "t1", 1, nil))
	must(two.SaveRound(t.Context(), "t1", 1, nil)) // there is nothing to forget, and no reason to complain
	must(two.SaveDraft(t.Context(), "t1", "a1", nil))
}

// At its start a sidecar claims what the dead of its own workspace left, and nothing else.
func TestWhatIsLeftIsClaimed(t *testing.T) {
	dir := t.TempDir()
	put := func(s *store.Store, id string, e store.Entry) { save(t, s, protocol.Task{ID: id}, e) }
	dead, other, living := openWindow(t, dir, "dead", "a"), openWindow(t, dir, "other", "b"), openWindow(t, dir, "living", "a")
	put(dead, "left", live(1))
	put(dead, "idle", notice(1, 1, "done"))
	put(dead, "released", live(1))
	put(other, "of another workspace", live(1))
	put(living, "live", live(1))
	if err := dead.Release(t.Context(), "released"); err != nil {
		t.Fatal(err)
	}
	kill(t, dead)
	kill(t, other)

	s := openWindow(t, dir, "new", "a")
	ids, err := s.ClaimLeft(t.Context(), 9)
	if diff := cmp.Diff([]string{"left", "released"}, ids); diff != "" || err != nil {
		t.Errorf("claimed: %v (-want +got):\n%s", err, diff)
	}
	all, err := s.Tasks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]*protocol.Elsewhere{}
	for _, st := range all {
		if st.Task.Elsewhere != nil {
			st.Task.Elsewhere.Since = 0
		}
		got[st.Task.ID] = st.Task.Elsewhere
	}
	want := map[string]*protocol.Elsewhere{
		"left": nil, "idle": nil, "released": nil,
		"of another workspace": {Window: "other", Gone: true}, "live": {Window: "living"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("where the tasks are (-want +got):\n%s", diff)
	}
	if again, err := s.ClaimLeft(t.Context(), 9); err != nil || again != nil {
		t.Errorf("claimed again: %v, %v", again, err)
	}
}

func TestClaimsAndReleasesAreFound(t *testing.T) {
	dir := t.TempDir()
	one, two := openWindow(t, dir, "one", "a"), openWindow(t, dir, "two", "a")
	var since int64
	version, err := two.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	moved := func(want ...string) {
		t.Helper()
		found, err := two.Moved(t.Context(), since)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, st := range found {
			got = append(got, fmt.Sprintf("%s %d", st.Task.ID, st.Task.LastNumber))
			since = max(since, st.Claimed)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("moved (-want +got):\n%s", diff)
		}
		if v, err := two.Version(t.Context()); err != nil || v == version {
			t.Errorf("Version = %d as before, %v", v, err)
		} else {
			version = v
		}
	}
	save(t, one, protocol.Task{ID: "t1"}, live(1))
	moved("t1 1")
	save(t, one, protocol.Task{ID: "t1"}, live(2))
	moved("t1 2") // as long as another window has it
	save(t, one, protocol.Task{ID: "t2"}, notice(1, 1, "new"))
	moved("t1 2", "t2 1")
	if err := one.Release(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	moved("t1 2", "t2 1")
	if found, err := two.Moved(t.Context(), since); err != nil || found != nil {
		t.Errorf("moved after all were released: %v, %v", found, err)
	}
	save(t, two, protocol.Task{ID: "t3"}, notice(1, 1, "my own"))
	if v, err := two.Version(t.Context()); err != nil || v != version {
		t.Errorf("Version = %d after a change of our own, %v, want %d", v, err, version)
	}
}

// Whoever claims, and however many do at once: a task has one owner, and it is one of those who were told so.
func TestRacingClaimsEndWithOneOwner(t *testing.T) {
	dir := t.TempDir()
	const windows, rounds = 8, 200
	var stores [windows]*store.Store
	for i := range stores {
		stores[i] = openWindow(t, dir, fmt.Sprint(i), "a")
	}
	for round := range rounds {
		id := fmt.Sprintf("t%d", round)
		save(t, stores[0], protocol.Task{ID: id}, live(1))
		if err := stores[0].Release(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		force := round%2 == 1
		var claimed [windows]bool
		var wg sync.WaitGroup
		for i, s := range stores {
			wg.Go(func() {
				_, _, err := s.Claim(t.Context(), id, 0, force)
				if claimed[i] = err == nil; err != nil && (force || !errors.As(err, new(*store.OwnedError))) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		owners, told := 0, 0
		for i, s := range stores {
			if claimed[i] {
				told++
			}
			e := live(1)
			switch err := s.Save(t.Context(), protocol.Task{ID: id, Title: fmt.Sprint(i)}, &e); {
			case err == nil && claimed[i]:
				owners++
			case err == nil:
				t.Fatalf("round %d: window %d writes, and was refused", round, i)
			case !errors.Is(err, store.ErrNotOwner):
				t.Fatal(err)
			}
		}
		if owners != 1 || !force && told != 1 {
			t.Fatalf("round %d: %d windows can write, and %d were told that they have the task", round, owners, told)
		}
	}
}

func TestTheDeadAreFound(t *testing.T) {
	dir := t.TempDir()
	one, two := openWindow(t, dir, "one", ""), openWindow(t, dir, "two", "")
	save(t, one, protocol.Task{ID: "t1"}, live(1))
	owner := func(s *store.Store) string {
		t.Helper()
		st, err := s.Task(t.Context(), "t1")
		if err != nil {
			t.Fatal(err)
		}
		return st.Owner
	}(two)
	var wg sync.WaitGroup
	for range 8 { // who look at once do not take each other for it
		wg.Go(func() {
			for range 100 {
				if !two.Alive(owner) {
					t.Error("a living window was taken for dead")
				}
			}
		})
	}
	wg.Wait()
	lock := filepath.Join(dir, "sidecars", owner)
	if _, err := os.Stat(lock); err != nil {
		t.Fatal(err)
	}
	kill(t, one)
	if _, err := os.Stat(lock); !os.IsNotExist(err) {
		t.Errorf("its file is still there: %v", err)
	}
	// As the system leaves it where the sidecar was killed: a file that nobody holds.
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if two.Alive(owner) {
					t.Error("a dead window was taken for alive")
				}
			}
		})
	}
	wg.Wait()
	openWindow(t, dir, "three", "")
	if _, err := os.Stat(lock); !os.IsNotExist(err) {
		t.Errorf("the file of the dead is still there: %v", err)
	}
	for _, odd := range []string{"", "../assent.db", "x"} {
		if two.Alive(odd) {
			t.Errorf("%q is alive", odd)
		}
	}
}

// Sidecars that start at once do not take each other's files for those of the dead.
func TestManyStartAtOnce(t *testing.T) {
	dir := t.TempDir()
	openWindow(t, dir, "first", "") // who migrates
	var wg sync.WaitGroup
	var mu sync.Mutex // guards stores
	var stores []*store.Store
	for range 16 {
		wg.Go(func() {
			s, err := store.Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			stores = append(stores, s)
		})
	}
	wg.Wait()
	for i, s := range stores {
		save(t, s, protocol.Task{ID: fmt.Sprint(i)}, live(1))
	}
	for _, s := range stores {
		all, err := s.Tasks(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range all {
			if !st.Mine && (st.Task.Elsewhere == nil || st.Task.Elsewhere.Gone) {
				t.Errorf("the owner of %q is taken for dead", st.Task.ID)
			}
		}
	}
	for _, s := range stores {
		kill(t, s)
	}
}
