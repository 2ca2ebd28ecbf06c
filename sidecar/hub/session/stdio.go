package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"assent/protocol"
	"assent/sidecar/wire"
)

// openStdio starts the server's process and makes the handshake. On failure, the process has ended. If the process was
// started, openStdio still returns the link, because the link has the process's output.
func (c *Conn) openStdio(known wire.Era) (*link, error) {
	l, err := c.startStdio(known)
	if errors.Is(err, wire.ErrProbe) {
		// Some servers exit if the first message is not initialize.
		c.log.Info().Msg("the server ended when it was probed, starting it again")
		l, err = c.startStdio(wire.EraLegacy)
	}
	return l, err
}

func (c *Conn) startStdio(known wire.Era) (*link, error) {
	// Resolve may ask a person for an input, which has no time limit.
	cmd, err := c.server.config.Resolve(c.ctx, c.environment())
	if err != nil {
		return nil, err
	}
	release, err := c.server.dialer.starts.take(c.ctx, longestStart)
	if err != nil {
		return nil, err
	}
	defer release()
	leftovers := c.server.dialer.opts.Leftovers
	if mark := leftovers.Mark(c.ctx); mark != "" {
		cmd.Env = append(cmd.Environ(), mark)
	}
	c.log.Info().Str("path", cmd.Path).Str("dir", cmd.Dir).Msg("starting server")
	process, err := wire.StartProcess(cmd, func(line string) {
		c.server.logTail.Add(protocol.LogStderr, "", line)
		c.log.sampled.Info().Str("stderr", line).Send()
	})
	if pathErr := (*os.PathError)(nil); errors.As(err, &pathErr) && pathErr.Path == cmd.Path {
		err = pathErr.Err // the path is named once
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be started: %w", cmd.Path, err)
	}
	leftovers.Started(process.PID())
	c.server.logTail.Add(protocol.LogAssent, "", fmt.Sprintf("started as process %d", process.PID()))
	stream := wire.NewConn(wire.NewLines(process, c.stray, 0), c.options())
	l := &link{
		transport: stream, call: stream.Call, callsAside: true,
		broken: stream.Err, answered: stream.Answered, delivered: stream.Delivered,
		close: stream.Close,
		why:   func(error) string { return whyGone(process, stream) },
		pid:   process.PID, exitCode: process.ExitCode,
		stderr: process.Stderr,
	}
	ctx, cancel := c.withinHandshake()
	defer cancel()
	l.handshake, err = stream.Shake(ctx, c.Introduction(), known)
	if err == nil {
		return l, nil
	}
	if errors.As(err, new(*os.PathError)) { // the process ended, and its last output may still be unread
		timer := time.NewTimer(closeTimeout)
		select {
		case <-stream.Done():
		case <-timer.C: // another process holds its output open
		}
		timer.Stop()
	}
	broken := stream.Err() != nil // before Assent closes the link
	if !errors.As(err, new(*os.PathError)) {
		l.leave()
	}
	if closeErr := l.close(); closeErr != nil {
		c.log.Debug().Err(closeErr).Msg("closing the server")
	}
	switch {
	case context.Cause(ctx) != nil && !broken:
		err = context.Cause(ctx)
	case errors.Is(err, wire.ErrProbe):
	case broken, errors.As(err, new(*os.PathError)): // the process or its pipe ended first, so its exit is the reason
		err = errors.New(whyGone(process, stream))
	}
	return l, err
}

// whyGone returns why a process ended unexpectedly. The exit of the process is the best reason, unless Assent gave up
// the connection.
func whyGone(process *wire.Process, stream *wire.Conn) string {
	exit := process.Exit()
	switch err := stream.Err(); {
	case errors.Is(err, wire.ErrTooLong):
		return strings.TrimPrefix(closeReason(err), ": ")
	case exit == "":
		return "it closed its output and stayed"
	default:
		return exit
	}
}
