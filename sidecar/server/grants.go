package server

import (
	"context"

	"assent/protocol"
	"assent/sidecar/grant"
)

// grantBook returns the grants, which are kept beside the tasks.
func (s *Server) grantBook() *grant.Book {
	return grant.NewBook(grant.Options{
		Store: s.tasks.Store,
		Server: func(serverName string) (identity, command string) {
			return s.hub.Identity(context.Background(), serverName)
		},
		Changed: func(g protocol.Grant) {
			if err := s.editor.GrantChanged(context.Background(), &g); err != nil {
				s.opts.Log.Debug().Err(err).Msg("no front end took an event")
			}
		},
		Journal: s.journal,
		Log:     s.opts.Log,
		Now:     s.opts.Now,
		NewID:   s.opts.NewID,
	})
}

// ListGrants implements [protocol.Sidecar].
func (s *Server) ListGrants(ctx context.Context) (*protocol.ListGrantsResult, error) {
	grants, err := s.grants.List(ctx)
	if err != nil {
		return nil, err
	}
	return &protocol.ListGrantsResult{Grants: grants}, nil
}

// CreateGrant implements [protocol.Sidecar].
func (s *Server) CreateGrant(ctx context.Context, params *protocol.GrantTerms) (*protocol.Grant, error) {
	return s.grants.Create(ctx, *params, s.frontEnd.Name)
}

// RevokeGrant implements [protocol.Sidecar].
func (s *Server) RevokeGrant(ctx context.Context, params *protocol.RevokeGrantParams) (*protocol.Grant, error) {
	return s.grants.Revoke(ctx, params.GrantID, s.frontEnd.Name)
}

// PreviewGrant implements [protocol.Sidecar].
func (s *Server) PreviewGrant(ctx context.Context, params *protocol.GrantTerms) (*protocol.PreviewGrantResult, error) {
	return s.grants.Preview(ctx, params)
}
