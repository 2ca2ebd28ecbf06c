package workspace

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"assent/sidecar/base/secret"
	"assent/sidecar/config"
	"assent/sidecar/model"
	"assent/sidecar/wire/auth"
)

// knownSecrets are the secrets that Assent has in memory now: API keys of models, tokens of logins, secrets that servers
// got, and secrets in the environment in which servers start. Assent never logs them.
type knownSecrets struct {
	servers     serverSecrets
	scanner     *secret.Scanner
	logins      *auth.Authorizer
	environment func() []secret.Known       // looks once
	keys        atomic.Pointer[[]model.Key] // nil before the first configuration
}

func (k *knownSecrets) init(environ []string, logins *auth.Authorizer) {
	k.scanner, k.logins = secret.New(), logins
	k.environment = sync.OnceValue(func() []secret.Known { return environmentSecrets(environ) })
}

// known returns all of them. The journal calls it while a task is locked, so it takes no lock that is held while waiting
// for a task.
func (k *knownSecrets) known() []secret.Known {
	var all []secret.Known
	keys := k.keys.Load()
	if keys == nil {
		return nil // before the handshake there are none
	}
	for _, key := range *keys {
		all = append(all, secret.Known{Value: key.Value.Secret, Description: fmt.Sprintf("the API key of %s, which Assent holds for you", key.Owner)})
	}
	for _, h := range k.logins.KnownSecrets() {
		all = append(all, secret.Known{Value: h.Value.Secret, Description: fmt.Sprintf("the %s of your login to the server %q", h.What, h.ServerName)})
	}
	all = append(all, k.servers.all()...)
	return append(all, k.environment()...)
}

// environmentSecrets returns those that are in the sidecar's own environment, which does not change.
func environmentSecrets(environ []string) []secret.Known {
	var all []secret.Known
	for _, kv := range environ {
		if name, value, _ := strings.Cut(kv, "="); isSecret(name, value) {
			all = append(all, secret.Known{Value: value, Description: fmt.Sprintf("your environment variable %s", name)})
		}
	}
	return all
}

// isSecret guesses by the name. A path is none: it names the file that has the secret.
func isSecret(name, value string) bool {
	return value != "" && secret.Named(name) && !filepath.IsAbs(value)
}

// serverSecrets are the secrets that servers were given when they were last started or connected to. The zero
// value has none, and it may be used from any goroutine.
type serverSecrets struct {
	mu     sync.Mutex // guards values
	values map[secretName]string
}

// secretName is a server, and the name of one of its values in mcp.json's words.
type secretName struct{ server, name string }

// observe is [config.Environment.Note].
func (g *serverSecrets) observe(s config.Server, name, value string) {
	if !isSecret(name, value) && !strings.HasPrefix(name, "secret ") {
		return
	}
	// Behind a header's scheme is the secret: Bearer, Basic, Token.
	if scheme, credentials, ok := strings.Cut(value, " "); ok && strings.HasPrefix(name, "header ") && !strings.ContainsAny(scheme, "=;") {
		value = credentials
	}
	g.add(s, name, value)
}

// add replaces the value of this name.
func (g *serverSecrets) add(s config.Server, name, value string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.values == nil {
		g.values = map[secretName]string{}
	}
	g.values[secretName{s.Name, name}] = value
}

// retain forgets the secrets of servers that are not configured any more.
func (g *serverSecrets) retain(servers []config.Server) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name := range g.values {
		if !slices.ContainsFunc(servers, func(s config.Server) bool { return s.Name == name.server }) {
			delete(g.values, name)
		}
	}
}

func (g *serverSecrets) all() []secret.Known {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []secret.Known
	for name, value := range g.values {
		all = append(all, secret.Known{Value: value, Description: fmt.Sprintf("%s of the server %q", name.name, name.server)})
	}
	slices.SortFunc(all, func(a, b secret.Known) int { return cmp.Compare(a.Description, b.Description) })
	return all
}
