package hub

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
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/awaited"
	"assent/sidecar/broker"
	"assent/sidecar/deadline"
	"assent/sidecar/jsonscan"
	"assent/sidecar/reason"
	"assent/sidecar/wire"
)

// conn is one connection to a server and the session on it.
type conn struct {
	server *server
	log    zerolog.Logger
	noise  *noise

	// ctx ends the start and every call; its cause says why. It is stored because it is the
	// connection's lifetime.
	ctx    context.Context
	cancel context.CancelCauseFunc

	// ready is closed when the session exists or err says why it does not.
	ready chan struct{}
	err   error
	// why is the sentence for a person on how the connection ended. It is empty if Assent ended it on purpose.
	why     string
	link    *link
	client  *mcp.Client
	session *mcp.ClientSession
	// known is the era in which the connection began. Read it only after ready.
	known wire.Era
	// sampling is the capability that the server gets. Read it only after ready.
	sampling broker.SamplingCapability
	// waits is what the start waits for; awaits says it in the server's state, and its lock guards that.
	waits  awaited.Shared
	awaits string
	// over is closed when the connection is gone and everybody knows.
	over chan struct{}
	// order is that in which the server asks.
	order sequence
	// askedForRoots is closed when the server asks for the roots, by rootsAsked. Called is set once a call may go
	// out.
	askedForRoots chan struct{}
	rootsAsked    func()
	called        atomic.Bool

	mu sync.Mutex // guards the fields below
	// established is set once the connection was ready.
	established bool
	since       time.Time // when
	// strayed holds the first frames that were not MCP.
	strayed []string
	taskID  string  // "" until a task takes the connection, and always of one that all tasks share
	calls   []*call // in flight
	// givenUp are calls of a shared connection that ended without an answer, the oldest first.
	givenUp []*call
	// isModern is set once the server is known to need no session.
	isModern bool
	// streamable: over Streamable HTTP, where a call's questions come in the call's own stream.
	streamable bool
	// asks holds the open asks that began during a call.
	asks map[*asking]struct{}
	// clocks holds the clocks of the bounded requests under way, each with the function that ends its pause. asked counts
	// the server's requests that wait for a person; the clocks stand while it is not 0.
	clocks map[*deadline.Clock]func()
	asked  int
	// progress holds who is told of the progress of a call, by its token.
	progress  map[string]func(protocol.Progress)
	lastToken int
	// owed are the cancellations that may not be sent yet.
	owed []<-chan struct{}
	// held counts the uses of the connection. idle closes an unused connection, and is nil before the first time it is
	// unused.
	held int
	idle *time.Timer
	// leaving: the connection takes nothing new, and is closed once nothing holds it.
	leaving bool
}

// stoppedError is the cause of a connection's end if Assent ended it on purpose.
type stoppedError struct {
	reason string
	// asks is the outcome of the connection's open asks.
	asks protocol.OutcomeReason
}

func (e stoppedError) Error() string { return e.reason }

func newConn(s *server, taskID string) *conn {
	ctx, cancel := context.WithCancelCause(context.Background())
	log := s.hub.opts.Log.With().Str("server", s.config.Name).Logger()
	asked := make(chan struct{})
	c := &conn{
		server: s, taskID: taskID, cancel: cancel,
		log: log, noise: newNoise(log),
		ready: make(chan struct{}), over: make(chan struct{}),
		askedForRoots: asked, rootsAsked: sync.OnceFunc(func() { close(asked) }),
		clocks: map[*deadline.Clock]func(){},
		asks:   map[*asking]struct{}{}, progress: map[string]func(protocol.Progress){},
	}
	c.ctx = c.waits.Context(awaited.WithListener(ctx, c.await))
	return c
}

// modern reports whether the server needs no session. Call it only after ready.
func (c *conn) modern() bool { return c.link.handshake.Era == wire.EraModern }

// own gives the connection to a task.
func (c *conn) own(taskID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taskID = taskID
}

// share gives a modern server's connection to all tasks.
func (c *conn) share() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taskID, c.isModern = "", true
}

// stop ends the connection and returns when it is over.
func (c *conn) stop(why stoppedError) {
	c.cancel(why)
	<-c.over
}

// lastWords is how long the end of a connection waits for its last answers and cancellations to be sent.
const lastWords = time.Second

// owe notes a cancellation that is about to be sent. told is closed when it is sent, and may be nil.
func (c *conn) owe(told <-chan struct{}) {
	if told == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owed = slices.DeleteFunc(c.owed, isClosed)
	c.owed = append(c.owed, told)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// answer waits, for [lastWords] at most, until the cancelled calls have ended, the server's requests are answered, and all
// of that is sent.
func (c *conn) answer() {
	if !c.talks() {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, lastWords)
	defer cancel()
	c.mu.Lock()
	calls := slices.DeleteFunc(slices.Clone(c.calls), func(one *call) bool { return !one.isBeingCancelled() })
	c.mu.Unlock()
	for _, one := range calls {
		select {
		case <-one.done:
		case <-ctx.Done():
		}
	}
	c.link.answered(ctx)
	c.say(ctx)
}

// sayAll waits, for [lastWords] at most, until the given answers and the cancellations are sent. It does not wait for
// requests without an answer.
func (c *conn) sayAll() {
	if !c.talks() {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, lastWords)
	defer cancel()
	c.link.delivered(ctx)
	c.say(ctx)
}

// say waits for the cancellations.
func (c *conn) say(ctx context.Context) {
	c.mu.Lock()
	owed := slices.Clone(c.owed)
	c.mu.Unlock()
	for _, told := range owed {
		select {
		case <-told:
		case <-ctx.Done():
			return
		}
	}
}

// talks reports whether the handshake of the connection succeeded.
func (c *conn) talks() bool { return isClosed(c.ready) && c.err == nil }

// run is the connection's life, from its start to its end.
func (c *conn) run() {
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
	if !errors.As(err, new(stoppedError)) {
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
func (c *conn) start() error {
	if err := c.server.confirm(c.ctx); err != nil {
		return err
	}
	transport := c.server.config.Transport
	if c.server.hub.opts.Capabilities().Sampling {
		c.sampling = c.server.hub.opts.Broker.DeclareSampling(c.ctx, c.server.config.Name)
	}
	c.known = c.server.knownEra()
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

// introduction is how this connection introduces us.
func (c *conn) introduction() wire.Introduction { return c.server.hub.introduction(c.sampling) }

func (c *conn) connect(transport protocol.Transport, known wire.Era) error {
	c.mu.Lock()
	c.streamable = transport == protocol.TransportHTTP
	c.mu.Unlock()
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
		captured = wire.WithParams(captured, map[string]json.RawMessage{"capabilities": c.introduction().Legacy})
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
func (c *conn) newClient() *mcp.Client {
	h := c.server.hub
	client := mcp.NewClient(&mcp.Implementation{Name: h.opts.Client.Name, Version: h.opts.Client.Version}, &mcp.ClientOptions{
		Capabilities:   h.capabilities(c.link.handshake.Era, c.sampling),
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		// go-sdk subscribes to a list if it has a handler. The handlers get nothing: see notifications.
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) {},
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) {},
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {},
	})
	client.AddSendingMiddleware(noMemory)
	client.AddRoots(h.roots()...)
	return client
}

// because returns an error as the end of a sentence on how the link ended.
func because(err error) string {
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
func (c *conn) finish(err error) {
	why := reason.Of(err)
	if errors.As(err, new(stoppedError)) {
		why = ""
	}
	var stderr []string
	if c.link != nil {
		stderr = c.link.stderr()
	}
	c.noise.end()
	c.log.Info().Str("reason", err.Error()).Msg("server ended")
	if why != "" {
		c.why = c.server.noteFailure(context.WithoutCancel(c.ctx), c, err, stderr)
		why = c.why
	}
	c.mu.Lock()
	if c.idle != nil {
		c.idle.Stop()
	}
	c.mu.Unlock()
	c.server.ended(c, why, stderr)
}

// busy reports whether a call is in flight.
func (c *conn) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls) > 0
}

// expectProgress returns a progress token for a call, and a function that ends the token's use.
func (c *conn) expectProgress(tell func(protocol.Progress)) (token string, end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastToken++
	token = fmt.Sprintf("call-%d", c.lastToken)
	c.progress[token] = tell
	return token, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.progress, token)
	}
}

// progressed handles notifications/progress. It ignores a token that is not in use.
func (c *conn) progressed(params json.RawMessage) {
	var p mcp.ProgressNotificationParams
	if jsonscan.Unmarshal(params, &p) != nil {
		return
	}
	token, ok := p.ProgressToken.(string)
	if !ok {
		return
	}
	c.mu.Lock()
	tell := c.progress[token]
	c.mu.Unlock()
	if tell != nil { // or the call has ended
		tell(protocol.Progress{Progress: p.Progress, Total: p.Total, Message: p.Message, At: time.Now().UnixMilli()})
	}
}
