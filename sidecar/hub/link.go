package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/sidecar/wire"
)

// link is the way to a server, opened, with hands shaken.
type link struct {
	// transport is for go-sdk, pinned to the version that was settled on.
	transport mcp.Transport
	handshake *wire.Handshake
	// broken returns nil while the link lasts.
	broken func() error
	// close ends it within bounds.
	close func() error
	// why says how the link ended, once it was closed.
	why func() string
	// stderr returns the last lines that the server wrote there, where it has one.
	stderr func() []string
}

// openStdio starts the server's process and shakes hands. Where it fails, the process has ended. The
// link is returned all the same where there was a process, for what it wrote.
func (c *conn) openStdio(known wire.Era) (*link, error) {
	l, err := c.startStdio(known)
	if errors.Is(err, wire.ErrProbe) {
		// Some servers leave when the first thing that they hear is not initialize.
		c.log.Info().Msg("the server ended when it was probed, starting it again")
		l, err = c.startStdio(wire.EraLegacy)
	}
	return l, err
}

func (c *conn) startStdio(known wire.Era) (*link, error) {
	// A person who is asked for an input may take their time.
	cmd, err := c.server.config.Resolve(c.ctx, c.server.hub.opts.Environment)
	if err != nil {
		return nil, err
	}
	c.log.Info().Str("path", cmd.Path).Str("dir", cmd.Dir).Msg("starting server")
	process, err := wire.StartProcess(cmd, func(line string) { c.log.Info().Str("stderr", line).Send() })
	if err != nil {
		return nil, fmt.Errorf("%s cannot be started: %w", cmd.Path, err)
	}
	stray := func(line []byte) {
		c.log.Warn().Bytes("line", line[:min(len(line), 200)]).Msg("dropped what is not JSON-RPC from the server's stdout")
	}
	stream := wire.NewConn(wire.NewLines(process, stray, 0), c.options())
	l := &link{
		transport: stream,
		broken:    stream.Err,
		close:     stream.Close,
		why:       process.Exit,
		stderr:    process.Stderr,
	}
	ctx, cancel := c.withinHandshake()
	defer cancel()
	l.handshake, err = stream.Shake(ctx, c.server.hub.introduction(), known)
	if err == nil {
		return l, nil
	}
	broken := stream.Err() != nil // and not by us
	if closeErr := l.close(); closeErr != nil {
		c.log.Debug().Err(closeErr).Msg("closing the server")
	}
	switch {
	case context.Cause(ctx) != nil && !broken:
		err = context.Cause(ctx)
	case errors.Is(err, wire.ErrProbe):
	case broken: // the process left first, and knows why
		err = errors.New(process.Exit())
	}
	return l, err
}

// withinHandshake bounds a server's start.
func (c *conn) withinHandshake() (context.Context, context.CancelFunc) {
	patience := c.server.hub.opts.Handshake
	return context.WithTimeoutCause(c.ctx, patience,
		fmt.Errorf("it did not answer the handshake within %v", patience.Round(time.Millisecond)))
}
