// Package authtest provides, for tests, a server that requires a login with rotating refresh tokens, and the secret
// storage that the windows of a person share. Both may be used from any goroutine. Neither uses the code under test.
package authtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Server is an MCP server of 2025-11-25 over HTTP, and its authorization server. A refresh token is valid for one use.
// A second use ends the login for good (RFC 9700, section 4.14.2), and fails the test.
type Server struct {
	// Renewing is called before a refresh token is used, if it is not nil.
	Renewing func()

	t    *testing.T
	http *httptest.Server

	mu      sync.Mutex // guards the fields below, and is held while Renewing runs
	renewed int
	access  string // the token that the server accepts
	refresh string // the token that the token endpoint accepts
}

// NewServer returns a server that listens until the test ends.
func NewServer(t *testing.T) *Server {
	s := &Server{t: t, access: "access-0", refresh: "refresh-0"}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /mcp", s.serve)
	mux.HandleFunc("POST /token", s.token)
	s.http = httptest.NewServer(mux)
	t.Cleanup(s.http.Close)
	return s
}

// URL is the endpoint of the MCP server.
func (s *Server) URL() string { return s.http.URL + "/mcp" }

// Expire makes the access token invalid.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.access = "expired"
}

// Renewals returns how often a refresh token was accepted.
func (s *Server) Renewals() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renewed
}

// serve is the MCP server.
func (s *Server) serve(w http.ResponseWriter, request *http.Request) {
	s.mu.Lock()
	allowed := request.Header.Get("Authorization") == "Bearer "+s.access
	s.mu.Unlock()
	if !allowed {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.NewDecoder(request.Body).Decode(&m); err != nil {
		s.t.Error(err)
	}
	w.Header().Set("Content-Type", "application/json")
	results := map[string]string{
		"initialize":     `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"rotating","version":"1"}}`,
		"tools/list":     `{"tools":[{"name":"look","inputSchema":{"type":"object"}}]}`,
		"resources/list": `{"resources":[]}`,
		"ping":           `{}`,
	}
	switch result := results[m.Method]; {
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case result != "":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	default:
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
	}
}

// token is the token endpoint.
func (s *Server) token(w http.ResponseWriter, request *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Renewing != nil {
		s.Renewing()
	}
	w.Header().Set("Content-Type", "application/json")
	if got := request.FormValue("refresh_token"); got != s.refresh {
		s.t.Errorf("the refresh token %q was used, and the newest is %q", got, s.refresh)
		s.access, s.refresh = "ended", "ended"
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"invalid_grant"}`)
		return
	}
	s.renewed++
	s.access, s.refresh = fmt.Sprintf("access-%d", s.renewed), fmt.Sprintf("refresh-%d", s.renewed)
	fmt.Fprintf(w, `{"access_token":%q,"refresh_token":%q,"token_type":"Bearer"}`, s.access, s.refresh)
}

// Storage is a secret storage that all windows of a person share, like that of VS Code. If the person is asked to log
// in, the test fails.
type Storage struct {
	t *testing.T

	mu     sync.Mutex // guards values
	values map[string]json.RawMessage
}

// NewStorage returns a storage with a login to a server.
func NewStorage(t *testing.T, server *Server) *Storage {
	t.Helper()
	s := &Storage{t: t, values: map[string]json.RawMessage{}}
	issuer, at := server.http.URL, server.URL()
	secret := func(value string) map[string]string { return map[string]string{"secret": value} }
	for key, value := range map[string]any{
		"oauth/server/" + at + "#": map[string]any{"issuer": issuer, "clientId": "c"},
		"oauth/token/" + issuer + "#c#" + at: map[string]any{
			"issuer": issuer, "resource": at, "tokenUrl": issuer + "/token",
			"client": map[string]any{"id": "c", "secret": secret(""), "method": "none"}, "access": secret("access-0"), "refresh": secret("refresh-0"),
		},
	} {
		text, err := json.Marshal(value)
		if err == nil {
			s.values[key], err = json.Marshal(secret(string(text)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Serve answers a request of a sidecar as a window does.
func (s *Storage) Serve(_ context.Context, method string, params json.RawMessage) (any, error) {
	var p struct {
		Key   string
		Value json.RawMessage
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch method {
	case "secret/get":
		return map[string]any{"value": s.values[p.Key]}, nil
	case "secret/set":
		s.values[p.Key] = p.Value
	case "window/openUrl":
		s.t.Errorf("the person is asked to log in: %s", params)
		return map[string]any{"opened": false}, nil
	}
	return struct{}{}, nil
}

// Has reports whether the storage holds the refresh token of a renewal.
func (s *Storage) Has(renewal int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, value := range s.values {
		if strings.HasPrefix(key, "oauth/token/") {
			return strings.Contains(string(value), fmt.Sprintf(`"refresh-%d\"`, renewal))
		}
	}
	return false
}
