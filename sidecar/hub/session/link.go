package session

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/protocol"
	"assent/sidecar/base/deadline"
	"assent/sidecar/wire"
)

// link is an open channel to a server, below the session.
type link struct {
	// transport is for go-sdk, which connects it in the negotiated version.
	transport mcp.Transport
	handshake *wire.Handshake
	// call sends a request without go-sdk; see [wire.Conn.Call].
	call func(ctx context.Context, method string, params any) (json.RawMessage, error)
	// callsAside reports whether call can replace requests of go-sdk; see aside.
	callsAside bool
	// broken returns why the link broke, or nil while it lasts.
	broken func() error
	// answered returns when every request that the server sent so far has its answer, or ctx ends.
	answered func(ctx context.Context)
	// delivered returns when every answer so far is written, or ctx ends.
	delivered func(ctx context.Context)
	// close closes the link in bounded time.
	close func() error
	// why explains how a closed link ended; err is the error that the session returned.
	why func(err error) string
	// pid returns the id of the process, and exitCode its exit code. Both are nil for a server at a URL.
	pid      func() int
	exitCode func() (code int, ok bool)
	// stderr returns the last lines that the server wrote to stderr, if it is a process.
	stderr func() []string

	// The fields below belong to a link over the network. They are nil for a process, because its exit is noticed
	// without them.

	// lost is closed when the link is known to be broken.
	lost <-chan struct{}
	// lose ends the link for a reason.
	lose func(error)
	// alive returns an error if a modern server does not answer. Legacy servers are pinged instead.
	alive func(ctx context.Context) error
}

// settled records the negotiated version, if go-sdk made the handshake.
func (l *link) settled(session *mcp.ClientSession, capture *wire.Capture) {
	if l.handshake.Result == nil {
		l.handshake = &wire.Handshake{Era: l.handshake.Era, Version: session.InitializeResult().ProtocolVersion}
		l.handshake.Result, _ = wire.Mend(capture.Answer().Result)
	}
}

// leave notes that Assent ends the link, unless it has ended by itself: then the exit code of its process is no reason.
func (l *link) leave() {
	if l.broken() == nil {
		l.exitCode = nil
	}
}

// network reports whether the link is over the network, not to a process.
func (l *link) network() bool { return l.lose != nil }

// options returns the options of package wire, the layer under go-sdk.
func (c *Conn) options() wire.Options {
	opts := wire.Options{Log: c.log.sampled, Serve: map[string]wire.Handler{}}
	opts.Unmatched = func(came string) { c.stray([]byte(came)) }
	maps.Copy(opts.Serve, c.server.handler.Requests(c))
	opts.Serve["roots/list"] = c.serveRoots
	opts.Notify = maps.Clone(c.server.handler.Notifications(c))
	opts.Notify["notifications/progress"] = c.requests.progressed
	handleMessage := opts.Notify["notifications/message"]
	opts.Notify["notifications/message"] = func(params json.RawMessage) {
		c.logged(params)
		if handleMessage != nil {
			handleMessage(params)
		}
	}
	// Over HTTP, a server may ping on the stream of a request that go-sdk did not send.
	opts.Serve["ping"] = func(context.Context, json.RawMessage) func() (any, error) {
		return func() (any, error) { return struct{}{}, nil }
	}
	if tap := c.server.dialer.opts.Tap; tap != nil {
		opts.Tap = func(fromServer bool, frame []byte) { tap(c.server.config.Name, fromServer, frame) }
	}
	return opts
}

// open opens a link over the transport. It can return a closed link together with an error; the link then has details
// of the failure.
func (c *Conn) open(transport protocol.Transport, known wire.Era) (*link, error) {
	switch transport {
	case protocol.TransportHTTP:
		return c.openHTTP(known)
	case protocol.TransportSSE:
		return c.openSSE()
	case protocol.TransportWS:
		return c.openWebSocket(known)
	default:
		return c.openStdio(known)
	}
}

// withinHandshake returns a context with the time limit of a server's start. Its clock stops while a person logs in.
func (c *Conn) withinHandshake() (context.Context, context.CancelFunc) {
	return deadline.WithTimeout(c.ctx, c.server.dialer.opts.Handshake, wire.TimeoutError{After: c.server.dialer.opts.Handshake})
}

// noResult is a result without contents of each kind.
const noResult = `{"resultType":"complete","content":[],"contents":[],"messages":[]}`

// aside sends tools/call, resources/read, prompts/get and the requests for lists without go-sdk's connection, because only
// their raw answers are used. go-sdk would pass each answer to one more goroutine, and decode it with a buffer of 32 kB for
// each content block. Their ids are then those of [wire.Conn.Call], which are known in other text. aside returns empty
// results; for the raw ones see [wire.WithCapture]. Over HTTP, go-sdk has to read the answer's stream, so it gets an empty
// result in place of one that it might refuse.
func (l *link) aside(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		var result mcp.Result
		switch method {
		case "tools/call":
			result = &mcp.CallToolResult{}
		case "resources/read":
			result = &mcp.ReadResourceResult{}
		case "prompts/get":
			result = &mcp.GetPromptResult{}
		case "tools/list":
			return l.listAside(ctx, next, method, r, &mcp.ListToolsResult{})
		case "resources/list":
			return l.listAside(ctx, next, method, r, &mcp.ListResourcesResult{})
		case "resources/templates/list":
			return l.listAside(ctx, next, method, r, &mcp.ListResourceTemplatesResult{})
		case "prompts/list":
			return l.listAside(ctx, next, method, r, &mcp.ListPromptsResult{})
		}
		if result == nil {
			return next(ctx, method, r)
		}
		if !l.callsAside {
			wire.InPlace(ctx, func(json.RawMessage) json.RawMessage { return json.RawMessage(noResult) })
			return next(ctx, method, r)
		}
		if _, err := l.call(ctx, method, r.GetParams()); err != nil {
			return nil, err
		}
		return result, nil
	}
}

// listAside is aside for a list. go-sdk gets what [wire.Capture.InPlace] says.
func (l *link) listAside(ctx context.Context, next mcp.MethodHandler, method string, r mcp.Request, result mcp.Result) (mcp.Result, error) {
	if !l.callsAside {
		return next(ctx, method, r)
	}
	raw, err := l.call(ctx, method, r.GetParams())
	if err != nil {
		return nil, err
	}
	return result, json.Unmarshal(wire.ForSDK(ctx, raw), result)
}
