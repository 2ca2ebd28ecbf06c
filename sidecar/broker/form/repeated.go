package form

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxRepeatedDepth bounds how many lists and wrappers [Repeated] looks into.
const maxRepeatedDepth = 4

// muchLonger is how many times as long as texts a value is that they cannot repeat. A character may have six as an escape, and
// spaces between members.
const muchLonger = 64

// Repeated returns the places of the texts that only repeat a JSON value, in ascending order. It returns none unless these
// texts repeat the whole value.
//
// A text repeats a value as JSON, or as the plain string. A list is repeated if each of its items is. Some servers wrap
// other values in an object with the one member "result". Numbers are the same if their exact values are.
//
// A text that is much shorter than the value does not repeat it, whatever it says: a large value is then not decoded.
func Repeated(value json.RawMessage, texts []string) []int {
	length := 0
	for _, text := range texts {
		length += len(text)
	}
	if len(value) > muchLonger*(length+1) {
		return nil
	}
	said := said{json: map[string][]int{}, plain: map[string][]int{}}
	for place, text := range texts {
		said.plain[text] = append(said.plain[text], place)
		if decoded, ok := decodeExact([]byte(text)); ok {
			key := canonical(decoded)
			said.json[key] = append(said.json[key], place)
		}
	}
	decoded, ok := decodeExact(value)
	if !ok {
		return nil
	}
	places := map[int]bool{}
	if !said.whole(decoded, places, 0) {
		return nil
	}
	return slices.Sorted(maps.Keys(places))
}

// said holds the places of texts, by what they say as JSON and by themselves.
type said struct{ json, plain map[string][]int }

// whole reports whether the texts say a whole value, and adds their places.
func (s said) whole(value any, places map[int]bool, depth int) bool {
	if depth > maxRepeatedDepth {
		return false
	}
	found := s.json[canonical(value)]
	if words, ok := value.(string); ok {
		found = append(slices.Clone(found), s.plain[words]...)
	}
	for _, place := range found {
		places[place] = true
	}
	if len(found) > 0 {
		return true
	}
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			if !s.whole(item, places, depth+1) {
				return false
			}
		}
		return len(value) > 0
	case map[string]any:
		inner, wraps := value["result"]
		return wraps && len(value) == 1 && s.whole(inner, places, depth+1)
	}
	return false
}

// decodeExact decodes JSON with its numbers as they are written; see [json.Number].
func decodeExact(text []byte) (value any, ok bool) {
	if !json.Valid(text) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return value, d.Decode(&value) == nil
}

// canonical returns a text that is the same for two decoded values if and only if they are the same JSON.
func canonical(value any) string {
	var b strings.Builder
	writeCanonical(&b, value)
	return b.String()
}

func writeCanonical(b *strings.Builder, value any) {
	switch value := value.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(value))
	case string:
		b.WriteString(strconv.Quote(value))
	case json.Number:
		n, _ := parseNumber(value.String())
		if n.negative && n.digits != "" {
			b.WriteByte('-')
		}
		b.WriteString(n.digits + "e" + strconv.FormatFloat(n.exponent, 'f', -1, 64))
	case []any:
		b.WriteByte('[')
		for _, item := range value {
			writeCanonical(b, item)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for _, name := range slices.Sorted(maps.Keys(value)) {
			b.WriteString(strconv.Quote(name) + ":")
			writeCanonical(b, value[name])
			b.WriteByte(',')
		}
		b.WriteByte('}')
	}
}
