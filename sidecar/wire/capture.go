package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/base/jsonscan"
)

// Capture keeps the raw answer to a call. go-sdk's types lose the order of a schema's members, and unknown members.
type Capture struct {
	mu     sync.Mutex // guards the fields below
	id     jsonrpc.ID // of the call, over HTTP
	answer Answer
	// cancelled is closed once notifications/cancelled is sent. It is nil before the call is sent.
	cancelled chan struct{}
	// whenAnswered gets the answer; it may be nil.
	whenAnswered func(Answer)
	// beforeSent is called before the call is sent; it may be nil.
	beforeSent func() error
	// inPlace returns what go-sdk gets in place of the result; nil passes the result on.
	inPlace func(result json.RawMessage) json.RawMessage
}

// Answer is the outcome of a call.
type Answer struct {
	Result json.RawMessage
	// Error is set if the server answered with an error; go-sdk takes some codes for its own.
	Error *jsonrpc.Error
	// Failure is why there is neither, if the transport knows more than go-sdk.
	Failure error
	// Unsent reports that the server did not get the request, so that it can be sent again.
	Unsent bool
}

// came reports whether the outcome is known.
func (a Answer) came() bool { return a.Result != nil || a.Error != nil || a.Failure != nil }

// Answer returns the outcome so far.
func (c *Capture) Answer() Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answer
}

// WhenAnswered sets a function that gets the answer when it is read: before any later frame of the same connection or
// stream, and before [Capture.Answer] returns it. Set it before the call. The function must not block and must not call
// the Capture.
func (c *Capture) WhenAnswered(told func(Answer)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.whenAnswered = told
}

// InPlace sets a function that returns what go-sdk gets in place of the call's result: its types refuse a whole result
// for one member that it would not need. [Capture.Answer] has the result as it came. Set it before the call. The function
// runs before any later frame of the same connection or stream is handled.
func (c *Capture) InPlace(of func(result json.RawMessage) json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inPlace = of
}

// InPlace is [Capture.InPlace] for the Capture of a context, if it has one.
func InPlace(ctx context.Context, of func(result json.RawMessage) json.RawMessage) {
	if capture, ok := ctx.Value(captureKey{}).(*Capture); ok && capture != nil {
		capture.InPlace(of)
	}
}

// ForSDK returns a result as go-sdk gets it, by the Capture of a context.
func ForSDK(ctx context.Context, result json.RawMessage) json.RawMessage {
	if capture, ok := ctx.Value(captureKey{}).(*Capture); ok && capture != nil {
		return capture.forSDK(&jsonrpc.Response{Result: result}).Result
	}
	return result
}

// forSDK returns the answer to the call as go-sdk gets it.
func (c *Capture) forSDK(m *jsonrpc.Response) *jsonrpc.Response {
	c.mu.Lock()
	inPlace := c.inPlace
	c.mu.Unlock()
	if inPlace == nil || m.Result == nil {
		return m
	}
	return &jsonrpc.Response{ID: m.ID, Result: inPlace(m.Result), Extra: m.Extra}
}

// BeforeSent sets a function that is called immediately before the call is written, each time. If it returns an error,
// the call is not written, and fails with that. Set it before the call.
func (c *Capture) BeforeSent(told func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.beforeSent = told
}

// sending calls the function of [Capture.BeforeSent]. It is a no-op for a nil capture.
func (c *Capture) sending() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	told := c.beforeSent
	c.mu.Unlock()
	if told == nil {
		return nil
	}
	return told()
}

// Cancelled returns a channel that is closed once notifications/cancelled is sent for the call. go-sdk sends it some time
// after the call has returned. The channel is nil if none will be sent, because the call was not sent or has its answer.
func (c *Capture) Cancelled() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answer.Result != nil || c.answer.Error != nil {
		return nil
	}
	return c.cancelled
}

// sent is called just before the call is sent.
func (c *Capture) sent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancelled = make(chan struct{})
}

// isCancellation reports whether a message is notifications/cancelled. go-sdk sends it with the call's context.
func isCancellation(m *jsonrpc.Request) bool {
	return m != nil && m.Method == "notifications/cancelled"
}

// cancelReason is the reason of all cancellations, as JSON.
const cancelReason = `"the client no longer waits for the result"`

// withReason returns a cancellation of go-sdk's with our reason: its own is the text of a Go error.
func withReason(r *jsonrpc.Request) *jsonrpc.Request {
	return &jsonrpc.Request{Method: r.Method, Params: jsonscan.With(r.Params, "reason", json.RawMessage(cancelReason)), Extra: r.Extra}
}

// cancellationTold is called when notifications/cancelled is written, or failed to be.
func (c *Capture) cancellationTold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancelled != nil {
		close(c.cancelled)
		c.cancelled = nil
	}
}

type captureKey struct{}

// WithCapture returns a context for one call of the session. The Capture has the answer when the call returns.
func WithCapture(ctx context.Context) (context.Context, *Capture) {
	capture := &Capture{}
	return context.WithValue(ctx, captureKey{}, capture), capture
}

// pendingCapture waits for an answer; stop ends its watch of the call's context.
type pendingCapture struct {
	*Capture
	stop func() bool
}

// expect makes the capture get the answer to a call that is about to be written, until the call's
// context ends.
func (c *Conn) expect(ctx context.Context, id jsonrpc.ID, capture *Capture) {
	capture.sent()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.captures[id] = pendingCapture{capture, context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.captures, id)
	})}
}

// capture passes an answer to the Capture that expects it, if any, and returns it as go-sdk gets it.
func (c *Conn) capture(m *jsonrpc.Response) *jsonrpc.Response {
	c.mu.Lock()
	pending, ok := c.captures[m.ID]
	delete(c.captures, m.ID)
	c.mu.Unlock()
	if !ok {
		return m
	}
	pending.stop()
	pending.fill(m)
	return pending.forSDK(m)
}

func (c *Capture) fill(m *jsonrpc.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer.Result = m.Result
	if !errors.As(m.Error, &c.answer.Error) && c.answer.Failure == nil { // else the reason is known better
		c.answer.Failure = m.Error
	}
	if c.whenAnswered != nil {
		c.whenAnswered(c.answer)
	}
}

// fillFor is fill if the answer is the call's. It returns the answer as go-sdk gets it.
func (c *Capture) fillFor(m *jsonrpc.Response) *jsonrpc.Response {
	c.mu.Lock()
	mine := c.id.IsValid() && c.id == m.ID
	c.mu.Unlock()
	if !mine {
		return m
	}
	c.fill(m)
	return c.forSDK(m)
}

// fail sets the reason why there is no answer. It is a no-op once the outcome is known.
func (c *Capture) fail(err error, unsent bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.answer.came() {
		c.answer.Failure, c.answer.Unsent = err, unsent
	}
}

// unwritten is fail for a call that could not be written to a stream. It is a no-op for other errors, and for a nil
// capture.
func (c *Capture) unwritten(err error) {
	var u unwritable
	if c != nil && errors.As(err, &u) {
		c.fail(u, u.unsent)
	}
}

// expects sets the id of the call, and clears the outcome of an earlier attempt.
func (c *Capture) expects(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id, c.answer, c.cancelled = id, Answer{}, make(chan struct{})
}

type extraParamsKey struct{}

// WithParams returns a context for one call of the session. It adds members to the call's params, byte for byte:
// members that go-sdk's types do not have, or would encode again. The members of "_meta" are added to go-sdk's, which
// take precedence.
func WithParams(ctx context.Context, extra map[string]json.RawMessage) context.Context {
	return context.WithValue(ctx, extraParamsKey{}, extra)
}

// capabilitiesKey is the key of [WithCapabilities].
type capabilitiesKey struct{}

// WithCapabilities returns a context for one call of the session, which declares other capabilities of the client than
// the session does (2026-07-28, "_meta").
func WithCapabilities(ctx context.Context, capabilities json.RawMessage) context.Context {
	return context.WithValue(ctx, capabilitiesKey{}, capabilities)
}

// withExtraParams returns the request with the members from its context.
func withExtraParams(ctx context.Context, r *jsonrpc.Request) (*jsonrpc.Request, error) {
	extra, _ := ctx.Value(extraParamsKey{}).(map[string]json.RawMessage)
	capabilities, told := ctx.Value(capabilitiesKey{}).(json.RawMessage)
	if len(extra) == 0 && !told {
		return r, nil
	}
	params := map[string]json.RawMessage{}
	if len(r.Params) > 0 {
		if err := json.Unmarshal(r.Params, &params); err != nil {
			return nil, fmt.Errorf("%s: params are not an object: %w", r.Method, err)
		}
	}
	own, both := params["_meta"], map[string]json.RawMessage{}
	maps.Copy(params, extra)
	if own != nil && (extra["_meta"] != nil || told) && decodeMeta(extra["_meta"], both) && decodeMeta(own, both) {
		if told {
			both["io.modelcontextprotocol/clientCapabilities"] = capabilities
		}
		raw, err := encodeObject(both)
		if err != nil {
			return nil, err
		}
		params["_meta"] = raw
	}
	raw, err := encodeObject(params)
	if err != nil {
		return nil, err
	}
	return &jsonrpc.Request{ID: r.ID, Method: r.Method, Params: raw, Extra: r.Extra}, nil
}

// decodeMeta adds the members of a _meta, which may be nil, and reports whether it is an object.
func decodeMeta(meta json.RawMessage, to map[string]json.RawMessage) bool {
	return meta == nil || json.Unmarshal(meta, &to) == nil
}

// encodeObject encodes members without a change of their bytes, in the order of their names.
func encodeObject(members map[string]json.RawMessage) (json.RawMessage, error) {
	out := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, quoted...), ':'), members[name]...)
	}
	return append(out, '}'), nil
}
