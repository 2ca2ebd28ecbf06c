// Package attach runs a sidecar inside this process and attaches a front end to it: the two speak the protocol
// over a pair of pipes, as they would over stdio, so that a front end in Go has nothing that one in TypeScript
// has not.
//
// A [Sidecar] may be used from any goroutine. What the sidecar tells is passed on in its order, and a front end
// must not wait in there; what it asks has a goroutine each. [Sidecar.Close] waits for everything that was
// started. The package knows nothing of what the two talk about.
package attach

import (
	"context"
	"encoding/json"
	"errors"
	"net"

	"assent/protocol"
	"assent/sidecar/rpc"
	"assent/sidecar/server"
)

// Sidecar is a sidecar with this process as its front end.
type Sidecar struct {
	protocol.Sidecar

	conn   *rpc.Conn
	served chan struct{} // closed when the sidecar has ended
	err    error         // set before served is closed
	cancel context.CancelFunc
}

// Start starts a sidecar that calls editor. The handshake is the caller's. Ctx ends the sidecar; what waits for
// its answers then fails.
func Start(ctx context.Context, opts server.Options, editor protocol.Editor) *Sidecar {
	ctx, cancel := context.WithCancel(ctx)
	ours, theirs := net.Pipe()
	s := &Sidecar{served: make(chan struct{}), cancel: cancel}
	go func() { // Close waits for it
		defer close(s.served)
		s.err = server.New(opts).Serve(ctx, theirs, theirs)
	}()
	s.conn = rpc.New(ctx, ours, ours, rpc.Options{
		Serve: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
			return protocol.DispatchEditor(ctx, editor, method, params)
		},
		Peer: "the sidecar",
		Log:  opts.Log,
	})
	s.Sidecar = protocol.NewSidecarClient(s.conn)
	return s
}

// Close detaches the front end, and returns when the sidecar and all that it started have ended. An error means
// that the wire was broken.
func (s *Sidecar) Close() error {
	err := s.conn.Close()
	<-s.served
	s.cancel()
	return errors.Join(err, s.err)
}
