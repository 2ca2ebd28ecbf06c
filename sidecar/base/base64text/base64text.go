// Package base64text reads the base64 that programs write. It has no state.
package base64text

import (
	"encoding/base64"
	"strings"
)

// Normal returns base64 as RFC 4648, section 4, has it: on one line and with padding. The text may have line ends, be of the
// alphabet for URLs, lack its padding, or stand behind "data:TYPE;base64,". ok is false for any other text.
func Normal(text string) (normal string, ok bool) {
	if isNormal(text) {
		return text, true
	}
	if head, rest, isURL := strings.Cut(text, ";base64,"); isURL && strings.HasPrefix(head, "data:") {
		text = rest
	}
	text = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "", " ", "").Replace(text), "=")
	raw, err := base64.RawStdEncoding.DecodeString(text)
	return base64.StdEncoding.EncodeToString(raw), err == nil
}

// isNormal reports whether a text is surely normal. It does not decode the text, which may be long.
func isNormal(text string) bool {
	digits := strings.TrimRight(text, "=")
	return len(text)%4 == 0 && len(text)-len(digits) <= 2 && strings.Trim(digits, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") == ""
}
