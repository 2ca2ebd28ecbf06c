package auth

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"assent/sidecar/base/deadline"
	"assent/sidecar/wire/quirk"
)

// maxDrain bounds how much of a refusal's body is read, so that its connection can be reused.
const maxDrain = 64 << 10

type unattendedKey struct{}

// Unattended returns a context for requests that no person waits for. They must not surprise the person with a login:
// if they need one, they get the server's refusal.
func Unattended(ctx context.Context) context.Context {
	return context.WithValue(ctx, unattendedKey{}, true)
}

// transport is one connection to a server.
type transport struct {
	login *login
	base  http.RoundTripper

	mu sync.Mutex // guards the fields below
	// letIn reports whether the server accepted a request.
	letIn bool
	// refused is not nil if the person refused to log in.
	refused *RefusedError
}

// challenge is a server's WWW-Authenticate (RFC 6750, section 3; RFC 9728, section 5.1).
type challenge struct {
	status      int
	metadataURL string
	scopes      []string
	// dpop reports whether the server takes tokens that are bound to a key. nonce is the nonce that it wants in the
	// proof, or empty.
	dpop  bool
	nonce string
	// words are what the server said to a person; see [readWords].
	words string
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Authorization") != "" {
		return t.base.RoundTrip(r)
	}
	sent := false
	if r.Body != nil {
		defer func() {
			if !sent {
				r.Body.Close()
			}
		}()
	}
	var tried remedies
	for {
		present, generation, err := t.login.token(r.Context())
		if err != nil {
			return nil, err
		}
		attempt, err := t.login.withToken(r, present, sent)
		if err != nil {
			return nil, err
		}
		sent = true
		response, err := t.login.send(t.base, attempt)
		if err != nil {
			return nil, err
		}
		c := challengeOf(response)
		if c == nil {
			t.recordAccess(response)
			return response, nil
		}
		c.words = cmp.Or(readWords(response), c.words)
		if c.metadataURL == "" && r.Header.Get(sessionHeader) != "" && quirk.IsRefusedSession(c.words) {
			return response, nil // the caller begins another session, which shows whether the token is wrong
		}
		if r.Method == http.MethodDelete || r.Body != nil && r.GetBody == nil {
			return response, nil // DELETE ends the session, which is not worth a login; or the body cannot be sent again
		}
		remedy, byPerson := t.remedy(*c, generation, &tried)
		if remedy == nil || byPerson && r.Context().Value(unattendedKey{}) != nil {
			return response, nil
		}
		discard(response)
		if err := t.apply(r, remedy, byPerson); err != nil {
			return nil, err
		}
	}
}

// remedies records which remedies were tried for one request. Each is tried once, because a server that refuses again
// cannot be satisfied. A remedy that another request tried does not count.
type remedies struct{ proved, refreshed, loggedIn, steppedUp bool }

// remedy returns a function that may satisfy a challenge to the token of a generation, or nil if there is none.
// byPerson reports whether the function needs a person.
func (t *transport) remedy(c challenge, generation int, tried *remedies) (remedy func(context.Context) error, byPerson bool) {
	authorize := func(done *bool) func(context.Context) error {
		return func(ctx context.Context) error {
			own, err := t.login.authorize(ctx, generation, c)
			*done = *done || own
			return err
		}
	}
	switch {
	case c.nonce != "" && !tried.proved:
		tried.proved = true
		return func(context.Context) error { return nil }, false // the next attempt has the nonce
	case c.status == http.StatusForbidden && (tried.steppedUp || t.login.gives(c.scopes)):
		return nil, false
	case c.status == http.StatusForbidden:
		return authorize(&tried.steppedUp), !t.login.server.byItself()
	case !tried.refreshed && t.login.canRefresh():
		return func(ctx context.Context) error {
			own, err := t.login.refresh(ctx, generation)
			tried.refreshed = tried.refreshed || own
			return err
		}, false
	case !tried.loggedIn:
		return authorize(&tried.loggedIn), !t.login.server.byItself()
	default:
		return nil, false
	}
}

// apply runs a remedy and waits for it. It returns the earlier refusal if the person has refused to log in.
func (t *transport) apply(r *http.Request, remedy func(context.Context) error, byPerson bool) error {
	if !byPerson {
		return remedy(r.Context())
	}
	t.mu.Lock()
	refused := t.refused
	if t.letIn && r.Method == http.MethodPost { // the person uses the server
		refused = nil
	}
	t.mu.Unlock()
	if refused != nil {
		return refused
	}
	defer deadline.Pause(r.Context())()
	err := remedy(r.Context())
	if errors.As(err, &refused) {
		t.mu.Lock()
		t.refused = refused
		t.mu.Unlock()
	}
	return err
}

func (t *transport) recordAccess(response *http.Response) {
	if response.StatusCode >= http.StatusBadRequest {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.letIn, t.refused = true, nil
}

// withToken returns a copy of the request with the token of a grant, which may be nil. again reports whether the body
// of the request was read before.
func (l *login) withToken(r *http.Request, present *grant, again bool) (*http.Request, error) {
	attempt := r.Clone(r.Context())
	if again && r.Body != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		attempt.Body = body
	}
	if present == nil || present.Access.Secret == "" {
		return attempt, nil
	}
	token := present.Access.Secret
	if present.Key.Secret == "" {
		attempt.Header.Set("Authorization", "Bearer "+token)
		return attempt, nil
	}
	l.mu.Lock()
	nonce := l.nonce
	l.mu.Unlock()
	made, err := proof(present.Key, attempt, token, nonce)
	if err != nil {
		return nil, err
	}
	attempt.Header.Set("Authorization", "DPoP "+token)
	attempt.Header.Set("DPoP", made)
	return attempt, nil
}

// challengeOf returns the challenge in a response, or nil if the response is the answer to the request.
func challengeOf(response *http.Response) *challenge {
	if response.StatusCode != http.StatusUnauthorized && response.StatusCode != http.StatusForbidden {
		return nil
	}
	// A challenge that cannot be parsed says no more than the status.
	challenges, _ := oauthex.ParseWWWAuthenticate(response.Header.Values("WWW-Authenticate"))
	c := &challenge{status: response.StatusCode}
	insufficient := false
	for _, parsed := range challenges {
		if parsed.Scheme != "bearer" && parsed.Scheme != "dpop" {
			continue
		}
		if parsed.Scheme == "dpop" {
			c.dpop = true
			if parsed.Params["error"] == "use_dpop_nonce" {
				c.nonce = nonceOf(response)
			}
		}
		if c.words == "" {
			c.words = words([]byte(parsed.Params["error_description"]))
		}
		insufficient = insufficient || parsed.Params["error"] == "insufficient_scope"
		if c.metadataURL == "" {
			c.metadataURL = strings.Trim(parsed.Params["resource_metadata"], `'" `) // some servers quote it with apostrophes
		}
		if c.scopes == nil {
			c.scopes = fields(parsed.Params["scope"])
		}
	}
	if c.status == http.StatusForbidden && !insufficient {
		return nil // the answer to the request
	}
	return c
}

const sessionHeader = "Mcp-Session-Id"

func discard(response *http.Response) {
	// If the body cannot be read, the connection is not used again.
	_, _ = io.CopyN(io.Discard, response.Body, maxDrain)
	_ = response.Body.Close()
}
