package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"assent/protocol"
	"assent/sidecar/base/reason"
)

// A front end that names a task of another workspace is a remote view there: another [frontEnd] over the same
// connection. A remote view lends nothing but pages to its own requests, configures nothing, and gets the events of the
// tasks that it opened.

// remoteViews are where a front end is a remote view.
type remoteViews struct {
	mu sync.Mutex // guards at
	at map[*Workspace]*frontEnd
}

// maxListed bounds the asks in the inbox.
const maxListed = 500

// ListOpenAsks implements [protocol.Sidecar].
func (f *frontEnd) ListOpenAsks(ctx context.Context) (*protocol.ListOpenAsksResult, error) {
	list, err := f.Workspace.ListOpenAsks(ctx)
	if err != nil {
		return nil, err
	}
	others, silent := askOthers(ctx, f, "ask/list", (*Workspace).ListOpenAsks)
	list.NotAnswering = silent
	for _, o := range others {
		theirs, label, unattended := o.answer, f.person.label(o.of), !o.of.attached.asks()
		for i := range theirs.Asks {
			theirs.Asks[i].Workspace, theirs.Asks[i].Unattended = label, unattended
		}
		for i := range theirs.Unattributed {
			theirs.Unattributed[i].Workspace, theirs.Unattributed[i].Unattended = label, unattended
		}
		list.Asks, list.Unattributed = append(list.Asks, theirs.Asks...), append(list.Unattributed, theirs.Unattributed...)
		list.Truncated = list.Truncated || theirs.Truncated
	}
	if len(list.Asks) > maxListed {
		list.Asks, list.Truncated = list.Asks[:maxListed], true
	}
	return list, nil
}

// ListMcpTasks implements [protocol.Sidecar].
func (f *frontEnd) ListMcpTasks(ctx context.Context) (*protocol.ListMcpTasksResult, error) {
	list, err := f.Workspace.ListMcpTasks(ctx)
	return f.withOthers(ctx, list), err
}

// MoreMcpTasks implements [protocol.Sidecar].
func (f *frontEnd) MoreMcpTasks(ctx context.Context, params *protocol.MoreMcpTasksParams) (*protocol.ListMcpTasksResult, error) {
	list, err := f.Workspace.MoreMcpTasks(ctx, params)
	return f.withOthers(ctx, list), err
}

// withOthers adds the MCP tasks of the other open workspaces to the last page of the own.
func (f *frontEnd) withOthers(ctx context.Context, list *protocol.ListMcpTasksResult) *protocol.ListMcpTasksResult {
	if list == nil || list.NextCursor != "" {
		return list
	}
	others, silent := askOthers(ctx, f, "mcpTask/list", (*Workspace).ListMcpTasks)
	list.NotAnswering = silent
	for _, o := range others {
		for _, entry := range o.answer.McpTasks {
			entry.Workspace = f.person.label(o.of)
			list.McpTasks = append(list.McpTasks, entry)
		}
	}
	return list
}

// GetMcpTask implements [protocol.Sidecar]. If no server is named, another open workspace may have the task.
func (f *frontEnd) GetMcpTask(ctx context.Context, params *protocol.GetMcpTaskParams) (*protocol.GetMcpTaskResult, error) {
	own, unknown := f.Workspace.GetMcpTask(ctx, params)
	if params.ServerName != "" || !isUnknownMcpTask(unknown) {
		return own, unknown
	}
	type found struct {
		result *protocol.GetMcpTaskResult
		err    error
	}
	others, _ := askOthers(ctx, f, "mcpTask/get", func(w *Workspace, ctx context.Context) (found, error) {
		result, err := w.GetMcpTask(ctx, params)
		return found{result, err}, nil
	})
	others = slices.DeleteFunc(others, func(o of[found]) bool { return isUnknownMcpTask(o.answer.err) })
	switch len(others) {
	case 0:
		return nil, unknown
	case 1:
		if entry := others[0].answer.result; entry != nil {
			entry.McpTask.Workspace = f.person.label(others[0].of)
		}
		return others[0].answer.result, others[0].answer.err
	default:
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "the workspaces %s and %s both have an MCP task %q: use it in one of them",
			f.person.label(others[0].of), f.person.label(others[1].of), params.McpTaskID)
	}
}

func isUnknownMcpTask(err error) bool {
	e, ok := errors.AsType[*protocol.Error](err)
	return ok && e.Code == protocol.CodeUnknownMcpTask
}

// of is the answer of another workspace.
type of[R any] struct {
	of     *Workspace
	answer R
}

// askOthers asks the other open workspaces at the same time. It returns their answers in the order in which they were opened,
// and the labels of those that did not answer in time. A workspace that fails is skipped.
func askOthers[R any](ctx context.Context, f *frontEnd, what string, ask func(*Workspace, context.Context) (R, error)) (answers []of[R], silent []string) {
	others := f.person.others(f.Workspace)
	waiting, cancel := context.WithTimeout(ctx, cmp.Or(f.person.Timeout, DefaultTimeout))
	defer cancel()
	type reply struct {
		from   int
		answer *R // nil for none
	}
	replies := make(chan reply) // without a buffer: who cannot send knows that it is too late
	for i, w := range others {
		go askOther(waiting, f, w, what, ask, func(answer *R) bool { // the workspace waits for it, see host
			select {
			case replies <- reply{i, answer}:
				return true
			case <-waiting.Done():
				return false
			}
		})
	}
	replied := make([]bool, len(others))
	said := make([]*R, len(others))
	for range others {
		select {
		case r := <-replies:
			replied[r.from], said[r.from] = true, r.answer
		case <-waiting.Done():
		}
	}
	for i, w := range others {
		switch {
		case !replied[i]:
			silent = append(silent, f.person.label(w))
		case said[i] != nil:
			answers = append(answers, of[R]{w, *said[i]})
		}
	}
	return answers, silent
}

// askOther asks one of them. Reply reports whether the answer was in time. If not, the front ends are told to ask again.
func askOther[R any](ctx context.Context, f *frontEnd, w *Workspace, what string, ask func(*Workspace, context.Context) (R, error), reply func(*R) bool) {
	hosted := w.host(ctx, func(hosted context.Context) {
		answer, err := func() (answer R, err error) {
			defer reason.Panicked(&f.opts.Log, what, &err)
			return ask(w, hosted)
		}()
		inTime := false
		switch {
		case err == nil:
			inTime = reply(&answer)
		case ctx.Err() == nil:
			inTime = reply(nil)
			if hosted.Err() == nil {
				f.opts.Log.Warn().Err(err).Str("workspace", f.person.label(w)).Str("request", what).Msg("another workspace is left out")
			}
		}
		if !inTime && w.background.ctx.Err() == nil {
			w.person.asksChanged(w)
		}
	})
	if !hosted {
		reply(nil)
	}
}

// isUnknownHere reports whether a request failed because it names what this workspace does not have.
func isUnknownHere(method string, err error) bool {
	e, ok := errors.AsType[*protocol.Error](err)
	return ok && (e.Code == protocol.CodeUnknownTask || method == methodClaim && e.Code == protocol.CodeUnknownAsk)
}

const methodClaim = "ask/claim"

// elsewhere serves a request that names what this workspace does not have, for which unknown is the error. The workspace
// that has it serves it.
func (f *frontEnd) elsewhere(ctx context.Context, method string, params json.RawMessage, unknown error) (any, error) {
	for _, w := range f.person.others(f.Workspace) {
		var result any
		var err error
		open := w.host(ctx, func(ctx context.Context) {
			view := f.remoteViewOf(w)
			result, err = protocol.DispatchSidecar(context.WithValue(ctx, caller{}, view), view, method, params)
		})
		if !open || isUnknownHere(method, err) {
			continue
		}
		switch r := result.(type) {
		case *protocol.Task:
			if r != nil {
				r.Workspace = f.person.label(w)
			}
		case *protocol.OpenTaskResult:
			if r != nil {
				r.Task.Workspace = f.person.label(w)
			}
		}
		return result, err
	}
	return nil, unknown
}

// remoteViewOf returns this front end as a remote view of a workspace. It forgets the workspaces that are closed by now.
func (f *frontEnd) remoteViewOf(w *Workspace) *frontEnd {
	f.remoteViews.mu.Lock()
	defer f.remoteViews.mu.Unlock()
	maps.DeleteFunc(f.remoteViews.at, func(w *Workspace, _ *frontEnd) bool { return w.background.ctx.Err() != nil })
	view := f.remoteViews.at[w]
	if view == nil {
		view = &frontEnd{Workspace: w, conn: f.conn, own: f.own, home: f, info: f.info, capabilities: f.capabilities}
		view.name = f.name + ": " + f.person.label(f.Workspace)
		if f.remoteViews.at == nil {
			f.remoteViews.at = map[*Workspace]*frontEnd{}
		}
		f.remoteViews.at[w] = view
	}
	return view
}

// closeRemoteViews ends what this front end gets from other workspaces. Its requests have ended.
func (f *frontEnd) closeRemoteViews() {
	for w, view := range f.remoteViews.at {
		w.attached.dismiss(view)
		w.apps.leave(f.conn)
	}
}

// OpenTask implements [protocol.Sidecar]. A remote view gets the events of the task from now on.
func (f *frontEnd) OpenTask(ctx context.Context, params *protocol.OpenTaskParams) (*protocol.OpenTaskResult, error) {
	if f.home != nil {
		if _, err := f.tasks.Get(params.TaskID); err != nil {
			return nil, err
		}
		f.attached.show(f, params.TaskID)
	}
	return f.Workspace.OpenTask(ctx, params)
}

// host serves a request of a front end of another workspace. The request ends with this workspace, which waits for it. Host
// reports false, and does not serve, if the workspace is being closed.
func (w *Workspace) host(ctx context.Context, serve func(context.Context)) bool {
	if !w.remoteRequests.begin(w.background.ctx) {
		return false
	}
	defer w.remoteRequests.requests.Done() // also after a panic
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.background.ctx, cancel)()
	serve(ctx)
	return true
}

// remoteRequests are the requests of other workspaces' front ends.
type remoteRequests struct {
	mu       sync.Mutex // held while a request begins, or all of them end
	requests sync.WaitGroup
}

// begin adds a request, which calls Done on requests at its end. It reports false once the workspace is being closed.
func (g *remoteRequests) begin(open context.Context) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if open.Err() != nil {
		return false
	}
	g.requests.Add(1)
	return true
}

// end calls stop, after which no request begins, and waits for those that have begun.
func (g *remoteRequests) end(stop func()) {
	g.mu.Lock()
	stop()
	g.mu.Unlock()
	g.requests.Wait()
}

// Shown reports whether a front end of another workspace shows a task of this one.
func (w *Workspace) Shown() bool { return w.attached.hasRemoteViews() }

// show has a remote view get the events of a task.
func (a *attached) show(view *frontEnd, taskID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.remoteViews, view) {
		a.remoteViews = append(a.remoteViews, view)
	}
	if view.opened == nil {
		view.opened = map[string]bool{}
	}
	view.opened[taskID] = true
}

// dismiss has a remote view get no more events.
func (a *attached) dismiss(view *frontEnd) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.remoteViews = slices.DeleteFunc(a.remoteViews, func(f *frontEnd) bool { return f == view })
}

func (a *attached) hasRemoteViews() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.remoteViews) > 0
}

// viewersOf returns the remote views that opened the task which the params of a notification are about. The lock must
// be held.
func (a *attached) viewersOf(params any) []*frontEnd {
	var taskID string
	switch p := params.(type) {
	case *protocol.TaskEventParams:
		taskID = p.TaskID
	case *protocol.McpSamplingProgressParams:
		taskID = p.TaskID
	case *protocol.ChatProgressParams:
		taskID = p.TaskID
	case *protocol.CallProgressParams:
		taskID = p.TaskID
	}
	var found []*frontEnd
	for _, view := range a.remoteViews {
		if view.opened[taskID] {
			found = append(found, view)
		}
	}
	return found
}

// labelled returns the params of a notification as a remote view gets them.
func labelled(params any, label string) any {
	event, ok := params.(*protocol.TaskEventParams)
	if !ok {
		return params
	}
	of := *event
	of.Workspace = label
	if changed, ok := of.Event.(protocol.TaskChanged); ok {
		changed.Task.Workspace = label
		of.Event = changed
	}
	return &of
}
