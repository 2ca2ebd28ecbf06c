package hosts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"assent/protocol"
	"assent/sidecar/base/visible"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/gateway"
	"assent/sidecar/gateway/mcpserver"
	"assent/sidecar/hub"
	"assent/sidecar/hub/exchange"
	"assent/sidecar/task"
)

// call is a call of a host: a request that the task of its conversation shows.
type call struct {
	hosts *Hosts
	// programs are those of its session; see [upstream.programs].
	programs []string
	request  gateway.Request
	// of is the request as the task shows it.
	of           protocol.CallRequest
	conversation *conversation
	// unfinished is the call of an earlier daemon that goes on; nil for a new one.
	unfinished *task.Unfinished

	hasAsked bool            // a person was asked
	raw      json.RawMessage // the server's result
	result   protocol.CallResult
}

// run makes the call, or goes on with it, and returns the result for the host. One for which a person was asked is saved
// before the host gets it.
func (c *call) run(ctx context.Context) (json.RawMessage, error) {
	h := c.hosts
	var err error
	if c.unfinished != nil {
		err = h.opts.Chat.Continue(ctx, *c.unfinished, c.inTask)
	} else {
		err = h.opts.Chat.Serve(ctx, c.conversation.taskID, c.request.Server, c.of, c.inTask)
	}
	if c.hasAsked {
		h.settle(c.conversation.taskID)
	}
	switch {
	case err != nil:
		return nil, hostError(err)
	case c.raw == nil && c.result == nil:
		return nil, mcpserver.ErrEnded
	}
	return c.raw, endOf(c.result)
}

// inTask makes the call as one of its task, and returns how the task shows its end.
func (c *call) inTask(ctx context.Context, hooks hub.Hooks) protocol.CallResult {
	h, r := c.hosts, c.request
	defer h.listen(c.conversation, hooks.MessageID, c.asking)()
	r.Began(placeOf(c.conversation.taskID, hooks.MessageID))
	if c.unfinished != nil {
		h.askedBefore(c.conversation, *c.unfinished, c.asking)
	}
	save := hooks.Task
	hooks.Task = func(t protocol.McpTask) {
		save(t) // it is saved before the host hears of it
		r.Following(t.StatusMessage)
	}
	hooks.Host = c.hosts.askedHost(c.conversation, r)
	defer h.canAsk(c.conversation, gateway.Roots(r.Client), hooks.Host)()
	ctx, end, err := h.opts.Workspace.Using(ctx, r.Server, c.programs...)
	if err != nil {
		c.result = exchange.CallFailure(r.Server, err)
		return c.result
	}
	defer end()
	if c.raw = c.stopped(ctx, hooks); c.raw == nil {
		c.raw, c.result = h.opts.Hub.Request(ctx, c.conversation.taskID, r.Server, r.Method, r.Params, hooks)
	}
	if c.result == nil && c.raw != nil {
		return h.opts.Hub.ParseResult(r.Server, r.Method, r.Params, c.raw)
	}
	return c.result
}

// stopped returns the result of a call of a tool that has changed, if the person does not let it run; else nil.
func (c *call) stopped(ctx context.Context, hooks hub.Hooks) json.RawMessage {
	use, isTool := c.of.(protocol.CallToolRequest)
	if !isTool || c.unfinished != nil {
		return nil
	}
	return c.hosts.changed.check(ctx, c.conversation.taskID, protocol.UseMcpTool{
		Origin: protocol.Origin{ServerName: c.request.Server, MessageID: hooks.MessageID, ToolNames: []string{use.ToolName}},
		Tool:   protocol.Tool{Name: use.ToolName}, Arguments: use.Arguments, HostName: visible.Line(hooks.Host.Name),
	})
}

// asking hears of the question that is open.
func (c *call) asking(question string) {
	c.hasAsked = true
	c.request.Asking(question)
}

// settle saves the ends of calls of a task.
func (h *Hosts) settle(taskID string) {
	if t, err := h.opts.Tasks.Get(taskID); err == nil { // else it was deleted
		t.Settle()
	}
}

// hostAlone is for how long a question is open in the host alone, if it is to be answered there.
const hostAlone = time.Minute

// askedHost returns the host of a request, as what its server asks may be asked there.
func (h *Hosts) askedHost(c *conversation, r gateway.Request) *attribution.Host {
	host := &attribution.Host{
		LogLevel: r.LogLevel, Notify: r.Notify, Name: gateway.HostTitle(r.Client), Forward: r.AnswerIn == gateway.AnswerInHost || r.AnswerIn == gateway.AnswerInBoth, Hold: r.Hold,
		Ask: func(ctx context.Context, asked *attribution.Request) (json.RawMessage, error) {
			defer h.forward(c, asked.Params)()
			result, err := r.Ask(ctx, gateway.Question{Name: asked.Name, Method: asked.Method, Params: asked.Params}, asked.Slot.Pass)
			if e, ok := errors.AsType[*mcpserver.Error](err); ok && e.Code == codeUserRejected {
				return nil, attribution.ErrHostDeclined
			}
			return result, err
		},
	}
	host.CallsTools = gateway.CallsTools(r.Client)
	if r.AnswerIn == gateway.AnswerInHost {
		host.HeadStart, host.Capabilities = hostAlone, r.Client.Capabilities
	}
	return host
}

// forward notes that the host of a conversation is asked something, until the result is called.
func (h *Hosts) forward(c *conversation, params json.RawMessage) (done func()) {
	var p struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(params, &p) != nil {
		return func() {}
	}
	count := func(change int) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if c.forwarded[p.Message] += change; c.forwarded[p.Message] == 0 {
			delete(c.forwarded, p.Message)
		}
	}
	count(1)
	return func() { count(-1) }
}

// Forwarded reports whether a host is asked now, in a conversation that it names, what a server of Assent asked with a message.
func (h *Hosts) Forwarded(client mcpserver.Client, name, message string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := gateway.ConversationNamed("", gateway.HostTitle(client), name)
	c := cmp.Or(h.conversations[key], h.tasks[key])
	return c != nil && c.forwarded[message] > 0
}

// codeUserRejected is a host's error for a sampling request that its person refused (2025-11-25, "Sampling").
const codeUserRejected = -1

// callRequest returns the call that a host's request is, or nil if it is none that a task shows.
func callRequest(method string, params json.RawMessage) protocol.CallRequest {
	var p struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(params, &p) != nil {
		return nil
	}
	switch method {
	case "tools/call":
		if len(p.Arguments) == 0 {
			p.Arguments = json.RawMessage("{}")
		}
		return protocol.CallToolRequest{ToolName: p.Name, Arguments: p.Arguments}
	case "resources/read":
		return protocol.ReadResourceRequest{URI: p.URI}
	case "prompts/get":
		var arguments map[string]string
		if len(p.Arguments) > 0 && json.Unmarshal(p.Arguments, &arguments) != nil {
			return nil
		}
		return protocol.GetPromptRequest{PromptName: p.Name, Arguments: arguments}
	}
	return nil
}

// endOf returns the error of a call that ended without a result for the host, or nil.
func endOf(result protocol.CallResult) error {
	switch r := result.(type) {
	case nil:
		return nil
	case protocol.CallError:
		return &mcpserver.Error{Code: int(r.Code), Message: r.Message, Data: r.Data}
	case protocol.CallAbandoned:
		return &mcpserver.Error{Code: mcpserver.CodeInternal, Message: r.Reason}
	case protocol.CallLost:
		return &mcpserver.Error{Code: mcpserver.CodeInternal, Message: r.Reason}
	default:
		return &mcpserver.Error{Code: mcpserver.CodeInternal, Message: "the call was cancelled in Assent"}
	}
}

// hostError returns an error as a host gets it: without the codes of Assent's own protocol.
func hostError(err error) error {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return &mcpserver.Error{Code: mcpserver.CodeInternal, Message: e.Message}
	}
	return err
}
