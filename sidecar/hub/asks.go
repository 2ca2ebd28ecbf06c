package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/task"
	"assent/sidecar/wire"
)

// call is a request of ours that may cause questions.
type call struct {
	taskID      string
	toolName    string // empty where it is no tool call
	resourceURI string // empty where no resource is read
	promptName  string // empty where no prompt is filled in
	messageID   int64
	since       time.Time
	// ctx ends when the call is cancelled; it is stored because it is the call's lifetime.
	ctx context.Context
	// end is one of the following once it is over.
	end atomic.Int32
	// asked is set when a server of 2026-07-28 sends a request while it serves the call.
	asked atomic.Bool

	// done is closed when the call is over and its asks are served.
	done chan struct{}

	// The connection's lock guards the fields below.

	// answered is set once the answer has come. What the server asks from then on is not of this call.
	answered bool
	// became is the MCP task that the answer made of the call, or nil. What the call asked is the task's then.
	became *following
	// over is set when the caller no longer waits for the call or for the MCP task that it became.
	over bool
	// ended are the asks that ended with the call.
	ended []*asking
}

// isBeingCancelled reports whether the call is cancelled and the cancellation is about to be sent. The connection's lock
// must be held.
func (one *call) isBeingCancelled() bool {
	return !one.over && (!one.answered || one.became != nil) && one.ctx.Err() != nil
}

// How a call ends.
const (
	callAnswered int32 = iota + 1
	callGivenUp        // without an answer: the server may serve it still
)

// callKey is the key of the call in a request's context. A question in the call's own stream has that context, which
// proves that it is the call's.
type callKey struct{}

// asking is a request of the server that a person is being asked about.
type asking struct {
	// calls are those that it can belong to and that are not over; none where it belongs to no call. The
	// connection's lock guards them.
	calls []*call
	// withdrawn is set once a call that it can have belonged to was cancelled. The same lock guards it.
	withdrawn bool
	cancel    context.CancelCauseFunc
	// ending reports whether the request or the connection has ended, and the ask is about to.
	ending func() bool
	done   chan struct{} // closed when it is served
}

// serve is a method of the broker.
type serve func(Broker, context.Context, broker.Asker, protocol.Origin, json.RawMessage) (any, error)

// questions are the requests of a server that a person decides, by their method.
var questions = map[string]serve{
	"elicitation/create":     Broker.Elicit,
	"sampling/createMessage": Broker.CreateMessage,
}

// options are those of the layer under go-sdk: legacy servers' questions are served there.
func (c *conn) options() wire.Options {
	opts := wire.Options{Log: c.noise.log, Serve: map[string]wire.Handler{}, Stacks: c.server.hub.opts.Stacks}
	opts.Unmatched = func(came string) { c.stray([]byte(came)) }
	for method, serve := range questions {
		opts.Serve[method] = c.handler(method, serve)
	}
	for _, method := range receivedMethods {
		opts.Serve[method] = c.receive(method)
	}
	opts.Serve["roots/list"] = c.serveRoots
	opts.Notify = c.notifications()
	// Over HTTP a server may say these in answer to a request of ours, of which go-sdk does not know.
	opts.Serve["ping"] = func(context.Context, json.RawMessage) func() (any, error) {
		return func() (any, error) { return struct{}{}, nil }
	}
	if tap := c.server.hub.opts.Tap; tap != nil {
		opts.Tap = func(fromServer bool, frame []byte) { tap(c.server.config.Name, fromServer, frame) }
	}
	return opts
}

// handler serves one kind of request by a method of the broker. Which task the request belongs to, and during which
// calls it came, is decided as it arrives; and requests are asked in the order in which they arrive.
func (c *conn) handler(method string, serve serve) wire.Handler {
	return func(ctx context.Context, params json.RawMessage) func() (any, error) {
		release := c.holdForPerson()
		serve := c.attribute(ctx, &question{slot: c.order.join()}, method, serve, params)
		return func() (any, error) {
			defer release()
			return serve()
		}
	}
}

// attribute finds out which task a request belongs to that has just come, and returns what serves it.
func (c *conn) attribute(ctx context.Context, q *question, method string, serve serve, params json.RawMessage) func() (any, error) {
	related := relatedTask(params)
	if f := c.server.following(related); f != nil {
		return c.taskHandler(ctx, q, f, method, serve, params)
	}
	uses := c.server.lastUses()
	c.mu.Lock()
	of, _ := ctx.Value(callKey{}).(*call)
	if c.isModern {
		c.noteRequestLocked(of)
		c.mu.Unlock()
		q.slot.pass()
		return func() (any, error) { return nil, errNoRequests }
	}
	whose := c.prove(of)
	if ttl, wants := wantsTask(params); wants {
		c.mu.Unlock()
		return c.receiveQuestion(ttl, q, params, func(ctx context.Context, until time.Time, params json.RawMessage) (any, error) {
			if whose.taskID == "" {
				return c.unproven(ctx, q, method, suspects{whose.calls, uses}, nil, until, params)
			}
			t, err := c.server.hub.opts.Task(whose.taskID)
			if err != nil {
				return nil, errNoTask
			}
			return serve(c.server.hub.opts.Broker, ctx, q.of(waiter{c.server.visiting(t, params), until}), c.origin(whose.calls), params)
		})
	}
	wire.WhenDelivered(ctx, q.delivered)
	ctx, a, done := c.asking(ctx, whose.calls)
	c.mu.Unlock()
	return func() (any, error) {
		defer done()
		defer q.slot.pass()
		q.slot.await(ctx)
		result, err := func() (any, error) {
			if whose.taskID == "" {
				return c.unproven(ctx, q, method, suspects{whose.calls, uses}, a, time.Time{}, params)
			}
			t, err := c.server.hub.opts.Task(whose.taskID)
			if err != nil {
				c.log.Warn().Err(err).Msg("the server asked outside of any task")
				return nil, errNoTask
			}
			return serve(c.server.hub.opts.Broker, ctx, q.of(c.server.visiting(t, params)), c.origin(whose.calls), params)
		}()
		q.served(err)
		if c.withdrawn(a, q) {
			return nil, wire.ErrNoAnswer
		}
		if err == nil && related != "" { // of an MCP task whose handle was not here yet
			result = relatedTo(related, result)
		}
		return result, err
	}
}

// withdrawn reports whether a request gets no answer: every call that it can belong to is over, and one of them was
// cancelled or is about to be; or the connection is about to end, and there is no answer of a person.
func (c *conn) withdrawn(a *asking, q *question) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil && len(q.answered) == 0 {
		return true
	}
	if q.left && len(a.calls) > 0 {
		return true
	}
	withdrawn := a.withdrawn
	for _, one := range a.calls {
		if !one.isBeingCancelled() {
			return false
		}
		withdrawn = true
	}
	return withdrawn
}

// mentions reports whether params may have a member with a name that ends so. It saves most requests from being decoded
// once for each member that only a few have.
func mentions(params json.RawMessage, name string) bool {
	return bytes.Contains(params, []byte(name)) || bytes.Contains(params, []byte(`\u`)) // which may stand for a letter
}

// errNoTask answers a question without a task, if no person can say which task it belongs to.
var errNoTask = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "this connection belongs to no task: ask during a tool call"}

// asking returns a context for an ask that the server caused. It ends with the server's request, the
// connection, or the last of the calls that the ask can belong to, and its cause is then a [task.Ended]. The
// lock must be held.
func (c *conn) asking(request context.Context, calls []*call) (context.Context, *asking, func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(request))
	end := func() {
		cause := context.Cause(c.ctx) // the better reason, where the connection ends as well
		if cause == nil {
			cause = context.Cause(request)
		}
		ended := endedBy(cause)
		if ended.Reason == protocol.OutcomeServerStoppedWaiting && allCancelled(calls) {
			// The server withdraws its request because its call was cancelled, and may be faster than [conn.end].
			ended = callEnded(context.Cause(calls[0].ctx))
		}
		cancel(ended)
	}
	stopRequest := context.AfterFunc(request, end)
	stopConn := context.AfterFunc(c.ctx, end)
	a := &asking{
		calls:  slices.Clone(calls), // the ones above stay as they are
		cancel: cancel,
		ending: func() bool { return request.Err() != nil || c.ctx.Err() != nil },
		done:   make(chan struct{}),
	}
	if len(calls) > 0 {
		c.asks[a] = struct{}{}
	}
	return ctx, a, func() {
		stopRequest()
		stopConn()
		cancel(nil)
		c.mu.Lock()
		delete(c.asks, a)
		c.mu.Unlock()
		close(a.done)
	}
}

// allCancelled reports whether there are calls, and each is cancelled.
func allCancelled(calls []*call) bool {
	return len(calls) > 0 && !slices.ContainsFunc(calls, func(one *call) bool { return one.ctx.Err() == nil })
}

// endedBy returns the outcome of an ask when its request or its connection ended with a cause.
func endedBy(cause error) *task.Ended {
	var stopped stoppedError
	switch {
	case errors.As(cause, &stopped):
		return &task.Ended{Reason: stopped.asks, Detail: "The server is gone: " + stopped.reason + "."}
	case errors.Is(cause, wire.ErrCancelled):
		ended := &task.Ended{Reason: protocol.OutcomeServerStoppedWaiting, Detail: "The server stopped waiting."}
		if why, ok := strings.CutPrefix(cause.Error(), wire.ErrCancelled.Error()+": "); ok {
			ended.Detail = "The server stopped waiting: " + why
		}
		return ended
	default:
		return &task.Ended{Reason: protocol.OutcomeServerLost, Detail: "The connection to the server ended."}
	}
}

// callEnded returns the outcome of an ask when its call is over. The cause is that of the call's cancellation, or nil.
func callEnded(cause error) *task.Ended {
	var ended *task.Ended
	var stopped stoppedError
	var abandoned abandonedError
	var overdue overdueError
	switch {
	case errors.As(cause, &ended):
		return ended
	case errors.As(cause, &overdue):
		return &task.Ended{Reason: protocol.OutcomeCallEnded, Detail: "The call was given up: " + overdue.Error() + "."}
	case errors.As(cause, &stopped):
		return &task.Ended{Reason: stopped.asks, Detail: "The server is gone: " + stopped.reason + "."}
	case errors.As(cause, &abandoned):
		return &task.Ended{Reason: protocol.OutcomeCallEnded, Detail: abandoned.reason}
	case wasCancelled(cause):
		return &task.Ended{Reason: protocol.OutcomeCallEnded, Detail: "The call was cancelled."}
	default:
		return &task.Ended{Reason: protocol.OutcomeCallEnded}
	}
}

// begin notes a call in flight.
func (c *conn) begin(entry *call) {
	c.server.noteUse(entry)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, entry)
}

// answered notes the answer to a call. It is called in the order of the frames, so that a question after the answer is
// not taken for the call's. The asks from before end, or belong to the MCP task that the call became. It returns false
// if the caller no longer waits for the call.
func (c *conn) answered(entry *call, became *following) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry.over {
		return false
	}
	entry.end.Store(callAnswered)
	entry.answered, entry.became = true, became
	c.calls = slices.DeleteFunc(c.calls, func(other *call) bool { return other == entry })
	if became == nil {
		c.endAsks(entry, nil)
	}
	return true
}

// end notes that the caller no longer waits for a call or for the MCP task that it became. The cause is that of its
// cancellation, or nil. The asks that can belong to no other call end, and have their outcome when end returns.
func (c *conn) end(entry *call, cause error) {
	c.mu.Lock()
	entry.over = true
	c.calls = slices.DeleteFunc(c.calls, func(other *call) bool { return other == entry })
	if entry.end.CompareAndSwap(0, callGivenUp) {
		c.giveUp(entry)
	}
	c.endAsks(entry, cause)
	ended := entry.ended
	c.mu.Unlock()
	for _, a := range ended {
		<-a.done
	}
	close(entry.done)
}

// endAsks ends the asks that can belong to no other call than this one, which is over. The lock must be held.
func (c *conn) endAsks(entry *call, cause error) {
	for a := range c.asks {
		at := slices.Index(a.calls, entry)
		if at < 0 {
			continue
		}
		a.calls = slices.Delete(a.calls, at, at+1)
		a.withdrawn = a.withdrawn || cause != nil
		if len(a.calls) > 0 {
			continue
		}
		entry.ended = append(entry.ended, a)
		if !a.ending() { // for a better reason
			a.cancel(callEnded(cause))
		}
	}
}

// taskHandler serves a request that belongs to an MCP task. The ask is the task's: it outlives the
// connection, and is taken up again when the server asks again.
func (c *conn) taskHandler(request context.Context, q *question, f *following, method string, serve serve, params json.RawMessage) func() (any, error) {
	origin := f.origin()
	asker := &keyed{Asker: f.task, key: questionKey(f.prefix(), method, params)}
	if ttl, wants := wantsTask(params); wants {
		return c.receiveQuestion(ttl, q, params, func(ctx context.Context, until time.Time, params json.RawMessage) (any, error) {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			defer f.whenOver(cancel)()
			return serve(c.server.hub.opts.Broker, ctx, q.of(waiter{c.server.visiting(asker, params), until}), origin, params)
		})
	}
	q.again = true
	wire.WhenDelivered(request, q.delivered)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(request))
	goesOn := &task.Ended{Reason: protocol.OutcomeRestarted, Detail: "The connection to the server ended."}
	stopRequest := context.AfterFunc(request, func() {
		switch {
		case f.ctx.Err() != nil: // whenOver has the reason
		case errors.Is(context.Cause(request), wire.ErrCancelled):
			cancel(endedBy(context.Cause(request)))
		default:
			cancel(goesOn)
		}
	})
	stopConn := context.AfterFunc(c.ctx, func() { cancel(goesOn) })
	stopTask := f.whenOver(cancel)
	return func() (any, error) {
		defer func() {
			stopRequest()
			stopConn()
			stopTask()
			cancel(nil)
		}()
		defer q.slot.pass()
		q.slot.await(ctx)
		result, err := serve(c.server.hub.opts.Broker, ctx, q.of(c.server.visiting(asker, params)), origin, params)
		q.served(err)
		if q.left || f.isCancelled() {
			return nil, wire.ErrNoAnswer
		}
		var ended *task.Ended
		if errors.As(context.Cause(ctx), &ended) && ended.Reason == protocol.OutcomeRestarted {
			return nil, errNotYet
		}
		if err != nil {
			return nil, err
		}
		return relatedTo(f.id, result), nil
	}
}
