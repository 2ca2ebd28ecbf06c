// Package attach is a front end in Go at the end of a connection with a workspace. It has nothing that a front end in
// TypeScript has not.
//
// A [Sidecar] may be used from any goroutine. What the sidecar tells is passed on in its order, and a front end
// must not wait in there; what it asks has a goroutine each. [Sidecar.Close] waits for everything that was
// started. The package knows nothing of what the two talk about.
package attach

import (
	"context"
	"encoding/json"
	"net"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/rpc"
)

// Sidecar is a workspace with this process as one of its front ends.
type Sidecar struct {
	protocol.Sidecar

	wire net.Conn
	conn *rpc.Conn
}

// New has editor serve what comes over a connection. The handshake is the caller's. If ctx ends, the connection does; what
// waits for answers then fails.
func New(ctx context.Context, conn net.Conn, editor protocol.FrontEnd, log zerolog.Logger) *Sidecar {
	s := &Sidecar{wire: conn}
	s.conn = rpc.New(ctx, conn, conn, rpc.Options{
		Serve: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
			return protocol.DispatchFrontEnd(ctx, editor, method, params)
		},
		Peer: "the sidecar",
		Log:  log,
	})
	s.Sidecar = protocol.NewSidecarClient(s.conn)
	return s
}

// Done is closed when the connection is over.
func (s *Sidecar) Done() <-chan struct{} { return s.conn.Done() }

// Close detaches the front end. A connection of which one direction can be closed is over when the other end has closed the
// other, and so has ended what it does not go on with. An error means that the wire was broken.
func (s *Sidecar) Close() error {
	if half, ok := s.wire.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		<-s.conn.Done()
	}
	return s.conn.Close()
}
