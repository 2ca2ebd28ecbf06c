// Package chat does what a person does in a task: it runs tools there, reads resources, fills in
// prompts, and cancels all of these.
//
// A [Chat] owns the goroutine of every call; each ends with its call, and Close waits for all of
// them. It may be used from any goroutine.
package chat

import (
	"context"
	"encoding/json"
	"sync"

	"assent/protocol"
	"assent/sidecar/task"
)

// Servers does what a task asks of a server, and says how that ended.
type Servers interface {
	CallTool(ctx context.Context, taskID, serverName, toolName string, arguments json.RawMessage, progress func(protocol.Progress)) protocol.CallResult
	ReadResource(ctx context.Context, taskID, serverName, uri string) protocol.CallResult
	GetPrompt(ctx context.Context, taskID, serverName, promptName string, arguments map[string]string) protocol.CallResult
}

// Chat is what goes on in all tasks.
type Chat struct {
	tasks   *task.Registry
	servers Servers

	wg sync.WaitGroup // the calls; grows under mu only, and not once closed

	mu      sync.Mutex // guards the fields below
	closed  bool
	running map[callKey]context.CancelFunc
}

type callKey struct {
	taskID    string
	messageID int64
}

// New returns a chat in which nothing goes on.
func New(tasks *task.Registry, servers Servers) *Chat {
	return &Chat{tasks: tasks, servers: servers, running: map[callKey]context.CancelFunc{}}
}

// StartCall starts a call; see [protocol.Sidecar.StartCall].
func (c *Chat) StartCall(params *protocol.StartCallParams) (*protocol.StartCallResult, error) {
	t, err := c.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	request, err := checkRequest(params.Request)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "Assent is closing")
	}
	id, err := t.StartCall(params.ServerName, request)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	key := callKey{params.TaskID, id}
	c.running[key] = cancel
	c.wg.Go(func() {
		result := c.call(ctx, params.TaskID, params.ServerName, request, func(p protocol.Progress) { t.CallProgress(id, p) })
		c.mu.Lock()
		delete(c.running, key)
		c.mu.Unlock()
		cancel()
		t.EndCall(id, result)
	})
	return &protocol.StartCallResult{MessageID: id}, nil
}

// checkRequest refuses what no server could be asked, and completes the rest.
func checkRequest(request protocol.CallRequest) (protocol.CallRequest, error) {
	tool, ok := request.(protocol.CallToolRequest)
	if !ok {
		return request, nil
	}
	if len(tool.Arguments) == 0 {
		tool.Arguments = json.RawMessage("{}")
	}
	if tool.Arguments[0] != '{' {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "arguments must be a JSON object")
	}
	return tool, nil
}

func (c *Chat) call(ctx context.Context, taskID, serverName string, request protocol.CallRequest, progress func(protocol.Progress)) protocol.CallResult {
	switch r := request.(type) {
	case protocol.ReadResourceRequest:
		return c.servers.ReadResource(ctx, taskID, serverName, r.URI)
	case protocol.GetPromptRequest:
		return c.servers.GetPrompt(ctx, taskID, serverName, r.PromptName, r.Arguments)
	case protocol.CallToolRequest:
		return c.servers.CallTool(ctx, taskID, serverName, r.ToolName, r.Arguments, progress)
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
	cancel := c.running[callKey{taskID, messageID}]
	if cancel == nil {
		return false, nil
	}
	cancel()
	return true, nil
}

// CancelTask cancels every call of a task.
func (c *Chat) CancelTask(taskID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, cancel := range c.running {
		if key.taskID == taskID {
			cancel()
		}
	}
}

// Close cancels every call and returns when all have ended.
func (c *Chat) Close() {
	c.mu.Lock()
	c.closed = true
	for _, cancel := range c.running {
		cancel()
	}
	c.mu.Unlock()
	c.wg.Wait()
}
