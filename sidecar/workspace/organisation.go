package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"assent/protocol"
	"assent/sidecar/broker/policy"
	"assent/sidecar/config"
	"assent/sidecar/config/managedfiles"
	"assent/sidecar/config/orgpolicy"
	"assent/sidecar/gateway"
	"assent/sidecar/gateway/hosts"
	"assent/sidecar/hub"
	"assent/sidecar/hub/diagnose"
	"assent/sidecar/hub/exchange"
	"assent/sidecar/hub/session"
	"assent/sidecar/model"
	"assent/sidecar/task/journal"
)

// policyInterval is how often a workspace looks for changes of which the system says nothing: in the registry, behind a link,
// on a network drive. A use of a server looks itself.
const policyInterval = time.Minute

// organisation keeps the organisation's policy in a workspace: at each use of a server, and for uses under way.
type organisation struct {
	files *managedfiles.Files
	// isVSCode: a window of VS Code was attached. Then all uses that are none of hosts count as its.
	isVSCode atomic.Bool
	// changed has a value when the files, or what a window says, may have changed.
	changed chan struct{}

	mu   sync.Mutex // guards uses
	uses map[*serverUse]bool
}

// serverUse is a use of a server under way.
type serverUse struct {
	// permits returns why the use may not go on, or nil.
	permits func() error
	cancel  context.CancelCauseFunc
}

var _ hosts.Workspace = forHosts{}

// vscodeName is the name of VS Code's windows in their handshake.
const vscodeName = "VS Code"

// editorSays has a window of VS Code count. What an earlier window said of its policies does not count any more.
func (o *organisation) editorSays(f *frontEnd) {
	if f.info.Name != vscodeName || f.transient {
		return
	}
	o.isVSCode.Store(true)
	o.files.SetEditor(f.configuration.EditorPolicies)
	o.check()
}

// check has [Workspace.keepPolicy] look for changes.
func (o *organisation) check() {
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// ownPrograms are the names of the host as which the front ends of the workspace count.
func (o *organisation) ownPrograms() []string {
	if o.isVSCode.Load() {
		return []string{string(orgpolicy.VSCode)}
	}
	return nil
}

// blocked returns why the organisation does not let a server be used in a session of programs, or nil.
func (w *Workspace) blocked(by managedfiles.Look, server string, programs ...string) *orgpolicy.Blocked {
	c, err := w.hub.Definition(server)
	if err != nil {
		return nil // the hub says that there is no such server
	}
	blocked := by.Check(context.Background(), c, w.environment, programs...)
	if of := w.hosts.StartsFor("", c).Environ; blocked != nil && len(programs) > 0 && of != nil {
		// The host's own environment makes something else of the variables. The start is checked with the session's.
		e := w.environment
		e.Environ = of
		blocked = by.Check(context.Background(), c, e, programs...)
	}
	return blocked
}

// permitStart is the Permit of [config.Environment]. It sees what the variables made.
func (w *Workspace) permitStart(s config.Server, start config.Start) error {
	return w.permitStartFor(s, start, nil)
}

// startsFor is [session.Options.StartsFor].
func (w *Workspace) startsFor(taskID string, s config.Server) session.StartsFor {
	to := w.hosts.StartsFor(taskID, s)
	if programs := to.Programs; len(programs) > 0 {
		to.Permit = func(s config.Server, start config.Start) error { return w.permitStartFor(s, start, programs) }
	}
	return to
}

// permitStartFor is permitStart in a session of programs.
func (w *Workspace) permitStartFor(s config.Server, start config.Start, programs []string) error {
	err := w.organisation.files.PermitFor(s, start, programs...)
	if blocked, ok := errors.AsType[*orgpolicy.Blocked](err); ok {
		w.recordBlocked(s.Name, blocked, programs)
	}
	return err
}

// Permits returns why a server may not be used in a session of programs; see [hosts.Workspace].
func (w *Workspace) Permits(server string, tried bool, programs ...string) error {
	return w.permits(w.organisation.files.Look(), server, tried, programs...)
}

func (w *Workspace) permits(by managedfiles.Look, server string, tried bool, programs ...string) error {
	blocked := w.blocked(by, server, programs...)
	if blocked == nil {
		return nil
	}
	if tried {
		w.recordBlocked(server, blocked, programs)
	}
	return session.Failed(server, blocked.Error())
}

// Permits implements [hosts.Workspace].
func (w forHosts) Permits(server string, tried bool, programs ...string) error {
	return w.permits(w.organisation.files.Look(), server, tried, programs...)
}

func (w forHosts) permits(by managedfiles.Look, server string, tried bool, programs ...string) error {
	if err := by.Own().Forbids(orgpolicy.Gateway); err != nil {
		return protocol.Errorf(protocol.CodeServerFailed, "no program may use servers through Assent: %v", err)
	}
	return w.Workspace.permits(by, server, tried, programs...)
}

// Using implements [hosts.Workspace].
func (w forHosts) Using(ctx context.Context, server string, programs ...string) (_ context.Context, end func(), _ error) {
	return w.using(ctx, func() error { return w.permits(w.organisation.files.LookAgain(), server, true, programs...) })
}

// using returns a context for a use of a server. It ends with the reason as soon as the use is not permitted any more.
func (o *organisation) using(ctx context.Context, permits func() error) (_ context.Context, end func(), _ error) {
	ctx, cancel := context.WithCancelCause(ctx)
	u := &serverUse{permits, cancel}
	o.mu.Lock()
	o.uses[u] = true
	o.mu.Unlock()
	end = func() {
		cancel(nil)
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.uses, u)
	}
	// The use is known before it is checked, so that no change is missed.
	if err := permits(); err != nil {
		end()
		return nil, nil, err
	}
	return ctx, end, nil
}

// recordBlocked adds a block to the journal.
func (w *Workspace) recordBlocked(server string, blocked *orgpolicy.Blocked, programs []string) {
	w.record(w.journal.ServerBlocked(w.now().UnixMilli(), server, journal.Blocked{
		File: blocked.File, Entry: blocked.Entry, Programs: programs, Policy: w.organisation.files.Look().Hash,
	}))
}

// keepPolicy ends what the organisation no longer allows, until ctx ends.
func (w *Workspace) keepPolicy(ctx context.Context) {
	tick := time.NewTicker(policyInterval)
	defer tick.Stop()
	last := w.organisation.files.Look().Hash
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.organisation.changed:
		case <-tick.C:
		}
		if hash := w.organisation.files.Look().Hash; hash != last {
			last = hash
			w.policyFilesChanged()
		}
	}
}

// policyFilesChanged ends the uses of servers that are blocked now, and stops those that no session may use. Then it tells
// front ends and hosts.
func (w *Workspace) policyFilesChanged() {
	w.opts.Log.Info().Msg("the organisation's policy has changed")
	o := &w.organisation
	o.mu.Lock()
	var uses []*serverUse
	for u := range o.uses {
		uses = append(uses, u)
	}
	o.mu.Unlock()
	for _, u := range uses {
		if err := u.permits(); err != nil {
			u.cancel(err)
		}
	}
	by := o.files.Look()
	w.hub.StopIf(func(name string) (reason string, stop bool) {
		blocked := w.blocked(by, name)
		if blocked == nil {
			return "", false
		}
		w.recordBlocked(name, blocked, nil)
		return blocked.Error(), true
	})
	w.configured.changing.Lock()
	w.reconfigureLocked()
	w.configured.changing.Unlock()
	w.tellServers()
	w.hosts.ServersChanged()
}

// blockedWords returns [protocol.Server.Blocked].
func (w *Workspace) blockedWords(by managedfiles.Look, server string) string {
	if blocked := w.blocked(by, server, w.organisation.ownPrograms()...); blocked != nil {
		return diagnose.Sentence(blocked.Error())
	}
	return ""
}

// usable are the servers for the front ends of a workspace, who use only what the organisation lets them use.
type usable struct {
	*hub.Hub
	w *Workspace
}

func (u usable) permit(server string) error {
	return u.w.Permits(server, true, u.w.organisation.ownPrograms()...)
}

// using is [Workspace.Using] for a call.
func (u usable) using(ctx context.Context, server string, call func(ctx context.Context) protocol.CallResult) protocol.CallResult {
	ctx, end, err := u.w.organisation.using(ctx, func() error { return u.permit(server) })
	if err != nil {
		return exchange.CallFailure(server, err)
	}
	defer end()
	return call(ctx)
}

// permitted uses a method of the hub if the organisation lets the server be used.
func permitted[R any](ctx context.Context, u usable, server string, use func(context.Context, string) (R, error)) (R, error) {
	if err := u.permit(server); err != nil {
		return *new(R), err
	}
	return use(ctx, server)
}

// Tools is that of [hub.Hub].
func (u usable) Tools(ctx context.Context, serverName string) ([]protocol.Tool, error) {
	return permitted(ctx, u, serverName, u.Hub.Tools)
}

// Resources is that of [hub.Hub].
func (u usable) Resources(ctx context.Context, serverName string) ([]protocol.Resource, error) {
	return permitted(ctx, u, serverName, u.Hub.Resources)
}

// ResourceTemplates is that of [hub.Hub].
func (u usable) ResourceTemplates(ctx context.Context, serverName string) ([]protocol.ResourceTemplate, error) {
	return permitted(ctx, u, serverName, u.Hub.ResourceTemplates)
}

// Prompts is that of [hub.Hub].
func (u usable) Prompts(ctx context.Context, serverName string) ([]protocol.Prompt, error) {
	return permitted(ctx, u, serverName, u.Hub.Prompts)
}

// Start is that of [hub.Hub].
func (u usable) Start(ctx context.Context, serverName string) (protocol.Server, error) {
	return permitted(ctx, u, serverName, u.Hub.Start)
}

// Restart is that of [hub.Hub].
func (u usable) Restart(ctx context.Context, serverName string) (protocol.Server, error) {
	return permitted(ctx, u, serverName, u.Hub.Restart)
}

// Complete is that of [hub.Hub].
func (u usable) Complete(ctx context.Context, p *protocol.CompleteParams) (*protocol.CompleteResult, error) {
	if err := u.permit(p.ServerName); err != nil {
		return nil, err
	}
	return u.Hub.Complete(ctx, p)
}

// ListTasks is that of [hub.Hub].
func (u usable) ListTasks(ctx context.Context) ([]protocol.ServerMcpTask, []protocol.ServerMcpTasksProblem) {
	by := u.w.organisation.files.Look()
	return u.Hub.ListTasks(ctx, func(server string) bool { return u.w.blockedWords(by, server) == "" })
}

// GetTask is that of [hub.Hub].
func (u usable) GetTask(ctx context.Context, serverName, id string) (*protocol.ServerMcpTask, error) {
	if err := u.permit(serverName); err != nil {
		return nil, err
	}
	return u.Hub.GetTask(ctx, serverName, id)
}

// Confirm is that of [hub.Hub].
func (u usable) Confirm(ctx context.Context, serverName string) error {
	if err := u.permit(serverName); err != nil {
		return err
	}
	return u.Hub.Confirm(ctx, serverName)
}

// CallTool is that of [hub.Hub].
func (u usable) CallTool(ctx context.Context, taskID, serverName, toolName string, arguments json.RawMessage, hooks hub.Hooks) protocol.CallResult {
	return u.using(ctx, serverName, func(ctx context.Context) protocol.CallResult {
		return u.Hub.CallTool(ctx, taskID, serverName, toolName, arguments, hooks)
	})
}

// ResumeTool is that of [hub.Hub].
func (u usable) ResumeTool(ctx context.Context, taskID, serverName, toolName string, known protocol.McpTask, hooks hub.Hooks) protocol.CallResult {
	return u.using(ctx, serverName, func(ctx context.Context) protocol.CallResult {
		return u.Hub.ResumeTool(ctx, taskID, serverName, toolName, known, hooks)
	})
}

// ReadResource is that of [hub.Hub].
func (u usable) ReadResource(ctx context.Context, taskID, serverName, uri string, hooks hub.Hooks) protocol.CallResult {
	return u.using(ctx, serverName, func(ctx context.Context) protocol.CallResult {
		return u.Hub.ReadResource(ctx, taskID, serverName, uri, hooks)
	})
}

// GetPrompt is that of [hub.Hub].
func (u usable) GetPrompt(ctx context.Context, taskID, serverName, promptName string, arguments map[string]string, hooks hub.Hooks) protocol.CallResult {
	return u.using(ctx, serverName, func(ctx context.Context) protocol.CallResult {
		return u.Hub.GetPrompt(ctx, taskID, serverName, promptName, arguments, hooks)
	})
}

// Request is that of [hub.Hub].
func (u usable) Request(ctx context.Context, taskID, serverName, method string, params json.RawMessage, hooks hub.Hooks) (raw json.RawMessage, _ protocol.CallResult) {
	result := u.using(ctx, serverName, func(ctx context.Context) (result protocol.CallResult) {
		raw, result = u.Hub.Request(ctx, taskID, serverName, method, params, hooks)
		return result
	})
	return raw, result
}

// caps returns what the organisation takes from the person's approvals.
func (w *Workspace) caps() policy.Caps {
	own := w.organisation.files.Own()
	text := func(blocked *orgpolicy.Blocked) string {
		if blocked == nil {
			return ""
		}
		return diagnose.Sentence(blocked.Error())
	}
	caps := policy.Caps{Answers: text(own.Forbids(orgpolicy.AnswerRules)), AutoApprove: text(own.Forbids(orgpolicy.AutoApproval))}
	if caps.Review = protocol.SamplingReview(own.Review); caps.Review != "" {
		caps.ReviewReason = text(own.ReviewReason())
	}
	return caps
}

// asleep returns why the organisation does not let a grant approve anything now, or "".
func (w *Workspace) asleep(g *protocol.Grant) string {
	if blocked := w.organisation.files.Own().LongGrant(time.UnixMilli(g.CreatedAt), w.now()); blocked != nil {
		return diagnose.Sentence(blocked.Error())
	}
	return ""
}

// answerIn returns where the questions of servers are answered for a host that wants them answered at a place.
func (o *organisation) answerIn(want gateway.AnswerIn) gateway.AnswerIn {
	may := o.files.Own().AnswerIn
	if may == nil || slices.Contains(may, string(cmp.Or(want, gateway.AnswerInAssent))) {
		return want
	}
	return gateway.AnswerIn(may[0])
}

// journalDays returns for how many days records are kept, of which 0 is for ever, if a setting says a number of days.
func (o *organisation) journalDays(set int) int {
	switch least := o.files.Own().JournalDays; {
	case set == 0 || least < 0:
		return 0
	default:
		return max(set, least)
	}
}

// endpoints returns the endpoints of models that may be used, and a problem for each of the others.
func (o *organisation) endpoints(all []protocol.EndpointSettings) (may []protocol.EndpointSettings, problems []protocol.ConfigProblem) {
	own := o.files.Own()
	for _, e := range all {
		at := model.Address(e)
		if blocked := own.Endpoint(at); blocked != nil {
			problems = append(problems, protocol.ConfigProblem{
				Source: config.SettingsSource, Message: fmt.Sprintf("the models at %s are not used. %v", at, blocked),
			})
			continue
		}
		may = append(may, e)
	}
	return may, problems
}
