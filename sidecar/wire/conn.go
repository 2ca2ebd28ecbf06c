// Package wire carries MCP's frames.
//
// A [Conn] is the layer between go-sdk's client and any connection to a server: lines over a process's
// pipes, a WebSocket, an HTTP stream. It does what the client cannot. It serves the server's requests
// from their raw params, where nothing is lost; it handles the server's notifications without a queue;
// it keeps the raw answer to a call whose context asks for it; it adds to a call's params what go-sdk's
// types do not have; and it shakes hands by itself, in whichever era the server speaks. A [Process] is
// a server that runs here.
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
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"assent/sidecar/stack"
)

// Handler serves one kind of request. It is called in the order of the frames, so that it can note
// what is going on at that point of the conversation, and must not block. What it returns runs in a
// goroutine of its own; an error of that which is a [jsonrpc.Error] goes out as it is, and [ErrNoAnswer] sends
// nothing.
type Handler func(ctx context.Context, params json.RawMessage) func() (any, error)

// Options configure a [Conn].
type Options struct {
	// Serve holds the handlers by method. Other requests go up to go-sdk.
	Serve map[string]Handler
	// Notify holds who is told of notifications, by method. They are called in the order of the frames, and the next
	// frame is read when they return. The params are nil where they are too long to be read. Other notifications are
	// dropped, but for notifications/cancelled.
	Notify map[string]func(params json.RawMessage)
	// Unmatched is told of the beginning of each response that can match no request; it must not block.
	Unmatched func(came string)
	// Tap is told of every message, encoded; it must not keep it.
	Tap func(fromServer bool, frame []byte)
	// Stacks are where answers are written; nil means on those of whoever gave them.
	Stacks *stack.Pool
	Log    zerolog.Logger
}

// The causes with which a handler's context ends.
var (
	// ErrCancelled: the server sent notifications/cancelled. The cause may say why in its text.
	ErrCancelled = errors.New("the server cancelled its request")
	// ErrClosed: the connection ended.
	ErrClosed = errors.New("the connection ended")
)

// ErrNoAnswer is returned for a request that gets no answer, because the server was told that the call behind the
// request is cancelled.
var ErrNoAnswer = errors.New("the call behind the request was cancelled")

// Conn is a connection to a server.
type Conn struct {
	opts  Options
	inner mcp.Connection
	// incoming holds what is go-sdk's to read.
	incoming chan jsonrpc.Message
	inbound  *inbound

	ctx    context.Context // stored because it is the connection's lifetime
	cancel context.CancelCauseFunc
	close  func() error
	pumped chan struct{} // closed when the pump has ended

	mu       sync.Mutex // guards the fields below
	captures map[jsonrpc.ID]pendingCapture
	calls    map[jsonrpc.ID]chan *jsonrpc.Response // our own, of one
	lastCall int64
	// handshake answers go-sdk's, which it was shaken before.
	handshake *Handshake
	// shaking ends the handshake while hands are shaken, and is nil otherwise. UnmatchedTimer does so some time after a
	// response that matches no request, or nil.
	shaking        context.CancelCauseFunc
	unmatchedTimer *time.Timer
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
		incoming: make(chan jsonrpc.Message, 16), pumped: make(chan struct{}),
		inbound:  newInbound(ctx, opts),
		captures: map[jsonrpc.ID]pendingCapture{},
		calls:    map[jsonrpc.ID]chan *jsonrpc.Response{},
	}
	c.close = sync.OnceValue(func() error {
		cancel(ErrClosed)
		err := inner.Close()
		<-c.pumped
		c.inbound.close()
		return err
	})
	go c.pump() // Close waits for its end
	return c
}

// Connect implements [mcp.Transport]: a Conn is its own, and serves one session.
func (c *Conn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID implements [mcp.Connection].
func (c *Conn) SessionID() string { return c.inner.SessionID() }

// Close ends the connection and waits for the handlers. It is as bounded as the inner Close.
func (c *Conn) Close() error { return c.close() }

// Answered returns when every request of the server that came so far has its answer, or ctx ends.
func (c *Conn) Answered(ctx context.Context) { c.inbound.unanswered.wait(ctx) }

// Delivered returns when every answer that was given so far is with the server, or ctx ends.
func (c *Conn) Delivered(ctx context.Context) { c.inbound.undelivered.wait(ctx) }

// Err returns nil while the connection lasts, and then why it does not.
func (c *Conn) Err() error { return context.Cause(c.ctx) }

// Done is closed when the connection has ended, by itself or not.
func (c *Conn) Done() <-chan struct{} { return c.ctx.Done() }

// Lose ends the connection for a reason. It is still to be closed.
func (c *Conn) Lose(why error) { c.cancel(fmt.Errorf("%w: %w", ErrClosed, why)) }

// pump reads the connection to its end, in the order of the frames.
func (c *Conn) pump() {
	defer close(c.pumped)
	for {
		m, err := c.inner.Read(c.ctx)
		if err != nil {
			// Nobody is left to wait for the answers.
			c.cancel(fmt.Errorf("%w: %w", ErrClosed, err))
			return
		}
		c.opts.tap(true, m)
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
	if c.inbound.take(c.ctx, m, c.respond) {
		return nil
	}
	if r, ok := m.(*jsonrpc.Response); ok {
		if c.answered(r) || c.unmatched(r) {
			return nil
		}
		c.capture(r)
	}
	return m
}

// unmatched takes a response that can match no request: it has no id, or comes during the handshake with an id that no
// request had. It reports whether the response is one.
func (c *Conn) unmatched(m *jsonrpc.Response) bool {
	if c.mayMatch(m.ID) {
		return false
	}
	why := asUnreadable(m)
	c.noteUnmatched(why)
	if c.opts.Unmatched != nil {
		c.opts.Unmatched(why.Came)
	}
	return true
}

// mayMatch reports whether a request may have an id. During the handshake only requests of [Conn.Call] are made.
func (c *Conn) mayMatch(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, _ := id.Raw().(int64)
	return id.IsValid() && (c.shaking == nil || n > firstCall && n <= firstCall+c.lastCall)
}

// Write implements [mcp.Connection].
func (c *Conn) Write(ctx context.Context, m jsonrpc.Message) error {
	r, ok := m.(*jsonrpc.Request)
	if answer, ok := m.(*jsonrpc.Response); ok {
		defer c.inbound.handedDown(answer.ID)
	}
	if !ok || !r.IsCall() {
		if capture, ok := ctx.Value(captureKey{}).(*Capture); ok && isCancellation(r) {
			defer capture.cancellationTold()
		}
		return c.write(ctx, inOurWords(m))
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

func (c *Conn) respond(ctx context.Context, m *jsonrpc.Response) error { return c.write(ctx, m) }

func (c *Conn) write(ctx context.Context, m jsonrpc.Message) error {
	c.opts.tap(false, m)
	return c.inner.Write(ctx, m)
}

// firstCall is the number before the id of our first request. go-sdk numbers its own from 1. The ids are integers,
// because some peers can return no others, and fit into 32 bits.
const firstCall = 1_000_000_000

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
	id, err := jsonrpc.MakeID(float64(firstCall + c.lastCall))
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
		c.giveUp(method, id)
		return nil, context.Cause(ctx)
	case <-c.ctx.Done():
		select {
		case response := <-answer: // what had arrived before the end
			return response.Result, response.Error
		default:
			return nil, c.Err()
		}
	}
}

// giveUp tells the server that nobody waits any more. A handshake is not cancelled (2025-11-25,
// "Cancellation").
func (c *Conn) giveUp(method string, id jsonrpc.ID) {
	if method == "initialize" || method == "server/discover" {
		return
	}
	params, err := json.Marshal(map[string]any{"requestId": id.Raw()})
	if err == nil {
		err = c.write(c.ctx, &jsonrpc.Request{Method: "notifications/cancelled", Params: params})
	}
	if err != nil {
		c.opts.Log.Debug().Err(err).Msg("the server was not told that nobody waits")
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
