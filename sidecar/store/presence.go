package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/google/uuid"
)

// presence proves that a sidecar lives: a file that it holds locked for its life. The system lets go of the
// lock when the process ends, however it ends, so that there is no heartbeat to miss, no clock to trust, and
// no process id that somebody else may have by now.
type presence struct {
	dir  string
	id   string
	lock *flock.Flock
}

// attend makes the sidecar of an id known beside the stores in a folder, and removes what dead ones left there.
func attend(folder, id string) (*presence, error) {
	dir := filepath.Join(folder, "sidecars")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := removeDead(dir); err != nil {
		return nil, err
	}
	// Another sidecar may take the file for a dead one's before it is locked, and remove it.
	for range 100 {
		p := &presence{dir: dir, id: id, lock: flock.New(filepath.Join(dir, id))}
		locked, err := p.lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", p.lock.Path(), err)
		}
		if locked && p.isThere() {
			return p, nil
		}
		if err := p.lock.Close(); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("no file in %s can be locked", dir)
}

// isThere reports whether the file that is locked is still the one of its name. A nil presence is nowhere.
func (p *presence) isThere() bool {
	if p == nil {
		return false
	}
	held, err := p.lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(p.lock.Path())
	return err == nil && os.SameFile(held, named)
}

// alive reports whether the sidecar of an id lives. Where that cannot be found out, it does: nobody takes
// away a task because of a full table of files.
func (p *presence) alive(id string) bool {
	if id == p.id {
		return true
	}
	if uuid.Validate(id) != nil {
		return false // nobody wrote this who holds a file
	}
	// Shared, so that two who look do not take each other for the owner.
	lock := flock.New(filepath.Join(p.dir, id), flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryRLock()
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return errors.Join(err, lock.Close()) != nil || !free
}

// leave takes the file away. The tasks that the sidecar still has are then free for all. A nil presence is
// nowhere.
func (p *presence) leave() error {
	if p == nil {
		return nil
	}
	err := os.Remove(p.lock.Path())
	if closed := p.lock.Close(); err != nil { // some systems remove no file that is open
		err = errors.Join(os.Remove(p.lock.Path()), closed)
	} else {
		err = closed
	}
	return err
}

// removeDead removes the files that nobody holds.
func removeDead(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		lock := flock.New(filepath.Join(dir, e.Name()), flock.SetFlag(os.O_RDONLY))
		if free, err := lock.TryLock(); err != nil || !free {
			continue // it lives, or was removed just now
		}
		err := os.Remove(lock.Path())
		_ = lock.Close()
		if err != nil { // some systems remove no file that is open; where it stays, it says the same as if it were gone
			_ = os.Remove(lock.Path())
		}
	}
	return nil
}
