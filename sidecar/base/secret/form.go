package secret

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode"

	"assent/sidecar/base/lazyregexp"
)

var (
	uuids = lazyregexp.New(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	// plainWords are what a setting with a name of a secret may say in clear.
	plainWords = []string{
		"true", "false", "yes", "no", "on", "off", "none", "null", "nil", "basic", "bearer", "oauth", "oauth2", "oidc", "token", "apikey", "required",
		"optional", "disabled", "enabled", "auto", "default", "latest", "stable", "prompt", "keychain", "keyring", "env", "stdin", "stdio", "http",
	}
	number = lazyregexp.New(`^v?[0-9]+(\.[0-9]+)+([-+][\w.]+)?$`)
)

func isBasic(text string) bool {
	decoded, err := base64.StdEncoding.DecodeString(text)
	return err == nil && len(text) >= 8 && strings.Contains(string(decoded), ":") && !bytes.ContainsFunc(decoded, func(r rune) bool { return r < ' ' || r > '~' })
}

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

// isPhrase reports whether a text is as many small words as the phrases have from which wallets are recovered.
func isPhrase(text string) bool {
	words := strings.Fields(text)
	return len(words) >= 12 && len(words) <= 24 && len(words)%3 == 0 && !slices.ContainsFunc(words, func(word string) bool {
		return len(word) < 3 || len(word) > 8 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != ""
	})
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
