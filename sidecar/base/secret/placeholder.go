package secret

import (
	"slices"
	"strings"
)

// isPlaceholder reports whether a text in the form of a secret is an example in documentation. The
// words are too long to occur in a random key by chance.
func isPlaceholder(secret string) bool {
	lower := strings.ToLower(secret)
	return slices.ContainsFunc([]string{
		"example", "placeholder", "redacted", "changeme", "yourtoken", "your_token", "your-token", "yourapi", "your_api", "your-api",
		"xxxxx", "00000000", "abcdefgh", "12345678", "deadbeefdeadbeef",
	}, func(word string) bool { return strings.Contains(lower, word) })
}

// isPlain reports whether a text is more like a name than a key: it has no digit or no letter.
func isPlain(secret string) bool {
	name, _, _ := strings.Cut(secret, "=")
	return isPlaceholder(secret) || !strings.ContainsFunc(name, func(r rune) bool { return r >= '0' && r <= '9' }) ||
		!strings.ContainsFunc(name, func(r rune) bool { return r < 0x80 && isLetter(byte(r)) })
}

// isUsualPassword reports whether a password in a URL is a variable, or a common example.
func isUsualPassword(password string) bool {
	lower := strings.ToLower(password)
	usual := []string{
		"pass", "password", "passwd", "mypassword", "mysecretpassword", "secret", "mysecret", "user", "username", "root", "admin",
		"guest", "test", "token", "postgres", "mysql", "mongo", "redis", "rabbitmq", "hunter2", "foobar", "1234", "123456",
	}
	return slices.Contains(usual, lower) || isPlaceholder(password) || strings.HasPrefix(lower, "your") ||
		strings.ContainsRune(password, '{') || password[0] == '$' || strings.Trim(lower, lower[:1]) == ""
}
