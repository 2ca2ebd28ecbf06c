package importer

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"assent/sidecar/lazyregexp"
)

// tokens begins what services give out as keys.
var tokens = lazyregexp.New(`(^|[\s:=/"'])(sk-|sk_|rk_|gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|hf_|npm_|lin_api_|ntn_|secret_|SG\.|shpat_|figd_|pplx-|tvly-|ctx7sk|eyJ[A-Za-z0-9_-]{8,}\.|-----BEGIN)[A-Za-z0-9_. +/=-]{8,}`)

// hasSecret reports whether a value of this name looks like a secret in plain text. The name may be
// empty. It is a guess for a warning, which never repeats the value.
func hasSecret(name, value string) bool {
	plain := strings.TrimSpace(variable().ReplaceAllString(value, ""))
	if tokens().MatchString(plain) {
		return true
	}
	if u, err := url.Parse(plain); err == nil && u.Host != "" {
		if password, ok := u.User.Password(); ok && password != "" {
			return true
		}
	}
	// An argument may be name=value, or a header.
	for _, separator := range []string{"=", ": "} {
		before, after, ok := strings.Cut(plain, separator)
		if name == "" && ok && len(before) < 60 && SecretName(before) && secretValue(after) {
			return true
		}
	}
	return SecretName(name) && secretValue(plain)
}

// secretAfterFlag reports whether one argument names the next one as a secret.
func secretAfterFlag(args []string) bool {
	for i, arg := range args[:max(0, len(args)-1)] {
		next := variable().ReplaceAllString(args[i+1], "")
		if strings.HasPrefix(arg, "--") && SecretName(arg) && !strings.HasPrefix(next, "-") && secretValue(next) {
			return true
		}
	}
	return false
}

// SecretName reports whether a name is that of a secret, by its words: API_KEY, X-Api-Key, apiKey. It is
// a guess.
func SecretName(name string) bool {
	var spaced strings.Builder
	var last rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(unicode.ToLower(r))
		last = r
	}
	words := strings.FieldsFunc(spaced.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 || slices.Contains([]string{"file", "path", "dir", "url", "uri", "sock", "id", "name", "host", "type", "mode", "method", "endpoint", "limit", "length"}, words[len(words)-1]) {
		return false
	}
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains([]string{
			"key", "apikey", "token", "secret", "password", "passwd", "passphrase", "pwd", "pass", "auth", "authorization",
			"credential", "credentials", "pat", "bearer", "cookie", "jwt",
		}, word)
	})
}

// secretValue reports whether a value may be a secret, and is no placeholder for one.
func secretValue(value string) bool {
	for _, scheme := range []string{"Bearer", "bearer", "Basic", "Token", "token"} {
		value = strings.TrimPrefix(value, scheme)
	}
	value = strings.Trim(value, ` "'`)
	return len(value) >= 4 && !strings.HasPrefix(value, "<") && !slices.Contains([]string{"true", "false", "none", "null"}, strings.ToLower(value))
}

// Secret is what looks like a secret in a server's entry.
type Secret struct {
	// At is its place in the entry: "env", "headers" or "args" with a name or a number, or "url".
	At []string
	// Value is the whole text there.
	Value string
}

// Secrets returns what looks like secrets in an entry of mcp.json.
func Secrets(raw json.RawMessage) []Secret {
	var e entry
	if json.Unmarshal(raw, &e) != nil {
		return nil
	}
	var all []Secret
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		if value := e.Env[name]; value != nil && hasSecret(name, *value) {
			all = append(all, Secret{[]string{"env", name}, *value})
		}
	}
	for i, arg := range e.Args {
		if hasSecret("", arg) || i > 0 && secretAfterFlag(e.Args[i-1:i+1]) {
			all = append(all, Secret{[]string{"args", strconv.Itoa(i)}, arg})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		if hasSecret(name, e.Headers[name]) {
			all = append(all, Secret{[]string{"headers", name}, e.Headers[name]})
		}
	}
	if urlHasSecret(e.URL) {
		all = append(all, Secret{[]string{"url"}, e.URL})
	}
	return all
}

// urlHasSecret reports whether an address looks as if it held a secret.
func urlHasSecret(text string) bool {
	if hasSecret("", text) {
		return true
	}
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	query := u.Query()
	_, password := u.User.Password()
	return password || slices.ContainsFunc(slices.Collect(maps.Keys(query)), func(name string) bool { return hasSecret(name, query.Get(name)) })
}

// With returns the server with another text in the place of a secret.
func (s Server) With(secret Secret, text string) (Server, error) {
	var e entry
	if err := json.Unmarshal(s.Entry, &e); err != nil {
		return s, err
	}
	switch secret.At[0] {
	case "env":
		e.Env[secret.At[1]] = &text
	case "headers":
		e.Headers[secret.At[1]] = text
	case "args":
		i, err := strconv.Atoi(secret.At[1])
		if err != nil {
			return s, err
		}
		e.Args[i] = text
	case "url":
		e.URL = text
	}
	raw, err := plain(e)
	if err != nil {
		return s, err
	}
	s.Entry = raw
	return s, nil
}
