package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
)

// ErrEnded says that the daemon ended before its front end.
var ErrEnded = errors.New("the daemon has ended")

// Relay copies bytes between a connection of [Dial] and a front end, until the front end closes stdin and the daemon
// has sent the rest, or ctx ends. The error is [ErrEnded] if the daemon ended first; the front end then starts again.
// Relay closes the connection. If it ends before stdin does, one read of stdin continues, because it cannot be
// interrupted.
func Relay(ctx context.Context, conn net.Conn, stdin io.Reader, stdout io.Writer) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	stdinEnded := make(chan struct{})
	go func() {
		in := &input{r: stdin}
		// The other direction gets the errors of the connection too.
		_, err := io.Copy(conn, in)
		if in.ended {
			close(stdinEnded)
			if half, ok := conn.(interface{ CloseWrite() error }); ok && err == nil {
				err = half.CloseWrite()
			}
		}
		if err != nil {
			_ = conn.Close()
		}
	}()
	out := &output{w: stdout}
	_, err := io.Copy(out, conn)
	closed := conn.Close()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case out.err != nil:
		return fmt.Errorf("write to the front end: %w", out.err)
	}
	select {
	case <-stdinEnded:
		return errors.Join(ignoreEnd(err), ignoreEnd(closed))
	default:
		return errors.Join(ErrEnded, ignoreEnd(err))
	}
}

// input records the end of a reader, with or without an error.
type input struct {
	r     io.Reader
	ended bool
}

// Read implements [io.Reader].
func (i *input) Read(b []byte) (int, error) {
	n, err := i.r.Read(b)
	i.ended = err != nil
	return n, err
}

// output separates the errors of a writer from those of the reader.
type output struct {
	w   io.Writer
	err error
}

// Write implements [io.Writer].
func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if err != nil {
		o.err = err
	}
	return n, err
}

// ignoreEnd returns nil for the errors of a connection that has ended.
func ignoreEnd(err error) error {
	if isAbsent(err) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
