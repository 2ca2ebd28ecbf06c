package form

import (
	"bytes"
	"encoding/json"
)

// IsExact reports whether doubles can hold all numbers of a JSON value exactly. Front ends use doubles.
func IsExact(value json.RawMessage) bool {
	if !json.Valid(value) {
		return true // no number of it can be lost
	}
	for at := 0; at < len(value); {
		switch c := value[at]; {
		case c == '"':
			at += quoted(value[at:])
		case c == '-' || '0' <= c && c <= '9':
			end := at + len(value[at:]) - len(bytes.TrimLeft(value[at:], "+-.0123456789Ee"))
			if !isExact(string(value[at:end])) {
				return false
			}
			at = end
		default:
			at++
		}
	}
	return true
}

// quoted returns the length of the text of JSON at the beginning of a valid value, with its quotes.
func quoted(value []byte) int {
	end := 1
	for value[end] != '"' {
		if value[end] == '\\' {
			end++
		}
		end++
	}
	return end + 1
}
