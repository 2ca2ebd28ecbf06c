package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"assent/sidecar/reason"
)

// handler serves what the peer sends.
type handler struct {
	ctx    context.Context // stored because it is the connection's lifetime
	opts   Options
	stream *stream

	wg sync.WaitGroup // what is being served

	mu      sync.Mutex // guards the fields below
	cancels map[jsonrpc2.ID]context.CancelFunc
	closed  bool
}

// request serves a request or a notification, or begins to. It is called for one after the other, before the next is
// read.
func (h *handler) request(req *request) {
	switch {
	case req.method == cancelRequest:
		h.cancel(req.params)
	case req.notif, slices.Contains(h.opts.InOrder, req.method):
		h.inOrder(req)
	default:
		h.begin(req)
	}
}

// inOrder serves a notification, or a request of [Options.InOrder]. Close waits for it too: the goroutine that reads
// outlives a connection that is not ended by its peer.
func (h *handler) inOrder(req *request) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return
	}
	h.wg.Add(1)
	h.mu.Unlock()
	defer h.wg.Done()
	if req.notif {
		if _, err := h.dispatch(h.ctx, req); err != nil {
			h.opts.Log.Warn().Err(err).Str("method", req.method).Msg("notification failed")
		}
		return
	}
	h.serve(h.ctx, req)
	if h.opts.Served != nil {
		h.opts.Served(req.method)
	}
}

// begin serves a request in a goroutine of its own, for which close waits.
func (h *handler) begin(req *request) {
	ctx, cancel := context.WithCancel(h.ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed { // the peer is gone, and this was its last word
		cancel()
		return
	}
	h.cancels[req.id] = cancel
	h.wg.Go(func() {
		defer cancel()
		h.opts.Stacks.Call(func() { h.serve(ctx, req) })
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.cancels, req.id)
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
	if cancel != nil { // it may have been answered meanwhile
		cancel()
	}
}

func (h *handler) serve(ctx context.Context, req *request) {
	result, err := h.dispatch(ctx, req)
	if err != nil {
		h.opts.Log.Debug().Err(err).Str("method", req.method).Msg("request failed")
		err = h.stream.write(failure{version, req.id, toWire(err)})
	} else {
		err = h.stream.write(response{version, req.id, result})
	}
	if err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
		h.opts.Log.Warn().Err(err).Str("method", req.method).Msgf("%s did not get its answer", h.opts.Peer)
	}
}

// dispatch calls the method and turns its panic into an error: one request must not end the others.
func (h *handler) dispatch(ctx context.Context, req *request) (result any, err error) {
	defer reason.Panicked(h.opts.Log, req.method, &err)
	return h.opts.Serve(ctx, req.method, req.params)
}
