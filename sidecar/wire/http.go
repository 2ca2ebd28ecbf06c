package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/sidecar/base/deadline"
)

// ErrSessionLost ends a connection because the server no longer knows the session (2025-11-25, "Session Management"). A
// request that the server did not take can be sent again in a new session.
var ErrSessionLost = errors.New("the server has forgotten the session")

// HTTPOptions configure an [HTTP].
type HTTPOptions struct {
	Options
	Endpoint Endpoint
	// MaxFrame is the most bytes of a message of the server; 0 means [DefaultMaxFrame].
	MaxFrame int
}

// HTTP is the layer between go-sdk's client of Streamable HTTP and the server, as a [Conn] is for the other transports.
// It is the client's [http.RoundTripper] and sees every message of one session. A Conn around the client's connection
// would not do: the client would not learn that the session has begun, and would not open the server's own stream.
//
// If a server's request comes in the stream of a call, the handler's context has the values of the call's context. All
// methods may be called from any goroutine.
type HTTP struct {
	opts    HTTPOptions
	inbound *inbound
	ctx     context.Context // stored because it is the session's lifetime
	abort   context.CancelCauseFunc

	mu sync.Mutex // guards the fields below
	// handshake is the result of Probe, if the server is modern. It answers go-sdk's
	// server/discover.
	handshake *Handshake
	// session and version are the last ones in go-sdk's headers.
	session, version string
	// renewed is the id that the server gave in place of session, as some servers do with each response; empty if it gave
	// none.
	renewed  string
	lastCall int64
	// known is set once the server has answered a request of the session in another way than that it is lost.
	known atomic.Bool
	// streamFailures counts the failures of the GET for the server's own stream, until one succeeds.
	streamFailures atomic.Int32
}

const sessionHeader = "Mcp-Session-Id"

var _ http.RoundTripper = (*HTTP)(nil)

// NewHTTP returns the layer for one session. It sends nothing on its own.
func NewHTTP(opts HTTPOptions) *HTTP {
	if opts.MaxFrame == 0 {
		opts.MaxFrame = DefaultMaxFrame
	}
	ctx, abort := context.WithCancelCause(context.Background())
	return &HTTP{opts: opts, ctx: ctx, abort: abort, inbound: newInbound(ctx, opts.Options)}
}

// Transport returns go-sdk's transport over this layer.
func (h *HTTP) Transport() mcp.Transport {
	return &mcp.StreamableClientTransport{Endpoint: h.opts.Endpoint.URL.String(), HTTPClient: &http.Client{Transport: h}, MaxEventSize: h.opts.MaxFrame}
}

// Answered returns when every request that the server sent so far has its answer, or when ctx ends.
func (h *HTTP) Answered(ctx context.Context) { h.inbound.unanswered.wait(ctx) }

// Delivered returns when the server has every answer that handlers gave so far, or when ctx ends.
func (h *HTTP) Delivered(ctx context.Context) { h.inbound.undelivered.wait(ctx) }

// Err returns nil while the session lasts, and then the reason of its end.
func (h *HTTP) Err() error { return context.Cause(h.ctx) }

// Lose ends the session for a reason. The requests under way fail with it.
func (h *HTTP) Lose(why error) { h.abort(fmt.Errorf("%w: %w", ErrClosed, why)) }

// Done is closed when the session has ended.
func (h *HTTP) Done() <-chan struct{} { return h.ctx.Done() }

// Close ends every request except the DELETE of the session, and waits for the handlers. It returns nil.
func (h *HTTP) Close() error {
	h.abort(ErrClosed)
	h.inbound.close()
	return nil
}

// Probe sends server/discover to a server of unknown era, and waits no longer than wait. If the returned handshake has
// no result, the server is a legacy one or may be one, and the caller sends initialize.
func (h *HTTP) Probe(ctx context.Context, who Introduction, wait time.Duration) (*Handshake, error) {
	inner, err := h.Transport().Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn := NewConn(inner, Options{Log: h.opts.Log})
	defer conn.Close()
	probing, cancel := deadline.WithTimeout(context.WithValue(beside(ctx), probingKey{}, true), wait, context.DeadlineExceeded)
	defer cancel()
	probing, capture := WithCapture(probing)
	hs, err := conn.Discover(probing, who)
	var status *StatusError
	switch {
	case err == nil:
		h.mu.Lock()
		defer h.mu.Unlock()
		if hs.Era == EraModern {
			h.handshake = hs
		}
		return hs, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case isModern(err):
		return nil, err
	case probing.Err() != nil:
	case errors.Is(capture.Answer().Failure, errNoAnswer), isClosed(capture.Answer().Failure),
		errors.As(capture.Answer().Failure, new(*UnreadableError)), errors.As(capture.Answer().Failure, new(notMCP)):
		// An older server may take an unknown request as done, and an odd one may break off or say anything.
	case errors.As(capture.Answer().Failure, &status) && status.Code != http.StatusUnauthorized: // a proxy may forbid an unknown request
	case capture.Answer().Failure != nil:
		return nil, capture.Answer().Failure
	}
	return &Handshake{Era: EraLegacy, Version: LegacyVersion}, nil
}

// probingKey marks the context of the server/discover of Probe, which [HTTP.answered] must not answer.
type probingKey struct{}

// RoundTrip implements [http.RoundTripper].
func (h *HTTP) RoundTrip(r *http.Request) (*http.Response, error) {
	r, m, err := h.outgoing(r)
	if err != nil {
		return nil, err
	}
	if answer, ok := m.(*jsonrpc.Response); ok && !isBeside(r.Context()) {
		defer h.inbound.handedDown(answer.ID)
	}
	// Other messages than the call can have its context: a cancellation, and the GET that resumes its stream.
	capture, _ := r.Context().Value(captureKey{}).(*Capture)
	call, _ := m.(*jsonrpc.Request)
	switch {
	case capture == nil, m != nil && (call == nil || !call.IsCall()):
		if capture != nil && isCancellation(call) {
			defer capture.cancellationTold()
		}
		capture = &Capture{}
	case call != nil:
		capture.expects(call.ID)
		if err := capture.sending(); err != nil {
			return nil, err
		}
	}
	response, err := h.roundTrip(r, call, capture)
	if err != nil {
		capture.fail(err, isDialError(err))
	}
	return response, err
}

// roundTrip sends a request. call is the JSON-RPC request or notification in its body, or nil.
func (h *HTTP) roundTrip(r *http.Request, call *jsonrpc.Request, capture *Capture) (*http.Response, error) {
	if call != nil {
		if early := h.answered(r, call); early != nil {
			return early, nil
		}
	}
	isCall := call != nil && call.IsCall()
	resumes := r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") != ""
	var (
		response *http.Response
		release  func()
		body     []byte
		err      error
	)
	if r.Method == http.MethodGet && !resumes {
		response, release, err = h.openStream(r)
	} else {
		response, release, body, err = h.sendWithRetries(r, call)
	}
	if err != nil {
		return nil, err
	}
	ok := response.StatusCode >= 200 && response.StatusCode < 300
	switch {
	case r.Header.Get(sessionHeader) != "" && (r.Method == http.MethodPost || resumes) && isLost(response.StatusCode, body, h.known.Load()):
		capture.fail(ErrSessionLost, true)
		h.Lose(ErrSessionLost)
		release()
		return withBody(response, http.StatusNotFound, "", nil), nil
	case r.Method == http.MethodGet && !ok && !resumes:
		// A server need not offer this stream. go-sdk takes most answers except 405 for the session's end.
		h.opts.Log.Debug().Int("status", response.StatusCode).Msg("the server offers no stream of its own")
		release()
		return withBody(response, http.StatusMethodNotAllowed, "", nil), nil
	case r.Method == http.MethodPost && !ok:
		defer release()
		return h.refused(r, response, body, call, capture)
	case r.Method == http.MethodPost && !isCall:
		release()
		return withBody(response, http.StatusAccepted, "", nil), nil
	}
	return h.read(r, response, release, call, capture)
}

// read reads the messages of a response that may have some. An answer to a POST with no content type, or a wrong one, is
// read by how the answer begins. Nothing is awaited of a stream of events, which may be quiet at first.
func (h *HTTP) read(r *http.Request, response *http.Response, release func(), call *jsonrpc.Request, capture *Capture) (*http.Response, error) {
	kind := kindOf(response)
	if r.Method == http.MethodPost && kind != kindEvents {
		begins, empty := sniff(response)
		if kind != kindJSON || begins == kindEvents {
			kind = begins
		}
		switch {
		case empty:
			defer release()
			return nil, noAnswer(response.StatusCode)
		case kind == "":
			defer release()
			return nil, unexpected(response)
		}
	}
	switch {
	case kind == kindEvents:
		var stream *events
		from := func() *http.Request {
			return r.WithContext(context.WithValue(r.Context(), eventKey{}, event{stream.id, r.Method == http.MethodGet}))
		}
		messages := func(name string, data []byte) [][]byte {
			if name != "message" {
				return nil
			}
			return h.incoming(from(), call, capture, data)
		}
		stream = newEvents(response.Body, h.opts.MaxFrame, messages, func(m jsonrpc.Message) [][]byte {
			return h.take(from(), call, capture, []jsonrpc.Message{m})
		})
		response.Header.Set("Content-Type", kindEvents)
		response.Body, response.ContentLength = &releasing{stream, release, capture}, -1
		if call != nil && call.IsCall() {
			response.Body = &answering{response.Body, stream, capture, response.StatusCode}
		}
		return response, nil
	case r.Method != http.MethodPost:
		response.Body = &releasing{response.Body, release, capture}
		return response, nil
	default:
		defer release()
		return h.answer(response, func(data []byte) [][]byte { return h.incoming(r, call, capture, data) },
			func(m jsonrpc.Message) [][]byte { return h.take(r, call, capture, []jsonrpc.Message{m}) })
	}
}

// outgoing reads the message in a request's body, and returns the request with the message as the server gets it.
func (h *HTTP) outgoing(r *http.Request) (*http.Request, jsonrpc.Message, error) {
	h.mu.Lock()
	if session := r.Header.Get(sessionHeader); session != "" && session != h.session {
		h.session, h.renewed = session, ""
	}
	h.version = cmp.Or(r.Header.Get("Mcp-Protocol-Version"), h.version)
	h.mu.Unlock()
	if r.Body == nil {
		return r, nil, nil
	}
	r = r.Clone(r.Context())
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return nil, nil, err
	}
	m := decode(body)
	if m == nil {
		return nil, nil, errors.New("the message to send is not JSON-RPC")
	}
	whole := m
	switch m := m.(type) {
	case *jsonrpc.Request:
		switch {
		case m.IsCall():
			whole, err = withExtraParams(r.Context(), m)
		case isCancellation(m):
			whole = withReason(m)
		}
	case *jsonrpc.Response:
		if id := fromSDK(m.ID); id != m.ID && !isBeside(r.Context()) {
			whole = &jsonrpc.Response{ID: id, Result: m.Result, Error: m.Error}
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if whole != m {
		m = whole
		if body, err = encode(m); err != nil {
			return nil, nil, err
		}
	}
	r.ContentLength = int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
	if h.opts.Tap != nil {
		h.opts.Tap(false, body)
	}
	return r, m, nil
}

// answered answers a message that the server does not get: go-sdk's server/discover after Probe, and
// notifications/cancelled to a modern server, for which closing the stream is the cancellation (2026-07-28,
// "Transports: Cancellation"). It returns nil for other messages.
func (h *HTTP) answered(r *http.Request, call *jsonrpc.Request) *http.Response {
	h.mu.Lock()
	hs := h.handshake
	h.mu.Unlock()
	if hs == nil || r.Context().Value(probingKey{}) != nil {
		return nil
	}
	response := &http.Response{Request: r, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}}
	switch call.Method {
	case "notifications/cancelled":
		return withBody(response, http.StatusAccepted, "", nil)
	case "server/discover":
		body, err := encode(&jsonrpc.Response{ID: call.ID, Result: hs.Result})
		if err != nil {
			return nil
		}
		return withBody(response, http.StatusOK, "application/json", body)
	}
	return nil
}

// closeTimeout is how long the DELETE of a session may take. Many servers wait for their tools before they answer it, and a
// tool may wait for ever.
const closeTimeout = 2 * time.Second

// send makes a request that ends with the session; a DELETE ends after [closeTimeout] instead. The caller calls release
// when it has read the response.
func (h *HTTP) send(r *http.Request) (response *http.Response, release func(), err error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	var stop func() bool
	if r.Method == http.MethodDelete {
		stop = time.AfterFunc(closeTimeout, func() { cancel(context.DeadlineExceeded) }).Stop
	} else {
		stop = context.AfterFunc(h.ctx, func() { cancel(h.Err()) })
	}
	r, renew := h.inSession(r.WithContext(ctx))
	response, err = h.opts.Endpoint.RoundTrip(r)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		stop()
		cancel(nil)
		return nil, nil, err
	}
	renew(response)
	body := response.Body
	return response, sync.OnceFunc(func() {
		stop()
		cancel(nil)
		_ = body.Close() // the rest is not needed
	}), nil
}

// inSession returns a request with the last id that the server gave to its session. renew takes the one in the response: go-sdk
// would end the session for it.
func (h *HTTP) inSession(r *http.Request) (_ *http.Request, renew func(*http.Response)) {
	session := r.Header.Get(sessionHeader)
	if session == "" {
		return r, func(*http.Response) {}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if session == h.session && h.renewed != "" {
		r = r.Clone(r.Context())
		r.Header.Set(sessionHeader, h.renewed)
	}
	return r, func(response *http.Response) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if session == h.session && isOK(response) {
			h.renewed = cmp.Or(response.Header.Get(sessionHeader), h.renewed)
		}
		response.Header.Del(sessionHeader)
	}
}

// maxRefusal bounds how much of a response is read that is not 2xx.
const maxRefusal = 64 << 10

// refused handles a response that is not 2xx, with its body. A JSON-RPC error in that is the answer to the call, for
// every status.
func (h *HTTP) refused(r *http.Request, response *http.Response, body []byte, call *jsonrpc.Request, capture *Capture) (*http.Response, error) {
	isCall := call != nil && call.IsCall()
	refused := refusalIn(body)
	status := newStatusError(response, body)
	switch {
	case isCall && isTooDeep(body):
		return nil, ErrTooDeep
	case !isCall:
		// A notification has no answer, and its refusal does not end the session.
		h.opts.Log.Warn().Err(status).Msg("the server refused a message")
		if call == nil {
			return nil, status
		}
		return withBody(response, http.StatusAccepted, "", nil), nil
	case refused != nil:
		answer := &jsonrpc.Response{ID: call.ID, Error: refused.err}
		h.opts.tap(true, answer)
		capture.fill(answer)
		h.checkSession(r, call, answer)
		data, err := encode(answer)
		if err != nil {
			return nil, err
		}
		return withBody(response, http.StatusOK, "application/json", data), nil
	default:
		return nil, status
	}
}

// answer reads a JSON body. It makes a stream of several messages, because go-sdk reads only one from a JSON body.
func (h *HTTP) answer(response *http.Response, keep func([]byte) [][]byte, long func(jsonrpc.Message) [][]byte) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(h.opts.MaxFrame)+1))
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, noAnswer(response.StatusCode)
	}
	body = bytes.TrimPrefix(body, byteOrderMark)
	var kept [][]byte
	if len(body) > h.opts.MaxFrame {
		m, err := skim(body, response.Body, h.opts.MaxFrame)
		if err == nil && m == nil {
			err = fmt.Errorf("%w: an answer of more than %d bytes", ErrTooLong, h.opts.MaxFrame)
		}
		if err != nil {
			return nil, err
		}
		kept = long(m)
	} else {
		kept = keep(body)
	}
	if len(kept) == 1 {
		return withBody(response, response.StatusCode, "application/json", kept[0]), nil
	}
	if len(kept) == 0 {
		return nil, unreadable(body, "its answer is not JSON-RPC")
	}
	var stream bytes.Buffer
	for _, message := range kept {
		fmt.Fprintf(&stream, "data: %s\n\n", message)
	}
	return withBody(response, response.StatusCode, "text/event-stream", stream.Bytes()), nil
}

// isClosed reports whether the server closed the connection instead of an answer.
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// incoming handles the messages that the server sent in answer to r, and returns those for go-sdk, encoded. call is the
// call in r, or nil.
func (h *HTTP) incoming(r *http.Request, call *jsonrpc.Request, capture *Capture, data []byte) [][]byte {
	if call != nil && r.Header.Get(sessionHeader) != "" && answersLost(data) {
		capture.fail(ErrSessionLost, true)
		h.Lose(ErrSessionLost)
		return nil
	}
	messages := decodeAll(data)
	if len(messages) == 0 {
		h.opts.Log.Warn().Bytes("data", data[:min(len(data), 200)]).Msg("dropped a part of the server's answer that is not JSON-RPC")
	}
	return h.take(r, call, capture, messages)
}

// take is incoming for decoded messages. A response in the stream of a call answers that call (2025-11-25, "Transports:
// Sending Messages to the Server"). If its id is another one, the call ends with an [UnreadableError].
func (h *HTTP) take(r *http.Request, call *jsonrpc.Request, capture *Capture, messages []jsonrpc.Message) [][]byte {
	var kept [][]byte
	for _, m := range messages {
		h.opts.tap(true, m)
		switch message := m.(type) {
		case *jsonrpc.Response:
			message.ID = ownID(message.ID)
			if call != nil && message.ID != call.ID && !capture.Answer().came() {
				message = &jsonrpc.Response{ID: call.ID, Error: asUnreadable(message)}
				m = message
			}
			if !message.ID.IsValid() { // of the server's own stream
				h.opts.Log.Warn().Str("why", asUnreadable(message).Error()).Msg("left out a response that matches no request")
				continue
			}
			m = capture.fillFor(message)
			h.checkSession(r, call, message)
		case *jsonrpc.Request:
			if h.inbound.take(r.Context(), m, func(ctx context.Context, m *jsonrpc.Response) error { return h.respond(ctx, r, m) }) {
				continue
			}
			m = &jsonrpc.Request{ID: toSDK(message.ID), Method: message.Method, Params: message.Params, Extra: message.Extra}
		}
		if raw, err := encode(m); err == nil {
			kept = append(kept, raw)
		}
	}
	return kept
}

// Pauses between attempts to reach a server again.
const (
	firstPause  = 250 * time.Millisecond
	maxAttempts = 5
)

// respond posts the answer to a request that came in answer to r. If the connection cannot be made or breaks, respond tries
// again, because a proxy in front of the server may be restarting while the server waits for the answer. A second answer with
// the same id does no harm.
func (h *HTTP) respond(ctx context.Context, r *http.Request, m *jsonrpc.Response) error {
	body, err := encode(m)
	if err != nil {
		return err
	}
	pause := firstPause
	for attempt := 1; ; attempt++ {
		post, err := http.NewRequestWithContext(context.WithValue(beside(ctx), captureKey{}, nil), http.MethodPost, h.opts.Endpoint.URL.String(), bytes.NewReader(body))
		if err != nil {
			return err
		}
		post.Header.Set("Content-Type", "application/json")
		post.Header.Set("Accept", "application/json, text/event-stream")
		for _, name := range []string{sessionHeader, "Mcp-Protocol-Version"} {
			if value := r.Header.Get(name); value != "" {
				post.Header.Set(name, value)
			}
		}
		response, err := h.RoundTrip(post)
		if err == nil {
			return response.Body.Close()
		}
		if !isClosed(err) && !errors.As(err, new(*net.OpError)) || attempt == maxAttempts {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		pause *= 2
	}
}

// withBody returns a response with another status and body.
func withBody(response *http.Response, status int, kind string, body []byte) *http.Response {
	response.StatusCode, response.Status = status, ""
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if kind == "" {
		response.Header.Del("Content-Type")
	} else {
		response.Header.Set("Content-Type", kind)
	}
	return response
}

// answering is the stream of a call. If it ends without an answer, and cannot be resumed, the call fails.
type answering struct {
	io.ReadCloser
	stream  *events
	capture *Capture
	status  int
}

// Read implements [io.Reader].
func (b *answering) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && !b.stream.resumable {
		b.capture.fail(noAnswer(b.status), false)
	}
	return n, err
}

// releasing is a body that calls release when it is closed. A failure of its Read is the failure of the captured call.
type releasing struct {
	io.ReadCloser
	release func()
	capture *Capture
}

// Read implements [io.Reader].
func (b *releasing) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		b.capture.fail(fmt.Errorf("its answer broke off: %w", err), false)
	}
	return n, err
}

// Close implements [io.Closer].
func (b *releasing) Close() error {
	b.release()
	return nil
}
