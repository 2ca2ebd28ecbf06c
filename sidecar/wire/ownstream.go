package wire

import (
	"context"
	"io"
	"math"
	"net/http"
	"sync"
	"time"
)

// streamPatience is how long the handshake waits until the server begins its own stream. Some servers, and proxies before
// them, send nothing of a stream before its first event, which may never come.
const streamPatience = time.Second

// maxStreamFailures is how often the server may break off the GET for its own stream, before it counts as one that offers
// none. Without that stream, the session is as good for calls.
const maxStreamFailures = 2

// openStream sends the GET for the server's own stream. In place of a late response it returns a stream that has the events
// of the server's once that begins.
func (h *HTTP) openStream(r *http.Request) (*http.Response, func(), error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	come := make(chan opened, 1)
	go func() {
		response, release, err := h.send(r.WithContext(ctx))
		come <- opened{response, release, err}
	}()
	timer := time.NewTimer(streamPatience)
	defer timer.Stop()
	select {
	case o := <-come:
		if o.err != nil {
			cancel(nil)
			if h.streamFailures.Add(1) < maxStreamFailures || r.Context().Err() != nil || h.Err() != nil {
				return nil, nil, o.err
			}
			h.opts.Log.Warn().Err(o.err).Msg("the server breaks off its own stream, and is used without it")
			return withBody(&http.Response{Request: r, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}}, http.StatusMethodNotAllowed, "", nil), func() {}, nil
		}
		h.streamFailures.Store(math.MinInt32) // it offers one
		return o.response, func() { o.release(); cancel(nil) }, nil
	case <-timer.C:
		h.opts.Log.Debug().Msg("the server has not begun its own stream yet")
		late := &lateStream{done: ctx.Done(), ended: h.ctx.Done(), wait: sync.OnceValue(func() opened { return <-come })}
		response := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kindEvents}}, Body: late, Request: r, ProtoMajor: 1, ProtoMinor: 1}
		return response, func() { cancel(ErrClosed); late.leave() }, nil
	}
}

// opened is the response to the GET for a server's own stream, as [HTTP.send] returns it.
type opened struct {
	response *http.Response
	release  func()
	err      error
}

// lateStream is the body of a stream that has not begun. If the server offers none after all, it stays empty until the
// session ends: at an earlier end, go-sdk would ask for the stream again.
type lateStream struct {
	done, ended <-chan struct{}
	// wait returns the response once it is there, at the latest soon after done or ended.
	wait func() opened
}

// Read implements [io.Reader].
func (l *lateStream) Read(p []byte) (int, error) {
	if o := l.wait(); o.err == nil && isOK(o.response) && kindOf(o.response) == kindEvents {
		return o.response.Body.Read(p)
	}
	select {
	case <-l.done:
	case <-l.ended:
	}
	return 0, io.EOF
}

// Close implements [io.Closer].
func (l *lateStream) Close() error { return nil }

// leave releases the response. The context of its request has ended.
func (l *lateStream) leave() {
	if o := l.wait(); o.err == nil {
		o.release()
	}
}
