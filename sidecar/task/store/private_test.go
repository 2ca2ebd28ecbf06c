//go:build unix

package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// Only the owner can read the store: a new one, and one that everyone could read before.
func TestOnlyItsOwnerCanReadTheStore(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"a new one": func(*testing.T, string) {},
		"in an existing folder": func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"that was open to all": func(t *testing.T, dir string) {
			t.Helper()
			s := open(t, dir)
			save(t, s, protocol.Task{ID: "t"}, notice(1, 1, "hello"))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			for file, mode := range map[string]fs.FileMode{"": 0o755, "assent.db": 0o644, "assent.db.damaged-before": 0o664} {
				path := filepath.Join(dir, file)
				if file != "" && file != "assent.db" {
					if err := os.WriteFile(path, nil, mode); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Chmod(path, mode); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data [a-b]") // a pattern that does not match itself
			prepare(t, dir)
			s := open(t, dir)
			save(t, s, protocol.Task{ID: "u"}, notice(1, 1, "hello"))
			found := 0
			err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := entry.Info()
				if err != nil {
					return err
				}
				found++
				if info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s has the mode %v", path, info.Mode())
				}
				return nil
			})
			if err != nil || found < 4 { // the folder, and the three files of SQLite
				t.Errorf("%d files, %v", found, err)
			}
		})
	}
}

// A file that is read-only for its owner stays so.
func TestAReadOnlyStoreStaysReadOnly(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "assent.db")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if s, err := store.Open(dir); err == nil {
		defer s.Close()
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("the mode is %v, %v, want 0400", info.Mode(), err)
	}
}
