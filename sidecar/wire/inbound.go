package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/members"
	"assent/sidecar/reason"
)

// inbound serves the requests of a server, whatever they came in on.
type inbound struct {
	opts Options
	// ctx ends every handler's, and its cause theirs.
	ctx context.Context

	wg sync.WaitGroup // the handlers; grows under mu only, and not once closed

	mu     sync.Mutex // guards the fields below
	closed bool
	// served are the requests that are open, each with what ends its handler.
	served map[jsonrpc.ID]*request
	// above are the open requests that go-sdk serves.
	above map[jsonrpc.ID]bool
	// behind counts the requests that came since an answer is on its way.
	behind int

	// unanswered counts the requests that are not answered yet, and undelivered those of them whose answer is given
	// and on its way. A request that go-sdk serves, which it does at once, is undelivered from its beginning.
	unanswered, undelivered counter
}

// request is one that is served.
type request struct{ cancel context.CancelCauseFunc }

func newInbound(ctx context.Context, opts Options) *inbound {
	return &inbound{opts: opts, ctx: ctx, served: map[jsonrpc.ID]*request{}, above: map[jsonrpc.ID]bool{}}
}

// close waits for the handlers, whose context has ended. No request is served any more.
func (in *inbound) close() {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	in.wg.Wait()
}

// take serves a request that is ours, and handles every notification. It reports whether the message was one of these.
// The handler's context has the values of ctx and not its end: the stream that brought a request may be
// gone before its answer.
//
// No notification goes up to go-sdk, whose queue has no bound. Each is handled before the next frame is read, so a
// server that sends faster than that waits.
func (in *inbound) take(ctx context.Context, m jsonrpc.Message, answer func(context.Context, *jsonrpc.Response) error) bool {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return false
	}
	if !r.IsCall() {
		in.notified(r)
		return true
	}
	in.keepUp()
	h := in.handler(ctx, r)
	if h == nil {
		return false
	}
	in.serve(ctx, r, h, answer)
	return true
}

// handler returns the handler of a request, or nil if go-sdk serves the request.
func (in *inbound) handler(ctx context.Context, r *jsonrpc.Request) Handler {
	why, isUnread := r.Extra.(unread)
	h := in.opts.Serve[r.Method]
	switch {
	case isUnread:
		return refuse(why.refusal)
	case h != nil:
		return h
	case isBeside(ctx):
		return refuse(errMethod)
	case in.handUp(r.ID):
		return nil
	default:
		return refuse(errOpenID)
	}
}

// notified handles a notification.
func (in *inbound) notified(r *jsonrpc.Request) {
	why, isUnread := r.Extra.(unread)
	switch notify := in.opts.Notify[r.Method]; {
	case notify != nil:
		notify(r.Params)
	case isUnread:
		in.opts.Log.Warn().Str("method", r.Method).Str("why", why.refusal.Message).Msg("left out a notification that cannot be read")
	case r.Method == "notifications/cancelled":
		in.cancelled(r.Params)
	}
}

// maxBehind bounds how many requests are read of a server that does not read the answers.
const maxBehind = 4096

// keepUp waits until the server has read all answers that were given, where too many requests came since it has read
// any: else they would fill the memory.
func (in *inbound) keepUp() {
	in.mu.Lock()
	if in.undelivered.none() {
		in.behind = 0
	}
	in.behind++
	wait := in.behind > maxBehind
	in.mu.Unlock()
	if wait {
		in.undelivered.wait(in.ctx)
	}
}

// serve runs a handler and gives its answer, unless the server has cancelled the request: then it
// expects none (2025-11-25, "Cancellation").
func (in *inbound) serve(values context.Context, r *jsonrpc.Request, h Handler, answer func(context.Context, *jsonrpc.Response) error) {
	ctx, cancel := context.WithCancelCause(valued{in.ctx, values})
	delivery := &delivery{}
	ctx = context.WithValue(ctx, deliveryKey{}, delivery)
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		cancel(nil)
		return
	}
	mine := &request{cancel}
	if in.isOpen(r.ID) {
		h = refuse(errOpenID)
	} else {
		in.served[r.ID] = mine
	}
	serve := h(ctx, r.Params)
	in.unanswered.add()
	in.wg.Go(func() {
		defer in.unanswered.done()
		defer cancel(nil)
		result, err := in.call(r.Method, serve)
		in.undelivered.add()
		defer in.undelivered.done()
		in.mu.Lock()
		if in.served[r.ID] == mine {
			delete(in.served, r.ID)
		}
		in.mu.Unlock()
		if cause := context.Cause(ctx); cause != nil {
			delivery.tell(cause)
			return
		}
		if errors.Is(err, ErrNoAnswer) {
			delivery.tell(err)
			return
		}
		in.opts.Stacks.Call(func() {
			response := &jsonrpc.Response{ID: r.ID}
			if err == nil {
				response.Result, err = json.Marshal(result)
			}
			if err != nil {
				response.Result, response.Error = nil, toError(err)
			}
			err := answer(ctx, response)
			if cause := context.Cause(ctx); err != nil && cause != nil {
				err = cause
			}
			if err != nil {
				in.opts.Log.Warn().Err(err).Str("method", r.Method).Msg("the server did not get its answer")
			}
			delivery.tell(err)
		})
	})
}

// isOpen reports whether a request with an id is open. The lock must be held.
func (in *inbound) isOpen(id jsonrpc.ID) bool { return in.served[id] != nil || in.above[id] }

// handUp notes a request that go-sdk is about to serve. It reports whether the id is free.
func (in *inbound) handUp(id jsonrpc.ID) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.isOpen(id) {
		return false
	}
	in.above[id] = true
	in.undelivered.add()
	return true
}

// handedDown notes that an answer is written, or lost. One of go-sdk's ends its request.
func (in *inbound) handedDown(id jsonrpc.ID) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.above[id] {
		delete(in.above, id)
		in.undelivered.done()
	}
}

var (
	// errOpenID refuses a request with the id of one that is still open, which goes on (2025-11-25, "Base Protocol:
	// Requests").
	errOpenID = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "another request with this id is still open"}
	// errMethod refuses a request that has no handler.
	errMethod = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "Method not found"}
)

// refuse returns a [Handler] that answers with an error.
func refuse(err *jsonrpc.Error) Handler {
	return func(context.Context, json.RawMessage) func() (any, error) {
		return func() (any, error) { return nil, err }
	}
}

// besideKey marks the context of an HTTP request that is made beside go-sdk, which neither sent it nor reads the stream
// of its answer.
type besideKey struct{}

func beside(ctx context.Context) context.Context { return context.WithValue(ctx, besideKey{}, true) }

func isBeside(ctx context.Context) bool { return ctx.Value(besideKey{}) != nil }

// delivery is told what became of the answer to a request.
type delivery struct{ told func(error) }

func (d *delivery) tell(err error) {
	if d.told != nil {
		d.told(err)
	}
}

type deliveryKey struct{}

// WhenDelivered has told called once, as the last thing that happens for a request: with nil where the answer was
// written, or else with the reason why it was not. The context is the one that a [Handler] got, and only the Handler
// itself may call this.
func WhenDelivered(ctx context.Context, told func(err error)) {
	if d, ok := ctx.Value(deliveryKey{}).(*delivery); ok {
		d.told = told
	}
}

// valued is a context that has the values of another as well.
type valued struct {
	context.Context
	values context.Context
}

// Value implements [context.Context].
func (v valued) Value(key any) any {
	if value := v.Context.Value(key); value != nil {
		return value
	}
	return v.values.Value(key)
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
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: reason.Of(err)}
}

// cancelled ends the handler of a request that the server cancels. go-sdk's requests are answered at once.
func (in *inbound) cancelled(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
		Reason    string          `json:"reason"`
	}
	if members.Unmarshal(params, &p) != nil {
		return
	}
	id, err := makeID(p.RequestID)
	if err != nil {
		return
	}
	in.mu.Lock()
	open := in.served[id]
	delete(in.served, id)
	in.mu.Unlock()
	if open == nil {
		return
	}
	cause := ErrCancelled
	if p.Reason != "" {
		cause = fmt.Errorf("%w: %s", ErrCancelled, p.Reason)
	}
	open.cancel(cause)
}

// tap tells of a message.
func (o *Options) tap(fromServer bool, m jsonrpc.Message) {
	if o.Tap == nil {
		return
	}
	if frame, err := encode(m); err == nil {
		o.Tap(fromServer, frame)
	}
}
