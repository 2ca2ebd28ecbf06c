package exchange

import (
	"context"
	"errors"
	"time"

	"assent/sidecar/hub/session"
)

// watchPause is how long a subscription waits after its connection was lost.
const watchPause = time.Second

// errNotTold is the error of a subscription that a server ended by itself.
var errNotTold = errors.New("the server ended the subscription")

// Watch subscribes to a resource until ctx ends (MCP, "Resources: Subscriptions"), and subscribes again on the next
// connection. It calls began with nil when the request was sent, or with the error. Only the first call of began
// counts. Until ctx ends, the server is not stopped as idle.
func (s *Exchanges) Watch(ctx context.Context, uri string, began func(error)) {
	for {
		c, release, err := s.session.Borrow(ctx, "")
		if err == nil {
			err = s.watchOn(ctx, c, uri, began)
			release()
		}
		if err != nil {
			began(err)
			s.opts.Log.Debug().Err(err).Str("server", s.name()).Msg("a subscription has ended")
			return
		}
		if session.Pause(ctx, watchPause) != nil {
			return
		}
	}
}

// watchOn subscribes on a connection, and returns when that or ctx ends. The error is the server's.
func (s *Exchanges) watchOn(ctx context.Context, c *session.Conn, uri string, began func(error)) error {
	if c.IsModern() {
		began(nil)
		_, err := c.Call(ctx, "subscriptions/listen", map[string]any{
			"notifications": map[string]any{"resourceSubscriptions": []string{uri}}, "_meta": modernMeta(c),
		})
		switch {
		case ctx.Err() != nil || c.Context().Err() != nil:
			return nil
		case err == nil:
			return errNotTold
		default:
			return err
		}
	}
	params := map[string]string{"uri": uri}
	if err := s.within(ctx, c, "resources/subscribe", params); err != nil {
		if ctx.Err() != nil || c.Context().Err() != nil {
			return nil
		}
		return err
	}
	began(nil)
	select {
	case <-c.Context().Done():
		return nil
	case <-ctx.Done():
	}
	if err := s.within(context.WithoutCancel(ctx), c, "resources/unsubscribe", params); err != nil {
		s.opts.Log.Debug().Err(err).Str("server", s.name()).Msg("a subscription was not taken back")
	}
	return nil
}

// within makes a request with the usual limit.
func (s *Exchanges) within(ctx context.Context, c *session.Conn, method string, params any) error {
	ctx, done := c.Within(ctx, method)
	defer done()
	_, err := c.Call(ctx, method, params)
	return err
}
