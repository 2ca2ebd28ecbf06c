package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/base/deadline"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/task"
)

// DefaultHousekeeping bounds each request for a list, a resource, a prompt, a completion, or the state of an MCP task.
// It does not bound calls of tools, nor tasks/result, which a server answers at the end of the MCP task.
const DefaultHousekeeping = time.Minute

// Overdue is the error of a request that took too long.
type Overdue struct {
	// What names the request, as the subject of a sentence.
	What  string
	Limit time.Duration
}

// Error implements error.
func (e Overdue) Error() string {
	return fmt.Sprintf("%s took longer than %v", e.What, e.Limit)
}

// AskOutcome returns the outcome of the asks that end with the request.
func (e Overdue) AskOutcome() *task.Ended {
	return &task.Ended{Reason: protocol.OutcomeCallEnded, Detail: "The call was abandoned: " + e.Error() + "."}
}

// requests tracks our requests under way on a connection.
type requests struct {
	mu sync.Mutex // guards the fields below
	// clocks maps the clock of each bounded request to the function that ends its pause. waiting counts the server's
	// requests that wait for a person; the clocks are paused while it is not 0.
	clocks  map[*deadline.Clock]func()
	waiting int
	// progress maps the progress token of a call to the function that gets its progress.
	progress  map[string]func(protocol.Progress, json.RawMessage)
	lastToken int
	// unsent has a channel for each cancellation that may still be unsent. The channel is closed when the cancellation
	// is sent.
	unsent []<-chan struct{}
}

func newRequests() requests {
	return requests{clocks: map[*deadline.Clock]func(){}, progress: map[string]func(protocol.Progress, json.RawMessage){}}
}

// TrackCancellation makes a closing connection wait for a cancellation that is about to be sent. sent is closed when it
// is sent, and may be nil.
func (c *Conn) TrackCancellation(sent <-chan struct{}) {
	if sent == nil {
		return
	}
	r := &c.requests
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unsent = slices.DeleteFunc(r.unsent, isClosed)
	r.unsent = append(r.unsent, sent)
}

// flush waits until the cancellations are sent, or ctx ends.
func (r *requests) flush(ctx context.Context) {
	r.mu.Lock()
	unsent := slices.Clone(r.unsent)
	r.mu.Unlock()
	for _, sent := range unsent {
		select {
		case <-sent:
		case <-ctx.Done():
			return
		}
	}
}

// Within returns a context with the time limit of a request that is not a tool call, or a shorter one. The caller calls done
// after the answer.
func (c *Conn) Within(ctx context.Context, what string, shorter ...time.Duration) (_ context.Context, done func()) {
	limit := slices.Min(append(shorter, c.server.dialer.opts.Housekeeping))
	ctx, clock, cancel := deadline.WithClock(ctx, limit, Overdue{what, limit})
	stop := c.Time(clock)
	return ctx, func() {
		stop()
		cancel()
	}
}

// Time runs a clock until stop is called, except while the server waits for a person. The clock may be nil.
func (c *Conn) Time(clock *deadline.Clock) (stop func()) {
	if clock == nil {
		return func() {}
	}
	r := &c.requests
	r.mu.Lock()
	defer r.mu.Unlock()
	resume := func() {}
	if r.waiting > 0 {
		resume = clock.Pause()
	}
	r.clocks[clock] = resume
	clock.Start()
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.clocks[clock]()
		delete(r.clocks, clock)
		clock.Stop()
	}
}

// HoldForPerson is Hold for a request of the server that waits for a person. It pauses every clock of the connection,
// because a server does not say which of our requests wait for its own request.
func (c *Conn) HoldForPerson() (release func()) {
	unused := c.Hold()
	r := &c.requests
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting++
	if r.waiting == 1 {
		for clock := range r.clocks {
			r.clocks[clock] = clock.Pause()
		}
	}
	return func() {
		defer unused()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiting--
		if r.waiting == 0 {
			for clock, resume := range r.clocks {
				resume()
				r.clocks[clock] = func() {}
			}
		}
	}
}

// ExpectProgress returns a progress token for a call, and a function that ends the token's use. tell gets each progress
// of the call, decoded and as the raw params.
func (c *Conn) ExpectProgress(tell func(p protocol.Progress, params json.RawMessage)) (token string, end func()) {
	r := &c.requests
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastToken++
	token = fmt.Sprintf("call-%d", r.lastToken)
	r.progress[token] = tell
	return token, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.progress, token)
	}
}

// progressed handles notifications/progress. It ignores a token that is not in use, and leaves out members that are of
// another type than the specification's: a sign of life counts.
func (r *requests) progressed(params json.RawMessage) {
	r.mu.Lock()
	tell := r.progress[jsonscan.Text(params, "progressToken")]
	r.mu.Unlock()
	if tell == nil {
		return // the call has ended
	}
	p := protocol.Progress{At: time.Now().UnixMilli()}
	into := map[string]any{"progress": &p.Progress, "total": &p.Total, "message": &p.Message}
	params = jsonscan.Edit(params, func(name string, value json.RawMessage) json.RawMessage {
		if field := into[name]; field != nil && (string(value) == "null" || json.Unmarshal(value, field) != nil) {
			return nil
		}
		return value
	})
	tell(p, params)
}
