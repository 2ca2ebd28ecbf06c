package auth

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"assent/protocol"
)

// keepTimeout bounds how long reading or storing a secret may take.
const keepTimeout = 10 * time.Second

// grant is what an authorization server granted for a resource. The whole grant is stored as one secret.
type grant struct {
	// ID is unique.
	ID       string `json:"id"`
	Issuer   string `json:"issuer"`
	Resource string `json:"resource"`
	TokenURL string `json:"tokenUrl"`
	Client   client `json:"client"`
	// Scopes are the granted scopes.
	Scopes  []string        `json:"scopes,omitempty"`
	Access  protocol.Secret `json:"access"`
	Refresh protocol.Secret `json:"refresh"`
	// Key is the key of the DPoP proofs, in PKCS #8. It is empty for bearer tokens.
	Key protocol.Secret `json:"key,omitzero"`
	// Expiry is zero if the token does not expire.
	Expiry time.Time `json:"expiry"`
}

func (g *grant) refreshable() bool { return g.Refresh.Secret != "" }

// fresh reports whether the token needs no renewal, or cannot be renewed. It returns true for nil.
func (g *grant) fresh() bool {
	return g == nil || !g.refreshable() || g.Expiry.IsZero() || time.Until(g.Expiry) > early
}

// client is Assent's registration at an authorization server.
type client struct {
	ID     string          `json:"id"`
	Secret protocol.Secret `json:"secret"`
	// Method is how the client authenticates at the token endpoint, as in OAuth's registry: none, client_secret_post,
	// client_secret_basic or private_key_jwt.
	Method string `json:"method"`
	// RedirectURI and Expiry are set if the client registered itself. A zero Expiry means that it does not expire.
	RedirectURI string    `json:"redirectUri,omitempty"`
	Expiry      time.Time `json:"expiry"`
}

// bond names the issuer and the client of a server's grant. Together with the server's URL, they form the key of the
// stored grant.
type bond struct {
	Issuer   string `json:"issuer"`
	ClientID string `json:"clientId"`
}

// bondKey, grantKey and clientKey return the keys of stored secrets. A client and a token belong to one issuer
// (2026-07-28, "Authorization Server Binding").
func bondKey(resource, configured string) string {
	return fmt.Sprintf("oauth/server/%s#%s", resource, configured)
}

func grantKey(b bond, resource string) string {
	return fmt.Sprintf("oauth/token/%s#%s#%s", b.Issuer, b.ClientID, resource)
}

func clientKey(issuer string) string { return "oauth/client/" + issuer }

// secrets returns the storage of the login. It returns nil for a login without a person, because Assent can repeat that
// by itself.
func (l *login) secrets() Secrets {
	if l.server.byItself() {
		return nil
	}
	return l.a.opts.Secrets
}

// load reads the kept grant. A grant that cannot be read counts as none.
func (l *login) load(ctx context.Context) error {
	b, g, err := l.kept(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil {
		l.take(b, g)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loaded, l.bond = true, b
	return nil
}

// kept reads the kept grant and its bond. The grant is nil if none is kept.
func (l *login) kept(ctx context.Context) (bond, *grant, error) {
	var b bond
	var g grant
	if found, err := l.read(ctx, bondKey(l.resource, l.server.ClientID), &b); !found {
		return b, nil, err
	}
	if found, err := l.read(ctx, grantKey(b, l.resource), &g); !found {
		return b, nil, err
	}
	if g.Issuer == "" || g.Issuer != b.Issuer || g.Client.ID != b.ClientID {
		return b, nil, nil
	}
	if g.Client.ID == l.server.ClientID {
		g.Client.Secret = l.server.ClientSecret // it was not stored, and may have changed
	}
	return b, &g, nil
}

// accept makes a grant the present one, and stores it. The lock on the file must be held.
func (l *login) accept(ctx context.Context, g *grant) {
	g.ID = rand.Text()
	b := bond{Issuer: g.Issuer, ClientID: g.Client.ID}
	l.mu.Lock()
	l.grant, l.bond = g, b
	l.generation++
	l.mu.Unlock()
	kept := *g
	if kept.Client.ID == l.server.ClientID {
		kept.Client.Secret = protocol.Secret{}
	}
	// The login was granted, so it is stored even if ctx has ended.
	ctx = context.WithoutCancel(ctx)
	if l.write(ctx, grantKey(b, l.resource), kept) && l.write(ctx, bondKey(l.resource, l.server.ClientID), b) {
		l.setLastKept(g.ID)
		l.mu.Lock()
		l.seen = g
		l.mu.Unlock()
	}
}

// drop forgets the tokens of a grant that was refused. It removes the kept grant only if it is the refused one. If the
// kept grant is newer, drop takes it. The scopes stay, so that the next login asks for them again. The lock on the file
// must be held.
func (l *login) drop(ctx context.Context, refused *grant) {
	ctx = context.WithoutCancel(ctx)
	b, g, err := l.kept(ctx)
	if err == nil && g != nil && !g.same(refused) && l.take(b, g) {
		return
	}
	l.mu.Lock()
	l.grant = refused.withoutTokens()
	l.generation++
	l.mu.Unlock()
	if err == nil && g.same(refused) && l.write(ctx, grantKey(b, l.resource), nil) {
		l.setLastKept("")
		l.mu.Lock()
		l.seen = nil
		l.mu.Unlock()
	}
}

// read reads a value, and reports whether there was one. It logs its errors.
func (l *login) read(ctx context.Context, key string, v any) (found bool, err error) {
	secrets := l.secrets()
	if secrets == nil {
		return false, nil
	}
	reading, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	secret, err := secrets.Get(reading, key)
	if err == nil && secret == nil {
		return false, nil
	}
	if err == nil {
		if err = json.Unmarshal([]byte(secret.Secret), v); err == nil {
			return true, nil
		}
		err = errors.New("the stored value has another form") // the error of package json may quote the secret
	}
	if ctx.Err() == nil {
		l.log.Warn().Err(err).Msg("cannot read a stored login")
	}
	return false, err
}

// write keeps a value; nil removes it. It reports whether that succeeded, and logs its errors.
func (l *login) write(ctx context.Context, key string, v any) bool {
	secrets := l.secrets()
	if secrets == nil {
		return false
	}
	var secret *protocol.Secret
	if v != nil {
		raw, err := json.Marshal(v)
		if err != nil {
			l.log.Error().Err(err).Msg("a login cannot be written")
			return false
		}
		secret = &protocol.Secret{Secret: string(raw)}
	}
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	switch err := secrets.Set(ctx, key, secret); {
	case errors.Is(err, ErrNotKept):
		return false
	case err != nil:
		l.log.Warn().Err(err).Msg("cannot store the login: it lasts until Assent ends")
		return false
	}
	return true
}
