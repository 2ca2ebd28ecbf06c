package server

import (
	"context"

	"assent/protocol"
)

// BranchTask implements [protocol.Sidecar].
func (s *Server) BranchTask(context.Context, *protocol.BranchTaskParams) (*protocol.Task, error) {
	return nil, protocol.Errorf(protocol.CodeMethodNotFound, "task/branch is not there yet")
}

// ConfigureTask implements [protocol.Sidecar].
func (s *Server) ConfigureTask(context.Context, *protocol.ConfigureTaskParams) (*protocol.Task, error) {
	return nil, protocol.Errorf(protocol.CodeMethodNotFound, "task/configure is not there yet")
}

// SendChat implements [protocol.Sidecar].
func (s *Server) SendChat(context.Context, *protocol.SendChatParams) (*protocol.SendChatResult, error) {
	return nil, protocol.Errorf(protocol.CodeMethodNotFound, "chat/send is not there yet")
}

// StopChat implements [protocol.Sidecar].
func (s *Server) StopChat(context.Context, *protocol.ChatParams) (*protocol.StopChatResult, error) {
	return nil, protocol.Errorf(protocol.CodeMethodNotFound, "chat/stop is not there yet")
}

// RetryChat implements [protocol.Sidecar].
func (s *Server) RetryChat(context.Context, *protocol.ChatParams) (*protocol.RetryChatResult, error) {
	return nil, protocol.Errorf(protocol.CodeMethodNotFound, "chat/retry is not there yet")
}

// UnqueueChat implements [protocol.Sidecar].
func (s *Server) UnqueueChat(context.Context, *protocol.UnqueueChatParams) (*protocol.UnqueueChatResult, error) {
	return nil, protocol.Errorf(protocol.CodeMethodNotFound, "chat/unqueue is not there yet")
}

// ListToolRules implements [protocol.Sidecar].
func (s *Server) ListToolRules(context.Context) (*protocol.ListToolRulesResult, error) {
	return &protocol.ListToolRulesResult{}, nil
}

// RemoveToolRule implements [protocol.Sidecar].
func (s *Server) RemoveToolRule(context.Context, *protocol.RemoveToolRuleParams) (*protocol.RemoveToolRuleResult, error) {
	return &protocol.RemoveToolRuleResult{}, nil
}
