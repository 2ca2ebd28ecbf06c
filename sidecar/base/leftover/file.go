package leftover

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// record is the content of a run's file: its first line, and a line for each server.
type record struct {
	// Token is in the environment of the run's servers.
	Token string `json:"token"`
	// Boot is as of [procinfo.Boot].
	Boot string `json:"boot"`
	// PID is the run's own.
	PID int `json:"pid"`
	// Temporary is a folder that only the run uses, and that does not outlive it; empty for none.
	Temporary string `json:"temporary,omitempty"`

	servers map[int]string // the start by the process's id
}

// started is a line of a run's file: a server's process, see [procinfo.Running].
type started struct {
	PID   int    `json:"pid"`
	Start string `json:"start"`
}

func (r record) mark() string { return Variable + "=" + r.Token }

// readRecord reads a run's file. It ignores an incomplete last line, which a run leaves that was killed while it wrote.
func readRecord(path string) (record, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return record{}, err
	}
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	r := record{servers: map[int]string{}}
	if err := json.Unmarshal(first, &r); err != nil {
		return record{}, fmt.Errorf("%s: %w", path, err)
	}
	for line := range bytes.Lines(rest) {
		var s started
		if json.Unmarshal(line, &s) == nil && s.PID > 0 && s.Start != "" {
			r.servers[s.PID] = s.Start
		}
	}
	return r, nil
}

// held is a run's file, of which this process holds the lock.
type held struct {
	path string
	lock *flock.Flock
}

// create creates the file of a run in a folder, and locks it. The file gets its final name once it is complete and locked,
// so that no other run takes it for a dead run's file.
func create(folder string, r record) (*held, error) {
	path := filepath.Join(folder, unfinished+r.Token)
	h := &held{path, flock.New(path, flock.SetPermissions(0o600))}
	locked, err := h.lock.TryLock()
	if err == nil && !locked {
		err = errors.New("another process has the lock")
	}
	if err == nil {
		err = h.add(r)
	}
	if err == nil {
		h.path = filepath.Join(folder, r.Token)
		err = os.Rename(path, h.path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), os.Remove(path), h.lock.Close())
	}
	return h, nil
}

// unfinished begins the name of a file that is not complete yet.
const unfinished = "."

// filesIn returns the paths of the files of runs in a folder.
func filesIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), unfinished) {
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
	}
	return paths, nil
}

// holdDead locks an existing file. It returns nil if another process has the lock, such as the run itself while it lives, or
// if the file is gone.
func holdDead(path string) (*held, error) {
	h := &held{path, flock.New(path, flock.SetFlag(os.O_RDWR))}
	locked, err := h.lock.TryLock()
	if err == nil && locked && h.isThere() {
		return h, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return nil, errors.Join(err, h.lock.Close())
}

const (
	// soon is how long the system may take to release a run's lock after the run's pipe ended. A process that ends closes
	// its files one after the other.
	soon = 5 * time.Second
	// pause is the time between two attempts.
	pause = 50 * time.Millisecond
)

// holdSoon is as holdDead, but tries for up to five seconds.
func holdSoon(ctx context.Context, path string) (*held, error) {
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	for {
		h, err := holdDead(path)
		if h != nil || err != nil || !sleep(ctx) {
			return h, err
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
}

// sleep pauses, and reports whether ctx has not ended.
func sleep(ctx context.Context) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// isThere reports whether the locked file is still the one at its path.
func (h *held) isThere() bool {
	locked, err := h.lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(h.path)
	return err == nil && os.SameFile(locked, named)
}

// add appends a line in one write.
func (h *held) add(line any) (err error) {
	data, err := json.Marshal(line)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	return errors.Join(err, f.Close())
}

// remove removes the file, and then releases the lock.
func (h *held) remove() error {
	err := os.Remove(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, h.lock.Close())
}

// living returns the process ids of the living runs in a folder, without the run of one file.
func living(folder, except string) ([]int, error) {
	paths, err := filesIn(folder)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, path := range paths {
		if path == except {
			continue
		}
		// A shared lock, so that two runs that look at once do not take each other for the owner.
		lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
		free, err := lock.TryRLock()
		if closed := lock.Close(); closed != nil {
			return nil, closed
		}
		if free || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		r, err := readRecord(path)
		switch {
		case err == nil:
			pids = append(pids, r.PID)
		case errors.Is(err, fs.ErrNotExist): // it has ended
		default:
			return nil, err
		}
	}
	return pids, nil
}
