package wire

import (
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/reason"
	"assent/sidecar/visible"
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

// UnreadableError is the error of a call whose answer came and cannot be read. Its connection stays.
type UnreadableError struct {
	// Why says what is wrong with the answer. Came is the beginning of it, on one line and without hidden characters.
	Why, Came string
}

// Error implements error.
func (e *UnreadableError) Error() string { return fmt.Sprintf("%s: %s", e.Why, e.Came) }

func unreadable(line []byte, why string, args ...any) error {
	return &UnreadableError{Why: fmt.Sprintf(why, args...), Came: quote(line)}
}

// maxQuote bounds how much of an answer an error quotes, in bytes.
const maxQuote = 160

// quote returns the beginning of what came, for an error.
func quote(data []byte) string {
	text := strings.ToValidUTF8(string(data[:min(len(data), maxQuote)]), "")
	if len(data) > maxQuote {
		text += "…"
	}
	return visible.Text(strings.Join(strings.Fields(text), " "))
}

// asUnreadable returns the error of a response whose id matches no request.
func asUnreadable(m *jsonrpc.Response) *UnreadableError {
	var already *UnreadableError
	if errors.As(m.Error, &already) {
		return already
	}
	frame, err := encode(m)
	if err != nil {
		frame = []byte(reason.Of(err))
	}
	return &UnreadableError{Why: "its id matches no request", Came: quote(frame)}
}
