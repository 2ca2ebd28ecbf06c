package session

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/protocol"
	"assent/sidecar/deadline"
	"assent/sidecar/wire"
)

// link is the way to a server, opened.
type link struct {
	// transport is for go-sdk, to be connected in the version that was settled on.
	transport mcp.Transport
	handshake *wire.Handshake
	// call makes a request of our own, beside go-sdk's; see [wire.Conn.Call].
	call func(ctx context.Context, method string, params any) (json.RawMessage, error)
	// callsAside is set if call can make requests of go-sdk; see aside.
	callsAside bool
	// broken returns nil while the link lasts.
	broken func() error
	// answered returns when every request of the server that came so far has its answer, or ctx ends.
	answered func(ctx context.Context)
	// delivered returns when every answer that was given is with the server, or ctx ends.
	delivered func(ctx context.Context)
	// close ends it within bounds.
	close func() error
	// why says how the link ended, once it was closed; err is what the session noticed.
	why func(err error) string
	// pid returns the id of the process, and exitCode its exit code. Both are nil for a server at a URL.
	pid      func() int
	exitCode func() (code int, ok bool)
	// stderr returns the last lines that the server wrote to stderr, if it is a process.
	stderr func() []string

	// The following belong to a link over the network. They are nil for a process, which shows itself whether it lives.

	// lost is closed when the link is known to be broken.
	lost <-chan struct{}
	// lose ends the link for a reason.
	lose func(error)
	// alive asks a modern server for a sign of life; a legacy one is pinged.
	alive func(ctx context.Context) error
}

// settled notes the version that go-sdk agreed on, if go-sdk made the handshake.
func (l *link) settled(session *mcp.ClientSession, capture *wire.Capture) {
	if l.handshake.Result == nil {
		l.handshake = &wire.Handshake{Era: l.handshake.Era, Version: session.InitializeResult().ProtocolVersion, Result: capture.Answer().Result}
	}
}

// network reports whether the link is not to a process of ours.
func (l *link) network() bool { return l.lose != nil }

// options are those of the layer under go-sdk.
func (c *Conn) options() wire.Options {
	opts := wire.Options{Log: c.log.sampled, Serve: map[string]wire.Handler{}, Stacks: c.server.dialer.opts.Stacks}
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
	// Over HTTP a server may say these in answer to a request of ours, of which go-sdk does not know.
	opts.Serve["ping"] = func(context.Context, json.RawMessage) func() (any, error) {
		return func() (any, error) { return struct{}{}, nil }
	}
	if tap := c.server.dialer.opts.Tap; tap != nil {
		opts.Tap = func(fromServer bool, frame []byte) { tap(c.server.config.Name, fromServer, frame) }
	}
	return opts
}

// open opens the link as the server is configured. It can return a closed link together with an error; the link then
// tells more about the failure.
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

// withinHandshake bounds a server's start. While a person logs in, the clock stands.
func (c *Conn) withinHandshake() (context.Context, context.CancelFunc) {
	return deadline.WithTimeout(c.ctx, c.server.dialer.opts.Handshake, wire.TimeoutError{After: c.server.dialer.opts.Handshake})
}

// noMemory has go-sdk cache no list and no resource, by removing the time to live from results. The [Handler] learns
// of changes in the order of the frames, and go-sdk does not get these notifications.
func noMemory(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, r)
		switch result := result.(type) {
		case *mcp.ListToolsResult:
			result.TTLMs = 0
		case *mcp.ListPromptsResult:
			result.TTLMs = 0
		case *mcp.ListResourcesResult:
			result.TTLMs = 0
		case *mcp.ListResourceTemplatesResult:
			result.TTLMs = 0
		case *mcp.ReadResourceResult:
			result.TTLMs = 0
		}
		return result, err
	}
}

// aside makes the requests whose raw answer counts, without go-sdk's connection: that would hand each answer to one more
// goroutine, and decode it, in a buffer of 32 kB for each block of its content. The results that it returns are empty; see
// [wire.WithCapture].
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
		}
		if result == nil || !l.callsAside {
			return next(ctx, method, r)
		}
		if _, err := l.call(ctx, method, r.GetParams()); err != nil {
			return nil, err
		}
		return result, nil
	}
}
