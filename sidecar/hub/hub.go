// Package hub is the door to the configured MCP servers: it calls their tools, reads their lists, and starts and stops them.
//
// A server is two things here: its connections (package session), and the exchanges with it (package exchange). The hub adds
// the registry, the configuration, and the lists, which it keeps for as long as the server allows. No package above the hub
// knows of eras or transports.
//
// All methods of a [Hub] may be called from any goroutine. Calls block until the server has answered, their
// context ends, or the connection ends. [Hub.Close] ends every process and returns when all have ended.
package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"assent/protocol"
	"assent/sidecar/base/nearest"
	"assent/sidecar/base/reason"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/config"
	"assent/sidecar/hub/exchange"
	"assent/sidecar/hub/session"
	"assent/sidecar/wire/mcptask"
)

// DefaultIdlePause is the first pause after an InputRequiredResult without a question. It grows with each further one in a
// row.
const DefaultIdlePause = 200 * time.Millisecond

// DefaultHandshake is how long a server's start may take.
const DefaultHandshake = session.DefaultHandshake

// Hooks connect a call with its caller.
type Hooks = exchange.Hooks

// UnusableError says that a server cannot be used.
type UnusableError = session.UnusableError

// Broker is the part of [broker.Broker] that the hub needs.
type Broker interface {
	exchange.Broker
	DeclareSampling(ctx context.Context, serverName string) broker.SamplingCapability
}

// Options are what a hub needs.
type Options struct {
	session.Options
	Broker Broker
	// Task finds the task that a connection belongs to.
	Task func(id string) (attribution.Task, error)
	// ListChanged gets the lists that a server says have changed. It must not call the hub.
	ListChanged func(serverName string, kind protocol.ListKind)
	// ResourceUpdated gets the resources that a server says have changed, as the params of its notification. It must not call
	// the hub, and may be nil.
	ResourceUpdated func(serverName string, params json.RawMessage)
	// IdlePause: 0 means [DefaultIdlePause].
	IdlePause time.Duration
	// PollFloor is the shortest pause between two polls of an MCP task; 0 means [mcptask.DefaultFloor].
	PollFloor time.Duration
	// Now is the clock; nil means [time.Now].
	Now func() time.Time
}

// Hub is every configured server.
type Hub struct {
	dialer      *session.Dialer
	exchanges   exchange.Options
	listChanged func(serverName string, kind protocol.ListKind)
	// resourceUpdated is not nil.
	resourceUpdated func(serverName string, params json.RawMessage)
	environment     config.Environment
	// toolTimeout is the last [Hub.SetToolTimeout].
	toolTimeout atomic.Int64
	// ending has the names of the servers that Close waits for.
	ending sync.Map

	mu       sync.Mutex // guards the fields below
	closed   bool
	servers  []*server // in the order of the configuration
	sources  []config.Source
	problems []protocol.ConfigProblem
}

// New returns a hub without servers.
func New(opts Options) *Hub {
	if opts.Capabilities == nil {
		opts.Capabilities = func() protocol.FrontEndCapabilities { return protocol.FrontEndCapabilities{} }
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	opts.CallsTools = func(ctx context.Context, serverName string) bool {
		return opts.Broker.DeclareSampling(ctx, serverName).Tools
	}
	if opts.ResourceUpdated == nil {
		opts.ResourceUpdated = func(string, json.RawMessage) {}
	}
	h := &Hub{
		dialer: session.NewDialer(opts.Options), listChanged: opts.ListChanged, resourceUpdated: opts.ResourceUpdated, environment: opts.Environment,
	}
	h.exchanges = exchange.Options{
		Broker: opts.Broker, Task: opts.Task, Capabilities: opts.Capabilities,
		ToolTimeout: func() time.Duration { return time.Duration(h.toolTimeout.Load()) },
		IdlePause:   cmp.Or(opts.IdlePause, DefaultIdlePause), PollFloor: cmp.Or(opts.PollFloor, mcptask.DefaultFloor),
		Now: opts.Now, Log: opts.Log,
	}
	return h
}

// SetIdle sets for how long a connection may be unused before it is closed; see [session.Dialer.SetIdle].
func (h *Hub) SetIdle(after time.Duration) {
	h.dialer.SetIdle(after)
	for _, s := range h.all() {
		s.UpdateIdle()
	}
}

// SetToolTimeout sets for how long a call of a tool may have neither a result nor progress; 0 means for ever. A timeout in
// the server's own configuration comes first. The time in which the server waits for a person is not counted. Calls
// under way keep their limit.
func (h *Hub) SetToolTimeout(limit time.Duration) { h.toolTimeout.Store(int64(limit)) }

// all returns every configured server.
func (h *Hub) all() []*server {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.servers
}

// SetFolders replaces the workspace folders, which are the roots that servers may ask for.
func (h *Hub) SetFolders(folders []protocol.WorkspaceFolder) {
	gone, roots := h.dialer.SetFolders(folders)
	for _, s := range h.all() {
		s.SetRoots(gone, roots)
	}
}

// SetSources sets the places where the configuration was looked for, and the problems with them. An error for an unknown server
// says both.
func (h *Hub) SetSources(sources []config.Source, problems []protocol.ConfigProblem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sources, h.problems = sources, problems
}

// HostRootsChanged tells the servers of a host's task that the host's roots have changed.
func (h *Hub) HostRootsChanged(taskID string) {
	for _, s := range h.all() {
		s.HostRootsChanged(taskID)
	}
}

// Configure replaces the configuration. It stops the servers that are gone or differ, leaves the others, and returns the
// new list. Hidden servers can be used by their names and are in no list.
func (h *Hub) Configure(configured []config.Server) []protocol.Server {
	h.mu.Lock()
	old := map[string]*server{}
	for _, s := range h.servers {
		old[s.name()] = s
	}
	h.servers = nil
	for _, c := range configured {
		s := old[c.Name]
		if s != nil && reflect.DeepEqual(*s.Config(), c) {
			delete(old, c.Name)
		} else {
			s = newServer(h, c)
		}
		h.servers = append(h.servers, s)
	}
	h.mu.Unlock()

	for _, s := range old {
		s.retire(session.Stopped{Reason: "its configuration has changed", Asks: protocol.OutcomeServerLost})
	}
	return h.Servers()
}

// Servers returns every configured server that is not hidden.
func (h *Hub) Servers() []protocol.Server {
	infos := []protocol.Server{}
	for _, s := range h.all() {
		if !s.Config().Hidden {
			infos = append(infos, s.Info())
		}
	}
	return infos
}

// HiddenBy returns the person's own server that a workspace's server hides; nil if it hides none.
func (h *Hub) HiddenBy(name string) *config.Server {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.servers {
		if c := s.Config(); c.Hidden && c.NameInSource() == name {
			return c
		}
	}
	return nil
}

// Own returns the name in the hub of the person's own server with this name, which a workspace's server may hide.
func (h *Hub) Own(name string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.servers {
		if s.Config().Own && s.Config().NameInSource() == name {
			return s.name(), nil
		}
	}
	return "", h.unknownLocked(name, true)
}

// Definition returns a server as it is configured.
func (h *Hub) Definition(name string) (config.Server, error) {
	s, err := h.server(name)
	if err != nil {
		return config.Server{}, err
	}
	return *s.Config(), nil
}

// notConfigured is the identity of a server that is not configured. No configured server has it.
const notConfigured = "not configured"

// Identity returns the [config.Server.Identity] of a server, which is a hash of its whole definition, and its
// [protocol.Server.Command].
func (h *Hub) Identity(name string) (identity, command string) {
	s, err := h.server(name)
	if err != nil {
		return notConfigured, ""
	}
	return s.identity(), s.Info().Command
}

// Confirm blocks until a server may run as it is configured; see [session.Options.Confirm]. It does not start the server. The
// error is an [UnusableError] if the server may not run.
func (h *Hub) Confirm(ctx context.Context, name string) error {
	s, err := h.server(name)
	if err != nil {
		return err
	}
	if err := s.Server.Confirm(ctx); err != nil {
		return session.Failed(name, reason.Of(err))
	}
	return nil
}

// StopIf stops each server that runs or starts, and for which why returns the reason that its calls and asks end with.
func (h *Hub) StopIf(why func(name string) (reason string, stop bool)) {
	var stopping sync.WaitGroup
	for _, s := range h.all() {
		if state := s.Info().State; state != protocol.ServerRunning && state != protocol.ServerStarting {
			continue
		}
		if reason, stop := why(s.name()); stop {
			stopping.Go(func() { s.Server.Stop(session.Stopped{Reason: reason, Asks: protocol.OutcomeServerLost}) })
		}
	}
	stopping.Wait()
}

// Stop ends every connection to a server.
func (h *Hub) Stop(name string) (protocol.Server, error) {
	s, err := h.server(name)
	if err != nil {
		return protocol.Server{}, err
	}
	s.Server.Stop(session.Stopped{Reason: "it was stopped", Asks: protocol.OutcomeServerLost})
	return s.Info(), nil
}

// Restart ends every connection to a server and opens a new one.
func (h *Hub) Restart(ctx context.Context, name string) (protocol.Server, error) {
	s, err := h.server(name)
	if err != nil {
		return protocol.Server{}, err
	}
	s.Server.Stop(session.Stopped{Reason: "it was restarted", Asks: protocol.OutcomeServerLost})
	return s.Server.Start(ctx)
}

// CloseTask ends a task's connections.
func (h *Hub) CloseTask(taskID string) {
	for _, s := range h.all() {
		s.CloseTask(taskID)
	}
}

// LongestClose is how long [Hub.Close] takes at most if servers do not end by themselves. Close sends the answers and
// cancellations that are still due, cancels MCP tasks without a waiting call, and ends processes.
const LongestClose = session.LongestClose + exchange.LongestClose

// Close ends every connection, and refuses new ones. It returns when all processes have ended, within [LongestClose].
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	servers := h.servers
	h.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range servers {
		h.ending.Store(s.name(), true)
		wg.Go(func() {
			defer h.ending.Delete(s.name())
			s.retire(session.Stopped{Reason: "Assent is closing", Asks: protocol.OutcomeRestarted})
		})
	}
	wg.Wait()
	h.dialer.Close()
}

// Ending returns the names of the servers that [Hub.Close] waits for.
func (h *Hub) Ending() []string {
	var names []string
	h.ending.Range(func(name, _ any) bool {
		names = append(names, name.(string))
		return true
	})
	return names
}

func (h *Hub) server(name string) (*server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errClosed
	}
	for _, s := range h.servers {
		if s.name() == name {
			return s, nil
		}
	}
	return nil, h.unknownLocked(name, false)
}

// unknownLocked is the error for a server that is not configured, or not as the person's own.
func (h *Hub) unknownLocked(name string, own bool) error {
	text := fmt.Sprintf("no MCP server %q is configured", name)
	if own {
		text = fmt.Sprintf("you have no MCP server %q of your own", name)
	}
	var names, places, faults []string
	for _, s := range h.servers {
		if s.Config().Own || !own {
			names = append(names, s.Config().NameInSource())
		}
	}
	for _, source := range h.sources {
		if own && !source.Own {
			continue
		}
		place := source.Name
		if place == config.SettingsSource {
			place = "the setting assent.servers"
		}
		places = append(places, place)
		for _, p := range h.problems {
			switch fault := fmt.Sprintf("; %s: %s", place, p.Message); {
			case p.Source != source.Name:
			case strings.Contains(p.Message, fmt.Sprintf("server %q", name)):
				return protocol.Errorf(protocol.CodeUnknownServer, "the MCP server %q is configured, and cannot be used%s", name, fault)
			case !strings.Contains(p.Message, `server "`): // or it is of another server
				faults = append(faults, fault)
			}
		}
	}
	if near := nearest.Name(name, names); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	if len(places) > 0 {
		text += " (looked in " + strings.Join(places, ", ") + ")"
	}
	return protocol.Errorf(protocol.CodeUnknownServer, "%s%s", text, strings.Join(faults, ""))
}

// CallTool calls a tool for a task, and returns how the call ended. The end of ctx cancels the call. The result is nil if
// Assent closes and the next sidecar continues the call: an MCP task, see [Hub.ResumeTool], or a round of questions.
func (h *Hub) CallTool(ctx context.Context, taskID, serverName, toolName string, arguments json.RawMessage, hooks Hooks) protocol.CallResult {
	return h.call(serverName, hooks.Resume != nil, func(s *server) protocol.CallResult {
		return s.checked(toolName, s.CallTool(ctx, taskID, toolName, arguments, hooks))
	})
}

// ResumeTool follows the MCP task that a call of an earlier sidecar became, or one from the server's list. The tool of
// the latter is unknown, so toolName is empty. The result is nil if Assent closes before the task ends.
func (h *Hub) ResumeTool(ctx context.Context, taskID, serverName, toolName string, known protocol.McpTask, hooks Hooks) protocol.CallResult {
	return h.call(serverName, true, func(s *server) protocol.CallResult {
		return s.checked(toolName, s.ResumeTool(ctx, taskID, toolName, known, hooks))
	})
}

// ReadResource reads a resource for a task.
func (h *Hub) ReadResource(ctx context.Context, taskID, serverName, uri string, hooks Hooks) protocol.CallResult {
	return h.call(serverName, hooks.Resume != nil, func(s *server) protocol.CallResult { return s.ReadResource(ctx, taskID, uri, hooks) })
}

// GetPrompt fills in a prompt for a task.
func (h *Hub) GetPrompt(ctx context.Context, taskID, serverName, promptName string, arguments map[string]string, hooks Hooks) protocol.CallResult {
	return h.call(serverName, hooks.Resume != nil, func(s *server) protocol.CallResult { return s.GetPrompt(ctx, taskID, promptName, arguments, hooks) })
}

// errClosed is the error of requests after [Hub.Close].
var errClosed = errors.New("the program is closing")

// call runs an exchange with a server. If Assent is closing, the next sidecar continues an exchange
// that an earlier one began.
func (h *Hub) call(serverName string, resumed bool, run func(s *server) protocol.CallResult) protocol.CallResult {
	s, err := h.server(serverName)
	if resumed && errors.Is(err, errClosed) {
		return nil
	}
	if err != nil {
		return exchange.CallFailure(serverName, err)
	}
	return run(s)
}

// ListTasks returns the MCP tasks that servers list (2025-11-25, "Tasks: Listing Tasks"), in the order of
// the configuration, and why some lists are incomplete. It asks only the servers that may be asked. See
// [exchange.Exchanges.ListTasks].
func (h *Hub) ListTasks(ctx context.Context, may func(server string) bool) ([]protocol.ServerMcpTask, []protocol.ServerMcpTasksProblem) {
	var servers []*server
	for _, s := range h.all() {
		if may(s.name()) {
			servers = append(servers, s)
		}
	}
	lists := make([]exchange.TaskList, len(servers))
	var asking sync.WaitGroup
	for i, s := range servers {
		asking.Go(func() { lists[i] = s.ListTasks(ctx) })
	}
	asking.Wait()
	var tasks []protocol.ServerMcpTask
	var problems []protocol.ServerMcpTasksProblem
	for i, list := range lists {
		tasks = append(tasks, list.Tasks...)
		for _, problem := range list.Problems {
			problems = append(problems, protocol.ServerMcpTasksProblem{ServerName: servers[i].name(), Message: problem})
		}
	}
	return tasks, problems
}

// GetTask asks a server for one of its MCP tasks; see [exchange.Exchanges.GetTask].
func (h *Hub) GetTask(ctx context.Context, serverName, id string) (*protocol.ServerMcpTask, error) {
	s, err := h.server(serverName)
	if err != nil {
		return nil, err
	}
	t, err := s.GetTask(ctx, id)
	return t, s.listError(ctx, err)
}

// Start connects to a server if there is no connection. A person who refused to run the server is asked again.
func (h *Hub) Start(ctx context.Context, name string) (protocol.Server, error) {
	s, err := h.server(name)
	if err != nil {
		return protocol.Server{}, err
	}
	return s.Server.Start(ctx)
}

// Inspect returns the known facts about a server, and why it does not start; see [diagnose.Machine.Inspect]. It starts nothing.
// The result may contain secrets, which the caller must mask.
func (h *Hub) Inspect(ctx context.Context, name string) (*protocol.ServerInspection, error) {
	s, err := h.server(name)
	if err != nil {
		return nil, err
	}
	now := s.Snapshot()
	now.Counts, now.Calls = s.lists.counted(), s.UnderWay()
	return h.dialer.Machine().Inspect(ctx, now), nil
}

// IsRunning reports whether a connection to a server is ready.
func (h *Hub) IsRunning(name string) bool {
	s, err := h.server(name)
	return err == nil && s.Server.IsRunning()
}
