// Package mcpserver carries MCP's frames between hosts and a server.
//
// It is the counterpart of package wire: the server's side of MCP, without an SDK. A [Session] is the conversation with
// one host. [ServeLines] has one over a pipe, and an [HTTP] has any number over Streamable HTTP. The package does the
// handshake in every era from 2024-11-05 to 2026-07-28, checks what the protocol asks of a request, and matches
// requests, answers and cancellations. Params and results pass as they are: raw JSON, in which no byte is changed. What
// tools there are, and what a call does, is the business of a [Server].
//
// All methods may be called from any goroutine. Each request of a host is served in a goroutine of its own, and
// Close waits for all of them. A slow host does not block others: frames wait in a queue, and a session with
// too many of them ends.
package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Revisions of MCP.
const (
	// ModernRevision is the first revision without a handshake: every request says what the host can do.
	ModernRevision = "2026-07-28"
	// latestLegacy is the newest revision that begins with initialize.
	latestLegacy = "2025-11-25"
)

// legacyRevisions begin with initialize. The newest is the first.
var legacyRevisions = []string{latestLegacy, "2025-06-18", "2025-03-26", "2024-11-05"}

// servedRevisions returns the served revisions of MCP. The newest is the first.
func servedRevisions() []string { return append([]string{ModernRevision}, legacyRevisions...) }

// Server serves what hosts ask for. Its methods are called from many goroutines.
type Server interface {
	// Offer returns what the handshake tells a host: the answer to initialize and to server/discover. It should return at
	// once, since some hosts give up after three seconds.
	Offer(ctx context.Context, session *Session) (Offer, error)

	// Serve returns a function that answers a request, or nil if there is no such method. Serve is called in the order of
	// the frames and must not block. The function runs in a goroutine of its own. Its context ends when the host cancels
	// the request (the cause is [ErrCancelled]) or the session ends ([ErrEnded]). An [*Error] reaches the host as it is;
	// another error becomes an internal error with its text.
	//
	// The session itself serves initialize, ping, server/discover and subscriptions/listen.
	Serve(request *Request) func(ctx context.Context) (json.RawMessage, error)

	// Listen begins to send what a host listens for (2026-07-28, "Subscriptions"), and returns the part that the server
	// can send. It must not block. The context ends with the subscription.
	Listen(ctx context.Context, session *Session, want Filter) Filter

	// Notified gets the notifications of a host that the session does not handle itself, in the order of the frames. It
	// must not block.
	Notified(session *Session, method string, params json.RawMessage)

	// Ended tells that a session has ended. No other method is called for it after that.
	Ended(session *Session)
}

// Offer is what a handshake tells a host.
type Offer struct {
	// Info is the Implementation object of the server.
	Info json.RawMessage
	// Capabilities is the object with the server's capabilities.
	Capabilities json.RawMessage
	// Instructions say how the server is to be used: a JSON string, or nil.
	Instructions json.RawMessage
}

// Client is what a host tells about itself.
type Client struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
	// Revision is the protocol revision of the session or, since 2026-07-28, of the request.
	Revision string `json:"-"`
	// Capabilities is the object with the host's capabilities.
	Capabilities json.RawMessage `json:"-"`
}

// Modern reports whether the host speaks a revision without a handshake.
func (c Client) Modern() bool { return c.Revision >= ModernRevision }

// Filter says which notifications a host listens for (2026-07-28, subscriptions/listen).
type Filter struct {
	ToolsListChanged      bool     `json:"toolsListChanged,omitempty"`
	PromptsListChanged    bool     `json:"promptsListChanged,omitempty"`
	ResourcesListChanged  bool     `json:"resourcesListChanged,omitempty"`
	ResourceSubscriptions []string `json:"resourceSubscriptions,omitempty"`
	// TaskIDs are the MCP tasks to send notifications for (extension io.modelcontextprotocol/tasks).
	TaskIDs []string `json:"taskIds,omitempty"`
}

// empty reports whether nothing is listened for.
func (f Filter) empty() bool {
	return !f.ToolsListChanged && !f.PromptsListChanged && !f.ResourcesListChanged &&
		len(f.ResourceSubscriptions) == 0 && len(f.TaskIDs) == 0
}

// The causes with which the context of a request ends.
var (
	// ErrCancelled: the host cancelled the request.
	ErrCancelled = errors.New("the host cancelled the request")
	// ErrEnded: the session has ended.
	ErrEnded = errors.New("the session with the host has ended")
)

// JSON-RPC's error codes, and those of MCP.
const (
	CodeParse              = -32700
	CodeInvalidRequest     = -32600
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602
	CodeInternal           = -32603
	CodeHeaderMismatch     = -32020
	CodeMissingCapability  = -32021
	CodeUnsupportedVersion = -32022
	// codeBusy is a code of the range that JSON-RPC leaves to servers.
	codeBusy = -32000
)

// Error is a JSON-RPC error.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// errorf returns an error with a code.
func errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// wireError returns an error as JSON-RPC has it.
func wireError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeInternal, Message: err.Error()}
}
