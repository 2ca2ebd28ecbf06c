package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/google/uuid"

	"assent/sidecar/machine"
)

// presence proves that a sidecar lives: the sidecar holds a lock on a file until it ends. The system releases the lock
// however the process ends, so the proof needs no heartbeat and no clock.
//
// A child process inherits the lock between fork and exec. If the sidecar is killed in that moment, its file stays locked
// for some milliseconds. The file therefore also names the sidecar's process.
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
			p.writeOwner()
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

// alive reports whether the sidecar of an id lives. If that cannot be found out, it returns true: an error such as too many
// open files must not cost a sidecar its tasks.
func (p *presence) alive(id string) bool {
	if id == p.id {
		return true
	}
	if uuid.Validate(id) != nil {
		return false // no sidecar has such an id
	}
	// A shared lock, so that two sidecars that look at once do not take each other for the owner.
	lock := flock.New(filepath.Join(p.dir, id), flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryRLock()
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err := errors.Join(err, lock.Close()); err != nil {
		return true
	}
	return !free && !p.ownerHasEnded(id)
}

// owner is the content of a sidecar's file: its process.
type owner struct {
	// Boot is as of [machine.Boot], and Start as of [machine.StartOf]. The three together name one process for good.
	Boot  string `json:"boot"`
	PID   int    `json:"pid"`
	Start string `json:"start"`
}

// writeOwner writes this process into the file. Where that fails, as on a full disk, the lock alone says who lives.
func (p *presence) writeOwner() {
	boot, err := machine.Boot()
	if err != nil {
		return // such as on Windows, where a program that is started does not have the lock
	}
	start, err := machine.StartOf(os.Getpid())
	if err != nil {
		return
	}
	data, err := json.Marshal(owner{boot, os.Getpid(), start})
	if err != nil {
		return
	}
	file, err := os.OpenFile(p.lock.Path(), os.O_WRONLY, 0)
	if err != nil {
		return
	}
	_, _ = file.Write(data) // a part of it is not JSON, and so names no process
	_ = file.Close()
}

// ownerHasEnded reports whether the process in the file of an id is proven to have ended.
func (p *presence) ownerHasEnded(id string) bool {
	data, err := os.ReadFile(filepath.Join(p.dir, id))
	if err != nil {
		return false
	}
	var o owner
	if err := json.Unmarshal(data, &o); err != nil || o.PID <= 0 || o.Start == "" {
		return false
	}
	if boot, err := machine.Boot(); err != nil || boot != o.Boot {
		return false // another machine, or another container
	}
	start, err := machine.StartOf(o.PID)
	return errors.Is(err, fs.ErrNotExist) || err == nil && start != o.Start
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

// removeDead removes the files that no process has locked.
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
