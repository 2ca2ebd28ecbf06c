package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// inbound serves the requests of a server, whatever they came in on.
type inbound struct {
	opts Options
	// ctx ends every handler's, and its cause theirs.
	ctx context.Context

	wg sync.WaitGroup // the handlers; grows under mu only, and not once closed

	mu     sync.Mutex // guards the fields below
	closed bool
	served map[jsonrpc.ID]context.CancelCauseFunc
	// running counts the handlers whose answers are not given yet; quiet is closed when there are none.
	running int
	quiet   chan struct{}
}

func newInbound(ctx context.Context, opts Options) *inbound {
	return &inbound{opts: opts, ctx: ctx, served: map[jsonrpc.ID]context.CancelCauseFunc{}}
}

// close waits for the handlers, whose context has ended. No request is served any more.
func (in *inbound) close() {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	in.wg.Wait()
}

// await returns when every request that came so far has been answered, or ctx ends.
func (in *inbound) await(ctx context.Context) {
	in.mu.Lock()
	quiet := in.quiet
	in.mu.Unlock()
	if quiet == nil {
		return
	}
	select {
	case <-quiet:
	case <-ctx.Done():
	}
}

// take serves a request, or ends one that the server cancels. It reports whether the message was ours.
// The handler's context has the values of ctx and not its end: the stream that brought a request may be
// gone before its answer.
func (in *inbound) take(ctx context.Context, m jsonrpc.Message, answer func(context.Context, *jsonrpc.Response) error) bool {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return false
	}
	if over, ok := r.Extra.(oversized); ok {
		in.serve(ctx, r, over.refuse, answer)
		return true
	}
	if h := in.opts.Serve[r.Method]; h != nil && r.IsCall() {
		in.serve(ctx, r, h, answer)
		return true
	}
	if notify := in.opts.Notify[r.Method]; notify != nil && !r.IsCall() {
		notify(r.Params)
		return true
	}
	return r.Method == "notifications/cancelled" && in.cancelled(r.Params)
}

// codeTooLong is the error of a request that is too long to be read. It is of JSON-RPC's range for
// implementations, of which MCP takes none for itself.
const codeTooLong = -32000

// oversized is the extra of a request that came without its params: they were too long.
type oversized struct{ size, maxFrame int }

// refuse is the [Handler] of such a request.
func (o oversized) refuse(context.Context, json.RawMessage) func() (any, error) {
	return func() (any, error) {
		data, err := json.Marshal(struct {
			Bytes int `json:"bytes"`
			Max   int `json:"max"`
		}{o.size, o.maxFrame})
		if err != nil {
			return nil, err
		}
		message := fmt.Sprintf("the request has %d bytes, and no more than %d are read", o.size, o.maxFrame)
		return nil, &jsonrpc.Error{Code: codeTooLong, Message: message, Data: data}
	}
}

// serve runs a handler and gives its answer, unless the server has cancelled the request: then it
// expects none (2025-11-25, "Cancellation").
func (in *inbound) serve(values context.Context, r *jsonrpc.Request, h Handler, answer func(context.Context, *jsonrpc.Response) error) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(values))
	stop := context.AfterFunc(in.ctx, func() { cancel(context.Cause(in.ctx)) })
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		stop()
		cancel(nil)
		return
	}
	in.served[r.ID] = cancel
	serve := h(ctx, r.Params)
	if in.running++; in.running == 1 {
		in.quiet = make(chan struct{})
	}
	in.wg.Go(func() {
		defer in.answered()
		defer cancel(nil)
		defer stop()
		result, err := in.call(r.Method, serve)
		in.mu.Lock()
		delete(in.served, r.ID)
		in.mu.Unlock()
		if context.Cause(ctx) != nil {
			return
		}
		response := &jsonrpc.Response{ID: r.ID}
		if err == nil {
			response.Result, err = json.Marshal(result)
		}
		if err != nil {
			response.Result, response.Error = nil, toError(err)
		}
		if err := answer(ctx, response); err != nil {
			in.opts.Log.Warn().Err(err).Str("method", r.Method).Msg("the server did not get its answer")
		}
	})
}

// answered notes that a handler has given its answer.
func (in *inbound) answered() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.running--; in.running == 0 {
		close(in.quiet)
		in.quiet = nil
	}
}

// call turns a panic into an error: one request must not end the others.
func (in *inbound) call(method string, serve func() (any, error)) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			in.opts.Log.Error().Interface("panic", r).Bytes("stack", debug.Stack()).Str("method", method).Msg("handler panicked")
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
func (in *inbound) cancelled(params json.RawMessage) bool {
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
	in.mu.Lock()
	cancel := in.served[id]
	in.mu.Unlock()
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

// tap tells of a message.
func (o *Options) tap(fromServer bool, m jsonrpc.Message) {
	if o.Tap == nil {
		return
	}
	if frame, err := jsonrpc.EncodeMessage(m); err == nil {
		o.Tap(fromServer, frame)
	}
}
