package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
)

// inbound serves the requests of a server, from any transport.
type inbound struct {
	opts Options
	// ctx ends the contexts of all handlers, with its cause.
	ctx context.Context

	wg sync.WaitGroup // the handlers; grows under mu only, and not once closed
	// busy has a place for each handler that runs, until it has called [Accept].
	busy chan struct{}

	mu     sync.Mutex // guards the fields below
	closed bool
	// served holds the open requests with a [Handler], and above those that go-sdk serves.
	served map[jsonrpc.ID]*request
	above  map[jsonrpc.ID]*jsonrpc.Request
	// events holds the last events of HTTP that brought a request.
	events recentEvents
	// behind counts the requests that came since the server last had all answers.
	behind int

	// unanswered counts the requests without an answer. undelivered counts the answers that are not yet written; it also
	// counts each open request that go-sdk serves, because go-sdk answers at once.
	unanswered, undelivered counter
}

// request is an open request; cancel ends its handler's context.
type request struct {
	*jsonrpc.Request
	cancel context.CancelCauseFunc
}

func newInbound(ctx context.Context, opts Options) *inbound {
	return &inbound{opts: opts, ctx: ctx, busy: make(chan struct{}, maxBusy), served: map[jsonrpc.ID]*request{}, above: map[jsonrpc.ID]*jsonrpc.Request{}}
}

// close refuses new requests and waits for the handlers. Their context has ended.
func (in *inbound) close() {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	in.wg.Wait()
}

// take serves a request that go-sdk does not serve, and handles every notification. It reports whether the message was
// one of these. The handler's context has the values of ctx but does not end with it: the stream of a request may end
// before the answer.
//
// No notification reaches go-sdk, because go-sdk's queue has no bound. Each is handled before the next frame is read, so
// a server that sends faster has to wait.
func (in *inbound) take(ctx context.Context, m jsonrpc.Message, answer func(context.Context, *jsonrpc.Response) error) bool {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return false
	}
	if !r.IsCall() {
		in.notified(r)
		return true
	}
	if in.isCopy(ctx, r) {
		in.opts.Log.Info().Str("method", r.Method).Msg("the server delivered a request twice")
		return true
	}
	in.keepUp()
	h := in.handler(ctx, r)
	if h == nil {
		return false
	}
	select {
	case in.busy <- struct{}{}:
		in.serve(ctx, r, h, answer)
	case <-in.ctx.Done():
	}
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
		return refuse(ErrMethod)
	case in.handUp(r):
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

// maxBusy is how many requests of a server are worked on at once, without those that a handler has accepted. The server's
// next message is read when one is done.
const maxBusy = 256

// maxBehind is how many requests are read from a server that does not read the answers.
const maxBehind = 4096

// keepUp waits until all answers are written, if more than maxBehind requests arrived since the last time. The answers
// would fill the memory otherwise.
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

type acceptKey struct{}

// Accept says that a request waits for a person, a model or a host. Others bound how many do so: from now on it does not
// keep its connection from reading further requests. Handlers call it with the context that they got.
func Accept(ctx context.Context) {
	if accept, ok := ctx.Value(acceptKey{}).(func()); ok {
		accept()
	}
}

// serve runs a handler and sends its answer. The caller has taken a place of busy. A request that the server has cancelled gets no answer (2025-11-25,
// "Cancellation").
func (in *inbound) serve(values context.Context, r *jsonrpc.Request, h Handler, answer func(context.Context, *jsonrpc.Response) error) {
	ctx, cancel := context.WithCancelCause(valued{in.ctx, values})
	delivery := &delivery{}
	ctx = context.WithValue(ctx, deliveryKey{}, delivery)
	done := sync.OnceFunc(func() { <-in.busy })
	ctx = context.WithValue(ctx, acceptKey{}, done)
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		cancel(nil)
		done()
		return
	}
	mine := &request{r, cancel}
	if in.open(r.ID) != nil {
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
		done()
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
		response := &jsonrpc.Response{ID: r.ID}
		if err == nil {
			response.Result, err = json.Marshal(result)
		}
		if err != nil {
			response.Result, response.Error = nil, toError(err)
		}
		err = answer(ctx, response)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		if err != nil {
			in.opts.Log.Warn().Err(err).Str("method", r.Method).Msg("the server did not get its answer")
			in.forgetEvent(ctx) // delivered again, it is asked again
		}
		delivery.tell(err)
	})
}

// open returns the open request with this id, or nil. The lock must be held.
func (in *inbound) open(id jsonrpc.ID) *jsonrpc.Request {
	if mine := in.served[id]; mine != nil {
		return mine.Request
	}
	return in.above[id]
}

// handUp records a request that go-sdk will serve. It returns false if the id is that of an open
// request.
func (in *inbound) handUp(r *jsonrpc.Request) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.open(r.ID) != nil {
		return false
	}
	in.above[r.ID] = r
	in.undelivered.add()
	return true
}

// handedDown records that an answer of go-sdk was written, or that the write failed. Its id is free
// then.
func (in *inbound) handedDown(id jsonrpc.ID) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.above[id] != nil {
		delete(in.above, id)
		in.undelivered.done()
	}
}

var (
	// errOpenID refuses another request with the id of an open request (2025-11-25, "Base Protocol: Requests"). The open
	// request goes on.
	errOpenID = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "another request with this id is still open"}
	// ErrMethod refuses a request without a handler.
	ErrMethod = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "Method not found"}
)

// refuse returns a [Handler] that answers with an error.
func refuse(err *jsonrpc.Error) Handler {
	return func(context.Context, json.RawMessage) func() (any, error) {
		return func() (any, error) { return nil, err }
	}
}

// besideKey marks the context of an HTTP request that does not come from go-sdk. go-sdk does not read its response.
type besideKey struct{}

func beside(ctx context.Context) context.Context { return context.WithValue(ctx, besideKey{}, true) }

func isBeside(ctx context.Context) bool { return ctx.Value(besideKey{}) != nil }

// delivery calls the function of [WhenDelivered].
type delivery struct{ told func(error) }

func (d *delivery) tell(err error) {
	if d.told != nil {
		d.told(err)
	}
}

type deliveryKey struct{}

// WhenDelivered sets a function that is called once, at the end of a request: with nil if the answer was written, or
// with the reason why it was not. The context is the one that a [Handler] got. Only the Handler itself may call
// WhenDelivered, before it returns.
func WhenDelivered(ctx context.Context, told func(err error)) {
	if d, ok := ctx.Value(deliveryKey{}).(*delivery); ok {
		d.told = told
	}
}

// valued is a context with the values of a second one.
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
	defer reason.Panicked(&in.opts.Log, method, &err)
	return serve()
}

func toError(err error) *jsonrpc.Error {
	var e *jsonrpc.Error
	if errors.As(err, &e) {
		return e
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: reason.Of(err)}
}

// cancelled ends the handler of a request that the server cancels. Requests that go-sdk serves are ignored, because
// go-sdk answers them at once.
func (in *inbound) cancelled(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
		Reason    string          `json:"reason"`
	}
	if jsonscan.Unmarshal(params, &p) != nil {
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

// tap passes a message to Tap.
func (o *Options) tap(fromServer bool, m jsonrpc.Message) {
	if o.Tap == nil {
		return
	}
	if frame, err := encode(m); err == nil {
		o.Tap(fromServer, frame)
	}
}
