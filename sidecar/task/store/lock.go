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

// lock is a lock on a file beside the store's. The process that owns the store holds it while the store is open. The
// system releases it when the process ends. The file names the process.
type lock struct {
	file *flock.Flock
}

// ErrInUse is the error of Open if another process owns the store.
var ErrInUse = errors.New("another Assent process uses this folder")

const (
	// ownerTimeout is how long to wait for an owner that is ending, and retryPause is the pause between two attempts. A child
	// process shares its parent's locks until its own program runs, even if the parent is killed then.
	ownerTimeout = 2 * time.Second
	retryPause   = 10 * time.Millisecond
)

// own takes the lock of the store at path, and waits for it. The lock is nil, without an error, if the file system has
// no locks or cannot be written: SQLite then keeps transactions apart.
func own(ctx context.Context, path string, wait time.Duration) (*lock, error) {
	for began := time.Now(); ; {
		l, err := tryToOwn(path)
		if !errors.Is(err, ErrInUse) || time.Since(began) >= wait {
			return l, err
		}
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
			return nil, err
		}
	}
}

func tryToOwn(path string) (*lock, error) {
	l := &lock{flock.New(path + ".lock")}
	taken, err := l.file.TryLock()
	if err == nil && taken {
		// Only the error message of another process uses this, and it works without.
		_ = os.WriteFile(l.file.Path(), []byte(strconv.Itoa(os.Getpid())), 0o600)
		return l, nil
	}
	_ = l.file.Close()
	if err != nil {
		return nil, nil
	}
	return nil, inUse(l.file.Path())
}

// inUse returns the error that names the owner and what to do.
func inUse(path string) error {
	who := ""
	if data, err := os.ReadFile(path); err == nil { // some systems do not let others read a locked file
		if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
			who = fmt.Sprintf(" (process %d)", pid)
		}
	}
	return fmt.Errorf("%w%s: end it with `assent daemon stop`, or close the program that started it", ErrInUse, who)
}

// release releases the lock. It is a no-op for nil.
func (l *lock) release() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}
