package rpc

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"assent/sidecar/base/reason"
)

// handler serves the peer's messages, and answers them.
type handler struct {
	opts   Options
	answer jsonrpc2.Handler // serves a request or a notification, and sends the response

	wg sync.WaitGroup // the messages being served

	mu      sync.Mutex // guards the fields below
	cancels map[jsonrpc2.ID]context.CancelFunc
	closed  bool
}

var _ jsonrpc2.Handler = (*handler)(nil)

func newHandler(opts Options) *handler {
	h := &handler{opts: opts, cancels: map[jsonrpc2.ID]context.CancelFunc{}}
	h.answer = jsonrpc2.HandlerWithError(h.serve).SuppressErrClosed()
	return h
}

// Handle implements [jsonrpc2.Handler]. It is called for one message at a time, before the next is read.
func (h *handler) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	switch {
	case req.Method == cancelRequest:
		h.cancel(paramsOf(req))
	case req.Notif, slices.Contains(h.opts.InOrder, req.Method):
		h.inOrder(ctx, conn, req)
	default:
		h.begin(ctx, conn, req)
	}
}

// inOrder serves a notification, or a request of [Options.InOrder]. Close waits for it too, because the reading
// goroutine can outlive the connection.
func (h *handler) inOrder(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return
	}
	h.wg.Add(1)
	h.mu.Unlock()
	defer h.wg.Done()
	h.answer.Handle(ctx, conn, req)
	if !req.Notif && h.opts.Served != nil {
		h.opts.Served(req.Method)
	}
}

// begin serves a request in a separate goroutine. close waits for it.
func (h *handler) begin(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	ctx, cancel := context.WithCancel(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed { // the connection is over, and this was its last message
		cancel()
		return
	}
	h.cancels[req.ID] = cancel
	h.wg.Go(func() {
		defer cancel()
		h.answer.Handle(ctx, conn, req)
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.cancels, req.ID)
	})
}

func (h *handler) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.wg.Wait()
}

func (h *handler) cancel(raw json.RawMessage) {
	var params cancelParams
	if json.Unmarshal(raw, &params) != nil {
		h.opts.Log.Warn().Str("method", cancelRequest).Msg("notification failed: params cannot be read")
		return
	}
	h.mu.Lock()
	cancel := h.cancels[params.ID]
	h.mu.Unlock()
	if cancel != nil { // nil if it was answered before
		cancel()
	}
}

// serve returns the result of a request or a notification. The error is a [jsonrpc2.Error].
func (h *handler) serve(ctx context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
	result, err := h.dispatch(ctx, req)
	switch {
	case err == nil:
		return result, nil
	case req.Notif:
		h.opts.Log.Warn().Err(err).Str("method", req.Method).Msg("notification failed")
		return nil, nil
	}
	h.opts.Log.Debug().Err(err).Str("method", req.Method).Msg("request failed")
	return nil, toWire(err)
}

// dispatch calls the method and turns its panic into an error: one request must not end the others.
func (h *handler) dispatch(ctx context.Context, req *jsonrpc2.Request) (result any, err error) {
	defer reason.Panicked(&h.opts.Log, req.Method, &err)
	return h.opts.Serve(ctx, req.Method, paramsOf(req))
}

// paramsOf returns the params of a request, or nil if it has none.
func paramsOf(req *jsonrpc2.Request) json.RawMessage {
	if req.Params == nil {
		return nil
	}
	return *req.Params
}
