package secret

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"assent/sidecar/base/lazyregexp"
)

const (
	maxPEM       = 64 << 10 // bytes of a private key
	minPEM       = 64       // bytes of base64; a text about keys has fewer
	maxJWTHeader = 8 << 10
)

// privateKey finds a PEM block (RFC 7468), an OpenSSH or a PGP key. Line ends may be escaped, as in
// JSON. If the end marker is missing, the key ends where the text no longer looks like a key.
func privateKey() finder {
	head := lazyregexp.New(`\A-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	foot := lazyregexp.New(`\A-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	return func(text string, at int) (start, end int, ok bool) {
		size := len(head().FindString(text[at:min(len(text), at+window)]))
		if size == 0 {
			return 0, 0, false
		}
		body := text[at+size : min(len(text), at+size+maxPEM)]
		n := strings.Index(body, "-----")
		if n < 0 || skip(body[:n], 0, isPEM) < n {
			n = skip(body, 0, func(c byte) bool { return c != ' ' && isPEM(c) })
		}
		if n < minPEM || entropy(body[:n]) < 3 {
			return 0, 0, false
		}
		return at, at + size + n + len(foot().FindString(body[n:])), true
	}
}

// isPEM reports whether a byte can occur inside a PEM block, with its headers, also within a string
// of a program.
func isPEM(c byte) bool { return isToken(c) || strings.IndexByte(" \t\r\n\\\"',:", c) >= 0 }

// jsonWebToken finds a signed token (RFC 7515). It checks the header.
func jsonWebToken(text string, at int) (start, end int, ok bool) {
	if !beginsWord(text, at) || at > 0 && (text[at-1] == '-' || text[at-1] == '.') {
		return 0, 0, false
	}
	header := skip(text, at, isBase64URL)
	if header-at > maxJWTHeader || !strings.HasPrefix(text[header:], ".") {
		return 0, 0, false
	}
	payload := skip(text, header+1, isBase64URL)
	if payload-header < 10 || !strings.HasPrefix(text[payload:], ".") {
		return 0, 0, false
	}
	end = skip(text, payload+1, isBase64URL)
	if end-payload < 10 {
		return 0, 0, false // not signed
	}
	raw, err := base64.RawURLEncoding.DecodeString(text[at:header])
	if err != nil {
		return 0, 0, false
	}
	var fields struct {
		Algorithm string `json:"alg"`
	}
	if json.Unmarshal(raw, &fields) != nil || fields.Algorithm == "" {
		return 0, 0, false
	}
	// The example token of jwt.io has the subject 1234567890.
	known := strings.HasPrefix(text[header+1:payload], "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9l")
	return at, end, !known
}
