package server

import (
	"context"

	"assent/protocol"
	"assent/sidecar/chat"
)

// BranchTask implements [protocol.Sidecar].
func (s *Server) BranchTask(ctx context.Context, params *protocol.BranchTaskParams) (*protocol.Task, error) {
	info, err := s.tasks.Branch(ctx, params.TaskID, params.MessageID)
	if err != nil {
		return nil, err
	}
	return &info, nil
}

// ConfigureTask implements [protocol.Sidecar].
func (s *Server) ConfigureTask(ctx context.Context, params *protocol.ConfigureTaskParams) (*protocol.Task, error) {
	t, err := s.tasks.Own(ctx, params.TaskID)
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
func (s *Server) SendChat(ctx context.Context, params *protocol.SendChatParams) (*protocol.SendChatResult, error) {
	return s.chat.SendChat(ctx, params)
}

// StopChat implements [protocol.Sidecar].
func (s *Server) StopChat(ctx context.Context, params *protocol.ChatParams) (*protocol.StopChatResult, error) {
	stopped, err := s.chat.StopChat(ctx, params.TaskID)
	if err != nil {
		return nil, err
	}
	return &protocol.StopChatResult{Stopped: stopped}, nil
}

// RetryChat implements [protocol.Sidecar].
func (s *Server) RetryChat(ctx context.Context, params *protocol.ChatParams) (*protocol.RetryChatResult, error) {
	if err := s.chat.RetryChat(ctx, params.TaskID); err != nil {
		return nil, err
	}
	return &protocol.RetryChatResult{}, nil
}

// UnqueueChat implements [protocol.Sidecar].
func (s *Server) UnqueueChat(ctx context.Context, params *protocol.UnqueueChatParams) (*protocol.UnqueueChatResult, error) {
	removed, err := s.chat.UnqueueChat(ctx, params.TaskID, params.QueuedID)
	if err != nil {
		return nil, err
	}
	return &protocol.UnqueueChatResult{Removed: removed}, nil
}

// ListToolRules implements [protocol.Sidecar].
func (s *Server) ListToolRules(ctx context.Context) (*protocol.ListToolRulesResult, error) {
	rules, err := s.toolRules.List(ctx)
	if err != nil {
		return nil, err
	}
	return &protocol.ListToolRulesResult{Rules: rules}, nil
}

// RemoveToolRule implements [protocol.Sidecar].
func (s *Server) RemoveToolRule(ctx context.Context, params *protocol.RemoveToolRuleParams) (*protocol.RemoveToolRuleResult, error) {
	removed, err := s.toolRules.Remove(ctx, params.RuleID, s.frontEnd.Name)
	if err != nil {
		return nil, err
	}
	return &protocol.RemoveToolRuleResult{Removed: removed}, nil
}

// chatModels are all that the person has: no server asks.
func (s *Server) chatModels() chat.Models {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.models
}

func (s *Server) chatSettings() protocol.ChatSettings {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.configuration.Chat == nil {
		return protocol.ChatSettings{}
	}
	return *s.configuration.Chat
}

func (s *Server) toolSettings() protocol.ToolSettings {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.configuration.Tools == nil {
		return protocol.ToolSettings{}
	}
	return *s.configuration.Tools
}
