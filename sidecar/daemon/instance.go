package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"assent/sidecar/base/procinfo"
)

// instance is the right to be the daemon: the instance lock, held while the process lives.
type instance struct {
	address Address
	lock    *flock.Flock
}

// holder is the content of the file that names the holder of the instance lock. Boot, PID and Start together identify one
// process permanently.
type holder struct {
	// Boot is a [procinfo.Boot]; empty if unknown.
	Boot string `json:"boot"`
	PID  int    `json:"pid"`
	// Start is a [procinfo.StartOf].
	Start string `json:"start"`
	Build string `json:"build"`
}

// errServed says that another daemon holds the instance lock, and answers.
var errServed = errors.New("another daemon serves already")

// becomeInstance makes this process the daemon. If a leaving daemon holds the instance lock, it waits for it. The caller calls
// releaseStart once it listens, or has failed: the start lock distinguishes a starting daemon from a leaving one.
func becomeInstance(ctx context.Context, o Options) (s *instance, releaseStart func() error, err error) {
	a := o.Address
	for _, folder := range []string{a.Folder, a.SocketFolder} {
		if folder == "" {
			continue
		}
		if err := keepPrivate(folder); err != nil {
			return nil, nil, err
		}
	}
	startLock, err := lockWithin(ctx, a.StartLock, o.timeouts.orDefault().start)
	if err != nil {
		return nil, nil, fmt.Errorf("wait for a daemon that starts: %w: set %s to another folder", err, FolderVariable)
	}
	lock, err := o.lockInstance(ctx)
	if err == nil {
		s = &instance{a, lock}
		if err = s.sign(o.Build); err != nil {
			err = errors.Join(err, s.leave())
		}
	}
	switch {
	case err == nil:
		return s, startLock.Close, nil
	case errors.Is(err, errServed):
		return nil, nil, errors.Join(err, startLock.Close())
	default:
		return nil, nil, errors.Join(fmt.Errorf("become the daemon: %w", err), startLock.Close())
	}
}

// lockInstance returns the lock, or errServed if the daemon that holds it answers.
func (o Options) lockInstance(ctx context.Context) (*flock.Flock, error) {
	lock := lockOf(o.Address.Lock)
	taken, err := lock.TryLock()
	if taken && err == nil {
		return lock, nil
	}
	if err := errors.Join(err, lock.Close()); err != nil {
		return nil, err
	}
	if _, err := o.status(ctx); err == nil {
		return nil, errServed
	} else if !errors.Is(err, ErrNone) {
		return nil, err
	}
	lock, err = lockWithin(ctx, o.Address.Lock, o.timeouts.orDefault().leave)
	if errors.Is(err, errLocked) {
		err = o.hangs()
	}
	return lock, err
}

// sign records this process as the holder of the instance lock.
func (s *instance) sign(build string) error {
	h := holder{PID: os.Getpid(), Build: build}
	var err error
	if h.Boot, err = procinfo.Boot(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if h.Start, err = procinfo.StartOf(h.PID); err != nil {
		return err
	}
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	temporary := s.address.Holder + ".new"
	if err := os.WriteFile(temporary, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, s.address.Holder)
}

// leave releases the instance lock. The lock file stays, because another process may be about to lock it. If the lock file was
// replaced, the files beside it belong to another daemon.
func (s *instance) leave() error {
	var err error
	if s.isThere() {
		err = errors.Join(removeIfThere(s.address.Holder), removeSocket(s.address))
	}
	return errors.Join(err, s.lock.Close())
}

// isThere reports whether the locked file is still the one at its path.
func (s *instance) isThere() bool {
	held, err := s.lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(s.address.Lock)
	return err == nil && os.SameFile(held, named)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// readHolder returns the process that signed last. It holds the instance lock only if a process holds the lock; see
// [Kill].
func readHolder(a Address) (holder, error) {
	data, err := os.ReadFile(a.Holder)
	if err != nil {
		return holder{}, err
	}
	var h holder
	if err := json.Unmarshal(data, &h); err != nil || h.PID <= 0 || h.Start == "" {
		return holder{}, fmt.Errorf("%s does not name a process", a.Holder)
	}
	return h, nil
}

// provenHolder returns the process that signed last, if it still runs.
func provenHolder(a Address) (holder, error) {
	h, err := readHolder(a)
	if err == nil {
		err = h.proven()
	}
	return h, err
}

// proven fails if another process now has the id of the one that signed.
func (h holder) proven() error {
	boot, err := procinfo.Boot()
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if boot != h.Boot {
		return fmt.Errorf("process %d is of another machine, container or boot", h.PID)
	}
	start, err := procinfo.StartOf(h.PID)
	if err != nil {
		return err
	}
	if start != h.Start {
		return fmt.Errorf("process %d is another one by now", h.PID)
	}
	return nil
}

// taken reports whether a process holds the instance lock.
func taken(a Address) (bool, error) {
	lock := flock.New(a.Lock, flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryRLock() // shared, so that concurrent checks do not take each other for the daemon
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err := errors.Join(err, lock.Close()); err != nil {
		return false, fmt.Errorf("look at the daemon's lock: %w", err)
	}
	return !free, nil
}

func lockOf(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
}

// errLocked says that a lock was not released in time.
var errLocked = errors.New("another process has the lock")

// lockWithin waits for a lock. A wait for a file lock cannot be interrupted, so after the timeout a goroutine keeps
// waiting, and releases the lock as soon as it has it.
func lockWithin(ctx context.Context, path string, limit time.Duration) (*flock.Flock, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errLocked)
	defer cancel()
	lock := lockOf(path)
	got := make(chan error)
	go func() {
		err := lock.Lock()
		for errors.Is(err, syscall.EINTR) {
			err = lock.Lock()
		}
		select {
		case got <- err:
		case <-ctx.Done():
			_ = lock.Close()
		}
	}()
	select {
	case err := <-got:
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), lock.Close())
		}
		return lock, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("lock %s: %w", path, context.Cause(ctx))
	}
}
