// Package hosts has the hosts of a workspace, and the tasks of their conversations.
//
// A host's connection or request gets a [gateway.View]: the servers of the hub, with lists that are kept, so that a session
// begins without them. Each conversation of a host is a task, and each of its calls a message there. A call goes on if its
// host leaves, and the next daemon takes it up.
//
// All methods may be called from any goroutine. [Hosts.Close] waits for all calls.
package hosts

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/chat"
	"assent/sidecar/gateway"
	"assent/sidecar/gateway/mcpserver"
	"assent/sidecar/hub"
	"assent/sidecar/hub/session"
	"assent/sidecar/task"
)

// Use says what a host uses of a workspace.
type Use struct {
	// Server is the only server that it uses; "" means all.
	Server string `json:"server,omitempty"`
	// Own: Server is the person's own, also if a file of the workspace has a server of that name.
	Own bool `json:"own,omitempty"`
	// Program is the host's name in the table of package importer, as its entry tells it; it may be empty.
	Program string `json:"program,omitempty"`
	// AnswerIn says where the questions of servers are answered.
	AnswerIn gateway.AnswerIn `json:"answerIn,omitempty"`
	// AsIs passes results as they are; see [gateway.Options].
	AsIs bool `json:"asIs,omitempty"`
	// Quiet: the operating system shows no notification if a question waits and no front end is attached.
	Quiet bool `json:"quiet,omitempty"`
	// IdleTime is how long a session over HTTP lasts that is not used; see [mcpserver.HTTPOptions].
	IdleTime time.Duration `json:"idleTime,omitempty"`
	// Environment are the variables of [gateway.SessionVariables] that the host has set.
	Environment map[string]string `json:"environment,omitempty"`
	// Environ is the whole environment in which the host has started its end of the pipe; nil if that is not known. The person's
	// own servers start in it; all others start in that of the workspace.
	Environ []string `json:"-"`
	// Configuration is that of the folder in which the host runs. It counts while no window of the workspace is attached.
	Configuration protocol.Configuration `json:"configuration"`
}

// Workspace is what hosts need of the workspace that they use, beside the parts in [Options].
type Workspace interface {
	// Label names the workspace for a person; "" before its first configuration.
	Label() string

	// Promise has servers told that Assent can do this, although no front end may be attached that can.
	Promise(c protocol.FrontEndCapabilities)

	// Permits returns why a server may not be used in a session of programs, named as in the table of package importer; nil if
	// it may. Tried says that a session tried to use it, which the journal has.
	Permits(server string, tried bool, programs ...string) error

	// Using returns a context for a use of a server in such a session. It ends as soon as the server may not be used any more.
	// The error says that it may not be used now.
	Using(ctx context.Context, server string, programs ...string) (_ context.Context, end func(), _ error)

	// Notify calls the person to a question of a task, if no front end shows it. It does not wait.
	Notify(title string)
}

// Options are what [New] needs. All of them are needed.
type Options struct {
	Workspace Workspace
	Hub       *hub.Hub
	Tasks     *task.Registry
	Chat      *chat.Chat
	Broker    *broker.Broker
	// ListsFile keeps the servers' lists.
	ListsFile string
	Version   string
	Log       zerolog.Logger
}

// credentialKey is the context key of the credential of the host that sent a request.
type credentialKey struct{}

// Hosts are the hosts of a workspace. All methods may be called from any goroutine.
type Hosts struct {
	opts  Options
	lists *serverLists
	// watches are the resources to which hosts subscribed.
	watches watches
	// restored is closed once the calls of an earlier daemon are known.
	restored chan struct{}

	// changed stops calls of tools that have changed.
	changed *changedTools

	// telling counts the goroutines that tell servers of changed roots.
	telling sync.WaitGroup

	mu sync.Mutex // guards the fields below
	// views outlive the sessions of hosts, and so do the calls in them.
	views map[viewKey]*gateway.View
	// http are the sessions over HTTP, by their view and idle time.
	http map[httpKey]*mcpserver.HTTP
	// conversations are those of which a session lasts, by the name of the conversation or the id of the session.
	conversations map[string]*conversation
	// tasks are the conversations with a task, by its id.
	tasks map[string]*conversation
	// closing has a channel for each task that ends its connections to servers; it is closed then.
	closing map[string]chan struct{}
	// unfinished are the calls of an earlier daemon that go on.
	unfinished map[gateway.Place]task.Unfinished
	starts     starts
	// offered are the definitions of each view's servers, as its hosts were told of them.
	offered map[viewKey]string
}

// viewKey identifies a view.
type viewKey struct {
	server   string
	own      bool
	answerIn gateway.AnswerIn
	asIs     bool
	quiet    bool
	program  string
}

// httpKey identifies sessions over HTTP.
type httpKey struct {
	viewKey
	idleTime time.Duration
}

func viewOf(u Use) viewKey { return viewKey{u.Server, u.Own, u.AnswerIn, u.AsIs, u.Quiet, u.Program} }

// New returns the hosts of a workspace, of which none is connected. It starts nothing.
func New(opts Options) *Hosts {
	h := &Hosts{
		opts: opts, views: map[viewKey]*gateway.View{}, http: map[httpKey]*mcpserver.HTTP{},
		conversations: map[string]*conversation{}, tasks: map[string]*conversation{}, closing: map[string]chan struct{}{},
		starts:   starts{sessions: map[string]session.StartsFor{}, last: map[string]session.StartsFor{}},
		restored: make(chan struct{}), unfinished: map[gateway.Place]task.Unfinished{}, offered: map[viewKey]string{},
	}
	h.watches = watches{watch: opts.Hub.Watch, all: map[resource]*watch{}}
	h.lists = newLists(opts.ListsFile, opts.Hub, h.tellChanged, opts.Log)
	h.changed = &changedTools{
		pages: func(server string) []verbatimJSON { return h.lists.advertised(server, string(protocol.ListTools)) },
		ask: func(ctx context.Context, taskID string, q protocol.UseMcpTool) error {
			t, err := opts.Tasks.Get(taskID)
			if err != nil {
				return err
			}
			return opts.Broker.UseChangedTool(ctx, t, q)
		},
		servers: map[string]*advertisedTools{}, asking: map[toolKey]chan struct{}{},
	}
	return h
}

// Serve serves a host, which speaks MCP, over conn until the host ends it or ctx ends. A call that waits for a person goes on.
// An error means that the wire was broken.
func (h *Hosts) Serve(ctx context.Context, conn io.ReadWriteCloser, u Use) error {
	h.offer(viewOf(u))
	session := uuid.NewString()
	defer h.startIn(session, u)()
	return mcpserver.ServeLines(ctx, conn, h.view(u), mcpserver.Options{ID: session, Environment: u.Environment, Log: h.opts.Log})
}

// ServeHTTP serves a request over HTTP of a host that is known by its credential.
func (h *Hosts) ServeHTTP(rw http.ResponseWriter, r *http.Request, credential string, u Use) {
	h.offer(viewOf(u))
	h.overHTTP(u).ServeHTTP(rw, r.WithContext(context.WithValue(r.Context(), credentialKey{}, credential)))
}

// End ends the sessions over HTTP of a host that has lost its credential.
func (h *Hosts) End(credential string) {
	h.mu.Lock()
	all := slices.Collect(maps.Values(h.http))
	h.mu.Unlock()
	for _, sessions := range all {
		sessions.End(credential)
	}
}

// HasSessions reports whether a session over HTTP lasts. It may rest, until its host's next request.
func (h *Hosts) HasSessions() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(slices.Collect(maps.Values(h.http)), (*mcpserver.HTTP).HasSessions)
}

// overHTTP returns what serves the requests over HTTP to a view.
func (h *Hosts) overHTTP(u Use) *mcpserver.HTTP {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := httpKey{viewOf(u), u.IdleTime}
	if h.http[key] == nil {
		h.http[key] = mcpserver.NewHTTP(h.viewLocked(key.viewKey), mcpserver.HTTPOptions{
			Authorize: func(r *http.Request) (credential string, ok bool) {
				credential, ok = r.Context().Value(credentialKey{}).(string)
				return credential, ok
			},
			IdleTime: u.IdleTime, Log: h.opts.Log,
		})
	}
	return h.http[key]
}

// view returns what a host sees of a server, or of all servers.
func (h *Hosts) view(u Use) *gateway.View {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.viewLocked(viewOf(u))
}

func (h *Hosts) viewLocked(key viewKey) *gateway.View {
	if h.views[key] == nil {
		own := upstream{h, key.program}
		var servers gateway.Upstream = own
		permit := own.permit
		if key.own {
			servers, permit = ownServers{own}, ownServers{own}.permit
		}
		h.views[key] = gateway.New(servers, gateway.Options{
			Server: key.server, Own: key.own, AnswerIn: key.answerIn, AsIs: key.asIs, Quiet: key.quiet, Program: key.program, Permit: permit,
			Apps:     func(forms bool) { h.opts.Workspace.Promise(protocol.FrontEndCapabilities{Apps: true, AppForms: forms}) },
			Restored: h.restored, Version: h.opts.Version, Log: h.opts.Log,
		})
	}
	return h.views[key]
}

// offer notes the servers of a view that gets a host.
func (h *Hosts) offer(key viewKey) {
	h.mu.Lock()
	_, isOffered := h.offered[key]
	h.mu.Unlock()
	if isOffered {
		return
	}
	now := h.definitions(key)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.offered[key] = cmp.Or(h.offered[key], now)
}

// definitions returns what says whether the servers of a view are still the same.
func (h *Hosts) definitions(key viewKey) string {
	var servers []string
	switch {
	case key.own:
		if name, err := h.opts.Hub.Own(key.server); err == nil {
			servers = []string{name}
		}
	case key.server != "":
		servers = []string{key.server}
	default:
		for _, s := range h.opts.Hub.Servers() {
			servers = append(servers, s.Name)
		}
	}
	for i, name := range servers {
		identity, _ := h.opts.Hub.Identity(name)
		servers[i] = name + "\x00" + identity
	}
	return strings.Join(servers, "\x00")
}

// Leave ends the sessions of hosts. Their calls go on. It is called once, before [Hosts.Close].
func (h *Hosts) Leave() {
	h.mu.Lock()
	overHTTP := h.http
	h.http = map[httpKey]*mcpserver.HTTP{}
	h.mu.Unlock()
	for _, sessions := range overHTTP {
		sessions.Close()
	}
	h.lists.close()
	h.watches.close()
}

// Close cancels the calls of hosts that have not ended, and waits for them. The hub must be closed already.
func (h *Hosts) Close() {
	h.telling.Wait()
	h.mu.Lock()
	views := h.views
	h.views = map[viewKey]*gateway.View{}
	h.mu.Unlock()
	for _, view := range views {
		view.Close()
	}
}

// Configured tells hosts that their lists have changed, if another server is configured, or another one under the same name.
func (h *Hosts) Configured() {
	h.mu.Lock()
	views := maps.Clone(h.views)
	h.mu.Unlock()
	for key, view := range views {
		now := h.definitions(key)
		h.mu.Lock()
		before, isOffered := h.offered[key]
		h.offered[key] = now
		h.mu.Unlock()
		if isOffered && now != before {
			tellAllChanged(key, view)
		}
	}
}

// tellAllChanged tells the hosts of a view that all of their lists may have changed.
func tellAllChanged(key viewKey, view *gateway.View) {
	for _, list := range []protocol.ListKind{protocol.ListTools, protocol.ListPrompts, protocol.ListResources} {
		view.ListChanged(key.server, string(list))
	}
}

// ListChanged notes that a server says that one of its lists has changed.
func (h *Hosts) ListChanged(serverName string) { h.lists.readAgain(serverName) }

// ServerRuns notes that a connection to a server is ready.
func (h *Hosts) ServerRuns(serverName string) { h.lists.recovered(serverName) }

// tellChanged tells the hosts that a list of a server has changed.
func (h *Hosts) tellChanged(serverName, list string) {
	for view, name := range h.viewsOf(serverName) {
		view.ListChanged(name, list)
	}
}

// ServersChanged tells the hosts that all of their lists may have changed.
func (h *Hosts) ServersChanged() {
	h.mu.Lock()
	views := maps.Clone(h.views)
	h.mu.Unlock()
	for key, view := range views {
		tellAllChanged(key, view)
	}
}

// ResourceUpdated tells the hosts that a resource of a server has changed.
func (h *Hosts) ResourceUpdated(serverName string, params json.RawMessage) {
	for view, name := range h.viewsOf(serverName) {
		view.ResourceUpdated(name, params)
	}
}
