package hub

import (
	"context"
	"errors"
	"fmt"

	"assent/sidecar/reason"
	"assent/sidecar/wire"
)

// lostError says why no answer can come any more.
type lostError struct{ reason string }

func (e lostError) Error() string { return e.reason }

// taskLostError says, in whole sentences, why an MCP task cannot be followed any more. Its server may be there.
type taskLostError struct{ reason string }

func (e taskLostError) Error() string { return e.reason }

// noAnswerError says why a request failed although its connection did not.
type noAnswerError struct{ reason string }

func (e noAnswerError) Error() string { return e.reason }

// unusableError says why an answer cannot be used.
type unusableError struct{ reason string }

func (e unusableError) Error() string { return e.reason }

// errUnsent says that the server never took the request, because the connection was lost before.
var errUnsent = errors.New("the request was not sent")

// isUnread reports whether an answer came that cannot be read: asked again, the server would say the same.
func isUnread(err error) bool {
	return errors.As(err, new(*wire.TooLongError)) || errors.Is(err, wire.ErrTooDeep) || errors.As(err, new(*wire.UnreadableError))
}

// failure returns why a request of the session failed:
//
//   - the cause of ctx, which is an overdueError if the request took too long
//   - the server's own [jsonrpc.Error]
//   - an error that isUnread
//   - errUnsent, after the connection is over
//   - an unusableError, a noAnswerError or a lostError
func (c *conn) failure(ctx context.Context, capture *wire.Capture, err error) error {
	switch got := capture.Answer(); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case got.Error != nil:
		return got.Error
	case isUnread(got.Failure):
		return got.Failure
	case got.Unsent:
		c.link.lose(got.Failure)
		<-c.over
		return fmt.Errorf("%w: %w", errUnsent, got.Failure)
	case c.link.broken() == nil:
		if got.Failure != nil {
			err = got.Failure
		}
		if got.Result != nil { // which go-sdk cannot read
			return unusableError{reason.Of(err)}
		}
		return noAnswerError{reason.Of(err)}
	}
	// A request notices the end before the reason is known.
	select {
	case <-c.over:
		return lostError{reason.Of(context.Cause(c.ctx))}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
