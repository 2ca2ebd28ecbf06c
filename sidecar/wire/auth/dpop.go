package auth

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"assent/protocol"
)

// maxNonce bounds a server's nonce, in bytes.
const maxNonce = 1 << 10

// proofClaims are the claims of a DPoP proof (RFC 9449, section 4.2).
type proofClaims struct {
	jwt.RegisteredClaims
	Method string `json:"htm"`
	URL    string `json:"htu"`
	Token  string `json:"ath,omitempty"`
	Nonce  string `json:"nonce,omitempty"`
}

// newProofKey returns a key for the proofs of one grant, in PKCS #8.
func newProofKey() (protocol.Secret, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return protocol.Secret{}, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return protocol.Secret{Secret: base64.StdEncoding.EncodeToString(der)}, err
}

// proof returns a DPoP proof for the request, signed with the key. token and nonce may be empty.
func proof(key protocol.Secret, r *http.Request, token, nonce string) (string, error) {
	der, err := base64.StdEncoding.DecodeString(key.Secret)
	if err != nil {
		return "", errors.New("the key of the login cannot be read")
	}
	parsed, _ := x509.ParsePKCS8PrivateKey(der)
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return "", errors.New("the key of the login cannot be read")
	}
	point, err := private.PublicKey.Bytes() // an uncompressed point: 4, x and y
	if err != nil {
		return "", err
	}
	half := (len(point) - 1) / 2
	text := base64.RawURLEncoding.EncodeToString
	claims := proofClaims{
		RegisteredClaims: jwt.RegisteredClaims{ID: uuid.NewString(), IssuedAt: jwt.NewNumericDate(time.Now())},
		Method:           r.Method,
		URL:              (&url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: r.URL.Path, RawPath: r.URL.RawPath}).String(),
		Nonce:            nonce,
	}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		claims.Token = text(sum[:])
	}
	signed := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	signed.Header["typ"] = "dpop+jwt"
	signed.Header["jwk"] = map[string]string{"kty": "EC", "crv": "P-256", "x": text(point[1 : 1+half]), "y": text(point[1+half:])}
	return signed.SignedString(private)
}

// prover adds a proof to each token request. If the authorization server wants a nonce in the proof, prover repeats the
// request once (RFC 9449, sections 5 and 8).
type prover struct {
	base http.RoundTripper
	key  protocol.Secret
}

// proving returns a client that adds proofs with a new key to token requests, and the key. If no proofs are wanted, it
// returns web unchanged.
func proving(web *http.Client, wanted bool) (*http.Client, protocol.Secret, error) {
	if !wanted {
		return web, protocol.Secret{}, nil
	}
	key, err := newProofKey()
	return provingWith(web, key), key, err
}

// provingWith is [proving] with the key of a grant, which may be empty.
func provingWith(web *http.Client, key protocol.Secret) *http.Client {
	if key.Secret == "" {
		return web
	}
	with := *web
	with.Transport = prover{web.Transport, key}
	return &with
}

// RoundTrip implements [http.RoundTripper].
func (p prover) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := p.send(r, "")
	if err != nil || response.StatusCode != http.StatusBadRequest && response.StatusCode != http.StatusUnauthorized {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return nil, err
	}
	var refused struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(body, &refused) // a body that is not JSON asks for no nonce
	nonce := nonceOf(response)
	if refused.Error != "use_dpop_nonce" || nonce == "" || r.GetBody == nil {
		response.Body = io.NopCloser(bytes.NewReader(body))
		return response, nil
	}
	again := r.Clone(r.Context())
	if again.Body, err = r.GetBody(); err != nil {
		return nil, err
	}
	return p.send(again, nonce)
}

func (p prover) send(r *http.Request, nonce string) (*http.Response, error) {
	made, err := proof(p.key, r, "", nonce)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("DPoP", made)
	return p.base.RoundTrip(r)
}

// nonceOf returns the nonce that a server wants in the next proof, or "".
func nonceOf(response *http.Response) string {
	if nonce := response.Header.Get("DPoP-Nonce"); len(nonce) <= maxNonce {
		return nonce
	}
	return ""
}

// recordNonce records the server's last nonce (RFC 9449, section 8.2).
func (l *login) recordNonce(response *http.Response) {
	if nonce := nonceOf(response); nonce != "" {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.nonce = nonce
	}
}
