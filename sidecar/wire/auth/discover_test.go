package auth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"assent/sidecar/wire/auth"
)

// answers are what a server answers at each path, in place of its own answers. HERE is its own URL.
type answers map[string]struct {
	status       int
	kind, body   string
	authenticate string
}

// at makes a server give the answers to requests without a token.
func (a answers) at(s *httptest.Server) {
	own := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		answer, ok := a[r.URL.Path]
		if !ok || r.Header.Get("Authorization") != "" {
			own.ServeHTTP(rw, r)
			return
		}
		rw.Header().Set("Content-Type", answer.kind)
		if answer.authenticate != "" {
			rw.Header().Set("WWW-Authenticate", strings.ReplaceAll(answer.authenticate, "HERE", s.URL))
		}
		rw.WriteHeader(answer.status)
		fmt.Fprint(rw, strings.ReplaceAll(answer.body, "HERE", s.URL))
	})
}

// An address without usable metadata does not hide the next one.
func TestTheNextAddressOfMetadata(t *testing.T) {
	const (
		atPath, atRoot = "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"
		oauth, openID  = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
		text, html     = "text/plain", "text/html"
		asJSON         = "application/json"
	)
	challenged := func(authenticate string) answers {
		return answers{"/mcp": {status: http.StatusUnauthorized, authenticate: authenticate}}
	}
	tests := []struct {
		name string
		// metadataAt is where the server describes itself; see [world]. issuerAt is where the authorization server does.
		metadataAt, issuerAt string
		// server and issuer are their other answers.
		server, issuer answers
		want           string // what the error has; "" if the login succeeds
	}{
		{name: "an error at the path", metadataAt: "root", server: answers{atPath: {500, asJSON, `{}`, ""}}},
		{name: "too many requests at the path", metadataAt: "root", server: answers{atPath: {429, text, ``, ""}}},
		{name: "a text at the path", metadataAt: "root", server: answers{atPath: {200, text, `OK`, ""}}},
		{name: "nothing at the path", metadataAt: "root", server: answers{atPath: {200, asJSON, ``, ""}}},
		{name: "an error in JSON at the path", metadataAt: "root", server: answers{atPath: {200, asJSON, `{"error":"not found"}`, ""}}},
		{name: "an odd member at the path", metadataAt: "root", server: answers{atPath: {200, asJSON, `{"resource":5}`, ""}}},
		{name: "another resource at the path", metadataAt: "root", server: answers{atPath: {200, asJSON, `{"resource":"https://evil.example/mcp"}`, ""}}},
		{name: "a text everywhere, as before 2025-06-18", server: answers{atPath: {200, text, `OK`, ""}, atRoot: {200, asJSON, `"OK"`, ""}}},
		{name: "an error and nothing", server: answers{atPath: {500, asJSON, `{}`, ""}}, want: "oauth-protected-resource/mcp: status 500"},
		{name: "an error and another one", server: answers{atPath: {503, asJSON, `{}`, ""}, atRoot: {200, asJSON, `{"resource":"https://evil.example/mcp"}`, ""}}, want: "status 503"},

		{name: "a relative URL in the challenge", metadataAt: "header", server: challenged(`Bearer resource_metadata="/described-here"`)},
		{name: "a URL relative to the server's", metadataAt: "header", server: challenged(`Bearer resource_metadata="described-here"`)},
		{name: "single quotes in the challenge", metadataAt: "header", server: challenged(`bearer resource_metadata='HERE/described-here'`)},
		{name: "a broken URL in the challenge", metadataAt: "path", server: challenged(`Bearer resource_metadata="undefined/.well-known/oauth-protected-resource"`)},
		{name: "no URL in the challenge", metadataAt: "path", server: challenged(`Bearer resource_metadata="http://[%zz"`)},
		{name: "no URL in the challenge, as before 2025-06-18", server: challenged(`Bearer resource_metadata=":"`)},
		{name: "an unsafe URL in the challenge", metadataAt: "path", server: challenged(`Bearer resource_metadata="http://evil.example/metadata"`)},
		{name: "an unsafe URL alone", server: challenged(`Bearer resource_metadata="http://evil.example/metadata"`), want: "http://evil.example/metadata is neither https nor on this machine"},

		{name: "OpenID's after an error", metadataAt: "path", issuerAt: openID, issuer: answers{oauth: {500, asJSON, `{}`, ""}}},
		{name: "OpenID's after a page", metadataAt: "path", issuerAt: openID, issuer: answers{oauth: {200, html, `<html></html>`, ""}}},
		{name: "OpenID's after a text", metadataAt: "path", issuerAt: openID, issuer: answers{oauth: {200, text, `OK`, ""}}},
		{name: "OpenID's after another issuer's", metadataAt: "path", issuerAt: openID, issuer: answers{oauth: {200, asJSON, `{"issuer":"https://evil.example"}`, ""}}},
		{name: "an error of the authorization server and nothing", metadataAt: "path", issuerAt: "/none", issuer: answers{oauth: {500, asJSON, `{}`, ""}}, want: "status 500"},
		{name: "an error, and another issuer's", metadataAt: "path", issuerAt: "/none", issuer: answers{
			oauth:  {500, asJSON, `{}`, ""},
			openID: {200, asJSON, `{"issuer":"https://evil.example","authorization_endpoint":"HERE/authorize","token_endpoint":"HERE/token","registration_endpoint":"HERE/register","code_challenge_methods_supported":["S256"]}`, ""},
		}, want: "status 500"},
	}
	for _, test := range tests {
		for by, byItself := range map[string]bool{"by a person": false, "by itself": true} {
			t.Run(test.name+" "+by, func(t *testing.T) {
				w := newWorld(t)
				i := w.issuers[0]
				i.Clients["mine"] = "shh"
				w.MetadataAt, i.MetadataAt = test.metadataAt, or(test.issuerAt, i.MetadataAt)
				test.server.at(w.server)
				test.issuer.at(i.server)
				c := w.connect(w.authorizer(), func(s *auth.Server) {
					if s.ClientCredentials = byItself; byItself {
						s.ClientID, s.ClientSecret = "mine", secret("shh")
					}
				})
				got, err := w.post(c, "/mcp")
				if test.want == "" && (err != nil || got != "200 hello") || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
					t.Errorf("%q, %v; want the error %q\n%s", got, err, test.want, w.log)
				}
				if n := len(i.tokenRequests); test.want != "" && n != 0 {
					t.Errorf("%d token requests, want none", n)
				}
			})
		}
	}
}

// A server that names no authorization server is its own. An authorization server that cannot be used does not hide the
// next one.
func TestTheAuthorizationServersOfMetadata(t *testing.T) {
	dead := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer dead.Close()
	const unsafe = "http://evil.example"
	tests := []struct {
		name string
		// metadataAt is where another document of the server is; "" makes its origin an authorization server.
		metadataAt string
		// named is the member of the metadata. DEAD gives no answer, NONE has no metadata, and GOOD can be used.
		named  string
		issuer string // of the configuration
		want   string // what the error has; "" if the login succeeds
	}{
		{name: "no member"},
		{name: "null", named: `,"authorization_servers":null`},
		{name: "an empty list", named: `,"authorization_servers":[]`},
		{name: "no texts", named: `,"authorization_servers":[{"issuer":"GOOD"}]`},
		{name: "no member, and no metadata at the origin", metadataAt: "root", want: "the server's metadata names no authorization server, and its own origin cannot be used: the authorization server http://127.0.0.1"},

		{name: "one that gives no answer", metadataAt: "root", named: `,"authorization_servers":["DEAD","GOOD"]`},
		{name: "one without metadata", metadataAt: "root", named: `,"authorization_servers":["NONE","GOOD"]`},
		{name: "an unsafe one", metadataAt: "root", named: `,"authorization_servers":["` + unsafe + `","GOOD"]`},
		{name: "an empty one", metadataAt: "root", named: `,"authorization_servers":["","GOOD"]`},
		{name: "none that can be used", metadataAt: "root", named: `,"authorization_servers":["NONE","` + unsafe + `"]`, want: "has no metadata"},
		{name: "too many", metadataAt: "root", named: `,"authorization_servers":["DEAD","DEAD/2","DEAD/3","GOOD"]`, want: "DEAD/.well-known/oauth-authorization-server"},
		{name: "the one of the configuration", metadataAt: "root", named: `,"authorization_servers":["NONE","GOOD"]`, issuer: "NONE", want: "NONE has no metadata"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			i, none := w.issuers[0], w.issuer("none")
			none.MetadataAt = ""
			fill := strings.NewReplacer("DEAD", dead.URL, "NONE", none.url(), "GOOD", i.url()).Replace
			w.MetadataAt = test.metadataAt
			answers{
				"/mcp": {status: http.StatusUnauthorized, authenticate: "Bearer"},
				"/.well-known/oauth-protected-resource/mcp": {200, "application/json", `{"resource":"HERE/mcp"` + fill(test.named) + `}`, ""},
			}.at(w.server)
			c := w.connect(w.authorizer(), func(s *auth.Server) { s.Issuer = fill(test.issuer) })
			got, err := w.post(c, "/mcp")
			if test.want == "" && (err != nil || got != "200 hello") || test.want != "" && (err == nil || !strings.Contains(err.Error(), fill(test.want))) {
				t.Errorf("%q, %v; want the error %q\n%s", got, err, fill(test.want), w.log)
			}
			if n := len(i.logins) + len(none.logins); (n == 0) != (test.want != "") {
				t.Errorf("%d pages", n)
			}
		})
	}
}
