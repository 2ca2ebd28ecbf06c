package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// early is how long before its end a token is renewed.
const early = 30 * time.Second

var errClosed = errors.New("the sidecar is closing")

// login is the state of logging in to one server, which its connections share.
type login struct {
	a        *Authorizer
	server   Server
	resource string
	log      zerolog.Logger

	mu     sync.Mutex // guards the fields below
	loaded bool
	// grant is what the server was given last; nil where there was none.
	grant *grant
	// generation counts the grants that there were.
	generation int
	flight     *flight
	// answeredNearby reports whether the server's last answer came from this machine or its network.
	answeredNearby bool
	// seen is the grant that was read or kept last; nil where none was.
	seen *grant
	// bond is that of the last grant, be it of an earlier process.
	bond bond
}

// flight is one thing that is done for all who wait for it.
type flight struct {
	done chan struct{}
	err  error // once done is closed

	// The login's mutex guards these. A flight that nobody waits for is abandoned, and ends soon.
	waiting   int
	abandoned bool
	cancel    context.CancelCauseFunc
}

// token returns the access token, empty where there is none, and its generation.
func (l *login) token(ctx context.Context) (string, int, error) {
	loaded := func() bool { return l.loaded }
	if _, err := l.once(ctx, loaded, l.load); err != nil {
		return "", 0, err
	}
	fresh := func() bool { return l.grant.fresh() }
	renew := func(ctx context.Context) error {
		_, err := l.renew(ctx)
		return err
	}
	if _, err := l.once(ctx, fresh, renew); err != nil {
		return "", 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grant == nil {
		return "", l.generation, nil
	}
	return l.grant.Access.Secret, l.generation, nil
}

// canRefresh reports whether a new token can be had without the person.
func (l *login) canRefresh() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grant != nil && l.grant.refreshable()
}

// gives reports whether the token is good for scopes, as far as anybody said. A server that names none
// wants what it cannot name.
func (l *login) gives(scopes []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grant != nil && !slices.ContainsFunc(scopes, func(s string) bool { return !slices.Contains(l.grant.Scopes, s) })
}

// refresh replaces a token of this generation without the person, or drops it; see once. Own is false where another
// sidecar had renewed it before.
func (l *login) refresh(ctx context.Context, generation int) (own bool, err error) {
	taken := false
	own, err = l.once(ctx, l.since(generation), func(ctx context.Context) error {
		var err error
		taken, err = l.renew(ctx)
		return err
	})
	if err != nil { // and what is waited for may go on
		return own, err
	}
	return own && !taken, nil
}

// since returns what reports whether there was another grant since the generation.
func (l *login) since(generation int) func() bool {
	return func() bool { return l.generation != generation }
}

// authorize has the person log in, unless somebody has since the generation, here or in another window; see once.
func (l *login) authorize(ctx context.Context, generation int, c challenge) (own bool, err error) {
	if _, err := l.once(ctx, l.since(generation), l.takeNewerAlone); err != nil {
		return false, err
	}
	return l.once(ctx, l.since(generation), func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, l.a.opts.Patience,
			&RefusedError{l.server.Name, fmt.Sprintf("the page was open for %v", l.a.opts.Patience)})
		defer cancel()
		err := l.logIn(ctx, c)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		var refused *RefusedError
		if err != nil && !errors.As(err, &refused) && ctx.Err() == nil {
			// Opaque: a failure on the way to somebody else is not one on the way to the server.
			err = &LoginError{l.server.Name, clip(err.Error(), maxMessage)}
		}
		return err
	})
}

// once does work unless it is settled that it need not be, which is asked with the lock held. Whatever
// is under way for the login is waited for first; its failure is everybody's who waited. Own reports
// that it was this work that settled it.
func (l *login) once(ctx context.Context, settled func() bool, work func(context.Context) error) (own bool, err error) {
	for {
		l.mu.Lock()
		if settled() {
			l.mu.Unlock()
			return false, nil
		}
		f := l.flight
		own = f == nil
		if own {
			if f = l.start(work); f == nil {
				l.mu.Unlock()
				return own, errClosed
			}
		}
		joined := !f.abandoned
		if joined {
			f.waiting++
		}
		l.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			if joined {
				l.leave(f)
			}
			return own, context.Cause(ctx)
		}
		if joined && (own || f.err != nil) {
			return own, f.err
		}
	}
}

// start begins a flight. The lock must be held.
func (l *login) start(work func(context.Context) error) *flight {
	ctx, cancel := context.WithCancelCause(l.a.ctx)
	f := &flight{done: make(chan struct{}), cancel: cancel}
	begun := l.a.begin(func() {
		f.err = work(ctx)
		cancel(nil)
		l.mu.Lock()
		l.flight = nil
		l.mu.Unlock()
		close(f.done)
	})
	if !begun {
		cancel(nil)
		return nil
	}
	l.flight = f
	return f
}

// leave gives up waiting.
func (l *login) leave(f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.waiting--
	if f.waiting == 0 {
		f.abandoned = true
		f.cancel(errors.New("nobody waits for the login any more"))
	}
}

// fields splits a list of scopes, each once.
func fields(scope string) []string {
	var scopes []string
	for s := range strings.FieldsSeq(scope) {
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// union returns the scopes of both, in their order.
func union(a, b []string) []string {
	return fields(strings.Join(append(slices.Clone(a), b...), " "))
}
