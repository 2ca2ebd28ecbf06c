package auth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/wire/auth"
)

func secret(text string) protocol.Secret { return protocol.Secret{Secret: text} }

// pemOf returns a key as its owner has it in a file.
func pemOf(t *testing.T, key any) string {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// jwtFor returns a JWT of another program.
func jwtFor(t *testing.T, audience string, end time.Time) string {
	claims := jwt.RegisteredClaims{Audience: jwt.ClaimStrings{audience}, Subject: "me", ExpiresAt: jwt.NewNumericDate(end)}
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte("the other program's"))
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func soon() time.Time { return time.Now().Add(time.Hour) }

// nobody fails the test if a page is opened.
func nobody(w *world) {
	w.Open = func(url string) (bool, error) {
		w.t.Errorf("opened %s", url)
		return false, nil
	}
}

func TestClientCredentials(t *testing.T) {
	w := newWorld(t)
	nobody(w)
	i := w.issuers[0]
	i.Clients["mine"] = "sécret"
	i.More["code_challenge_methods_supported"], i.More["authorization_endpoint"] = nil, nil // which have no use here
	i.More["scopes_supported"] = []string{"offline_access"}
	w.Needed["/write"] = "files:write"
	c := w.connect(w.authorizer(), func(s *auth.Server) {
		s.ClientID, s.ClientSecret, s.ClientCredentials = "mine", secret("sécret"), true
	})
	w.mustPost(c, "/mcp")
	w.mustPost(c, "/mcp")
	w.mustPost(c, "/write") // which needs more scopes
	w.with(i.endTokens)
	w.mustPost(c, "/mcp") // with the refresh token, if there is one
	w.with(func() { i.endTokens(); clear(i.refreshTokens) })
	w.mustPost(c, "/mcp")
	var got []string
	for n, form := range i.tokenRequests {
		got = append(got, form.Get("grant_type")+" "+i.tokenAuths[n]+" "+form.Get("scope")+" "+form.Get("resource"))
	}
	want := []string{
		"client_credentials client_secret_basic files:list " + w.url(),
		"client_credentials client_secret_basic files:list files:write " + w.url(),
		"refresh_token client_secret_basic  " + w.url(),
		"refresh_token client_secret_basic  " + w.url(),
		"client_credentials client_secret_basic files:list files:write " + w.url(),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if kept := w.secrets.keys(); len(kept) != 0 {
		t.Errorf("kept %q, which Assent can get again", kept)
	}
	assertNoSecrets(t, w.log.String())
}

func TestPrivateKey(t *testing.T) {
	ec := func(curve elliptic.Curve) crypto.Signer {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p256 := ec(elliptic.P256())
	sec1, err := x509.MarshalECPrivateKey(p256.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, []byte(pemOf(t, p256)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		key  crypto.Signer
		text auth.Text
		alg  string
	}{
		"P-256":                    {p256, auth.Text{Value: secret(pemOf(t, p256))}, "ES256"},
		"a file":                   {p256, auth.Text{File: file}, "ES256"},
		"lines joined by an input": {p256, auth.Text{Value: secret(strings.ReplaceAll(pemOf(t, p256), "\n", " "))}, "ES256"},
		"lines as in a .env file":  {p256, auth.Text{Value: secret(strings.ReplaceAll(pemOf(t, p256), "\n", `\n`))}, "ES256"},
		"SEC 1":                    {p256, auth.Text{Value: secret(string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1})))}, "ES256"},
		"RSA":                      {rsaKey, auth.Text{Value: secret(pemOf(t, rsaKey))}, "RS256"},
		"Ed25519":                  {ed, auth.Text{Value: secret(pemOf(t, ed))}, "EdDSA"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			nobody(w)
			i := w.issuers[0]
			i.Clients["mine"] = ""
			var seen []string
			i.Checks = func(_ http.ResponseWriter, r *http.Request) bool {
				var claims jwt.RegisteredClaims
				parsed, err := jwt.ParseWithClaims(r.PostForm.Get("client_assertion"), &claims, func(*jwt.Token) (any, error) { return test.key.Public(), nil },
					jwt.WithAudience(i.url()), jwt.WithIssuer("mine"), jwt.WithSubject("mine"), jwt.WithExpirationRequired(), jwt.WithIssuedAt())
				if err != nil {
					t.Error(err)
					return false
				}
				seen = append(seen, claims.ID)
				if got := parsed.Header["alg"]; got != test.alg || parsed.Header["kid"] != "k1" {
					t.Errorf("the header is %v, want %s and k1", parsed.Header, test.alg)
				}
				return false
			}
			c := w.connect(w.authorizer(), func(s *auth.Server) {
				s.ClientID, s.PrivateKey, s.KeyID, s.ClientCredentials = "mine", test.text, "k1", true
			})
			w.mustPost(c, "/mcp")
			w.with(i.endTokens)
			w.mustPost(c, "/mcp") // and renewing needs a new assertion
			if len(seen) != 2 || seen[0] == seen[1] {
				t.Errorf("the assertions are %q, want two", seen)
			}
			if got := i.tokenRequests[0].Get("client_assertion_type"); got != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" {
				t.Errorf("client_assertion_type is %q", got)
			}
			assertNoSecrets(t, w.log.String())
		})
	}
}

func TestPrivateKeyOfAPersonsClient(t *testing.T) {
	w := newWorld(t)
	i := w.issuers[0]
	i.Clients["mine"] = ""
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := w.connect(w.authorizer(), func(s *auth.Server) {
		s.ClientID, s.PrivateKey = "mine", auth.Text{Value: secret(pemOf(t, key))}
	})
	w.mustPost(c, "/mcp")
	if len(i.logins) != 1 || i.tokenRequests[0].Get("client_assertion") == "" {
		t.Errorf("%d pages; %v", len(i.logins), i.tokenRequests)
	}
}

func TestWorkload(t *testing.T) {
	w := newWorld(t)
	nobody(w)
	i := w.issuers[0]
	i.Clients[""] = ""
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, second := jwtFor(t, i.url()+"/", soon()), jwtFor(t, i.server.URL+"/token", soon())
	write(first)
	c := w.connect(w.authorizer(), func(s *auth.Server) { s.Assertion = auth.Text{File: file} })
	w.mustPost(c, "/mcp")
	write(second) // as the system renews it
	w.with(func() { i.endTokens(); clear(i.refreshTokens) })
	w.mustPost(c, "/mcp")
	var got []string
	for _, form := range i.tokenRequests {
		got = append(got, form.Get("grant_type")+" "+form.Get("assertion"))
	}
	const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer "
	want := []string{grant + first, "refresh_token ", grant + second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestIdentityProvider(t *testing.T) {
	w := newWorld(t)
	nobody(w)
	i, idp := w.issuers[0], w.issuer("idp")
	idp.MetadataAt = "/.well-known/openid-configuration"
	idp.More["code_challenge_methods_supported"] = nil
	i.Clients["mine"] = "shh"
	w.Challenged = "files:read"
	idToken := jwtFor(t, "assent-at-idp", soon())
	idp.Checks = func(rw http.ResponseWriter, _ *http.Request) bool {
		writeJSON(rw, http.StatusOK, map[string]any{
			"access_token": "the-id-jag", "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag", "token_type": "N_A",
		})
		return true
	}
	c := w.connect(w.authorizer(), func(s *auth.Server) {
		s.ClientID, s.ClientSecret = "mine", secret("shh")
		s.IdentityProvider = &auth.IdentityProvider{
			Issuer: idp.url(), ClientID: "assent-at-idp", ClientSecret: secret("idp-shh"), IDToken: auth.Text{Value: secret(idToken)},
		}
	})
	w.mustPost(c, "/mcp")
	exchange, use := idp.tokenRequests[0], i.tokenRequests[0]
	exchange.Del("code") // which is empty
	want := url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "requested_token_type": {"urn:ietf:params:oauth:token-type:id-jag"},
		"audience": {i.url()}, "resource": {w.url()}, "scope": {"files:read"}, "subject_token": {idToken},
		"subject_token_type": {"urn:ietf:params:oauth:token-type:id_token"}, "client_id": {"assent-at-idp"}, "client_secret": {"idp-shh"},
	}
	if diff := cmp.Diff(want, exchange); diff != "" {
		t.Errorf("the exchange (-want +got)\n%s", diff)
	}
	want = url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {"the-id-jag"}, "resource": {w.url()}, "scope": {"files:read"},
	}
	if diff := cmp.Diff(want, use); diff != "" || i.tokenAuths[0] != "client_secret_basic" {
		t.Errorf("the grant by %s (-want +got)\n%s", i.tokenAuths[0], diff)
	}
	assertNoSecrets(t, w.log.String())
}

func TestNoTokenWithoutAPerson(t *testing.T) {
	elsewhere := func(i *issuer) string { return strings.Replace(i.server.URL, "127.0.0.1", "localhost", 1) }
	withSecret := func(s *auth.Server) { s.ClientID, s.ClientSecret, s.ClientCredentials = "mine", secret("shh"), true }
	provider := func(s *auth.Server, idp *issuer, idToken string) {
		s.ClientID, s.ClientSecret = "mine", secret("shh")
		s.IdentityProvider = &auth.IdentityProvider{Issuer: idp.url(), ClientID: "assent", IDToken: auth.Text{Value: secret(idToken)}}
	}
	tests := []struct {
		name   string
		change func(i, idp *issuer)
		server func(s *auth.Server, i, idp *issuer)
		want   string
		// tokens is how many requests a token endpoint got.
		tokens int
	}{
		{
			name:   "a secret for another host",
			change: func(i, _ *issuer) { i.URL = elsewhere(i) },
			server: func(s *auth.Server, _, _ *issuer) { withSecret(s) },
			want:   "set oauth.issuer",
		},
		{
			name: "another issuer than the one of the configuration",
			server: func(s *auth.Server, _, _ *issuer) {
				withSecret(s)
				s.Issuer = "https://login.example.org"
			},
			want: "oauth.issuer in its configuration is https://login.example.org",
		},
		{
			name: "an assertion for another issuer",
			server: func(s *auth.Server, _, _ *issuer) {
				s.Assertion = auth.Text{Value: secret(jwtFor(t, "https://login.example.org", soon()))}
			},
			want: "oauth.assertion is not for",
		},
		{
			name: "an assertion that has ended",
			server: func(s *auth.Server, i, _ *issuer) {
				s.Assertion = auth.Text{Value: secret(jwtFor(t, i.url(), time.Now().Add(-time.Hour)))}
			},
			want: "oauth.assertion ended at",
		},
		{
			name: "a file that is no JWT",
			server: func(s *auth.Server, _, _ *issuer) {
				file := filepath.Join(t.TempDir(), "passwords")
				if err := os.WriteFile(file, []byte("root:s3cret"), 0o600); err != nil {
					t.Fatal(err)
				}
				s.Assertion = auth.Text{File: file}
			},
			want: "oauth.assertion is not a JWT",
		},
		{
			name:   "a folder",
			server: func(s *auth.Server, _, _ *issuer) { s.Assertion = auth.Text{File: t.TempDir()} },
			want:   "is not a file",
		},
		{
			name: "a key that is none",
			server: func(s *auth.Server, _, _ *issuer) {
				s.ClientID, s.PrivateKey, s.ClientCredentials = "mine", auth.Text{Value: secret("s3cret")}, true
			},
			want: "oauth.privateKey: it is not a private key in PEM",
		},
		{
			name: "a refused assertion, which is not tried again",
			change: func(i, _ *issuer) {
				i.Checks = func(rw http.ResponseWriter, _ *http.Request) bool {
					writeJSON(rw, http.StatusBadRequest, map[string]string{"error": "invalid_grant", "error_description": "who?"})
					return true
				}
			},
			server: func(s *auth.Server, i, _ *issuer) {
				s.Assertion = auth.Text{Value: secret(jwtFor(t, i.url(), soon()))}
			},
			want:   "gave no token: who? (invalid_grant)",
			tokens: 1,
		},
		{
			name:   "an identity provider that refuses",
			change: func(_, idp *issuer) { delete(idp.Clients, "assent") },
			server: func(s *auth.Server, _, idp *issuer) { provider(s, idp, jwtFor(t, "assent", soon())) },
			want:   "does not let you use the server: the token endpoint says so (invalid_client)",
			tokens: 1,
		},
		{
			name:   "an identity provider that gives another token",
			change: func(_, idp *issuer) { idp.Clients["assent"] = "" },
			server: func(s *auth.Server, _, idp *issuer) { provider(s, idp, jwtFor(t, "assent", soon())) },
			want:   "the answer was not a token",
			tokens: 1,
		},
		{
			name: "an ID Token that has ended",
			server: func(s *auth.Server, _, idp *issuer) {
				provider(s, idp, jwtFor(t, "assent", time.Now().Add(-time.Hour)))
			},
			want: "oauth.identityProvider.idToken ended at",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			nobody(w)
			i, idp := w.issuers[0], w.issuer("idp")
			i.Clients["mine"], i.Clients[""] = "shh", ""
			if test.change != nil {
				test.change(i, idp)
			}
			c := w.connect(w.authorizer(), func(s *auth.Server) { test.server(s, i, idp) })
			if got, err := w.post(c, "/mcp"); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			} else {
				assertNoSecrets(t, err.Error())
			}
			if got := len(i.tokenRequests) + len(idp.tokenRequests); got != test.tokens {
				t.Errorf("%d token requests, want %d", got, test.tokens)
			}
			assertNoSecrets(t, w.log.String())
		})
	}
}

func TestIssuerOfTheConfigurationOnAnotherHost(t *testing.T) {
	w := newWorld(t)
	nobody(w)
	i := w.issuers[0]
	i.Clients["mine"] = "shh"
	i.URL = strings.Replace(i.server.URL, "127.0.0.1", "localhost", 1)
	c := w.connect(w.authorizer(), func(s *auth.Server) {
		s.ClientID, s.ClientSecret, s.ClientCredentials, s.Issuer = "mine", secret("shh"), true, i.url()
	})
	w.mustPost(c, "/mcp")
}

func TestNoPersonForUnattendedRequests(t *testing.T) {
	w := newWorld(t)
	nobody(w)
	w.issuers[0].Clients["mine"] = "shh"
	c := w.connect(w.authorizer(), func(s *auth.Server) {
		s.ClientID, s.ClientSecret, s.ClientCredentials = "mine", secret("shh"), true
	})
	if got, err := w.postCtx(auth.Unattended(t.Context()), c, "/mcp"); err != nil || got != "200 hello" {
		t.Errorf("%q, %v", got, err)
	}
}
