package workspace

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/broker/policy"
	"assent/sidecar/config"
	"assent/sidecar/model"
)

// demoPace is how fast the demo model writes: as one that can be watched.
const demoPace = 20 * time.Millisecond

// defaultKeepResults is for how many days results of MCP tasks are kept, as in [protocol.McpTaskSettings].
const defaultKeepResults = 30

// defaultIdle is for how long a connection may go unused, as in [protocol.Configuration].
const defaultIdle = 30 * time.Minute

// configuration is what the front ends of a workspace configured, and what follows from it.
type configuration struct {
	changing    sync.Mutex  // held while a configuration is put in place; guards by and lendsModels
	by          []*frontEnd // the attached ones, and the last one that was; the one that configured last is last
	lendsModels bool        // a front end has models, or had some
	lasting     atomic.Bool // see [Workspace.Lasting]
	watcher     *config.Watcher
	importing   sync.Mutex // held while an mcp.json is written
	given       givenFolders

	mu       sync.Mutex // guards the fields below
	merged   protocol.Configuration
	models   *model.Set
	problems []protocol.ConfigProblem
	files    config.Memory
	// unused says which endpoints of models the organisation does not let be used.
	unused []protocol.ConfigProblem
}

// givenFolders are those of which transient front ends told, by the tasks that they created. Its lock is taken last of all.
type givenFolders struct {
	mu sync.Mutex // guards of
	of map[string][]protocol.WorkspaceFolder
}

// add has a task have no other roots than these folders.
func (g *givenFolders) add(taskID string, folders []protocol.WorkspaceFolder) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of == nil {
		g.of = map[string][]protocol.WorkspaceFolder{}
	}
	g.of[taskID] = folders
}

// get is [session.Options.TaskFolders].
func (g *givenFolders) get(taskID string) (folders []protocol.WorkspaceFolder, isTerminals bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	folders, isTerminals = g.of[taskID]
	return folders, isTerminals
}

// join adds the configuration of a new front end, and returns the front end that configures the workspace now. A front end
// that has left no longer does, unless the new one is transient and finds another front end, or work under way.
func (w *Workspace) join(f *frontEnd, c protocol.Configuration) (counting *frontEnd) {
	w.configured.changing.Lock()
	defer w.configured.changing.Unlock()
	f.configuration = c
	w.organisation.editorSays(f)
	stays := f.transient && (slices.ContainsFunc(w.configured.by, func(f *frontEnd) bool { return !f.detached }) || w.tasks.GoingOn() != "")
	w.configured.by = append(slices.DeleteFunc(w.configured.by, func(f *frontEnd) bool { return f.detached && !stays }), f)
	if !f.transient {
		w.configured.lasting.Store(true)
	}
	if w.merge() {
		w.tellServers()
	}
	return w.counting()
}

// counting returns the front end that configures the workspace: the one that configured last, or the first one if all
// are transient. The caller holds configured.changing.
func (w *Workspace) counting() *frontEnd {
	for _, f := range slices.Backward(w.configured.by) {
		if !f.transient {
			return f
		}
	}
	return w.configured.by[0]
}

// Lasting reports whether a front end has attached that is not transient, and so may come back.
func (w *Workspace) Lasting() bool { return w.configured.lasting.Load() }

// reconfigure puts another configuration of an attached front end in place.
func (w *Workspace) reconfigure(f *frontEnd, c protocol.Configuration) {
	w.configured.changing.Lock()
	defer w.configured.changing.Unlock()
	f.configuration = c
	w.organisation.editorSays(f)
	if !f.transient {
		i := slices.Index(w.configured.by, f)
		w.configured.by = append(slices.Delete(w.configured.by, i, i+1), f)
	}
	w.merge()
}

// detach takes back what a front end configured. What the last one configured stays until another one comes; transient
// ones do not count.
func (w *Workspace) detach(f *frontEnd) {
	w.attached.remove(f)
	w.logins.attached.remove(f)
	w.person.forget(f)
	w.configured.changing.Lock()
	defer w.configured.changing.Unlock()
	f.detached = true
	i := slices.Index(w.configured.by, f)
	if i < 0 {
		return // its handshake failed
	}
	if w.counting() == f && !slices.ContainsFunc(w.configured.by, func(f *frontEnd) bool { return !f.transient && !f.detached }) {
		return
	}
	w.configured.by = slices.Delete(w.configured.by, i, i+1)
	if w.merge() {
		w.tellServers()
	}
}

// tellServers tells the attached front ends which servers there are.
func (w *Workspace) tellServers() {
	list, err := w.ListServers(context.Background())
	if err == nil {
		err = w.editor.ServersChanged(context.Background(), list)
	}
	if err != nil {
		w.opts.Log.Debug().Err(err).Msg("an event was not delivered to a front end")
	}
}

// merge applies the configurations of the attached front ends, and reports whether anything changed. The settings are
// those of one of them; see counting. A folder is trusted, or confirmed, if each front end with that folder says so. A
// transient front end does not affect the folder of another front end, because that could end work there. The caller
// holds configured.changing.
func (w *Workspace) merge() (changed bool) {
	counting := w.counting()
	merged := counting.configuration
	merged.WorkspaceFolders = slices.Clone(merged.WorkspaceFolders)
	for i := range merged.WorkspaceFolders {
		folder := &merged.WorkspaceFolders[i]
		for _, f := range w.configured.by {
			if f.transient && f != counting {
				continue
			}
			for _, same := range f.configuration.WorkspaceFolders {
				if same.Path == folder.Path && same.RootOnly == folder.RootOnly {
					folder.Untrusted = folder.Untrusted || same.Untrusted
					folder.Confirmed = folder.Confirmed && same.Confirmed
				}
			}
		}
	}
	models := w.configured.lendsModels || slices.ContainsFunc(w.configured.by, func(f *frontEnd) bool { return f.capabilities.LanguageModels })
	w.configured.mu.Lock()
	same := w.configured.models != nil && reflect.DeepEqual(w.configured.merged, merged)
	w.configured.mu.Unlock()
	if same && models == w.configured.lendsModels {
		return false
	}
	w.configured.lendsModels = models
	w.configure(merged, models)
	return !same
}

// configure puts a configuration in place. Models reports that a front end has models.
func (w *Workspace) configure(c protocol.Configuration, models bool) {
	used := c.Model
	var unused []protocol.ConfigProblem
	used.Endpoints, unused = w.organisation.endpoints(used.Endpoints)
	providers := model.Endpoints(used, &w.providers.web)
	providers[protocol.ProviderDemo] = model.Demo{Pace: demoPace}
	if models {
		providers[protocol.ProviderVSCode] = w.providers.vscode
	}
	keys := model.Keys(c.Model)
	w.secrets.keys.Store(&keys)
	w.configured.mu.Lock()
	w.configured.merged, w.configured.unused = c, unused
	w.configured.models = model.NewSet(providers, used, model.DefaultTimeout)
	replace(w.background.results, keepResultsDays(c))
	replace(w.background.records, w.organisation.journalDays(keepJournalDays(c)))
	w.configured.mu.Unlock()
	w.introduce(c.WorkspaceFolders)
	if !w.opts.Unwatched {
		w.configured.watcher.Watch(w.watchedFiles(c))
	}
	w.hub.SetFolders(config.Trusted(c.WorkspaceFolders))
	w.hub.SetIdle(idleTime(c))
	w.hub.SetToolTimeout(toolTimeout(c))
	w.policy.Changed()
	w.load()
}

// watchedFiles returns the files that are read again as soon as they change.
func (w *Workspace) watchedFiles(c protocol.Configuration) []string {
	files := w.organisation.files.Watched()
	for _, f := range c.WorkspaceFolders {
		files = append(files, config.Files(f)...)
	}
	for _, file := range []string{w.opts.UserFile, c.EditorFile} {
		if file != "" {
			files = append(files, file)
		}
	}
	return files
}

// reconfigureLocked puts the present configuration in place again. The caller holds configured.changing.
func (w *Workspace) reconfigureLocked() {
	w.configured.mu.Lock()
	configured, c := w.configured.models != nil, w.configured.merged
	w.configured.mu.Unlock()
	if configured {
		w.configure(c, w.configured.lendsModels)
	}
}

// introduce says what to call this workspace in others: by its folders.
func (w *Workspace) introduce(folders []protocol.WorkspaceFolder) {
	var names, paths []string
	for _, f := range folders {
		names, paths = append(names, f.Name), append(paths, f.Path)
	}
	if len(names) == 0 {
		names, paths = []string{"no folder"}, []string{w.opts.DataDir}
	}
	w.person.name(w, strings.Join(names, ", "), strings.Join(paths, ", "))
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
func (w *Workspace) load() *protocol.ServersChangedParams {
	defer w.hosts.Configured()
	w.configured.mu.Lock()
	defer w.configured.mu.Unlock()
	result := w.configured.files.Load(w.configured.merged, w.opts.UserFile)
	w.configured.problems = slices.Concat(result.Problems, w.configured.unused)
	all := slices.Concat(result.Servers, result.Hidden)
	w.secrets.servers.retain(all)
	w.hub.SetSources(result.Sources, result.Problems)
	return &protocol.ServersChangedParams{Servers: w.listed(w.hub.Configure(all)), Problems: w.configured.problems}
}

// reload is load after a file changed, told to the front end.
func (w *Workspace) reload() {
	w.organisation.check()
	if err := w.editor.ServersChanged(context.Background(), w.load()); err != nil {
		w.opts.Log.Debug().Err(err).Msg("an event was not delivered to a front end")
	}
}

func (w *Workspace) modelsFor(server string) broker.Models {
	w.configured.mu.Lock()
	defer w.configured.mu.Unlock()
	return w.configured.models.For(server)
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

func (w *Workspace) askTimeout() time.Duration {
	w.configured.mu.Lock()
	defer w.configured.mu.Unlock()
	return time.Duration(w.configured.merged.AskTimeout) * time.Second
}

func (w *Workspace) policySettings() policy.Settings {
	w.configured.mu.Lock()
	defer w.configured.mu.Unlock()
	s := policy.Settings{Allowed: w.configured.merged.Model.Allowed, AnswerSeconds: w.configured.merged.AskTimeout}
	if set := w.configured.merged.Sampling; set != nil {
		s.Sampling = *set
	}
	if set := w.configured.merged.Elicitation; set != nil {
		s.Elicitation = *set
	}
	if set := w.configured.merged.Tools; set != nil {
		s.Tools = *set
	}
	return s
}
