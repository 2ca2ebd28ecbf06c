package server

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/importer"
)

// DidChangeConfiguration implements [protocol.Sidecar].
func (s *Server) DidChangeConfiguration(ctx context.Context, params *protocol.Configuration) error {
	s.configure(*params)
	list, err := s.ListServers(ctx)
	if err != nil {
		return err
	}
	return s.editor.ServersChanged(ctx, list)
}

// CreateTask implements [protocol.Sidecar].
func (s *Server) CreateTask(_ context.Context, params *protocol.CreateTaskParams) (*protocol.Task, error) {
	info, err := s.tasks.Create(params.Title)
	if err != nil {
		return nil, err
	}
	return &info, nil
}

// ListTasks implements [protocol.Sidecar].
func (s *Server) ListTasks(context.Context) (*protocol.ListTasksResult, error) {
	tasks, err := s.tasks.List()
	if err != nil {
		return nil, err
	}
	deleted, err := s.tasks.Deleted()
	if err != nil {
		return nil, err
	}
	return &protocol.ListTasksResult{
		Tasks: tasks, Deleted: deleted, StorageFailure: s.tasks.StorageFailure(), StorageNote: s.tasks.StorageNote(),
	}, nil
}

// OpenTask implements [protocol.Sidecar].
func (s *Server) OpenTask(ctx context.Context, params *protocol.OpenTaskParams) (*protocol.OpenTaskResult, error) {
	t, err := s.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	return t.Open(ctx, params.After, params.Before, params.Limit)
}

// RenameTask implements [protocol.Sidecar].
func (s *Server) RenameTask(ctx context.Context, params *protocol.RenameTaskParams) (*protocol.Task, error) {
	t, err := s.tasks.Own(ctx, params.TaskID)
	if err != nil {
		return nil, err
	}
	info, err := t.Rename(params.Title)
	if err != nil {
		return nil, err
	}
	return &info, nil
}

// CloseTask implements [protocol.Sidecar].
func (s *Server) CloseTask(ctx context.Context, params *protocol.CloseTaskParams) (*protocol.Task, error) {
	t, err := s.tasks.Own(ctx, params.TaskID)
	if err != nil {
		return nil, err
	}
	// The asks first: the person dismissed them, which is more than that their calls ended.
	info, err := t.Close(s.frontEnd.Name)
	if err != nil {
		return nil, err
	}
	s.chat.CancelTask(params.TaskID)
	s.hub.CloseTask(params.TaskID)
	return &info, nil
}

// TakeOver implements [protocol.Sidecar].
func (s *Server) TakeOver(ctx context.Context, params *protocol.TakeOverParams) (*protocol.Task, error) {
	t, err := s.tasks.TakeOver(ctx, params.TaskID)
	if err != nil {
		return nil, err
	}
	info := t.Info()
	return &info, nil
}

// ListOpenAsks implements [protocol.Sidecar].
func (s *Server) ListOpenAsks(ctx context.Context) (*protocol.ListOpenAsksResult, error) {
	asks, truncated, err := s.tasks.OpenAsks(ctx)
	if err != nil {
		return nil, err
	}
	return &protocol.ListOpenAsksResult{Asks: asks, Truncated: truncated, Unclaimed: s.inbox.List(), Declined: s.broker.Declined()}, nil
}

// AskResponse implements [protocol.Sidecar].
func (s *Server) AskResponse(ctx context.Context, params *protocol.AskResponseParams) (*protocol.AskResponseResult, error) {
	t, err := s.tasks.OwnToAnswer(ctx, params.TaskID, params.AskID)
	if err != nil {
		return nil, err
	}
	if !params.DeclineAll {
		return t.Answer(ctx, params, s.frontEnd.Name)
	}
	question, _, err := t.Question(ctx, params.AskID)
	if err != nil {
		return nil, err
	}
	result, err := t.Answer(ctx, params, s.frontEnd.Name)
	if err != nil {
		return nil, err
	}
	switch q := question.(type) {
	case protocol.McpElicitation:
		s.tasks.DeclineAll(q.ServerName, s.frontEnd.Name)
	case protocol.McpURLElicitation:
		s.tasks.DeclineAll(q.ServerName, s.frontEnd.Name)
	}
	return result, nil
}

// SaveDraft implements [protocol.Sidecar].
func (s *Server) SaveDraft(ctx context.Context, params *protocol.SaveDraftParams) (*protocol.SaveDraftResult, error) {
	t, err := s.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	if err := t.SaveDraft(ctx, params.AskID, params.Draft); err != nil {
		return nil, err
	}
	return &protocol.SaveDraftResult{}, nil
}

// ExtendAsk implements [protocol.Sidecar].
func (s *Server) ExtendAsk(ctx context.Context, params *protocol.ExtendAskParams) (*protocol.ExtendAskResult, error) {
	t, err := s.tasks.Own(ctx, params.TaskID)
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
func (s *Server) AskAgain(_ context.Context, params *protocol.ServerParams) (*protocol.AskAgainResult, error) {
	s.broker.AskAgain(params.ServerName)
	return &protocol.AskAgainResult{}, nil
}

// declinedChanged tells the front end of the servers from which everything is declined.
func (s *Server) declinedChanged(declined []protocol.DeclinedServer) {
	if err := s.editor.DeclinedChanged(context.Background(), &protocol.DeclinedChangedParams{Declined: declined}); err != nil {
		s.opts.Log.Debug().Err(err).Msg("no front end took an event")
	}
}

// ListServers implements [protocol.Sidecar].
func (s *Server) ListServers(context.Context) (*protocol.ServersChangedParams, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &protocol.ServersChangedParams{Servers: s.hub.Servers(), Problems: s.problems}, nil
}

// RestartServer implements [protocol.Sidecar].
func (s *Server) RestartServer(ctx context.Context, params *protocol.ServerParams) (*protocol.Server, error) {
	info, err := s.hub.Restart(ctx, params.ServerName)
	if err != nil {
		return nil, err
	}
	return &info, nil
}

// StopServer implements [protocol.Sidecar].
func (s *Server) StopServer(_ context.Context, params *protocol.ServerParams) (*protocol.Server, error) {
	info, err := s.hub.Stop(params.ServerName)
	if err != nil {
		return nil, err
	}
	return &info, nil
}

// FindImports implements [protocol.Sidecar].
func (s *Server) FindImports(context.Context) (*protocol.FindImportsResult, error) {
	places, known := s.importPlaces()
	return &protocol.FindImportsResult{Sources: importer.Find(places, known)}, nil
}

// Import implements [protocol.Sidecar].
func (s *Server) Import(_ context.Context, params *protocol.ImportParams) (*protocol.ImportResult, error) {
	s.importing.Lock()
	defer s.importing.Unlock()
	places, known := s.importPlaces()
	result, err := importer.Import(places, params, known)
	if err != nil {
		return nil, err
	}
	// The watcher sees the change too, but later. The person looks for the imported servers now.
	s.reload()
	return result, nil
}

// importPlaces returns where servers of other programs are looked for, and the names that are taken.
func (s *Server) importPlaces() (importer.Places, []string) {
	home, err := os.UserHomeDir()
	if err != nil {
		s.opts.Log.Warn().Err(err).Msg("no servers of other programs will be found")
	}
	places := importer.Places{OS: runtime.GOOS, Home: home, Env: os.Getenv}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range config.Trusted(s.configuration.WorkspaceFolders) {
		places.Folders = append(places.Folders, f.Path)
	}
	var known []string
	for _, server := range s.hub.Servers() {
		known = append(known, server.Name)
	}
	return places, known
}

// ListTools implements [protocol.Sidecar].
func (s *Server) ListTools(ctx context.Context, params *protocol.ServerParams) (*protocol.ListToolsResult, error) {
	tools, err := s.hub.Tools(ctx, params.ServerName)
	if err != nil {
		return nil, err
	}
	return &protocol.ListToolsResult{Tools: tools}, nil
}

// ListResources implements [protocol.Sidecar].
func (s *Server) ListResources(ctx context.Context, params *protocol.ServerParams) (*protocol.ListResourcesResult, error) {
	resources, err := s.hub.Resources(ctx, params.ServerName)
	if err != nil {
		return nil, err
	}
	return &protocol.ListResourcesResult{Resources: resources}, nil
}

// ListResourceTemplates implements [protocol.Sidecar].
func (s *Server) ListResourceTemplates(ctx context.Context, params *protocol.ServerParams) (*protocol.ListResourceTemplatesResult, error) {
	templates, err := s.hub.ResourceTemplates(ctx, params.ServerName)
	if err != nil {
		return nil, err
	}
	return &protocol.ListResourceTemplatesResult{ResourceTemplates: templates}, nil
}

// ListPrompts implements [protocol.Sidecar].
func (s *Server) ListPrompts(ctx context.Context, params *protocol.ServerParams) (*protocol.ListPromptsResult, error) {
	prompts, err := s.hub.Prompts(ctx, params.ServerName)
	if err != nil {
		return nil, err
	}
	return &protocol.ListPromptsResult{Prompts: prompts}, nil
}

// Complete implements [protocol.Sidecar].
func (s *Server) Complete(ctx context.Context, params *protocol.CompleteParams) (*protocol.CompleteResult, error) {
	return s.hub.Complete(ctx, params)
}

// StartCall implements [protocol.Sidecar].
func (s *Server) StartCall(ctx context.Context, params *protocol.StartCallParams) (*protocol.StartCallResult, error) {
	return s.chat.StartCall(ctx, params)
}

// CancelCall implements [protocol.Sidecar].
func (s *Server) CancelCall(ctx context.Context, params *protocol.CancelCallParams) (*protocol.CancelCallResult, error) {
	cancelled, err := s.chat.CancelCall(ctx, params.TaskID, params.MessageID)
	if err != nil {
		return nil, err
	}
	return &protocol.CancelCallResult{Cancelled: cancelled}, nil
}

// ListModels implements [protocol.Sidecar].
func (s *Server) ListModels(ctx context.Context, params *protocol.ListModelsParams) (*protocol.ListModelsResult, error) {
	s.mu.Lock()
	models := s.models
	s.mu.Unlock()
	if params.ServerName != "" {
		models = models.For(params.ServerName)
	}
	list, err := models.List(ctx)
	if err != nil {
		s.opts.Log.Warn().Err(err).Msg("some models cannot be listed")
	}
	return &protocol.ListModelsResult{Models: list}, nil
}

// LanguageModelProgress implements [protocol.Sidecar].
func (s *Server) LanguageModelProgress(_ context.Context, params *protocol.LanguageModelProgressParams) error {
	if s.vscode != nil {
		s.vscode.Progress(params)
	}
	return nil
}

// StopSampling implements [protocol.Sidecar].
func (s *Server) StopSampling(ctx context.Context, params *protocol.StopSamplingParams) (*protocol.StopSamplingResult, error) {
	t, err := s.tasks.Own(ctx, params.TaskID)
	if err != nil {
		return nil, err
	}
	stopped, err := t.StopCompletion(ctx, params.AskID, params.Keep, s.frontEnd.Name)
	if err != nil {
		return nil, err
	}
	return &protocol.StopSamplingResult{Stopped: stopped}, nil
}

// OpenAskURL implements [protocol.Sidecar].
func (s *Server) OpenAskURL(ctx context.Context, params *protocol.OpenAskURLParams) (*protocol.OpenURLResult, error) {
	t, err := s.tasks.Own(ctx, params.TaskID)
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
	result, err := s.editor.OpenURL(opening, &protocol.OpenURLParams{
		URL: page.URL, Reason: fmt.Sprintf("The MCP server %q asks you to go to this page.", page.ServerName), Consented: true,
	})
	if err != nil || !result.Opened || page.AwaitsCompletion {
		return result, err
	}
	_, err = t.Answer(ctx, &protocol.AskResponseParams{
		TaskID: params.TaskID, AskID: params.AskID, AskResponse: protocol.YesButtonClicked,
	}, s.frontEnd.Name)
	return result, err
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
