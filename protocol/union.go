package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// tag is the first member of a union's variant V, named "type". It takes no room, and nobody sets it: V itself
// knows its tag, by a method that is generated. Were it V that encodes itself with its tag, encoding/json would
// read and copy what comes of it once more for each variant around it.
type tag[V any] struct{}

// MarshalText implements [encoding.TextMarshaler].
func (tag[V]) MarshalText() ([]byte, error) {
	variant, ok := any((*V)(nil)).(interface{ unionTag() string })
	if !ok {
		return nil, fmt.Errorf("%T is no variant of a union", *new(V))
	}
	return []byte(variant.unionTag()), nil
}

// UnmarshalJSON implements [json.Unmarshaler]. Whoever decodes a V has looked at its tag, or wants no other.
func (*tag[V]) UnmarshalJSON([]byte) error { return nil }

// tagOf reads the tag of a union's JSON; it is empty where there is nothing to decode.
func tagOf(data []byte) (string, error) {
	if len(data) == 0 || string(data) == "null" {
		return "", nil
	}
	if rest, ok := bytes.CutPrefix(data, []byte(`{"type":"`)); ok { // as an encoder here writes it
		if end := bytes.IndexAny(rest, `"\\`); end > 0 && rest[end] == '"' {
			return string(rest[:end]), nil
		}
	}
	var v struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return "", err
	}
	if v.Type == "" {
		return "", fmt.Errorf("a union's type is missing")
	}
	return v.Type, nil
}

// unmarshal decodes without the two passes by which json.Unmarshal finds out where the value of an
// [json.Unmarshaler] ends.
func unmarshal(data []byte, v any) error {
	if u, ok := v.(json.Unmarshaler); ok {
		return u.UnmarshalJSON(data)
	}
	return json.Unmarshal(data, v)
}

func unmarshalEach[T any](raws []json.RawMessage, unmarshal func([]byte) (T, error)) ([]T, error) {
	if raws == nil {
		return nil, nil
	}
	out := make([]T, len(raws))
	for i, raw := range raws {
		v, err := unmarshal(raw)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func missing(field string) error { return fmt.Errorf("%s is missing", field) }
