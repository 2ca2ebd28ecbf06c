package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// tag is the first member of a union's variant V, named "type". It takes no memory and is never set: a
// generated method of V returns the tag. If V encoded itself with its tag, encoding/json would read and copy
// its output once more for each enclosing variant.
type tag[V any] struct{}

// MarshalText implements [encoding.TextMarshaler].
func (tag[V]) MarshalText() ([]byte, error) {
	variant, ok := any((*V)(nil)).(interface{ unionTag() string })
	if !ok {
		return nil, fmt.Errorf("%T is not a variant of a union", *new(V))
	}
	return []byte(variant.unionTag()), nil
}

// UnmarshalJSON implements [json.Unmarshaler]. It does nothing: the caller has checked the tag, or accepts
// only V.
func (*tag[V]) UnmarshalJSON([]byte) error { return nil }

// tagOf reads the tag of a union's JSON. It returns "" if data is empty.
func tagOf(data []byte) (string, error) {
	if len(data) == 0 || string(data) == "null" {
		return "", nil
	}
	if rest, ok := bytes.CutPrefix(data, []byte(`{"type":"`)); ok { // as the encoder here writes it
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

// unmarshal decodes without the two passes in which json.Unmarshal looks for the end of the value
// of an [json.Unmarshaler].
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
