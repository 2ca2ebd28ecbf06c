package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"assent/protocol"
	"assent/sidecar/task/store"
)

func TestOneProcessOwnsAFolder(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	_, err := store.OpenNow(dir)
	if !errors.Is(err, store.ErrInUse) {
		t.Fatalf("Open = %v, want that it is in use", err)
	}
	for _, part := range []string{filepath.Join(dir, "assent.db"), fmt.Sprintf("process %d", os.Getpid()), "assent daemon stop"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("Open = %v, want an error with %q", err, part)
		}
	}
	save(t, s, protocol.Task{ID: "t1"}, notice(1, 1, "undisturbed"))
	closed(t, s)
	if got := taskOf(t, open(t, dir), "t1"); got.LastNumber != 1 {
		t.Errorf("the task is %+v", got)
	}
}

// An updated daemon leaves its folders shortly after the next one has started.
func TestOpeningWaitsForAnOwnerThatLeaves(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	opened := make(chan error)
	go func() {
		next, err := store.Open(dir)
		if err == nil {
			err = next.Close()
		}
		opened <- err
	}()
	closed(t, s)
	if err := <-opened; err != nil {
		t.Errorf("Open = %v", err)
	}
}

func TestOfManyThatOpenOneOwns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	var wg sync.WaitGroup
	var owners atomic.Int32
	var all [16]*store.Store
	for i := range all {
		wg.Go(func() {
			s, err := store.OpenNow(dir)
			switch {
			case err == nil:
				owners.Add(1)
				all[i] = s
			case !errors.Is(err, store.ErrInUse):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := owners.Load(); n != 1 {
		t.Errorf("%d own the folder, want 1", n)
	}
	for _, s := range all {
		if s != nil {
			closed(t, s)
		}
	}
}

func TestAFolderWithoutLocks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "assent.db.lock"), 0o700); err != nil { // the file cannot be created
		t.Fatal(err)
	}
	s := open(t, dir)
	save(t, s, protocol.Task{ID: "t1"}, notice(1, 1, "saved all the same"))
	closed(t, s)
	damaged := []byte(strings.Repeat("no store ", 1000))
	write(t, filepath.Join(dir, "assent.db"), damaged)
	if _, err := store.Open(dir); !store.Damaged(err) {
		t.Errorf("Open = %v, want that it is damaged: another process may have it open", err)
	}
	if got := read(t, filepath.Join(dir, "assent.db")); string(got) != string(damaged) {
		t.Error("the file was changed")
	}
}

func TestDecisionsAreKeptBesideTheOwner(t *testing.T) {
	dir := t.TempDir()
	decide := func(s *store.Store, name string) {
		t.Helper()
		if err := s.DecideServer(t.Context(), store.ServerDecision{Source: "f", ServerName: name, Definition: "d", Decision: protocol.ServerAllowed}); err != nil {
			t.Fatal(err)
		}
	}
	beside := func() *store.Store {
		t.Helper()
		s, err := store.OpenBeside(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closed(t, s) })
		return s
	}
	first := beside() // creates the store
	decide(first, "before")
	owner := open(t, dir)
	decide(beside(), "meanwhile")
	decide(first, "after")
	decide(owner, "by the owner")
	for _, name := range []string{"before", "meanwhile", "after", "by the owner"} {
		for i, s := range []*store.Store{first, owner, beside()} {
			if d, err := s.DecisionOf(t.Context(), "f", name, "d"); d == nil || err != nil {
				t.Errorf("store %d: the decision about %q is %v, %v", i, name, d, err)
			}
		}
	}
}
