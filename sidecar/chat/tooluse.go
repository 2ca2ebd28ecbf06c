package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"assent/protocol"
	"assent/sidecar/base/reason"
	"assent/sidecar/broker"
	"assent/sidecar/hub"
	"assent/sidecar/model"
)

const (
	// maxUses bounds the calls of one message, and maxAtOnce how many of them run at a time.
	maxUses   = 32
	maxAtOnce = 8
	// maxTyped bounds the invalid arguments that a model gets back, in bytes.
	maxTyped = 500
)

// enabledServers returns the servers of a task, with their enabled tools.
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
			delete(configured, s.ServerName) // each server once
		}
	}
	return enabled
}

// toolUses returns the calls that a model asked for, with the tools that the names stand for.
func toolUses(made []protocol.ToolUseContent, o *offer) []protocol.ModelToolUse {
	uses := make([]protocol.ModelToolUse, len(made))
	ids := map[string]bool{}
	for i, m := range made {
		use := protocol.ModelToolUse{ID: model.Cut(m.ID, 200), Name: model.Cut(m.Name, 200)}
		for n := i + 1; use.ID == "" || ids[use.ID]; n++ { // ids must be unique, so that results are not mixed up
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
			use.Error = fmt.Sprintf("There is no tool %q. Use only the tools in this request.", model.Cut(m.Name, 200))
		case use.Arguments == nil:
			use.Error = fmt.Sprintf("The call was not made: the arguments must be a JSON object, and they were: %s", model.Cut(string(m.Input), maxTyped))
		}
		uses[i] = use
	}
	return uses
}

// useTools makes the calls that a model asked for, and returns their results when all have ended.
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

// useTool asks for approval of a call, and makes it. The error is for the model.
func (u *turn) useTool(ctx context.Context, ref protocol.ToolUseRef, use protocol.ModelToolUse, o *offer, atOnce chan struct{}) (_ protocol.ToolResultContent, err error) {
	defer reason.Panicked(&u.opts.Log, "the call", &err)
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
	u.recordApp(u.task, id, serverName, request)
	call := u.begin(u.task, id, false, u.task.EndCall, func(ctx context.Context, hooks hub.Hooks) protocol.CallResult {
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

// errStopped is the error of a call that was not made because its turn ended.
var errStopped = errors.New("the call was not made: the user stopped the turn")

// await returns when a call has ended or, in a stopped turn, when it was cancelled; it does not wait for the server
// of an MCP task. When Assent closes, await returns without the result: an MCP task continues in the next sidecar.
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

// approved asks whether a call may be made, and returns it with approved arguments.
func (u *turn) approved(ctx context.Context, ref protocol.ToolUseRef, use protocol.ModelToolUse, o *offer) (string, protocol.CallRequest, error) {
	found := o.names[use.Name]
	if found.tool == nil {
		return u.approvedResource(ctx, ref, use, o)
	}
	arguments, err := u.opts.Approver.UseTool(ctx, u.task, u.taskID, protocol.UseMcpTool{
		Origin: protocol.Origin{ServerName: found.serverName}, ToolUse: ref, Tool: *found.tool, Arguments: use.Arguments,
	})
	return found.serverName, withTitle(withText(protocol.CallToolRequest{ToolName: found.tool.Name, Arguments: arguments}), found.tool), err
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
		return "", nil, fmt.Errorf("there is no server %q that has resources", model.Cut(wanted.Server, 200))
	}
	q := protocol.AccessMcpResource{Origin: protocol.Origin{ServerName: wanted.Server}, ToolUse: ref, URI: wanted.URI}
	if r, ok := o.resources[wanted.Server][wanted.URI]; ok {
		q.Resource = &r
	}
	err := u.opts.Approver.AccessResource(ctx, u.task, u.taskID, q)
	return wanted.Server, protocol.ReadResourceRequest{URI: wanted.URI}, err
}

// forModelError returns the error of a call for the model.
func forModelError(err error) error {
	var own *protocol.Error
	if errors.As(err, new(*broker.NotApproved)) || !errors.As(err, &own) {
		return err
	}
	return errStopped // the task accepts no more asks
}
