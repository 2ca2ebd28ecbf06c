// Package hub holds every connection to MCP servers.
//
// A legacy server does not say which call its own requests belong to. So each task has its own connection to
// every legacy server that it uses, and a request on that connection belongs to the task. If all tasks share a
// connection, or no task has it yet, and no call proves the task, the person says which it is (see
// [Options.Whose]). A modern server puts its questions into the answers to calls, so one connection serves all
// tasks. A server starts at its first use. Its questions go to the broker. No package above the hub knows of
// eras or transports.
//
// All methods of a [Hub] may be called from any goroutine. Calls block until the server has answered, their
// context ends, or the connection ends. [Hub.Close] ends every process and returns when all have ended.
package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/config"
	"assent/sidecar/diagnose"
	"assent/sidecar/leftover"
	"assent/sidecar/mcptask"
	"assent/sidecar/reason"
	"assent/sidecar/stack"
	"assent/sidecar/task"
	"assent/sidecar/wire"
)

// DefaultIdlePause is the first pause after an InputRequiredResult without a question. It grows with each further one in a
// row.
const DefaultIdlePause = 200 * time.Millisecond

// DefaultHandshake is how long a server's start may take. npx may have to download the server first.
const DefaultHandshake = 2 * time.Minute

// DefaultKeepAlive is how long a connection over the network may be silent before the hub sends a ping, and how long the
// server has to answer it.
const DefaultKeepAlive = 30 * time.Second

// Broker is the part of [broker.Broker] that the hub needs.
type Broker interface {
	Elicit(ctx context.Context, t broker.Asker, origin protocol.Origin, params json.RawMessage) (any, error)
	CreateMessage(ctx context.Context, t broker.Asker, origin protocol.Origin, params json.RawMessage) (any, error)
	DeclareSampling(ctx context.Context, serverName string) broker.SamplingCapability
	ServeUnclaimed(ctx context.Context, serverName, method string, params json.RawMessage, whose broker.Whose) (any, error)
	AwaitURL(ctx context.Context, t broker.Asker, origin protocol.Origin, e broker.URLElicitation) (bool, error)
	RepeatCall(ctx context.Context, t broker.Asker, q protocol.RepeatMcpCall) (bool, error)
}

// Asker is the part of [task.Task] that the hub needs.
type Asker interface {
	broker.Asker
	Release(prefix string, ended *task.Ended)
	ReleaseAnswered(prefix string, before time.Time)
	Delivered(key string)
	Completed(messageID int64)
	Undelivered(messageID int64, why string)
}

// Options are what a hub needs.
type Options struct {
	Broker Broker
	// Task finds the task that a connection belongs to.
	Task func(id string) (Asker, error)
	// Whose asks the person which task a request belongs to, if no call proves it. It blocks until they have answered or
	// ctx ends; the error is then a [task.Ended]. With nil the hub refuses such requests.
	Whose func(ctx context.Context, u Unclaimed) (Place, error)
	// Changed gets every new state of a server, and ListChanged the lists that a server says have changed. They must not
	// call the hub.
	Changed     func(protocol.Server)
	ListChanged func(serverName string, kind protocol.ListKind)
	// Confirm blocks until a server may run as it is configured, or returns why it may not. The hub calls it before each
	// connection. asked reports that a person has just started the server. With nil every server may run.
	Confirm func(ctx context.Context, server config.Server, asked bool) error
	// Redact removes secrets from the sentence on why a server failed, which may quote the server. It may be nil.
	Redact func(string) string
	// Environment is the environment in which servers start.
	Environment config.Environment
	// Capabilities returns those of the front ends; nil means none. Servers get no others.
	Capabilities func() protocol.FrontEndCapabilities
	Client       protocol.Implementation
	// Handshake bounds a server's start; 0 means [DefaultHandshake].
	Handshake time.Duration
	// IdlePause and KeepAlive: 0 means [DefaultIdlePause] and [DefaultKeepAlive].
	IdlePause, KeepAlive time.Duration
	// Housekeeping bounds each request except calls of tools; 0 means [DefaultHousekeeping].
	Housekeeping time.Duration
	// RootsTimeout: 0 means [DefaultRootsTimeout].
	RootsTimeout time.Duration
	// PollFloor is the shortest pause between two polls of an MCP task; 0 means [mcptask.DefaultFloor].
	PollFloor time.Duration
	// Authorize wraps the round tripper to a server at a URL that may require authorization. It may be nil.
	Authorize func(server config.Server, at *url.URL, login config.OAuth, way http.RoundTripper) http.RoundTripper
	// Now is the clock; nil means [time.Now].
	Now func() time.Time
	// Memory may be nil. Each hub then finds out the eras of servers itself.
	Memory Memory
	// Tap gets every frame as it was on the wire. It must not keep the bytes.
	Tap func(serverName string, fromServer bool, frame []byte)
	// Leftovers mark the processes of servers; nil marks none.
	Leftovers *leftover.Run
	// Stacks are the goroutines that write answers; see [wire.Options.Stacks].
	Stacks *stack.Pool
	Log    zerolog.Logger
}

// Hub is every configured server.
type Hub struct {
	opts    Options
	network *http.Transport
	starts  turns        // of processes
	idle    atomic.Int64 // the last [Hub.SetIdle]
	// toolTimeout is the last [Hub.SetToolTimeout].
	toolTimeout atomic.Int64

	mu      sync.Mutex // guards the fields below
	closed  bool
	servers []*server // in the order of the configuration
	folders []protocol.WorkspaceFolder
}

// New returns a hub without servers.
func New(opts Options) *Hub {
	opts.Handshake = cmp.Or(opts.Handshake, DefaultHandshake)
	opts.IdlePause = cmp.Or(opts.IdlePause, DefaultIdlePause)
	opts.PollFloor = cmp.Or(opts.PollFloor, mcptask.DefaultFloor)
	opts.Housekeeping = cmp.Or(opts.Housekeeping, DefaultHousekeeping)
	opts.KeepAlive = cmp.Or(opts.KeepAlive, DefaultKeepAlive)
	opts.RootsTimeout = cmp.Or(opts.RootsTimeout, DefaultRootsTimeout)
	if opts.Capabilities == nil {
		opts.Capabilities = func() protocol.FrontEndCapabilities { return protocol.FrontEndCapabilities{} }
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	network := http.DefaultTransport.(*http.Transport).Clone()
	network.Proxy = config.Proxy(opts.Environment.Environ)
	return &Hub{opts: opts, network: network, starts: make(turns, startsAtOnce)}
}

// capabilities returns the capabilities that servers of an era get: those of the front ends.
func (h *Hub) capabilities(era wire.Era, sampling broker.SamplingCapability) *mcp.ClientCapabilities {
	c := &mcp.ClientCapabilities{RootsV2: &mcp.RootCapabilities{ListChanged: era == wire.EraLegacy}}
	if h.opts.Capabilities().Elicitation {
		c.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}
		if h.opts.Capabilities().OpenURL {
			c.Elicitation.URL = &mcp.URLElicitationCapabilities{}
		}
	}
	if era == wire.EraModern {
		c.AddExtension(tasksExtension, nil)
	}
	if h.opts.Capabilities().Sampling {
		c.Sampling = &mcp.SamplingCapabilities{Context: &mcp.SamplingContextCapabilities{}}
		if sampling.Tools {
			c.Sampling.Tools = &mcp.SamplingToolsCapabilities{}
		}
	}
	return c
}

// introduction returns the same capabilities in the form of both eras.
func (h *Hub) introduction(sampling broker.SamplingCapability) wire.Introduction {
	modern := map[string]any{"roots": struct{}{}, "extensions": map[string]any{tasksExtension: struct{}{}}}
	legacy := map[string]any{"roots": map[string]any{"listChanged": true}}
	requests := map[string]any{}
	if h.opts.Capabilities().Elicitation {
		modes := map[string]any{"form": struct{}{}}
		if h.opts.Capabilities().OpenURL {
			modes["url"] = struct{}{}
		}
		modern["elicitation"], legacy["elicitation"] = modes, modes
		requests["elicitation"] = map[string]any{"create": struct{}{}}
	}
	if h.opts.Capabilities().Sampling {
		parts := map[string]any{"context": struct{}{}}
		if sampling.Tools {
			parts["tools"] = struct{}{}
		}
		modern["sampling"], legacy["sampling"] = parts, parts
		requests["sampling"] = map[string]any{"createMessage": struct{}{}}
	}
	if len(requests) > 0 {
		legacy["tasks"] = map[string]any{"list": struct{}{}, "cancel": struct{}{}, "requests": requests}
	}
	return wire.Introduction{Name: h.opts.Client.Name, Version: h.opts.Client.Version, Modern: mustJSON(modern), Legacy: mustJSON(legacy)}
}

// mustJSON encodes a value that can always be encoded.
func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// SetFolders replaces the workspace folders, which are the roots that servers may ask for.
func (h *Hub) SetFolders(folders []protocol.WorkspaceFolder) {
	h.mu.Lock()
	old := h.rootsLocked()
	h.folders = folders
	roots := h.rootsLocked()
	servers := h.servers
	h.mu.Unlock()
	var gone []string
	for _, r := range old {
		if !slices.ContainsFunc(roots, func(n *mcp.Root) bool { return n.URI == r.URI }) {
			gone = append(gone, r.URI)
		}
	}
	for _, s := range servers {
		s.setRoots(gone, roots)
	}
}

func (h *Hub) roots() []*mcp.Root {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rootsLocked()
}

func (h *Hub) rootsLocked() []*mcp.Root {
	roots := []*mcp.Root{}
	for _, f := range h.folders {
		path := filepath.ToSlash(f.Path)
		if !strings.HasPrefix(path, "/") {
			path = "/" + path // a Windows drive
		}
		roots = append(roots, &mcp.Root{URI: (&url.URL{Scheme: "file", Path: path}).String(), Name: f.Name})
	}
	return roots
}

// Configure replaces the configuration. It stops the servers that are gone or differ, leaves the others, and returns the
// new list.
func (h *Hub) Configure(configured []config.Server) []protocol.Server {
	h.mu.Lock()
	old := map[string]*server{}
	for _, s := range h.servers {
		old[s.config.Name] = s
	}
	h.servers = nil
	for _, c := range configured {
		s := old[c.Name]
		if s != nil && reflect.DeepEqual(s.config, c) {
			delete(old, c.Name)
		} else {
			s = newServer(h, c)
		}
		h.servers = append(h.servers, s)
	}
	h.mu.Unlock()

	for _, s := range old {
		s.retire(stoppedError{"its configuration has changed", protocol.OutcomeServerLost})
	}
	return h.Servers()
}

// Servers returns every configured server.
func (h *Hub) Servers() []protocol.Server {
	h.mu.Lock()
	defer h.mu.Unlock()
	infos := make([]protocol.Server, len(h.servers))
	for i, s := range h.servers {
		infos[i] = s.info()
	}
	return infos
}

// notConfigured is the identity of a server that is not configured. No configured server has it.
const notConfigured = "not configured"

// Identity returns the [config.Server.Identity] of a server, which is a hash of its whole definition, and its
// [protocol.Server.Command].
func (h *Hub) Identity(ctx context.Context, name string) (identity, command string) {
	s, err := h.server(name)
	if err != nil {
		return notConfigured, ""
	}
	return s.config.Identity(ctx, h.opts.Environment), s.info().Command
}

// Confirm blocks until a server may run as it is configured; see [Options.Confirm]. It does not start the server. The
// error is an [UnusableError] if the server may not run.
func (h *Hub) Confirm(ctx context.Context, name string) error {
	s, err := h.server(name)
	if err != nil {
		return err
	}
	if err := s.confirm(ctx); err != nil {
		return failed(name, reason.Of(err))
	}
	return nil
}

// Stop ends every connection to a server.
func (h *Hub) Stop(name string) (protocol.Server, error) {
	s, err := h.server(name)
	if err != nil {
		return protocol.Server{}, err
	}
	s.stop(stoppedError{"it was stopped", protocol.OutcomeServerLost})
	return s.info(), nil
}

// Restart ends every connection to a server and opens a new one.
func (h *Hub) Restart(ctx context.Context, name string) (protocol.Server, error) {
	s, err := h.server(name)
	if err != nil {
		return protocol.Server{}, err
	}
	s.stop(stoppedError{"it was restarted", protocol.OutcomeServerLost})
	return s.startedByPerson(ctx)
}

// CloseTask ends a task's connections.
func (h *Hub) CloseTask(taskID string) {
	h.mu.Lock()
	servers := h.servers
	h.mu.Unlock()
	for _, s := range servers {
		s.closeTask(taskID)
	}
}

// LongestClose is how long [Hub.Close] takes at most if servers do not end by themselves. Close sends the answers and
// cancellations that are still due, cancels MCP tasks without a waiting call, and ends processes.
const LongestClose = lastWords + farewell + wire.LongestClose

// Close ends every connection, and refuses new ones. It returns when all processes have ended, within [LongestClose].
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	servers := h.servers
	h.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range servers {
		wg.Go(func() { s.retire(stoppedError{"Assent is closing", protocol.OutcomeRestarted}) })
	}
	wg.Wait()
	h.network.CloseIdleConnections()
}

func (h *Hub) server(name string) (*server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errors.New("the hub is closed")
	}
	for _, s := range h.servers {
		if s.config.Name == name {
			return s, nil
		}
	}
	return nil, protocol.Errorf(protocol.CodeUnknownServer,
		"no MCP server %q is configured: see .vscode/mcp.json and the setting assent.servers", name)
}

// UnusableError says that a server cannot be used. It wraps a [protocol.Error] for front ends.
type UnusableError struct {
	// Why is a sentence for the person, like [protocol.Server.Reason].
	Why string
	err *protocol.Error
}

// Error implements error. The text names the server.
func (e *UnusableError) Error() string { return e.err.Error() }

// Unwrap returns the [protocol.Error].
func (e *UnusableError) Unwrap() error { return e.err }

// failed is the error of a server that cannot be used.
func failed(name, reason string) error {
	return &UnusableError{
		Why: diagnose.Sentence(reason),
		err: protocol.Errorf(protocol.CodeServerFailed, "the MCP server %q cannot be used: %s", name, reason),
	}
}
