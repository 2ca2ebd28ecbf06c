// Package gateway offers configured MCP servers to hosts.
//
// A host, such as a coding agent, uses Assent as its MCP server. Its requests run on the servers upstream, and their
// questions are answered in Assent. A [View] is the host's view: one server as it is, or all servers with distinct
// names. All data that a view does not need is passed on byte for byte.
//
// A call runs once. A host that cancels a call with an open question can send the same call again and joins it. If the
// host is known to time out, the call returns earlier with a handle for the tool assent_continue. A host that has MCP
// tasks can get one for each call, even if the server does not run the call as one.
//
// All methods may be called from any goroutine. [View.Close] waits for all calls.
package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"assent/sidecar/gateway/mcpserver"
)

// Upstream is the servers behind a gateway.
type Upstream interface {
	// Servers returns the names of the servers that hosts may use, in the order of the configuration.
	Servers() []string

	// Describe returns what a server said about itself when it was last connected, and connects to it if it never was.
	Describe(ctx context.Context, server string) (Description, error)

	// List returns a list of a server, as the results of its pages: tools, prompts, resources or resourceTemplates. A
	// server without the capability has no pages. A list that is kept is returned at once, and a server that failed is not
	// tried for a while. The waitLimit says for how long a server that starts is waited for, from the beginning of its
	// reading; then the error is [ErrReading], and [View.ListChanged] is called when the list has come. 0 has no end.
	List(ctx context.Context, server, list string, waitLimit time.Duration) ([]json.RawMessage, error)

	// Told returns a list of a server as hosts got it last, nil if none did. It asks no server.
	Advertised(server, list string) []json.RawMessage

	// Send sends a request to a server and returns its result. The error is an [mcpserver.Error] if the server answered
	// with one.
	Send(ctx context.Context, request Request) (json.RawMessage, error)

	// Subscribe subscribes to a resource until stop is called. It returns when the server was asked. [View.ResourceUpdated]
	// is to be called for what the server then says.
	Subscribe(ctx context.Context, server, uri string) (stop func(), err error)

	// Keep saves the state of a call for a later daemon, and replaces its earlier state. Nil deletes it.
	Save(place Place, saved *SavedCall)

	// Joined says that other equal calls wait for the result of one, or none any more.
	Joined(place Place, joined Joined)

	// RootsChanged says that the roots of a host have changed. List asks the host for them.
	RootsChanged(session string, list func(ctx context.Context) (json.RawMessage, error))

	// Ended says that a session of a host has ended. A request of it may still run, because it waits for a person.
	Ended(session string)
}

// ErrReading is the error of a list that has not come yet.
var ErrReading = errors.New("the server has not answered yet")

// Description is what a server says about itself in the handshake.
type Description struct {
	// Info is its Implementation object, and Capabilities its ServerCapabilities.
	Info, Capabilities json.RawMessage
	// Instructions are a JSON string, or nil.
	Instructions json.RawMessage
}

// Sender is the host that makes a request.
type Sender struct {
	// Session identifies the host's session, and Client is what the host says about itself.
	Session string
	Client  mcpserver.Client
	// Conversation identifies the conversation of the host's program, if that names it; else it is "", and the session is one.
	// It is a UUID, and the same in each session and after the daemon's restart.
	Conversation string
}

// Request is a request of a host for a server.
type Request struct {
	Sender
	Server string
	Method string
	// Params are the host's, without what concerns only its own connection.
	Params json.RawMessage
	// Place is that of a call that an earlier daemon began and that is to go on; "" begins one. If the call cannot go on, the
	// error says so.
	Place Place
	// Began is called with the place of a call that has begun. Following is called if the server made an MCP task of
	// the call, with the status message of the task, or "".
	Began     func(place Place)
	Following func(message string)
	// Notify gets the notifications that belong to the request: its progress, without the token, and its log messages.
	Notify func(method string, params json.RawMessage)
	// Asking is called at each change of what the person is asked during the request, with the question that is open, or
	// "" for none.
	Asking func(question string)
	// LogLevel is the level of the log messages that the host wants by logging/setLevel, or "".
	LogLevel string
	// AnswerIn says who is asked what the server asks during the request.
	AnswerIn AnswerIn
	// Quiet: no notification of the operating system calls the person to the questions.
	Quiet bool
	// Ask asks the host a question of the server, and returns the result. It calls queued as soon as later questions
	// are sure to come after it. The error is an [mcpserver.Error] if the host answered with one. Ask and Hold are nil
	// for requests that cannot lead to questions.
	Ask func(ctx context.Context, question Question, queued func()) (json.RawMessage, error)
	// Hold keeps questions from the host until release is called, so that it gets them together.
	Hold func() (release func())
}

// Question is a request of a server that a host may answer: elicitation/create, sampling/createMessage or roots/list.
type Question struct {
	// Name is the server's own for it, or "".
	Name   string
	Method string
	Params json.RawMessage
}

// AnswerIn says where the questions of servers during a host's calls are answered.
type AnswerIn string

// Where questions are answered.
const (
	// AnswerInAssent: in Assent. It is the default.
	AnswerInAssent AnswerIn = "assent"
	// AnswerInHost: in the host. What the host did not declare, or does not answer in time, is answered in Assent.
	AnswerInHost AnswerIn = "host"
	// AnswerInBoth: in both. The first answer counts.
	AnswerInBoth AnswerIn = "first"
)

// UnmarshalText implements [encoding.TextUnmarshaler].
func (a *AnswerIn) UnmarshalText(text []byte) error {
	switch is := AnswerIn(text); is {
	case AnswerInAssent, AnswerInHost, AnswerInBoth:
		*a = is
		return nil
	default:
		return fmt.Errorf("%q is none of %s, %s and %s", is, AnswerInAssent, AnswerInHost, AnswerInBoth)
	}
}

// MarshalText implements [encoding.TextMarshaler].
func (a AnswerIn) MarshalText() ([]byte, error) { return []byte(cmp.Or(a, AnswerInAssent)), nil }
