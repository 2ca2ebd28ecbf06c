package workspace

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"

	"assent/protocol"
	"assent/sidecar/config/orgpolicy"
	"assent/sidecar/gateway/agents"
	"assent/sidecar/gateway/hosts"
	"assent/sidecar/task"
)

// hostCapabilities are what servers are told that Assent can do for a host's calls, whether or not a front end is attached:
// a question waits in the inbox.
var hostCapabilities = protocol.FrontEndCapabilities{Elicitation: true, Sampling: true, OpenURL: true}

// AttachHost serves a host over conn as [hosts.Hosts.Serve] does.
func (w *Workspace) AttachHost(ctx context.Context, conn io.ReadWriteCloser, u hosts.Use) error {
	defer w.joinHost(u)()
	u.AnswerIn = w.organisation.answerIn(u.AnswerIn)
	return w.hosts.Serve(ctx, conn, u)
}

// ServeHost serves a request over HTTP of a host that is known by its credential. The workspace stays open for its next
// request.
func (w *Workspace) ServeHost(rw http.ResponseWriter, r *http.Request, credential string, u hosts.Use) {
	if err := w.organisation.files.Forbids(orgpolicy.GatewayHTTP); err != nil {
		http.Error(rw, "Assent serves no program over HTTP. "+err.Error(), http.StatusForbidden)
		return
	}
	defer w.joinHost(u)()
	u.AnswerIn = w.organisation.answerIn(u.AnswerIn)
	w.configured.lasting.Store(true)
	w.hosts.ServeHTTP(rw, r, credential, u)
}

// EndHost ends the sessions over HTTP of a host that has lost its credential.
func (w *Workspace) EndHost(credential string) { w.hosts.End(credential) }

// HasSessions reports whether a host over HTTP has a session, which would end with the workspace.
func (w *Workspace) HasSessions() bool { return w.hosts.HasSessions() }

// AttachAgent serves a hook of an agent's host as [agents.Agents.Serve] does. The folder is the one that the hook names.
func (w *Workspace) AttachAgent(ctx context.Context, conn io.ReadWriteCloser, folder string, e *agents.Event) error {
	w.configured.lasting.Store(true) // for its next question
	if w.Label() == "" {
		w.introduce([]protocol.WorkspaceFolder{{Name: filepath.Base(folder), Path: folder}})
	}
	return w.agents.Serve(ctx, conn, e)
}

// joinHost has a host's configuration count while no window of the workspace is attached, until leave is called.
func (w *Workspace) joinHost(u hosts.Use) (leave func()) {
	f := &frontEnd{Workspace: w, transient: true, info: protocol.Implementation{Name: cmp.Or(u.Program, "a host"), Version: w.opts.Version}}
	w.attached.promise(hostCapabilities)
	w.join(f, u.Configuration)
	w.background.begun.Do(w.begin)
	return func() { w.detach(f) }
}

func (w *Workspace) newHosts() *hosts.Hosts {
	return hosts.New(hosts.Options{
		Workspace: forHosts{w}, Hub: w.hub.Hub, Tasks: w.tasks, Chat: w.chat, Broker: w.broker,
		ListsFile: filepath.Join(w.opts.DataDir, "lists.json"), Version: w.opts.Version, Log: w.opts.Log,
	})
}

func (w *Workspace) newAgents() *agents.Agents {
	return agents.New(agents.Options{
		Converse: w.hosts.Converse, Forwarded: w.hosts.Forwarded, Log: w.opts.Log,
		Ask: func(ctx context.Context, t *task.Task, q protocol.UseMcpServer) (*task.Answer, error) {
			switch q := q.(type) {
			case protocol.HostPermission:
				return w.broker.Permit(ctx, t, q)
			case protocol.McpElicitation:
				return w.broker.Question(ctx, t, q)
			default:
				return nil, fmt.Errorf("an agent's host does not ask a %T", q)
			}
		},
	})
}

// forHosts is a workspace as its hosts need it.
type forHosts struct{ *Workspace }

// Promise implements [hosts.Workspace].
func (w forHosts) Promise(c protocol.FrontEndCapabilities) { w.attached.promise(c) }

// Notify implements [hosts.Workspace].
func (w forHosts) Notify(title string) { w.person.notify(title, w.opts.Log) }
