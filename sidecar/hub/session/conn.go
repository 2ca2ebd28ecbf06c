package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/protocol"
	"assent/sidecar/base/awaited"
	"assent/sidecar/base/reason"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/task"
	"assent/sidecar/wire"
)

// Conn is one connection to a server and the session on it.
type Conn struct {
	server *Server
	log    *sampledLog
	// Ledger holds the calls that the server may be serving, and the requests that they may have caused.
	Ledger *attribution.Ledger

	lifetime
	channel
	startup
	// startsFor is for whom the server starts. It does not change.
	startsFor   StartsFor
	roots       rootsRequest
	requests    requests
	usage       usage
	diagnostics diagnostics
	// logLevel is the log level that Assent last set on the server, or nil.
	logLevel atomic.Pointer[string]
}

// lifetime tracks the start and the end of a connection.
type lifetime struct {
	// ctx is the connection's lifetime, so it is stored. Its end ends the start and every call; its cause is the
	// reason.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// ready is closed when the session exists, or when err says why it does not. over is closed when the connection has
	// ended and its Server has recorded that.
	ready, over chan struct{}
	err         error
	// why is a sentence that tells a person how the connection ended. It is empty if Assent ended the connection on
	// purpose.
	why string
}

// connected reports whether the handshake of the connection succeeded.
func (l *lifetime) connected() bool { return isClosed(l.ready) && l.err == nil }

// stop ends the connection and returns when it is over.
func (l *lifetime) stop(why Stopped) {
	l.cancel(why)
	<-l.over
}

// channel holds an established connection. Read it only after ready is closed.
type channel struct {
	link    *link
	client  *mcp.Client
	session *mcp.ClientSession
	// known is the era that the server was known to speak when the connection started.
	known wire.Era
	// callsTools reports whether Assent declared the capability sampling.tools to the server.
	callsTools bool
}

// startup is the start of a connection.
type startup struct {
	// waits tracks what the start waits for. awaits names it in the server's state; the server's lock guards awaits.
	waits  awaited.Shared
	awaits string
}

// diagnostics are what a connection recorded, for the person who investigates a failure.
type diagnostics struct {
	mu    sync.Mutex // guards the fields below
	since time.Time  // when the connection became ready; zero before
	// strayed holds the first frames that were not MCP.
	strayed []string
}

// Stopped is the cause of a connection's end when Assent ended the connection on purpose.
type Stopped struct {
	Reason string
	// Asks is the outcome of the connection's open asks.
	Asks protocol.OutcomeReason
}

// Error implements error.
func (e Stopped) Error() string { return e.Reason }

// goneError is the error of a server that must not start again. It wraps [Stopped] too.
type goneError struct {
	why  Stopped
	says error
}

func (e goneError) Error() string { return e.says.Error() }

func (e goneError) Unwrap() []error { return []error{e.says, e.why} }

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
	c.startsFor = s.startsFor(taskID)
	c.roots.given, c.roots.task = s.rootsOf(taskID), taskID
	c.roots.asked = make(chan struct{})
	c.roots.note = sync.OnceFunc(func() { close(c.roots.asked) })
	c.ctx = c.waits.Context(awaited.WithListener(ctx, c.await))
	c.Ledger = attribution.NewLedger(c.ctx, taskID)
	return c
}

// Context returns the connection's lifetime. Its cause says why the connection ended.
func (c *Conn) Context() context.Context { return c.ctx }

// Over returns a channel that is closed when the connection has ended and its Server has recorded that.
func (c *Conn) Over() <-chan struct{} { return c.over }

// Session returns go-sdk's session. Call this method and those below only on a ready connection.
func (c *Conn) Session() *mcp.ClientSession { return c.session }

// Handshake returns the connection's handshake.
func (c *Conn) Handshake() *wire.Handshake { return c.link.handshake }

// IsModern reports whether the server speaks [wire.EraModern], which has no sessions.
func (c *Conn) IsModern() bool { return c.link.handshake.Era == wire.EraModern }

// Introduction returns the name, version and capabilities that Assent gave to the server. The modern ones have no roots; see
// [Server.RootsCapability].
func (c *Conn) Introduction() wire.Introduction {
	return c.server.dialer.introduction(c.callsTools, c.roots.given)
}

// Call sends a request without go-sdk; see [wire.Conn.Call].
func (c *Conn) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return c.link.call(ctx, method, params)
}

// ClosedWithAnother reports whether the connection belonged to another task, and ended because that task was closed. The
// borrower can use another connection.
func (c *Conn) ClosedWithAnother(taskID string) bool {
	return errors.Is(context.Cause(c.ctx), taskClosed) && c.Ledger.TaskID() != taskID
}

// Broken returns why the connection broke, or nil while it lasts.
func (c *Conn) Broken() error { return c.link.broken() }

// closeTimeout bounds how long a closing connection waits until its last answers and cancellations are sent.
const closeTimeout = time.Second

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// settle waits until the cancelled calls have ended, the server's requests are answered, and the answers and
// cancellations are sent. It waits for [closeTimeout] at most.
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

// flush waits until all answers so far and the cancellations are sent. It waits for [closeTimeout] at most, and not for
// requests that have no answer yet.
func (c *Conn) flush() {
	if !c.connected() {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, closeTimeout)
	defer cancel()
	c.link.delivered(ctx)
	c.requests.flush(ctx)
}

// run starts the connection, waits until it ends, and closes it.
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
		// Go-sdk closes a link that has ended, and its error may be that of closing. ErrClosed alone means that the link
		// had not ended before.
		if broken := c.link.broken(); broken != nil && broken != wire.ErrClosed {
			err = broken
		}
	case <-c.link.lost:
		err = c.link.broken()
	case <-c.ctx.Done():
		err = context.Cause(c.ctx)
	}
	// Close the link before the session, because closing the session waits for its calls.
	closeErr := c.link.close()
	if !errors.As(err, new(Stopped)) {
		err = errors.New(c.link.why(err))
		c.cancel(err)
	}
	cancel()
	watching.Wait()
	closeErr = errors.Join(closeErr, c.session.Close()) // ends its subscriptions
	if !waited {
		<-ended
	}
	if closeErr != nil {
		c.log.Debug().Err(closeErr).Msg("closing the server")
	}
	c.finish(err)
}

// start opens the link and the session on it. If a server is configured as "http" and refuses Streamable HTTP, start
// tries the older HTTP with SSE (2025-11-25, "Transports: Backwards Compatibility"). If the server's definition needs
// the person's confirmation, start waits for it before it starts a process or opens a connection.
func (c *Conn) start() error {
	if err := c.server.confirm(c.ctx, c.environment()); err != nil {
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
	return c.connectIn(transport, known, "")
}

// connectIn is connect. A version that is not "" is that of initialize.
func (c *Conn) connectIn(transport protocol.Transport, known wire.Era, version string) error {
	c.Ledger.SetStreamable(transport == protocol.TransportHTTP)
	var err error
	c.link, err = c.open(transport, known)
	if err != nil {
		return err
	}
	if version != "" {
		c.link.handshake.Version = version
	}
	c.client = c.newClient()
	ctx, cancel := c.withinHandshake()
	defer cancel()
	captured, capture := wire.WithCapture(ctx)
	capture.InPlace(func(result json.RawMessage) json.RawMessage {
		result, _ = wire.Mend(result)
		return result
	})
	if c.link.handshake.Era == wire.EraLegacy && c.link.handshake.Result == nil {
		// go-sdk's types cannot express all of these capabilities.
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
	case got.Result != nil && c.link.handshake.Result == nil && wire.VersionProblem(got.Result) != nil:
		err = fmt.Errorf("its answer to the handshake cannot be used: %w", wire.VersionProblem(got.Result))
	case got.Error != nil:
		version, err = wire.Offered(got.Error, c.link.handshake.Version)
	case got.Failure != nil:
		err = got.Failure
	}
	c.link.leave()
	if closeErr := c.link.close(); closeErr != nil {
		c.log.Debug().Err(closeErr).Msg("closing the server")
	}
	if err == nil { // it offered another version
		return c.connectIn(transport, wire.EraLegacy, version)
	}
	return err
}

// newClient returns go-sdk's client for this connection.
func (c *Conn) newClient() *mcp.Client {
	d := c.server.dialer
	client := mcp.NewClient(&mcp.Implementation{Name: d.opts.Client.Name, Version: d.opts.Client.Version}, &mcp.ClientOptions{
		Capabilities:   d.capabilities(c.link.handshake.Era, c.callsTools, c.roots.given),
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		// go-sdk subscribes to the changes of a list only if it has a handler. These handlers do nothing:
		// [Handler.Notifications] gets the notifications.
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) {},
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) {},
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {},
	})
	client.AddSendingMiddleware(c.link.aside)
	if c.roots.given.from == folderRoots {
		client.AddRoots(d.rootsOf("")...)
	}
	return client
}

// closeReason formats an error as the end of a sentence on how the link ended. It returns "" if the error adds nothing.
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
		c.why = c.server.recordFailure(context.WithoutCancel(c.ctx), c, err, stderr)
		why = c.why
	}
	c.stopIdle()
	c.server.ended(c, why, stderr)
}
