// Package gateway offers configured MCP servers to hosts.
//
// A host, such as a coding agent, uses Assent as its MCP server. What it asks for runs on the servers upstream, and what
// those ask during it is answered in Assent. A [Face] is what a host sees: one server, as that is, or all servers with
// names that tell them apart. Everything that a face does not have to know passes as it is, byte for byte.
//
// A call runs once. A host that gives up a call whose question is open can send the same call again and joins it. If the
// host is known to give up after a time, the call returns before with a handle for the tool assent_continue.
//
// All methods may be called from any goroutine. [Face.Close] waits for all calls.
package gateway

import (
	"context"
	"encoding/json"

	"assent/sidecar/mcpserver"
)

// Upstream is the servers behind a gateway.
type Upstream interface {
	// Servers returns the names of the servers that hosts may use, in the order of the configuration.
	Servers() []string

	// Describe returns what a server said about itself when it was last connected, and connects to it if it never was.
	Describe(ctx context.Context, server string) (Description, error)

	// List returns a list of a server, as the results of its pages: tools, prompts, resources or resourceTemplates. A
	// server without the capability has no pages.
	List(ctx context.Context, server, list string) ([]json.RawMessage, error)

	// Send sends a request to a server and returns its result. The error is an [mcpserver.Error] if the server answered
	// with one.
	Send(ctx context.Context, request Request) (json.RawMessage, error)

	// Ended says that a session of a host has ended. A request of it may still run, because it waits for a person.
	Ended(session string)
}

// Description is what a server says about itself in the handshake.
type Description struct {
	// Info is its Implementation object, and Capabilities its ServerCapabilities.
	Info, Capabilities json.RawMessage
	Instructions       string
}

// Request is a request of a host for a server.
type Request struct {
	// Session identifies the host's session, and Client is what the host says about itself.
	Session string
	Client  mcpserver.Client
	Server  string
	Method  string
	// Params are the host's, without what concerns only its own connection.
	Params json.RawMessage
	// Notify gets the notifications that belong to the request: its progress, without the token, and its log messages.
	Notify func(method string, params json.RawMessage)
	// Asking is called at each change of what the person is asked during the request, with the question that is open, or
	// "" for none.
	Asking func(question string)
}
