package server

import (
	"context"

	"assent/protocol"
	"assent/sidecar/grant"
)

// grantBook returns the grants, which are kept beside the tasks.
func (w *Workspace) grantBook() *grant.Book {
	return grant.NewBook(grant.Options{
		Store: w.tasks.Store,
		Server: func(serverName string) (identity, command string) {
			return w.hub.Identity(context.Background(), serverName)
		},
		Changed: func(g protocol.Grant) {
			if err := w.editor.GrantChanged(context.Background(), &g); err != nil {
				w.opts.Log.Debug().Err(err).Msg("no front end took an event")
			}
		},
		Journal: w.journal,
		Log:     w.opts.Log,
		Now:     w.opts.Now,
		NewID:   w.opts.NewID,
	})
}

// ListGrants implements [protocol.Sidecar].
func (w *Workspace) ListGrants(ctx context.Context) (*protocol.ListGrantsResult, error) {
	grants, err := w.grants.List(ctx)
	if err != nil {
		return nil, err
	}
	return &protocol.ListGrantsResult{Grants: grants}, nil
}

// PreviewGrant implements [protocol.Sidecar].
func (w *Workspace) PreviewGrant(ctx context.Context, params *protocol.GrantTerms) (*protocol.PreviewGrantResult, error) {
	return w.grants.Preview(ctx, params)
}
