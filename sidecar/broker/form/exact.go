package form

import (
	"bytes"
	"encoding/json"
)

// IsExact reports whether doubles can hold all numbers of a JSON value exactly. Front ends use doubles.
func IsExact(value json.RawMessage) bool {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return true // the end, or invalid JSON, in which no number can be lost
		}
		if n, ok := token.(json.Number); ok && !isExact(n.String()) {
			return false
		}
	}
}
