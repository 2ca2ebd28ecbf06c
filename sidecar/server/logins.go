package server

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"path/filepath"

	"assent/protocol"
	"assent/sidecar/auth"
	"assent/sidecar/config"
)

// logins returns what logging in to servers needs, as far as the front end has it.
func (s *Server) logins(can protocol.FrontEndCapabilities) auth.Options {
	opts := auth.Options{
		Client: protocol.Implementation{Name: "assent", Version: s.opts.Version},
		Log:    s.opts.Log,
	}
	if can.Secrets {
		opts.Secrets = secrets{s.editor}
		opts.Folder = cmp.Or(s.opts.LoginsDir, filepath.Join(s.opts.DataDir, "logins"))
	}
	if can.OpenURL {
		opts.OpenURL = func(ctx context.Context, url, reason string) (bool, error) {
			result, err := s.editor.OpenURL(ctx, &protocol.OpenURLParams{URL: url, Reason: reason})
			if err != nil {
				return false, err
			}
			return result.Opened, nil
		}
	}
	return opts
}

// authorize is [hub.Options.Authorize].
func (s *Server) authorize(server config.Server, at *url.URL, login config.OAuth, way http.RoundTripper) http.RoundTripper {
	return s.auth.Transport(auth.Server{
		Name:              server.Name,
		URL:               at,
		ClientID:          login.ClientID,
		ClientSecret:      protocol.Secret{Secret: login.ClientSecret},
		Issuer:            login.Issuer,
		Scopes:            login.Scopes,
		CallbackPort:      login.CallbackPort,
		ClientMetadataURL: login.ClientMetadataURL,
	}, way)
}

// secrets are the front end's.
type secrets struct{ editor protocol.Editor }

// Get implements [auth.Secrets].
func (s secrets) Get(ctx context.Context, key string) (*protocol.Secret, error) {
	result, err := s.editor.GetSecret(ctx, &protocol.GetSecretParams{Key: key})
	if err != nil {
		return nil, err
	}
	return result.Value, nil
}

// Set implements [auth.Secrets].
func (s secrets) Set(ctx context.Context, key string, value *protocol.Secret) error {
	_, err := s.editor.SetSecret(ctx, &protocol.SetSecretParams{Key: key, Value: value})
	return err
}
