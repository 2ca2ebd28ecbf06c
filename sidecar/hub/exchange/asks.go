package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/hub/session"
	"assent/sidecar/task"
	"assent/sidecar/wire"
	"assent/sidecar/wire/mcptask"
)

// callKey is the key of the [attribution.Call] in a request's context. A question in the call's own stream has that context,
// which proves that it is the call's.
type callKey struct{}

// handler serves one kind of request by the broker. Which task the request belongs to, and during which calls it came, is
// decided as it arrives; and requests are asked in the order in which they arrive.
func (s *Exchanges) handler(c *session.Conn, method string) wire.Handler {
	return func(ctx context.Context, params json.RawMessage) func() (any, error) {
		release := c.HoldForPerson()
		serve := s.attribute(ctx, c, s.request(method, params, c.Ledger.Order.Join()))
		return func() (any, error) {
			defer release()
			return serve()
		}
	}
}

// request returns a request of the server.
func (s *Exchanges) request(method string, params json.RawMessage, slot *attribution.Slot) *attribution.Request {
	r := &attribution.Request{Method: method, Params: params, Origin: protocol.Origin{ServerName: s.name()}}
	r.Slot, r.Opened = slot, s.pages.whenOpened(params)
	return r
}

// attribute finds the task of a request that has just come, and returns the function that serves it.
func (s *Exchanges) attribute(request context.Context, c *session.Conn, r *attribution.Request) func() (any, error) {
	related := relatedTask(r.Params)
	if f := s.following(related); f != nil {
		return s.taskHandler(request, c, r, f)
	}
	of, _ := request.Value(callKey{}).(*attribution.Call)
	if c.Ledger.Refuse(of) {
		r.Slot.Pass()
		return func() (any, error) { return nil, errNoRequests }
	}
	uses := s.uses.Last()
	if ttl, wants := wantsTask(r.Params); wants {
		taskID := c.Ledger.Attribute(r, of, uses)
		return s.receiveQuestion(c, ttl, r, func(ctx context.Context) (any, error) { return s.serveAttributed(ctx, r, taskID) })
	}
	wire.WhenDelivered(request, r.Delivered)
	ctx, taskID, done := c.Ledger.Open(request, r, of, uses)
	return func() (any, error) {
		defer done()
		defer r.Slot.Pass()
		r.Slot.Await(ctx)
		result, err := s.serveAttributed(ctx, r, taskID)
		if r.Withdrawn() {
			return nil, wire.ErrNoAnswer
		}
		if err == nil && related != "" { // of an MCP task without a handle until now
			result = relatedTo(related, result)
		}
		return result, err
	}
}

// serveAttributed serves a request that belongs to a task; it is empty if a person has to name it.
func (s *Exchanges) serveAttributed(ctx context.Context, r *attribution.Request, taskID string) (any, error) {
	if taskID == "" {
		return s.serveUnattributed(ctx, r)
	}
	t, err := s.opts.Task(taskID)
	if err != nil {
		s.opts.Log.Warn().Err(err).Str("server", s.name()).Msg("the server asked outside of any task")
		return nil, broker.ErrNoTask
	}
	r.Task = t
	return s.serve(ctx, r)
}

// serveUnattributed serves a request without a proof of its task.
func (s *Exchanges) serveUnattributed(ctx context.Context, r *attribution.Request) (any, error) {
	s.opts.Log.Info().Str("server", s.name()).Str("method", r.Method).Msg("no proof of the task that a question belongs to")
	return s.serve(ctx, r)
}

// serve has the broker serve a request.
func (s *Exchanges) serve(ctx context.Context, r *attribution.Request) (_ any, err error) {
	defer func() { r.Served(err) }()
	return s.opts.Broker.Serve(ctx, r)
}

// readable says why questions can never be answered together, before a person answers any of them.
func (s *Exchanges) readable(inputs []mcptask.Input, of *attribution.Request) error {
	if len(inputs) < 2 {
		return nil
	}
	for _, input := range inputs {
		if input.Method == "roots/list" {
			continue
		}
		if !slices.Contains(broker.Methods, input.Method) {
			return unknownMethod(input.Method)
		}
		r := *of
		r.Method, r.Params = input.Method, input.Params
		var refused *jsonrpc.Error
		if err := s.opts.Broker.Readable(&r); errors.As(err, &refused) {
			return notAnswered(refused)
		}
	}
	return nil
}

func unknownMethod(name string) error {
	return attribution.Abandoned{Reason: fmt.Sprintf("The server asked for %q, which Assent does not know.", name)}
}

func notAnswered(refused *jsonrpc.Error) error {
	return attribution.Abandoned{Reason: "The server did not get an answer: " + refused.Message}
}

// mentions reports whether params may have a member with a name that ends so. It saves most requests from being decoded
// once for each member that only a few have.
func mentions(params json.RawMessage, name string) bool {
	return bytes.Contains(params, []byte(name)) || bytes.Contains(params, []byte(`\u`)) // which may stand for a letter
}

// taskHandler serves a request that belongs to an MCP task. The ask is the task's: it outlives the
// connection, and is taken up again when the server asks again.
func (s *Exchanges) taskHandler(request context.Context, c *session.Conn, r *attribution.Request, f *following) func() (any, error) {
	r.Task, r.Origin, r.Key = f.task, f.origin(), questionKey(f.prefix(), r.Method, r.Params)
	r.Host = f.hooks.Host
	if ttl, wants := wantsTask(r.Params); wants {
		return s.receiveQuestion(c, ttl, r, func(ctx context.Context) (any, error) {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			defer f.whenOver(cancel)()
			return s.serve(ctx, r)
		})
	}
	r.Repeats = true
	wire.WhenDelivered(request, r.Delivered)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(request))
	goesOn := &task.Ended{Reason: protocol.OutcomeRestarted, Detail: "The connection to the server ended."}
	stopRequest := context.AfterFunc(request, func() {
		switch {
		case f.ctx.Err() != nil: // whenOver has the reason
		case errors.Is(context.Cause(request), wire.ErrCancelled):
			cancel(attribution.RequestEnded(context.Cause(request)))
		default:
			cancel(goesOn)
		}
	})
	stopConn := context.AfterFunc(c.Context(), func() { cancel(goesOn) })
	stopTask := f.whenOver(cancel)
	return func() (any, error) {
		defer func() {
			stopRequest()
			stopConn()
			stopTask()
			cancel(nil)
		}()
		defer r.Slot.Pass()
		r.Slot.Await(ctx)
		result, err := s.serve(ctx, r)
		if r.Left() || f.isCancelled() {
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
