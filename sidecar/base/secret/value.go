package secret

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode"

	"assent/sidecar/base/lazyregexp"
)

// RuleNamed is a value with the name of a secret. Its description is the name.
const RuleNamed = "named"

// InValue returns the secrets in a configured value: of a variable, a header, an argument or a URL. Name is the value's name,
// and may be empty. Beside what Scan finds, a value in a configuration is a secret if its name says so, be it the name of
// the value or one within it, as in "--token=X", "Authorization: Bearer X", "Password=X;", "?api_key=X" and {"token": "X"}. So
// is the password of any URL. A variable, ${...}, is no secret.
//
// It guesses, for questions and masks. A finding ends where the value of its name ends, so that the rest can stay readable.
func (s *Scanner) InValue(name, value string) []Finding {
	text := variable().ReplaceAllStringFunc(value, func(match string) string { return strings.Repeat(taken, len(match)) })
	if start, end := credentials(text); Named(name) && isSecretValue(name, text[start:end]) {
		return []Finding{{RuleNamed, name, start, end}}
	}
	findings := s.findAll(text, nil)
	for _, match := range keys().FindAllStringSubmatchIndex(text, -1) {
		if !isWordy(text[match[4]:match[5]]) {
			findings = append(findings, Finding{RuleNamed, name, match[2], match[5]})
		}
	}
	for _, match := range urlUsers().FindAllStringSubmatchIndex(text, -1) {
		if password := match[4] >= 0; password && !isHidden(text[match[4]:match[5]]) {
			findings = append(findings, Finding{RuleNamed, "password", match[4], match[5]})
		} else if !password && isKey(text[match[2]:match[3]]) {
			findings = append(findings, Finding{RuleNamed, "user", match[2], match[3]})
		}
	}
	for _, match := range schemes().FindAllStringSubmatchIndex(text, -1) {
		if strings.EqualFold(text[match[2]:match[3]], "basic") && !isBasic(text[match[4]:match[5]]) {
			continue // prose
		}
		findings = append(findings, Finding{RuleNamed, "Authorization", match[4], match[5]})
	}
	return apart(append(findings, pairs(text)...))
}

// InArgs returns the secrets in the arguments of a program, for each argument. A flag may name the argument after it.
func (s *Scanner) InArgs(args []string) [][]Finding {
	all := make([][]Finding, len(args))
	for i, arg := range args {
		if all[i] = s.InValue("", arg); i == 0 || len(all[i]) > 0 {
			continue
		}
		flag := args[i-1]
		text := variable().ReplaceAllString(arg, "")
		name := strings.TrimLeft(flag, "-")
		switch {
		case name == flag || name == "" || strings.HasPrefix(text, "-") || strings.Contains(flag, "="):
		case slices.Contains([]string{"u", "user", "basic-auth"}, name) && strings.Contains(strings.Trim(text, ":"), ":") && !strings.Contains(text, "://"),
			len(name) == 1 && strings.Contains("tkpsaw", name) && isKey(text),
			Named(name) && isSecretValue(name, text):
			start, end := credentials(arg)
			all[i] = []Finding{{RuleNamed, name, start, end}}
		}
	}
	return all
}

// taken stands for each byte of a variable in a value. No value of a configuration has it.
const taken = "\x01"

var (
	variable = lazyregexp.New(`\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}`)
	// urlUsers finds the user and the password of a URL.
	urlUsers = lazyregexp.New(`://([^\s/?#@:\x01"'<>]*)(?::([^\s/\x01"'<>]+))?@`)
	// schemes finds credentials with their scheme (RFC 9110, section 11.4), without a name before them.
	schemes = lazyregexp.New(`(?i)(?:^|[\s:="'])(bearer|basic)\s+([\w.~+/-]{8,}=*)`)
	// keys finds what services give out as keys by the beginning alone: examples have it too, but no configuration has an example.
	keys = lazyregexp.New(`(?:^|[\s:=/"'@?&,;])((?:sk-|sk_|rk_|gh[oprsu]_|github_pat_|glpat-|xox[abceprs]-|AKIA|ASIA|AIza|hf_|npm_|` +
		`lin_api_|ntn_|secret_|SG\.|shpat_|figd_|pplx-|tvly-|ctx7sk|dop_v1_|gsk_|xai-|ya29\.|eyJ)([\w.+/=-]{8,}))`)
)

// credentials returns the place of the credentials in a text: behind the scheme, if there is one.
func credentials(text string) (start, end int) {
	end = len(strings.TrimRight(text, ` "'`+"`"))
	start = min(end, len(text)-len(strings.TrimLeft(text, ` "'`+"`")))
	for _, scheme := range []string{"bearer ", "basic ", "token ", "apikey "} {
		if rest := text[start:end]; len(rest) > len(scheme) && strings.EqualFold(rest[:len(scheme)], scheme) {
			start += len(scheme)
			start += len(text[start:end]) - len(strings.TrimLeft(text[start:end], " "))
			break
		}
	}
	return start, end
}

func isBasic(text string) bool {
	decoded, err := base64.StdEncoding.DecodeString(text)
	return err == nil && strings.Contains(string(decoded), ":")
}

// pairs finds the values within a text that have the name of a secret there.
func pairs(text string) []Finding {
	var findings []Finding
	for at := range len(text) {
		if text[at] != '=' && text[at] != ':' || strings.HasPrefix(text[at:], "://") {
			continue
		}
		end := len(strings.TrimRight(text[max(0, at-4):at], `\"' `)) + max(0, at-4)
		start := end
		for start > 0 && end-start < 60 && (isWord(text[start-1]) || strings.IndexByte(".-", text[start-1]) >= 0) {
			start--
		}
		name := text[start:end]
		if isImage := text[at] == ':' && start > 1 && text[start-1] == '/'; isImage || !Named(name) { // "/token:X" is a flag of Windows
			continue
		}
		from, to := valueAt(text, at+1)
		if from < to && isSecretValue(name, text[from:to]) {
			findings = append(findings, Finding{RuleNamed, strings.TrimLeft(name, "-"), from, to})
		}
	}
	return findings
}

// valueAt returns where the value behind a separator is. A quote, a blank or a separator of pairs ends it.
func valueAt(text string, from int) (start, end int) {
	const most = 8 << 10
	start = from
	for start < len(text) && start-from < 8 && strings.IndexByte(`> \"'`, text[start]) >= 0 {
		start++
	}
	rest := text[start:min(len(text), start+most)]
	for _, scheme := range []string{"bearer ", "basic ", "token "} {
		if len(rest) > len(scheme) && strings.EqualFold(rest[:len(scheme)], scheme) {
			trimmed := strings.TrimLeft(rest[len(scheme):], " ")
			start += len(rest) - len(trimmed)
			rest = trimmed
			break
		}
	}
	if n := strings.IndexAny(rest, " \t\r\n\"'\\&;"+taken); n >= 0 {
		rest = rest[:n]
	}
	return start, start + len(strings.TrimRight(rest, "}])"))
}

// Named reports whether a name is that of a secret, by its words: API_KEY, X-Api-Key, apiKey, PGPASSWORD. It is a guess.
func Named(name string) bool {
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
	if len(words) == 0 || slices.Contains(aboutSecrets, words[len(words)-1]) {
		return false
	}
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains(secretWords, word) || !slices.Contains(noSecrets, word) &&
			slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(strings.TrimRight(word, "0123456789"), end) })
	})
}

var (
	secretWords = []string{"key", "pwd", "pass", "auth", "authorization", "credential", "credentials", "pat", "bearer", "cookie", "jwt", "dsn"}
	// secretEnds end the words for secrets that people write together with the word before.
	secretEnds = []string{"apikey", "accesskey", "secretkey", "privatekey", "authkey", "token", "secret", "password", "passwd", "passphrase", "pass", "pwd"}
	noSecrets  = []string{"bypass", "compass", "tiktoken"}
	// aboutSecrets end the names of things about a secret.
	aboutSecrets = []string{
		"file", "files", "path", "dir", "folder", "url", "uri", "sock", "id", "ids", "name", "host", "type", "mode", "method", "endpoint",
		"limit", "length", "count", "size", "ttl", "expiry", "timeout", "prefix", "header", "algorithm", "format", "version", "var", "enabled", "required",
		"provider", "server", "store", "issuer", "audience", "scope", "scopes", "level", "region", "alias", "source", "port", "budget", "command",
	}
	// plainWords are what a setting with a name of a secret may say in clear.
	plainWords = []string{
		"true", "false", "yes", "no", "on", "off", "none", "null", "nil", "basic", "bearer", "oauth", "oauth2", "oidc", "token", "apikey", "required",
		"optional", "disabled", "enabled", "auto", "default", "latest", "stable", "prompt", "keychain", "keyring", "env", "stdin", "stdio", "http",
	}
	number = lazyregexp.New(`^v?[0-9]+(\.[0-9]+)+([-+][\w.]+)?$`)
)

// isSecretValue reports whether a value with the name of a secret may be one.
func isSecretValue(name, value string) bool {
	value = strings.Trim(strings.ReplaceAll(value, taken, ""), " \"'`")
	least := 4
	if lower := strings.ToLower(name); strings.HasSuffix(lower, "password") || strings.HasSuffix(lower, "passwd") || strings.HasSuffix(lower, "pwd") {
		least = 1
	}
	return len(value) >= least && !isHidden(value) && !slices.Contains(plainWords, strings.ToLower(value)) && !number().MatchString(value) && !isPath(value) &&
		!strings.Contains(value, "://")
}

// isHidden reports whether a text stands for a secret, as in documentation.
func isHidden(value string) bool {
	lower := strings.ToLower(value)
	return strings.HasPrefix(lower, "<") || strings.HasPrefix(lower, "{") || strings.HasPrefix(lower, "your") || strings.HasPrefix(lower, "***") ||
		strings.Trim(lower, "x") == "" || slices.Contains([]string{"changeme", "placeholder", "redacted", "todo", "...", "…"}, lower)
}

// isPath reports whether a value is a file's path.
func isPath(value string) bool {
	rest := value
	for _, prefix := range []string{"/", "./", "../", "~/", `.\`, `..\`, `~\`} {
		rest = strings.TrimPrefix(rest, prefix)
	}
	if len(rest) == len(value) && len(value) > 2 && value[1] == ':' && (value[2] == '\\' || value[2] == '/') {
		rest = value[3:]
	}
	parts := strings.FieldsFunc(rest, func(r rune) bool { return r == '/' || r == '\\' })
	return len(rest) < len(value) && len(parts) > 0 && !slices.ContainsFunc(parts, isKey)
}

// isKey reports whether a text looks like a generated key, and not like words, a number, a path or a package.
func isKey(text string) bool {
	return len(text) >= 12 && !strings.ContainsAny(text, `@/\:,;<>(){}"' `) && !isWordy(text) && entropy(text) >= 3
}

// isWordy reports whether a text is made of words and numbers, as names of packages and models are.
func isWordy(text string) bool {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("-_.=/+", r) })
	return !slices.ContainsFunc(parts, func(part string) bool {
		digits := strings.ContainsFunc(part, unicode.IsDigit)
		letters := strings.ContainsFunc(part, unicode.IsLetter)
		return len(part) > 4 && digits && letters
	})
}
