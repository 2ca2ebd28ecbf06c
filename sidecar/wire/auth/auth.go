// Package auth logs a person in to MCP servers over HTTP that require it (2026-07-28, "Authorization", with fallbacks
// for servers of earlier versions).
//
// It owns everything between a server's 401 and the token in the next request: the authorization server, the
// registration of Assent as its client, the page in the browser, the redirect back to this machine, and the tokens. It
// keeps tokens only in [Secrets] and in memory, and never writes them to a log or an error. The connection to a server
// uses the [http.RoundTripper] that [Authorizer.Transport] returns.
//
// An [Authorizer] and its transports may be used from any goroutine. There is one login at a time for each server,
// however many requests need it. A login is cancelled when no request waits for it any more, and [Authorizer.Close]
// returns when all logins have ended. If several processes share [Secrets] and [Options.Folder], one of them renews a
// login, and the others use the grant that it stored.
//
// The answers of servers are bounded in size, and trusted only as far as OAuth allows; guard limits the addresses to
// which they can direct Assent. If a server requires it, tokens are bound to a key (DPoP, RFC 9449). A server's
// configuration can choose another way to get tokens than the person's browser; see [Server].
package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
)

// DefaultTimeout bounds how long a login page may stay open.
const DefaultTimeout = 10 * time.Minute

// ErrNotKept is the error of [Secrets.Set] if no front end keeps secrets. The value then lasts as long as the process.
var ErrNotKept = errors.New("no front end keeps secrets")

// Secrets stores values in the system's secret storage.
type Secrets interface {
	// Get returns the value, or nil if there is none.
	Get(ctx context.Context, key string) (*protocol.Secret, error)
	// Set keeps a value; nil removes it.
	Set(ctx context.Context, key string, value *protocol.Secret) error
}

// Options configure an Authorizer.
type Options struct {
	// Secrets may be nil: a login then lasts as long as the process.
	Secrets Secrets
	// Folder holds a lock for each server, and the id of the grant that was kept last. All processes that share Secrets
	// must share it, so that they renew a login once. It is empty if this is the only process.
	Folder string
	// OpenURL opens a page in the person's browser. reason is a sentence that the person sees. OpenURL returns false if
	// the person did not want to open the page. It is nil if no front end can open one.
	OpenURL func(ctx context.Context, url, reason string) (bool, error)
	// CanOpenURL reports whether a front end can open a page now; nil means that OpenURL always can.
	CanOpenURL func() bool
	// Client is the name and the version that Assent gives to authorization servers.
	Client protocol.Implementation
	// Timeout bounds how long a login page may stay open; 0 means [DefaultTimeout].
	Timeout time.Duration
	Log     zerolog.Logger

	// private reports whether an address is outside the public internet; nil means isPrivate. Tests set it.
	private func(netip.AddrPort) bool
	// arrivalTimeout bounds the wait for a grant that another process kept; 0 means [arrivalTimeout]. Tests set it.
	arrivalTimeout time.Duration
}

// Server is an MCP server, and the part of its configuration that is about logging in. Every field except the first two
// may be empty.
type Server struct {
	Name string
	// URL is the server's URL, with its variables resolved. It is the OAuth resource (RFC 8707).
	URL *url.URL
	// ClientID and ClientSecret belong to a client that was registered by hand.
	ClientID     string
	ClientSecret protocol.Secret
	// Issuer is the authorization server at which the client was registered. If it is empty, only the authorization
	// server of the first successful login gets ClientID and ClientSecret.
	Issuer string
	// Scopes are requested instead of those that the server's metadata proposes.
	Scopes []string
	// CallbackPort is the port of the redirect URI, http://127.0.0.1:PORT/callback, for clients that were
	// registered with one. 0 means any.
	CallbackPort int
	// ClientMetadataURL is the HTTPS URL of a Client ID Metadata Document about Assent.
	ClientMetadataURL string
	// PrivateKey is the client's private key in PEM, which replaces ClientSecret. KeyID is its "kid" at the
	// authorization server.
	PrivateKey Text
	KeyID      string
	// ClientCredentials, Assertion and IdentityProvider are ways to get a token without the person's browser: as the
	// client itself, with a JWT about this workload, or through the person's organisation. At most one is set.
	ClientCredentials bool
	Assertion         Text
	IdentityProvider  *IdentityProvider
	// Proxy returns which proxy a request of the login goes through; nil means [http.ProxyFromEnvironment]. If the
	// connections to the server have different proxies, the login uses those of the first connection.
	Proxy func(*http.Request) (*url.URL, error)
}

// RefusedError means that the person did not log in, or may not.
type RefusedError struct {
	ServerName string
	// Reason says how the person refused, in a clause about "you", or what the authorization server answered.
	Reason string
}

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("you did not sign in to %q: %s. Use the server again to try again", e.ServerName, e.Reason)
}

// LoginError means that a login that the server requires failed. If the person refused it, the error is a
// [RefusedError] instead.
type LoginError struct {
	ServerName string
	Reason     string
}

// Error implements error.
func (e *LoginError) Error() string {
	return fmt.Sprintf("logging in to %q: %s", e.ServerName, e.Reason)
}

// Authorizer holds the logins to MCP servers.
type Authorizer struct {
	opts  Options
	ctx   context.Context // stored because it is the lifetime of the logins
	close context.CancelCauseFunc
	wg    sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	closed bool
	logins map[string]*login
	// renewals counts the renewals under way. renewed is closed when the last one ends, and nil while there is none.
	renewals int
	renewed  chan struct{}
}

// New returns an authorizer without logins. It reads the kept login of a server when the server is first used.
func New(opts Options) *Authorizer {
	if opts.Timeout == 0 {
		opts.Timeout = DefaultTimeout
	}
	if opts.private == nil {
		opts.private = isPrivate
	}
	if opts.arrivalTimeout == 0 {
		opts.arrivalTimeout = arrivalTimeout
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Authorizer{opts: opts, ctx: ctx, close: cancel, logins: map[string]*login{}}
}

// Close cancels the logins that are under way, and returns when they have ended. Requests that need a login fail from
// then on.
func (a *Authorizer) Close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.close(errClosed)
	a.wg.Wait()
}

// begin runs work in a goroutine that Close waits for. It returns false if the authorizer is closed.
func (a *Authorizer) begin(work func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.wg.Go(work)
	}
	return !a.closed
}

// Renewing returns a channel that is closed when no renewal of a login is under way any more, or nil if none is. If the
// authorizer is closed before that, the new refresh token may be lost, and the old one may be used up.
func (a *Authorizer) Renewing() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.renewed
}

// beginRenewal counts a renewal as under way until end is called.
func (a *Authorizer) beginRenewal() (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.renewals++; a.renewals == 1 {
		a.renewed = make(chan struct{})
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.renewals--; a.renewals == 0 {
			close(a.renewed)
			a.renewed = nil
		}
	}
}

// Transport returns a round tripper for one connection to a server, over base. It puts the token into each request. If
// the server wants a token, or one with more scopes, it asks the person to log in. The request waits for that as long
// as its context allows, and the clocks of package deadline stand still during the wait.
//
// A request that has an Authorization header already is sent unchanged. If a person refused to log in, the next POST
// asks again if the server accepted a request on this connection before. Otherwise the next connection asks again.
func (a *Authorizer) Transport(s Server, base http.RoundTripper) http.RoundTripper {
	return &transport{login: a.login(s), base: base}
}

// login returns the login that all connections to a server share.
func (a *Authorizer) login(s Server) *login {
	resource := canonical(s.URL)
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q %q %q %d %q", resource, s.ClientID, s.ClientSecret.Secret, s.Issuer, s.Scopes, s.CallbackPort, s.ClientMetadataURL)
	fmt.Fprintf(sum, "%q %q %t %q", s.PrivateKey, s.KeyID, s.ClientCredentials, s.Assertion)
	if p := s.IdentityProvider; p != nil {
		fmt.Fprintf(sum, "%q %q %q %q", p.Issuer, p.ClientID, p.ClientSecret.Secret, p.IDToken)
	}
	key := hex.EncodeToString(sum.Sum(nil))
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.logins[key]
	if l == nil {
		if s.Proxy == nil {
			s.Proxy = http.ProxyFromEnvironment
		}
		l = &login{a: a, server: s, resource: resource, log: a.opts.Log.With().Str("server", s.Name).Logger()}
		a.logins[key] = l
	}
	return l
}

// Forget signs out of every server: it drops the logins from memory. The caller removes the secrets from [Secrets]
// before and after, because Forget waits for a renewal that is under way. A login with an open page continues. If ctx
// ends first, Forget returns the cause.
func (a *Authorizer) Forget(ctx context.Context) error {
	a.mu.Lock()
	logins := slices.Collect(maps.Values(a.logins))
	a.mu.Unlock()
	for _, l := range logins {
		if err := l.forget(ctx); err != nil {
			return err
		}
	}
	return nil
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
