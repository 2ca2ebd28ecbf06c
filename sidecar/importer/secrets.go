package importer

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// tokens begins what services give out as keys.
var tokens = regexp.MustCompile(`(^|[\s:=/"'])(sk-|sk_|rk_|gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|hf_|npm_|lin_api_|ntn_|secret_|SG\.|shpat_|figd_|pplx-|tvly-|ctx7sk|eyJ[A-Za-z0-9_-]{8,}\.|-----BEGIN)[A-Za-z0-9_. +/=-]{8,}`)

// hasSecret reports whether a value of this name looks like a secret in plain text. The name may be
// empty. It is a guess for a warning, which never repeats the value.
func hasSecret(name, value string) bool {
	plain := strings.TrimSpace(variable.ReplaceAllString(value, ""))
	if tokens.MatchString(plain) {
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
		next := variable.ReplaceAllString(args[i+1], "")
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
