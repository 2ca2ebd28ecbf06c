package config

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"assent/protocol"
	"assent/sidecar/base/realpath"
	"assent/sidecar/base/secret"
	"assent/sidecar/base/visible"
)

// masked stands for a secret that is written in a definition.
const masked = "***"

// Shown returns the definition for the person who decides whether it may run. Nothing is asked, and no file outside the
// workspace is opened. Its hidden characters are visible. A front end shows each member in a line of its own and the
// arguments as JSON, so only the arguments keep their line ends: in another member one could forge the next line. The
// values of variables, headers and the login are masked if they are secrets of the file itself.
func (s Server) Shown(ctx context.Context, e Environment) protocol.ServerDefinition {
	e = e.quiet()
	e.unopened = true
	line := func(written string) string { return visible.Line(s.shown(ctx, e, written)) }
	v := view{s: s, e: e, masker: secret.NewMasker()}
	d := protocol.ServerDefinition{Transport: s.Transport}
	if s.Resembles != "" {
		v.warn("%s", s.Resembles)
	}
	if s.Transport == protocol.TransportStdio {
		v.sends("puts %s into its command line", append([]string{s.Command}, s.Args...)...)
		d.Command, d.Program, d.Cwd, d.Env = line(s.Command), visible.Line(v.program(ctx)), visible.Line(s.base(e)), v.environment(ctx)
		for _, arg := range s.Args {
			d.Args = append(d.Args, visible.Text(s.shown(ctx, e, arg)))
		}
		if s.Cwd != "" {
			dir := s.shown(ctx, e, s.Cwd)
			if !filepath.IsAbs(dir) && !strings.HasPrefix(dir, "${") { // a variable that is not shown may be a whole path
				dir = filepath.Join(s.base(e), dir)
			}
			d.Cwd = visible.Line(dir)
		}
	} else {
		v.to = host(s.shown(ctx, e, s.URL), "the address that its url has then")
		v.at = host(s.shown(ctx, e, s.OAuth.Issuer), "the authorization server that "+v.to+" names")
		v.provider = host(s.shown(ctx, e, s.OAuth.IdentityProvider.Issuer), "the identity provider")
		d.URL, d.Headers, d.Login = line(s.URL), v.headers(), v.login()
	}
	for _, f := range s.files(ctx, e) {
		if f.member == envFileMember {
			d.EnvFile = visible.Line(f.real)
		}
		v.file(f)
	}
	d.Speaks = v.speaks()
	d.Warnings, d.Files, d.Masked = v.warnings, v.files, v.maskedSum()
	return d
}

// view collects the sentences about a definition.
type view struct {
	s      Server
	e      Environment
	masker *secret.Masker
	// to is the server's host, at that of its authorization server, and provider that of the identity provider.
	to, at, provider string
	warnings, files  []string
	// secrets are the values that are masked.
	secrets []string
}

func (v *view) warn(format string, args ...any) {
	text := visible.Line(fmt.Sprintf(format, args...))
	if !slices.Contains(v.warnings, text) {
		v.warnings = append(v.warnings, text)
	}
}

// speaks returns the members that say how Assent is to speak with the server.
func (v *view) speaks() (values []protocol.DefinedValue) {
	if v.s.ProtocolVersion != "" {
		values = append(values, v.value("protocolVersion", v.s.ProtocolVersion, false))
	}
	if v.s.Shared {
		values = append(values, v.value("sharing", sharingShared, false))
	}
	return values
}

// program returns the path of the program that was found.
func (v *view) program(ctx context.Context) string {
	if hasInput(v.s.Command + v.s.Cwd) {
		v.warn("Which program runs is known only after you were asked for its inputs.")
		return ""
	}
	path, err := v.s.program(ctx, v.e)
	if err != nil {
		v.warn("Its program cannot be run now: %v.", strings.TrimSuffix(err.Error(), "."))
		return ""
	}
	leads := realpath.Of(path)
	path = filepath.Clean(path)
	if v.s.ofFolder(path) || v.s.holds(leads) {
		where := path
		if leads != path {
			where += ", a link to " + leads + ","
		}
		v.warn("The program %s lies in the workspace, so that the workspace's files decide what runs.", where)
	}
	return path
}

// environment returns the variables that the definition and an envFile in the workspace set.
func (v *view) environment(ctx context.Context) (values []protocol.DefinedValue) {
	var changing []string
	set := func(name string, value *string) {
		changes := influence(name)
		if changes {
			changing = append(changing, name)
		}
		if value == nil {
			values = append(values, protocol.DefinedValue{Name: visible.Line(name), Value: "(removed)"})
		} else {
			values = append(values, v.value(name, *value, !changes && secret.Asks(name)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.s.Env)) {
		set(name, v.s.Env[name])
	}
	more, err := v.s.envFile(ctx, v.e)
	switch {
	case hasInput(v.s.EnvFile):
		v.warn("Which variables its envFile sets is known only after you were asked for its inputs.")
	case err != nil && v.s.Own: // a pipe, which is opened at the start alone
		v.warn("The variables of its envFile are not shown: %v.", err)
	case err != nil:
		v.warn("It cannot start: %v.", err)
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		if _, ok := v.s.Env[name]; !ok { // else the definition's own counts
			value := more[name]
			set(name, &value)
		}
	}
	if len(changing) > 0 {
		slices.Sort(changing)
		v.warn("It sets %s, which can change the program and the code that it loads.", list(changing))
	}
	return values
}

// headers returns the headers of requests.
func (v *view) headers() (values []protocol.DefinedValue) {
	u, err := url.Parse(v.s.URL)
	if err == nil && !strings.Contains(u.Host, "$") && (u.User != nil || !strings.EqualFold(u.Host, v.to)) {
		v.warn("Its url leads to %s.", v.to) // which one does not read in it
	}
	v.sends("sends %s to "+v.to, v.s.URL)
	for _, name := range slices.Sorted(maps.Keys(v.s.Headers)) {
		value := v.s.Headers[name]
		values = append(values, v.value(name, value, secret.Asks(name) || strings.Contains(strings.ToLower(name), "cookie")))
		v.sends("sends %s to "+v.to, value)
	}
	return values
}

// login returns the members of "oauth".
func (v *view) login() (values []protocol.DefinedValue) {
	o, p := v.s.OAuth, v.s.OAuth.IdentityProvider
	var port string
	if o.CallbackPort != 0 {
		port = strconv.Itoa(o.CallbackPort)
	}
	secrets := o.secrets()
	toServer, toProvider := "sends %s to "+v.at, "sends %s to "+v.provider
	for _, m := range []struct{ name, value, use string }{
		{"clientId", o.ClientID, toServer},
		{"clientSecret", o.ClientSecret, toServer},
		{"issuer", o.Issuer, toServer},
		{"scopes", strings.Join(o.Scopes, " "), ""},
		{"callbackPort", port, ""},
		{"clientMetadataUrl", o.ClientMetadataURL, toServer},
		{"grantType", o.GrantType, ""},
		{"privateKey", o.PrivateKey, "uses %s as a key to sign in at " + v.at},
		{"privateKeyFile", o.PrivateKeyFile, ""},
		{"keyId", o.KeyID, toServer},
		{"assertion", o.Assertion, toServer},
		{"assertionFile", o.AssertionFile, ""},
		{"identityProvider.issuer", p.Issuer, toProvider},
		{"identityProvider.clientId", p.ClientID, toProvider},
		{"identityProvider.clientSecret", p.ClientSecret, toProvider},
		{"identityProvider.idToken", p.IDToken, toProvider},
		{"identityProvider.idTokenFile", p.IDTokenFile, ""},
	} {
		if m.value == "" {
			continue
		}
		_, isSecret := secrets[m.name]
		values = append(values, v.value(m.name, m.value, isSecret))
		if m.use != "" {
			v.sends(m.use, m.value)
		}
	}
	return values
}

// file says how a file is used.
func (v *view) file(f file) {
	where, use := "", map[string]string{
		envFileMember:                  "gives the program the variables in it",
		"privateKeyFile":               "signs in at " + v.at + " with the key in it",
		"assertionFile":                "sends its contents to " + v.at,
		"identityProvider.idTokenFile": "sends its contents to " + v.provider,
	}[f.member]
	if f.outside {
		v.files = append(v.files, visible.Line(f.real))
		where = ", which is outside the workspace,"
	}
	v.warn("It reads %s%s and %s.", f.real, where, use)
}

// value returns a value as it is written. Of one that is secret by its name, only the variables in it are shown.
func (v *view) value(name, written string, isSecret bool) protocol.DefinedValue {
	text := written
	if isSecret {
		text = maskLiterals(text)
	}
	text = v.masker.Mask(text)
	if text != written {
		v.secrets = append(v.secrets, name, written)
	}
	return protocol.DefinedValue{Name: visible.Line(name), Value: visible.Line(text)}
}

// sends says for each variable in texts how it is used; use has "%s" in its place.
func (v *view) sends(use string, texts ...string) {
	for _, text := range texts {
		for _, match := range variable().FindAllStringSubmatch(text, -1) {
			what := ""
			switch kind, rest, _ := strings.Cut(match[1], ":"); kind {
			case "env":
				name, _ := envVariable(rest)
				what = "your variable " + name
			case "input":
				what = "your answer to its input " + rest
			default:
				continue
			}
			v.warn("It %s.", strings.Replace(use, "%s", what, 1)) // what follows in it may have the same letters
		}
	}
}

// maskedSum changes with the values that are masked. It is too short to find them by it.
func (v *view) maskedSum() string {
	if len(v.secrets) == 0 {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", v.secrets))
	return hex.EncodeToString(sum[:2])
}

// maskLiterals masks the text around the variables of a secret. Short pieces stay, such as "Bearer " and separators.
func maskLiterals(text string) string {
	var b strings.Builder
	mask := func(piece string) {
		scheme, rest, ok := strings.Cut(piece, " ")
		switch {
		case len(strings.TrimSpace(piece)) < 4:
			b.WriteString(piece)
		case ok && slices.Contains([]string{"bearer", "basic", "token", "digest"}, strings.ToLower(scheme)):
			b.WriteString(scheme + " ")
			if strings.TrimSpace(rest) != "" {
				b.WriteString(masked)
			}
		default:
			b.WriteString(masked)
		}
	}
	end := 0
	for _, at := range variable().FindAllStringIndex(text, -1) {
		mask(text[end:at[0]])
		b.WriteString(text[at[0]:at[1]])
		end = at[1]
	}
	mask(text[end:])
	return b.String()
}

// program returns the full path of the program that would run.
func (s Server) program(ctx context.Context, e Environment) (string, error) {
	if s.Transport != protocol.TransportStdio {
		return "", nil
	}
	name, err := s.expand(ctx, e, s.Command)
	if err != nil {
		return "", err
	}
	dir, err := s.dir(ctx, e)
	if err != nil {
		return "", err
	}
	path, _, err := e.lookPath(here(), name, dir, e.Environ, e.Environ)
	return path, err
}

// ofFolder reports whether a path lies in the workspace folder, or leads into it.
func (s Server) ofFolder(path string) bool {
	return path != "" && (s.holds(path) || s.Folder != "" && within(s.Folder, path))
}

// host returns the host and port of an address, in letters that cannot look like others. It returns otherwise if the
// host has a variable, or if the text is no address.
func host(address, otherwise string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || strings.Contains(u.Host, "$") {
		return otherwise
	}
	if plain, err := idna.ToASCII(u.Host); err == nil {
		return plain
	}
	return u.Host
}

// list joins names as in a sentence.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
