package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/task/journal"
	"assent/sidecar/workspace/rpc"
)

// frontEnd is a front end that is attached, or attaches: the methods of its workspace, and those that depend on who calls.
type frontEnd struct {
	*Workspace
	conn *rpc.Conn
	own  protocol.FrontEnd // this front end alone
	// home is the front end that is a remote view here, and nil if this one is no remote view; see remoteViews.
	home        *frontEnd
	remoteViews remoteViews
	opened      map[string]bool // the tasks of which a remote view gets events. Its [attached] guards it.

	// The handshake sets these, before any other request is served.
	initialized bool
	began       bool // it is attached
	info        protocol.Implementation
	// name is what the person knows it by. It is set before it makes requests, except the first.
	name string
	// transient is as of [protocol.InitializeParams].
	transient    bool
	capabilities protocol.FrontEndCapabilities
	contribution
	// usedAt orders the front ends by their last use. [Person] guards it.
	usedAt int64
	// told is the last state that was sent to it. It belongs to [Person.tell] once the front end
	// is attached.
	told standing
}

// contribution is what a front end adds to the configuration of its workspace. [configuration.changing] guards it.
type contribution struct {
	// configuration is its last configuration.
	configuration protocol.Configuration
	// detached reports that it has gone.
	detached bool
	// folders are those of its handshake. They are the roots of the tasks of a transient one.
	folders []protocol.WorkspaceFolder
}

var _ protocol.Sidecar = (*frontEnd)(nil)

// Attach serves a front end over in and out until in ends or ctx does, and returns when its requests have ended. What
// they started goes on. A front end that does not read, while more than 8 MB wait for it, is detached: the others do not wait
// for it. An error means that, or that the wire itself was broken.
func (w *Workspace) Attach(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := w.logins.untilRenewed(ctx)
	defer cancel()
	f := &frontEnd{Workspace: w}
	// The connection reads as soon as it exists, so its first message waits for f to be whole.
	ready := make(chan struct{})
	f.conn = rpc.New(ctx, in, out, rpc.Options{
		Serve: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
			<-ready
			return f.dispatch(ctx, method, params)
		},
		InOrder:    []string{methodInitialize},
		Served:     func(string) { f.begin() },
		MaxBacklog: maxBacklog,
		Peer:       "the front end",
		Tap:        w.tapFrontEnd(),
		Log:        w.opts.Log,
	})
	f.own = protocol.NewFrontEndClient(f.conn)
	close(ready)
	<-f.conn.Done()
	err := f.conn.Close()
	f.apps.leave(f.conn)
	f.closeRemoteViews()
	w.detach(f)
	return err
}

// maxBacklog is how many bytes may wait for a front end that does not read.
const maxBacklog = 8 << 20

// methodInitialize is the handshake's. Every other request waits for nothing, and fails before it.
const methodInitialize = "initialize"

func (f *frontEnd) dispatch(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if method != methodInitialize {
		if !f.initialized {
			return nil, protocol.Errorf(protocol.CodeServerNotInitialized, "%s came before initialize", method)
		}
		if !reads(method) {
			f.person.use(f)
		}
	}
	result, err := protocol.DispatchSidecar(context.WithValue(ctx, caller{}, f), f, method, params)
	if isUnknownHere(method, err) {
		return f.elsewhere(ctx, method, params, err)
	}
	return result, err
}

// reads reports whether a front end makes such a request by itself, so that it does not show which one the person uses.
func reads(method string) bool {
	return strings.HasSuffix(method, "/list") || method == "task/open" || method == "languageModel/progress" || method == "workspace/didChangeConfiguration"
}

// DidFocus implements [protocol.Sidecar]. The notification itself is the use.
func (f *frontEnd) DidFocus(context.Context) error { return nil }

// Initialize implements [protocol.Sidecar].
func (f *frontEnd) Initialize(_ context.Context, params *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	if f.initialized {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "initialize came twice")
	}
	if err := checkVersion(params, f.opts.Version); err != nil {
		return nil, err
	}
	f.info, f.capabilities, f.transient = params.ClientInfo, params.Capabilities, params.Transient
	f.folders = config.Trusted(params.Configuration.WorkspaceFolders)
	configuredBy := ""
	if counting := f.join(f, params.Configuration); counting != f {
		configuredBy = counting.info.Name
	}
	f.initialized = true
	f.opts.Log.Info().Str("frontEnd", f.info.Name).Str("version", f.info.Version).Msg("front end attached")
	return &protocol.InitializeResult{
		ProtocolVersion: protocol.Version,
		ServerInfo:      protocol.Implementation{Name: "assent", Version: f.opts.Version},
		ConfiguredBy:    configuredBy,
	}, nil
}

// begin attaches the front end, once it has the answer to its handshake.
func (f *frontEnd) begin() {
	if !f.initialized || f.began {
		return
	}
	f.began = true
	f.told = f.person.standingOf(f.Workspace)
	f.attached.add(f)
	f.logins.attached.add(f)
	f.background.begun.Do(f.Workspace.begin)
	f.person.use(f)
	if f.capabilities.Secrets {
		f.background.running.Go(func() { f.logins.secrets.flush(f.background.ctx) })
	}
}

func checkVersion(params *protocol.InitializeParams, own string) error {
	theirs := params.ProtocolVersion
	if theirs == protocol.Version {
		return nil
	}
	update := fmt.Sprintf("update Assent (its daemon is %s)", own)
	if theirs < protocol.Version {
		update = fmt.Sprintf("update %s (this is %s)", params.ClientInfo.Name, params.ClientInfo.Version)
	}
	return protocol.Errorf(protocol.CodeVersionMismatch,
		"the front end speaks version %d of Assent's protocol, and the daemon version %d: %s", theirs, protocol.Version, update)
}

// DidChangeConfiguration implements [protocol.Sidecar].
func (f *frontEnd) DidChangeConfiguration(ctx context.Context, params *protocol.Configuration) error {
	f.reconfigure(f, *params)
	list, err := f.ListServers(ctx)
	if err != nil {
		return err
	}
	return f.editor.ServersChanged(ctx, list)
}

// CreateTask implements [protocol.Sidecar].
func (f *frontEnd) CreateTask(ctx context.Context, params *protocol.CreateTaskParams) (*protocol.Task, error) {
	created, err := f.Workspace.CreateTask(ctx, params)
	if err == nil && f.transient {
		f.configured.given.add(created.ID, f.folders)
	}
	return created, err
}

// CloseTask implements [protocol.Sidecar].
func (f *frontEnd) CloseTask(ctx context.Context, params *protocol.CloseTaskParams) (*protocol.Task, error) {
	t, err := f.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	// The asks first: the person dismissed them, which is more than that their calls ended.
	info, err := t.Close(f.name)
	if err != nil {
		return nil, err
	}
	f.chat.CancelTask(params.TaskID)
	f.hub.CloseTask(params.TaskID)
	return &info, nil
}

// RestoreTask implements [protocol.Sidecar].
func (f *frontEnd) RestoreTask(ctx context.Context, params *protocol.RestoreTaskParams) (*protocol.Task, error) {
	info, err := f.tasks.Restore(params.TaskID, f.name)
	if err != nil {
		return nil, err
	}
	return &info, nil
}

// AskResponse implements [protocol.Sidecar].
func (f *frontEnd) AskResponse(ctx context.Context, params *protocol.AskResponseParams) (*protocol.AskResponseResult, error) {
	t, err := f.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	if !params.DeclineAll {
		return t.Answer(ctx, params, f.name)
	}
	question, _, err := t.Question(ctx, params.AskID)
	if err != nil {
		return nil, err
	}
	result, err := t.Answer(ctx, params, f.name)
	if err != nil {
		return nil, err
	}
	switch q := question.(type) {
	case protocol.McpElicitation:
		f.tasks.DeclineAll(q.ServerName, f.name)
	case protocol.McpURLElicitation:
		f.tasks.DeclineAll(q.ServerName, f.name)
	}
	return result, nil
}

// StopSampling implements [protocol.Sidecar].
func (f *frontEnd) StopSampling(ctx context.Context, params *protocol.StopSamplingParams) (*protocol.StopSamplingResult, error) {
	t, err := f.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	stopped, err := t.StopCompletion(ctx, params.AskID, params.Keep, f.name)
	if err != nil {
		return nil, err
	}
	return &protocol.StopSamplingResult{Stopped: stopped}, nil
}

// OpenAskURL implements [protocol.Sidecar].
func (f *frontEnd) OpenAskURL(ctx context.Context, params *protocol.OpenAskURLParams) (*protocol.OpenURLResult, error) {
	t, err := f.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	question, settled, err := t.Question(ctx, params.AskID)
	if err != nil {
		return nil, err
	}
	page, ok := question.(protocol.McpURLElicitation)
	if !ok {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "this ask has no page to open")
	}
	opening, done := until(ctx, settled) // a settled ask needs no page
	defer done()
	open := f.editor
	if f.home != nil && f.capabilities.OpenURL {
		open = f.own // the person is at the remote view
	}
	result, err := open.OpenURL(opening, &protocol.OpenURLParams{
		URL: page.URL, Reason: fmt.Sprintf("The MCP server %q asks you to go to this page.", page.ServerName), Consented: true,
	})
	if err != nil || !result.Opened || page.AwaitsCompletion {
		return result, err
	}
	_, err = t.Answer(ctx, &protocol.AskResponseParams{
		TaskID: params.TaskID, AskID: params.AskID, AskResponse: protocol.YesButtonClicked,
	}, f.name)
	return result, err
}

// ClaimAsk implements [protocol.Sidecar].
func (f *frontEnd) ClaimAsk(ctx context.Context, params *protocol.ClaimAskParams) (*protocol.ClaimAskResult, error) {
	return f.unattributed.Claim(ctx, params, f.name)
}

// CreateGrant implements [protocol.Sidecar].
func (f *frontEnd) CreateGrant(ctx context.Context, params *protocol.GrantTerms) (*protocol.Grant, error) {
	return f.grants.Create(ctx, *params, f.name)
}

// RevokeGrant implements [protocol.Sidecar].
func (f *frontEnd) RevokeGrant(ctx context.Context, params *protocol.RevokeGrantParams) (*protocol.Grant, error) {
	return f.grants.Revoke(ctx, params.GrantID, f.name)
}

// errNoAskFirst is the error of a process without such rules.
var errNoAskFirst = protocol.Errorf(protocol.CodeInvalidParams, "this Assent has no rules for agents")

// AddAskFirst implements [protocol.Sidecar].
func (f *frontEnd) AddAskFirst(_ context.Context, params *protocol.AskFirstTerms) (*protocol.AddAskFirstResult, error) {
	if f.person.AskFirst == nil {
		return nil, errNoAskFirst
	}
	rule, err := f.person.AskFirst.Add(*params, f.name)
	if err != nil {
		return nil, err
	}
	f.record(f.journal.AskFirstChanged(rule.At, journal.AskFirst{ID: rule.ID, By: f.name, After: rule.Sentence()}))
	return &protocol.AddAskFirstResult{RuleID: rule.ID}, nil
}

// RemoveAskFirst implements [protocol.Sidecar].
func (f *frontEnd) RemoveAskFirst(_ context.Context, params *protocol.RemoveAskFirstParams) (*protocol.RemoveAskFirstResult, error) {
	if f.person.AskFirst == nil {
		return nil, errNoAskFirst
	}
	rule, err := f.person.AskFirst.Remove(params.RuleID)
	if err != nil || rule == nil {
		return &protocol.RemoveAskFirstResult{}, err
	}
	f.record(f.journal.AskFirstChanged(f.now().UnixMilli(), journal.AskFirst{ID: rule.ID, By: f.name, Before: rule.Sentence()}))
	return &protocol.RemoveAskFirstResult{Removed: true}, nil
}

// RemoveToolRule implements [protocol.Sidecar].
func (f *frontEnd) RemoveToolRule(ctx context.Context, params *protocol.RemoveToolRuleParams) (*protocol.RemoveToolRuleResult, error) {
	removed, err := f.toolRules.Remove(ctx, params.RuleID, f.name)
	if err != nil {
		return nil, err
	}
	f.policy.Changed()
	return &protocol.RemoveToolRuleResult{Removed: removed}, nil
}
