package rpc

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/sourcegraph/jsonrpc2"

	"assent/protocol"
	"assent/sidecar/base/reason"
)

// toWire is the only place where an error becomes a JSON-RPC error. People read its message.
func toWire(err error) *jsonrpc2.Error {
	var e *protocol.Error
	switch {
	case errors.As(err, &e):
		out := &jsonrpc2.Error{Code: int64(e.Code), Message: reason.Of(e)}
		if e.Data != nil {
			if data, err := json.Marshal(e.Data); err == nil {
				raw := json.RawMessage(data)
				out.Data = &raw
			}
		}
		return out
	case errors.Is(err, context.Canceled):
		return &jsonrpc2.Error{Code: int64(protocol.CodeRequestCancelled), Message: "the request was cancelled"}
	default:
		return &jsonrpc2.Error{Code: int64(protocol.CodeInternalError), Message: reason.Of(err)}
	}
}

// fromWire is the reverse of toWire and keeps the data. An error of the library itself means that the connection is
// over.
func (c *Conn) fromWire(err error) error {
	if err == nil {
		return nil
	}
	var e *jsonrpc2.Error
	switch {
	case errors.Is(err, jsonrpc2.ErrClosed):
		return protocol.Errorf(protocol.CodeUnavailable, "%s has ended", c.opts.Peer)
	case !errors.As(err, &e):
		return err
	}
	out := &protocol.Error{Code: protocol.ErrorCode(e.Code), Message: e.Message}
	if e.Data == nil {
		return out
	}
	out.Data = *e.Data
	if out.Code == protocol.CodeInvalidAnswer {
		var data protocol.InvalidAnswerData
		if json.Unmarshal(*e.Data, &data) == nil {
			out.Data = data
		}
	}
	return out
}
