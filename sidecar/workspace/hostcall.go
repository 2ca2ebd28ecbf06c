package workspace

import (
	"context"
	"encoding/json"

	"assent/protocol"
	"assent/sidecar/base/visible"
	"assent/sidecar/gateway"
	"assent/sidecar/gateway/mcpserver"
	"assent/sidecar/hub"
	"assent/sidecar/task"
)

// hostCall is a call of a host: a request that the task of its conversation shows.
type hostCall struct {
	hosts   *hosts
	request gateway.Request
	// of is the request as the task shows it.
	of           protocol.CallRequest
	conversation *hostConversation
	// unfinished is the call of an earlier daemon that goes on; nil for a new one.
	unfinished *task.Unfinished

	hasAsked bool            // a person was asked
	raw      json.RawMessage // the server's result
	result   protocol.CallResult
}

// run makes the call, or goes on with it, and returns the result for the host. One for which a person was asked is saved
// before the host gets it.
func (c *hostCall) run(ctx context.Context) (json.RawMessage, error) {
	h := c.hosts
	var err error
	if c.unfinished != nil {
		err = h.w.chat.Continue(ctx, *c.unfinished, c.inTask)
	} else {
		err = h.w.chat.Serve(ctx, c.conversation.taskID, c.request.Server, c.of, c.inTask)
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
func (c *hostCall) inTask(ctx context.Context, hooks hub.Hooks) protocol.CallResult {
	h, r := c.hosts, c.request
	defer h.listen(c.conversation, hooks.MessageID, c.asking)()
	r.Began(placeOf(c.conversation.taskID, hooks.MessageID))
	if c.unfinished != nil {
		h.askedBefore(c.conversation, *c.unfinished, c.asking)
	}
	told := hooks.Task
	hooks.Task = func(t protocol.McpTask) {
		told(t) // it is saved before the host hears of it
		r.Following(t.StatusMessage)
	}
	hooks.Host = askedHost(r)
	defer h.canAsk(c.conversation, gateway.Roots(r.Client), hooks.Host)()
	if c.raw = c.stopped(ctx, hooks); c.raw == nil {
		c.raw, c.result = h.w.hub.Request(ctx, c.conversation.taskID, r.Server, r.Method, r.Params, hooks)
	}
	if c.result == nil && c.raw != nil {
		return h.w.hub.ParseResult(r.Server, r.Method, r.Params, c.raw)
	}
	return c.result
}

// stopped returns the result of a call of a tool that has changed, if the person does not let it run; else nil.
func (c *hostCall) stopped(ctx context.Context, hooks hub.Hooks) json.RawMessage {
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
func (c *hostCall) asking(question string) {
	c.hasAsked = true
	c.request.Asking(question)
}
