package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/protocol"
	"assent/sidecar/attribution"
	"assent/sidecar/awaited"
	"assent/sidecar/reason"
	"assent/sidecar/task"
	"assent/sidecar/wire"
)

// Conn is one connection to a server and the session on it.
type Conn struct {
	server *Server
	log    *sampledLog
	// Ledger has the calls that the server may serve, and the requests that they may have caused.
	Ledger *attribution.Ledger

	lifetime
	channel
	startup
	roots    rootsRequest
	requests requests
	usage    usage
	evidence evidence
	// logLevel is the level of the log messages that the server was told, or nil.
	logLevel atomic.Pointer[string]
}

// lifetime is whether a connection has begun, and how it ends.
type lifetime struct {
	// ctx ends the start and every call; its cause says why. It is stored because it is the
	// connection's lifetime.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// ready is closed when the session exists or err says why it does not, and over when the connection is gone and its
	// server has noted that.
	ready, over chan struct{}
	err         error
	// why is the sentence for a person on how the connection ended. It is empty if Assent ended it on purpose.
	why string
}

// connected reports whether the handshake of the connection succeeded.
func (l *lifetime) connected() bool { return isClosed(l.ready) && l.err == nil }

// stop ends the connection and returns when it is over.
func (l *lifetime) stop(why Stopped) {
	l.cancel(why)
	<-l.over
}

// channel is an established connection. Read it only after ready.
type channel struct {
	link *link
	// at is where the server is; nil for a process.
	at      *url.URL
	client  *mcp.Client
	session *mcp.ClientSession
	// known is the era in which the connection began.
	known wire.Era
	// callsTools: the server got the capability to sample with tools.
	callsTools bool
}

// startup is the start of a connection.
type startup struct {
	// waits is what the start waits for. awaits is its text in the server's state. The server's lock guards awaits.
	waits  awaited.Shared
	awaits string
}

// evidence is what a connection showed, for the person who looks into a failure.
type evidence struct {
	mu    sync.Mutex // guards the fields below
	since time.Time  // when the connection was ready; zero before
	// strayed holds the first frames that were not MCP.
	strayed []string
}

// Stopped is the cause of a connection's end if Assent ended it on purpose.
type Stopped struct {
	Reason string
	// Asks is the outcome of the connection's open asks.
	Asks protocol.OutcomeReason
}

// Error implements error.
func (e Stopped) Error() string { return e.Reason }

// AskOutcome returns the outcome of the asks that end with the connection.
func (e Stopped) AskOutcome() *task.Ended {
	return &task.Ended{Reason: e.Asks, Detail: "The server is gone: " + e.Reason + "."}
}

func newConn(s *Server, taskID string) *Conn {
	ctx, cancel := context.WithCancelCause(context.Background())
	log := s.dialer.opts.Log.With().Str("server", s.config.Name).Logger()
	c := &Conn{
		server: s, log: newSampledLog(log), requests: newRequests(),
		lifetime: lifetime{cancel: cancel, ready: make(chan struct{}), over: make(chan struct{})},
	}
	c.roots.asked = make(chan struct{})
	c.roots.note = sync.OnceFunc(func() { close(c.roots.asked) })
	c.ctx = c.waits.Context(awaited.WithListener(ctx, c.await))
	c.Ledger = attribution.NewLedger(c.ctx, taskID)
	return c
}

// Context returns the connection's lifetime. Its cause says why the connection ended.
func (c *Conn) Context() context.Context { return c.ctx }

// Over is closed when the connection is gone and its server has noted that.
func (c *Conn) Over() <-chan struct{} { return c.over }

// Session returns go-sdk's session. Call it only with a connection that is ready, as are the following.
func (c *Conn) Session() *mcp.ClientSession { return c.session }

// Handshake returns the handshake.
func (c *Conn) Handshake() *wire.Handshake { return c.link.handshake }

// IsModern reports whether the server needs no session.
func (c *Conn) IsModern() bool { return c.link.handshake.Era == wire.EraModern }

// Introduction returns how the connection introduced Assent to the server.
func (c *Conn) Introduction() wire.Introduction { return c.server.dialer.introduction(c.callsTools) }

// Call makes a request of our own, beside go-sdk's; see [wire.Conn.Call].
func (c *Conn) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return c.link.call(ctx, method, params)
}

// Broken returns nil while the connection lasts.
func (c *Conn) Broken() error { return c.link.broken() }

// closeTimeout is how long the end of a connection waits for its last answers and cancellations to be sent.
const closeTimeout = time.Second

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// settle waits, for [closeTimeout] at most, until the cancelled calls have ended, the server's requests are answered, and all
// of that is sent.
func (c *Conn) settle() {
	if !c.connected() {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, closeTimeout)
	defer cancel()
	for _, one := range c.Ledger.BeingCancelled() {
		select {
		case <-one.Done():
		case <-ctx.Done():
		}
	}
	c.link.answered(ctx)
	c.requests.flush(ctx)
}

// flush waits, for [closeTimeout] at most, until the given answers and the cancellations are sent. It does not wait for
// requests without an answer.
func (c *Conn) flush() {
	if !c.connected() {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, closeTimeout)
	defer cancel()
	c.link.delivered(ctx)
	c.requests.flush(ctx)
}

// run is the connection's life, from its start to its end.
func (c *Conn) run() {
	defer close(c.over)
	if err := c.start(); err != nil {
		c.err = err
		c.finish(err)
		close(c.ready)
		return
	}
	c.server.started(c)
	close(c.ready)

	ended := make(chan error, 1)
	go func() { ended <- c.session.Wait() }()
	var watching sync.WaitGroup
	ctx, cancel := context.WithCancel(c.ctx)
	if c.link.network() {
		watching.Go(func() { c.watch(ctx) })
	}
	var err error
	waited := false
	select {
	case err = <-ended:
		waited = true
	case <-c.link.lost:
		err = c.link.broken()
	case <-c.ctx.Done():
		err = context.Cause(c.ctx)
	}
	// The link goes first: the session would wait for its calls to end.
	closeErr := c.link.close()
	if !errors.As(err, new(Stopped)) {
		err = errors.New(c.link.why(err))
		c.cancel(err)
	}
	cancel()
	watching.Wait()
	closeErr = errors.Join(closeErr, c.session.Close()) // lets go of its subscriptions
	if !waited {
		<-ended
	}
	if closeErr != nil {
		c.log.Debug().Err(closeErr).Msg("closing the server")
	}
	c.finish(err)
}

// start opens the link and the session on it. A server that is configured with "http" may be an older
// one of HTTP with SSE (2025-11-25, "Transports: Backwards Compatibility"). If the server's definition needs the person's
// confirmation, start waits for that before it starts a process or opens a connection.
func (c *Conn) start() error {
	if err := c.server.Confirm(c.ctx); err != nil {
		return err
	}
	transport := c.server.config.Transport
	if opts := c.server.dialer.opts; opts.Capabilities().Sampling {
		c.callsTools = opts.CallsTools(c.ctx, c.server.config.Name)
	}
	c.known = c.server.Era()
	err := c.connect(transport, c.known)
	if c.known != wire.EraUnknown && c.server.config.ProtocolVersion == "" && errors.Is(err, wire.ErrRefused) {
		c.log.Info().Err(err).Msg("the server speaks another version of MCP than it did")
		err = c.connect(transport, wire.EraUnknown)
	}
	var status *wire.StatusError
	if transport != protocol.TransportHTTP || !errors.As(err, &status) || !slices.Contains([]int{400, 404, 405}, status.Code) {
		return err
	}
	c.log.Info().Err(err).Msg("trying HTTP with SSE")
	if c.connect(protocol.TransportSSE, wire.EraLegacy) == nil {
		return nil
	}
	return err
}

func (c *Conn) connect(transport protocol.Transport, known wire.Era) error {
	c.Ledger.SetStreamable(transport == protocol.TransportHTTP)
	var err error
	c.link, err = c.open(transport, known)
	if err != nil {
		return err
	}
	c.client = c.newClient()
	ctx, cancel := c.withinHandshake()
	defer cancel()
	captured, capture := wire.WithCapture(ctx)
	if c.link.handshake.Era == wire.EraLegacy && c.link.handshake.Result == nil {
		// go-sdk has no words for all of them.
		captured = wire.WithParams(captured, map[string]json.RawMessage{"capabilities": c.Introduction().Legacy})
	}
	c.session, err = c.client.Connect(captured, c.link.transport, &mcp.ClientSessionOptions{ProtocolVersion: c.link.handshake.Version})
	if err == nil {
		c.link.settled(c.session, capture)
		return nil
	}
	switch got := capture.Answer(); {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case got.Error != nil:
		err = fmt.Errorf("%w: %s (%d)", wire.ErrRefused, got.Error.Message, got.Error.Code)
	case got.Failure != nil:
		err = got.Failure
	}
	if closeErr := c.link.close(); closeErr != nil {
		c.log.Debug().Err(closeErr).Msg("closing the server")
	}
	return err
}

// newClient returns go-sdk's client for this connection.
func (c *Conn) newClient() *mcp.Client {
	d := c.server.dialer
	client := mcp.NewClient(&mcp.Implementation{Name: d.opts.Client.Name, Version: d.opts.Client.Version}, &mcp.ClientOptions{
		Capabilities:   d.capabilities(c.link.handshake.Era, c.callsTools),
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		// go-sdk subscribes to a list if it has a handler. The handlers get nothing: see [Handler.Notifications].
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) {},
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) {},
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {},
	})
	client.AddSendingMiddleware(noMemory, c.link.aside)
	client.AddRoots(d.Roots()...)
	return client
}

// closeReason returns an error as the end of a sentence on how the link ended.
func closeReason(err error) string {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) {
		return ""
	}
	text := strings.TrimPrefix(reason.Of(err), wire.ErrClosed.Error())
	if text == "" {
		return ""
	}
	return ": " + strings.TrimPrefix(text, ": ")
}

// finish notes how the connection ended, and reports the server's new state.
func (c *Conn) finish(err error) {
	why := reason.Of(err)
	if errors.As(err, new(Stopped)) {
		why = ""
	}
	var stderr []string
	if c.link != nil {
		stderr = c.link.stderr()
	}
	c.log.end()
	c.log.Info().Str("reason", err.Error()).Msg("server ended")
	if why != "" {
		c.why = c.server.noteFailure(context.WithoutCancel(c.ctx), c, err, stderr)
		why = c.why
	}
	c.stopIdle()
	c.server.ended(c, why, stderr)
}
