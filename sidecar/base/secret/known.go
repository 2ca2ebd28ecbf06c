package secret

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// shortestKnown is the minimum length of a known value that is searched for, in bytes.
const shortestKnown = 8

// knownLiterals are known values, prepared for searches.
type knownLiterals struct {
	known    []Known
	literals literals
}

// prepareKnown prepares known values, or returns those of the last scan if they are the same.
func (s *Scanner) prepareKnown(known []Known) *knownLiterals {
	if last := s.lastKnown.Load(); last != nil && slices.Equal(last.known, known) {
		return last
	}
	prepared := &knownLiterals{known: slices.Clone(known)}
	for i, h := range known {
		for _, form := range forms(h.Value) {
			prepared.literals.add(form, i)
		}
	}
	s.lastKnown.Store(prepared)
	return prepared
}

// find returns the occurrences of the values.
func (h *knownLiterals) find(text string) []Finding {
	if h.literals.byBegin == nil {
		return nil
	}
	var findings []Finding
	done := 0 // the end of the last finding, so that nested values do not make it slow
	h.literals.each(text, func(at int, found literal) {
		end := at + len(found.text)
		if end > done {
			findings = append(findings, Finding{RuleKnown, h.known[found.number].Description, at, end})
			done = end
		}
	})
	return findings
}

// forms returns the forms that a value may have in a text, each once.
func forms(value string) []string {
	value = strings.TrimSpace(value)
	if len(value) < shortestKnown {
		return nil
	}
	var all []string
	seen := map[string]bool{}
	add := func(form string) {
		if !seen[form] {
			seen[form] = true
			all = append(all, form)
		}
	}
	add(value)
	add(url.QueryEscape(value))
	add(url.PathEscape(value))
	for _, escaped := range []string{url.QueryEscape(value), url.PathEscape(value)} {
		add(lowerPercent(escaped))
	}
	if quoted, err := json.Marshal(value); err == nil { // always possible for a string
		add(string(quoted[1 : len(quoted)-1]))
	}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			add(inBase64(encoding, value, before))
		}
	}
	return all
}

// inBase64 returns the characters that depend only on the value, in an encoded text with that many
// bytes before it, modulo 3. Characters that also depend on neighbouring bytes are left out.
func inBase64(encoding *base64.Encoding, value string, before int) string {
	encoded := encoding.EncodeToString([]byte("\x00\x00"[:before] + value))
	shared := (before*8 + 5) / 6
	whole := (before + len(value)) * 8 / 6
	return encoded[shared:whole]
}

// lowerPercent writes the hexadecimal digits of percent-encoding in lower case, as some programs do.
func lowerPercent(escaped string) string {
	b := []byte(escaped)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}
