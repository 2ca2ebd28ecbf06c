package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/protocol"
	"assent/sidecar/awaited"
	"assent/sidecar/config"
	"assent/sidecar/reason"
	"assent/sidecar/task"
	"assent/sidecar/wire"
)

// server is a configured server and its connections.
type server struct {
	hub    *Hub
	config config.Server

	mu sync.Mutex // guards the fields below
	// conns holds the connections by their task's id; under "" is one that no task has taken yet,
	// which serves discovery, or one that serves all tasks: of a modern server, or of one that is configured
	// to be shared.
	conns map[string]*conn
	// running holds those of them that are ready.
	running map[*conn]bool
	// uses are the last by each task, the newest first.
	uses []*call
	// exchanges holds what ends those under way, with their task's id.
	exchanges map[*context.CancelCauseFunc]string
	// era is what the server spoke last; the next connection begins with it.
	era wire.Era
	// learned is kept over restarts.
	learned Learned
	// modernOnly: the server refused to be spoken to in an older version than 2026-07-28.
	modernOnly bool
	// toldFallback is set once a person was told that the server is spoken to in an older version.
	toldFallback bool
	// version is the revision that it spoke last.
	version string
	// byPerson counts the starts under way that a person asked for.
	byPerson int
	// gone is why the server may not start again, or empty.
	gone string
	// followed holds who follows an MCP task, by the task's id.
	followed map[string]*following
	// taskable holds which tools of a legacy server can be called as tasks, as of a change of its list.
	taskable   map[string]bool
	taskableAt int
	// completions holds who waits for a URL elicitation, by its id.
	completions map[string]func()
	// opened holds the last pages that were opened by request, and that the server may yet say are done.
	opened []openedPage
	// completed holds the last ids that were said to be done.
	completed []string
	// receivers hold the tasks that the server made of its questions, by the conversation's id.
	receivers map[string]*receiver
	// retries holds what ends the attempts to reach the server again, by the task's id.
	retries map[string]context.CancelFunc
	// reason and stderr are of the last connection that failed, until another one is started.
	reason string
	stderr []string
	// lists are what the server gave and may be used again; changes counts how often each was said to
	// have changed.
	lists   map[protocol.ListKind]pages
	changes map[protocol.ListKind]int
	// announcing holds the timers until the next change of a list can be announced.
	announcing map[protocol.ListKind]*time.Timer

	noted noted

	retrying sync.WaitGroup // grows under mu only, and not once the server is gone
	closing  sync.WaitGroup // of unused connections; the same
}

func newServer(h *Hub, c config.Server) *server {
	learned := h.recall(c)
	return &server{
		hub: h, config: c, era: firstEra(c, learned), learned: learned, conns: map[string]*conn{}, running: map[*conn]bool{},
		exchanges: map[*context.CancelCauseFunc]string{}, retries: map[string]context.CancelFunc{},
		followed: map[string]*following{}, completions: map[string]func(){}, receivers: map[string]*receiver{},
		lists: map[protocol.ListKind]pages{}, changes: map[protocol.ListKind]int{},
		announcing: map[protocol.ListKind]*time.Timer{},
	}
}

func (s *server) info() protocol.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.infoLocked()
}

// infoLocked derives the state: one ready connection is enough to be running.
func (s *server) infoLocked() protocol.Server {
	info := protocol.Server{
		Name:            s.config.Name,
		Source:          s.config.Source,
		Transport:       s.config.Transport,
		Command:         strings.Join(append([]string{s.config.Command}, s.config.Args...), " "),
		ProtocolVersion: s.version,
	}
	if s.config.URL != "" {
		info.Command = s.config.URL
	}
	switch {
	case len(s.running) > 0:
		info.State = protocol.ServerRunning
	case len(s.conns) > 0 || len(s.retries) > 0:
		info.State, info.Reason = protocol.ServerStarting, cmp.Or(s.awaitsLocked(), s.reason)
	case s.reason != "":
		info.State, info.Reason, info.Stderr = protocol.ServerFailed, s.reason, s.stderr
	default:
		info.State = protocol.ServerStopped
	}
	return info
}

// connection returns a ready connection for a task, and opens one if there is none. For the task "" it returns any
// connection. It waits no longer than ctx; the start goes on for later callers.
//
// It stays for as long as an exchange of the task is under way; for everything else there is borrow.
func (s *server) connection(ctx context.Context, taskID string) (*conn, error) {
	c, release, err := s.borrow(ctx, taskID)
	if err != nil {
		return nil, err
	}
	release()
	return c, nil
}

// startedByPerson connects to the server if there is no connection. A person who refused to run it is asked again.
func (s *server) startedByPerson(ctx context.Context) (protocol.Server, error) {
	add := func(n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.byPerson += n
	}
	add(1)
	defer add(-1)
	if _, err := s.connection(ctx, ""); err != nil {
		return protocol.Server{}, err
	}
	return s.info(), nil
}

// confirm blocks until the server may run as it is configured. It is called without the lock.
func (s *server) confirm(ctx context.Context) error {
	if s.hub.opts.Confirm == nil {
		return nil
	}
	s.mu.Lock()
	asked := s.byPerson > 0
	s.mu.Unlock()
	return s.hub.opts.Confirm(ctx, s.config, asked)
}

// borrow is connection for a longer use: the connection is not closed as unused before release is called.
func (s *server) borrow(ctx context.Context, taskID string) (_ *conn, release func(), err error) {
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
			return nil, nil, failed(s.config.Name, cmp.Or(c.why, reason.Of(c.err)))
		}
		if s.serves(c, taskID) {
			return c, release, nil
		}
		release()
	}
}

// acquire returns the connection to wait for, held.
func (s *server) acquire(taskID string) (c *conn, release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, err = s.acquireLocked(taskID); err != nil {
		return nil, nil, err
	}
	return c, c.hold(), nil
}

// acquireLocked returns the connection to wait for. While the server's era is not known there is only one.
func (s *server) acquireLocked(taskID string) (*conn, error) {
	if s.gone != "" {
		return nil, failed(s.config.Name, s.gone)
	}
	if s.era == wire.EraModern || s.config.Shared {
		taskID = ""
	}
	if c := s.conns[taskID]; c != nil {
		return c, nil
	}
	if taskID == "" || s.era == wire.EraUnknown {
		for _, c := range s.conns {
			return c, nil
		}
	}
	if c := s.conns[""]; c != nil && s.running[c] {
		delete(s.conns, "")
		c.own(taskID)
		s.conns[taskID] = c
		if r := s.receivers[""]; r != nil && s.receivers[taskID] == nil { // of what it asked before
			delete(s.receivers, "")
			s.receivers[taskID] = r
		}
		return c, nil
	}
	if len(s.conns) == 0 && s.learned.Era == wire.EraUnknown {
		s.era = firstEra(s.config, s.learned)
	}
	c := newConn(s, taskID)
	s.conns[taskID] = c
	if len(s.retries) == 0 {
		s.reason, s.stderr = "", nil
	}
	s.hub.opts.Changed(s.infoLocked())
	go c.run() // stop waits for its end
	return c, nil
}

// serves reports whether a connection, which is ready, is for this task.
func (s *server) serves(c *conn, taskID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.modern() || s.config.Shared || taskID == "" {
		return true
	}
	return s.conns[taskID] == c
}

func (s *server) knownEra() wire.Era {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.era
}

// started notes that a connection is ready.
func (s *server) started(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[c] = true
	s.reason, s.stderr = "", nil
	s.taskable = nil
	c.established = true
	c.mu.Lock()
	c.since = time.Now()
	c.mu.Unlock()
	s.noted.handshake = c.link.handshake
	s.learnEraLocked(c)
	if c.modern() { // it is everybody's
		for id, other := range s.conns {
			if other == c {
				delete(s.conns, id)
			}
		}
		c.share()
		s.conns[""] = c
	}
	c.hold()() // whoever had it started may not wait any more
	s.hub.opts.Changed(s.infoLocked())
}

// begin notes an exchange of a task with the server. The context ends with it, and with the server where
// somebody stops that. The task is told what the exchange waits for.
func (s *server) begin(ctx context.Context, taskID string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(awaited.WithListener(ctx, func(what string) { s.tellAwaited(taskID, what) }))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exchanges[&cancel] = taskID
	return ctx, func() {
		s.mu.Lock()
		delete(s.exchanges, &cancel)
		s.exchangeEndedLocked(taskID)
		s.mu.Unlock()
		cancel(nil)
	}
}

// listPause is how long the next change of a list waits to be announced.
const listPause = 200 * time.Millisecond

// listChanged forgets a list of which the server says that it has changed. However often it says so, it
// is announced a few times a second at most; the last change is never left out.
func (s *server) listChanged(kind protocol.ListKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes[kind]++
	delete(s.lists, kind)
	delete(s.noted.counts, kind)
	if kind == protocol.ListResources {
		s.changes[listTemplates]++
		delete(s.lists, listTemplates)
	}
	if s.announcing[kind] != nil || s.gone != "" {
		return
	}
	s.hub.opts.ListChanged(s.config.Name, kind)
	announced := s.changes[kind]
	// The callback does nothing once the server is gone, so nobody has to wait for it.
	s.announcing[kind] = time.AfterFunc(listPause, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.announcing, kind)
		if s.gone == "" && s.changes[kind] != announced {
			s.hub.opts.ListChanged(s.config.Name, kind)
		}
	})
}

// generation changes with each change of a list.
func (s *server) generation(kind protocol.ListKind) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes[kind]
}

// keep keeps a list for as long as the server allows, unless it has changed since the generation in
// which it was asked for.
func (s *server) keep(kind protocol.ListKind, p pages, generation int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changes[kind] == generation {
		s.lists[kind] = p
		s.noteCountLocked(kind, p.raw)
	}
}

// cached returns a list that is still fresh, or nil.
func (s *server) cached(kind protocol.ListKind) []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.lists[kind]; ok && time.Now().Before(p.fresh) && len(s.running) > 0 {
		return p.raw
	}
	return nil
}

// ended notes that a connection is over. The reason is empty if Assent ended it on purpose.
func (s *server) ended(c *conn, reason string, stderr []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, c)
	clear(s.lists)
	for _, f := range s.followed {
		f.tell(nil) // it may have been by this connection that the server told
	}
	for id, other := range s.conns {
		if other == c {
			delete(s.conns, id)
		}
	}
	if reason != "" {
		s.reason, s.stderr = reason, stderr
		if c.established {
			s.retryLocked(c)
		} else {
			s.forgetEraLocked(c)
		}
	}
	s.hub.opts.Changed(s.infoLocked())
}

// retire ends every connection; the server starts no more.
func (s *server) retire(why stoppedError) {
	s.mu.Lock()
	s.gone = why.reason
	s.mu.Unlock()
	s.stop(why)
}

// stop ends every connection and exchange, and returns when the connections are over. Answers and cancellations that are
// due are sent first.
func (s *server) stop(why stoppedError) {
	s.sayAll()
	s.mu.Lock()
	conns := s.allConnsLocked()
	for _, c := range conns {
		c.cancel(why)
	}
	for cancel := range s.exchanges {
		(*cancel)(why)
	}
	for _, cancel := range s.retries {
		cancel()
	}
	s.mu.Unlock()
	s.closeReceivers("", &task.Ended{Reason: why.asks, Detail: "The server is gone: " + why.reason + "."})
	stopAll(conns, why)
	s.retrying.Wait()
	s.closing.Wait()
}

// allConnsLocked returns every connection, also those that are closed once their calls have ended.
func (s *server) allConnsLocked() []*conn {
	all := map[*conn]bool{}
	maps.Copy(all, s.running)
	for _, c := range s.conns {
		all[c] = true
	}
	return slices.Collect(maps.Keys(all))
}

func (s *server) sayAll() {
	s.mu.Lock()
	conns := s.allConnsLocked()
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(c.sayAll)
	}
	wg.Wait()
}

// closeTask ends a task's connection and returns when it is over. Its asks have ended, and what the server is
// told of them goes out first.
func (s *server) closeTask(taskID string) {
	why := stoppedError{"its task was closed", protocol.OutcomeServerLost}
	s.mu.Lock()
	c := s.conns[taskID]
	s.forgetUsesLocked(taskID)
	if cancel := s.retries[taskID]; cancel != nil {
		cancel()
	}
	s.mu.Unlock()
	s.closeReceivers(taskID, &task.Ended{Reason: why.asks, Detail: "The server is gone: " + why.reason + "."})
	if c != nil {
		c.answer()
		stopAll([]*conn{c}, why)
	}
}

// setRoots tells every connection of the roots as they are now.
func (s *server) setRoots(gone []string, roots []*mcp.Root) {
	s.mu.Lock()
	var clients []*mcp.Client
	for c := range s.running {
		clients = append(clients, c.client)
	}
	s.mu.Unlock()
	for _, client := range clients {
		client.RemoveRoots(gone...)
		client.AddRoots(roots...)
	}
}

func stopAll(conns []*conn, why stoppedError) {
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Go(func() { c.stop(why) })
	}
	wg.Wait()
}
