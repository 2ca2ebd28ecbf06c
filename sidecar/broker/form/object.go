package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"assent/sidecar/base/jsonscan"
)

// member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// object is a JSON object with its members in the order in which they were written. encoding/json
// loses that order, but a person who fills in a form needs it.
type object []member

// UnmarshalJSON implements json.Unmarshaler. A repeated name is an error, because either member
// could be meant.
func (o *object) UnmarshalJSON(data []byte) error {
	if data[0] != '{' {
		return errors.New("not an object")
	}
	data = bytes.Clone(data) // data belongs to the caller
	seen := map[string]bool{}
	*o = object{}
	for name, value := range jsonscan.Of(data) {
		if seen[name] {
			return fmt.Errorf("%s occurs twice", quote(name))
		}
		seen[name] = true
		*o = append(*o, member{name, value})
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// decode reads the members of a JSON object that have exactly these names. encoding/json would
// accept "Type" for "type", and use the last of two members.
func decode(data json.RawMessage, into map[string]any) error {
	var o object
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	for _, m := range o {
		target, ok := into[m.name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(m.value, target); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}
