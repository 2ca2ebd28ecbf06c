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
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	"github.com/sourcegraph/jsonrpc2"

	"assent/protocol"
	"assent/sidecar/server"
)

// cancelRequest is the notification that cancels a request, in either direction.
const cancelRequest = "$/cancelRequest"

type cancelParams struct {
	ID jsonrpc2.ID `json:"id"`
}

// Sidecar is a sidecar with this process as its front end.
type Sidecar struct {
	protocol.Sidecar

	conn   *jsonrpc2.Conn
	h      *handler
	served chan struct{} // closed when the sidecar has ended
	err    error         // set before served is closed
	cancel context.CancelFunc
}

// Start starts a sidecar that calls editor. The handshake is the caller's. Ctx ends the sidecar; what waits for
// its answers then fails.
func Start(ctx context.Context, opts server.Options, editor protocol.Editor) *Sidecar {
	ctx, cancel := context.WithCancel(ctx)
	ours, theirs := net.Pipe()
	s := &Sidecar{
		h:      &handler{editor: editor, log: opts.Log, cancels: map[jsonrpc2.ID]context.CancelFunc{}},
		served: make(chan struct{}),
		cancel: cancel,
	}
	go func() { // Close waits for it
		defer close(s.served)
		s.err = server.New(opts).Serve(ctx, theirs, theirs)
	}()
	s.conn = jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(ours, jsonrpc2.VSCodeObjectCodec{}), s.h,
		jsonrpc2.SetLogger(connLogger{opts.Log}))
	s.Sidecar = protocol.NewSidecarClient(&conn{conn: s.conn})
	return s
}

// Close detaches the front end, and returns when the sidecar and all that it started have ended. An error means
// that the wire was broken.
func (s *Sidecar) Close() error {
	err := s.conn.Close()
	if errors.Is(err, jsonrpc2.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		err = nil // the sidecar was first
	}
	<-s.served
	s.cancel()
	s.h.wg.Wait()
	return errors.Join(err, s.err)
}

// conn is the front end's side of a connection as the generated stubs want it.
type conn struct {
	conn *jsonrpc2.Conn
	next atomic.Uint64
}

var _ protocol.Conn = (*conn)(nil)

// Call implements [protocol.Conn].
func (c *conn) Call(ctx context.Context, method string, params, result any) error {
	id := jsonrpc2.ID{Num: c.next.Add(1)}
	call, err := c.conn.DispatchCall(ctx, method, params, jsonrpc2.PickID(id))
	if err != nil {
		return fromWire(err)
	}
	err = call.Wait(ctx, result)
	if ctx.Err() != nil {
		// The answer will come all the same, and is dropped then.
		err = errors.Join(err, c.conn.Notify(context.WithoutCancel(ctx), cancelRequest, cancelParams{id}))
	}
	return fromWire(err)
}

// Notify implements [protocol.Conn].
func (c *conn) Notify(ctx context.Context, method string, params any) error {
	return fromWire(c.conn.Notify(ctx, method, params))
}

// fromWire is the one place where a JSON-RPC error becomes one of the protocol, with its data.
func fromWire(err error) error {
	var e *jsonrpc2.Error
	switch {
	case errors.Is(err, jsonrpc2.ErrClosed):
		return protocol.Errorf(protocol.CodeUnavailable, "the sidecar has ended")
	case !errors.As(err, &e):
		return err
	}
	out := &protocol.Error{Code: protocol.ErrorCode(e.Code), Message: e.Message}
	if e.Data == nil {
		return out
	}
	out.Data = *e.Data
	if out.Code == protocol.CodeInvalidAnswer {
		var data protocol.InvalidAnswerData
		if json.Unmarshal(*e.Data, &data) == nil {
			out.Data = data
		}
	}
	return out
}

// handler serves what the sidecar sends: notifications in order, before the next message is read, and every
// request in a goroutine of its own, since it may wait for a person.
type handler struct {
	editor protocol.Editor
	log    zerolog.Logger

	wg sync.WaitGroup // the requests

	mu      sync.Mutex // guards the field below
	cancels map[jsonrpc2.ID]context.CancelFunc
}

var _ jsonrpc2.Handler = (*handler)(nil)

// Handle implements [jsonrpc2.Handler].
func (h *handler) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	switch {
	case req.Method == cancelRequest:
		var params cancelParams
		if req.Params == nil || json.Unmarshal(*req.Params, &params) != nil {
			return
		}
		h.mu.Lock()
		cancel := h.cancels[params.ID]
		h.mu.Unlock()
		if cancel != nil { // it may have been answered meanwhile
			cancel()
		}
	case req.Notif:
		if _, err := h.dispatch(ctx, req); err != nil {
			h.log.Warn().Err(err).Str("method", req.Method).Msg("the terminal did not take an event")
		}
	default:
		ctx, cancel := context.WithCancel(ctx)
		h.mu.Lock()
		h.cancels[req.ID] = cancel
		h.mu.Unlock()
		h.wg.Go(func() {
			defer cancel()
			h.serve(ctx, conn, req)
			h.mu.Lock()
			delete(h.cancels, req.ID)
			h.mu.Unlock()
		})
	}
}

func (h *handler) serve(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	result, err := h.dispatch(ctx, req)
	if err == nil {
		err = conn.Reply(ctx, req.ID, result)
	} else {
		var e *protocol.Error
		if !errors.As(err, &e) {
			e = protocol.Errorf(protocol.CodeInternalError, "%v", err)
		}
		err = conn.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{Code: int64(e.Code), Message: e.Message})
	}
	if err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
		h.log.Debug().Err(err).Str("method", req.Method).Msg("the sidecar did not get its answer")
	}
}

// dispatch calls the method, and turns its panic into an error.
func (h *handler) dispatch(ctx context.Context, req *jsonrpc2.Request) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			h.log.Error().Interface("panic", r).Bytes("stack", debug.Stack()).Str("method", req.Method).Msg("handler panicked")
			err = fmt.Errorf("%s failed inside Assent's terminal: see its log", req.Method)
		}
	}()
	var params json.RawMessage
	if req.Params != nil {
		params = *req.Params
	}
	return protocol.DispatchEditor(ctx, h.editor, req.Method, params)
}

// connLogger is where the library says what it cannot return.
type connLogger struct{ log zerolog.Logger }

// Printf implements [jsonrpc2.Logger].
func (l connLogger) Printf(format string, v ...any) { l.log.Warn().Msgf(format, v...) }
