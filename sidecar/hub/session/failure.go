package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assent/sidecar/base/reason"
	"assent/sidecar/wire"
)

// LostError is the error of a request whose connection ended before the answer.
type LostError struct{ Reason string }

// Error implements error.
func (e LostError) Error() string { return e.Reason }

// NoAnswerError is the error of a request that failed although its connection lasts.
type NoAnswerError struct{ Reason string }

// Error implements error.
func (e NoAnswerError) Error() string { return e.Reason }

// BadAnswerError is the error of an answer that cannot be used.
type BadAnswerError struct{ Reason string }

// Error implements error.
func (e BadAnswerError) Error() string { return e.Reason }

// ErrUnsent means that the connection was lost before the server took the request.
var ErrUnsent = errors.New("the request was not sent")

// MaxSends bounds how often Assent sends a request that the server does not take.
const MaxSends = 2

// IsUnread reports whether the server sent an answer that cannot be read. Repeating the request would not help, because
// the server would answer the same.
func IsUnread(err error) bool {
	return errors.As(err, new(*wire.TooLongError)) || errors.Is(err, wire.ErrTooDeep) || errors.As(err, new(*wire.UnreadableError))
}

// Failure returns why a request of the session failed:
//
//   - the cause of ctx, which is an Overdue if the request took too long
//   - the server's own [jsonrpc.Error]
//   - an error for which [IsUnread] returns true
//   - ErrUnsent, after the connection is over
//   - a BadAnswerError, a NoAnswerError or a LostError
func (c *Conn) Failure(ctx context.Context, capture *wire.Capture, err error) error {
	switch got := capture.Answer(); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case got.Error != nil:
		return got.Error
	case IsUnread(got.Failure):
		return got.Failure
	case errors.Is(got.Failure, wire.ErrUnwritable):
		return c.unwritten(ctx, got)
	case got.Unsent:
		c.link.lose(got.Failure)
		<-c.over
		return fmt.Errorf("%w: %w", ErrUnsent, got.Failure)
	case c.link.broken() == nil:
		if got.Failure != nil {
			err = got.Failure
		}
		if got.Result != nil { // go-sdk cannot read it
			return BadAnswerError{reason.Of(err)}
		}
		return NoAnswerError{reason.Of(err)}
	}
	// A request can fail before the connection knows why it ended.
	select {
	case <-c.over:
		return LostError{reason.Of(context.Cause(c.ctx))}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// longestEnd bounds how long a server that reads no more may take to end. On a busy machine that can be seconds.
const longestEnd = 10 * time.Second

// unwritten is [Conn.Failure] for a request that could not be written because the server no longer reads. Nearly always
// the server's process has ended, and the connection is about to notice that. unwritten waits for it, because a
// repeated request would otherwise fail on the same connection.
func (c *Conn) unwritten(ctx context.Context, got wire.Answer) error {
	timer := time.NewTimer(longestEnd)
	defer timer.Stop()
	select {
	case <-c.over:
		if got.Unsent {
			return fmt.Errorf("%w: %w", ErrUnsent, got.Failure)
		}
		return LostError{reason.Of(context.Cause(c.ctx))}
	case <-timer.C:
		return NoAnswerError{reason.Of(got.Failure)}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
