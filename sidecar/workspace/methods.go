package workspace

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"assent/protocol"
	"assent/sidecar/broker/form"
	"assent/sidecar/config"
	"assent/sidecar/hub"
	"assent/sidecar/hub/diagnose"
	"assent/sidecar/setup/importer"
)

// CreateTask implements [protocol.Sidecar].
func (w *Workspace) CreateTask(_ context.Context, params *protocol.CreateTaskParams) (*protocol.Task, error) {
	info, err := w.tasks.Create(params.Title)
	if err != nil {
		return nil, err
	}
	return &info, nil
}

// ListTasks implements [protocol.Sidecar].
func (w *Workspace) ListTasks(context.Context) (*protocol.ListTasksResult, error) {
	tasks, err := w.tasks.List()
	if err != nil {
		return nil, err
	}
	deleted, err := w.tasks.Deleted()
	if err != nil {
		return nil, err
	}
	return &protocol.ListTasksResult{
		Tasks: tasks, Deleted: deleted, StorageFailure: w.tasks.StorageFailure(), StorageNote: w.tasks.StorageNote(),
	}, nil
}

// OpenTask implements [protocol.Sidecar].
func (w *Workspace) OpenTask(ctx context.Context, params *protocol.OpenTaskParams) (*protocol.OpenTaskResult, error) {
	t, err := w.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	return t.Open(ctx, params.After, params.Before, params.Limit)
}

// RenameTask implements [protocol.Sidecar].
func (w *Workspace) RenameTask(ctx context.Context, params *protocol.RenameTaskParams) (*protocol.Task, error) {
	t, err := w.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	info, err := t.Rename(params.Title)
	if err != nil {
		return nil, err
	}
	return &info, nil
}

// ListOpenAsks implements [protocol.Sidecar].
func (w *Workspace) ListOpenAsks(ctx context.Context) (*protocol.ListOpenAsksResult, error) {
	asks, truncated, err := w.tasks.OpenAsks()
	if err != nil {
		return nil, err
	}
	w.hosts.Name(asks)
	return &protocol.ListOpenAsksResult{Asks: asks, Truncated: truncated, Unattributed: w.unattributed.List(), Declined: w.policy.Declined()}, nil
}

// CheckForm implements [protocol.Sidecar].
func (w *Workspace) CheckForm(_ context.Context, params *protocol.CheckFormParams) (*protocol.CheckFormResult, error) {
	_, problems := form.Check(params.Fields, params.Content)
	return &protocol.CheckFormResult{Problems: problems}, nil
}

// SaveDraft implements [protocol.Sidecar].
func (w *Workspace) SaveDraft(ctx context.Context, params *protocol.SaveDraftParams) (*protocol.SaveDraftResult, error) {
	t, err := w.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	if err := t.SaveDraft(ctx, params.AskID, params.Draft); err != nil {
		return nil, err
	}
	return &protocol.SaveDraftResult{}, nil
}

// ExtendAsk implements [protocol.Sidecar].
func (w *Workspace) ExtendAsk(ctx context.Context, params *protocol.ExtendAskParams) (*protocol.ExtendAskResult, error) {
	t, err := w.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	expiresAt, err := t.Extend(ctx, params.AskID)
	if err != nil {
		return nil, err
	}
	return &protocol.ExtendAskResult{ExpiresAt: expiresAt}, nil
}

// AskAgain implements [protocol.Sidecar].
func (w *Workspace) AskAgain(_ context.Context, params *protocol.ServerParams) (*protocol.AskAgainResult, error) {
	w.policy.AskAgain(params.ServerName)
	return &protocol.AskAgainResult{}, nil
}

// declinedChanged tells the front end of the servers from which everything is declined.
func (w *Workspace) declinedChanged(declined []protocol.DeclinedServer) {
	if err := w.editor.DeclinedChanged(context.Background(), &protocol.DeclinedChangedParams{Declined: declined}); err != nil {
		w.opts.Log.Debug().Err(err).Msg("an event was not delivered to a front end")
	}
}

// ListServers implements [protocol.Sidecar].
func (w *Workspace) ListServers(context.Context) (*protocol.ServersChangedParams, error) {
	w.configured.mu.Lock()
	defer w.configured.mu.Unlock()
	return &protocol.ServersChangedParams{Servers: w.listed(w.hub.Servers()), Problems: w.configured.problems}, nil
}

// RestartServer implements [protocol.Sidecar].
func (w *Workspace) RestartServer(ctx context.Context, params *protocol.ServerParams) (*protocol.Server, error) {
	info, err := w.hub.Restart(ctx, params.ServerName)
	if err != nil {
		return nil, err
	}
	return &info, nil
}

// StopServer implements [protocol.Sidecar].
func (w *Workspace) StopServer(_ context.Context, params *protocol.ServerParams) (*protocol.Server, error) {
	info, err := w.hub.Stop(params.ServerName)
	if err != nil {
		return nil, err
	}
	return &info, nil
}

// FindImports implements [protocol.Sidecar].
func (w *Workspace) FindImports(context.Context) (*protocol.FindImportsResult, error) {
	places, known := w.importPlaces()
	sources := importer.Find(places, known)
	for _, source := range sources {
		for i := range source.Servers {
			if err := w.mayImport(source.Servers[i]); err != nil {
				source.Servers[i].Warnings = append(source.Servers[i].Warnings, diagnose.Sentence(err.Error()))
			}
		}
	}
	return &protocol.FindImportsResult{Sources: sources}, nil
}

// mayImport returns why the organisation does not let the front ends of the workspace use a server of another program, or nil.
func (w *Workspace) mayImport(s protocol.ImportServer) error {
	return w.organisation.files.CheckDefinition(s.Name, s.Entry, w.organisation.ownPrograms()...)
}

// Import implements [protocol.Sidecar].
func (w *Workspace) Import(_ context.Context, params *protocol.ImportParams) (*protocol.ImportResult, error) {
	w.configured.importing.Lock()
	defer w.configured.importing.Unlock()
	places, known := w.importPlaces()
	for _, source := range importer.Find(places, known) {
		for _, s := range source.Servers {
			if s.Known || !slices.Contains(params.Servers, protocol.ImportName{Path: source.Path, Name: s.Name}) {
				continue
			}
			if err := w.mayImport(s); err != nil {
				return nil, protocol.Errorf(protocol.CodeInvalidParams, "nothing was imported: leave out the server %q. %v", s.Name, err)
			}
		}
	}
	result, err := importer.Import(places, params, known)
	if err != nil {
		return nil, err
	}
	// The watcher sees the change too, but later. The person looks for the imported servers now.
	w.reload()
	return result, nil
}

// importPlaces returns where servers of other programs are looked for, and the names that are taken.
func (w *Workspace) importPlaces() (importer.Places, []string) {
	places := importer.Places{
		OS: runtime.GOOS, Home: config.Home(w.opts.Environ),
		Env: func(name string) string { return config.LookupEnv(w.opts.Environ, name) },
	}
	w.configured.mu.Lock()
	defer w.configured.mu.Unlock()
	for _, f := range config.Trusted(w.configured.merged.WorkspaceFolders) {
		places.Folders = append(places.Folders, f.Path)
	}
	var known []string
	for _, server := range w.hub.Servers() {
		known = append(known, server.Name)
	}
	return places, known
}

// ListTools implements [protocol.Sidecar].
func (w *Workspace) ListTools(ctx context.Context, params *protocol.ServerParams) (*protocol.ListToolsResult, error) {
	tools, err := w.hub.Tools(ctx, params.ServerName)
	if err != nil {
		return nil, err
	}
	return &protocol.ListToolsResult{Tools: tools, Problems: w.hub.ListProblems(params.ServerName, protocol.ListTools)}, nil
}

// ListResources implements [protocol.Sidecar].
func (w *Workspace) ListResources(ctx context.Context, params *protocol.ServerParams) (*protocol.ListResourcesResult, error) {
	resources, err := w.hub.Resources(ctx, params.ServerName)
	if err != nil {
		return nil, err
	}
	return &protocol.ListResourcesResult{Resources: resources, Problems: w.hub.ListProblems(params.ServerName, protocol.ListResources)}, nil
}

// ListResourceTemplates implements [protocol.Sidecar].
func (w *Workspace) ListResourceTemplates(ctx context.Context, params *protocol.ServerParams) (*protocol.ListResourceTemplatesResult, error) {
	templates, err := w.hub.ResourceTemplates(ctx, params.ServerName)
	if err != nil {
		return nil, err
	}
	return &protocol.ListResourceTemplatesResult{ResourceTemplates: templates, Problems: w.hub.ListProblems(params.ServerName, hub.ListTemplates)}, nil
}

// ListIcons implements [protocol.Sidecar].
func (w *Workspace) ListIcons(ctx context.Context, params *protocol.ServerParams) (*protocol.ListIconsResult, error) {
	return w.hub.Icons(params.ServerName)
}

// ListPrompts implements [protocol.Sidecar].
func (w *Workspace) ListPrompts(ctx context.Context, params *protocol.ServerParams) (*protocol.ListPromptsResult, error) {
	prompts, err := w.hub.Prompts(ctx, params.ServerName)
	if err != nil {
		return nil, err
	}
	return &protocol.ListPromptsResult{Prompts: prompts, Problems: w.hub.ListProblems(params.ServerName, protocol.ListPrompts)}, nil
}

// Complete implements [protocol.Sidecar].
func (w *Workspace) Complete(ctx context.Context, params *protocol.CompleteParams) (*protocol.CompleteResult, error) {
	return w.hub.Complete(ctx, params)
}

// StartCall implements [protocol.Sidecar].
func (w *Workspace) StartCall(ctx context.Context, params *protocol.StartCallParams) (*protocol.StartCallResult, error) {
	return w.chat.StartCall(ctx, params)
}

// CancelCall implements [protocol.Sidecar].
func (w *Workspace) CancelCall(ctx context.Context, params *protocol.CancelCallParams) (*protocol.CancelCallResult, error) {
	cancelled, err := w.chat.CancelCall(params.TaskID, params.MessageID)
	if err != nil {
		return nil, err
	}
	return &protocol.CancelCallResult{Cancelled: cancelled}, nil
}

// RunSeparately implements [protocol.Sidecar].
func (w *Workspace) RunSeparately(_ context.Context, params *protocol.RunSeparatelyParams) (*protocol.RunSeparatelyResult, error) {
	t, err := w.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	started := w.hosts.RunSeparately(params.TaskID, params.MessageID)
	if !started { // such as after a restart of the daemon
		t.CallJoined(params.MessageID, nil)
	}
	return &protocol.RunSeparatelyResult{Started: started}, nil
}

// ListModels implements [protocol.Sidecar].
func (w *Workspace) ListModels(ctx context.Context, params *protocol.ListModelsParams) (*protocol.ListModelsResult, error) {
	if params.TaskID != "" {
		if _, err := w.tasks.Get(params.TaskID); err != nil {
			return nil, err
		}
	}
	w.configured.mu.Lock()
	models := w.configured.models
	w.configured.mu.Unlock()
	if params.ServerName != "" {
		models = models.For(params.ServerName)
	}
	list, err := models.List(ctx)
	result := &protocol.ListModelsResult{Models: list}
	if err != nil {
		w.opts.Log.Warn().Err(err).Msg("some models cannot be listed")
	}
	if errors.Is(err, errModelsAway) {
		result.Away = modelsAreAway
	}
	return result, nil
}

// LanguageModelProgress implements [protocol.Sidecar].
func (w *Workspace) LanguageModelProgress(_ context.Context, params *protocol.LanguageModelProgressParams) error {
	if w.providers.vscode != nil {
		w.providers.vscode.Progress(params)
	}
	return nil
}

// until returns a context that ends when over is closed, too. Done is to be called when it is not needed
// any more.
func until(ctx context.Context, over <-chan struct{}) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-over:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel()
		watching.Wait()
	}
}
