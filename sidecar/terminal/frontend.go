package terminal

import (
	"context"
	"io"
	"slices"

	"assent/protocol"
)

// frontEnd serves the sidecar's calls. It puts events into the session's mailboxes.
type frontEnd struct{ s *session }

var _ protocol.FrontEnd = frontEnd{}

// TaskEvent implements [protocol.FrontEnd].
func (f frontEnd) TaskEvent(_ context.Context, params *protocol.TaskEventParams) error {
	f.s.feed.events.put(*params) // the task's owner may be known later
	return nil
}

// UnattributedChanged implements [protocol.FrontEnd].
func (f frontEnd) UnattributedChanged(_ context.Context, params *protocol.UnattributedChangedParams) error {
	f.s.feed.events.put(*params)
	return nil
}

// DeclinedChanged implements [protocol.FrontEnd]. It shows nothing, because each later ask is shown as declined.
func (f frontEnd) DeclinedChanged(context.Context, *protocol.DeclinedChangedParams) error { return nil }

// OthersChanged implements [protocol.FrontEnd]. A command is about its own workspace.
func (f frontEnd) OthersChanged(context.Context, *protocol.OthersChangedParams) error { return nil }

// McpSamplingProgress implements [protocol.FrontEnd]. The pieces are written as they come.
func (f frontEnd) McpSamplingProgress(_ context.Context, params *protocol.McpSamplingProgressParams) error {
	if !f.s.isOwn(params.TaskID) {
		return nil
	}
	f.s.stderr.mu.Lock()
	defer f.s.stderr.mu.Unlock()
	if f.s.stderr.model != nil {
		return f.s.stderr.model.put(safe(params.Chunk))
	}
	_, err := io.WriteString(f.s.o.Stderr, safe(params.Chunk))
	return err
}

// ChatProgress implements [protocol.FrontEnd]. A piece must not overtake the events before it, such as a notice.
func (f frontEnd) ChatProgress(_ context.Context, params *protocol.ChatProgressParams) error {
	f.s.feed.events.put(*params)
	return nil
}

// CallProgress implements [protocol.FrontEnd].
func (f frontEnd) CallProgress(_ context.Context, params *protocol.CallProgressParams) error {
	if f.s.isOwn(params.TaskID) {
		f.s.progressed(params.Progress)
	}
	return nil
}

// ServerChanged implements [protocol.FrontEnd]. It reports no failure, because the call that needs the server does.
func (f frontEnd) ServerChanged(_ context.Context, server *protocol.Server) error {
	if server.Name == f.s.line.server || slices.Contains(f.s.line.servers, server.Name) {
		f.s.serverChanged(*server)
	}
	return nil
}

// ServersChanged implements [protocol.FrontEnd].
func (frontEnd) ServersChanged(context.Context, *protocol.ServersChangedParams) error { return nil }

// ServerItemsChanged implements [protocol.FrontEnd].
func (frontEnd) ServerItemsChanged(context.Context, *protocol.ServerItemsChangedParams) error {
	return nil
}

// PolicyChanged implements [protocol.FrontEnd].
func (frontEnd) PolicyChanged(context.Context) error { return nil }

// GrantChanged implements [protocol.FrontEnd].
func (frontEnd) GrantChanged(context.Context, *protocol.Grant) error { return nil }

// StorageFailed implements [protocol.FrontEnd].
func (f frontEnd) StorageFailed(_ context.Context, params *protocol.StorageFailedParams) error {
	f.s.note("%s", params.Message)
	return nil
}

// StorageRecovered implements [protocol.FrontEnd].
func (f frontEnd) StorageRecovered(_ context.Context, params *protocol.StorageRecoveredParams) error {
	f.s.note("%s", params.Message)
	return nil
}

// PromptInput implements [protocol.FrontEnd]. It asks for each input of a server once, however often the server is
// started.
func (f frontEnd) PromptInput(ctx context.Context, params *protocol.PromptInputParams) (*protocol.PromptInputResult, error) {
	if f.s.answerer == nil {
		return &protocol.PromptInputResult{}, nil
	}
	key := inputKey{params.Source, params.ServerName, params.ID}
	f.s.inputs.mu.Lock()
	defer f.s.inputs.mu.Unlock()
	if value, given := f.s.inputs.values[key]; given {
		return &protocol.PromptInputResult{Value: &protocol.Secret{Secret: value}}, nil
	}
	value, err := f.s.answerer.input(ctx, params)
	if err == nil && f.s.recorder != nil {
		err = f.s.recorder.input(params, value)
	}
	if err != nil || value == nil {
		return &protocol.PromptInputResult{}, err
	}
	f.s.inputs.values[key] = *value
	return &protocol.PromptInputResult{Value: &protocol.Secret{Secret: *value}}, nil
}

// OpenURL implements [protocol.FrontEnd]. It opens nothing, and shows the whole URL to the person.
func (f frontEnd) OpenURL(ctx context.Context, params *protocol.OpenURLParams) (*protocol.OpenURLResult, error) {
	if params.Consented {
		if f.s.person != nil {
			f.s.note("Go to: %s", params.URL)
		}
		return &protocol.OpenURLResult{Opened: true}, nil
	}
	if f.s.person == nil {
		f.s.note("%s There is no person to open it: %s", params.Reason, params.URL)
		return &protocol.OpenURLResult{}, nil
	}
	opened, err := f.s.person.page(ctx, params)
	return &protocol.OpenURLResult{Opened: opened}, err
}

// GetSecret implements [protocol.FrontEnd]. A terminal keeps no secrets, and declares so in its capabilities.
func (frontEnd) GetSecret(context.Context, *protocol.GetSecretParams) (*protocol.GetSecretResult, error) {
	return nil, protocol.Errorf(protocol.CodeMethodNotFound, "a terminal keeps no secrets")
}

// SetSecret implements [protocol.FrontEnd].
func (frontEnd) SetSecret(context.Context, *protocol.SetSecretParams) (*protocol.SetSecretResult, error) {
	return nil, protocol.Errorf(protocol.CodeMethodNotFound, "a terminal keeps no secrets")
}

// ListLanguageModels implements [protocol.FrontEnd]. Each completion of a file is a model of its own, so that a model's
// id says which completion is meant.
func (f frontEnd) ListLanguageModels(context.Context) (*protocol.ListLanguageModelsResult, error) {
	result := &protocol.ListLanguageModelsResult{}
	for _, c := range f.s.completions {
		result.Models = append(result.Models, protocol.LanguageModel{ID: c.id, Name: c.id, Vendor: "answers"})
	}
	return result, nil
}

// SendLanguageModelRequest implements [protocol.FrontEnd].
func (f frontEnd) SendLanguageModelRequest(ctx context.Context, params *protocol.LanguageModelRequest) (*protocol.LanguageModelResponse, error) {
	for _, c := range f.s.completions {
		switch {
		case c.id != params.ModelID:
			continue
		case c.err != nil:
			return nil, c.err
		}
		err := f.s.sidecar.LanguageModelProgress(ctx, &protocol.LanguageModelProgressParams{RequestID: params.RequestID, Text: c.text})
		return &protocol.LanguageModelResponse{ToolUses: c.toolUses}, err
	}
	return nil, protocol.Errorf(protocol.CodeInvalidParams, "there is no model %q here", params.ModelID)
}
