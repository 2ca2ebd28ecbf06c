package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"assent/protocol"
)

const (
	// maxQuote bounds a quoted text of another program in a message, and maxMessage the whole message, in code points.
	maxQuote, maxMessage = 300, 1000
	// maxPageURL bounds the address of a login page, maxToken a token and maxScope its scopes, in bytes.
	maxPageURL, maxToken, maxScope = 16 << 10, 64 << 10, 4 << 10
)

// logIn asks the person to log in, unless the configuration names another way, and accepts the grant (2026-07-28,
// "Authorization Flow Steps").
func (l *login) logIn(ctx context.Context, c challenge) error {
	if l.server.byItself() {
		web := newGuard(l.near(), l.server.Proxy, l.a.opts.private)
		defer web.CloseIdleConnections()
		at, err := discover(ctx, web, l.resource, c, l.prefers, readIssuer)
		if err != nil {
			return err
		}
		return l.getToken(ctx, at, web, c)
	}
	if l.a.opts.OpenURL == nil || l.a.opts.CanOpenURL != nil && !l.a.opts.CanOpenURL() {
		return errors.New("the front end cannot open a browser: use one that can, or give the server a token in its headers")
	}
	web := newGuard(l.near(), l.server.Proxy, l.a.opts.private)
	defer web.CloseIdleConnections()
	at, err := discover(ctx, web, l.resource, c, l.prefers, oauthex.GetAuthServerMeta)
	if err != nil {
		return c.because(err)
	}
	if err := at.checkPage(); err != nil {
		return c.because(err)
	}
	id, err := l.identify(ctx, at, web)
	if err != nil {
		return c.because(err)
	}
	defer id.callback.close()
	if id.registered { // stored again once it has led to a login
		l.write(ctx, clientKey(at.Issuer), nil)
	}
	scopes := l.scopes(at, c)
	config := &oauth2.Config{
		ClientID: id.ID, ClientSecret: id.Secret.Secret, RedirectURL: id.callback.redirectURI, Scopes: scopes,
		Endpoint: oauth2.Endpoint{AuthURL: at.AuthorizationEndpoint, TokenURL: at.TokenEndpoint, AuthStyle: authStyle(id.Method)},
	}
	verifier := oauth2.GenerateVerifier()
	code, err := l.authorizationCode(ctx, config, id.callback, at, verifier)
	if err != nil {
		return err
	}
	params, err := l.clientParams(id.client, at.Issuer)
	if err != nil {
		return err
	}
	options := []oauth2.AuthCodeOption{oauth2.VerifierOption(verifier), oauth2.SetAuthURLParam("resource", at.resource)}
	for name := range params {
		options = append(options, oauth2.SetAuthURLParam(name, params.Get(name)))
	}
	tokens, key, err := proving(web, at.dpop)
	if err != nil {
		return err
	}
	token, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, tokens), code, options...)
	if err != nil {
		return fmt.Errorf("the login was not accepted: %w", tokenError(err))
	}
	g := &grant{Issuer: at.Issuer, Resource: at.resource, TokenURL: at.TokenEndpoint, Client: id.client, Scopes: scopes, Key: key}
	if err := g.take(token); err != nil {
		return err
	}
	l.acceptAlone(ctx, g)
	if id.registered {
		l.write(context.WithoutCancel(ctx), clientKey(at.Issuer), id.client)
	}
	l.log.Info().Str("issuer", at.Issuer).Strs("scopes", g.Scopes).Msg("logged in")
	return nil
}

// prefers reports whether an authorization server is the configured one or, without one, the one of the last grant.
// discover uses it to choose if a server names several.
func (l *login) prefers(issuer string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := cmp.Or(l.server.Issuer, l.bond.Issuer)
	return known != "" && sameIssuer(issuer, known)
}

// scopes returns the scopes to request (2026-07-28, "Scope Selection Strategy"). They include those that the same
// authorization server granted before, so that a request for more scopes loses none.
func (l *login) scopes(at *place, c challenge) []string {
	wanted := c.scopes
	if len(l.server.Scopes) > 0 {
		wanted = union(l.server.Scopes, wanted)
	}
	if len(wanted) == 0 {
		wanted = at.scopes
	}
	if slices.Contains(at.ScopesSupported, "offline_access") && !l.server.byItself() {
		wanted = union(wanted, []string{"offline_access"})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grant != nil && l.grant.Issuer == at.Issuer {
		return union(l.grant.Scopes, wanted)
	}
	return union(wanted, nil)
}

// authorizationCode shows the login page and waits for its redirect (2026-07-28, "Authorization Response
// Validation").
func (l *login) authorizationCode(ctx context.Context, config *oauth2.Config, c *callback, at *place, verifier string) (string, error) {
	state := rand.Text()
	c.expect(state)
	login := config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("resource", at.resource))
	address, err := url.Parse(login)
	if err != nil || len(login) > maxPageURL {
		return "", fmt.Errorf("%s has no login page that can be opened", at.Issuer)
	}
	l.log.Info().Str("issuer", at.Issuer).Msg("asking the person to log in")
	opened, err := l.a.opts.OpenURL(ctx, login, fmt.Sprintf("The MCP server %q wants you to log in at %s.", l.server.Name, clip(address.Host, maxQuote)))
	switch {
	case err != nil:
		return "", fmt.Errorf("the login page cannot be opened: %w", err)
	case !opened:
		return "", &RefusedError{l.server.Name, "you did not open the page"}
	}
	var answer url.Values
	select {
	case answer = <-c.answer:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	// The issuer of the answer is checked before the answer is read (RFC 9207, section 2.4).
	switch iss := answer.Get("iss"); {
	case iss != "" && iss != at.Issuer:
		return "", fmt.Errorf("the answer is from %s, not from %s: this may be an attack on your login, so find out why before you try again", clip(iss, maxQuote), at.Issuer)
	case iss == "" && (at.AuthorizationResponseIssParameterSupported || answer.Has("iss")):
		return "", fmt.Errorf("the answer does not say that it is from %s, which such answers do", at.Issuer)
	}
	description := strings.TrimSpace(answer.Get("error_description"))
	switch code := answer.Get("error"); {
	case code == "access_denied" && description == "":
		return "", &RefusedError{l.server.Name, "you declined on the page"}
	case code == "access_denied": // by the person, or by the authorization server without asking them
		return "", &RefusedError{l.server.Name, fmt.Sprintf("the page answered: %v", oauthError(code, description))}
	case code != "":
		l.forgetScopes()
		return "", oauthError(code, description)
	case answer.Get("code") == "":
		return "", errors.New("the answer has neither a code nor an error")
	}
	return answer.Get("code"), nil
}

// forgetScopes makes the next login request only the scopes that the server then wants, because the authorization
// server may no longer know one of the earlier scopes.
func (l *login) forgetScopes() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grant != nil && l.grant.Access.Secret == "" {
		l.grant = nil
	}
}

// renew exchanges the refresh token for a new token. If another sidecar has renewed the login before, renew takes the
// grant that the other one stored, because a refresh token may be valid for one use only; taken reports that. If the
// authorization server refuses, renew drops the tokens and returns no error: the server's next challenge leads to a
// login.
func (l *login) renew(ctx context.Context) (taken bool, err error) {
	defer l.alone(ctx)()
	taken = l.takeNewer(ctx)
	if ctx.Err() != nil {
		return taken, context.Cause(ctx)
	}
	l.mu.Lock()
	present := l.grant
	l.mu.Unlock()
	if taken && present.fresh() || present == nil || !present.refreshable() {
		return taken, nil
	}
	defer l.a.beginRenewal()()
	old := *present
	web := newGuard(l.near(), l.server.Proxy, l.a.opts.private)
	defer web.CloseIdleConnections()
	// [oauth2.Config] cannot name the resource of the token (RFC 8707, section 2.2). [clientcredentials.Config] can,
	// for any grant type.
	params, err := l.clientParams(old.Client, old.Issuer)
	if err != nil {
		return false, fmt.Errorf("renewing the login to %q: %w", l.server.Name, err)
	}
	maps.Copy(params, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {old.Refresh.Secret}, "resource": {old.Resource}})
	config := clientcredentials.Config{
		ClientID: old.Client.ID, ClientSecret: old.Client.Secret.Secret, TokenURL: old.TokenURL, AuthStyle: authStyle(old.Client.Method),
		EndpointParams: params,
	}
	// A refresh token may be valid for one use only, so the request continues even if ctx ends.
	token, err := config.Token(context.WithValue(l.a.ctx, oauth2.HTTPClient, provingWith(web, old.Key)))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.Response.StatusCode < 500 && refused.Response.StatusCode != http.StatusTooManyRequests {
		l.log.Info().AnErr("reason", tokenError(err)).Msg("the login has ended")
		l.drop(ctx, present)
		return false, nil
	}
	if errors.Is(err, errPrivate) {
		// The request to the server is sent with the old token. The address that answers shows whether the server is on
		// this network, and its challenge leads here again or to a login.
		l.log.Warn().AnErr("reason", tokenError(err)).Msg("the login is not renewed")
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("renewing the login to %q: %v", l.server.Name, tokenError(err)) // opaque, as in authorize
	}
	g := old
	if err := g.take(token); err != nil {
		return false, fmt.Errorf("renewing the login to %q: %w", l.server.Name, err)
	}
	l.accept(ctx, &g)
	return false, nil
}

// take puts a token into a grant. If the answer names no scopes or no refresh token, the grant keeps its own (RFC 6749,
// sections 5.1 and 6).
func (g *grant) take(token *oauth2.Token) error {
	switch {
	case strings.EqualFold(token.Type(), "Bearer"):
		g.Key = protocol.Secret{} // the authorization server did not bind the token
	case strings.EqualFold(token.Type(), "DPoP") && g.Key.Secret != "":
	default:
		return fmt.Errorf("the token is of the type %s, which Assent does not know", clip(token.TokenType, maxQuote))
	}
	scope, _ := token.Extra("scope").(string) // loosen has made a text of a list
	if len(token.AccessToken) > maxToken || len(token.RefreshToken) > maxToken || len(scope) > maxScope {
		return errors.New("the token is too large to be one")
	}
	g.Access.Secret, g.Expiry = token.AccessToken, token.Expiry
	if token.RefreshToken != "" {
		g.Refresh.Secret = token.RefreshToken
	}
	if scope != "" {
		g.Scopes = fields(scope)
	}
	return nil
}

func authStyle(method string) oauth2.AuthStyle {
	if method == "client_secret_basic" {
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams // only the id is sent if there is no secret
}

// clip shortens a text of another program for a message, and replaces control characters and bidirectional controls
// with spaces.
func clip(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, text)
}

var _ http.RoundTripper = (*transport)(nil)
