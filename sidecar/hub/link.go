package hub

import (
	"context"
	"encoding/json"

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

// settled notes what go-sdk settled on, where the handshake was its own.
func (l *link) settled(session *mcp.ClientSession, capture *wire.Capture) {
	if l.handshake.Result == nil {
		l.handshake = &wire.Handshake{Era: l.handshake.Era, Version: session.InitializeResult().ProtocolVersion, Result: capture.Answer().Result}
	}
}

// network reports whether the link is not to a process of ours.
func (l *link) network() bool { return l.lose != nil }

// open opens the link as the server is configured. It can return a closed link together with an error; the link then
// tells more about the failure.
func (c *conn) open(transport protocol.Transport, known wire.Era) (*link, error) {
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
func (c *conn) withinHandshake() (context.Context, context.CancelFunc) {
	return deadline.WithTimeout(c.ctx, c.server.hub.opts.Handshake, wire.TimeoutError{After: c.server.hub.opts.Handshake})
}

// stray handles a frame that is not JSON-RPC.
func (c *conn) stray(data []byte) {
	c.noteStray(data)
	c.noise.log.Warn().Bytes("data", data[:min(len(data), 200)]).Msg("dropped what the server sent and is not JSON-RPC")
}
