// Package mcptask follows MCP tasks to their end.
//
// MCP has them in two shapes: in the core of 2025-11-25 the client asks for a task, fetches its result
// with a request of its own, and is asked by requests; in the extension io.modelcontextprotocol/tasks of
// 2026-07-28 the server decides, and everything is in the answer to tasks/get. A [Driver] speaks one of
// them, and [Follow] knows neither.
//
// Follow polls at the pace that the server gives, within bounds, and less where the server tells by
// itself. It starts no goroutine that outlives it.
package mcptask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/reason"
)

// State is what a server says of a task.
type State struct {
	ID            string
	Status        protocol.McpTaskStatus
	StatusMessage string
	// CreatedAt is by the server's clock, in milliseconds; 0 where it does not say.
	CreatedAt int64
	// TTL is nil where the server never forgets the task, or does not say.
	TTL *time.Duration
	// PollInterval is 0 where the server does not say.
	PollInterval time.Duration
	// Inputs are the questions that wait for an answer, in the server's order.
	Inputs []Input
	// Result and Err are of a task that has ended, where the state brings them.
	Result json.RawMessage
	Err    *jsonrpc.Error
}

// Ended reports whether the status is for good.
func (s *State) Ended() bool {
	switch s.Status {
	case protocol.McpTaskCompleted, protocol.McpTaskFailed, protocol.McpTaskCancelled:
		return true
	default:
		return false
	}
}

// Valid reports whether the status is one of MCP's.
func (s *State) Valid() bool {
	return s.Ended() || s.Status == protocol.McpTaskWorking || s.Status == protocol.McpTaskInputRequired
}

// Input is a request of the server's that is carried by a state or by a result.
type Input struct {
	// Key names it.
	Key    string          `json:"-"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// Driver speaks one shape of MCP tasks with one server about one task. An error of the server's is a
// [jsonrpc.Error], a [LostError] that asking again is of no use; any other says that it could not be
// asked.
type Driver interface {
	// Get asks how the task is.
	Get(ctx context.Context) (*State, error)
	// Result returns what the call returned; the state is for good.
	Result(ctx context.Context, s *State) (json.RawMessage, error)
	// Attend serves a task that needs input, until ctx ends: it asks what is to be asked, and answers. It
	// is called whenever a state is seen, and must not block.
	Attend(ctx context.Context, s *State)
	// Cancel asks for the task's end. The state is nil where the server only takes note.
	Cancel(ctx context.Context) (*State, error)
}

// Options are how a task is followed.
type Options struct {
	// Observe is told of every change. It must not block.
	Observe func(protocol.McpTask)
	// News brings states that the server tells by itself, and nil where it may tell no more.
	News <-chan *State
	// Cancel is closed when a person wants the end.
	Cancel <-chan struct{}
	// Known is what an earlier sidecar knew of the task, or nil.
	Known *protocol.McpTask
	// Found says that no call of ours made the task: how old it is, only the server knows.
	Found bool
	// Floor is the shortest pause between two polls; 0 means [DefaultFloor].
	Floor time.Duration
}

// Bounds of the pauses between polls.
const (
	// DefaultFloor is the shortest, whatever the server says.
	DefaultFloor = 500 * time.Millisecond
	// Ceiling is the longest, whatever the server says: a task that ended should not look as if it ran.
	Ceiling = 5 * time.Minute
	// unasked is the first pause where the server does not say, and slowest the one to which it grows while
	// nothing changes.
	unasked = time.Second
	slowest = 10 * time.Second
	// told is the pause after the server told something by itself: then polls are but a safety. It also bounds the
	// pause before the first poll: over HTTP, what the server told before its stream was open reached nobody.
	told = time.Minute
	// maxFailures bounds how often in a row the server may not be reached.
	maxFailures = 12
	// maxStatusless bounds how often in a row the server may answer with no status.
	maxStatusless = 3
)

// LostError says why a task cannot be followed any more.
type LostError struct {
	// Reason is the rest of a sentence about the task.
	Reason string
	// Err is the cause, if it has an error of its own. Reason is then about the server.
	Err error
}

// Error implements error.
func (e *LostError) Error() string { return e.Reason }

// Unwrap returns what it comes of.
func (e *LostError) Unwrap() error { return e.Err }

// ErrNoStatus says that the server's answer about a task has no status. A [Driver] returns it.
var ErrNoStatus = errors.New("the server says nothing of the task's status")

// ErrCancelled says that the server has cancelled the task.
var ErrCancelled = errors.New("the task was cancelled")

// Follow follows a task from a state of it to its end, and returns what the call returned. The error is
// the call's own [jsonrpc.Error], [ErrCancelled], a [LostError], or ctx's cause.
func Follow(ctx context.Context, d Driver, first *State, opts Options) (json.RawMessage, error) {
	if opts.Floor == 0 {
		opts.Floor = DefaultFloor
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f := &follower{Options: opts, driver: d, state: first, pause: unasked}
	if opts.Known != nil {
		f.known, f.stale = *opts.Known, true
	} else {
		f.known = protocol.McpTask{TaskID: first.ID, CreatedAt: time.Now().UnixMilli()}
		f.take(first)
	}
	for {
		f.observe()
		if f.state.Ended() && !f.stale {
			result, err := f.result(ctx)
			if err == nil || !f.goesOn(err) {
				return result, err
			}
		} else if !f.stale {
			d.Attend(ctx, f.state)
		}
		if err := f.next(ctx); err != nil {
			return nil, err
		}
	}
}

// follower is one task on its way.
type follower struct {
	Options
	driver Driver
	state  *State
	known  protocol.McpTask
	// pause is that before the next poll, where the server gives none.
	pause time.Duration
	// stale is set until the server has said how a task of an earlier sidecar is.
	stale bool
	// telling is set once the server told something by itself, polled once it was asked.
	telling, polled bool
	// failures counts how often in a row the server could not be asked, unfetched how often its result
	// could not be fetched, although it may have said meanwhile how the task is. Statusless counts how often in a
	// row its answer had no status.
	failures, unfetched, statusless int
}

// take takes what the server says.
func (f *follower) take(s *State) {
	changed := s.Status != f.known.Status || s.StatusMessage != f.known.StatusMessage
	f.state, f.failures, f.statusless, f.stale, f.known.Problem = s, 0, 0, false, ""
	f.known.Status, f.known.StatusMessage = s.Status, s.StatusMessage
	if s.TTL != nil {
		created := f.known.CreatedAt
		if f.Found && s.CreatedAt != 0 {
			created = min(created, s.CreatedAt)
		}
		f.known.ExpiresAt = created + s.TTL.Milliseconds()
	} else {
		f.known.ExpiresAt = 0
	}
	if s.Ended() {
		f.known.Cancelling = false
	}
	if changed {
		f.pause = unasked
	} else {
		f.pause = min(f.pause*3/2, slowest)
	}
}

func (f *follower) observe() { f.Observe(f.known) }

// wait returns the pause before the next poll. A task that expires is asked for then, however long the pause.
func (f *follower) wait() time.Duration {
	d := f.pace()
	if f.known.ExpiresAt != 0 {
		if left := time.Until(time.UnixMilli(f.known.ExpiresAt)); left > 0 {
			d = min(d, left)
		}
	}
	return d
}

// pace returns the pause between two polls.
func (f *follower) pace() time.Duration {
	switch failures := max(f.failures, f.unfetched); {
	case f.stale && failures == 0:
		return 0
	case failures > 0:
		return min(f.Floor<<min(failures, 10), Ceiling)
	case f.known.Cancelling:
		return max(f.Floor, min(f.state.PollInterval, unasked))
	case f.telling:
		return max(told, f.Floor)
	case f.state.PollInterval > 0:
		ceiling := Ceiling
		if !f.polled {
			ceiling = told
		}
		return min(max(f.state.PollInterval, f.Floor), ceiling)
	default:
		return max(f.pause, f.Floor)
	}
}

// next waits for the next state: until it is time to ask, or the server tells it.
func (f *follower) next(ctx context.Context) error {
	timer := time.NewTimer(f.wait())
	defer timer.Stop()
	for waiting := true; waiting; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case s := <-f.News:
			if s != nil {
				f.telling = true
				f.take(s)
				return nil
			}
			if f.telling {
				f.telling = false
				timer.Reset(f.wait())
			}
		case <-f.Cancel:
			f.Cancel = nil // once
			return f.cancel(ctx)
		case <-timer.C:
			waiting = false
		}
	}
	f.polled = true
	s, err := f.driver.Get(ctx)
	if err == nil {
		f.take(s)
		return nil
	}
	return f.failed(ctx, err)
}

// cancel asks for the end. What becomes of the task is the server's to say.
func (f *follower) cancel(ctx context.Context) error {
	f.known.Cancelling = true
	f.observe()
	s, err := f.driver.Cancel(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, new(*jsonrpc.Error)):
		// It has ended meanwhile, or cannot be cancelled: the next state will tell.
		f.known.Cancelling, f.known.Problem = false, "The server did not cancel it: "+reason.Of(err)
	case err != nil:
		return f.failed(ctx, err)
	case s != nil:
		f.take(s)
	}
	return nil
}

// failed bears with a server that cannot be asked, within bounds.
func (f *follower) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	expired := f.known.ExpiresAt != 0 && time.Now().UnixMilli() >= f.known.ExpiresAt
	var refused *jsonrpc.Error
	var lost *LostError
	switch {
	case errors.As(err, &lost):
		return lost
	case errors.As(err, &refused) && f.known.Cancelling:
		return ErrCancelled // and forgotten, as a server may
	case errors.As(err, &refused) && expired:
		return &LostError{Reason: fmt.Sprintf("it has expired, and the server no longer knows it: %s (%d)", refused.Message, refused.Code)}
	case errors.As(err, &refused) && refused.Code == jsonrpc.CodeInvalidParams: // 2025-11-25, "Tasks: Protocol Errors"
		return &LostError{Reason: fmt.Sprintf("the server no longer knows it: %s (%d)", refused.Message, refused.Code)}
	case errors.As(err, &refused):
		return &LostError{Reason: fmt.Sprintf("the server does not say how it is: %s (%d)", refused.Message, refused.Code)}
	case expired:
		return &LostError{Reason: "it has expired, and the server cannot be asked: " + reason.Of(err)}
	}
	f.failures++
	f.statusless++
	if !errors.Is(err, ErrNoStatus) {
		f.statusless = 0
	}
	switch {
	case f.statusless >= maxStatusless:
		return &LostError{Reason: "the server's answers have no status of it"}
	case f.failures > maxFailures:
		return &LostError{Reason: fmt.Sprintf("the server could not be asked %d times in a row: %s", f.failures, reason.Of(err))}
	}
	f.known.Problem = reason.Of(err)
	f.observe()
	return nil
}

// result fetches what the call returned.
func (f *follower) result(ctx context.Context) (json.RawMessage, error) {
	result, err := f.driver.Result(ctx, f.state)
	if err != nil && f.state.Status == protocol.McpTaskCancelled && ctx.Err() == nil {
		return nil, ErrCancelled
	}
	return result, err
}

// goesOn reports whether a result that could not be fetched is asked for again.
func (f *follower) goesOn(err error) bool {
	if errors.As(err, new(*jsonrpc.Error)) || errors.Is(err, ErrCancelled) || errors.As(err, new(*LostError)) {
		return false
	}
	f.unfetched++
	f.known.Problem = reason.Of(err)
	f.observe()
	return f.unfetched <= maxFailures
}
