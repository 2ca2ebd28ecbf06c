package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
)

// Conn is the connection that the generated stubs need. Call sends a request and decodes its result,
// Notify sends a notification. Both may be called from any goroutine. When ctx ends, Call stops
// waiting and sends $/cancelRequest.
type Conn interface {
	Call(ctx context.Context, method string, params, result any) error
	Notify(ctx context.Context, method string, params any) error
}

// unmarshalParams decodes a message's params; its errors name the method.
func unmarshalParams(method string, raw json.RawMessage, params any) error {
	if len(raw) == 0 {
		return Errorf(CodeInvalidParams, "%s: params are missing", method)
	}
	if err := unmarshal(raw, params); err != nil {
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) { // the codecs of messages with unions embed them as "plain"
			mismatch.Field = strings.ReplaceAll(mismatch.Field, "plain.", "")
		}
		return Errorf(CodeInvalidParams, "%s: %v", method, err)
	}
	return nil
}
