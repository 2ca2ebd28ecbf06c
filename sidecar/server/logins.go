package server

import (
	"net/http"
	"net/url"

	"assent/protocol"
	"assent/sidecar/auth"
	"assent/sidecar/config"
)

// authorize is [hub.Options.Authorize].
func (w *Workspace) authorize(server config.Server, at *url.URL, login config.OAuth, way http.RoundTripper) http.RoundTripper {
	return w.keeper.auth.Transport(auth.Server{
		Name:              server.Name,
		URL:               at,
		ClientID:          login.ClientID,
		ClientSecret:      protocol.Secret{Secret: login.ClientSecret},
		Issuer:            login.Issuer,
		Scopes:            login.Scopes,
		CallbackPort:      login.CallbackPort,
		ClientMetadataURL: login.ClientMetadataURL,
		Proxy:             config.Proxy(w.opts.Environ),
	}, way)
}
