package secret

import (
	"slices"
	"strings"
	"unicode"
)

// Named reports whether a name is that of a secret, by its words: API_KEY, X-Api-Key, apiKey, PGPASSWORD. It is a guess.
func Named(name string) bool {
	words := wordsOf(name)
	if len(words) == 0 || slices.Contains(aboutSecrets, words[len(words)-1]) {
		return false
	}
	for i, word := range words {
		before := ""
		if i > 0 {
			before = words[i-1]
		}
		if word == "key" && slices.Contains(plainKeys, before) {
			continue
		}
		isMany := slices.Contains(manySecrets, word) && !slices.Contains(counts, before)
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
	secretWords = []string{
		"key", "pwd", "pass", "auth", "authorization", "credential", "credentials", "pat", "bearer", "cookie", "jwt", "dsn", "cred", "creds", "pw",
		"clave", "haslo", "heslo", "parola", "passe", "wachtwoord", "пароль", "密码", "密碼", "パスワード", "비밀번호",
	}
	// plainKeys are before the word key in names of settings.
	plainKeys = []string{"sort", "primary", "foreign", "partition", "cache", "shard", "group", "routing"}
	// manySecrets are secrets unless they are counted.
	manySecrets = []string{"keys", "tokens", "secrets", "passwords", "cookies"}
	counts      = []string{"max", "min", "num", "total", "input", "output", "prompt", "completion", "context", "cached", "reasoning", "sort", "primary", "foreign"}
	// weakWords name secrets only with a value that was generated.
	weakWords = []string{
		"session", "sessionid", "jsessionid", "sid", "sig", "signature", "hmac", "license", "licence", "code", "hash", "ticket", "webhook", "hook", "salt", "seed",
		"sas", "value", "connection", "otp", "totp", "pin", "phrase", "mnemonic",
	}
	aboutVersions = []string{"ref", "rev", "revision", "commit", "sha", "hash", "digest", "checksum", "tag", "branch", "image", "from", "uuid", "guid"}
	// secretEnds end the words for secrets that people write together with the word before.
	secretEnds = []string{"apikey", "accesskey", "secretkey", "privatekey", "authkey", "token", "secret", "password", "passwd", "passphrase", "passcode", "pass", "pwd", "appkey", "sessionkey", "passwort", "kennwort", "contrasena", "senha"}
	noSecrets  = []string{"bypass", "compass", "tiktoken"}
	// aboutSecrets end the names of things about a secret.
	aboutSecrets = []string{
		"file", "files", "path", "dir", "folder", "url", "uri", "sock", "id", "ids", "name", "host", "type", "mode", "method", "endpoint",
		"limit", "length", "count", "size", "ttl", "expiry", "timeout", "prefix", "header", "algorithm", "format", "version", "var", "enabled", "required",
		"provider", "server", "store", "issuer", "audience", "scope", "scopes", "level", "region", "alias", "source", "port", "budget", "command", "helper",
	}
)
