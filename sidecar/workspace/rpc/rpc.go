// Package rpc is the connection between the sidecar and a front end: JSON-RPC 2.0 in Content-Length frames, as
// in the Language Server Protocol. Both ends use it: the sidecar, and a front end in Go. The only method that
// it knows is "$/cancelRequest".
//
// Package sourcegraph/jsonrpc2 manages ids, calls and their answers, and the end. This package adds an object stream
// with bounded frames, and a handler that keeps notifications in order and cancels requests.
//
// A [Conn] may be used from any goroutine.
package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	"github.com/sourcegraph/jsonrpc2"

	"assent/protocol"
)

// Options configure a [Conn].
type Options struct {
	// Serve serves a request or a notification; the result of the latter is dropped. Its ctx ends when the peer
	// cancels the request or the connection ends. An error that is a [protocol.Error] is sent unchanged; a panic
	// becomes one. Notifications are served in order, before the next message is read, so they must not wait for
	// another message.
	Serve func(ctx context.Context, method string, params json.RawMessage) (any, error)
	// InOrder are the methods of requests that are served like notifications. Every other request has its own
	// goroutine.
	InOrder []string
	// Served is called after each answer to a request of InOrder, before the next message is read. It may be nil.
	Served func(method string)
	// MaxBacklog is how many bytes may wait for a peer that does not read. With more, the connection ends, so that one
	// such peer does not block the others. A peer that reads on may be slower than that. 0 means that the caller waits.
	MaxBacklog int
	// MaxFrame bounds a frame of the peer in bytes; 0 means 16 MiB. A frame is read into memory as a whole.
	MaxFrame int
	// Peer names the other end in errors: "the front end".
	Peer string
	// Tap, if it is set, is called for every frame, in order. It must not keep the frame.
	Tap func(fromPeer bool, frame []byte)
	Log zerolog.Logger
}

// errBacklog is the error of a connection that exceeds [Options.MaxBacklog].
var errBacklog = errors.New("does not read its messages")

// Conn is one end of a connection.
type Conn struct {
	opts    Options
	stream  *stream
	handler *handler
	conn    *jsonrpc2.Conn
	next    atomic.Uint64
	ending  sync.WaitGroup // the goroutine that ends a connection to a peer that does not read
}

var _ protocol.Conn = (*Conn)(nil)

// New starts a connection over in and out. It closes them in the end if they are closers. When ctx ends,
// so does the connection.
func New(ctx context.Context, in io.Reader, out io.Writer, opts Options) *Conn {
	c := &Conn{opts: opts, stream: newStream(in, out, opts), handler: newHandler(opts)}
	conn := jsonrpc2.NewConn(ctx, c.stream, c.handler, jsonrpc2.OnRecv(c.stream.restore),
		jsonrpc2.OnSend(c.stream.prepare), jsonrpc2.SetLogger(logger{opts.Log}))
	c.conn = conn
	if opts.MaxBacklog > 0 {
		c.stream.out.bound(opts.MaxBacklog, func(waiting int) error {
			tooMuch := fmt.Errorf("%s %w: %d bytes wait for it", opts.Peer, errBacklog, waiting)
			opts.Log.Warn().Err(tooMuch).Msg("the connection is ended")
			c.ending.Go(func() { _ = conn.Close() }) // Close returns the error
			return tooMuch
		})
	}
	return c
}

// Done is closed when the connection is over.
func (c *Conn) Done() <-chan struct{} { return c.conn.DisconnectNotify() }

// Close ends the connection, and waits for the requests and notifications that are being served, with their contexts
// cancelled. Nothing is served after it. The error says why the peer's frames could no longer be read, or that the peer
// did not read, or is from closing in or out.
func (c *Conn) Close() error {
	err := c.conn.Close()
	if errors.Is(err, jsonrpc2.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		err = nil // the peer closed it first
	}
	<-c.stream.ended // the library closes it in another goroutine
	c.handler.close()
	c.stream.out.wait()
	c.ending.Wait()
	return errors.Join(err, c.stream.brokenBy(), c.stream.out.unread())
}

// Call implements [protocol.Conn]. If it fails because the connection is over, Done is closed.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	id := jsonrpc2.ID{Num: c.next.Add(1)}
	call, err := c.conn.DispatchCall(ctx, method, params, jsonrpc2.PickID(id))
	if err != nil {
		return c.afterEnd(err)
	}
	err = call.Wait(ctx, result)
	if ctx.Err() != nil {
		// The answer still arrives, and is then dropped.
		err = errors.Join(err, c.Notify(context.WithoutCancel(ctx), cancelRequest, cancelParams{id}))
	}
	return c.afterEnd(err)
}

// afterEnd is fromWire for the error of a call. The library ends the calls shortly before it says that the connection is over.
func (c *Conn) afterEnd(err error) error {
	if errors.Is(err, jsonrpc2.ErrClosed) || errors.Is(err, errBacklog) {
		<-c.Done()
	}
	return c.fromWire(err)
}

// Notify implements [protocol.Conn]. It returns when the notification is written or queued.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	return c.fromWire(c.conn.Notify(ctx, method, params))
}

// logger logs the messages of the library that it does not return as errors.
type logger struct{ log zerolog.Logger }

// Printf implements [jsonrpc2.Logger].
func (l logger) Printf(format string, v ...any) { l.log.Warn().Msgf(format, v...) }
