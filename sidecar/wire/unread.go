package wire

import (
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/base/reason"
	"assent/sidecar/base/visible"
)

// codeTooLong is the code of the refusal of a request that is too long to read. It is in JSON-RPC's range for
// implementations, in which MCP defines no code.
const codeTooLong = -32000

// unread is the Extra of a request or a notification without its params, because they cannot be read.
type unread struct {
	// refusal answers the request.
	refusal *jsonrpc.Error
}

func unreadLong(size, maxFrame int) unread {
	return unread{&jsonrpc.Error{
		Code:    codeTooLong,
		Message: fmt.Sprintf("the request has %d bytes, and no more than %d are read", size, maxFrame),
		Data:    fmt.Appendf(nil, `{"bytes":%d,"max":%d}`, size, maxFrame),
	}}
}

// unreadDeep refuses the params, because the request itself is valid: it has an id and a method (JSON-RPC 2.0, "Error
// object").
func unreadDeep() unread {
	return unread{&jsonrpc.Error{
		Code:    jsonrpc.CodeInvalidParams,
		Message: fmt.Sprintf("the request is nested more than %d deep, and no deeper is read", maxDepth),
	}}
}

// UnreadableError is the error of a call with an answer that cannot be read. The connection stays
// open.
type UnreadableError struct {
	// Why describes the problem of the answer.
	Why string
	// Came is the beginning of the answer on one line, with hidden characters written out.
	Came string
}

// Error implements error.
func (e *UnreadableError) Error() string { return fmt.Sprintf("%s: %s", e.Why, e.Came) }

func unreadable(line []byte, why string, args ...any) error {
	return &UnreadableError{Why: fmt.Sprintf(why, args...), Came: quote(line)}
}

// maxQuote is the most bytes of an answer that an error quotes.
const maxQuote = 160

// quote returns the beginning of a frame, for an [UnreadableError].
func quote(data []byte) string {
	text := strings.ToValidUTF8(string(data[:min(len(data), maxQuote)]), "")
	if len(data) > maxQuote {
		text += "…"
	}
	return visible.Text(strings.Join(strings.Fields(text), " "))
}

// asUnreadable returns the error of a response that matches no request.
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
