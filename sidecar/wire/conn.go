// Package wire carries MCP's frames.
//
// A [Conn] is the layer between go-sdk's client and a connection to a server: lines over the pipes of a
// process, a WebSocket, or HTTP with SSE. [HTTP] is that layer for Streamable HTTP. The layer does five things
// that go-sdk's client does not do:
//
//   - It serves the server's requests from their raw params, which lose nothing.
//   - It handles each notification before it reads the next frame, so none waits in a queue.
//   - It keeps the raw answer to a call if the call's context asks for that ([WithCapture]).
//   - It adds members to a call's params that go-sdk's types do not have ([WithParams]).
//   - It does the handshake itself, in the era that the server speaks ([Conn.Shake]).
//
// A [Process] is a server on this machine.
//
// Only Read needs a single caller: all other methods may be called from any goroutine. Each request is
// served in a goroutine of its own. Its context ends when the server cancels the request or the connection
// ends, and Close waits for all of them.
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
)

// Handler serves the requests of one method. Handlers are called in the order of the frames, so that they can note
// the state of the conversation at that frame; they must not block. The function that a Handler returns runs in a
// goroutine of its own and returns the result. If its error is a [jsonrpc.Error], that is sent unchanged, and after
// [ErrNoAnswer] nothing is sent.
type Handler func(ctx context.Context, params json.RawMessage) func() (any, error)

// Options configure a [Conn].
type Options struct {
	// Serve holds the handlers by method. go-sdk gets other requests.
	Serve map[string]Handler
	// Notify holds the functions that get the notifications, by method. They are called in the order of the frames, and
	// the next frame is read when they return. Params that are too long or nested too deep are nil. The Conn itself
	// handles notifications/cancelled, and drops every other method.
	Notify map[string]func(params json.RawMessage)
	// Unmatched gets the beginning of each response that matches no request. It must not block.
	Unmatched func(came string)
	// Tap gets every message, encoded. It must not keep the bytes.
	Tap func(fromServer bool, frame []byte)
	Log zerolog.Logger
}

// The causes with which a handler's context ends.
var (
	// ErrCancelled: the server sent notifications/cancelled. The text of the cause has the server's reason, if it gave
	// one.
	ErrCancelled = errors.New("the server cancelled its request")
	// ErrClosed: the connection ended.
	ErrClosed = errors.New("the connection ended")
)

// ErrNoAnswer is a [Handler]'s error for a request that gets no answer, because Assent cancelled the call that caused the
// request.
var ErrNoAnswer = errors.New("the call behind the request was cancelled")

// Conn is a connection to a server.
type Conn struct {
	opts  Options
	inner mcp.Connection
	// incoming holds the messages for go-sdk.
	incoming chan jsonrpc.Message
	inbound  *inbound

	ctx     context.Context // stored because it is the connection's lifetime
	cancel  context.CancelCauseFunc
	pumped  chan struct{} // closed when the pump has ended
	closing struct {
		once sync.Once
		done chan struct{} // closed when the connection and its handlers have ended, and err is set
		err  error
	}

	mu       sync.Mutex // guards the fields below
	captures map[jsonrpc.ID]pendingCapture
	calls    map[jsonrpc.ID]ownCall
	// last are the greatest ids of requests so far: of Call, counted from firstCall, and of go-sdk, which counts its own.
	last struct{ call, above int64 }
	// handshake is the one that Shake did. It answers go-sdk's own handshake.
	handshake *Handshake
	// shaking cancels Shake; it is nil while Shake does not run. unmatchedTimer calls it [UnmatchedTimeout] after a
	// response that matches no request, and is nil before.
	shaking        context.CancelCauseFunc
	unmatchedTimer *time.Timer
}

// ownCall is a request of [Conn.Call]. The channel holds the answer.
type ownCall struct {
	answer  chan *jsonrpc.Response
	capture *Capture
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
		calls:    map[jsonrpc.ID]ownCall{},
	}
	c.closing.done = make(chan struct{})
	go c.pump() // Close waits for its end
	return c
}

// Connect implements [mcp.Transport]. A Conn is its own transport, for one session.
func (c *Conn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID implements [mcp.Connection].
func (c *Conn) SessionID() string { return c.inner.SessionID() }

// Close ends the connection and waits for the handlers. It takes as long as the inner connection's Close and the
// handlers, with their contexts cancelled.
func (c *Conn) Close() error {
	// The callers wait for a channel, because the clock of testing/synctest stands still while one waits for a mutex.
	c.closing.once.Do(func() { go c.end() })
	<-c.closing.done
	return c.closing.err
}

func (c *Conn) end() {
	c.cancel(ErrClosed)
	c.closing.err = c.inner.Close()
	<-c.pumped
	c.inbound.close()
	close(c.closing.done)
}

// Answered returns when every request that the server sent so far has its answer, or when ctx ends.
func (c *Conn) Answered(ctx context.Context) { c.inbound.unanswered.wait(ctx) }

// Delivered returns when every answer that handlers gave so far is written, or when ctx ends.
func (c *Conn) Delivered(ctx context.Context) { c.inbound.undelivered.wait(ctx) }

// Err returns nil while the connection lasts, and then the reason of its end.
func (c *Conn) Err() error { return context.Cause(c.ctx) }

// Done is closed when the connection has ended, for any reason.
func (c *Conn) Done() <-chan struct{} { return c.ctx.Done() }

// Lose ends the connection for a reason. The caller still has to call Close.
func (c *Conn) Lose(why error) { c.cancel(fmt.Errorf("%w: %w", ErrClosed, why)) }

// pump reads the connection to its end, in the order of the frames.
func (c *Conn) pump() {
	defer close(c.pumped)
	for {
		m, err := c.inner.Read(c.ctx)
		if err != nil {
			// No peer is left to read the answers.
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

// Read implements [mcp.Connection]. It returns the messages for go-sdk, and after the last of them the reason of the
// connection's end.
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

// route handles the messages that are not for go-sdk, and returns nil for these.
func (c *Conn) route(m jsonrpc.Message) jsonrpc.Message {
	if c.inbound.take(c.ctx, m, c.respond) {
		return nil
	}
	if r, ok := m.(*jsonrpc.Response); ok {
		if id := ownID(r.ID); id != r.ID {
			own := *r // go-sdk may still read its message
			own.ID, r = id, &own
		}
		if c.answered(r) || c.unmatched(r) {
			return nil
		}
		return c.capture(r)
	}
	return m
}

// unmatched handles a response that matches no request: it has no id, or no request ever had its id. It reports whether the
// response is such a one.
func (c *Conn) unmatched(m *jsonrpc.Response) bool {
	if c.mayMatch(m.ID) {
		return false
	}
	why := asUnreadable(m)
	c.recordUnmatched(why)
	if c.opts.Unmatched != nil {
		c.opts.Unmatched(why.Came)
	}
	return true
}

// mayMatch reports whether a request may have had an id. During the handshake only requests of [Conn.Call] are made. The
// answer to a request that was given up may still come.
func (c *Conn) mayMatch(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := id.Raw().(int64)
	if !ok { // neither we nor go-sdk have other ids
		_, expected := c.captures[id]
		return expected
	}
	return n > firstCall && n <= firstCall+c.last.call || c.shaking == nil && 0 < n && n <= c.last.above
}

// Write implements [mcp.Connection].
func (c *Conn) Write(ctx context.Context, m jsonrpc.Message) error {
	r, ok := m.(*jsonrpc.Request)
	if answer, ok := m.(*jsonrpc.Response); ok {
		defer c.inbound.handedDown(answer.ID)
	}
	if !ok || !r.IsCall() {
		if isCancellation(r) {
			if capture, ok := ctx.Value(captureKey{}).(*Capture); ok {
				defer capture.cancellationTold()
			}
			m = withReason(r)
		}
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
	c.mu.Lock()
	if n, ok := r.ID.Raw().(int64); ok {
		c.last.above = max(c.last.above, n)
	}
	c.mu.Unlock()
	capture, _ := ctx.Value(captureKey{}).(*Capture)
	if capture != nil {
		c.expect(ctx, r.ID, capture)
	}
	r, err := withExtraParams(ctx, r)
	if err != nil {
		return err
	}
	if err := capture.sending(); err != nil {
		return err
	}
	err = c.write(ctx, r)
	capture.unwritten(err)
	return err
}

func (c *Conn) respond(ctx context.Context, m *jsonrpc.Response) error { return c.write(ctx, m) }

func (c *Conn) write(ctx context.Context, m jsonrpc.Message) error {
	c.opts.tap(false, m)
	return c.inner.Write(ctx, m)
}

// firstCall is the number before the id of the first [Conn.Call]. go-sdk numbers its own requests from 1. The ids are
// integers of 32 bits, because some peers can return no others.
const firstCall = 1_000_000_000

// Call sends a request beside those of go-sdk, and returns the raw result. If the server answers with an error, that is
// a [jsonrpc.Error]; an answer that cannot be read is an [UnreadableError], a [TooLongError] or [ErrTooDeep]. When ctx
// ends, Call cancels the request and returns the cause. The context may come from [WithCapture], [WithParams] and
// [WithCapabilities].
func (c *Conn) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	capture, ok := ctx.Value(captureKey{}).(*Capture)
	if !ok {
		capture = &Capture{}
	}
	answer := make(chan *jsonrpc.Response, 1)
	c.mu.Lock()
	c.last.call++
	id, err := jsonrpc.MakeID(float64(firstCall + c.last.call))
	if err == nil {
		c.calls[id] = ownCall{answer, capture}
	}
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	forget := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, id)
	}
	defer forget()
	r, err := withExtraParams(ctx, &jsonrpc.Request{ID: id, Method: method, Params: raw})
	if err != nil {
		return nil, err
	}
	capture.sent()
	if err := capture.sending(); err != nil {
		return nil, err
	}
	if err := c.write(ctx, r); err != nil && ctx.Err() == nil {
		capture.unwritten(err)
		return nil, err
	}
	select {
	case response := <-answer:
		return response.Result, response.Error
	case <-ctx.Done(): // the server may have the request although its writing was cut short
		forget() // what the server still answers is not the result
		c.giveUp(method, id)
		capture.cancellationTold()
		return nil, context.Cause(ctx)
	case <-c.ctx.Done():
		select {
		case response := <-answer: // it arrived before the end
			return response.Result, response.Error
		default:
			return nil, c.Err()
		}
	}
}

// giveUp cancels a request. The specification forbids that for a handshake (2025-11-25, "Cancellation").
func (c *Conn) giveUp(method string, id jsonrpc.ID) {
	if method == "initialize" || method == "server/discover" {
		return
	}
	params, err := json.Marshal(map[string]any{"requestId": id.Raw(), "reason": json.RawMessage(cancelReason)})
	if err == nil {
		err = c.write(c.ctx, &jsonrpc.Request{Method: "notifications/cancelled", Params: params})
	}
	if err != nil {
		c.opts.Log.Debug().Err(err).Msg("a request was not cancelled")
	}
}

// answered passes a response to the [Conn.Call] that waits for it. It reports whether there is one.
func (c *Conn) answered(m *jsonrpc.Response) bool {
	c.mu.Lock()
	call, ok := c.calls[m.ID]
	delete(c.calls, m.ID)
	c.mu.Unlock()
	if ok {
		call.capture.fill(m)
		call.answer <- m
	}
	return ok
}
