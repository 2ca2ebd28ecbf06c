package session

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/sidecar/auth"
	"assent/sidecar/deadline"
	"assent/sidecar/wire"
)

// endpoint puts the variables into the server's address. A person who is asked for an input may take
// their time.
func (c *Conn) endpoint() (wire.Endpoint, error) {
	u, header, err := c.server.config.Endpoint(c.ctx, c.server.dialer.opts.Environment)
	if err != nil {
		return wire.Endpoint{}, err
	}
	base := http.RoundTripper(c.server.dialer.network)
	if authorize := c.server.dialer.opts.Authorize; authorize != nil {
		login, err := c.server.config.Login(c.ctx, c.server.dialer.opts.Environment)
		if err != nil {
			return wire.Endpoint{}, err
		}
		base = authorize(c.server.config, u, login, base)
	}
	c.at = u
	e := wire.Endpoint{URL: u, Header: header, Base: base}
	c.log.Info().Str("url", e.Place()).Msg("connecting to server")
	return e, nil
}

// openHTTP finds out which era the server speaks. A legacy one is initialized by go-sdk.
func (c *Conn) openHTTP(known wire.Era) (*link, error) {
	e, err := c.endpoint()
	if err != nil {
		return nil, err
	}
	layer := wire.NewHTTP(wire.HTTPOptions{Options: c.options(), Endpoint: e})
	who := c.Introduction()
	l := &link{
		transport: layer.Transport(), call: layer.Call, answered: layer.Answered, delivered: layer.Delivered,
		handshake: &wire.Handshake{Era: wire.EraLegacy, Version: wire.LegacyVersion},
		broken:    layer.Err, close: layer.Close, lost: layer.Done(), lose: layer.Lose,
		why:    func(err error) string { return "the connection was lost" + closeReason(err) },
		stderr: func() []string { return nil },
		alive: func(ctx context.Context) error {
			hs, err := layer.Probe(ctx, who, c.server.dialer.opts.Handshake)
			if err == nil && hs.Era != wire.EraModern {
				err = errors.New("it speaks another version of MCP now")
			}
			return err
		},
	}
	if known == wire.EraLegacy {
		return l, nil
	}
	ctx, cancel := c.withinHandshake()
	defer cancel()
	l.handshake, err = layer.Probe(ctx, who, wire.ProbeTimeout)
	if err != nil {
		return l, errors.Join(err, l.close())
	}
	return l, nil
}

// openSSE opens a connection of 2024-11-05. All its servers are legacy.
func (c *Conn) openSSE() (*link, error) {
	e, err := c.endpoint()
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.withinHandshake()
	inner, err := wire.ConnectSSE(ctx, e, c.stray, 0)
	deadline.Pause(ctx) // for good: the connection lives in the context of its opening
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		cancel()
		return nil, err
	}
	return c.shake(inner, cancel, wire.EraLegacy)
}

// openWebSocket opens a connection on which either era may be spoken.
func (c *Conn) openWebSocket(known wire.Era) (*link, error) {
	e, err := c.endpoint()
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.withinHandshake()
	defer cancel()
	inner, err := wire.DialWebSocket(ctx, e, c.stray, 0)
	if err != nil {
		return nil, err
	}
	return c.shake(inner, func() {}, known)
}

// shake shakes hands over a connection of the network.
func (c *Conn) shake(inner mcp.Connection, closed func(), known wire.Era) (*link, error) {
	stream := wire.NewConn(inner, c.options())
	who := c.Introduction()
	l := &link{
		transport: stream, call: stream.Call, callsAside: true, answered: stream.Answered, delivered: stream.Delivered,
		broken: stream.Err, lost: stream.Done(), lose: stream.Lose,
		close: func() error {
			defer closed()
			return stream.Close()
		},
		why:    func(err error) string { return "the connection was lost" + closeReason(err) },
		stderr: func() []string { return nil },
		alive: func(ctx context.Context) error {
			_, err := stream.Discover(ctx, who)
			return err
		},
	}
	ctx, cancel := c.withinHandshake()
	defer cancel()
	var err error
	l.handshake, err = stream.Shake(ctx, who, known)
	if err == nil {
		return l, nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return l, errors.Join(err, l.close())
}

// alive asks the server for a sign of life. A refusal is one: a server may not know ping, or want a new login, for which
// nobody is asked before the server is used again.
func (c *Conn) alive(ctx context.Context) error {
	ctx, capture := wire.WithCapture(ctx)
	var err error
	if c.IsModern() {
		err = c.link.alive(ctx)
	} else {
		err = c.session.Ping(ctx, nil)
	}
	var status *wire.StatusError
	switch {
	case capture.Answer().Error != nil: // go-sdk has errors of its own of that type
		return nil
	case errors.As(err, &status) && (status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden):
		return nil
	}
	return err
}

// watch asks an unused server for a sign of life from time to time, so that "running"
// stays true. It returns when ctx ends.
func (c *Conn) watch(ctx context.Context) {
	ticker := time.NewTicker(c.server.dialer.opts.KeepAlive)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if c.Ledger.Busy() {
			continue // some servers answer one thing at a time
		}
		asking, cancel := context.WithTimeout(auth.Unattended(ctx), c.server.dialer.opts.KeepAlive)
		err := c.alive(asking)
		cancel()
		if err != nil && ctx.Err() == nil {
			c.log.Info().Err(err).Msg("the server gives no sign of life")
			c.link.lose(errors.New("it gives no sign of life"))
			return
		}
	}
}
