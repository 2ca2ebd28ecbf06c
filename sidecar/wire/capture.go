package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Capture keeps the answer to a call as it was on the wire: go-sdk's types forget the order of a
// schema's members, and whatever they do not know.
type Capture struct {
	mu     sync.Mutex // guards the fields below
	id     jsonrpc.ID // of the call, over HTTP
	answer Answer
	// cancelled is closed when the server was told that nobody waits any more. It is nil until the call is sent.
	cancelled chan struct{}
	// whenAnswered is told of the answer, or nil.
	whenAnswered func(Answer)
}

// Answer is what became of a call.
type Answer struct {
	Result json.RawMessage
	// Error is set where the server answered with one; go-sdk takes some codes for its own.
	Error *jsonrpc.Error
	// Failure says why there is neither, where the way to the server knows better than go-sdk.
	Failure error
	// Unsent reports that the server never took the request: it can be sent again.
	Unsent bool
}

func (a Answer) came() bool { return a.Result != nil || a.Error != nil || a.Failure != nil }

// Answer returns what is known now.
func (c *Capture) Answer() Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answer
}

// WhenAnswered has told called with the answer as soon as that is read, before any later frame of the same
// connection or stream is, and before [Capture.Answer] returns it. It has to be set before the call is made. Told must
// not block, nor call the Capture.
func (c *Capture) WhenAnswered(told func(Answer)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.whenAnswered = told
}

// Cancelled returns what is closed when the server was told that the call is cancelled, which go-sdk does in its own
// time after the call has returned. It is nil where there is nothing to tell: the call was not sent, or answered.
func (c *Capture) Cancelled() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answer.Result != nil || c.answer.Error != nil {
		return nil
	}
	return c.cancelled
}

// sent notes that the call is about to be sent.
func (c *Capture) sent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancelled = make(chan struct{})
}

// isCancellation reports whether a message says that a call is cancelled. go-sdk sends it with the call's context.
func isCancellation(m *jsonrpc.Request) bool {
	return m != nil && m.Method == "notifications/cancelled"
}

// cancelledReason takes the place of the reason that go-sdk gives, which is the text of a Go error.
const cancelledReason = "the client no longer waits for the result"

// inOurWords returns a message of go-sdk's without the texts of Go's contexts.
func inOurWords(m jsonrpc.Message) jsonrpc.Message {
	r, ok := m.(*jsonrpc.Request)
	if !ok || !isCancellation(r) {
		return m
	}
	var params map[string]json.RawMessage
	var reason string
	if json.Unmarshal(r.Params, &params) != nil || json.Unmarshal(params["reason"], &reason) != nil ||
		reason != context.Canceled.Error() && reason != context.DeadlineExceeded.Error() {
		return m
	}
	params["reason"] = json.RawMessage(strconv.Quote(cancelledReason))
	raw, err := json.Marshal(params)
	if err != nil {
		return m
	}
	return &jsonrpc.Request{Method: r.Method, Params: raw, Extra: r.Extra}
}

// cancellationTold notes that such a message is out, or lost.
func (c *Capture) cancellationTold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancelled != nil {
		close(c.cancelled)
		c.cancelled = nil
	}
}

type captureKey struct{}

// WithCapture returns a context for one call of the session, whose answer is kept in the Capture.
// It is there when the call returns.
func WithCapture(ctx context.Context) (context.Context, *Capture) {
	capture := &Capture{}
	return context.WithValue(ctx, captureKey{}, capture), capture
}

// pendingCapture waits for an answer; stop lets go of the call's context.
type pendingCapture struct {
	*Capture
	stop func() bool
}

// expect keeps the answer to a call that is about to be written, until the call is given up.
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

// capture keeps an answer that somebody waits for.
func (c *Conn) capture(m *jsonrpc.Response) {
	c.mu.Lock()
	pending, ok := c.captures[m.ID]
	delete(c.captures, m.ID)
	c.mu.Unlock()
	if ok {
		pending.stop()
		pending.fill(m)
	}
}

func (c *Capture) fill(m *jsonrpc.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer.Result = m.Result
	if !errors.As(m.Error, &c.answer.Error) {
		c.answer.Failure = m.Error
	}
	if c.whenAnswered != nil {
		c.whenAnswered(c.answer)
	}
}

// fillFor is as fill, where the answer is to the call.
func (c *Capture) fillFor(m *jsonrpc.Response) {
	c.mu.Lock()
	mine := c.id.IsValid() && c.id == m.ID
	c.mu.Unlock()
	if mine {
		c.fill(m)
	}
}

// fail notes why there is no answer, unless there is one.
func (c *Capture) fail(err error, unsent bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.answer.came() {
		c.answer.Failure, c.answer.Unsent = err, unsent
	}
}

// expects notes the call that is captured. What was known of an earlier attempt is forgotten.
func (c *Capture) expects(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id, c.answer, c.cancelled = id, Answer{}, make(chan struct{})
}

type extraParamsKey struct{}

// WithParams returns a context for one call of the session, to whose params these members are added
// as they are: for what go-sdk's types do not have, or would not send byte for byte.
func WithParams(ctx context.Context, extra map[string]json.RawMessage) context.Context {
	return context.WithValue(ctx, extraParamsKey{}, extra)
}

// withExtraParams returns the request with what its context adds.
func withExtraParams(ctx context.Context, r *jsonrpc.Request) (*jsonrpc.Request, error) {
	extra, ok := ctx.Value(extraParamsKey{}).(map[string]json.RawMessage)
	if !ok || len(extra) == 0 {
		return r, nil
	}
	params := map[string]json.RawMessage{}
	if len(r.Params) > 0 {
		if err := json.Unmarshal(r.Params, &params); err != nil {
			return nil, fmt.Errorf("%s: params are no object: %w", r.Method, err)
		}
	}
	maps.Copy(params, extra)
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	return &jsonrpc.Request{ID: r.ID, Method: r.Method, Params: raw, Extra: r.Extra}, nil
}
