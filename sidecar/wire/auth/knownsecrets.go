package auth

import (
	"cmp"
	"slices"

	"assent/protocol"
)

// KnownSecret is a secret of a login.
type KnownSecret struct {
	// ServerName is the server of the login.
	ServerName string
	// What is the kind of secret, such as "access token" or "client secret".
	What  string
	Value protocol.Secret
}

// KnownSecrets returns the secrets of the logins that are in memory, so that callers can find them in texts. A login
// that an earlier process stored is in memory after the first use of its server.
func (a *Authorizer) KnownSecrets() []KnownSecret {
	a.mu.Lock()
	var logins []*login
	for _, l := range a.logins {
		logins = append(logins, l)
	}
	a.mu.Unlock()
	var all []KnownSecret
	for _, l := range logins {
		l.mu.Lock()
		g := l.grant
		l.mu.Unlock()
		s := &l.server
		secrets := map[string]protocol.Secret{
			"client secret": s.ClientSecret, "private key": s.PrivateKey.Value, "assertion": s.Assertion.Value,
		}
		if p := s.IdentityProvider; p != nil {
			secrets["identity provider's client secret"], secrets["ID Token"] = p.ClientSecret, p.IDToken.Value
		}
		if g != nil { // a grant is not modified once it is set
			secrets["access token"], secrets["refresh token"], secrets["proof key"] = g.Access, g.Refresh, g.Key
			if g.Client.Secret.Secret != "" {
				secrets["client secret"] = g.Client.Secret
			}
		}
		for what, value := range secrets {
			if value.Secret != "" {
				all = append(all, KnownSecret{l.server.Name, what, value})
			}
		}
	}
	slices.SortFunc(all, func(a, b KnownSecret) int {
		return cmp.Or(cmp.Compare(a.ServerName, b.ServerName), cmp.Compare(a.What, b.What), cmp.Compare(a.Value.Secret, b.Value.Secret))
	})
	return all
}
