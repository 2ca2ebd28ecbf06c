package auth

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// place is the authorization server of an MCP server, with what a login there needs.
type place struct {
	*oauthex.AuthServerMeta
	// resource is the resource that the server's metadata names. Tokens are requested for it.
	resource string
	// dpop reports whether the server takes tokens that are bound to a key (RFC 9449).
	dpop bool
	// scopes are the scopes that the server's metadata proposes.
	scopes []string
}

// errNoMetadata means that there is no metadata document at an address.
var errNoMetadata = errors.New("no metadata")

// maxIssuers bounds how many authorization servers of a resource are tried.
const maxIssuers = 3

// discover finds the authorization server of a resource (2026-07-28, "Authorization Server Discovery"): the preferred
// one, or else the first that can be used. If there is none, it returns the first error.
func discover(ctx context.Context, client *http.Client, resource string, c challenge, preferred func(issuer string) bool, read issuerReader) (*place, error) {
	u, err := url.Parse(resource)
	if err != nil {
		return nil, err
	}
	switch named, err := u.Parse(c.metadataURL); {
	case err != nil:
		c.metadataURL = "" // it names no address
	case c.metadataURL != "":
		c.metadataURL = named.String()
	}
	metadata, err := resourceMetadata(ctx, client, resource, c)
	legacy := errors.Is(err, errNoMetadata) && c.metadataURL == ""
	if legacy {
		metadata = &oauthex.ProtectedResourceMetadata{Resource: resource}
	} else if err != nil {
		return nil, err
	}
	issuers := metadata.AuthorizationServers
	if len(issuers) == 0 { // before 2025-06-18 the server was its own authorization server
		issuers = []string{(&url.URL{Scheme: u.Scheme, Host: u.Host}).String()}
	}
	if i := slices.IndexFunc(issuers, preferred); i >= 0 {
		issuers = issuers[i : i+1]
	}
	var first error
	for _, issuer := range issuers[:min(len(issuers), maxIssuers)] {
		found, err := authorizationServer(ctx, client, issuer, legacy, read)
		if err == nil {
			return &place{
				AuthServerMeta: found, resource: metadata.Resource, scopes: metadata.ScopesSupported,
				dpop: c.dpop || metadata.DPOPBoundAccessTokensRequired,
			}, nil
		}
		first = cmp.Or(first, err)
	}
	if !legacy && len(metadata.AuthorizationServers) == 0 {
		return nil, fmt.Errorf("the server's metadata names no authorization server, and its own origin cannot be used: %w", first)
	}
	return nil, first
}

// authorizationServer returns the metadata of an authorization server. If legacy is true, a server without metadata has
// the usual endpoints.
func authorizationServer(ctx context.Context, client *http.Client, issuer string, legacy bool, read issuerReader) (*oauthex.AuthServerMeta, error) {
	if u, err := url.Parse(issuer); err != nil {
		return nil, fmt.Errorf("the authorization server cannot be read: %w", err)
	} else if err := checkSecure(u); err != nil {
		return nil, fmt.Errorf("the authorization server %w", err)
	}
	found, err := issuerMetadata(ctx, issuer, client, read)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the metadata of the authorization server: %w", err)
	case found == nil && !legacy:
		return nil, fmt.Errorf("the authorization server %s has no metadata", issuer)
	case found == nil: // 2025-03-26, "Fallbacks for Servers without Metadata Discovery"
		found = &oauthex.AuthServerMeta{
			Issuer:                        issuer,
			AuthorizationEndpoint:         issuer + "/authorize",
			TokenEndpoint:                 issuer + "/token",
			RegistrationEndpoint:          issuer + "/register",
			CodeChallengeMethodsSupported: []string{"S256"},
		}
	}
	return found, nil
}

// checkPage returns an error if the place lacks something that a login in the browser needs.
func (at *place) checkPage() error {
	switch {
	case at.AuthorizationEndpoint == "" || at.TokenEndpoint == "":
		return fmt.Errorf("the metadata of %s names no endpoints", at.Issuer)
	case !slices.Contains(at.CodeChallengeMethodsSupported, "S256"):
		return fmt.Errorf("the authorization server %s does not support PKCE with S256", at.Issuer)
	}
	return nil
}

// resourceMetadata reads a server's metadata (RFC 9728) from the address in its challenge, or else from the well-known
// addresses. If no address has metadata that can be used, it returns the first error.
func resourceMetadata(ctx context.Context, client *http.Client, resource string, c challenge) (*oauthex.ProtectedResourceMetadata, error) {
	u, err := url.Parse(resource)
	if err != nil {
		return nil, err
	}
	if err := checkSecure(u); err != nil {
		return nil, fmt.Errorf("%w: a login is only as safe as the way to the server", err)
	}
	const wellKnown = "/.well-known/oauth-protected-resource"
	var addresses []string
	if c.metadataURL != "" {
		addresses = append(addresses, c.metadataURL)
	}
	if path := strings.TrimRight(u.EscapedPath(), "/"); path != "" {
		addresses = append(addresses, u.Scheme+"://"+u.Host+wellKnown+path)
	}
	addresses = append(addresses, u.Scheme+"://"+u.Host+wellKnown)
	addresses = distinct(addresses)
	var first error
	for _, address := range addresses {
		var metadata oauthex.ProtectedResourceMetadata
		err := getJSON(ctx, client, address, &metadata)
		switch {
		case errors.Is(err, errNoMetadata):
			continue
		case err != nil:
			err = fmt.Errorf("the server's metadata at %s: %w", address, err)
		case !covers(metadata.Resource, resource):
			err = fmt.Errorf("the metadata at %s is of %q, not of %s", address, metadata.Resource, resource)
		default:
			return &metadata, nil
		}
		first = cmp.Or(first, err)
	}
	return nil, cmp.Or(first, fmt.Errorf("%w of the server at %s", errNoMetadata, strings.Join(addresses, " or ")))
}

// distinct returns the addresses without those that were there before.
func distinct(addresses []string) []string {
	var all []string
	for _, address := range addresses {
		if !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	return all
}

// covers reports whether a server's metadata may claim a resource: the server's own URL or, as many servers do, a
// parent path on the same host.
func covers(claimed, resource string) bool {
	a, err := url.Parse(claimed)
	if err != nil {
		return false
	}
	b, err := url.Parse(resource)
	if err != nil {
		return false
	}
	if claimed == resource {
		return true
	}
	under := strings.TrimRight(a.EscapedPath(), "/") + "/"
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Host, b.Host) &&
		a.RawQuery == "" && a.Fragment == "" && a.User == nil &&
		strings.HasPrefix(strings.TrimRight(b.EscapedPath(), "/")+"/", under)
}

// getJSON reads a metadata document.
func getJSON(ctx context.Context, client *http.Client, address string, v any) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	if err := checkSecure(u); err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer discard(response)
	switch {
	case response.StatusCode == http.StatusRequestTimeout, response.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("status %d", response.StatusCode) // the document may be there
	case response.StatusCode >= 400 && response.StatusCode < 500:
		return errNoMetadata
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("status %d", response.StatusCode)
	}
	body, err := io.ReadAll(response.Body) // which the client bounds
	switch {
	case err != nil:
		return err
	case !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")):
		return errNoMetadata // some servers answer every path with their home page or with "OK"
	}
	return json.NewDecoder(bytes.NewReader(body)).Decode(v)
}
