package auth

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// identity is Assent's client in one login, and the callback that waits for the answer.
type identity struct {
	client
	callback *callback
	// registered reports whether the client registered itself. Its registration is stored only if the login succeeds,
	// because the registration may be the cause of a failure.
	registered bool
}

// identify returns Assent's client for a login (2026-07-28, "Client Registration"): the configured client, a metadata
// document, or a registration. The caller closes the callback.
func (l *login) identify(ctx context.Context, at *place, web *http.Client) (*identity, error) {
	s := l.server
	byDocument := s.ClientID == "" && s.ClientMetadataURL != "" && at.ClientIDMetadataDocumentSupported
	if s.ClientID == "" && !byDocument {
		return l.register(ctx, at, web)
	}
	id := &identity{client: client{Method: "none"}}
	switch {
	case byDocument:
		id.ID = s.ClientMetadataURL
		if u, err := url.Parse(id.ID); err != nil || u.Scheme != "https" || u.Path == "" || u.Path == "/" {
			return nil, fmt.Errorf("the clientMetadataUrl %q must be an https URL with a path", id.ID)
		}
	default:
		if err := l.checkBond(at.Issuer); err != nil {
			return nil, err
		}
		id.client = l.configured(at)
	}
	var err error
	id.callback, err = listen(ctx, s.CallbackPort, l.log)
	return id, err
}

// checkBond returns an error if the configured client belongs to another authorization server.
func (l *login) checkBond(issuer string) error {
	l.mu.Lock()
	b := l.bond
	l.mu.Unlock()
	if l.server.Issuer != "" && !sameIssuer(l.server.Issuer, issuer) {
		return fmt.Errorf("the server now sends you to %s, and the client %q is of %s: see oauth.issuer in its configuration", issuer, l.server.ClientID, l.server.Issuer)
	}
	if l.server.Issuer == "" && b.Issuer != "" && !sameIssuer(b.Issuer, issuer) {
		return fmt.Errorf("the server now sends you to %s, and the client %q was used with %s: if that is as it should be, set oauth.issuer in its configuration to the new one", issuer, l.server.ClientID, b.Issuer)
	}
	return nil
}

// sameIssuer reports whether two issuers are the same, except for a trailing slash, which people leave out.
func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// secretMethod returns how the client sends its secret (RFC 8414, section 2: basic, unless the metadata says
// otherwise).
func secretMethod(at *place) string {
	methods := at.TokenEndpointAuthMethodsSupported
	if !slices.Contains(methods, "client_secret_basic") && slices.Contains(methods, "client_secret_post") {
		return "client_secret_post"
	}
	return "client_secret_basic"
}

// register uses the registration of the last login at this authorization server, or registers a new client (RFC 7591).
func (l *login) register(ctx context.Context, at *place, web *http.Client) (*identity, error) {
	var kept client
	found := false
	if l.server.CallbackPort == 0 {
		found, _ = l.read(ctx, clientKey(at.Issuer), &kept) // a registration that cannot be read is replaced
	}
	if found && (kept.Expiry.IsZero() || time.Now().Before(kept.Expiry)) {
		// Some authorization servers allow only the registered port.
		if port := portOf(kept.RedirectURI); port != 0 {
			if c, err := listen(ctx, port, l.log); err == nil {
				return &identity{client: kept, callback: c, registered: true}, nil
			}
		}
	}
	if at.RegistrationEndpoint == "" {
		return nil, fmt.Errorf("%s lets no client register itself: register Assent there, and put the id into oauth.clientId of the server's configuration", at.Issuer)
	}
	c, err := listen(ctx, l.server.CallbackPort, l.log)
	if err != nil {
		return nil, err
	}
	method := "none"
	if methods := at.TokenEndpointAuthMethodsSupported; len(methods) > 0 && !slices.Contains(methods, method) {
		method = secretMethod(at)
	}
	heard := &listener{base: web.Transport}
	listening := *web
	listening.Transport = heard
	given, err := oauthex.RegisterClient(ctx, at.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		ClientName:              "Assent",
		SoftwareVersion:         l.a.opts.Client.Version,
		ApplicationType:         "native",
		RedirectURIs:            []string{c.redirectURI},
		GrantTypes:              []string{"authorization_code", "refresh_token"},
		ResponseTypes:           []string{"code"},
		TokenEndpointAuthMethod: method,
	}, &listening)
	if err != nil {
		c.close()
		return nil, fmt.Errorf("registering at %s: %w", at.Issuer, registrationError(err, heard))
	}
	id := &identity{callback: c, registered: true}
	id.client = client{
		ID: given.ClientID, Method: given.TokenEndpointAuthMethod, RedirectURI: c.redirectURI,
		Expiry: given.ClientSecretExpiresAt,
	}
	id.Secret.Secret = given.ClientSecret
	switch {
	case id.Secret.Secret == "":
		id.Method = "none"
	case id.Method == "":
		id.Method = "client_secret_basic"
	}
	return id, nil
}

func portOf(redirectURI string) int {
	u, err := url.Parse(redirectURI)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return 0
	}
	return port
}
