// Package chat serves a person's actions in a task: it talks to a model, which uses the servers' tools and
// resources as far as the person allows it; it calls tools, reads resources, fills in prompts, and cancels all
// of these.
//
// A [Chat] owns a goroutine for each call and for each turn. Close waits for all of them. A Chat may be used
// from any goroutine.
package chat

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/base/reason"
	"assent/sidecar/broker"
	"assent/sidecar/broker/form"
	"assent/sidecar/hub"
	"assent/sidecar/model"
	"assent/sidecar/task"
)

// Servers sends a task's requests to a server, and returns their results.
type Servers interface {
	Servers() []protocol.Server
	// Confirm blocks until the person has decided whether a server may run. The error says why it may
	// not.
	Confirm(ctx context.Context, serverName string) error
	Tools(ctx context.Context, serverName string) ([]protocol.Tool, error)
	// KnownTool returns a tool from the list that was read last, or nil.
	KnownTool(serverName, toolName string) *protocol.Tool
	Resources(ctx context.Context, serverName string) ([]protocol.Resource, error)
	ResourceTemplates(ctx context.Context, serverName string) ([]protocol.ResourceTemplate, error)
	CallTool(ctx context.Context, taskID, serverName, toolName string, arguments json.RawMessage, hooks hub.Hooks) protocol.CallResult
	ResumeTool(ctx context.Context, taskID, serverName, toolName string, known protocol.McpTask, hooks hub.Hooks) protocol.CallResult
	ReadResource(ctx context.Context, taskID, serverName, uri string, hooks hub.Hooks) protocol.CallResult
	GetPrompt(ctx context.Context, taskID, serverName, promptName string, arguments map[string]string, hooks hub.Hooks) protocol.CallResult
}

// Models is the part of [model.Set] that a conversation needs.
type Models interface {
	Find(ctx context.Context, id string) (*protocol.Model, error)
	Converse(ctx context.Context, id string, request *protocol.McpSamplingRequest, emit func(string)) (*model.Completion, error)
}

// Approver is the part of [broker.Broker] that asks whether a model may make a call.
type Approver interface {
	UseTool(ctx context.Context, t broker.Asker, taskID string, q protocol.UseMcpTool) (json.RawMessage, error)
	AccessResource(ctx context.Context, t broker.Asker, taskID string, q protocol.AccessMcpResource) error
}

// Options are what a chat needs.
type Options struct {
	Tasks   *task.Registry
	Servers Servers
	// Models returns the models as they are configured now.
	Models   func() Models
	Approver Approver
	// Settings returns the current settings for conversations; nil means the defaults.
	Settings func() protocol.ChatSettings
	// Apps reports whether a front end can show MCP Apps; nil means that none can.
	Apps func() bool
	Log  zerolog.Logger
}

// Chat holds the calls and turns of all tasks.
type Chat struct {
	opts    Options
	tasks   *task.Registry
	servers Servers

	wg sync.WaitGroup // the calls, turns and readings; grows under mu only, and not once closed

	mu       sync.Mutex // guards the fields below
	closed   bool
	running  map[callKey]*run
	turns    map[string]*turn    // those under way, by task id
	readings map[string]*reading // those under way, by server
	// unawaited holds the servers that no turn waits for: the person skipped them, or their last reading took too long. The
	// next list of such a server, or a retry of the person, has turns wait again.
	unawaited map[string]bool
	// told holds, by task id, the servers that the task's last notice listed as unavailable.
	told map[string]map[string]bool
	// scripted holds the ids of the tasks that have the notice of the demo script.
	scripted map[string]bool
}

// run is a call under way.
type run struct {
	cancel context.CancelCauseFunc
	// isTask is set once the call is an MCP task, and asked once its cancellation was requested.
	isTask bool
	asked  chan struct{}
	once   sync.Once // closes asked
	// run runs the call to its end. It is called once.
	run func()
	// done is closed when the call has ended here. The result is then set, or nil if a later sidecar
	// continues the call.
	done   chan struct{}
	result protocol.CallResult
}

// stop cancels a call. The first time, it asks the server of an MCP task to cancel. The second time, it
// does not wait for the server's answer. The chat's lock must be held.
func (r *run) stop() {
	if r.isTask {
		first := false
		r.once.Do(func() { close(r.asked); first = true })
		if first {
			return
		}
	}
	r.cancel(nil)
}

type callKey struct {
	taskID    string
	messageID int64
}

// New returns a chat without calls or turns.
func New(opts Options) *Chat {
	if opts.Settings == nil {
		opts.Settings = func() protocol.ChatSettings { return protocol.ChatSettings{} }
	}
	if opts.Apps == nil {
		opts.Apps = func() bool { return false }
	}
	return &Chat{
		opts: opts, tasks: opts.Tasks, servers: opts.Servers,
		running: map[callKey]*run{}, turns: map[string]*turn{},
		readings: map[string]*reading{}, unawaited: map[string]bool{}, told: map[string]map[string]bool{},
		scripted: map[string]bool{},
	}
}

// StartCall starts a call; see [protocol.Sidecar.StartCall].
func (c *Chat) StartCall(ctx context.Context, params *protocol.StartCallParams) (*protocol.StartCallResult, error) {
	request, err := checkRequest(params.Request)
	if err != nil {
		return nil, err
	}
	t, err := c.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errUnavailable()
	}
	if found, ok := request.(protocol.TaskResultRequest); ok {
		return c.follow(t, params.ServerName, found)
	}
	request = c.titled(params.ServerName, request)
	id, err := t.StartCall(params.ServerName, request)
	if err != nil {
		return nil, err
	}
	known := c.recordApp(t, id, params.ServerName, request)
	c.begin(t, id, false, t.EndCall, func(ctx context.Context, hooks hub.Hooks) protocol.CallResult {
		result := c.call(ctx, params.TaskID, params.ServerName, request, hooks)
		if !known {
			c.findApp(ctx, t, id, params.ServerName, request)
		}
		return result
	})
	return &protocol.StartCallResult{MessageID: id}, nil
}

// enter has Close wait for a call until c.wg.Done. It fails once Close was called.
func (c *Chat) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errUnavailable()
	}
	c.wg.Add(1)
	return nil
}

// Serve makes a call of a host, as a call of a task, and returns when it has ended. If ctx ends, Serve cancels the
// call, and still waits for its end.
func (c *Chat) Serve(ctx context.Context, taskID, serverName string, request protocol.CallRequest, call func(context.Context, hub.Hooks) protocol.CallResult) error {
	t, err := c.tasks.Get(taskID)
	if err != nil {
		return err
	}
	if err := c.enter(); err != nil {
		return err
	}
	defer c.wg.Done()
	id, err := t.StartHostCall(serverName, c.titled(serverName, request)) // without the lock, so that several calls are saved together
	if err != nil {
		return err
	}
	return c.serve(ctx, t, id, false, t.EndHostCall, call)
}

// Continue is as Serve, for a call of a host that an earlier sidecar left unfinished. [Chat.Resume] has to know of it.
func (c *Chat) Continue(ctx context.Context, u task.Unfinished, call func(context.Context, hub.Hooks) protocol.CallResult) error {
	if err := c.enter(); err != nil {
		return err
	}
	defer c.wg.Done()
	return c.serve(ctx, u.Task, u.MessageID, u.Call.Task != nil, u.Task.EndHostCall, func(ctx context.Context, hooks hub.Hooks) protocol.CallResult {
		hooks.Resume, hooks.Known = u.Round, u.Call.Task
		return call(ctx, hooks)
	})
}

// serve runs a call of a host or an app to its end.
func (c *Chat) serve(ctx context.Context, t *task.Task, id int64, isTask bool, ended func(int64, protocol.CallResult), call func(context.Context, hub.Hooks) protocol.CallResult) error {
	c.mu.Lock()
	r := c.newRun(t, id, isTask, ended, call)
	if c.closed || t.IsClosed() { // since it was begun
		r.cancel(nil)
	}
	c.mu.Unlock()
	stop := context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		r.stop()
	})
	defer stop()
	r.run()
	return nil
}

// follow follows an MCP task from a server's list, as if an earlier sidecar had started it. The lock
// must be held.
func (c *Chat) follow(t *task.Task, serverName string, found protocol.TaskResultRequest) (*protocol.StartCallResult, error) {
	held, err := c.tasks.HoldsMcpTask(context.Background(), serverName, found.McpTaskID)
	if err != nil {
		return nil, err
	}
	if held {
		return nil, protocol.Errorf(protocol.CodeInvalidParams,
			"the MCP task %q of the server %q belongs to a call already: see the list of MCP tasks", found.McpTaskID, serverName)
	}
	id, known, err := t.FollowMcpTask(serverName, found)
	if err != nil {
		return nil, err
	}
	c.resume(t, id, serverName, "", known)
	return &protocol.StartCallResult{MessageID: id}, nil
}

// resume follows an MCP task to its end. The lock must be held.
func (c *Chat) resume(t *task.Task, messageID int64, serverName, toolName string, known protocol.McpTask) {
	c.begin(t, messageID, true, t.EndCall, func(ctx context.Context, hooks hub.Hooks) protocol.CallResult {
		return c.servers.ResumeTool(ctx, t.ID(), serverName, toolName, known, hooks)
	})
}

// begin begins a call, and returns at once. The call runs to its end, and its result is passed to ended. The lock must be
// held.
func (c *Chat) begin(t *task.Task, messageID int64, isTask bool, ended func(int64, protocol.CallResult), call func(context.Context, hub.Hooks) protocol.CallResult) *run {
	r := c.newRun(t, messageID, isTask, ended, call)
	c.wg.Go(r.run)
	return r
}

// newRun returns a call that can be cancelled already. The caller runs it. The lock must be held.
func (c *Chat) newRun(t *task.Task, messageID int64, isTask bool, ended func(int64, protocol.CallResult), call func(context.Context, hub.Hooks) protocol.CallResult) *run {
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &run{cancel: cancel, isTask: isTask, asked: make(chan struct{}), done: make(chan struct{})}
	key := callKey{t.ID(), messageID}
	c.running[key] = r
	hooks := hub.Hooks{
		MessageID: messageID,
		Progress:  func(p protocol.Progress) { t.CallProgress(messageID, p) },
		Task: func(mcpTask protocol.McpTask) {
			c.mu.Lock()
			r.isTask = true
			c.mu.Unlock()
			t.CallTask(messageID, mcpTask)
		},
		Round:  func(round *task.Round) { t.CallRound(messageID, round) },
		Cancel: r.asked,
	}
	r.run = func() {
		result := c.contained(func() protocol.CallResult { return call(ctx, hooks) })
		c.mu.Lock()
		delete(c.running, key)
		goesOn := result == nil || c.closed && r.isTask
		c.mu.Unlock()
		cancel(nil)
		if !goesOn { // the next sidecar continues it
			ended(messageID, result)
			r.result = result
		}
		close(r.done)
	}
	return r
}

// contained makes a call. A panic ends only this call.
func (c *Chat) contained(call func() protocol.CallResult) (result protocol.CallResult) {
	var err error
	defer func() {
		if err != nil {
			result = protocol.CallLost{Reason: reason.Of(err) + "."}
		}
	}()
	defer reason.Panicked(&c.opts.Log, "the call", &err)
	return call()
}

// Resume resumes the calls that were under way when an earlier sidecar ended, if they can continue. It leaves those that
// isTaken reports to [Chat.Continue].
func (c *Chat) Resume(isTaken func(u task.Unfinished) bool) error {
	unfinished, err := c.tasks.Unfinished()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range unfinished {
		if c.closed {
			break
		}
		if c.running[callKey{u.Task.ID(), u.MessageID}] != nil {
			continue // it began after the start
		}
		if isTaken(u) {
			continue
		}
		if u.Round != nil {
			c.begin(u.Task, u.MessageID, false, u.Task.EndCall, func(ctx context.Context, hooks hub.Hooks) protocol.CallResult {
				hooks.Resume = u.Round
				return c.call(ctx, u.Task.ID(), u.Call.ServerName, u.Call.Request, hooks)
			})
			continue
		}
		switch r := u.Call.Request.(type) {
		case protocol.CallToolRequest:
			c.resume(u.Task, u.MessageID, u.Call.ServerName, r.ToolName, *u.Call.Task)
		case protocol.TaskResultRequest:
			c.resume(u.Task, u.MessageID, u.Call.ServerName, "", *u.Call.Task)
		}
	}
	return nil
}

// maxTaskTTL bounds the lifetime that a server is asked for, for an MCP task.
const maxTaskTTL = 10 * 365 * 24 * time.Hour

// checkRequest refuses invalid requests, and fills in defaults.
func checkRequest(request protocol.CallRequest) (protocol.CallRequest, error) {
	if found, ok := request.(protocol.TaskResultRequest); ok && found.McpTaskID == "" {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "mcpTaskId must not be empty")
	}
	tool, ok := request.(protocol.CallToolRequest)
	if !ok {
		return request, nil
	}
	if tool.TaskTTL < 0 || tool.TaskTTL > maxTaskTTL.Milliseconds() {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "taskTtl must be from 0 to %d", maxTaskTTL.Milliseconds())
	}
	if tool.ArgumentsText != "" {
		tool.Arguments = json.RawMessage(strings.TrimSpace(tool.ArgumentsText))
		if !json.Valid(tool.Arguments) {
			return nil, protocol.Errorf(protocol.CodeInvalidParams, "argumentsText is not JSON")
		}
	}
	if len(tool.Arguments) == 0 {
		tool.Arguments = json.RawMessage("{}")
	}
	if tool.Arguments[0] != '{' {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "arguments must be a JSON object")
	}
	return withText(tool), nil
}

// titled returns a call with the title of its tool, if the list of the server was read by now.
func (c *Chat) titled(serverName string, request protocol.CallRequest) protocol.CallRequest {
	tool, ok := request.(protocol.CallToolRequest)
	if !ok {
		return request
	}
	return withTitle(tool, c.servers.KnownTool(serverName, tool.ToolName))
}

// withTitle returns a call with the title of its tool, which may be nil.
func withTitle(request protocol.CallToolRequest, tool *protocol.Tool) protocol.CallToolRequest {
	request.Title = ""
	if tool != nil && tool.Title != tool.Name {
		request.Title = task.TitleOf(tool.Title)
	}
	return request
}

// withText returns a call with the text of its arguments, if front ends need it.
func withText(tool protocol.CallToolRequest) protocol.CallToolRequest {
	tool.ArgumentsText = ""
	if !form.IsExact(tool.Arguments) {
		tool.ArgumentsText = string(tool.Arguments)
	}
	return tool
}

func (c *Chat) call(ctx context.Context, taskID, serverName string, request protocol.CallRequest, hooks hub.Hooks) protocol.CallResult {
	switch r := request.(type) {
	case protocol.ReadResourceRequest:
		return c.servers.ReadResource(ctx, taskID, serverName, r.URI, hooks)
	case protocol.GetPromptRequest:
		return c.servers.GetPrompt(ctx, taskID, serverName, r.PromptName, r.Arguments, hooks)
	case protocol.CallToolRequest:
		hooks.TaskTTL = time.Duration(r.TaskTTL) * time.Millisecond
		return c.servers.CallTool(ctx, taskID, serverName, r.ToolName, r.Arguments, hooks)
	}
	return protocol.CallLost{Reason: "Assent does not know this kind of call."}
}

// CancelCall cancels a call and reports whether it was running.
func (c *Chat) CancelCall(taskID string, messageID int64) (bool, error) {
	if _, err := c.tasks.Get(taskID); err != nil {
		return false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.running[callKey{taskID, messageID}]
	if r == nil {
		return false, nil
	}
	r.stop()
	return true, nil
}

// CancelTask cancels every call of a task, and the turn that is under way.
func (c *Chat) CancelTask(taskID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if turn := c.turns[taskID]; turn != nil {
		turn.stop("The task was closed.")
	}
	for key, r := range c.running {
		if key.taskID == taskID {
			r.cancel(nil)
		}
	}
}

// Close cancels every call, every turn and every reading, and returns when all have ended.
func (c *Chat) Close() {
	c.mu.Lock()
	c.closed = true
	for _, turn := range c.turns {
		turn.cancel(errClosing)
	}
	for _, r := range c.running {
		r.cancel(nil)
	}
	for _, r := range c.readings {
		r.cancel()
	}
	c.mu.Unlock()
	c.wg.Wait()
}
