package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"assent/protocol"
)

const (
	// lockTimeout bounds how long a sidecar waits for the lock. Another sidecar holds it during one token request.
	lockTimeout = time.Minute
	// arrivalTimeout bounds how long this sidecar waits for a grant that another one stored. VS Code tells a window
	// that a secret is stored before the other windows can read it.
	arrivalTimeout = 3 * time.Second
	// retryShared is the time between two tries to lock, and between two reads of a grant that has not arrived.
	retryShared = 50 * time.Millisecond
)

// alone locks the stored grant against other sidecars, and returns the function that unlocks it. It waits while another
// sidecar has the lock. The lock is on a file, and ends with the process. If the file cannot be locked, the work goes
// on without a lock, and the person may have to log in once more.
func (l *login) alone(ctx context.Context) (release func()) {
	path := l.sharedFile(".lock")
	if path == "" {
		return func() {}
	}
	waiting, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	lock := flock.New(path)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		_, err = lock.TryLockContext(waiting, retryShared)
	}
	if err != nil && ctx.Err() == nil {
		l.log.Warn().Err(err).Msg("the login is not locked against other windows")
	}
	return func() {
		if err := lock.Close(); err != nil {
			l.log.Warn().Err(err).Msg("the lock of the login cannot be released")
		}
	}
}

// sharedFile returns the path of a file that all sidecars use for this login. It is empty if nothing is shared.
func (l *login) sharedFile(suffix string) string {
	if l.a.opts.Folder == "" || l.secrets() == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(bondKey(l.resource, l.server.ClientID)))
	return filepath.Join(l.a.opts.Folder, hex.EncodeToString(sum[:16])+suffix)
}

// lastKept returns the id of the grant that a sidecar kept last. It is empty if that is not known. The lock must be
// held.
func (l *login) lastKept() string {
	path := l.sharedFile(".last")
	if path == "" {
		return ""
	}
	id, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.log.Warn().Err(err).Msg("cannot read the login that was stored last")
	}
	return string(id)
}

// setLastKept tells the other sidecars which grant was kept last. The lock must be held.
func (l *login) setLastKept(id string) {
	path := l.sharedFile(".last")
	if path == "" {
		return
	}
	if err := os.WriteFile(path, []byte(id), 0o600); err != nil {
		l.log.Warn().Err(err).Msg("cannot tell other windows of the login")
	}
}

// current reads the kept grant. It waits for the grant that was kept last. The lock must be held.
func (l *login) current(ctx context.Context) (bond, *grant, error) {
	last := l.lastKept()
	deadline := time.Now().Add(l.a.opts.arrivalTimeout)
	for {
		b, g, err := l.kept(ctx)
		if err != nil || last == "" || g != nil && g.ID == last {
			return b, g, err
		}
		if time.Now().After(deadline) {
			l.setLastKept("") // the person signed out, or the grant is in another store of secrets
			return b, g, nil
		}
		select {
		case <-time.After(retryShared):
		case <-ctx.Done():
			return b, g, context.Cause(ctx)
		}
	}
}

// takeNewer makes the kept grant the present one if another sidecar has changed it since this one read or kept it last,
// and reports whether it did. If the kept grant was removed, for example because the person signed out, this
// sidecar forgets its tokens. The lock must be held.
func (l *login) takeNewer(ctx context.Context) bool {
	b, g, err := l.current(ctx)
	return err == nil && l.take(b, g)
}

// take is [login.takeNewer] for a grant that was read, and its bond.
func (l *login) take(b bond, g *grant) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case g.same(l.seen):
		return false
	case g != nil:
		l.grant, l.bond = g, b
	case l.grant != nil:
		l.grant = l.grant.withoutTokens()
	}
	l.seen = g
	l.generation++
	return true
}

// takeNewerAlone is [login.takeNewer] with the lock.
func (l *login) takeNewerAlone(ctx context.Context) error {
	defer l.alone(ctx)()
	l.takeNewer(ctx)
	return nil
}

// acceptAlone is [login.accept] with the lock. It keeps the grant even if ctx has ended.
func (l *login) acceptAlone(ctx context.Context, g *grant) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTimeout)
	release := l.alone(ctx)
	cancel()
	defer release()
	l.accept(ctx, g)
}

// same reports whether two grants have the same tokens. nil, which means no grant, is the same only as nil.
func (g *grant) same(other *grant) bool {
	if g == nil || other == nil {
		return g == other
	}
	return g.Access == other.Access && g.Refresh == other.Refresh
}

func (g *grant) withoutTokens() *grant {
	without := *g
	without.Access, without.Refresh, without.Expiry = protocol.Secret{}, protocol.Secret{}, time.Time{}
	return &without
}
