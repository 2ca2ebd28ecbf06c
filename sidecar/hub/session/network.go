package session

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/sidecar/base/deadline"
	"assent/sidecar/wire"
	"assent/sidecar/wire/auth"
)

// endpoint resolves the variables in the server's address. It may ask a person for an input, and sets no time limit for
// that.
func (c *Conn) endpoint() (wire.Endpoint, error) {
	u, header, err := c.server.config.Endpoint(c.ctx, c.environment())
	if err != nil {
		return wire.Endpoint{}, err
	}
	base := http.RoundTripper(c.server.dialer.network)
	if authorize := c.server.dialer.opts.Authorize; authorize != nil {
		login, err := c.server.config.Login(c.ctx, c.environment())
		if err != nil {
			return wire.Endpoint{}, err
		}
		base = authorize(c.server.config, u, login, base)
	}
	e := wire.Endpoint{URL: u, Header: header, Base: base}
	c.log.Info().Str("url", e.Place()).Msg("connecting to server")
	return e, nil
}

// openHTTP opens a link over HTTP. It probes the server's era, unless the server is known to be legacy. go-sdk
// initializes a legacy server later.
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
	l.handshake, err = layer.Probe(ctx, who, wire.PatientProbeTimeout)
	if err != nil {
		return l, errors.Join(err, l.close())
	}
	return l, nil
}

// openSSE opens a connection over HTTP with SSE (2024-11-05). All servers of that transport are legacy.
func (c *Conn) openSSE() (*link, error) {
	e, err := c.endpoint()
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.withinHandshake()
	inner, err := wire.ConnectSSE(ctx, e, c.stray, 0)
	deadline.Pause(ctx) // never resumed, because the connection lives in the context that opened it
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		cancel()
		return nil, err
	}
	return c.shake(inner, cancel, wire.EraLegacy)
}

// openWebSocket opens a connection over WebSocket. The server may speak either era.
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

// shake makes the handshake on a network connection. The link calls closed when it is closed.
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

// alive checks that the server answers. A refusal counts as an answer: the server may not know ping, or may want a new
// login. Assent asks the person to log in only when the server is used again.
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
	case capture.Answer().Error != nil: // not err, because go-sdk has errors of its own of that type
		return nil
	case errors.As(err, &status) && (status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden):
		return nil
	}
	return err
}

// watch checks periodically that an unused server answers, so that its state "running" stays true. If the server does
// not answer, watch ends the link. It returns then, or when ctx ends.
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
			continue // some servers answer one request at a time
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
