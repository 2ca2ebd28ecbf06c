package auth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"assent/sidecar/wire/auth"
)

// proofs checks those of requests, and wants nonces.
type proofs struct {
	t                        *testing.T
	serverNonce, issuerNonce string
	keys                     []string // of the proofs of token requests
	seen                     []string // ids
	challenges               int
}

func (p *proofs) check(r *http.Request, address, token, nonce string) (asIs bool) {
	p.t.Helper()
	var claims struct {
		jwt.RegisteredClaims
		Method string `json:"htm"`
		URL    string `json:"htu"`
		Token  string `json:"ath"`
		Nonce  string `json:"nonce"`
	}
	var key string
	parsed, err := jwt.ParseWithClaims(r.Header.Get("DPoP"), &claims, func(t *jwt.Token) (any, error) {
		jwk, _ := t.Header["jwk"].(map[string]any)
		number := func(name string) *big.Int {
			bytes, err := base64.RawURLEncoding.DecodeString(fmt.Sprint(jwk[name]))
			if err != nil || len(bytes) != 32 {
				p.t.Errorf("%s is %v: %v", name, jwk[name], err)
			}
			return new(big.Int).SetBytes(bytes)
		}
		if len(jwk) != 4 || jwk["kty"] != "EC" || jwk["crv"] != "P-256" {
			p.t.Errorf("the key is %v", jwk)
		}
		key = fmt.Sprint(jwk["x"])
		return &ecdsa.PublicKey{Curve: elliptic.P256(), X: number("x"), Y: number("y")}, nil
	}, jwt.WithIssuedAt())
	if err != nil {
		p.t.Errorf("the proof of %s %s: %v", r.Method, r.URL, err)
		return false
	}
	sum := sha256.Sum256([]byte(token))
	hash := base64.RawURLEncoding.EncodeToString(sum[:])
	if token == "" {
		hash = ""
	}
	if parsed.Header["typ"] != "dpop+jwt" || claims.Method != r.Method || claims.URL != address || claims.Token != hash || claims.ID == "" || slices.Contains(p.seen, claims.ID) {
		p.t.Errorf("the proof of %s %s is %v %+v", r.Method, address, parsed.Header, claims)
	}
	p.seen = append(p.seen, claims.ID)
	if token == "" {
		p.keys = append(p.keys, key)
	} else if !slices.Contains(p.keys, key) {
		p.t.Errorf("the proof of %s %s is of another key", r.Method, address)
	}
	if claims.Nonce != nonce {
		p.challenges++
	}
	return claims.Nonce == nonce
}

// bind makes a world want proofs.
func bind(w *world) *proofs {
	p := &proofs{t: w.t}
	i := w.issuers[0]
	w.Scheme, i.TokenType = "DPoP", "DPoP"
	i.Checks = func(rw http.ResponseWriter, r *http.Request) bool {
		if p.check(r, i.server.URL+"/token", "", p.issuerNonce) {
			return false
		}
		rw.Header().Set("DPoP-Nonce", p.issuerNonce)
		writeJSON(rw, http.StatusBadRequest, map[string]string{"error": "use_dpop_nonce"})
		return true
	}
	w.Checks = func(rw http.ResponseWriter, r *http.Request) bool {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "DPoP ")
		if !ok || p.check(r, w.server.URL+r.URL.Path, token, p.serverNonce) {
			return false
		}
		rw.Header().Set("DPoP-Nonce", p.serverNonce)
		rw.Header().Set("WWW-Authenticate", `DPoP error="use_dpop_nonce"`)
		http.Error(rw, "with a nonce", http.StatusUnauthorized)
		return true
	}
	return p
}

func TestBoundTokens(t *testing.T) {
	w := newWorld(t)
	p := bind(w)
	i := w.issuers[0]
	c := w.connect(w.authorizer())
	w.mustPost(c, "/mcp")
	w.mustPost(c, "/mcp?with=query")
	if len(i.logins) != 1 || len(i.tokenRequests) != 1 || p.challenges != 0 {
		t.Errorf("%d pages, %d token requests, %d challenges", len(i.logins), len(i.tokenRequests), p.challenges)
	}
	w.with(i.endTokens)
	again := w.connect(w.authorizer()) // in a later process
	w.mustPost(again, "/mcp")
	if len(i.logins) != 1 || len(p.keys) != 2 || p.keys[0] != p.keys[1] {
		t.Errorf("%d pages; renewed with the keys %q, want the same", len(i.logins), p.keys)
	}
	assertNoSecrets(t, w.log.String())
}

func TestNonces(t *testing.T) {
	w := newWorld(t)
	p := bind(w)
	p.serverNonce, p.issuerNonce = "n1", "n2"
	i := w.issuers[0]
	c := w.connect(w.authorizer())
	w.mustPost(c, "/mcp")
	if p.challenges != 2 || len(i.tokenRequests) != 2 {
		t.Errorf("%d challenges and %d token requests, want two each", p.challenges, len(i.tokenRequests))
	}
	w.mustPost(c, "/mcp")
	if p.challenges != 2 {
		t.Error("the server's nonce was not used again")
	}
	w.with(func() { p.serverNonce = "n3" })
	w.mustPost(c, "/mcp")
	if p.challenges != 3 || len(i.logins) != 1 {
		t.Errorf("%d challenges, %d pages", p.challenges, len(i.logins))
	}
}

func TestNonceThatNeverFits(t *testing.T) {
	w := newWorld(t)
	p := bind(w)
	i := w.issuers[0]
	i.Checks = func(rw http.ResponseWriter, r *http.Request) bool {
		p.check(r, i.server.URL+"/token", "", "")
		rw.Header().Set("DPoP-Nonce", "another")
		writeJSON(rw, http.StatusBadRequest, map[string]string{"error": "use_dpop_nonce"})
		return true
	}
	if _, err := w.post(w.connect(w.authorizer()), "/mcp"); err == nil || !strings.Contains(err.Error(), "use_dpop_nonce") || len(i.tokenRequests) != 2 {
		t.Errorf("%v after %d token requests, want two", err, len(i.tokenRequests))
	}
}

func TestUnboundTokens(t *testing.T) {
	w := newWorld(t)
	bind(w)
	// The server takes both kinds, and its authorization server knows only tokens of their bearers.
	w.issuers[0].Checks, w.issuers[0].TokenType, w.Scheme = nil, "", ""
	w.Checks = func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "" {
			return false
		}
		rw.Header().Set("WWW-Authenticate", fmt.Sprintf(`DPoP algs="ES256", Bearer resource_metadata="%s/described-here"`, w.server.URL))
		http.Error(rw, "who are you?", http.StatusUnauthorized)
		return true
	}
	w.mustPost(w.connect(w.authorizer()), "/mcp")
	if len(w.requests) != 2 {
		t.Errorf("%d requests, want two", len(w.requests))
	}
	for _, r := range w.requests {
		if r.Header.Get("DPoP") != "" {
			t.Errorf("a proof for a token of its bearer: %v", r.Header)
		}
	}
}

func TestBoundTokensWithoutAPerson(t *testing.T) {
	w := newWorld(t)
	nobody(w)
	p := bind(w)
	p.issuerNonce = "n"
	w.issuers[0].Clients["mine"] = "shh"
	w.mustPost(w.connect(w.authorizer(), func(s *auth.Server) {
		s.ClientID, s.ClientSecret, s.ClientCredentials = "mine", secret("shh"), true
	}), "/mcp")
	if p.challenges != 1 {
		t.Errorf("%d challenges", p.challenges)
	}
}
