package auth_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/wire/auth"
)

// Members in other types than the standards' do not refuse a login.
func TestALoginWithOddMembers(t *testing.T) {
	tests := []struct {
		name                        string
		metadata, registered, token map[string]any
	}{
		{name: "texts for numbers", registered: map[string]any{"client_id_issued_at": "1700000000", "client_secret_expires_at": "0"}, token: map[string]any{"expires_in": "3600"}},
		{name: "fractions", registered: map[string]any{"client_id_issued_at": 1700000000.25, "client_secret_expires_at": 0.0}, token: map[string]any{"expires_in": 3600.5}},
		{name: "lists for texts", registered: map[string]any{"scope": []string{"read"}, "contacts": "me"}, token: map[string]any{"scope": []string{"files:list", "files:read"}}},
		{name: "texts for lists", metadata: map[string]any{"scopes_supported": "files:list files:read", "response_types_supported": "code", "code_challenge_methods_supported": "S256"}, registered: map[string]any{"redirect_uris": "x", "grant_types": "authorization_code"}},
		{name: "null", metadata: map[string]any{"scopes_supported": []any{nil}, "jwks_uri": "null"}, registered: map[string]any{"client_secret": nil, "client_id_issued_at": nil, "redirect_uris": nil}, token: map[string]any{"expires_in": nil, "scope": nil}},
		{name: "words that mean nothing", registered: map[string]any{"client_id_issued_at": "yesterday", "client_secret_expires_at": "never"}, token: map[string]any{"expires_in": "soon", "scope": map[string]any{}}},
		{name: "objects", registered: map[string]any{"redirect_uris": map[string]any{}, "client_name": []any{}, "software_id": 5}, token: map[string]any{"expires_in": []any{}, "id_token": 5}},
		{name: "numbers and objects for people", metadata: map[string]any{"service_documentation": 5, "op_policy_uri": map[string]any{}, "op_tos_uri": []any{}}},
		{name: "flags as texts", metadata: map[string]any{"authorization_response_iss_parameter_supported": "false", "client_id_metadata_document_supported": "true"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.with(func() {
				i := w.issuers[0]
				maps.Copy(i.More, tt.metadata)
				i.Registered, i.Token = tt.registered, tt.token
			})
			a := w.authorizer()
			defer a.Close()
			w.mustPost(w.connect(a), "/mcp")
		})
	}
}

// A server without OAuth says in its refusal what to do.
func TestTheWordsOfAServerWithoutALogin(t *testing.T) {
	const hidden = "\u202e"
	tests := []struct{ name, kind, body, want string }{
		{"a text", "text/plain", "Missing API key.\nSend it as X-API-Key.", "Missing API key. Send it as X-API-Key."},
		{"a message", "application/json", `{"message":"Missing API key"}`, "Missing API key"},
		{"an error", "application/json", `{"error":"Missing API key","code":5}`, "Missing API key"},
		{"an error within", "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Missing API key"}}`, "Missing API key"},
		{"a description", "application/json", `{"error":"invalid_request","error_description":"Missing API key"}`, "Missing API key"},
		{"a list", "application/json", `{"errors":[{"detail":"Missing API key"}]}`, "Missing API key"},
		{"a list alone", "application/json", `[{"message":"Missing API key"}]`, "Missing API key"},
		{"details", "application/json", `{"detail":[{"loc":["header","x-api-key"],"msg":"Missing API key"}]}`, "Missing API key"},
		{"other JSON", "application/json", `{"hint":"Missing API key"}`, `{"hint":"Missing API key"}`},
		{"a text in quotes", "application/json", `"Missing API key"`, "Missing API key"},
		{"a page", "text/html", "<html><head><title>x</title></head><script>var a = 1</script><body><h1>401</h1><p>Missing\n API key</p></body>", "401 Missing API key"},
		{"hidden characters", "text/plain", "Missing " + hidden + "API key\x1b[31m", "Missing  API key [31m"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/mcp" {
					http.NotFound(rw, r)
					return
				}
				rw.Header().Set("Content-Type", tt.kind)
				rw.WriteHeader(http.StatusUnauthorized)
				fmt.Fprint(rw, tt.body)
			}))
			defer server.Close()
			if _, err := loginAt(t, server.URL+"/mcp"); err == nil || !strings.Contains(err.Error(), "it answered with HTTP 401 Unauthorized: "+tt.want+" (") {
				t.Errorf("the login failed with %v, want %s", err, tt.want)
			}
		})
	}
	for _, tt := range []struct{ name, challenge, want string }{
		{"a description in the challenge", `Bearer error="invalid_token", error_description="Missing API key"`, "it answered with HTTP 401 Unauthorized: Missing API key ("},
		{"another scheme", `Basic realm="files"`, "it answered with HTTP 401 Unauthorized"},
		{"nothing at all", "", "it answered with HTTP 401 Unauthorized"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/mcp" {
					http.NotFound(rw, r)
					return
				}
				if tt.challenge != "" {
					rw.Header().Set("WWW-Authenticate", tt.challenge)
				}
				rw.WriteHeader(http.StatusUnauthorized)
			}))
			defer server.Close()
			if _, err := loginAt(t, server.URL+"/mcp"); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the login failed with %v, want %s", err, tt.want)
			}
		})
	}
	t.Run("a long text", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			http.Error(rw, strings.Repeat("key ", 10_000), http.StatusUnauthorized)
		}))
		defer server.Close()
		if _, err := loginAt(t, server.URL+"/mcp"); err == nil || len(err.Error()) > 1500 || !strings.Contains(err.Error(), "key key") {
			t.Errorf("the login failed with %v", err)
		}
	})
}

// A message names each address once, and no type of Go.
func TestWhyALoginCannotBegin(t *testing.T) {
	var base string
	metadata := ""
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/mcp":
			rw.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata=%q`, base+"/.well-known/oauth-protected-resource/mcp"))
			rw.WriteHeader(http.StatusUnauthorized)
		case metadata != "":
			fmt.Fprint(rw, metadata)
		default:
			http.NotFound(rw, r)
		}
	}))
	defer server.Close()
	base = server.URL
	_, err := loginAt(t, base+"/mcp")
	if err == nil || strings.Count(err.Error(), "/.well-known/oauth-protected-resource/mcp") != 1 {
		t.Errorf("the login failed with %v", err)
	}
	for _, metadata = range []string{`{"resource":5}`, `"x"`, `[]`, `{"resource":"` + base + `/mcp","authorization_servers":["` + base + `"],"resource_name":{}}`} {
		if _, err := loginAt(t, base+"/mcp"); err == nil || strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "Metadata.") {
			t.Errorf("%s: the login failed with %v", metadata, err)
		}
	}
}

func loginAt(t *testing.T, address string) (*http.Response, error) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	a := auth.New(auth.Options{
		Secrets: &secrets{}, Client: protocol.Implementation{Name: "assent", Version: "1"},
		OpenURL: func(context.Context, string, string) (bool, error) { return false, nil },
	})
	defer a.Close()
	c := &http.Client{Transport: a.Transport(auth.Server{Name: "files", URL: u}, http.DefaultTransport)}
	return c.Post(address, "text/plain", strings.NewReader("hello"))
}
