package server

import (
	"context"

	"assent/protocol"
)

// ListGrants implements [protocol.Sidecar].
func (s *Server) ListGrants(context.Context) (*protocol.ListGrantsResult, error) {
	return &protocol.ListGrantsResult{}, nil
}

// CreateGrant implements [protocol.Sidecar].
func (s *Server) CreateGrant(context.Context, *protocol.GrantTerms) (*protocol.Grant, error) {
	return nil, errNoGrants
}

// RevokeGrant implements [protocol.Sidecar].
func (s *Server) RevokeGrant(context.Context, *protocol.RevokeGrantParams) (*protocol.Grant, error) {
	return nil, errNoGrants
}

// PreviewGrant implements [protocol.Sidecar].
func (s *Server) PreviewGrant(context.Context, *protocol.GrantTerms) (*protocol.PreviewGrantResult, error) {
	return nil, errNoGrants
}

var errNoGrants = protocol.Errorf(protocol.CodeMethodNotFound, "there are no grants yet")
