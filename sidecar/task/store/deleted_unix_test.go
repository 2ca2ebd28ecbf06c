//go:build unix

// Windows does not delete a file that a process has open.

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"assent/sidecar/task/store"
)

func TestADeletedStoreIsCreatedAgain(t *testing.T) {
	for name, remove := range map[string]func(dir string) error{
		"with its folder": os.RemoveAll,
		"alone":           func(dir string) error { return os.Remove(filepath.Join(dir, "assent.db")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			s := open(t, dir)
			fill(t, s, "before")
			if s.Replaced() {
				t.Error("it is gone and should not be")
			}
			if err := remove(dir); err != nil {
				t.Fatal(err)
			}
			for _, suffix := range []string{"-wal", "-shm"} {
				if err := os.Remove(filepath.Join(dir, "assent.db"+suffix)); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
			}
			fill(t, s, "not yet noticed")
			if !s.Replaced() {
				t.Fatal("it does not know that its file is gone")
			}
			if err := s.Relocate(t.Context(), func() (*store.Store, error) { return store.Open(dir) }); err != nil {
				t.Fatal(err)
			}
			if s.Replaced() {
				t.Error("it is still gone")
			}
			fill(t, s, "after that")
			for _, s := range []*store.Store{s, look(t, dir)} {
				wantFilled(t, s, "before", "not yet noticed", "after that")
				wantChain(t, s, "before", "not yet noticed", "after that")
			}
			if _, err := store.OpenNow(dir); !errors.Is(err, store.ErrInUse) {
				t.Errorf("Open = %v, want that it is in use", err)
			}
		})
	}
}

// Another process may have created a deleted store again. It must not be disturbed.
func TestADeletedStoreDoesNotMoveIntoAnotherProcesss(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := open(t, dir)
	fill(t, s, "mine")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	another := open(t, dir)
	fill(t, another, "another's")
	for range 2 {
		if err := s.Relocate(t.Context(), func() (*store.Store, error) { return store.OpenNow(dir) }); !errors.Is(err, store.ErrInUse) {
			t.Fatalf("Relocate = %v, want that it is in use", err)
		}
	}
	fill(t, s, "still mine")
	wantFilled(t, s, "mine", "still mine")
	wantFilled(t, another, "another's")
}
