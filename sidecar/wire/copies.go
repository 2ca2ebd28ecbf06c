package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A server may deliver a request twice: after a reconnect, or because a proxy repeats it. The copy gets no answer,
// because every answer to its id would be one to the open request.

// isCopy reports whether a request is a copy: one like it is open with the same id, or the same event of HTTP has
// brought it before and is replayed.
func (in *inbound) isCopy(ctx context.Context, r *jsonrpc.Request) bool {
	event, _ := ctx.Value(eventKey{}).(event)
	in.mu.Lock()
	defer in.mu.Unlock()
	if open := in.open(r.ID); open != nil && sameRequest(open, r) {
		return true
	}
	if event.id == "" {
		return false
	}
	if event.replayed && in.events.brought(event.id, r) {
		return true
	}
	in.events.note(event.id, r)
	return false
}

// forgetEvent forgets the event that brought the request of a handler's context.
func (in *inbound) forgetEvent(ctx context.Context) {
	if event, _ := ctx.Value(eventKey{}).(event); event.id != "" {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.events.forget(event.id)
	}
}

// event is the event of HTTP that brought a message. It may be replayed only in a stream of a GET (2025-11-25,
// "Transports: Resumability and Redelivery").
type event struct {
	id       string
	replayed bool
}

// eventKey is the key of the [event] in a message's context.
type eventKey struct{}

// maxEvents is how many events are remembered, and maxEventID the longest id of one that is.
const (
	maxEvents  = 64
	maxEventID = 256
)

// recentEvents are events that each brought a request, the oldest first.
type recentEvents []broughtRequest

type broughtRequest struct {
	event  string
	id     jsonrpc.ID
	method string
}

func (e *recentEvents) note(event string, r *jsonrpc.Request) {
	if len(event) > maxEventID || e.brought(event, r) {
		return
	}
	if len(*e) >= maxEvents {
		*e = slices.Delete(*e, 0, 1)
	}
	*e = append(*e, broughtRequest{event, r.ID, r.Method})
}

func (e *recentEvents) brought(event string, r *jsonrpc.Request) bool {
	return slices.Contains(*e, broughtRequest{event, r.ID, r.Method})
}

func (e *recentEvents) forget(event string) {
	*e = slices.DeleteFunc(*e, func(b broughtRequest) bool { return b.event == event })
}

// sameRequest reports whether two requests ask for the same.
func sameRequest(a, b *jsonrpc.Request) bool {
	if a.Method != b.Method {
		return false
	}
	if bytes.Equal(a.Params, b.Params) {
		return true
	}
	var x, y any
	return decodeExactly(a.Params, &x) && decodeExactly(b.Params, &y) && reflect.DeepEqual(x, y)
}

// decodeExactly decodes JSON with the digits of its numbers.
func decodeExactly(raw json.RawMessage, to *any) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(to) == nil
}
