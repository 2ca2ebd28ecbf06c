package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// lock is held on a file beside the store's by the one process that owns the store, for as long as it has the store open.
// The system releases it however the process ends. The file names the process.
type lock struct {
	file *flock.Flock
}

// ErrInUse is the error of Open if another process owns the store.
var ErrInUse = errors.New("another Assent process uses this folder")

const (
	// patience is how long to wait for an owner that is leaving, and glance is the pause between two attempts. A program
	// that a process starts has the process's locks until its own code runs, and the process may be killed then.
	patience = 2 * time.Second
	glance   = 10 * time.Millisecond
)

// own takes the lock of the store at path, and waits for it. The lock is nil, without an error, if the file system has no
// locks or cannot be written: SQLite then sees to it that no transaction meets another.
func own(ctx context.Context, path string, wait time.Duration) (*lock, error) {
	for began := time.Now(); ; {
		l, err := tryToOwn(path)
		if !errors.Is(err, ErrInUse) || time.Since(began) >= wait {
			return l, err
		}
		select {
		case <-time.After(glance):
		case <-ctx.Done():
			return nil, err
		}
	}
}

func tryToOwn(path string) (*lock, error) {
	if err := checkOlder(path); err != nil {
		return nil, err
	}
	l := &lock{flock.New(path + ".lock")}
	taken, err := l.file.TryLock()
	if err == nil && taken {
		// Only the error of another process needs it, and may do without.
		_ = os.WriteFile(l.file.Path(), []byte(strconv.Itoa(os.Getpid())), 0o600)
		return l, nil
	}
	_ = l.file.Close()
	if err != nil {
		return nil, nil
	}
	return nil, inUse(l.file.Path())
}

// inUse says who has the lock, and what to do about it.
func inUse(path string) error {
	who := ""
	if data, err := os.ReadFile(path); err == nil { // a system may let nobody read a locked file
		if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
			who = fmt.Sprintf(" (process %d)", pid)
		}
	}
	return fmt.Errorf("%w%s: end it with `assent daemon stop`, or close the program that started it", ErrInUse, who)
}

// release gives the lock back. A nil lock is none.
func (l *lock) release() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}
