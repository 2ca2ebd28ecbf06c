package protocol

import (
	"context"
	"encoding/json"
	"fmt"
)

// Conn is what the generated stubs ask of a connection: Call sends a request and decodes its result,
// Notify sends a notification. Both may be called from any goroutine; ctx ends the waiting, and a
// Call that is given up sends $/cancelRequest.
type Conn interface {
	Call(ctx context.Context, method string, params, result any) error
	Notify(ctx context.Context, method string, params any) error
}

// unmarshalParams decodes a message's params; its errors name the method.
func unmarshalParams(method string, raw json.RawMessage, params any) error {
	if len(raw) == 0 {
		return Errorf(CodeInvalidParams, "%s: params are missing", method)
	}
	if err := json.Unmarshal(raw, params); err != nil {
		return Errorf(CodeInvalidParams, "%s: %v", method, err)
	}
	return nil
}

// unionTag reads the tag of a union's JSON; it is empty where there is nothing to decode.
func unionTag(data []byte) (string, error) {
	if len(data) == 0 || string(data) == "null" {
		return "", nil
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
