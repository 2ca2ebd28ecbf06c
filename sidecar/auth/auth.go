// Package auth logs a person in to MCP servers that are reached over HTTP and want it (2026-07-28,
// "Authorization"; the eras before it where their servers know no better).
//
// It owns everything between a server's 401 and the token in the next request: who the authorization
// server is, under which name Assent is known to it, the page in the browser, the redirect that comes
// back to this machine, and the tokens, which are kept as [Secrets] and in memory and nowhere else.
// Nothing of it is ever in a log or an error. Whoever uses a server gets an [http.RoundTripper] by
// [Authorizer.Transport], and needs to know no more.
//
// An [Authorizer] and its transports may be used from any goroutine. However many requests want to be
// let in at once, there is one login at a time for each server. It lasts no longer than somebody waits
// for it, and [Authorizer.Close] returns when the last one has ended. Authorizers of several processes that share
// [Secrets] and [Options.Folder] renew a login once, and each takes what another one kept.
//
// What servers send is bounded and believed as far as OAuth allows; see guard for what they can make
// Assent connect to. Extensions (DPoP, client credentials, enterprise-managed authorization) are not
// served.
package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
)

// DefaultPatience bounds how long a login page may stay open.
const DefaultPatience = 10 * time.Minute

// Secrets keeps values where the system keeps secrets.
type Secrets interface {
	// Get returns the value, or nil where there is none.
	Get(ctx context.Context, key string) (*protocol.Secret, error)
	// Set keeps a value; nil removes it.
	Set(ctx context.Context, key string, value *protocol.Secret) error
}

// Options are what an authorizer needs.
type Options struct {
	// Secrets may be nil: a login then lasts as long as the process.
	Secrets Secrets
	// Folder holds a lock for each server, and the id of the grant that was kept last, so that the sidecars that
	// share Secrets renew a login once. It is empty where this is the only sidecar.
	Folder string
	// OpenURL opens a page in the person's browser, for a reason that is a sentence for them. It returns
	// false where they did not want that. It is nil where no front end can open a page.
	OpenURL func(ctx context.Context, url, reason string) (bool, error)
	// Client is what Assent is called at authorization servers.
	Client protocol.Implementation
	// Patience bounds how long a login page may stay open; 0 means [DefaultPatience].
	Patience time.Duration
	Log      zerolog.Logger

	// private reports whether not everybody reaches an address; nil means isPrivate. Tests set it.
	private func(netip.AddrPort) bool
	// arrivalPatience is for how long a grant that another sidecar kept is waited for. Tests set it.
	arrivalPatience time.Duration
}

// Server is an MCP server and what its configuration says of logging in. Every field but the first two
// may be empty.
type Server struct {
	Name string
	// URL is the server's, with the variables put in. It is the OAuth resource (RFC 8707).
	URL *url.URL
	// ClientID and ClientSecret are of a client that was registered by hand.
	ClientID     string
	ClientSecret protocol.Secret
	// Issuer is the authorization server at which it was. Where it is empty, the first one that a login
	// succeeded with is the only one that gets them.
	Issuer string
	// Scopes are asked for in place of those that the server's metadata proposes.
	Scopes []string
	// CallbackPort is the port of the redirect URI, http://127.0.0.1:PORT/callback, for clients that were
	// registered with one. 0 means any.
	CallbackPort int
	// ClientMetadataURL is where a Client ID Metadata Document about Assent can be read, an HTTPS URL.
	ClientMetadataURL string
}

// RefusedError says that the person did not log in.
type RefusedError struct {
	ServerName string
	// Reason is how they refused, a clause about "you".
	Reason string
}

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("you did not log in to %q: %s. Use the server again to be asked again", e.ServerName, e.Reason)
}

// LoginError says that a login, which the server requires, failed. If the person refused it, the error is a
// [RefusedError] instead.
type LoginError struct {
	ServerName string
	Reason     string
}

// Error implements error.
func (e *LoginError) Error() string {
	return fmt.Sprintf("logging in to %q: %s", e.ServerName, e.Reason)
}

// Authorizer holds the logins of one front end.
type Authorizer struct {
	opts  Options
	ctx   context.Context // stored because it is the lifetime of the logins
	close context.CancelCauseFunc
	wg    sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	closed bool
	logins map[string]*login
}

// New returns an authorizer without logins. It reads what was kept of a server at its first use.
func New(opts Options) *Authorizer {
	if opts.Patience == 0 {
		opts.Patience = DefaultPatience
	}
	if opts.private == nil {
		opts.private = isPrivate
	}
	if opts.arrivalPatience == 0 {
		opts.arrivalPatience = arrivalPatience
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Authorizer{opts: opts, ctx: ctx, close: cancel, logins: map[string]*login{}}
}

// Close ends what is under way, and returns when it has ended. Requests that want to be let in fail.
func (a *Authorizer) Close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.close(errClosed)
	a.wg.Wait()
}

// begin runs work in a goroutine of the authorizer's, or reports that there are none any more.
func (a *Authorizer) begin(work func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.wg.Go(work)
	}
	return !a.closed
}

// Transport returns a round tripper for one connection to a server, over base. It puts the token into
// each request, and where the server wants one, or more than it gives, has the person log in. A request
// waits for that as long as its context allows, and the clocks of package patience stand meanwhile.
//
// Requests that have an Authorization header of their own are left alone. A person who did not log in is
// asked again by a call on a connection that was let in before, and otherwise by the next connection.
func (a *Authorizer) Transport(s Server, base http.RoundTripper) http.RoundTripper {
	return &transport{login: a.login(s), base: base}
}

// login returns the state that all connections to a server share.
func (a *Authorizer) login(s Server) *login {
	resource := canonical(s.URL)
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q %q %q %d %q", resource, s.ClientID, s.ClientSecret.Secret, s.Issuer, s.Scopes, s.CallbackPort, s.ClientMetadataURL)
	key := hex.EncodeToString(sum.Sum(nil))
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.logins[key]
	if l == nil {
		l = &login{a: a, server: s, resource: resource, log: a.opts.Log.With().Str("server", s.Name).Logger()}
		a.logins[key] = l
	}
	return l
}

// canonical returns the resource identifier of a server (2026-07-28, "Canonical Server URI").
func canonical(u *url.URL) string {
	c := *u
	c.Scheme, c.Host = strings.ToLower(c.Scheme), strings.ToLower(c.Host)
	switch c.Scheme {
	case "ws":
		c.Scheme = "http"
	case "wss":
		c.Scheme = "https"
	}
	c.User, c.Fragment, c.RawFragment = nil, "", ""
	return c.String()
}
