package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"assent/protocol"
)

const grantJWTBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

// Text is a secret of the configuration, or the path of a file that has it. The file is read at each use, because the
// tokens of workloads are renewed in place.
type Text struct {
	Value protocol.Secret
	File  string
}

// IdentityProvider is the server with which a person's organisation identifies them.
type IdentityProvider struct {
	Issuer string
	// ClientID and ClientSecret belong to Assent's client there. The secret may be empty.
	ClientID     string
	ClientSecret protocol.Secret
	// IDToken is an ID Token of OpenID Connect about the person, for that client.
	IDToken Text
}

func (t Text) set() bool { return t != Text{} }

// read returns the text without surrounding space.
func (t Text) read() (string, error) {
	if t.File == "" {
		return strings.TrimSpace(t.Value.Secret), nil
	}
	info, err := os.Stat(t.File)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", t.File)
	}
	if err != nil {
		return "", err
	}
	f, err := os.Open(t.File)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	switch {
	case err != nil:
		return "", err
	case len(data) > maxToken:
		return "", fmt.Errorf("%s has more than %d bytes", t.File, maxToken)
	}
	return strings.TrimSpace(string(data)), nil
}

// byItself reports whether Assent gets the server's tokens without a person. Assent does not store such tokens.
func (s *Server) byItself() bool {
	return s.ClientCredentials || s.Assertion.set() || s.IdentityProvider != nil
}

// getToken gets a token without a person, and makes it the present grant. The token is for Assent as a client (RFC
// 6749, section 4.4), for a workload, or for the person whom an identity provider knows (RFC 7523, section 2.1).
func (l *login) getToken(ctx context.Context, at *place, web *http.Client, c challenge) error {
	if err := l.checkIssuer(at.Issuer); err != nil {
		return err
	}
	by := l.configured(at)
	scopes := l.scopes(at, c)
	params, err := l.clientParams(by, at.Issuer)
	if err != nil {
		return err
	}
	params.Set("resource", at.resource)
	var assertion string
	switch {
	case l.server.Assertion.set():
		assertion, err = l.workload(at)
	case l.server.IdentityProvider != nil:
		assertion, err = l.identity(ctx, at, scopes)
	}
	if err != nil {
		return err
	}
	if assertion != "" {
		params.Set("grant_type", grantJWTBearer)
		params.Set("assertion", assertion)
	}
	tokens, key, err := proving(web, at.dpop)
	if err != nil {
		return err
	}
	config := clientcredentials.Config{
		ClientID: by.ID, ClientSecret: by.Secret.Secret, TokenURL: at.TokenEndpoint, Scopes: scopes,
		AuthStyle: authStyle(by.Method), EndpointParams: params,
	}
	token, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, tokens))
	if err != nil {
		return fmt.Errorf("%s gave no token: %w", at.Issuer, tokenError(err))
	}
	g := &grant{Issuer: at.Issuer, Resource: at.resource, TokenURL: at.TokenEndpoint, Client: by, Scopes: scopes, Key: key}
	if err := g.take(token); err != nil {
		return err
	}
	l.acceptAlone(ctx, g)
	l.log.Info().Str("issuer", at.Issuer).Strs("scopes", g.Scopes).Msg("logged in without a person")
	return nil
}

// configured returns the client of the configuration.
func (l *login) configured(at *place) client {
	by := client{ID: l.server.ClientID, Secret: l.server.ClientSecret, Method: "none"}
	switch {
	case by.Secret.Secret != "":
		by.Method = secretMethod(at)
	case l.server.PrivateKey.set():
		by.Method = methodPrivateKey
	}
	return by
}

// checkIssuer returns an error if the authorization server must not get the client's secret. In a login without a
// person, no one sees the page of the authorization server. So Assent sends a secret only to the configured
// authorization server, or to one on the host of the MCP server. A signed assertion needs no such check, because it
// names its recipient.
func (l *login) checkIssuer(issuer string) error {
	if l.server.Issuer != "" {
		if sameIssuer(l.server.Issuer, issuer) {
			return nil
		}
		return fmt.Errorf("the server now sends Assent to %s, and oauth.issuer in its configuration is %s", issuer, l.server.Issuer)
	}
	u, err := url.Parse(issuer)
	if err != nil {
		return err
	}
	if l.server.ClientSecret.Secret == "" || strings.EqualFold(u.Hostname(), l.server.URL.Hostname()) {
		return nil
	}
	return fmt.Errorf("the server sends Assent to %s, which is another host: if that may have the client's secret, set oauth.issuer in the server's configuration to it", issuer)
}

// workload returns the JWT about this workload. If the configuration names no issuer, the JWT must name this
// authorization server as its audience, because a recipient can use the JWT at any server in its audience.
func (l *login) workload(at *place) (string, error) {
	assertion, err := l.server.Assertion.read()
	if err != nil {
		return "", fmt.Errorf("oauth.assertion: %w", err)
	}
	claims, err := claimsOf(assertion)
	if err != nil {
		return "", fmt.Errorf("oauth.assertion %w", err)
	}
	forIt := slices.ContainsFunc(claims.Audience, func(a string) bool { return sameIssuer(a, at.Issuer) || a == at.TokenEndpoint })
	if l.server.Issuer == "" && !forIt {
		return "", fmt.Errorf("oauth.assertion is not for %s, to which the server sends Assent: if it may have the assertion, set oauth.issuer in the server's configuration to it", at.Issuer)
	}
	return assertion, nil
}

// claimsOf reads the claims of a JWT that another program made. It does not check the signature: the recipient of the
// JWT does.
func claimsOf(token string) (*jwt.RegisteredClaims, error) {
	var claims jwt.RegisteredClaims
	if _, _, err := jwt.NewParser().ParseUnverified(token, &claims); err != nil {
		return nil, errors.New("is not a JWT")
	}
	if end := claims.ExpiresAt; end != nil && end.Before(time.Now()) {
		return nil, fmt.Errorf("ended at %s", end.UTC().Format(time.RFC3339))
	}
	return &claims, nil
}

// identity exchanges the person's ID Token at the identity provider for an ID-JAG, which the server's authorization
// server accepts (enterprise-managed authorization, "Token Exchange"; RFC 8693).
func (l *login) identity(ctx context.Context, at *place, scopes []string) (string, error) {
	p := l.server.IdentityProvider
	idToken, err := p.IDToken.read()
	if err != nil {
		return "", fmt.Errorf("oauth.identityProvider.idToken: %w", err)
	}
	if _, err := claimsOf(idToken); err != nil {
		return "", fmt.Errorf("oauth.identityProvider.idToken %w", err)
	}
	// The configuration names the identity provider, so it may be on this network.
	web := newGuard(true, l.server.Proxy, l.a.opts.private)
	defer web.CloseIdleConnections()
	found, err := issuerMetadata(ctx, p.Issuer, web, readIssuer)
	if err != nil {
		return "", fmt.Errorf("the metadata of the identity provider: %w", err)
	}
	if found == nil {
		return "", fmt.Errorf("the identity provider %s has no metadata", p.Issuer)
	}
	credentials := &oauthex.ClientCredentials{ClientID: p.ClientID}
	if p.ClientSecret.Secret != "" {
		credentials.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: p.ClientSecret.Secret}
	}
	token, err := oauthex.ExchangeToken(ctx, found.TokenEndpoint, &oauthex.TokenExchangeRequest{
		RequestedTokenType: oauthex.TokenTypeIDJAG, Audience: at.Issuer, Resource: at.resource, Scope: scopes,
		SubjectToken: idToken, SubjectTokenType: oauthex.TokenTypeIDToken,
	}, credentials, web)
	if err != nil {
		return "", fmt.Errorf("the identity provider %s does not let you use the server: %w", p.Issuer, tokenError(err))
	}
	if kind, _ := token.Extra("issued_token_type").(string); kind != oauthex.TokenTypeIDJAG || len(token.AccessToken) > maxToken {
		return "", fmt.Errorf("the identity provider %s gave another token than an ID-JAG", p.Issuer)
	}
	return token.AccessToken, nil
}

// issuerReader reads the metadata of an issuer at one address. It returns nil if there is none.
type issuerReader func(ctx context.Context, address, issuer string, web *http.Client) (*oauthex.AuthServerMeta, error)

// issuerMetadata reads the metadata of an issuer (RFC 8414; OpenID Connect Discovery 1.0) from the first address that
// has it. It returns nil if there is none, or else the first error.
func issuerMetadata(ctx context.Context, issuer string, web *http.Client, read issuerReader) (*oauthex.AuthServerMeta, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil, err
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	paths := []string{"/.well-known/oauth-authorization-server" + path, "/.well-known/openid-configuration" + path}
	if path != "" {
		paths = append(paths, path+"/.well-known/openid-configuration")
	}
	query := (&url.URL{RawQuery: u.RawQuery}).String() // of some identity providers
	var first error
	for _, path := range paths {
		m, err := read(ctx, u.Scheme+"://"+u.Host+path+query, issuer, web)
		if m != nil && err == nil {
			return m, nil
		}
		first = cmp.Or(first, err)
	}
	return nil, first
}

// readIssuer is an [issuerReader]. Unlike go-sdk's, it does not require PKCE, which an issuer without login pages does
// not need.
func readIssuer(ctx context.Context, address, issuer string, web *http.Client) (*oauthex.AuthServerMeta, error) {
	var m oauthex.AuthServerMeta
	switch err := getJSON(ctx, web, address, &m); {
	case errors.Is(err, errNoMetadata):
		return nil, nil
	case err != nil:
		return nil, plainJSON(err)
	case !sameIssuer(m.Issuer, issuer):
		return nil, fmt.Errorf("it is of %q, not of %s", clip(m.Issuer, maxQuote), issuer)
	}
	end, err := url.Parse(m.TokenEndpoint)
	if err != nil {
		return nil, errors.New("its token endpoint cannot be read")
	}
	return &m, checkSecure(end)
}

// plainJSON replaces the error of a document that is not JSON, because that error would quote the document.
func plainJSON(err error) error {
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return errors.New("it is not JSON")
	}
	return err
}
