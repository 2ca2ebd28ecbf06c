package form

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"hash"
	"maps"
	"slices"
	"strconv"
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
// A text that is much shorter than the value does not repeat it: a large value is then not decoded.
func Repeated(value json.RawMessage, texts []string) []int {
	length := 0
	for _, text := range texts {
		length += len(text)
	}
	if len(value) > muchLonger*(length+1) {
		return nil
	}
	if len(texts) == 1 && json.Valid([]byte(texts[0])) && sameLetters(value, []byte(texts[0])) {
		return []int{0} // as most servers do it, also with large values
	}
	said := said{json: map[digest][]int{}, plain: map[string][]int{}}
	for place, text := range texts {
		said.plain[text] = append(said.plain[text], place)
		if decoded, ok := decodeExact([]byte(text)); ok {
			key := digestOf(decoded)
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

// said holds the places of texts, by their value as JSON and by themselves.
type said struct {
	json  map[digest][]int
	plain map[string][]int
}

// sameLetters reports whether two JSON texts are the same, except for spaces between their tokens.
func sameLetters(first, second []byte) bool {
	for inText := false; ; {
		n := 1
		if inText {
			n = max(1, bytes.IndexAny(first, `"\`)) // the end of the string, or an escape
		} else {
			first, second = bytes.TrimLeft(first, jsonSpaces), bytes.TrimLeft(second, jsonSpaces)
		}
		switch {
		case len(first) == 0 || len(second) == 0:
			return len(first) == len(second)
		case first[0] == '"':
			inText = !inText
		case inText && first[0] == '\\':
			n = 2 // what follows it ends no text
		}
		if len(first) < n || !bytes.HasPrefix(second, first[:n]) {
			return false
		}
		first, second = first[n:], second[n:]
	}
}

// jsonSpaces are the characters that may stand between tokens.
const jsonSpaces = " \t\r\n"

// whole reports whether the texts say a whole value, and adds their places.
func (s said) whole(value any, places map[int]bool, depth int) bool {
	if depth > maxRepeatedDepth {
		return false
	}
	found := s.json[digestOf(value)]
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
	if text[0] == '"' { // most are: a decoder has a buffer, which is larger than they are
		err := json.Unmarshal(text, &value)
		return value, err == nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return value, d.Decode(&value) == nil
}

// canonical returns a text that is the same for two decoded values if and only if they are the same JSON.
func canonical(value any) string {
	var t canonicalText
	t.add(value)
	return string(t.text)
}

// digest stands for the canonical text of a value, which may be large.
type digest [sha256.Size]byte

func digestOf(value any) digest {
	t := canonicalText{sum: sha256.New()}
	t.add(value)
	t.sum.Write(t.text)
	return digest(t.sum.Sum(nil))
}

// canonicalText is a canonical text that is written. With a sum, that gets it in pieces.
type canonicalText struct {
	text []byte
	sum  hash.Hash
}

// canonicalPiece is how long a piece is.
const canonicalPiece = 4 << 10

func (t *canonicalText) add(value any) {
	switch value := value.(type) {
	case nil:
		t.text = append(t.text, "null"...)
	case bool:
		t.text = strconv.AppendBool(t.text, value)
	case string:
		t.text = strconv.AppendQuote(t.text, value)
	case json.Number:
		n, _ := parseNumber(value.String())
		if n.negative && n.digits != "" {
			t.text = append(t.text, '-')
		}
		t.text = append(append(t.text, n.digits...), 'e')
		t.text = strconv.AppendFloat(t.text, n.exponent, 'f', -1, 64)
	case []any:
		t.text = append(t.text, '[')
		for _, item := range value {
			t.add(item)
			t.text = append(t.text, ',')
		}
		t.text = append(t.text, ']')
	case map[string]any:
		t.text = append(t.text, '{')
		for _, name := range slices.Sorted(maps.Keys(value)) {
			t.text = append(strconv.AppendQuote(t.text, name), ':')
			t.add(value[name])
			t.text = append(t.text, ',')
		}
		t.text = append(t.text, '}')
	}
	if t.sum != nil && len(t.text) > canonicalPiece {
		t.sum.Write(t.text)
		t.text = t.text[:0]
	}
}
