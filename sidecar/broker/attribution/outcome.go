package attribution

import (
	"context"
	"errors"
	"strings"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/wire"
	"assent/sidecar/wire/mcptask"
)

// outcomeError is a cause of the end of a call or a connection that determines the outcome of the asks that end with it.
type outcomeError interface {
	error
	AskOutcome() *task.Ended
}

// Abandoned is why a call was not continued although the server would have continued it.
type Abandoned struct{ Reason string }

// Error implements error.
func (e Abandoned) Error() string { return e.Reason }

// AskOutcome returns the outcome of the asks that end with the call.
func (e Abandoned) AskOutcome() *task.Ended {
	return &task.Ended{Reason: protocol.OutcomeCallEnded, Detail: e.Reason}
}

// RequestEnded returns the outcome of an ask if its request or its connection ended with a cause.
func RequestEnded(cause error) *task.Ended {
	var known outcomeError
	switch {
	case errors.As(cause, &known):
		return known.AskOutcome()
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

// CallEnded returns the outcome of an ask if its call is over. The cause is that of the call's cancellation, or nil.
func CallEnded(cause error) *task.Ended {
	var ended *task.Ended
	var known outcomeError
	switch {
	case errors.As(cause, &ended):
		return ended
	case errors.As(cause, &known):
		return known.AskOutcome()
	case WasCancelled(cause):
		return &task.Ended{Reason: protocol.OutcomeCallEnded, Detail: "The call was cancelled."}
	default:
		return &task.Ended{Reason: protocol.OutcomeCallEnded}
	}
}

// WasCancelled reports whether the cause of the end of a call or an MCP task is a cancellation.
func WasCancelled(cause error) bool {
	return errors.Is(cause, context.Canceled) || errors.Is(cause, mcptask.ErrCancelled)
}
