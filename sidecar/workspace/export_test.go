package workspace

import (
	"context"

	"assent/sidecar/base/secret"
	"assent/sidecar/wire/auth"
)

// Secrets is where logins are kept.
func (w *Workspace) Secrets() auth.Secrets { return w.logins.secrets }

// KnownSecrets is what the scan of a prompt looks for.
func (w *Workspace) KnownSecrets() []secret.Known { return w.secrets.known() }

// Host serves a request as one of a front end of another workspace.
func (w *Workspace) Host(serve func()) bool {
	return w.host(context.Background(), func(context.Context) { serve() })
}

// Visited is how many other workspaces the attached front ends hold on to.
func (w *Workspace) Visited() (n int) {
	for _, f := range w.attached.list() {
		f.remoteViews.mu.Lock()
		n += len(f.remoteViews.at)
		f.remoteViews.mu.Unlock()
	}
	return n
}

// AskForModel has the workspace look for a model that no endpoint has.
func (w *Workspace) AskForModel(ctx context.Context) error {
	w.configured.mu.Lock()
	models := w.configured.models
	w.configured.mu.Unlock()
	_, err := models.Find(ctx, "vscode:copilot")
	return err
}
