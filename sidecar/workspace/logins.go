package workspace

import (
	"net/http"
	"net/url"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/wire/auth"
)

// authorize is [hub.Options.Authorize].
func (w *Workspace) authorize(server config.Server, at *url.URL, login config.OAuth, way http.RoundTripper) http.RoundTripper {
	text := func(value, file string) auth.Text {
		return auth.Text{Value: protocol.Secret{Secret: value}, File: file}
	}
	var provider *auth.IdentityProvider
	if p := login.IdentityProvider; p.Issuer != "" {
		provider = &auth.IdentityProvider{
			Issuer: p.Issuer, ClientID: p.ClientID, ClientSecret: protocol.Secret{Secret: p.ClientSecret},
			IDToken: text(p.IDToken, p.IDTokenFile),
		}
	}
	return w.logins.auth.Transport(auth.Server{
		Name:              server.Name,
		URL:               at,
		ClientID:          login.ClientID,
		ClientSecret:      protocol.Secret{Secret: login.ClientSecret},
		Issuer:            login.Issuer,
		Scopes:            login.Scopes,
		CallbackPort:      login.CallbackPort,
		ClientMetadataURL: login.ClientMetadataURL,
		PrivateKey:        text(login.PrivateKey, login.PrivateKeyFile),
		KeyID:             login.KeyID,
		ClientCredentials: login.GrantType == config.GrantClientCredentials,
		Assertion:         text(login.Assertion, login.AssertionFile),
		IdentityProvider:  provider,
		Proxy:             config.Proxy(w.opts.Environ),
	}, way)
}
