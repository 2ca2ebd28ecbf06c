package config

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// OAuth is what a server's member "oauth" says of logging in to it. Most servers need none of it.
type OAuth struct {
	// ClientID is of a client that was registered by hand, and ClientSecret is best an ${input:...}.
	ClientID     string `json:"clientId" jsonschema:"The id of a client that was registered by hand."`
	ClientSecret string `json:"clientSecret" jsonschema:"The client's secret, best as ${input:ID}."`
	// Issuer is the authorization server at which it was registered.
	Issuer string `json:"issuer" jsonschema:"The authorization server at which the client was registered."`
	// Scopes are requested instead of those that the server proposes.
	Scopes []string `json:"scopes" jsonschema:"The scopes to request instead of those that the server proposes."`
	// CallbackPort is the port of the redirect URI, http://127.0.0.1:PORT/callback, if the client was registered with one; 0
	// means any.
	CallbackPort int `json:"callbackPort" jsonschema:"The port of the redirect URI, http://127.0.0.1:PORT/callback, if the client was registered with one."`
	// ClientMetadataURL is the URL of a document about the client. The URL is then the client's id.
	ClientMetadataURL string `json:"clientMetadataUrl" jsonschema:"The URL of a document about the client, which is then the client's id."`
	// GrantType is [GrantAuthorizationCode], which an empty one means, or [GrantClientCredentials].
	GrantType string `json:"grantType" jsonschema:"authorization_code: the person signs in. client_credentials: the client itself does."`
	// PrivateKey is the client's, in PEM. With it the client signs its requests for tokens, in place of a secret.
	// PrivateKeyFile is the path of a file with the key. KeyID is the key's name at the authorization server.
	PrivateKey     string `json:"privateKey" jsonschema:"The client's key in PEM as ${input:ID}, with which it signs in place of a secret."`
	PrivateKeyFile string `json:"privateKeyFile" jsonschema:"The path of a file with the client's key."`
	KeyID          string `json:"keyId" jsonschema:"The name of the key at the authorization server."`
	// Assertion is a JWT about this workload, which is exchanged for a token (RFC 7523, section 2.1). AssertionFile is the
	// path of a file with it, which is read for each token.
	Assertion     string `json:"assertion" jsonschema:"A JWT about this workload as ${input:ID}, which is exchanged for a token."`
	AssertionFile string `json:"assertionFile" jsonschema:"The path of a file with the JWT, which is read for each token."`
	// IdentityProvider lets in the person whom it knows (enterprise-managed authorization).
	IdentityProvider IdentityProvider `json:"identityProvider" jsonschema:"Where the person's organisation says who they are."`
}

// IdentityProvider is where a person's organisation says who they are.
type IdentityProvider struct {
	Issuer string `json:"issuer" jsonschema:"The address of the identity provider."`
	// ClientID and ClientSecret are of Assent's client there. The secret may be empty.
	ClientID     string `json:"clientId" jsonschema:"The id of Assent's client there."`
	ClientSecret string `json:"clientSecret" jsonschema:"The secret of that client, as ${input:ID}."`
	// IDToken is the person's ID Token of OpenID Connect. IDTokenFile is the path of a file with it, which is read for each
	// token.
	IDToken     string `json:"idToken" jsonschema:"The person's ID Token of OpenID Connect, as ${input:ID}."`
	IDTokenFile string `json:"idTokenFile" jsonschema:"The path of a file with the ID Token, which is read for each token."`
}

// What OAuth's member "grantType" says; nothing says the first.
const (
	GrantAuthorizationCode = "authorization_code"
	GrantClientCredentials = "client_credentials"
)

// Login puts the variables into the server's OAuth, and makes the paths absolute.
func (s Server) Login(ctx context.Context, e Environment) (OAuth, error) {
	o := s.OAuth
	for _, field := range o.texts() {
		value, err := s.expand(ctx, e, *field)
		if err != nil {
			return OAuth{}, fmt.Errorf("oauth: %w", err)
		}
		*field = value
	}
	for _, path := range []*string{&o.PrivateKeyFile, &o.AssertionFile, &o.IdentityProvider.IDTokenFile} {
		if *path != "" {
			*path = s.file(e, *path)
		}
	}
	for name, secret := range o.secrets() {
		if *secret != "" || name == "clientSecret" {
			e.note(s, "oauth."+name, *secret)
		}
	}
	return o, nil
}

// texts returns the members in which variables are replaced.
func (o *OAuth) texts() []*string {
	p := &o.IdentityProvider
	return []*string{
		&o.ClientID, &o.ClientSecret, &o.Issuer, &o.ClientMetadataURL,
		&o.PrivateKey, &o.PrivateKeyFile, &o.KeyID, &o.Assertion, &o.AssertionFile,
		&p.Issuer, &p.ClientID, &p.ClientSecret, &p.IDToken, &p.IDTokenFile,
	}
}

// secrets returns the members that are secrets, by name.
func (o *OAuth) secrets() map[string]*string {
	return map[string]*string{
		"clientSecret": &o.ClientSecret, "privateKey": &o.PrivateKey, "assertion": &o.Assertion,
		"identityProvider.clientSecret": &o.IdentityProvider.ClientSecret, "identityProvider.idToken": &o.IdentityProvider.IDToken,
	}
}

// check returns what is wrong, as the end of a text that begins with "oauth".
func (o *OAuth) check() error {
	workload, p := o.Assertion != "" || o.AssertionFile != "", o.IdentityProvider
	machine := o.GrantType == GrantClientCredentials
	key := o.PrivateKey != "" || o.PrivateKeyFile != ""
	switch {
	case o.CallbackPort < 0 || o.CallbackPort > 65535:
		return fmt.Errorf(".callbackPort %d is not a port", o.CallbackPort)
	case o.GrantType != "" && o.GrantType != GrantAuthorizationCode && !machine:
		return fmt.Errorf(".grantType is %q; it must be %q or %q", o.GrantType, GrantAuthorizationCode, GrantClientCredentials)
	case o.ClientID == "" && o.ClientSecret != "":
		return errors.New(".clientSecret needs an oauth.clientId")
	case o.ClientID == "" && key:
		return errors.New(".privateKey needs an oauth.clientId")
	case both(o.ClientSecret, o.PrivateKey+o.PrivateKeyFile):
		return errors.New(" has a clientSecret and a private key: the client needs one of them")
	case both(o.PrivateKey, o.PrivateKeyFile), both(o.Assertion, o.AssertionFile), both(p.IDToken, p.IDTokenFile):
		return errors.New(" has a value and a file for the same: it needs one of them")
	case machine && o.ClientSecret == "" && !key:
		return fmt.Errorf(".grantType %q needs a clientId, and a clientSecret, a privateKey or a privateKeyFile", GrantClientCredentials)
	case machine && workload, machine && p != IdentityProvider{}, workload && p != IdentityProvider{}:
		return fmt.Errorf(" can have one of the grantType %q, an assertion and an identityProvider", GrantClientCredentials)
	case p == IdentityProvider{}:
	case p.Issuer == "" || p.ClientID == "":
		return errors.New(".identityProvider needs an issuer and a clientId")
	case p.IDToken == "" && p.IDTokenFile == "":
		return errors.New(".identityProvider needs an idToken or an idTokenFile")
	case o.ClientID == "":
		return errors.New(".identityProvider needs an oauth.clientId, which is the client's at the server's authorization server")
	}
	for name, secret := range o.secrets() {
		// Before there were other grants a clientSecret could be written down, and such files still work.
		older := name == "clientSecret" && !machine && !workload && p == IdentityProvider{}
		if *secret != "" && !older && !variable().MatchString(*secret) {
			return fmt.Errorf(".%s is a secret, which does not belong into a file: write ${input:ID} or ${env:NAME}", name)
		}
	}
	return nil
}

func both(a, b string) bool { return a != "" && b != "" }

// members returns what [Server.Identity] hashes of the members that came later, or nil if none is set: the identity of a
// server without them is that of earlier versions.
func (o *OAuth) members() []string {
	p := o.IdentityProvider
	later := []string{
		o.GrantType, o.PrivateKey, o.PrivateKeyFile, o.KeyID, o.Assertion, o.AssertionFile,
		p.Issuer, p.ClientID, p.ClientSecret, p.IDToken, p.IDTokenFile,
	}
	if strings.Join(later, "") == "" {
		return nil
	}
	return later
}
