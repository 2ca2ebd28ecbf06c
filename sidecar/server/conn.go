package server

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
	"github.com/sourcegraph/jsonrpc2"

	"assent/protocol"
)

// cancelRequest is the notification that cancels a request, in either direction.
const cancelRequest = "$/cancelRequest"

type cancelParams struct {
	ID jsonrpc2.ID `json:"id"`
}

// editorConn is the sidecar's side of a connection as the generated stubs want it.
type editorConn struct {
	conn *jsonrpc2.Conn
	next atomic.Uint64
}

var _ protocol.Conn = (*editorConn)(nil)

// Call implements [protocol.Conn].
func (c *editorConn) Call(ctx context.Context, method string, params, result any) error {
	id := jsonrpc2.ID{Num: c.next.Add(1)}
	call, err := c.conn.DispatchCall(ctx, method, params, jsonrpc2.PickID(id))
	if err != nil {
		return err
	}
	err = call.Wait(ctx, result)
	if ctx.Err() != nil {
		// The answer will come all the same, and is dropped then.
		err = errors.Join(err, c.conn.Notify(context.WithoutCancel(ctx), cancelRequest, cancelParams{id}))
	}
	return fromWire(err)
}

// Notify implements [protocol.Conn].
func (c *editorConn) Notify(ctx context.Context, method string, params any) error {
	return c.conn.Notify(ctx, method, params)
}

// handler serves what a front end sends. Notifications and the handshake are served in order, before
// the next message is read; every other request has a goroutine of its own, because one may wait for
// another's effect.
type handler struct {
	sidecar protocol.Sidecar
	// initialized reports whether the handshake has succeeded.
	initialized func() bool
	log         zerolog.Logger

	wg sync.WaitGroup // the requests

	mu      sync.Mutex // guards the fields below
	cancels map[jsonrpc2.ID]context.CancelFunc
}

var _ jsonrpc2.Handler = (*handler)(nil)

// Handle implements [jsonrpc2.Handler].
func (h *handler) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	switch {
	case req.Method == cancelRequest:
		h.cancel(req)
	case req.Notif:
		if _, err := h.dispatch(ctx, req); err != nil {
			h.log.Warn().Err(err).Str("method", req.Method).Msg("notification failed")
		}
	case req.Method == "initialize":
		h.serve(ctx, conn, req)
	default:
		ctx, cancel := context.WithCancel(ctx)
		h.mu.Lock()
		h.cancels[req.ID] = cancel
		h.mu.Unlock()
		h.wg.Go(func() {
			h.serve(ctx, conn, req)
			h.mu.Lock()
			delete(h.cancels, req.ID)
			h.mu.Unlock()
			cancel()
		})
	}
}

func (h *handler) cancel(req *jsonrpc2.Request) {
	var params cancelParams
	if req.Params == nil || json.Unmarshal(*req.Params, &params) != nil {
		h.log.Warn().Str("method", req.Method).Msg("notification failed: params cannot be read")
		return
	}
	h.mu.Lock()
	cancel := h.cancels[params.ID]
	h.mu.Unlock()
	if cancel != nil { // it may have been answered meanwhile
		cancel()
	}
}

func (h *handler) serve(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	result, err := h.dispatch(ctx, req)
	if err != nil {
		h.log.Debug().Err(err).Str("method", req.Method).Msg("request failed")
		err = conn.ReplyWithError(ctx, req.ID, toWire(err))
	} else {
		err = conn.Reply(ctx, req.ID, result)
	}
	if err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
		h.log.Warn().Err(err).Str("method", req.Method).Msg("the front end did not get its answer")
	}
}

// dispatch calls the method and turns its panic into an error: one request must not end the others.
func (h *handler) dispatch(ctx context.Context, req *jsonrpc2.Request) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			h.log.Error().Interface("panic", r).Bytes("stack", debug.Stack()).Str("method", req.Method).Msg("handler panicked")
			err = protocol.Errorf(protocol.CodeInternalError, "%s failed inside Assent: see its log", req.Method)
		}
	}()
	if req.Method != "initialize" && !h.initialized() {
		return nil, protocol.Errorf(protocol.CodeServerNotInitialized, "%s came before initialize", req.Method)
	}
	var params json.RawMessage
	if req.Params != nil {
		params = *req.Params
	}
	return protocol.DispatchSidecar(ctx, h.sidecar, req.Method, params)
}
