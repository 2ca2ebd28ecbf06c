// Package attach connects a front end in Go to a workspace. It uses only the protocol, like a front end in TypeScript.
//
// A [Sidecar] may be used from any goroutine. It delivers the sidecar's notifications in order, so the front end must
// not block in them; each request has its own goroutine. [Sidecar.Close] waits for all goroutines. The package does not
// know the protocol's methods.
package attach

import (
	"context"
	"encoding/json"
	"net"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/workspace/rpc"
)

// Sidecar is a connection to a workspace, with this process as a front end.
type Sidecar struct {
	protocol.Sidecar

	wire net.Conn
	conn *rpc.Conn
}

// maxFrame is how many bytes a message of the sidecar may have. A result may have as many as a server may send, 16 MiB,
// and each of its bytes may be escaped.
const maxFrame = 6*(16<<20) + 1<<20

// New serves editor over a connection. The caller makes the handshake. The end of ctx ends the connection, and pending
// requests fail.
func New(ctx context.Context, conn net.Conn, editor protocol.FrontEnd, log zerolog.Logger) *Sidecar {
	s := &Sidecar{wire: conn}
	s.conn = rpc.New(ctx, conn, conn, rpc.Options{
		Serve: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
			return protocol.DispatchFrontEnd(ctx, editor, method, params)
		},
		MaxFrame: maxFrame,
		Peer:     "Assent",
		Log:      log,
	})
	s.Sidecar = protocol.NewSidecarClient(s.conn)
	return s
}

// Done returns a channel that is closed when the connection is over.
func (s *Sidecar) Done() <-chan struct{} { return s.conn.Done() }

// Close detaches the front end. If the connection can be half-closed, Close waits until the other end has ended the
// work of this front end and closed its own direction. An error means that the connection broke.
func (s *Sidecar) Close() error {
	if half, ok := s.wire.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		<-s.conn.Done()
	}
	return s.conn.Close()
}
