package secret

import (
	"bytes"
	"encoding/base64"
	"net/url"
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
	for _, match := range append(urlUsers().FindAllStringSubmatchIndex(text, -1), sources().FindAllStringSubmatchIndex(text, -1)...) {
		if match[4] >= 0 && !isHidden(text[match[4]:match[5]]) {
			findings = append(findings, Finding{RuleNamed, "password", match[4], match[5]})
		}
		if Generated(text[match[2]:match[3]]) {
			findings = append(findings, Finding{RuleNamed, "user", match[2], match[3]})
		}
	}
	for _, match := range schemes().FindAllStringSubmatchIndex(text, -1) {
		if strings.EqualFold(text[match[2]:match[3]], "basic") && !isBasic(text[match[4]:match[5]]) {
			continue // prose
		}
		findings = append(findings, Finding{RuleNamed, "Authorization", match[4], match[5]})
	}
	findings = append(findings, withoutName(name, text)...)
	findings = append(findings, inWords(text)...)
	if findings = apart(append(findings, pairs(text)...)); len(findings) > 0 || !strings.Contains(text, "%") {
		return findings
	}
	// An encoded text is hidden whole, because its places are not those of the decoded one.
	if plain, err := url.QueryUnescape(text); err == nil && plain != text && !strings.Contains(plain, "%") && len(s.InValue("", plain)) > 0 {
		return []Finding{{RuleNamed, name, strings.IndexByte(text, '?') + 1, len(text)}}
	}
	return nil
}

// withoutName finds the values that are secrets by their form: texts that were generated at random, credentials in base64, and
// private keys of any length. Name may say that the value is no secret, as an id is none.
func withoutName(name, text string) []Finding {
	var findings []Finding
	if at := privateBegin().FindStringIndex(text); at != nil {
		return []Finding{{RuleNamed, name, at[0], len(text)}}
	}
	start, end := credentials(text)
	whole := text[start:end]
	switch last := lastWord(name); {
	case isBasic(whole),
		isWeak(name) && Generated(whole),
		isRandom(whole) && !slices.Contains(aboutSecrets, last) && !slices.Contains(aboutVersions, last):
		findings = append(findings, Finding{RuleNamed, name, start, end})
	}
	for _, match := range addresses().FindAllStringSubmatchIndex(text, -1) {
		before := ""
		for from := match[2]; from < match[3]; {
			to := match[3]
			if n := strings.IndexByte(text[from:match[3]], '/'); n >= 0 {
				to = from + n
			}
			segment := strings.TrimRight(text[from:to], "=")
			if isRandom(segment) || Generated(segment) && (Named(before) || len(segment) >= 20 && isMixed(segment)) {
				findings = append(findings, Finding{RuleNamed, "address", from, from + len(segment)})
			}
			before = segment
			from = to + 1
		}
	}
	return findings
}

// inWords finds the secrets among the words of a command line in one text, as in "-c".
func inWords(text string) []Finding {
	if !strings.Contains(text, " ") || len(text) > maxLine {
		return nil
	}
	var findings []Finding
	before := ""
	for from := 0; from < len(text); {
		to := len(text)
		if n := strings.IndexAny(text[from:], " \t\r\n"); n >= 0 {
			to = from + n
		}
		if word := strings.Trim(text[from:to], `"'`); word != "" {
			if name, ok := flagged(before, word); ok {
				start := from + strings.Index(text[from:to], word)
				findings = append(findings, Finding{RuleNamed, name, start, start + len(strings.TrimRight(word, taken))})
			}
			before = word
		}
		from = to + 1
	}
	return findings
}

// maxLine bounds a text that may be a command line, in bytes.
const maxLine = 64 << 10

// InArgs returns the secrets in the arguments of a program, for each argument. A flag may name the argument after it.
func (s *Scanner) InArgs(args []string) [][]Finding {
	all := make([][]Finding, len(args))
	for i, arg := range args {
		if all[i] = s.InValue("", arg); len(all[i]) > 0 {
			continue
		}
		if i > 0 {
			if name, ok := flagged(args[i-1], variable().ReplaceAllString(arg, "")); ok {
				start, end := credentials(arg)
				all[i] = []Finding{{RuleNamed, name, start, end}}
				continue
			}
		}
		if password, ok := strings.CutPrefix(arg, "-p"); ok && isMixed(password) && Generated(password) { // of MySQL
			all[i] = []Finding{{RuleNamed, "p", 2, len(arg)}}
		}
	}
	return all
}

// flagged reports whether the argument behind another one is a secret, because that one is a flag with the name of a secret.
func flagged(flag, arg string) (name string, is bool) {
	name = strings.TrimLeft(flag, "-")
	switch {
	case name == flag || name == "" || strings.Contains(flag, "=") || strings.HasPrefix(arg, "-") && !Generated(arg[1:]):
		return "", false
	case slices.Contains([]string{"u", "user", "basic", "basic-auth", "login"}, name):
		return name, strings.Contains(strings.Trim(arg, ":"), ":") && !strings.Contains(arg, "://")
	case len(name) == 1:
		return name, strings.Contains("tkpsaw", strings.ToLower(name)) && Generated(arg)
	}
	return name, Named(name) && isSecretValue(name, arg) || isWeak(name) && Generated(arg)
}

// taken stands for each byte of a variable in a value. No value of a configuration has it.
const taken = "\x01"

var (
	variable = lazyregexp.New(`\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}`)
	// urlUsers finds the user and the password of a URL.
	urlUsers = lazyregexp.New(`://([^\s/?#@:\x01"'<>]*)(?::([^\s/\x01"'<>]+))?@`)
	// sources finds the user and the password of a database that is not written as a URL: u:p@tcp(h), u:p@h:1/d and u/p@//h.
	sources = lazyregexp.New(`(?:^|[\s:="'])([\w.-]+)[:/]([^\s/:@\x01"'<>]+)@(?:(?:tcp|unix)\(|//|[\w.-]+:\d{1,5}(?:/|$))`)
	// addresses finds the paths of URLs.
	addresses = lazyregexp.New(`(?:https?|wss?)://[^\s/?#"'<>]+/([^\s?#"'<>]+)`)
	// privateBegin finds the beginning of a private key.
	privateBegin = lazyregexp.New(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY`)
	uuids        = lazyregexp.New(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	// schemes finds credentials with their scheme (RFC 9110, section 11.4), without a name before them.
	schemes   = lazyregexp.New(`(?i)(?:^|[\s:="'])(bearer|basic)\s+([\w.~+/-]{8,}=*)`)
	anyScheme = lazyregexp.New(`^(?i:bearer|basic|token|apikey|api-key|key) +`)
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
	return err == nil && len(text) >= 8 && strings.Contains(string(decoded), ":") && !bytes.ContainsFunc(decoded, func(r rune) bool { return r < ' ' || r > '~' })
}

// pairs finds the values within a text that have the name of a secret there.
func pairs(text string) []Finding {
	var findings []Finding
	done := 0 // the end of the last finding, within which there is no other
	for at := range len(text) {
		if at < done || text[at] != '=' && text[at] != ':' || strings.HasPrefix(text[at:], "://") {
			continue
		}
		end := len(strings.TrimRight(text[max(0, at-4):at], `\"' `)) + max(0, at-4)
		start := end
		for start > 0 && end-start < 60 && (isWord(text[start-1]) || strings.IndexByte(".-", text[start-1]) >= 0) {
			start--
		}
		name := text[start:end]
		if isImage := text[at] == ':' && start > 1 && text[start-1] == '/'; isImage || !Named(name) && !isWeak(name) { // "/token:X" is a flag of Windows
			continue
		}
		from, to := valueAt(text, at+1)
		if is := Named(name) && (to-from > maxKey || isSecretValue(name, text[from:to])); from < to && (is || Generated(text[from:to])) {
			findings = append(findings, Finding{RuleNamed, strings.TrimLeft(name, "-"), from, to})
			done = to
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
	quote := ""
	if start > from {
		quote = strings.Trim(text[start-1:start], "> \\")
	}
	// The scheme of credentials is none of them, unless nothing follows.
	if match := anyScheme().FindString(rest); match != "" {
		start += len(match)
		rest = rest[len(match):]
	}
	ends := " \t\r\n\"'\\&;" + taken
	if quote != "" && strings.Contains(rest, quote) {
		ends = quote + taken
	}
	if n := strings.IndexAny(rest, ends); n >= 0 {
		rest = rest[:n]
	}
	return start, start + len(strings.TrimRight(rest, `}])\`))
}

// Named reports whether a name is that of a secret, by its words: API_KEY, X-Api-Key, apiKey, PGPASSWORD. It is a guess.
func Named(name string) bool {
	words := wordsOf(name)
	if len(words) == 0 || slices.Contains(aboutSecrets, words[len(words)-1]) {
		return false
	}
	for i, word := range words {
		isMany := slices.Contains(manySecrets, word) && (i == 0 || !slices.Contains(counts, words[i-1]))
		if isMany || slices.Contains(secretWords, word) || !slices.Contains(noSecrets, word) &&
			slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(strings.TrimRight(word, "0123456789"), end) }) {
			return true
		}
	}
	return false
}

// isWeak reports whether a name is one that a secret may have, and other values more often.
func isWeak(name string) bool {
	words := wordsOf(name)
	return len(words) > 0 && !slices.Contains(aboutSecrets, words[len(words)-1]) &&
		slices.ContainsFunc(words, func(word string) bool { return slices.Contains(weakWords, word) })
}

// wordsOf returns the words of a name in lower case.
func wordsOf(name string) []string {
	var spaced strings.Builder
	var last rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(unicode.ToLower(r))
		last = r
	}
	return strings.FieldsFunc(spaced.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func lastWord(name string) string {
	words := wordsOf(name)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

var (
	secretWords = []string{"key", "pwd", "pass", "auth", "authorization", "credential", "credentials", "pat", "bearer", "cookie", "jwt", "dsn", "cred", "creds", "pw"}
	// manySecrets are secrets unless they are counted.
	manySecrets = []string{"keys", "tokens", "secrets", "passwords", "cookies"}
	counts      = []string{"max", "min", "num", "total", "input", "output", "prompt", "completion", "context", "cached", "reasoning", "sort", "primary", "foreign"}
	// weakWords name secrets only with a value that was generated.
	weakWords = []string{
		"session", "sessionid", "jsessionid", "sid", "sig", "signature", "hmac", "license", "licence", "code", "hash", "ticket", "webhook", "hook", "salt", "seed",
		"sas", "value", "connection", "otp", "totp", "pin",
	}
	aboutVersions = []string{"ref", "rev", "revision", "commit", "sha", "hash", "digest", "checksum", "tag", "branch", "image", "from", "uuid", "guid"}
	// secretEnds end the words for secrets that people write together with the word before.
	secretEnds = []string{"apikey", "accesskey", "secretkey", "privatekey", "authkey", "token", "secret", "password", "passwd", "passphrase", "passcode", "pass", "pwd", "appkey", "sessionkey", "passwort", "kennwort", "contrasena", "senha"}
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
	if slices.ContainsFunc([]string{"password", "passwd", "pwd", "authorization"}, func(end string) bool { return strings.HasSuffix(strings.ToLower(name), end) }) {
		return value != "" && !isHidden(value) && !slices.Contains(plainWords, strings.ToLower(value)) // it may be anything
	}
	return len(value) >= 4 && !isHidden(value) && !slices.Contains(plainWords, strings.ToLower(value)) && !number().MatchString(value) && !isPath(value) &&
		!strings.Contains(value, "://")
}

// isHidden reports whether a text stands for a secret, as in documentation.
func isHidden(value string) bool {
	lower := strings.ToLower(value)
	return strings.HasPrefix(lower, "<") || strings.HasPrefix(lower, "{") || strings.HasPrefix(lower, "your") && !Generated(value) || strings.HasPrefix(lower, "***") ||
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

// Generated reports whether a text looks like a generated key. A short one must have digits, small and capital letters. A UUID is
// none. It is a guess.
func Generated(text string) bool {
	if len(text) > maxKey {
		return false
	}
	if isKey(text) {
		return !uuids().MatchString(text)
	}
	return len(text) >= 8 && !strings.ContainsAny(text, `@/\:,;<>(){}"' `) && isMixed(text) && !isWordy(text) && entropy(text) >= 3
}

// maxKey bounds a generated key, in bytes.
const maxKey = 2 << 10

// isMixed reports whether a text has digits, small and capital letters.
func isMixed(text string) bool {
	return strings.ContainsFunc(text, unicode.IsDigit) && strings.ContainsFunc(text, unicode.IsLower) && strings.ContainsFunc(text, unicode.IsUpper)
}

// isRandom reports whether a text is long, and its digits and letters alternate as those of no name do. A long number in base 16
// is random, too.
func isRandom(text string) bool {
	if len(text) < 24 || text[0] == '-' || !isKey(text) || uuids().MatchString(text) {
		return false
	}
	if len(text) >= 32 && strings.Trim(strings.ToLower(text[len(text)-32:]), "0123456789abcdef") == "" {
		return true
	}
	kind := func(c byte) int {
		switch {
		case c >= '0' && c <= '9':
			return 1
		case c >= 'a' && c <= 'z':
			return 2
		}
		return 3
	}
	changes := 0
	for i := range len(text) - 1 {
		if kind(text[i]) != kind(text[i+1]) {
			changes++
		}
	}
	return changes*10 >= len(text)*3
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
