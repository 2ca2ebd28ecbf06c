package wire

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// codeTooLong is the error of a request that is too long to be read. It is of JSON-RPC's range for
// implementations, of which MCP takes none for itself.
const codeTooLong = -32000

// unread is the extra of a request or notification that came without its params, because they could not be read.
type unread struct {
	// refusal is what the server is told where it waits for an answer.
	refusal *jsonrpc.Error
}

func unreadLong(size, maxFrame int) unread {
	return unread{&jsonrpc.Error{
		Code:    codeTooLong,
		Message: fmt.Sprintf("the request has %d bytes, and no more than %d are read", size, maxFrame),
		Data:    fmt.Appendf(nil, `{"bytes":%d,"max":%d}`, size, maxFrame),
	}}
}

// unreadDeep is of a request that is one, with an id and a method: what cannot be taken are its params, and JSON-RPC
// has its other errors for what is none (JSON-RPC 2.0, "Error object").
func unreadDeep() unread {
	return unread{&jsonrpc.Error{
		Code:    jsonrpc.CodeInvalidParams,
		Message: fmt.Sprintf("the request is nested more than %d deep, and no deeper is read", maxDepth),
	}}
}

// refuse is the [Handler] of such a request.
func (u unread) refuse(context.Context, json.RawMessage) func() (any, error) {
	return func() (any, error) { return nil, u.refusal }
}
