package session

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/protocol"
	"assent/sidecar/base/reason"
	"assent/sidecar/config"
	"assent/sidecar/hub/diagnose"
	"assent/sidecar/task"
	"assent/sidecar/wire"
	"assent/sidecar/wire/icon"
)

// Handler gets the requests and notifications of a server, and the changes of its connections.
type Handler interface {
	// Requests returns the functions that serve the requests on a connection, by method. A connection serves roots/list
	// and ping itself.
	Requests(c *Conn) map[string]wire.Handler
	// Notifications returns the functions that get the notifications of a connection, by method, in the order of the
	// frames. The connection itself handles progress, and reads log messages before the function gets them.
	Notifications(c *Conn) map[string]func(params json.RawMessage)
	// Started is called when a connection is ready, Ended when one is over, and Taken when a task takes over a
	// connection that belonged to no task. The Server calls them with its lock held, so they must not call the Server.
	Started()
	Ended()
	Taken(taskID string)
	// Closing is called when the connection of a task is about to end, or those of all tasks if taskID is empty. It
	// must return only when everything that belongs to the task has ended.
	Closing(taskID string, why *task.Ended)
	// Strayed is called with the beginning of a frame that is not MCP, or answers no request, on a connection of the task, or
	// of all tasks if taskID is empty. It must not block.
	Strayed(taskID, text string)
}

// Server is a configured server and its connections.
type Server struct {
	dialer  *Dialer
	config  config.Server
	handler Handler
	logTail diagnose.LogTail

	mu sync.Mutex // guards the fields below
	// conns maps a task's id to its connection. The key "" has a connection that serves discovery until a task takes
	// it, or one that serves all tasks; see keyOf.
	conns map[string]*Conn
	// running holds the ready connections, including those that are no longer in conns and close once nothing uses
	// them.
	running map[*Conn]bool
	// uses maps the function that ends a use under way to its task's id.
	uses map[*context.CancelCauseFunc]string
	// retries maps a task's id to the function that ends the attempts to reconnect.
	retries map[string]context.CancelFunc
	// dialect records how the server speaks.
	dialect dialect
	// userStarts counts the starts under way that a person asked for.
	userStarts int
	// gone is why the server must not start again, or nil.
	gone *Stopped
	// last is the last failure of a connection.
	last lastFailure
	serverIcons

	// ending counts the goroutines that reconnect or close unused connections. It grows only with mu held, and not once
	// gone is set.
	ending sync.WaitGroup
}

// serverIcons are the icons of a server.
type serverIcons struct {
	// icons are the icons of the last handshake. iconsRevision is [protocol.Server.IconsRevision].
	icons         []icon.Icon
	iconsRevision int64
}

// lastFailure describes the last connection that Assent did not end on purpose.
type lastFailure struct {
	// reason and stderr are shown to the person until another connection is started.
	reason string
	stderr []string
	shown  *diagnose.Failure
}

// NewServer returns a server without connections.
func (d *Dialer) NewServer(c config.Server, handler Handler) *Server {
	learned := d.recall(c)
	return &Server{
		dialer: d, config: c, handler: handler, dialect: dialect{era: firstEra(c, learned), learned: learned},
		conns: map[string]*Conn{}, running: map[*Conn]bool{},
		uses: map[*context.CancelCauseFunc]string{}, retries: map[string]context.CancelFunc{},
	}
}

// Config returns the server's configuration.
func (s *Server) Config() *config.Server { return &s.config }

// Info returns the server's state.
func (s *Server) Info() protocol.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.infoLocked()
}

// infoLocked returns the server's state. The server is running if at least one connection is ready.
func (s *Server) infoLocked() protocol.Server {
	info := protocol.Server{
		Name:      s.config.Name,
		Source:    s.config.Source,
		Transport: s.config.Transport,
		Command:   strings.Join(append([]string{s.config.Command}, s.config.Args...), " "),

		IconsRevision: s.iconsRevision,
	}
	if s.config.URL != "" {
		info.Command = s.config.URL
	}
	if s.dialect.handshake != nil {
		info.ProtocolVersion = s.dialect.handshake.Version
	}
	switch {
	case len(s.running) > 0:
		info.State = protocol.ServerRunning
	case len(s.conns) > 0 || len(s.retries) > 0:
		info.State, info.Reason = protocol.ServerStarting, cmp.Or(s.awaitsLocked(), s.last.reason)
	case s.last.reason != "":
		info.State, info.Reason, info.Stderr = protocol.ServerFailed, s.last.reason, s.last.stderr
	default:
		info.State = protocol.ServerStopped
	}
	return info
}

// Icons returns the icons of the last handshake.
func (s *Server) Icons() []icon.Icon {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.icons
}

// IconsChanged records that the icons of the server's tools, prompts or resources have changed.
func (s *Server) IconsChanged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.iconsRevision = s.dialer.iconsRevision.Add(1)
	s.dialer.opts.Changed(s.infoLocked())
}

// learnIconsLocked records the server's icons from a newly ready connection.
func (s *Server) learnIconsLocked(c *Conn) {
	if icons := icon.OfServer(c.link.handshake.Result); !reflect.DeepEqual(icons, s.icons) {
		s.icons = icons
		s.iconsRevision = s.dialer.iconsRevision.Add(1)
	}
}

// Snapshot returns the known facts about the server, except those of its handler.
func (s *Server) Snapshot() diagnose.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := diagnose.Snapshot{
		Config: s.config, Server: s.infoLocked(), Handshake: s.dialect.handshake, Failure: s.last.shown, Log: &s.logTail,
	}
	for c := range s.running {
		now.Connections = append(now.Connections, c.shown())
	}
	slices.SortFunc(now.Connections, func(a, b protocol.ServerConnection) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.TaskID, b.TaskID))
	})
	return now
}

// Housekeeping returns the time limit of each request except tool calls.
func (s *Server) Housekeeping() time.Duration { return s.dialer.opts.Housekeeping }

// Handshake returns the last handshake, or nil.
func (s *Server) Handshake() *wire.Handshake {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialect.handshake
}

// IsRunning reports whether a connection is ready.
func (s *Server) IsRunning() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running) > 0
}

// Connections returns the connections that are ready. They are not closed as unused before release is called.
func (s *Server) Connections() (conns []*Conn, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var releases []func()
	for c := range s.running {
		conns, releases = append(conns, c), append(releases, c.Hold())
	}
	return conns, func() {
		for _, r := range releases {
			r()
		}
	}
}

// Connection returns a ready connection for a task, and opens one if there is none. For the task "" it returns any
// connection. If ctx ends first, the start continues for later callers.
//
// The connection stays open while a use of the task is under way (see [Server.Use]). Callers without a use call Borrow.
func (s *Server) Connection(ctx context.Context, taskID string) (*Conn, error) {
	c, release, err := s.Borrow(ctx, taskID)
	if err != nil {
		return nil, err
	}
	release()
	return c, nil
}

// Start connects to the server if there is no connection. If the person refused to run it before, Assent asks them
// again.
func (s *Server) Start(ctx context.Context) (protocol.Server, error) {
	add := func(n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.userStarts += n
	}
	add(1)
	defer add(-1)
	if _, err := s.Connection(ctx, ""); err != nil {
		return protocol.Server{}, err
	}
	return s.Info(), nil
}

// Confirm blocks until the server may run as it is configured; see [Options.Confirm].
func (s *Server) Confirm(ctx context.Context) error {
	return s.confirm(ctx, s.dialer.opts.Environment)
}

// confirm is Confirm for a start in an environment.
func (s *Server) confirm(ctx context.Context, e config.Environment) error {
	if s.dialer.opts.Confirm == nil {
		return nil
	}
	s.mu.Lock()
	asked := s.userStarts > 0
	s.mu.Unlock()
	return s.dialer.opts.Confirm(ctx, s.config.In(e), asked)
}

// Borrow is Connection for a longer use: the connection is not closed as unused before release is called.
func (s *Server) Borrow(ctx context.Context, taskID string) (_ *Conn, release func(), err error) {
	for {
		c, release, err := s.acquire(taskID)
		if err != nil {
			return nil, nil, err
		}
		leave := c.waits.Join(ctx)
		select {
		case <-c.ready:
			leave()
		case <-ctx.Done():
			leave()
			release()
			return nil, nil, context.Cause(ctx)
		}
		if c.err != nil {
			release()
			if c.ClosedWithAnother(taskID) {
				continue
			}
			return nil, nil, Failed(s.config.Name, cmp.Or(c.why, reason.Of(c.err)))
		}
		select {
		case <-c.link.lost: // a request would fail with it
			release()
			select {
			case <-c.over:
				continue
			case <-ctx.Done():
				return nil, nil, context.Cause(ctx)
			}
		default:
		}
		if s.serves(c, taskID) {
			return c, release, nil
		}
		release()
	}
}

// acquire is acquireLocked that also holds the connection until release is called.
func (s *Server) acquire(taskID string) (c *Conn, release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, err = s.acquireLocked(taskID); err != nil {
		return nil, nil, err
	}
	return c, c.Hold(), nil
}

// acquireLocked returns the connection for a task, which may still be starting, and starts one if there is none. While
// the server's era is unknown, there is only one.
func (s *Server) acquireLocked(taskID string) (*Conn, error) {
	if s.gone != nil {
		return nil, goneError{*s.gone, Failed(s.config.Name, s.gone.Reason)}
	}
	isModern := s.dialect.era == wire.EraModern
	if c := s.conns[""]; isModern && !s.config.Shared && taskID == "" && c != nil && s.running[c] && s.isOfHost("") && !c.has("") {
		delete(s.conns, "") // it began for another session than the last one
		c.leave()
	}
	isForAll := taskID == ""
	taskID = s.keyOf(taskID)
	if c := s.conns[taskID]; c != nil {
		return c, nil
	}
	if isForAll && !isModern || s.dialect.era == wire.EraUnknown {
		for _, c := range s.conns {
			return c, nil
		}
	}
	if c := s.conns[""]; isModern || c == nil {
		// It is that of all tasks, or there is none.
	} else if s.running[c] && !c.suits(taskID) {
		delete(s.conns, "")
		c.leave()
	} else if s.running[c] {
		delete(s.conns, "")
		c.Ledger.Own(taskID)
		c.roots.task = taskID
		s.conns[taskID] = c
		s.handler.Taken(taskID)
		return c, nil
	}
	if len(s.conns) == 0 && s.dialect.learned.Era == wire.EraUnknown {
		s.dialect.era = firstEra(s.config, s.dialect.learned)
	}
	c := newConn(s, taskID)
	s.conns[taskID] = c
	if len(s.retries) == 0 {
		s.last.reason, s.last.stderr = "", nil
	}
	s.dialer.opts.Changed(s.infoLocked())
	go c.run() // stop waits for its end
	return c, nil
}

// keyOf returns the key of the connection that a task uses. All tasks use one connection to a server that is configured to be
// shared. So do those of a modern server, unless they have another environment than that connection.
func (s *Server) keyOf(taskID string) string {
	isOther := func() bool {
		if all := s.conns[""]; all != nil {
			return !all.has(taskID)
		}
		return !slices.Equal(s.startsFor("").Environ, s.startsFor(taskID).Environ)
	}
	switch {
	case s.config.Shared:
		return ""
	case s.dialect.era == wire.EraModern && s.conns[taskID] == nil && !isOther():
		return ""
	}
	return taskID
}

// suits reports whether a connection for discovery is like one for a task: it declared roots as the task has them, and the
// server has the task's environment.
func (c *Conn) suits(taskID string) bool {
	return c.roots.given.from == c.server.rootsOf(taskID).from && c.has(taskID)
}

// serves reports whether a ready connection is for this task.
func (s *Server) serves(c *Conn, taskID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.config.Shared || taskID == "" {
		return true
	}
	return s.conns[taskID] == c || c.IsModern() && c.has(taskID)
}

// started records that a connection is ready.
func (s *Server) started(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[c] = true
	s.last.reason, s.last.stderr = "", nil
	s.handler.Started()
	c.recordReady()
	s.learnEraLocked(c)
	s.learnIconsLocked(c)
	if all := s.conns[""]; c.IsModern() && all != nil && all != c { // it is that of a task with an environment of its own
		id := c.Ledger.TaskID()
		c.Ledger.ShareModern()
		c.Ledger.Own(id)
	} else if c.IsModern() { // all tasks with its environment use it
		for id, other := range s.conns {
			if other == c {
				delete(s.conns, id)
			}
		}
		c.Ledger.ShareModern()
		s.conns[""] = c
	}
	c.Hold()() // starts the idle time, because the caller may have given up waiting
	s.dialer.opts.Changed(s.infoLocked())
}

// Use records that a task uses the server. The task's connection stays open until end is called. The returned context
// ends then, or when the server is stopped. It has ended if the server must not start again.
func (s *Server) Use(ctx context.Context, taskID string) (_ context.Context, end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone != nil { // this is the cause, even if ctx has ended
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if s.gone != nil {
		cancel(*s.gone)
	}
	s.uses[&cancel] = taskID
	return ctx, func() {
		s.mu.Lock()
		delete(s.uses, &cancel)
		if c := s.conns[taskID]; c != nil {
			c.Hold()() // restarts its idle time
		}
		s.mu.Unlock()
		cancel(nil)
	}
}

// ended records that a connection is over. The reason is empty if Assent ended it on purpose.
func (s *Server) ended(c *Conn, reason string, stderr []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, c)
	s.handler.Ended()
	for id, other := range s.conns {
		if other == c {
			delete(s.conns, id)
		}
	}
	if reason != "" {
		s.last.reason, s.last.stderr = reason, stderr
		if c.wasReady() {
			s.retryLocked(c)
		} else {
			s.forgetEraLocked(c)
		}
	}
	s.dialer.opts.Changed(s.infoLocked())
}

// Retire is Stop for good: the server cannot start again.
func (s *Server) Retire(why Stopped) {
	s.mu.Lock()
	s.gone = &why
	s.mu.Unlock()
	s.Stop(why)
}

// Stop ends every connection and use, and returns when the connections are over. Answers and cancellations that are due
// are sent first.
func (s *Server) Stop(why Stopped) {
	s.flush()
	s.mu.Lock()
	conns := s.allConnsLocked()
	for cancel := range s.uses { // before the connections, so that each use ends with this reason
		(*cancel)(why)
	}
	for _, c := range conns {
		c.cancel(why)
	}
	for _, cancel := range s.retries {
		cancel()
	}
	s.mu.Unlock()
	s.handler.Closing("", why.AskOutcome())
	each(conns, func(c *Conn) { c.stop(why) })
	s.ending.Wait()
}

// allConnsLocked returns every connection, including those that close once their calls have ended.
func (s *Server) allConnsLocked() []*Conn {
	all := map[*Conn]bool{}
	maps.Copy(all, s.running)
	for _, c := range s.conns {
		all[c] = true
	}
	return slices.Collect(maps.Keys(all))
}

// flush waits until the answers and cancellations that are due on every connection are sent; see [Conn.flush].
func (s *Server) flush() {
	s.mu.Lock()
	conns := s.allConnsLocked()
	s.mu.Unlock()
	each(conns, (*Conn).flush)
}

// taskClosed is the cause with which the connection of a closed task ends.
var taskClosed = Stopped{"its task was closed", protocol.OutcomeServerLost}

// CloseTask ends a task's connection and returns when it is over. The task's asks end first, and the server gets their
// outcomes.
func (s *Server) CloseTask(taskID string) {
	why := taskClosed
	s.mu.Lock()
	c := s.conns[taskID]
	if cancel := s.retries[taskID]; cancel != nil {
		cancel()
	}
	s.mu.Unlock()
	s.handler.Closing(taskID, why.AskOutcome())
	if c != nil {
		c.settle()
		c.stop(why)
	}
}

// SetRoots gives the workspace's roots to every connection that has them; see [Dialer.SetFolders].
func (s *Server) SetRoots(gone []string, roots []*mcp.Root) {
	s.mu.Lock()
	var clients []*mcp.Client
	for c := range s.running {
		if c.roots.given.from == folderRoots {
			clients = append(clients, c.client)
		}
	}
	s.mu.Unlock()
	for _, client := range clients {
		client.RemoveRoots(gone...)
		client.AddRoots(roots...)
	}
}

// each calls a function for each connection, and returns when all calls have returned.
func each(conns []*Conn, do func(c *Conn)) {
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(func() { do(c) })
	}
	wg.Wait()
}

// UnusableError says that a server cannot be used. It wraps a [protocol.Error] for front ends.
type UnusableError struct {
	// Why is a sentence for the person, like [protocol.Server.Reason].
	Why string
	err *protocol.Error
}

// Error implements error. The text names the server.
func (e *UnusableError) Error() string { return e.err.Error() }

// AskOutcome returns the outcome of the asks of a call that ends because the server can no longer be used.
func (e *UnusableError) AskOutcome() *task.Ended {
	return &task.Ended{Reason: protocol.OutcomeCallEnded, Detail: e.Why}
}

// Unwrap returns the [protocol.Error].
func (e *UnusableError) Unwrap() error { return e.err }

// Failed returns the [UnusableError] of a server.
func Failed(name, reason string) error {
	return &UnusableError{
		Why: diagnose.Sentence(reason),
		err: protocol.Errorf(protocol.CodeServerFailed, "the MCP server %q cannot be used: %s", name, reason),
	}
}
