package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/flock"
)

// lock is held on a file beside the store's by every sidecar that has the store open, together; and alone,
// by the one that sets a damaged store aside. SQLite's own locks on the store would do, had the file not
// to be read for them. It is a lock as presence has one, and ends with the process; but that one is each
// sidecar's own, and says who lives, where this one says how many have the file.
type lock struct {
	file *flock.Flock
}

// retryLock is how often is tried to share what another sidecar has alone.
const retryLock = 10 * time.Millisecond

// errBusy says that another sidecar has what was to be locked.
var errBusy = errors.New("the lock is held by another window")

// share waits until nobody has the lock of the store at path alone.
func share(ctx context.Context, path string) (*lock, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	l := lockOf(path)
	shared, err := l.file.TryRLockContext(ctx, retryLock)
	return l.taken(shared, err)
}

// alone takes the lock of the store at path if nobody else has it. It does not wait: whoever waits to be alone
// keeps the others from sharing.
func alone(path string) (*lock, error) {
	l := lockOf(path)
	taken, err := l.file.TryLock()
	if l, err = l.taken(taken, err); err != nil {
		return nil, fmt.Errorf("another window has it open (%w): close the other windows and start this one again", err)
	}
	return l, nil
}

func lockOf(path string) *lock {
	return &lock{flock.New(path + ".lock")}
}

// taken returns the lock if it was taken.
func (l *lock) taken(taken bool, err error) (*lock, error) {
	if taken && err == nil {
		return l, nil
	}
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		err = errBusy
	}
	return nil, errors.Join(err, l.file.Close())
}

// release gives the lock back. A nil lock is none.
func (l *lock) release() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}
