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

	"assent/sidecar/base/awaited"
	"assent/sidecar/base/deadline"
	"assent/sidecar/base/reason"
)

// early is how long before its expiry a token is renewed.
const early = 30 * time.Second

var errClosed = errors.New("the sign-in is stopped: Assent is closing")

// login is the state of the login to one server. All connections to the server share it.
type login struct {
	a        *Authorizer
	server   Server
	resource string
	log      zerolog.Logger

	mu     sync.Mutex // guards the fields below
	loaded bool
	// grant is the present grant; nil if there is none. After a refusal it keeps its scopes, but has no tokens.
	grant *grant
	// generation counts the changes of grant.
	generation int
	flight     *flight
	// nonce is the nonce that the server last wanted in a proof; see [login.recordNonce].
	nonce string
	// answeredNearby reports whether the server's last answer came from this machine or its network.
	answeredNearby bool
	// seen is the kept grant as this sidecar read or wrote it last; nil if there was none.
	seen *grant
	// bond is the bond of the last grant, even if an earlier process stored that grant.
	bond bond
}

// flight is one piece of work that several callers may wait for.
type flight struct {
	done  chan struct{}
	err   error // valid once done is closed
	waits awaited.Shared

	// The login's mutex guards these. A flight without waiting callers is abandoned, and ends soon.
	waiting   int
	abandoned bool
	byPerson  bool // the work shows a login page, or prepares that
	cancel    context.CancelCauseFunc
}

// token returns the present grant and its generation. The grant is nil, or has no token, if there is none.
func (l *login) token(ctx context.Context) (*grant, int, error) {
	loaded := func() bool { return l.loaded }
	if _, err := l.once(ctx, loaded, l.load); err != nil {
		return nil, 0, err
	}
	fresh := func() bool { return l.grant.fresh() }
	renew := func(ctx context.Context) error {
		_, err := l.renew(ctx)
		return err
	}
	if _, err := l.once(ctx, fresh, renew); err != nil {
		return nil, 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grant, l.generation, nil
}

// canRefresh reports whether the token can be renewed without the person.
func (l *login) canRefresh() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grant != nil && l.grant.refreshable()
}

// gives reports whether the grant includes these scopes. If scopes is empty, because a server named none, any grant
// includes them.
func (l *login) gives(scopes []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grant != nil && !slices.ContainsFunc(scopes, func(s string) bool { return !slices.Contains(l.grant.Scopes, s) })
}

// refresh renews the token of a generation without the person, or drops it; see once. own is false if another call or
// another sidecar has renewed it before.
func (l *login) refresh(ctx context.Context, generation int) (own bool, err error) {
	taken := false
	own, err = l.once(ctx, l.since(generation), func(ctx context.Context) error {
		var err error
		taken, err = l.renew(ctx)
		return err
	})
	if err != nil { // the renewal may still run, and write taken
		return own, err
	}
	return own && !taken, nil
}

// since returns a function that reports whether the grant has changed since the generation.
func (l *login) since(generation int) func() bool {
	return func() bool { return l.generation != generation }
}

// authorize asks the person to log in, or gets a token without them. It does nothing if the grant has changed since the
// generation, here or in another window; see once.
func (l *login) authorize(ctx context.Context, generation int, c challenge) (own bool, err error) {
	if _, err := l.once(ctx, l.since(generation), l.takeNewerAlone); err != nil {
		return false, err
	}
	return l.once(ctx, l.since(generation), func(ctx context.Context) error {
		l.mu.Lock()
		l.flight.byPerson = !l.server.byItself()
		l.mu.Unlock()
		ctx, cancel := deadline.WithTimeout(ctx, l.a.opts.Timeout,
			&RefusedError{l.server.Name, fmt.Sprintf("the page was open for %v", l.a.opts.Timeout)})
		defer cancel()
		err := l.logIn(ctx, c)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		var refused *RefusedError
		if err != nil && !errors.As(err, &refused) && ctx.Err() == nil {
			// Opaque: callers must not mistake a failed request to the authorization server for one to the MCP server.
			err = &LoginError{l.server.Name, clip(reason.Of(err), maxMessage)}
		}
		return err
	})
}

// once does work, unless settled reports that there is none to do. It calls settled with the lock held. It first waits
// for the flight that is under way for the login, if there is one. If that flight fails, once returns its error to all
// callers that waited. own reports whether this call did the work.
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
		leave := f.waits.Join(ctx)
		select {
		case <-f.done:
			leave()
		case <-ctx.Done():
			leave()
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
	ctx = f.waits.Context(ctx)
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

// leave stops waiting for a flight. If no other caller waits, it cancels the flight.
func (l *login) leave(f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.waiting--
	if f.waiting == 0 {
		f.abandoned = true
		f.cancel(errors.New("the login is no longer needed"))
	}
}

// forget drops the grant from memory, with its scopes. It waits for a renewal under way, which would store a new grant,
// but not for a person who logs in.
func (l *login) forget(ctx context.Context) error {
	for {
		l.mu.Lock()
		f := l.flight
		if f == nil || f.byPerson {
			l.grant, l.seen, l.bond = nil, nil, bond{}
			l.generation++
			l.mu.Unlock()
			return nil
		}
		l.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// fields splits a list of scopes, and removes duplicates.
func fields(scope string) []string {
	var scopes []string
	for s := range strings.FieldsSeq(scope) {
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// union returns the scopes of a and then those of b, without duplicates.
func union(a, b []string) []string {
	return fields(strings.Join(append(slices.Clone(a), b...), " "))
}
