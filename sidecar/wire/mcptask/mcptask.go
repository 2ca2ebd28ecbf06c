// Package mcptask follows MCP tasks to their end.
//
// MCP has two variants. In the core of 2025-11-25, the client asks for a task, fetches its result with a
// separate request, and gets questions as requests. In the extension io.modelcontextprotocol/tasks of
// 2026-07-28, the server creates the task, and tasks/get returns everything. A [Driver] speaks one of
// them, and [Follow] knows neither.
//
// Follow polls at the server's pace, within bounds, and less often if the server sends
// notifications. It starts no goroutine that outlives it.
package mcptask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/base/reason"
)

// State is a server's state of a task.
type State struct {
	ID string
	// HasNumber reports that the server wrote the id as a number, against MCP.
	HasNumber     bool
	Status        protocol.McpTaskStatus
	StatusMessage string
	// CreatedAt is by the server's clock, in milliseconds; 0 if it does not say.
	CreatedAt int64
	// TTL is nil if the server keeps the task for ever, or does not say.
	TTL *time.Duration
	// PollInterval is 0 if the server does not say.
	PollInterval time.Duration
	// Inputs are the open questions, in the server's order.
	Inputs []Input
	// Result and Err are set for a task that has ended, if the state includes them.
	Result json.RawMessage
	Err    *jsonrpc.Error
}

// Ended reports whether the status is final.
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

// Input is a request of the server that is part of a state or of a result.
type Input struct {
	// Key identifies it.
	Key    string          `json:"-"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// Driver speaks one variant of MCP tasks with one server about one task. A [jsonrpc.Error] is the
// server's error, a [LostError] is final, and any other error says that the request could not be
// sent.
type Driver interface {
	// Get returns the task's state.
	Get(ctx context.Context) (*State, error)
	// Result returns the call's result, for a final state.
	Result(ctx context.Context, s *State) (json.RawMessage, error)
	// Attend answers the questions of a task that needs input, until ctx ends. It is called for every
	// state, and must not block.
	Attend(ctx context.Context, s *State)
	// Cancel cancels the task. The state is nil if the server returns none.
	Cancel(ctx context.Context) (*State, error)
}

// Options configure [Follow].
type Options struct {
	// Observe is called for every change. It must not block.
	Observe func(protocol.McpTask)
	// News brings states from notifications of the server, and nil if some may have been lost.
	News <-chan *State
	// Cancel is closed when a person cancels the task.
	Cancel <-chan struct{}
	// Known is an earlier sidecar's state of the task, or nil.
	Known *protocol.McpTask
	// Found: no call of Assent created the task, so only the server knows its age.
	Found bool
	// Floor is the shortest pause between two polls; 0 means [DefaultFloor].
	Floor time.Duration
}

// Bounds of the pauses between polls.
const (
	// DefaultFloor is the shortest pause, even if the server gives a shorter one.
	DefaultFloor = 500 * time.Millisecond
	// Ceiling is the longest pause, even if the server gives a longer one, so that an ended task does
	// not look as if it ran.
	Ceiling = 5 * time.Minute
	// unasked is the first pause if the server gives none. While nothing changes, it grows up to slowest.
	unasked = time.Second
	slowest = 10 * time.Second
	// told is the pause after a notification of the server; polls are then only a safeguard. It also bounds the
	// pause before the first poll, because over HTTP, notifications before the stream was open are lost.
	told = time.Minute
	// maxFailures bounds the failed requests in a row.
	maxFailures = 12
	// maxStatusless bounds the answers without a status in a row.
	maxStatusless = 3
	// maxUnfinished bounds how often a completed task answers the request for its result with an error.
	maxUnfinished = 3
	// steady and steadyFor are how often, and for how long, a status that MCP does not have is seen before the task is
	// given up.
	steady    = 3
	steadyFor = 10 * time.Second
)

// LostError says why a task can no longer be followed.
type LostError struct {
	// Reason is the rest of a sentence that begins with the task, or, if that is not over, a sentence about it.
	Reason string
	// Err is the cause, if it has an error of its own. Reason is then about the server.
	Err error
	// Gone reports that the server no longer has the task, so that it can be started again.
	Gone bool
	// Over reports that the task has ended.
	Over bool
}

// Error implements error.
func (e *LostError) Error() string { return e.Reason }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// ErrNoStatus says that the server's answer about a task has no status. A [Driver] returns it.
var ErrNoStatus = errors.New("the server says nothing of the task's status")

// ErrCancelled says that the server has cancelled the task.
var ErrCancelled = errors.New("the task was cancelled")

// Follow follows a task from a state to its end, and returns the call's result. The error is the call's
// own [jsonrpc.Error], [ErrCancelled], a [LostError], or ctx's cause.
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
		if f.odd >= steady && time.Since(f.oddSince) >= steadyFor {
			return nil, &LostError{Reason: fmt.Sprintf("it stays in the status %q, which MCP does not have", f.state.Status)}
		}
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

// follower follows one task.
type follower struct {
	Options
	driver Driver
	state  *State
	known  protocol.McpTask
	// pause is the pause before the next poll, if the server gives none.
	pause time.Duration
	// stale is set until the server has sent the state of a task from an earlier sidecar.
	stale bool
	// telling is set once the server has sent a notification, polled once it was polled.
	telling, polled bool
	// failures counts the failed requests in a row. unfetched counts the failed requests for the result, also
	// across states. statusless counts the answers without a status in a row.
	failures, unfetched, statusless int
	// odd counts the states in a row with the same status that MCP does not have, and oddSince is when the first came.
	odd      int
	oddSince time.Time
}

// take handles a state.
func (f *follower) take(s *State) {
	changed := s.Status != f.known.Status || s.StatusMessage != f.known.StatusMessage
	f.state, f.failures, f.statusless, f.stale, f.known.Problem = s, 0, 0, false, ""
	switch {
	case s.Valid():
		f.odd = 0
	case f.odd == 0 || s.Status != f.known.Status:
		f.odd, f.oddSince = 1, time.Now()
	default:
		f.odd++
	}
	if f.odd > 0 {
		f.known.Problem = fmt.Sprintf("The server gives it the status %q, which MCP does not have.", s.Status)
	}
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

// wait returns the pause before the next poll. If the task expires earlier, wait returns the time until then.
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

// next waits for the next state: from a poll, or from the server.
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
			f.Cancel = nil // only once
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

// cancel cancels the task. The server's next state has the effect.
func (f *follower) cancel(ctx context.Context) error {
	f.known.Cancelling = true
	f.observe()
	s, err := f.driver.Cancel(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, new(*jsonrpc.Error)):
		// The task has ended, or cannot be cancelled: the next state shows which.
		f.known.Cancelling, f.known.Problem = false, "The server did not cancel it: "+reason.Of(err)
	case err != nil:
		return f.failed(ctx, err)
	case s != nil:
		f.take(s)
	}
	return nil
}

// failed handles a failed request. It returns an error after too many.
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
	case errors.As(err, &refused) && f.known.Cancelling && refused.Code != jsonrpc.CodeInternalError:
		return ErrCancelled // the server may have deleted it
	case errors.As(err, &refused) && f.state.Status == protocol.McpTaskCompleted && refused.Code == jsonrpc.CodeInvalidParams:
		return &LostError{Over: true, Reason: fmt.Sprintf("is completed, and the server no longer knows it: %s (%d)", refused.Message, refused.Code)}
	case errors.As(err, &refused) && expired:
		return &LostError{Gone: true, Reason: fmt.Sprintf("it has expired, and the server no longer knows it: %s (%d)", refused.Message, refused.Code)}
	case errors.As(err, &refused) && refused.Code == jsonrpc.CodeInvalidParams: // 2025-11-25, "Tasks: Protocol Errors"
		return &LostError{Gone: true, Reason: fmt.Sprintf("the server no longer knows it: %s (%d)", refused.Message, refused.Code)}
	case errors.As(err, &refused) && refused.Code == jsonrpc.CodeMethodNotFound:
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
	case f.failures > maxFailures && refused != nil:
		return &LostError{Reason: fmt.Sprintf("the server did not say how it is, %d times in a row: %s (%d)", f.failures, refused.Message, refused.Code)}
	case f.failures > maxFailures:
		return &LostError{Reason: fmt.Sprintf("the server could not be asked %d times in a row: %s", f.failures, reason.Of(err))}
	}
	f.known.Problem = reason.Of(err)
	if refused != nil {
		f.known.Problem = fmt.Sprintf("The server does not say how it is: %s (%d)", refused.Message, refused.Code)
	}
	f.observe()
	return nil
}

// result fetches the call's result. A cancelled task has none, and a server that is asked for it may wait for good.
func (f *follower) result(ctx context.Context) (json.RawMessage, error) {
	if f.state.Status == protocol.McpTaskCancelled {
		return nil, ErrCancelled
	}
	return f.driver.Result(ctx, f.state)
}

// goesOn reports whether to fetch the result again after an error.
func (f *follower) goesOn(err error) bool {
	var refused *jsonrpc.Error
	if errors.As(err, &refused) && refused.Code != jsonrpc.CodeMethodNotFound && f.state.Status == protocol.McpTaskCompleted && f.unfetched < maxUnfinished {
		f.unfetched++ // the result of a completed task is no error
		f.known.Problem = reason.Of(err)
		f.observe()
		return true
	}
	if errors.As(err, new(*jsonrpc.Error)) || errors.Is(err, ErrCancelled) || errors.As(err, new(*LostError)) {
		return false
	}
	f.unfetched++
	f.known.Problem = reason.Of(err)
	f.observe()
	return f.unfetched <= maxFailures
}
