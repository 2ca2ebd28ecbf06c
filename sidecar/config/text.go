package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"assent/sidecar/base/secret"
)

// CheckEncoding returns an error for a file that is not in UTF-8.
func CheckEncoding(data []byte) error {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return errors.New("it is in UTF-16: save it as UTF-8")
	case !utf8.Valid(data):
		return errors.New("it is not in UTF-8: save it as UTF-8")
	case bytes.IndexByte(data, 0) >= 0:
		return errors.New("it has zero bytes, as UTF-16 does: save it as UTF-8")
	}
	return nil
}

// badText is a text of JSON that has an escape which JSON does not have.
var badText = regexp.MustCompile(`"(?:[^"\\\n]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*\\(?:[^"\\/bfnrtu\n]|u[^"\n]{0,4})(?:[^"\\\n]|\\[^\n])*"`)

// SingleBackslashes returns what to do about a text of invalid JSON, from an offset on, that has single backslashes, with
// its offset. It is empty if there is none.
func SingleBackslashes(data []byte, from int) (advice string, at int) {
	line := bytes.LastIndexByte(data[:min(from, len(data))], '\n') + 1
	found := badText.FindIndex(data[line:])
	if found == nil {
		return "", 0
	}
	text := string(data[line+found[0] : line+found[1]])
	if parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(`"\`, r) }); !pathText.MatchString(text) || slices.ContainsFunc(parts, secret.Generated) {
		text = "a text" // which may be a secret
	}
	return fmt.Sprintf("%s has single backslashes: write each one twice, as \\\\, or write / in its place", text), line + found[0]
}

// pathText matches a text of JSON with a path of Windows.
var pathText = regexp.MustCompile(`^"(?:[A-Za-z]:|\.{1,2}|~|%\w+%|\\)\\`)

// drivePath matches a path of Windows in which single backslashes became control characters: C:\tools.
var drivePath = regexp.MustCompile(`^[A-Za-z]:[\t\n\f\r\x08]`)

// repeated is a member that an object has more than once.
type repeated struct {
	name   string
	offset int
}

// lastOnes removes from a value each member that comes again in its object, and returns those that count.
func lastOnes(v *hujson.Value) (twice []repeated) {
	switch value := v.Value.(type) {
	case *hujson.Object:
		last := map[string]int{}
		for i, m := range value.Members {
			name, _ := m.Name.Value.(hujson.Literal)
			last[name.String()] = i
		}
		var kept []hujson.ObjectMember
		said := map[string]bool{}
		for i, m := range value.Members {
			name, _ := m.Name.Value.(hujson.Literal)
			if last[name.String()] != i {
				said[name.String()] = true
				continue
			}
			if said[name.String()] {
				twice = append(twice, repeated{name.String(), m.Name.StartOffset})
			}
			twice = append(twice, lastOnes(&m.Value)...)
			kept = append(kept, m)
		}
		value.Members = kept
	case *hujson.Array:
		for i := range value.Elements {
			twice = append(twice, lastOnes(&value.Elements[i])...)
		}
	}
	return twice
}

// plainTexts reads a list of texts. A number is taken as its digits, as in "env".
func plainTexts(member string, list []json.RawMessage) ([]string, error) {
	var texts []string
	for i, raw := range list {
		text, err := envValue(raw)
		if err != nil || text == nil {
			return nil, fmt.Errorf("element %d of %q is %s: it must be a text", i+1, member, raw)
		}
		texts = append(texts, *text)
	}
	return texts, nil
}
