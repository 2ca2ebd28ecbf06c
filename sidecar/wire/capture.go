package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Capture is the answer to a call as it was on the wire: go-sdk's types forget the order of a
// schema's members, and whatever they do not know.
type Capture struct {
	Result json.RawMessage
	// Error is set where the server answered with one; go-sdk takes some codes for its own.
	Error *jsonrpc.Error
	// Failure says why there is no answer, where the way to the server knows better than go-sdk.
	Failure error
	// Unsent reports that the server never took the request: it can be sent again.
	Unsent bool

	id jsonrpc.ID // of the call, over HTTP
}

type captureKey struct{}

// WithCapture returns a context for one call of the session, whose answer is kept in the Capture.
// It is there when the call returns, and never where the connection ended before.
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
	defer c.mu.Unlock()
	if pending, ok := c.captures[m.ID]; ok {
		delete(c.captures, m.ID)
		pending.stop()
		pending.fill(m)
	}
}

func (c *Capture) fill(m *jsonrpc.Response) {
	c.Result = m.Result
	errors.As(m.Error, &c.Error)
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
