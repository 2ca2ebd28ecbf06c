package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// DefaultIdleTime is how long a daemon without clients and open work stays.
const DefaultIdleTime = 10 * time.Minute

const (
	// maxWaiting bounds the connections before their hello. Others wait in the system's queue.
	maxWaiting = 128
	// maxPause bounds the pause between two attempts to accept, if the system has no descriptors left.
	maxPause = time.Second
)

// ServeOptions configure a daemon.
type ServeOptions struct {
	Options
	// Attach serves a front end or a host until the connection or ctx ends, and returns when all work that it started
	// has ended. The daemon then closes the connection. An error is logged. A panic ends only this connection.
	Attach func(ctx context.Context, hello Hello, conn net.Conn) error
	// Busy names the open work that would be lost if the daemon left, such as "a question is open"; empty if there is
	// none. It may be called from any goroutine.
	Busy func() string
	// Begin starts work that only the daemon may do. It is called once this process is the daemon, before the first
	// client is served. It may be nil.
	Begin func()
	// Stays reports whether the daemon stays without clients and open work. It may be nil.
	Stays func() bool
	// Close ends work that outlives connections. It is called when no connection is left, before another process can
	// become the daemon. It may be nil.
	Close func()
	// Grace is how long the daemon may take to leave; 0 means for ever. After that, Serve returns an error though some work
	// still goes on, and keeps the instance lock: the caller ends the process, which also gives up its locks.
	Grace time.Duration
	// WaitsFor names what Close waits for, such as "the MCP server \"a\""; empty if that is not known. It may be called from
	// any goroutine, and may be nil.
	WaitsFor func() string
	// IdleTime is how long a daemon stays without clients and open work; 0 means DefaultIdleTime.
	IdleTime time.Duration
	Log      zerolog.Logger
	// Ready is the starter's pipe: it gets one line, and is closed. It may be nil.
	Ready io.WriteCloser
}

// The causes for which a daemon leaves in order.
var (
	errIdle    = errors.New("it was idle")
	errStopped = errors.New("a client asked for it")
	errAlone   = errors.New("the front end of its process has gone")
)

// errStays is the error of a daemon that did not leave within [ServeOptions.Grace].
var errStays = errors.New("the daemon did not end in good order, so its process ends at once")

// server is a daemon that holds the instance lock.
type server struct {
	o     ServeOptions
	since time.Time
	leave context.CancelCauseFunc
	// instance is nil in a test in memory.
	instance *instance
	// admit fails for a connection of another user.
	admit func(net.Conn) error
	// work counts the connections, and the idle watch.
	work sync.WaitGroup
	// changed gets a value when the last client has left.
	changed chan struct{}

	mu sync.Mutex // guards the fields below, and the order of entering and leaving
	// present are the connections.
	present map[*client]struct{}
	// waiting are the connections that are closed after everything else has ended.
	waiting []*waitingClient
}

// client is a connection, with the client's identity after the hello.
type client struct {
	attached *Attached // nil before the hello, and for commands
}

// Serve runs the daemon in this process, until ctx ends, a client stops it, or it is idle for too long. It returns nil
// at once if another daemon serves.
func Serve(ctx context.Context, o ServeOptions) error {
	s, listener, err := begin(ctx, o)
	if errors.Is(err, errServed) {
		tell(o.Ready, nil)
		return nil
	}
	tell(o.Ready, err)
	if err != nil {
		return err
	}
	return s.run(ctx, listener, nil)
}

// ServeAlone is Serve for a process that is also a front end. It runs work as if in an attached client. It leaves when
// work returns, even if other clients are attached, and returns work's result; or [ErrEnded] if the daemon left first,
// which ends work's ctx. If another process is the daemon, ServeAlone does not run work, and returns the result of
// [Dial].
func ServeAlone(ctx context.Context, o ServeOptions, work func(context.Context) error) (net.Conn, Welcome, error) {
	var s *server
	var listener net.Listener
	conn, welcome, err := o.dial(ctx, func(ctx context.Context) (here bool, err error) {
		s, listener, err = begin(ctx, o)
		if errors.Is(err, errServed) {
			return false, nil
		}
		return err == nil, err
	})
	if conn != nil || err != nil {
		return conn, welcome, err
	}
	s.o.Address.Log = "" // the process has its own log
	return nil, Welcome{}, s.run(ctx, listener, work)
}

// begin takes the instance lock, and listens. The error is errServed if another daemon holds the instance lock.
func begin(ctx context.Context, o ServeOptions) (*server, net.Listener, error) {
	instance, releaseStart, err := becomeInstance(ctx, o.Options)
	if err != nil {
		return nil, nil, err
	}
	listener, err := listen(o.Address)
	if err := errors.Join(err, releaseStart()); err != nil {
		if listener != nil {
			err = errors.Join(err, listener.Close())
		}
		return nil, nil, errors.Join(err, instance.leave())
	}
	s := newServer(o)
	s.instance = instance
	return s, listener, nil
}

// run is serve for a server with an instance lock, which it releases.
func (s *server) run(ctx context.Context, listener net.Listener, work func(context.Context) error) error {
	err := s.serve(ctx, listener, work)
	if errors.Is(err, errStays) {
		return err // what still goes on may use the stores, so the next daemon waits for the end of this process
	}
	err = errors.Join(err, s.instance.leave())
	s.tellEnd() // last, so that a client that waits for the end finds the lock free
	return err
}

func newServer(o ServeOptions) *server {
	if o.IdleTime == 0 {
		o.IdleTime = DefaultIdleTime
	}
	return &server{o: o, since: time.Now(), admit: admit, changed: make(chan struct{}, 1), present: map[*client]struct{}{}}
}

// serve accepts connections, and returns when all of them have ended, or the grace has. Work may be nil; see
// [ServeAlone].
func (s *server) serve(ctx context.Context, listener net.Listener, work func(context.Context) error) error {
	ctx, s.leave = context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.serveWhole(ctx, listener, work) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return s.awaitEnd(ended)
	}
}

// serveWhole is serve without the grace.
func (s *server) serveWhole(ctx context.Context, listener net.Listener, work func(context.Context) error) error {
	if s.o.Begin != nil {
		s.o.Begin()
	}
	s.o.Log.Info().Str("build", s.o.Build).Int("pid", os.Getpid()).Msg("the daemon listens")
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	s.work.Go(func() { s.watchIdle(ctx) })
	if s.instance != nil {
		s.work.Go(func() { s.watchSeat(ctx) })
	}
	var workErr error
	if work != nil {
		c := &client{&Attached{Client: FrontEnd, PID: os.Getpid(), Build: s.o.Build, Since: s.since}}
		s.mu.Lock()
		s.present[c] = struct{}{}
		s.mu.Unlock()
		s.work.Go(func() {
			defer s.exit(c)
			if workErr = work(ctx); ctx.Err() != nil {
				workErr = errors.Join(ErrEnded, workErr)
			}
			s.leave(errAlone)
		})
	}
	err := s.accept(ctx, listener)
	s.leave(err)
	s.work.Wait()
	err = errors.Join(err, workErr)
	if stop() {
		err = errors.Join(err, listener.Close())
	}
	if s.o.Close != nil {
		s.o.Close()
	}
	s.o.Log.Info().AnErr("because", context.Cause(ctx)).Msg("the daemon leaves")
	return err
}

// accept returns nil once ctx has ended.
func (s *server) accept(ctx context.Context, listener net.Listener) error {
	waiting := make(chan struct{}, maxWaiting)
	pause := time.Duration(0)
	for {
		select {
		case waiting <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		conn, err := listener.Accept()
		switch {
		case err == nil:
			pause = 0
			s.enter(ctx, conn, waiting)
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept: %w", err)
		default: // such as too many open files
			<-waiting
			pause = min(max(2*pause, 5*time.Millisecond), maxPause)
			s.o.Log.Warn().Err(err).Dur("pause", pause).Msg("a connection was not accepted")
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// enter serves a connection, unless the daemon leaves. The connection receives from waiting when its hello is over.
func (s *server) enter(ctx context.Context, conn net.Conn, waiting <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		_ = conn.Close() // before any hello: for the client there is no daemon
		<-waiting
		return
	}
	c := &client{}
	s.present[c] = struct{}{}
	s.work.Go(func() {
		defer s.exit(c)
		s.meet(ctx, c, conn, sync.OnceFunc(func() { <-waiting }))
	})
}

func (s *server) exit(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.present, c)
	if len(s.present) == 0 {
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}
}

// meet exchanges the hello, and serves the client.
func (s *server) meet(ctx context.Context, c *client, conn net.Conn, met func()) {
	defer met()
	if err := s.admit(conn); err != nil {
		s.o.Log.Warn().Err(err).Msg("a connection was refused")
		_ = conn.Close()
		return
	}
	p := &peer{conn, bufio.NewReader(conn)}
	var hello Hello
	w := Welcome{Build: s.o.Build, Protocol: Protocol, PID: os.Getpid()}
	err := p.within(ctx, s.o.timeouts.orDefault().hello, func() error {
		err := p.readLine(&hello)
		if _, strange := errors.AsType[notJSON](err); err == nil || strange {
			w.Open, w.Error = s.refuse(hello, err)
			w.OK = w.Error == nil
			err = errors.Join(err, p.writeLine(w))
		}
		return err
	})
	met()
	log := s.o.Log.With().Str("client", string(hello.Client)).Int("pid", hello.PID).Str("build", hello.Build).Logger()
	switch {
	case err != nil:
		log.Info().Err(err).Msg("a connection ended before its hello")
	case w.Error != nil:
		log.Info().Str("code", w.Error.Code).Msg("a client was refused")
	case hello.Client == Control:
		if s.command(ctx, p, hello) {
			return // closed later
		}
	default:
		s.attach(ctx, c, p, hello, log)
	}
	_ = p.Close() // the client knows the reason
}

// attach calls Attach with the connection.
func (s *server) attach(ctx context.Context, c *client, conn net.Conn, hello Hello, log zerolog.Logger) {
	s.setAttached(c, &Attached{Client: hello.Client, PID: hello.PID, Build: hello.Build, Since: time.Now()})
	log.Info().Msg("a client is attached")
	defer func() {
		s.setAttached(c, nil) // before the connection ends, which tells the client
		if v := recover(); v != nil {
			log.Error().Interface("panic", v).Bytes("stack", debug.Stack()).Msg("a client's connection was lost")
		}
	}()
	err := s.o.Attach(ctx, hello, conn)
	log.Info().AnErr("because", err).Msg("a client has left")
}

func (s *server) setAttached(c *client, a *Attached) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.attached = a
}

// refuse returns why a client is not served; nil if it is. Commands of every version are served. Open is
// [Welcome.Open].
func (s *server) refuse(hello Hello, err error) (open string, _ *Refusal) {
	switch {
	case err != nil:
		return "", &Refusal{CodeHello, fmt.Sprintf("this is Assent's daemon, and the first line is not a hello: %v", err)}
	case hello.Client == Control:
		return "", nil
	case !slices.Contains([]ClientKind{FrontEnd, Host, Agent, Browser, Hosts}, hello.Client):
		return "", &Refusal{CodeHello, fmt.Sprintf("the daemon, Assent %s, does not serve a client %q", s.o.Build, hello.Client)}
	case Newer(hello.Build, s.o.Build):
		if hello.Protocol == Protocol {
			open = s.busy()
		}
		if open != "" {
			return open, nil // it is kept, and both can work
		}
		return "", &Refusal{CodeOlder, fmt.Sprintf("the daemon is Assent %s, and older than Assent %s: run \"assent daemon stop\"", s.o.Build, hello.Build)}
	case hello.Protocol != Protocol:
		return "", &Refusal{CodeProtocol, fmt.Sprintf("the daemon is Assent %s, and no longer serves Assent %s: update Assent here, for example with a reload of the window", s.o.Build, hello.Build)}
	}
	return "", nil
}

// watchIdle makes the daemon leave after the idle time.
func (s *server) watchIdle(ctx context.Context) {
	timer := time.NewTimer(s.o.IdleTime)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		case <-timer.C:
			if s.leaveIfIdle() {
				return
			}
		}
		timer.Reset(s.o.IdleTime)
	}
}

// leaveIfIdle and enter exclude each other: a client has either entered, or finds no daemon.
func (s *server) leaveIfIdle() bool {
	if s.busy() != "" || s.o.Stays != nil && s.o.Stays() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.present) > 0 || len(s.changed) > 0 { // or a client attached and left, and its work is open
		return false
	}
	s.leave(errIdle)
	return true
}

func (s *server) busy() string {
	if s.o.Busy == nil {
		return ""
	}
	return s.o.Busy()
}
