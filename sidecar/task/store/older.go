package store

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// checkOlder fails with [ErrInUse] if a sidecar of version 1 has the store at path open, which other windows may share.
// Each such sidecar has a file in the folder "sidecars", which it locks while it lives. The files of dead ones are
// removed.
//
// This file can go one release after the first one in which one process owns a store.
func checkOlder(path string) error {
	folder := filepath.Join(filepath.Dir(path), "sidecars")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // the folder is missing or unreadable
	}
	for _, e := range entries {
		lock := flock.New(filepath.Join(folder, e.Name()), flock.SetFlag(os.O_RDONLY))
		free, err := lock.TryRLock() // shared, so that concurrent checks do not take each other for the sidecar
		removed := err == nil && free && os.Remove(lock.Path()) == nil
		_ = lock.Close()
		switch {
		case err != nil || removed: // or it was removed a moment ago, or the file system has no locks
		case free:
			_ = os.Remove(lock.Path()) // some systems cannot remove an open file
		default:
			return fmt.Errorf("%w, of an older version: reload or close the windows that were opened before the update", ErrInUse)
		}
	}
	_ = os.Remove(folder) // fails if a file is left in it
	return nil
}
