package server

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"assent/sidecar/config"
	"assent/sidecar/importer"
	"assent/sidecar/secret"
)

// held returns the secrets that Assent has in memory now: API keys of models, tokens of logins, what
// servers were given, and what is in the sidecar's own environment. It is never logged. The journal asks
// while a task is locked, so no lock is taken here under which anybody waits for a task.
func (w *Workspace) held() []secret.Held {
	var all []secret.Held
	keys := w.keys.Load()
	if keys == nil {
		return nil // before the handshake there are none
	}
	for _, k := range *keys {
		all = append(all, secret.Held{Value: k.Value.Secret, Description: fmt.Sprintf("the API key of %s, which Assent holds for you", k.Owner)})
	}
	for _, h := range w.keeper.auth.Held() {
		all = append(all, secret.Held{Value: h.Value.Secret, Description: fmt.Sprintf("the %s of your login to the server %q", h.What, h.ServerName)})
	}
	all = append(all, w.given.held()...)
	return append(all, w.environment()...)
}

// environmentSecrets returns those that are in the sidecar's own environment, which does not change.
func environmentSecrets(environ []string) []secret.Held {
	var all []secret.Held
	for _, kv := range environ {
		if name, value, _ := strings.Cut(kv, "="); isSecret(name, value) {
			all = append(all, secret.Held{Value: value, Description: fmt.Sprintf("your environment variable %s", name)})
		}
	}
	return all
}

// isSecret guesses by the name. A path is none: it names the file that has the secret.
func isSecret(name, value string) bool {
	return value != "" && importer.SecretName(name) && !filepath.IsAbs(value)
}

// given are the secrets that servers were given when they were last started or connected to. The zero
// value has none, and it may be used from any goroutine.
type given struct {
	mu     sync.Mutex // guards values
	values map[givenName]string
}

// givenName is a server, and the name of one of its values in mcp.json's words.
type givenName struct{ server, name string }

// note is [config.Environment.Note].
func (g *given) note(s config.Server, name, value string) {
	if !isSecret(name, value) {
		return
	}
	// Behind a header's scheme is the secret: Bearer, Basic, Token.
	if scheme, credentials, ok := strings.Cut(value, " "); ok && strings.HasPrefix(name, "header ") && !strings.ContainsAny(scheme, "=;") {
		value = credentials
	}
	g.add(s, name, value)
}

// add replaces the value of this name.
func (g *given) add(s config.Server, name, value string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.values == nil {
		g.values = map[givenName]string{}
	}
	g.values[givenName{s.Name, name}] = value
}

// keep forgets what servers were given that are not configured any more.
func (g *given) keep(servers []config.Server) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name := range g.values {
		if !slices.ContainsFunc(servers, func(s config.Server) bool { return s.Name == name.server }) {
			delete(g.values, name)
		}
	}
}

func (g *given) held() []secret.Held {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []secret.Held
	for name, value := range g.values {
		all = append(all, secret.Held{Value: value, Description: fmt.Sprintf("%s of the server %q", name.name, name.server)})
	}
	slices.SortFunc(all, func(a, b secret.Held) int { return cmp.Compare(a.Description, b.Description) })
	return all
}
