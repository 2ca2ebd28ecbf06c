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

// record is what a run's file has: its first line, and a line for each server.
type record struct {
	// Token is in the environment of the run's servers.
	Token string `json:"token"`
	// Boot is as of [machine.Boot].
	Boot string `json:"boot"`
	// PID is the run's own.
	PID int `json:"pid"`

	servers map[int]string // the start by the process's id
}

// started is a line of a run's file: a server's process, see [machine.Running].
type started struct {
	PID   int    `json:"pid"`
	Start string `json:"start"`
}

func (r record) mark() string { return Variable + "=" + r.Token }

// readRecord returns what a file has. A run that was killed as it wrote leaves a last line that is not whole.
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

// held is a run's file whose lock this process has.
type held struct {
	path string
	lock *flock.Flock
}

// create makes the file of a run in a folder, and locks it. It gets its name once it is whole and locked, so that nobody
// takes it for a dead run's.
func create(folder string, r record) (*held, error) {
	path := filepath.Join(folder, unfinished+r.Token)
	h := &held{path, flock.New(path, flock.SetPermissions(0o600))}
	locked, err := h.lock.TryLock()
	if err == nil && !locked {
		err = errors.New("somebody else has it")
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

// unfinished begins the name of a file that is not one of a run yet.
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

// holdDead locks a file that is there. It returns nil where somebody has it locked, which includes its run if that
// lives, or where it is gone.
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
	// soon is how long a run may take to be dead once its keeper noticed that: a process closes its pipes first, and its
	// locks a little later.
	soon = 5 * time.Second
	// pause is between two looks at what runs.
	pause = 50 * time.Millisecond
)

// holdSoon is as holdDead, and tries for a while.
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

// sleep pauses, and reports whether ctx still lasts.
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

// isThere reports whether the file that is locked is still the one at its path.
func (h *held) isThere() bool {
	locked, err := h.lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(h.path)
	return err == nil && os.SameFile(locked, named)
}

// add writes a line, in one piece.
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

// remove removes the file, and then the lock.
func (h *held) remove() error {
	err := os.Remove(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, h.lock.Close())
}

// living returns the process ids of the runs in a folder that live, but for one.
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
		// Shared, so that two who look do not take each other for the run.
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
