package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"assent/protocol"
)

// keepPatience bounds how long keeping a secret may take.
const keepPatience = 10 * time.Second

// grant is what an authorization server gave for a resource. It is kept as a secret, whole.
type grant struct {
	Issuer   string `json:"issuer"`
	Resource string `json:"resource"`
	TokenURL string `json:"tokenUrl"`
	Client   client `json:"client"`
	// Scopes are those that were granted.
	Scopes  []string        `json:"scopes,omitempty"`
	Access  protocol.Secret `json:"access"`
	Refresh protocol.Secret `json:"refresh"`
	// Expiry is zero where the token was given no end.
	Expiry time.Time `json:"expiry"`
}

func (g *grant) refreshable() bool { return g.Refresh.Secret != "" }

// client is what Assent is to an authorization server.
type client struct {
	ID     string          `json:"id"`
	Secret protocol.Secret `json:"secret"`
	// Method is how it says who it is at the token endpoint, by OAuth's registry: none,
	// client_secret_post or client_secret_basic.
	Method string `json:"method"`
	// RedirectURI and Expiry are of one that registered itself; a zero Expiry is no end.
	RedirectURI string    `json:"redirectUri,omitempty"`
	Expiry      time.Time `json:"expiry"`
}

// bond is where a server's grant is kept, and where its client belongs.
type bond struct {
	Issuer   string `json:"issuer"`
	ClientID string `json:"clientId"`
}

// The keys. A client and a token are those of one issuer (2026-07-28, "Authorization Server Binding").
func bondKey(resource, configured string) string {
	return fmt.Sprintf("oauth/server/%s#%s", resource, configured)
}

func grantKey(b bond, resource string) string {
	return fmt.Sprintf("oauth/token/%s#%s#%s", b.Issuer, b.ClientID, resource)
}

func clientKey(issuer string) string { return "oauth/client/" + issuer }

// load reads what was kept. What cannot be read is as if it had never been.
func (l *login) load(ctx context.Context) error {
	var b bond
	var g grant
	if l.read(ctx, bondKey(l.resource, l.server.ClientID), &b) {
		l.read(ctx, grantKey(b, l.resource), &g)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loaded, l.bond = true, b
	if g.Issuer != "" && g.Issuer == b.Issuer && g.Client.ID == b.ClientID {
		if g.Client.ID == l.server.ClientID {
			g.Client.Secret = l.server.ClientSecret // it was not kept, and may be another now
		}
		l.grant = &g
	}
	return nil
}

// accept makes a grant the present one, and keeps it.
func (l *login) accept(ctx context.Context, g *grant) {
	b := bond{Issuer: g.Issuer, ClientID: g.Client.ID}
	l.mu.Lock()
	changed := l.bond != b
	l.grant, l.bond = g, b
	l.generation++
	l.mu.Unlock()
	kept := *g
	if kept.Client.ID == l.server.ClientID {
		kept.Client.Secret = protocol.Secret{}
	}
	// It was granted, whether or not somebody still waits for it.
	ctx = context.WithoutCancel(ctx)
	l.write(ctx, grantKey(b, l.resource), kept)
	if changed {
		l.write(ctx, bondKey(l.resource, l.server.ClientID), b)
	}
}

// drop forgets the tokens. The scopes are remembered, so that the next login asks for them again.
func (l *login) drop(ctx context.Context) {
	l.mu.Lock()
	var b bond
	if l.grant != nil {
		b = bond{Issuer: l.grant.Issuer, ClientID: l.grant.Client.ID}
		g := *l.grant
		g.Access, g.Refresh, g.Expiry = protocol.Secret{}, protocol.Secret{}, time.Time{}
		l.grant = &g
	}
	l.generation++
	l.mu.Unlock()
	if b.Issuer != "" {
		l.write(context.WithoutCancel(ctx), grantKey(b, l.resource), nil)
	}
}

// read reports whether there was a value.
func (l *login) read(ctx context.Context, key string, v any) bool {
	if l.a.opts.Secrets == nil {
		return false
	}
	secret, err := l.a.opts.Secrets.Get(ctx, key)
	if err == nil && secret != nil {
		if err = json.Unmarshal([]byte(secret.Secret), v); err == nil {
			return true
		}
		err = errors.New("it is not what was kept") // json's own words may hold some of it
	}
	if err != nil && ctx.Err() == nil {
		l.log.Warn().Err(err).Msg("a login that was kept cannot be read")
	}
	return false
}

// write keeps a value; nil removes it.
func (l *login) write(ctx context.Context, key string, v any) {
	if l.a.opts.Secrets == nil {
		return
	}
	var secret *protocol.Secret
	if v != nil {
		raw, err := json.Marshal(v)
		if err != nil {
			l.log.Error().Err(err).Msg("a login cannot be written")
			return
		}
		secret = &protocol.Secret{Secret: string(raw)}
	}
	ctx, cancel := context.WithTimeout(ctx, keepPatience)
	defer cancel()
	if err := l.a.opts.Secrets.Set(ctx, key, secret); err != nil {
		l.log.Warn().Err(err).Msg("the login is not kept: it lasts until Assent ends")
	}
}
