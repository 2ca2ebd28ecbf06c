package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"assent/sidecar/base/lazyregexp"
)

// methodPrivateKey is the authentication method of a client that signs an assertion (OpenID Connect Core 1.0, section
// 9).
const methodPrivateKey = "private_key_jwt"

// assertionLife is how long a client's assertion is valid. Assent uses it at once.
const assertionLife = time.Minute

// clientParams returns the parameters that authenticate a client, besides its id and its secret (RFC 7523, section
// 2.2).
func (l *login) clientParams(by client, issuer string) (url.Values, error) {
	params := url.Values{}
	if by.Method != methodPrivateKey {
		return params, nil
	}
	text, err := l.server.PrivateKey.read()
	if err != nil {
		return nil, fmt.Errorf("oauth.privateKey: %w", err)
	}
	key, method, err := privateKey(text)
	if err != nil {
		return nil, fmt.Errorf("oauth.privateKey: %w", err)
	}
	now := time.Now()
	assertion := jwt.NewWithClaims(method, jwt.RegisteredClaims{
		Issuer: by.ID, Subject: by.ID, Audience: jwt.ClaimStrings{issuer}, ID: uuid.NewString(),
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(assertionLife)),
	})
	if l.server.KeyID != "" {
		assertion.Header["kid"] = l.server.KeyID
	}
	signed, err := assertion.SignedString(key)
	if err != nil {
		return nil, errors.New("oauth.privateKey: the key cannot sign")
	}
	params.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	params.Set("client_assertion", signed)
	return params, nil
}

var pemBlock = lazyregexp.New(`(?s)-----BEGIN ([A-Z ]*PRIVATE KEY)-----(.*?)-----END ([A-Z ]*PRIVATE KEY)-----`)

// privateKey returns the key in a PEM text, and the signing algorithm for its type. The lines may be joined, because an
// input box or the environment may have joined them. The error does not quote the text.
func privateKey(text string) (crypto.Signer, jwt.SigningMethod, error) {
	der, kind := []byte(nil), ""
	if block, _ := pem.Decode([]byte(text)); block != nil {
		der, kind = block.Bytes, block.Type
	} else if found := pemBlock().FindStringSubmatch(strings.ReplaceAll(text, `\n`, "\n")); found != nil {
		joined := strings.Join(strings.Fields(found[2]), "")
		decoded, err := base64.StdEncoding.DecodeString(joined)
		if err != nil {
			return nil, nil, errors.New("it is not a private key in PEM")
		}
		der, kind = decoded, found[1]
	}
	var key any
	err := errors.New("it is not a private key in PEM")
	switch kind {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(der)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(der)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(der)
	case "ENCRYPTED PRIVATE KEY":
		return nil, nil, errors.New("it has a password, which Assent cannot use")
	}
	if err != nil {
		return nil, nil, errors.New("it is not a private key in PEM")
	}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return key, jwt.SigningMethodRS256, nil
	case ed25519.PrivateKey:
		return key, jwt.SigningMethodEdDSA, nil
	case *ecdsa.PrivateKey:
		switch key.Curve.Params().BitSize {
		case 256:
			return key, jwt.SigningMethodES256, nil
		case 384:
			return key, jwt.SigningMethodES384, nil
		case 521:
			return key, jwt.SigningMethodES512, nil
		}
	}
	return nil, nil, errors.New("its kind is not known: use one of EC, Ed25519 or RSA")
}
