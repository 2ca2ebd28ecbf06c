package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/hub"
	"assent/sidecar/model"
	"assent/sidecar/reason"
	"assent/sidecar/task"
)

const (
	// maxUses is how many calls of one message are made, and maxAtOnce how many of them at a time.
	maxUses   = 32
	maxAtOnce = 8
	// listPatience bounds the wait for what the servers have: one that starts slowly must not hold up a turn.
	listPatience = 10 * time.Second
	// maxTyped is how much of what is no JSON a model is shown again, in bytes.
	maxTyped = 500
)

// notedKey is a server of a task.
type notedKey struct{ taskID, serverName string }

// offer asks the servers that are enabled for the task what they have. The person is told of those that do
// not answer in time, or at all, once. One that was said to have failed is not started again by the next turn: it
// would fail as before, or ask once more for what the person did not want to give.
//
// A server that the person has to confirm is waited for until they have: that time is theirs.
func (u *turn) offer(ctx context.Context) *offer {
	servers := slices.DeleteFunc(u.servers.Servers(), u.hasFailed)
	enabled := enabledServers(servers, u.task.Info().Settings)
	found := make([]offered, len(enabled))
	var wg sync.WaitGroup
	for i, s := range enabled {
		wg.Go(func() { found[i] = offered{serverName: s.ServerName, err: u.servers.Confirm(ctx, s.ServerName)} })
	}
	wg.Wait()
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	for i, s := range enabled {
		if found[i].err == nil {
			wg.Go(func() { found[i] = u.list(ctx, s) })
		}
	}
	wg.Wait()
	for _, f := range found {
		u.note(f)
	}
	return newOffer(found)
}

// hasFailed reports whether a server is one that failed after a turn of this task had tried it, of which the person
// was told, or is now.
func (u *turn) hasFailed(s protocol.Server) bool {
	u.mu.Lock()
	said := u.noted[notedKey{u.taskID, s.Name}]
	u.mu.Unlock()
	if s.State != protocol.ServerFailed || said == "" {
		return false
	}
	if said == tooSlow(s.Name) {
		u.note(offered{serverName: s.Name, err: errors.New(s.Reason)})
	}
	return true
}

// tooSlow is what the person is told of a server that may still start.
func tooSlow(serverName string) string {
	return fmt.Sprintf("The MCP server %q did not answer within %v: the model does not have its tools for now.", serverName, listPatience)
}

// enabledServers are those of a task, of which it may have some of the tools.
func enabledServers(servers []protocol.Server, settings *protocol.TaskSettings) []protocol.TaskServer {
	configured := map[string]bool{}
	var all []protocol.TaskServer
	for _, s := range servers {
		configured[s.Name] = true
		all = append(all, protocol.TaskServer{ServerName: s.Name})
	}
	if settings == nil || settings.Servers == nil {
		return all
	}
	var enabled []protocol.TaskServer
	for _, s := range settings.Servers {
		if configured[s.ServerName] {
			enabled = append(enabled, s)
			delete(configured, s.ServerName) // once
		}
	}
	return enabled
}

// list asks a server what it has.
func (u *turn) list(ctx context.Context, s protocol.TaskServer) offered {
	found := offered{serverName: s.ServerName}
	tools, err := u.servers.Tools(ctx, s.ServerName)
	if err != nil {
		found.err = err
		return found
	}
	for _, tool := range tools {
		if s.ToolNames == nil || slices.Contains(s.ToolNames, tool.Name) {
			found.tools = append(found.tools, tool)
		}
	}
	// A server without tools may have resources; one whose resources cannot be listed has its tools.
	if found.resources, err = u.servers.Resources(ctx, s.ServerName); err == nil {
		found.templates, err = u.servers.ResourceTemplates(ctx, s.ServerName)
	}
	if err != nil && ctx.Err() == nil {
		u.opts.Log.Info().Err(err).Str("server", s.ServerName).Msg("the resources of a server cannot be listed")
	}
	return found
}

// note tells the person of a server whose tools the model does not have, unless that was said before.
func (u *turn) note(f offered) {
	why := ""
	switch {
	case errors.Is(f.err, context.DeadlineExceeded):
		why = tooSlow(f.serverName)
	case errors.Is(f.err, context.Canceled), errors.As(f.err, new(*task.Ended)):
		return // the turn was stopped
	case f.err != nil:
		why = fmt.Sprintf("The model does not have the tools of the MCP server %q until you start it: %s", f.serverName, reason.Of(f.err))
	}
	key := notedKey{u.taskID, f.serverName}
	u.mu.Lock()
	said := u.noted[key] == why
	u.noted[key] = why
	u.mu.Unlock()
	if why != "" && !said {
		u.task.Notice(protocol.NoticeWarning, why)
	}
}

// toolUses are the calls that a model asked for, with what the names stand for.
func toolUses(made []protocol.ToolUseContent, o *offer) []protocol.ModelToolUse {
	uses := make([]protocol.ModelToolUse, len(made))
	ids := map[string]bool{}
	for i, m := range made {
		use := protocol.ModelToolUse{ID: cut(m.ID, 200), Name: cut(m.Name, 200)}
		for n := i + 1; use.ID == "" || ids[use.ID]; n++ { // or the results would be mixed up
			use.ID = fmt.Sprintf("call_%d", n)
		}
		ids[use.ID] = true
		found, ok := o.names[m.Name]
		if ok && found.tool != nil {
			use.ServerName, use.ToolName = found.serverName, found.tool.Name
		}
		if model.IsObject(m.Input) {
			use.Arguments = m.Input
		}
		switch {
		case i >= maxUses:
			use.Error = fmt.Sprintf("The call was not made: no more than %d are made at once. Make fewer at a time.", maxUses)
		case !ok:
			use.Error = fmt.Sprintf("There is no tool %q. Use only tools that you were given.", cut(m.Name, 200))
		case use.Arguments == nil:
			use.Error = fmt.Sprintf("The call was not made: the arguments must be a JSON object, and they were: %s", cut(string(m.Input), maxTyped))
		}
		uses[i] = use
	}
	return uses
}

// useTools makes the calls that a model asked for, and returns when all have ended, with the results.
func (u *turn) useTools(ctx context.Context, messageID int64, uses []protocol.ModelToolUse, o *offer) map[protocol.ToolUseRef]protocol.ToolResultContent {
	results := map[protocol.ToolUseRef]protocol.ToolResultContent{}
	var mu sync.Mutex // guards results
	atOnce := make(chan struct{}, maxAtOnce)
	var wg sync.WaitGroup
	for _, use := range uses {
		if use.Error != "" {
			continue
		}
		ref := protocol.ToolUseRef{MessageID: messageID, ToolUseID: use.ID}
		wg.Go(func() {
			result, err := u.useTool(ctx, ref, use, o, atOnce)
			if err != nil {
				u.task.FailToolUse(ref, reason.Of(err))
				result = failedUse(use.ID, reason.Of(err))
			}
			mu.Lock()
			defer mu.Unlock()
			results[ref] = result
		})
	}
	wg.Wait()
	return results
}

// useTool asks whether a call may be made, and makes it. The error is for the model.
func (u *turn) useTool(ctx context.Context, ref protocol.ToolUseRef, use protocol.ModelToolUse, o *offer, atOnce chan struct{}) (protocol.ToolResultContent, error) {
	serverName, request, err := u.approved(ctx, ref, use, o)
	if err != nil {
		return protocol.ToolResultContent{}, forModelError(err)
	}
	select {
	case atOnce <- struct{}{}:
		defer func() { <-atOnce }()
	case <-ctx.Done():
		return protocol.ToolResultContent{}, errStopped
	}
	u.mu.Lock()
	if u.closed || ctx.Err() != nil {
		u.mu.Unlock()
		return protocol.ToolResultContent{}, errStopped
	}
	id, err := u.task.StartToolUse(serverName, request, ref)
	if err != nil {
		u.mu.Unlock()
		return protocol.ToolResultContent{}, errStopped // the task was closed
	}
	call := u.begin(u.task, id, false, func(ctx context.Context, hooks hub.Hooks) protocol.CallResult {
		return u.call(ctx, u.taskID, serverName, request, hooks)
	})
	u.mu.Unlock()
	u.await(ctx, call)
	select {
	case <-call.done:
		return resultOf(use.ID, call.result), nil
	default:
		return resultOf(use.ID, nil), nil
	}
}

// errStopped is why a call was not made in a turn that has ended.
var errStopped = errors.New("the call was not made: the user stopped the turn")

// await returns when a call has ended, or, in a turn that is stopped, when it was cancelled: of an MCP task,
// its server's word is not waited for. When Assent closes, what becomes of the call is none of the turn's business:
// an MCP task goes on.
func (u *turn) await(ctx context.Context, call *run) {
	select {
	case <-call.done:
		return
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), errClosing) {
			return
		}
	}
	u.mu.Lock()
	mcpTask := call.isTask
	call.stop()
	u.mu.Unlock()
	if !mcpTask {
		<-call.done
	}
}

// approved asks whether a call may be made, and returns it as it may.
func (u *turn) approved(ctx context.Context, ref protocol.ToolUseRef, use protocol.ModelToolUse, o *offer) (string, protocol.CallRequest, error) {
	found := o.names[use.Name]
	if found.tool == nil {
		return u.approvedResource(ctx, ref, use, o)
	}
	arguments, err := u.opts.Approver.UseTool(ctx, u.task, u.taskID, protocol.UseMcpTool{
		Origin: protocol.Origin{ServerName: found.serverName}, ToolUse: ref, Tool: *found.tool, Arguments: use.Arguments,
	})
	return found.serverName, withText(protocol.CallToolRequest{ToolName: found.tool.Name, Arguments: arguments}), err
}

// approvedResource is approved for a resource.
func (u *turn) approvedResource(ctx context.Context, ref protocol.ToolUseRef, use protocol.ModelToolUse, o *offer) (string, protocol.CallRequest, error) {
	var wanted struct {
		Server string `json:"server"`
		URI    string `json:"uri"`
	}
	if err := json.Unmarshal(use.Arguments, &wanted); err != nil || wanted.URI == "" {
		return "", nil, errors.New("the call was not made: server and uri must be texts")
	}
	if !o.servers[wanted.Server] {
		return "", nil, fmt.Errorf("there is no server %q that has resources", cut(wanted.Server, 200))
	}
	q := protocol.AccessMcpResource{Origin: protocol.Origin{ServerName: wanted.Server}, ToolUse: ref, URI: wanted.URI}
	if r, ok := o.resources[wanted.Server][wanted.URI]; ok {
		q.Resource = &r
	}
	err := u.opts.Approver.AccessResource(ctx, u.task, u.taskID, q)
	return wanted.Server, protocol.ReadResourceRequest{URI: wanted.URI}, err
}

// forModelError is what a model is told of why a call was not made.
func forModelError(err error) error {
	var own *protocol.Error
	if errors.As(err, new(*broker.NotApproved)) || !errors.As(err, &own) {
		return err
	}
	return errStopped // the task takes no asks any more
}
