package chat

import (
	"context"
	"encoding/json"
	"time"

	"assent/protocol"
	"assent/sidecar/hub"
	"assent/sidecar/task"
)

// appListTimeout bounds the reading of a list that may name a tool's app. The call's result waits for it.
const appListTimeout = 5 * time.Second

// recordApp records the app of a call's tool, and reports whether it is known by now whether the tool has one.
func (c *Chat) recordApp(t *task.Task, messageID int64, serverName string, request protocol.CallRequest) (known bool) {
	r, ok := request.(protocol.CallToolRequest)
	if !ok || !c.opts.Apps() {
		return true
	}
	tool := c.servers.KnownTool(serverName, r.ToolName)
	if tool == nil {
		return false
	}
	if tool.AppURI != "" {
		t.CallApp(messageID, tool.AppURI)
	}
	return true
}

// findApp is recordApp after the server was asked for its tools. It is called while the server runs.
func (c *Chat) findApp(ctx context.Context, t *task.Task, messageID int64, serverName string, request protocol.CallRequest) {
	ctx, cancel := context.WithTimeout(ctx, appListTimeout)
	defer cancel()
	if _, err := c.servers.Tools(ctx, serverName); err != nil {
		c.opts.Log.Info().Err(err).Str("server", serverName).Msg("whether the tool has an app is not known")
		return
	}
	c.recordApp(t, messageID, serverName, request)
}

// AppCall is a call of a tool that an app wants.
type AppCall struct {
	TaskID string
	// MessageID is the message of the call that has the app.
	MessageID  int64
	ServerName string
	Tool       protocol.Tool
	Arguments  json.RawMessage
}

// CallForApp asks whether an app may call a tool, as for a model, and makes the call. It returns when the call has ended. If
// ctx ends, CallForApp cancels the call, and still waits for its end. The error is a [broker.NotApproved] if the call may not
// be made.
func (c *Chat) CallForApp(ctx context.Context, a AppCall, call func(context.Context, protocol.CallToolRequest, hub.Hooks) protocol.CallResult) error {
	t, err := c.tasks.Get(a.TaskID)
	if err != nil {
		return err
	}
	if err := c.enter(); err != nil {
		return err
	}
	defer c.wg.Done()
	arguments, err := c.opts.Approver.UseTool(ctx, t, a.TaskID, protocol.UseMcpTool{
		Origin: protocol.Origin{ServerName: a.ServerName, MessageID: a.MessageID}, FromApp: true, Tool: a.Tool, Arguments: a.Arguments,
	})
	if err != nil {
		return err
	}
	request := withTitle(withText(protocol.CallToolRequest{ToolName: a.Tool.Name, Arguments: arguments}), &a.Tool)
	id, err := t.StartAppCall(a.ServerName, request, a.MessageID)
	if err != nil {
		return err
	}
	return c.serve(ctx, t, id, false, t.EndCall, func(ctx context.Context, hooks hub.Hooks) protocol.CallResult {
		return call(ctx, request, hooks)
	})
}
