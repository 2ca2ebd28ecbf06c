package form

import (
	"bytes"
	"encoding/json"
)

// IsExact reports whether doubles hold all numbers of a JSON value exactly, as those of a front end are.
func IsExact(value json.RawMessage) bool {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return true // the end, or what is no JSON: of that, nothing is lost
		}
		if n, ok := token.(json.Number); ok && !isExact(n.String()) {
			return false
		}
	}
}
