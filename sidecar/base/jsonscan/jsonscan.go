// Package jsonscan reads and edits JSON by the exact names of members, and leaves all other bytes as they are.
//
// [Of] yields an object's members without decoding their values, in their order, which encoding/json does not keep. It is
// for messages of which only a few members are needed. [Member] finds one of them; [Edit] and [With] change some.
// [Elements] yields those of an array, [Texts] all texts. [Unmarshal] decodes into a struct. All read JSON as encoding/json
// does, except that names are case-sensitive. The package has no state.
package jsonscan

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// Of yields the name and the value of each member of an object, in their order. The object has to be valid JSON
// without space around it. A value is the object's own memory.
func Of(object []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for quoted, value := range members(object) {
			if !yield(unquote(quoted), value) {
				return
			}
		}
	}
}

// members is [Of] with the names as they are written.
func members(object []byte) iter.Seq2[[]byte, json.RawMessage] {
	return func(yield func([]byte, json.RawMessage) bool) {
		at := skipSpace(object, 1)
		for object[at] != '}' {
			nameEnd := skipValue(object, at)
			name := object[at:nameEnd]
			at = skipSpace(object, skipSpace(object, nameEnd)+1) // the colon
			end := skipValue(object, at)
			if !yield(name, object[at:end:end]) {
				return
			}
			if at = skipSpace(object, end); object[at] == ',' {
				at = skipSpace(object, at+1)
			}
		}
	}
}

// Elements yields each element of an array, in their order. The array has to be valid JSON without space around it. An
// element is the array's own memory.
func Elements(array []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		at := skipSpace(array, 1)
		for array[at] != ']' {
			end := skipValue(array, at)
			if !yield(array[at:end:end]) {
				return
			}
			if at = skipSpace(array, end); array[at] == ',' {
				at = skipSpace(array, at+1)
			}
		}
	}
}

// Texts returns each text in a value, in its order. The names of members are texts. The value has to be valid.
func Texts(value []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for end := 0; ; {
			next := bytes.IndexByte(value[end:], '"')
			if next < 0 {
				return
			}
			at := end + next
			end = skipValue(value, at)
			if !yield(unquote(value[at:end])) {
				return
			}
		}
	}
}

// unquote returns a string of valid JSON.
func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 && utf8.Valid(quoted) {
		return string(quoted[1 : len(quoted)-1])
	}
	var text string
	_ = json.Unmarshal(quoted, &text) // it is valid
	return text
}

func skipSpace(text []byte, at int) int {
	for text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r' {
		at++
	}
	return at
}

// skipValue returns the end of the value that begins at a place in valid JSON that goes on after it.
func skipValue(text []byte, at int) int {
	depth := 0
	for ; ; at++ {
		switch text[at] {
		case '"':
			for at++; text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
			if depth == 0 {
				return at + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at // of what the number was in
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return at
			}
		}
	}
}
