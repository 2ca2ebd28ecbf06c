package workspace

import (
	"context"

	"assent/protocol"
	"assent/sidecar/broker/grant"
)

// grantBook returns the grants, which are kept beside the tasks.
func (w *Workspace) grantBook() *grant.Book {
	return grant.NewBook(grant.Options{
		Store: w.tasks.Store,
		Server: func(serverName string) (identity, command string) {
			return w.hub.Identity(serverName) // the hub is opened later
		},
		Changed: func(g protocol.Grant) {
			if err := w.editor.GrantChanged(context.Background(), &g); err != nil {
				w.opts.Log.Debug().Err(err).Msg("an event was not delivered to a front end")
			}
		},
		Journal: w.journal, Asleep: w.asleep,
		Log:   w.opts.Log,
		Now:   w.opts.Now,
		NewID: w.opts.NewID,
	})
}

// ListPolicy implements [protocol.Sidecar].
func (w *Workspace) ListPolicy(ctx context.Context) (*protocol.ListPolicyResult, error) {
	entries, err := w.policy.List(ctx)
	if err != nil {
		return nil, err
	}
	return &protocol.ListPolicyResult{Entries: entries}, nil
}

// policyChanged tells the front ends that the policy is another one than they have listed.
func (w *Workspace) policyChanged() {
	if err := w.editor.PolicyChanged(context.Background()); err != nil {
		w.opts.Log.Debug().Err(err).Msg("an event was not delivered to a front end")
	}
}

// PreviewGrant implements [protocol.Sidecar].
func (w *Workspace) PreviewGrant(ctx context.Context, params *protocol.GrantTerms) (*protocol.PreviewGrantResult, error) {
	return w.grants.Preview(ctx, params)
}
