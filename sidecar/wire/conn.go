// Package wire carries MCP's frames.
//
// A [Conn] is the layer between go-sdk's client and any connection to a server: lines over a process's
// pipes, a WebSocket, an HTTP stream. It does what the client cannot. It serves the server's requests
// from their raw params, where nothing is lost; it keeps the raw answer to a call whose context asks
// for it; it adds to a call's params what go-sdk's types do not have; and it shakes hands by itself,
// in whichever era the server speaks. A [Process] is a server that runs here.
//
// All methods may be called from any goroutine, but for Read, which has one caller. Requests are
// served in goroutines of their own, and their context ends when the server cancels the request or
// the connection ends; Close waits for them.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"
)

// Handler serves one kind of request. It is called in the order of the frames, so that it can note
// what is going on at that point of the conversation, and must not block. What it returns runs in a
// goroutine of its own; an error of that which is a [jsonrpc.Error] goes out as it is.
type Handler func(ctx context.Context, params json.RawMessage) func() (any, error)

// Options configure a [Conn].
type Options struct {
	// Serve holds the handlers by method. Other requests go up to go-sdk.
	Serve map[string]Handler
	// Tap is told of every message, encoded; it must not keep it.
	Tap func(fromServer bool, frame []byte)
	Log zerolog.Logger
}

// The causes with which a handler's context ends.
var (
	// ErrCancelled: the server sent notifications/cancelled. The cause may say why in its text.
	ErrCancelled = errors.New("the server cancelled its request")
	// ErrClosed: the connection ended.
	ErrClosed = errors.New("the connection ended")
)

// Conn is a connection to a server.
type Conn struct {
	opts  Options
	inner mcp.Connection
	// incoming holds what is go-sdk's to read.
	incoming chan jsonrpc.Message

	ctx    context.Context // of the handlers; stored because it is the connection's lifetime
	cancel context.CancelCauseFunc
	close  func() error

	wg sync.WaitGroup // the pump and the handlers; grows under mu only, and not once closed

	mu       sync.Mutex // guards the fields below
	closed   bool
	served   map[jsonrpc.ID]context.CancelCauseFunc
	captures map[jsonrpc.ID]pendingCapture
	calls    map[jsonrpc.ID]chan *jsonrpc.Response // our own, of one
	lastCall int64
	// handshake answers go-sdk's, which it was shaken before.
	handshake *Handshake
}

var (
	_ mcp.Connection = (*Conn)(nil)
	_ mcp.Transport  = (*Conn)(nil)
)

// NewConn returns a connection over inner, which it closes, and begins to read it.
func NewConn(inner mcp.Connection, opts Options) *Conn {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &Conn{
		opts: opts, inner: inner, ctx: ctx, cancel: cancel,
		incoming: make(chan jsonrpc.Message, 16),
		served:   map[jsonrpc.ID]context.CancelCauseFunc{},
		captures: map[jsonrpc.ID]pendingCapture{},
		calls:    map[jsonrpc.ID]chan *jsonrpc.Response{},
	}
	c.close = sync.OnceValue(func() error {
		c.mu.Lock()
		c.closed = true
		c.mu.Unlock()
		cancel(ErrClosed)
		err := inner.Close()
		c.wg.Wait()
		return err
	})
	c.wg.Go(c.pump)
	return c
}

// Connect implements [mcp.Transport]: a Conn is its own, and serves one session.
func (c *Conn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID implements [mcp.Connection].
func (c *Conn) SessionID() string { return c.inner.SessionID() }

// Close ends the connection and waits for the handlers. It is as bounded as the inner Close.
func (c *Conn) Close() error { return c.close() }

// Err returns nil while the connection lasts, and then why it does not.
func (c *Conn) Err() error { return context.Cause(c.ctx) }

// pump reads the connection to its end, in the order of the frames.
func (c *Conn) pump() {
	for {
		m, err := c.inner.Read(c.ctx)
		if err != nil {
			// Nobody is left to wait for the answers.
			c.cancel(fmt.Errorf("%w: %w", ErrClosed, err))
			return
		}
		c.tap(true, m)
		if m = c.route(m); m == nil {
			continue
		}
		select {
		case c.incoming <- m:
		case <-c.ctx.Done():
			return
		}
	}
}

func (c *Conn) tap(fromServer bool, m jsonrpc.Message) {
	if c.opts.Tap == nil {
		return
	}
	if frame, err := jsonrpc.EncodeMessage(m); err == nil {
		c.opts.Tap(fromServer, frame)
	}
}

// Read implements [mcp.Connection]: it returns what is go-sdk's to handle, and what had arrived
// before the end before the end.
func (c *Conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.incoming:
		return m, nil
	default:
	}
	select {
	case m := <-c.incoming:
		return m, nil
	case <-c.ctx.Done():
		select {
		case m := <-c.incoming:
			return m, nil
		default:
			return nil, c.Err()
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// route keeps what is ours. It returns what is go-sdk's, or nil.
func (c *Conn) route(m jsonrpc.Message) jsonrpc.Message {
	switch m := m.(type) {
	case *jsonrpc.Request:
		if h := c.opts.Serve[m.Method]; h != nil && m.IsCall() {
			c.serve(m, h)
			return nil
		}
		if m.Method == "notifications/cancelled" && c.cancelled(m.Params) {
			return nil
		}
	case *jsonrpc.Response:
		if c.answered(m) {
			return nil
		}
		c.capture(m)
	}
	return m
}

// serve runs a handler and writes its answer, unless the server has cancelled the request: then it
// expects none (2025-11-25, "Cancellation").
func (c *Conn) serve(r *jsonrpc.Request, h Handler) {
	ctx, cancel := context.WithCancelCause(c.ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		cancel(nil)
		return
	}
	c.served[r.ID] = cancel
	serve := h(ctx, r.Params)
	c.wg.Go(func() {
		defer cancel(nil)
		result, err := c.call(r.Method, serve)
		c.mu.Lock()
		delete(c.served, r.ID)
		c.mu.Unlock()
		if context.Cause(ctx) != nil {
			return
		}
		answer := &jsonrpc.Response{ID: r.ID}
		if err == nil {
			answer.Result, err = json.Marshal(result)
		}
		if err != nil {
			answer.Result, answer.Error = nil, toError(err)
		}
		if err := c.write(ctx, answer); err != nil {
			c.opts.Log.Warn().Err(err).Str("method", r.Method).Msg("the server did not get its answer")
		}
	})
}

// call turns a panic into an error: one request must not end the others.
func (c *Conn) call(method string, serve func() (any, error)) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			c.opts.Log.Error().Interface("panic", r).Bytes("stack", debug.Stack()).Str("method", method).Msg("handler panicked")
			err = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
		}
	}()
	return serve()
}

func toError(err error) *jsonrpc.Error {
	var e *jsonrpc.Error
	if errors.As(err, &e) {
		return e
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

// cancelled ends the handler of a request that the server cancels. It reports whether the request
// was one of ours.
func (c *Conn) cancelled(params json.RawMessage) bool {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
		Reason    string          `json:"reason"`
	}
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	id, err := makeID(p.RequestID)
	if err != nil {
		return false
	}
	c.mu.Lock()
	cancel := c.served[id]
	c.mu.Unlock()
	if cancel == nil {
		return false
	}
	cause := ErrCancelled
	if p.Reason != "" {
		cause = fmt.Errorf("%w: %s", ErrCancelled, p.Reason)
	}
	cancel(cause)
	return true
}

// Write implements [mcp.Connection].
func (c *Conn) Write(ctx context.Context, m jsonrpc.Message) error {
	r, ok := m.(*jsonrpc.Request)
	if !ok || !r.IsCall() {
		return c.write(ctx, m)
	}
	if answer := c.shaken(r); answer != nil {
		select {
		case c.incoming <- answer:
			return nil
		case <-c.ctx.Done():
			return c.Err()
		}
	}
	if capture, ok := ctx.Value(captureKey{}).(*Capture); ok {
		c.expect(ctx, r.ID, capture)
	}
	r, err := withExtraParams(ctx, r)
	if err != nil {
		return err
	}
	return c.write(ctx, r)
}

func (c *Conn) write(ctx context.Context, m jsonrpc.Message) error {
	c.tap(false, m)
	return c.inner.Write(ctx, m)
}

// Call sends a request of our own, beside go-sdk's, and returns the raw result. An error of the
// server is a [jsonrpc.Error].
func (c *Conn) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	answer := make(chan *jsonrpc.Response, 1)
	c.mu.Lock()
	c.lastCall++
	// go-sdk numbers its requests; a text cannot be one of those.
	id, err := jsonrpc.MakeID(fmt.Sprintf("assent-%d", c.lastCall))
	if err == nil {
		c.calls[id] = answer
	}
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	defer func() {
		c.mu.Lock()
		delete(c.calls, id)
		c.mu.Unlock()
	}()
	if err := c.write(ctx, &jsonrpc.Request{ID: id, Method: method, Params: raw}); err != nil {
		return nil, err
	}
	select {
	case response := <-answer:
		return response.Result, response.Error
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.ctx.Done():
		return nil, c.Err()
	}
}

// answered hands an answer to the call of ours that waits for it, if one does.
func (c *Conn) answered(m *jsonrpc.Response) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer, ok := c.calls[m.ID]
	if ok {
		delete(c.calls, m.ID)
		answer <- m
	}
	return ok
}
