package workspace

import (
	"context"

	"assent/protocol"
	"assent/sidecar/chat"
)

// BranchTask implements [protocol.Sidecar].
func (w *Workspace) BranchTask(ctx context.Context, params *protocol.BranchTaskParams) (*protocol.Task, error) {
	info, err := w.tasks.Branch(ctx, params.TaskID, params.MessageID)
	if err != nil {
		return nil, err
	}
	return &info, nil
}

// ConfigureTask implements [protocol.Sidecar].
func (w *Workspace) ConfigureTask(ctx context.Context, params *protocol.ConfigureTaskParams) (*protocol.Task, error) {
	t, err := w.tasks.Get(params.TaskID)
	if err != nil {
		return nil, err
	}
	info, err := t.Configure(params.Settings)
	if err != nil {
		return nil, err
	}
	return &info, nil
}

// SendChat implements [protocol.Sidecar].
func (w *Workspace) SendChat(ctx context.Context, params *protocol.SendChatParams) (*protocol.SendChatResult, error) {
	return w.chat.SendChat(ctx, params)
}

// StopChat implements [protocol.Sidecar].
func (w *Workspace) StopChat(ctx context.Context, params *protocol.ChatParams) (*protocol.StopChatResult, error) {
	stopped, err := w.chat.StopChat(params.TaskID)
	if err != nil {
		return nil, err
	}
	return &protocol.StopChatResult{Stopped: stopped}, nil
}

// SkipServers implements [protocol.Sidecar].
func (w *Workspace) SkipServers(ctx context.Context, params *protocol.ChatParams) (*protocol.SkipServersResult, error) {
	skipped, err := w.chat.SkipServers(params.TaskID)
	if err != nil {
		return nil, err
	}
	return &protocol.SkipServersResult{Skipped: skipped}, nil
}

// RetryChat implements [protocol.Sidecar].
func (w *Workspace) RetryChat(ctx context.Context, params *protocol.ChatParams) (*protocol.RetryChatResult, error) {
	if err := w.chat.RetryChat(ctx, params.TaskID); err != nil {
		return nil, err
	}
	return &protocol.RetryChatResult{}, nil
}

// UnqueueChat implements [protocol.Sidecar].
func (w *Workspace) UnqueueChat(ctx context.Context, params *protocol.UnqueueChatParams) (*protocol.UnqueueChatResult, error) {
	removed, err := w.chat.UnqueueChat(params.TaskID, params.QueuedID)
	if err != nil {
		return nil, err
	}
	return &protocol.UnqueueChatResult{Removed: removed}, nil
}

// chatModels are all that the person has: no server asks.
func (w *Workspace) chatModels() chat.Models {
	w.configured.mu.Lock()
	defer w.configured.mu.Unlock()
	return w.configured.models
}

func (w *Workspace) chatSettings() protocol.ChatSettings {
	w.configured.mu.Lock()
	defer w.configured.mu.Unlock()
	if w.configured.merged.Chat == nil {
		return protocol.ChatSettings{}
	}
	return *w.configured.merged.Chat
}
