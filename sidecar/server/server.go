// Package server serves the protocol to a front end, and connects the parts of the sidecar.
//
// A [Server] serves one connection. Requests run concurrently. Work that outlives its request belongs to the chat or the
// hub. [Server.Serve] returns when all work has ended.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/auth"
	"assent/sidecar/broker"
	"assent/sidecar/chat"
	"assent/sidecar/config"
	"assent/sidecar/grant"
	"assent/sidecar/hub"
	"assent/sidecar/inbox"
	"assent/sidecar/journal"
	"assent/sidecar/leftover"
	"assent/sidecar/model"
	"assent/sidecar/rpc"
	"assent/sidecar/secret"
	"assent/sidecar/stack"
	"assent/sidecar/store"
	"assent/sidecar/tap"
	"assent/sidecar/task"
)

// demoPace is how fast the demo model writes: as one that can be watched.
const demoPace = 20 * time.Millisecond

// defaultKeepResults is for how many days results of MCP tasks are kept, as in [protocol.McpTaskSettings].
const defaultKeepResults = 30

// defaultIdle is for how long a connection may go unused, as in [protocol.Configuration].
const defaultIdle = 30 * time.Minute

// Options are what a server needs.
type Options struct {
	// Version is the sidecar's own.
	Version string
	// DataDir holds the store.
	DataDir string
	// RunsDir holds the files of package leftover, which all sidecars of a person share. If it is empty, the sidecar does
	// not end the servers that a killed sidecar left.
	RunsDir string
	// Temporary reports that the caller removes DataDir after the end. If the sidecar is killed, package leftover does.
	Temporary bool
	// DecisionsDir holds the store of the person's decisions about servers; empty means DataDir.
	DecisionsDir string
	// LoginsDir holds the locks of logins. All sidecars whose front ends have the same secrets must share it, even if they
	// have different DataDirs. Empty means a folder in DataDir.
	LoginsDir string
	Log       zerolog.Logger
	// Masker learns from the server which secrets Assent holds; it may be nil.
	Masker *secret.Masker
	// Tap may be nil.
	Tap *tap.Tap
	// Now and NewID are replaced by tests that compare whole conversations.
	Now   func() time.Time
	NewID func() string
}

// Server is the sidecar as its front end sees it.
type Server struct {
	opts   Options
	editor protocol.Editor
	tasks  *task.Registry
	grants *grant.Book
	// toolRules are kept beside the grants.
	toolRules *grant.ToolRules
	journal   *journal.Journal
	// stacks are shared by the goroutines that serve requests, of servers and of the front end.
	stacks stack.Pool
	// leftovers mark the processes of servers; nil marks none.
	leftovers *leftover.Run

	// The handshake sets these once, and closes initialized.
	initialized  chan struct{}
	frontEnd     protocol.Implementation
	capabilities protocol.FrontEndCapabilities
	auth         *auth.Authorizer
	broker       *broker.Broker
	hub          *hub.Hub
	inbox        *inbox.Inbox
	chat         *chat.Chat
	vscode       *model.VSCode // nil if the front end has no models
	watcher      *config.Watcher

	importing sync.Mutex // held while an mcp.json is written
	decisions decisions

	given   given
	scanner *secret.Scanner
	// environment returns the secrets of the sidecar's own environment, which are looked for once.
	environment func() []secret.Held
	// keys are the API keys of the configured models; nil before the handshake.
	keys atomic.Pointer[[]model.Key]

	resuming sync.WaitGroup
	// keepResults and keepJournal bring the days for which results and records are kept, the newest setting
	// only.
	keepResults chan int
	keepJournal chan int
	keeping     sync.WaitGroup
	stopKeeping context.CancelFunc // set by the handshake

	mu            sync.Mutex // guards the fields below
	configuration protocol.Configuration
	models        *model.Set
	problems      []protocol.ConfigProblem
}

var _ protocol.Sidecar = (*Server)(nil)

// New returns a server that has not begun.
func New(opts Options) *Server {
	return &Server{
		opts: opts, decisions: decisions{dir: opts.DecisionsDir}, scanner: secret.New(), environment: sync.OnceValue(environmentSecrets),
		initialized: make(chan struct{}), keepResults: make(chan int, 1), keepJournal: make(chan int, 1),
	}
}

// Serve speaks the protocol over in and out until in ends or ctx does, and returns when everything
// it started has ended. An error means that the wire itself was broken.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.beginRun()
	// The connection reads as soon as it exists, so its first message waits for the editor.
	ready := make(chan struct{})
	conn := rpc.New(ctx, in, out, rpc.Options{
		Serve: func(ctx context.Context, method string, params json.RawMessage) (any, error) {
			<-ready
			return s.dispatch(ctx, method, params)
		},
		InOrder: []string{methodInitialize},
		Peer:    "the front end",
		Tap:     s.tapFrontEnd(),
		Stacks:  &s.stacks,
		Log:     s.opts.Log,
	})
	s.editor = protocol.NewEditorClient(conn)
	s.journal = journal.New(journal.Options{Held: s.held})
	s.opts.Masker.Hold(s.held)
	s.tasks = task.NewRegistry(task.Options{
		OpenStore: func() (*store.Store, error) { return store.Open(s.opts.DataDir) },
		Events:    s.editor,
		Check:     func(q protocol.UseMcpServer) task.Check { return s.broker.Check(q) },
		Window:    s.window,
		Claimed:   func(t *task.Task) { s.chat.ResumeTask(t) },
		Lost:      s.lost,
		Journal:   s.journal,
		Stacks:    &s.stacks,
		Log:       s.opts.Log,
		Now:       s.opts.Now,
		NewID:     s.opts.NewID,
	})
	s.grants = s.grantBook()
	s.toolRules = grant.NewToolRules(s.grants)
	close(ready)

	<-conn.Done()
	err := conn.Close()
	s.shutdown()
	s.stacks.Close()
	if err := s.leftovers.End(); err != nil {
		s.opts.Log.Warn().Err(err).Msg("ending the run")
	}
	return err
}

// beginRun starts to end the servers that killed sidecars left, and prepares the marks of this one's servers.
func (s *Server) beginRun() {
	if s.opts.RunsDir == "" {
		return
	}
	temporary := ""
	if s.opts.Temporary {
		temporary = s.opts.DataDir
	}
	var err error
	if s.leftovers, err = leftover.Begin(s.opts.RunsDir, temporary, s.opts.Log); err != nil {
		s.opts.Log.Warn().Err(err).Msg("servers that outlive a killed sidecar are not ended")
	}
}

// methodInitialize is the handshake's. Every other request waits for nothing, and fails before it.
const methodInitialize = "initialize"

func (s *Server) dispatch(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if method != methodInitialize && !s.isInitialized() {
		return nil, protocol.Errorf(protocol.CodeServerNotInitialized, "%s came before initialize", method)
	}
	return protocol.DispatchSidecar(ctx, s, method, params)
}

// shutdown ends the parts of the sidecar: each one before those that it depends on.
func (s *Server) shutdown() {
	if s.isInitialized() {
		s.stopKeeping()
		s.watcher.Close()
		s.chat.Interrupt()
		s.auth.Close() // ends the requests that wait for a login
		s.hub.Close()
		s.chat.Close()
	}
	s.resuming.Wait()
	s.keeping.Wait()
	if err := errors.Join(s.tasks.Close(), s.decisions.close()); err != nil {
		s.opts.Log.Error().Err(err).Msg("closing the store")
	}
}

func (s *Server) isInitialized() bool {
	select {
	case <-s.initialized:
		return true
	default:
		return false
	}
}

// Initialize implements [protocol.Sidecar]. It starts nothing: the store is opened by the first task
// that is looked at, a server by its first use.
func (s *Server) Initialize(_ context.Context, params *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	if s.isInitialized() {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "initialize came twice")
	}
	if err := checkVersion(params, s.opts.Version); err != nil {
		return nil, err
	}
	s.frontEnd = params.ClientInfo
	if params.Capabilities.LanguageModels {
		s.vscode = model.NewVSCode(s.editor)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		s.opts.Log.Warn().Err(err).Msg("${userHome} will be empty")
	}
	grants := s.grants
	if !params.Capabilities.Sampling {
		grants = nil // no grant approves a request that the front end cannot show
	}
	s.broker = broker.New(broker.Options{
		Models: s.modelsFor, Settings: s.samplingSettings, Elicitation: s.elicitationSettings, AskTimeout: s.askTimeout, Held: s.held, Grants: grants,
		Denied: s.deniedUnclaimed, DeclinedChanged: s.declinedChanged, ToolRules: s.toolRules, Tools: s.toolSettings,
		FrontEnd: params.Capabilities, Stacks: &s.stacks, Log: s.opts.Log,
	})
	s.inbox = s.newInbox()
	s.auth = auth.New(s.logins(params.Capabilities))
	s.capabilities = params.Capabilities
	environment := config.Environment{
		Environ: os.Environ(), Home: home, Ask: s.askInput, Note: s.given.note, Shell: config.NewLoginShell(os.Environ()),
	}
	s.hub = hub.New(hub.Options{
		Broker: s.broker,
		Task: func(id string) (hub.Asker, error) {
			t, err := s.tasks.Get(id)
			if err != nil {
				return nil, err
			}
			return t, nil
		},
		Whose:        s.whose,
		Changed:      s.serverChanged,
		ListChanged:  s.listChanged,
		Redact:       s.redacted,
		Confirm:      s.confirmations(environment).Confirm,
		Environment:  environment,
		Authorize:    s.authorize,
		Now:          s.now,
		Memory:       s.memory(),
		Capabilities: params.Capabilities,
		Client:       protocol.Implementation{Name: "assent", Version: s.opts.Version},
		Tap:          s.tapServer(),
		Leftovers:    s.leftovers,
		Stacks:       &s.stacks,
		Log:          s.opts.Log,
	})
	s.chat = chat.New(chat.Options{
		Tasks: s.tasks, Servers: s.hub, Models: s.chatModels, Approver: s.broker, Settings: s.chatSettings, Log: s.opts.Log,
	})
	s.watcher = config.NewWatcher(s.reload, s.opts.Log)
	s.configure(params.Configuration)
	s.resuming.Go(func() { // reads the store, for which the handshake does not wait
		if err := s.chat.Resume(); err != nil {
			s.opts.Log.Error().Err(err).Msg("MCP tasks were not taken up again")
		}
	})
	keeping, stop := context.WithCancel(context.Background())
	s.stopKeeping = stop
	s.keeping.Go(func() { s.tasks.Follow(keeping, lookEvery) })
	s.keeping.Go(func() { s.tasks.KeepResults(keeping, s.keepResults) })
	s.keeping.Go(func() { s.tasks.KeepDeleted(keeping) })
	s.keeping.Go(func() { s.tasks.KeepStore(keeping) })
	s.keeping.Go(func() { journal.Keep(keeping, s.tasks.Store, s.keepJournal, s.now, s.opts.Log) })
	close(s.initialized)
	s.opts.Log.Info().Str("frontEnd", params.ClientInfo.Name).Str("version", params.ClientInfo.Version).Msg("front end attached")
	return &protocol.InitializeResult{
		ProtocolVersion: protocol.Version,
		ServerInfo:      protocol.Implementation{Name: "assent", Version: s.opts.Version},
	}, nil
}

func checkVersion(params *protocol.InitializeParams, own string) error {
	theirs := params.ProtocolVersion
	if theirs == protocol.Version {
		return nil
	}
	update := fmt.Sprintf("update the sidecar (this is %s)", own)
	if theirs < protocol.Version {
		update = fmt.Sprintf("update %s (this is %s)", params.ClientInfo.Name, params.ClientInfo.Version)
	}
	return protocol.Errorf(protocol.CodeVersionMismatch,
		"the front end speaks version %d of Assent's protocol and the sidecar version %d: %s", theirs, protocol.Version, update)
}

func (s *Server) tapFrontEnd() func(bool, []byte) {
	if s.opts.Tap == nil {
		return nil
	}
	return func(fromFrontEnd bool, frame []byte) {
		speaker := tap.Sidecar
		if fromFrontEnd {
			speaker = tap.FrontEnd
		}
		s.opts.Tap.Frame(speaker, frame)
	}
}

func (s *Server) tapServer() func(string, bool, []byte) {
	if s.opts.Tap == nil {
		return nil
	}
	return func(name string, fromServer bool, frame []byte) {
		speaker := "client"
		if fromServer {
			speaker = "server"
		}
		s.opts.Tap.Frame(speaker+" "+name, frame)
	}
}

func (s *Server) serverChanged(info protocol.Server) {
	if err := s.editor.ServerChanged(context.Background(), &info); err != nil {
		s.opts.Log.Debug().Err(err).Msg("no front end took an event")
	}
}

func (s *Server) listChanged(serverName string, kind protocol.ListKind) {
	err := s.editor.ListChanged(context.Background(), &protocol.ListChangedParams{ServerName: serverName, List: kind})
	if err != nil {
		s.opts.Log.Debug().Err(err).Msg("no front end took an event")
	}
}

// configure takes a new configuration.
func (s *Server) configure(c protocol.Configuration) {
	providers := model.Endpoints(c.Model, http.DefaultClient)
	providers[protocol.ProviderDemo] = model.Demo{Pace: demoPace}
	if s.vscode != nil {
		providers[protocol.ProviderVSCode] = s.vscode
	}
	keys := model.Keys(c.Model)
	s.keys.Store(&keys)
	s.mu.Lock()
	s.configuration = c
	s.models = model.NewSet(providers, c.Model, model.DefaultPatience)
	replace(s.keepResults, keepResultsDays(c))
	replace(s.keepJournal, keepJournalDays(c))
	s.mu.Unlock()
	var folders []string
	for _, f := range c.WorkspaceFolders {
		folders = append(folders, f.Path)
	}
	s.watcher.Watch(folders)
	s.hub.SetFolders(config.Trusted(c.WorkspaceFolders))
	s.hub.SetIdle(idleTime(c))
	s.hub.SetToolTimeout(toolTimeout(c))
	s.load()
}

// replace puts a setting into a channel of one, in place of one that was not taken yet. The caller is the
// only one that sends.
func replace(setting chan int, days int) {
	select {
	case <-setting:
	default:
	}
	setting <- days
}

// load reads the configured servers again.
func (s *Server) load() *protocol.ServersChangedParams {
	s.mu.Lock()
	defer s.mu.Unlock()
	result := config.Load(s.configuration)
	s.problems = result.Problems
	s.given.keep(result.Servers)
	return &protocol.ServersChangedParams{Servers: s.hub.Configure(result.Servers), Problems: result.Problems}
}

// reload is load after a file changed, told to the front end.
func (s *Server) reload() {
	if err := s.editor.ServersChanged(context.Background(), s.load()); err != nil {
		s.opts.Log.Debug().Err(err).Msg("no front end took an event")
	}
}

func (s *Server) modelsFor(server string) broker.Models {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.models.For(server)
}

// keepResultsDays returns for how many days results are kept.
func keepResultsDays(c protocol.Configuration) int {
	if c.McpTasks == nil {
		return defaultKeepResults
	}
	return c.McpTasks.KeepResults
}

// toolTimeout bounds the time in which a call of a tool has neither a result nor progress; 0 is no bound.
func toolTimeout(c protocol.Configuration) time.Duration {
	if c.Tools == nil {
		return 0
	}
	return time.Duration(c.Tools.Timeout) * time.Second
}

// idleTime returns for how long a connection may go unused.
func idleTime(c protocol.Configuration) time.Duration {
	if c.IdleMinutes == nil {
		return defaultIdle
	}
	return time.Duration(*c.IdleMinutes) * time.Minute
}

func (s *Server) elicitationSettings() protocol.ElicitationSettings {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.configuration.Elicitation == nil {
		return protocol.ElicitationSettings{}
	}
	return *s.configuration.Elicitation
}

func (s *Server) askTimeout() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(s.configuration.AskTimeout) * time.Second
}

func (s *Server) samplingSettings() protocol.SamplingSettings {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.configuration.Sampling == nil {
		return protocol.SamplingSettings{}
	}
	return *s.configuration.Sampling
}

// askInput asks the person for an input of mcp.json.
func (s *Server) askInput(ctx context.Context, server config.Server, in config.Input) (string, error) {
	if !s.capabilities.Inputs {
		return "", fmt.Errorf("%s cannot ask for the input %q", s.frontEnd.Name, in.ID)
	}
	result, err := s.editor.PromptInput(ctx, &protocol.PromptInputParams{
		ID: in.ID, Source: server.Source, ServerName: server.Name, Kind: in.Type,
		Description: in.Description, Default: in.Default, Password: in.Password, Options: in.Options,
	})
	switch {
	case err != nil:
		return "", err
	case result.Value == nil:
		return "", fmt.Errorf("the input %q was not given", in.ID)
	}
	if in.Password {
		s.given.add(server, "input:"+in.ID, result.Value.Secret)
	}
	return result.Value.Secret, nil
}
