// Package workspace serves the protocol to front ends, and connects the parts of the sidecar.
//
// A [Workspace] is one data folder with its tasks, servers, grants and journal. Any number of front ends attach to it,
// at the same time or one after the other. Each front end gets the changes of the tasks that it shows, and the first
// answer to an ask settles it. A front end lends the workspace what the sidecar lacks, such as the editor's models.
//
// All methods may be called from any goroutine. Requests run concurrently. Work that outlives its request belongs to the
// chat or the hub, and outlives the front end that asked for it. [Workspace.Close] returns when all work has ended.
package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/base/leftover"
	"assent/sidecar/base/secret"
	"assent/sidecar/base/tap"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/broker/grant"
	"assent/sidecar/broker/policy"
	"assent/sidecar/chat"
	"assent/sidecar/config"
	"assent/sidecar/config/managedfiles"
	"assent/sidecar/config/orgpolicy"
	"assent/sidecar/gateway/agents"
	"assent/sidecar/gateway/hosts"
	"assent/sidecar/hub"
	"assent/sidecar/hub/session"
	"assent/sidecar/model"
	"assent/sidecar/task"
	"assent/sidecar/task/journal"
	"assent/sidecar/task/store"
	"assent/sidecar/wire/apps"
)

// Options are what a workspace needs.
type Options struct {
	// Version is the sidecar's own.
	Version string
	// DataDir holds the store.
	DataDir string
	SharedDirs
	// Temporary reports that the caller removes DataDir after the end. If the sidecar is killed, package leftover does.
	Temporary bool
	// UserFile is the person's own mcp.json, and Secret returns what its servers name as ${secret:NAME}; see package config.
	// Both may be empty.
	UserFile string
	Secret   func(name string) (string, error)
	// Environ is the environment in which servers start, in the form of [os.Environ]; nil means this process's own.
	Environ []string
	// Folder is where servers without a workspace folder start; empty means this process's own.
	Folder string
	Log    zerolog.Logger
	// Masker learns from the workspace which secrets Assent holds; it may be nil.
	Masker *secret.Masker
	// Tap may be nil.
	Tap *tap.Tap
	// Apps serves the frames of MCP Apps; with nil, the workspace has a server of its own for them.
	Apps *apps.Server
	// Person has the other workspaces of the process; nil if there are none.
	Person *Person
	// Now and NewID are replaced by tests that compare whole conversations.
	Now   func() time.Time
	NewID func() string
}

// SharedDirs are the folders that workspaces of a person share.
type SharedDirs struct {
	// RunsDir holds the files of package leftover, which all sidecars of a person share. If it is empty, the sidecar does
	// not end the servers that a killed sidecar left.
	RunsDir string
	// DecisionsDir holds the store of the person's decisions about servers; empty means DataDir.
	DecisionsDir string
	// LoginsDir holds the locks of logins. All workspaces with the same secret storage must share it, even if their
	// DataDirs differ, because they have the same logins. Empty means a folder in DataDir, or beside it.
	LoginsDir string
	// PolicyRoot is for tests: the folder that stands for the root of the file system where an organisation's files are read.
	PolicyRoot string
	// Unwatched is for tests in a bubble of synctest: no file is watched, since a wait for the system would stop the bubble's
	// clock.
	Unwatched bool
}

// Workspace is one data folder and all that goes on in it.
type Workspace struct {
	parts
	opts   Options
	person *Person
	logins *sharedLogins // the person's; it has the logins
	frontEnds
	counted   counted
	apps      openApps
	providers providers
	// configured is what the front ends configured, and what follows from it.
	configured configuration
	decisions  decisions
	secrets    knownSecrets
	background *background
	organisation
	// leftovers mark the processes of servers; nil marks none.
	leftovers *leftover.Run
}

// parts are the packages that a workspace connects. [Open] makes them, and they do not change.
type parts struct {
	tasks  *task.Registry
	grants *grant.Book
	// toolRules are kept beside the grants.
	toolRules *grant.ToolRules
	journal   *journal.Journal
	policy    *policy.Policy
	broker    *broker.Broker
	// hub has the servers as front ends may use them. Hosts get those of its Hub.
	hub          usable
	unattributed *attribution.Queue
	chat         *chat.Chat
	hosts        *hosts.Hosts
	agents       *agents.Agents
	// environment is the one in which servers start.
	environment config.Environment
}

// frontEnds are the front ends of a workspace.
type frontEnds struct {
	attached       *attached
	editor         protocol.FrontEnd // all that are attached
	remoteRequests remoteRequests
}

// providers are where the models of a workspace are.
type providers struct {
	vscode *model.VSCode
	web    http.Client // for the endpoints
}

// Open returns a workspace without front ends. It starts nothing: the store is opened by the first task that is looked at,
// a server by its first use. Servers that a killed sidecar left behind are ended.
func Open(opts Options) *Workspace {
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	files := managedfiles.New(opts.PolicyRoot, opts.Environ)
	if err := files.Forbids(orgpolicy.Recording); err != nil && opts.Tap != nil {
		opts.Log.Warn().Err(err).Msg("no frames are recorded")
		opts.Tap = nil
	}
	w := &Workspace{
		opts: opts, person: cmp.Or(opts.Person, &Person{}), frontEnds: frontEnds{attached: newAttached(opts.Log)},
		decisions: decisions{dir: opts.DecisionsDir}, background: newBackground(),
	}
	w.organisation = organisation{files: files, uses: map[*serverUse]bool{}, changed: make(chan struct{}, 1)}
	w.logins = w.person.loginsFor(opts)
	w.secrets.init(opts.Environ, w.logins.auth)
	w.initApps()
	w.editor = editor{protocol.NewFrontEndClient(w.attached), w.attached}
	w.beginRun()
	w.journal = journal.New(journal.Options{Known: w.secrets.known})
	w.opts.Masker.SetKnown(w.secrets.known)
	w.tasks = task.NewRegistry(task.Options{
		OpenStore: func() (*store.Store, error) { return store.Open(w.opts.DataDir) },
		Events:    events{w.editor, w},
		Check:     func(q protocol.UseMcpServer) task.Check { return w.broker.Check(q) },
		Journal:   w.journal,
		Log:       w.opts.Log,
		Now:       w.opts.Now,
		NewID:     w.opts.NewID,
	})
	w.grants = w.grantBook()
	w.toolRules = grant.NewToolRules(w.grants)
	w.policy = policy.New(policy.Options{
		Settings: w.policySettings, Caps: w.caps, FrontEnd: w.attached.capabilities, Grants: w.grants, ToolRules: w.toolRules, AskFirst: w.person.AskFirst,
		Denied: w.deniedUnattributed, Invalid: w.invalidUnattributed, DeclinedChanged: w.declinedChanged, Changed: w.policyChanged, Now: w.opts.Now, Log: w.opts.Log,
	})
	w.unattributed = w.newQueue()
	w.broker = broker.New(broker.Options{
		Models: w.modelsFor, Policy: w.policy, Known: w.secrets.known, AskTimeout: w.askTimeout,
		Queue: w.unattributed, FrontEnd: w.attached.capabilities, Log: w.opts.Log,
	})
	w.providers.vscode = model.NewVSCode(w.editor)
	web := http.DefaultTransport.(*http.Transport).Clone()
	web.Proxy = config.Proxy(opts.Environ)
	w.providers.web.Transport = web
	environment := config.Environment{
		Environ: opts.Environ, Folder: opts.Folder, Home: config.Home(opts.Environ), Ask: w.askInput, Secret: opts.Secret, Note: w.secrets.servers.observe, Shell: config.NewLoginShell(opts.Environ),
		Permit: w.permitStart,
	}
	w.environment = environment
	w.hub = usable{w: w, Hub: hub.New(hub.Options{
		Options: session.Options{
			OfTasks: session.OfTasks{
				HostRoots:   func(taskID string) (session.HostRoots, bool) { return w.hosts.RootsOf(taskID) },
				TaskFolders: w.configured.given.get,
				StartsFor:   func(taskID string, s config.Server) session.StartsFor { return w.startsFor(taskID, s) },
			},
			Changed:      w.serverChanged,
			Redact:       w.redacted,
			Confirm:      w.confirmations(environment).Confirm,
			Environment:  environment,
			Authorize:    w.authorize,
			Memory:       w.memory(),
			Capabilities: w.attached.capabilities,
			Client:       protocol.Implementation{Name: "assent", Version: w.opts.Version},
			Tap:          w.tapServer(),
			Leftovers:    w.leftovers,
			Log:          w.opts.Log,
		},
		Broker:      w.broker,
		Task:        w.taskOf,
		ListChanged: w.listChanged, ResourceUpdated: w.resourceUpdated,
		Now: w.now,
	})}
	w.chat = chat.New(chat.Options{
		Tasks: w.tasks, Servers: w.hub, Models: w.chatModels, Approver: w.broker, Settings: w.chatSettings, Log: w.opts.Log,
		Apps: func() bool { return w.attached.capabilities().Apps },
	})
	w.configured.watcher, w.configured.files = config.NewWatcher(w.reload, w.opts.Log), config.Memory{}
	w.hosts = w.newHosts()
	w.agents = w.newAgents()
	w.person.enter(w)
	return w
}

// beginRun starts to end the servers that killed sidecars left, and prepares the marks of this one's servers.
func (w *Workspace) beginRun() {
	if w.opts.RunsDir == "" {
		return
	}
	temporary := ""
	if w.opts.Temporary {
		temporary = w.opts.DataDir
	}
	var err error
	if w.leftovers, err = leftover.Begin(w.opts.RunsDir, temporary, w.opts.Log); err != nil {
		w.opts.Log.Warn().Err(err).Msg("servers that outlive a killed process are not ended")
	}
}

// Busy returns what would be lost if the workspace were closed, such as "a question is open", or an empty text. It reads
// nothing from disk, but may wait for a task that does.
func (w *Workspace) Busy() string {
	what := w.tasks.GoingOn()
	switch {
	case !w.tasks.Unsaved():
		return what
	case what == "":
		return "changes are not saved"
	default:
		return what + ", changes are not saved"
	}
}

// LongestClose is how long a process may take from the signal to its end: its servers, what they left behind, and some
// seconds for its own work.
const LongestClose = hub.LongestClose + leftover.LongestEnd + 3*time.Second

// Ending returns the names of the servers that Close waits for.
func (w *Workspace) Ending() []string { return w.hub.Ending() }

// Close ends everything that goes on, each part before those that it depends on. No front end may be attached any more.
func (w *Workspace) Close() {
	w.attached.close()
	w.apps.close()
	w.hosts.Leave()
	w.remoteRequests.end(w.background.stop)
	w.configured.watcher.Close()
	w.chat.Interrupt()
	w.hub.Close() // a host's call that goes on with the next sidecar ends here, but is not cancelled
	w.hosts.Close()
	w.person.leave(w)
	if w.opts.Person == nil {
		w.person.Close()
	}
	w.chat.Close()
	w.background.running.Wait()
	if err := errors.Join(w.tasks.Close(), w.decisions.close()); err != nil {
		w.opts.Log.Error().Err(err).Msg("closing the store")
	}
	w.providers.web.CloseIdleConnections()
	if err := w.leftovers.End(); err != nil {
		w.opts.Log.Warn().Err(err).Msg("ending the run")
	}
}

func (w *Workspace) tapFrontEnd() func(bool, []byte) {
	if w.opts.Tap == nil {
		return nil
	}
	return func(fromFrontEnd bool, frame []byte) {
		speaker := tap.Sidecar
		if fromFrontEnd {
			speaker = tap.FrontEnd
		}
		w.opts.Tap.Frame(speaker, frame)
	}
}

func (w *Workspace) tapServer() func(string, bool, []byte) {
	if w.opts.Tap == nil {
		return nil
	}
	return func(name string, fromServer bool, frame []byte) {
		speaker := "client"
		if fromServer {
			speaker = "server"
		}
		w.opts.Tap.Frame(speaker+" "+name, frame)
	}
}

func (w *Workspace) serverChanged(info protocol.Server) {
	if info.State == protocol.ServerRunning {
		w.hosts.ServerRuns(info.Name)
	}
	if config.IsOwnName(info.Name) {
		return // it is in no list
	}
	info.Hides, info.Blocked = w.hides(info.Name), w.blockedWords(w.organisation.files.Look(), info.Name)
	if err := w.editor.ServerChanged(context.Background(), &info); err != nil {
		w.opts.Log.Debug().Err(err).Msg("an event was not delivered to a front end")
	}
}

func (w *Workspace) listChanged(serverName string, kind protocol.ListKind) {
	w.hosts.ListChanged(serverName)
	if kind == protocol.ListResources {
		w.apps.changed(serverName)
	}
	err := w.editor.ServerItemsChanged(context.Background(), &protocol.ServerItemsChangedParams{ServerName: serverName, List: kind})
	if err != nil {
		w.opts.Log.Debug().Err(err).Msg("an event was not delivered to a front end")
	}
}

func (w *Workspace) resourceUpdated(serverName string, params json.RawMessage) {
	w.apps.changed(serverName)
	w.hosts.ResourceUpdated(serverName, params)
}

// askInput asks the person for an input of mcp.json.
func (w *Workspace) askInput(ctx context.Context, server config.Server, in config.Input) (string, error) {
	if !w.attached.capabilities().Inputs {
		return "", fmt.Errorf("%s cannot ask for the input %q", w.attached.name(), in.ID)
	}
	result, err := w.editor.PromptInput(ctx, &protocol.PromptInputParams{
		ID: in.ID, Source: server.Source, ServerName: server.NameInSource(), Kind: in.Type,
		Description: in.Description, Default: in.Default, Password: in.Password, Options: in.Options,
	})
	switch {
	case err != nil:
		return "", err
	case result.Value == nil:
		return "", fmt.Errorf("the input %q has no value", in.ID)
	}
	if in.Password {
		w.secrets.servers.add(server, "input:"+in.ID, result.Value.Secret)
	}
	return result.Value.Secret, nil
}
