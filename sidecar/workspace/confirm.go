package workspace

import (
	"context"
	"slices"
	"sync"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/config/confirm"
	"assent/sidecar/task/store"
)

// confirmations returns the decisions about servers that files of the workspace configure.
func (w *Workspace) confirmations(environment config.Environment) *confirm.Book {
	opts := confirm.Options{
		Store:  w.tasks.Store,
		CanAsk: func() bool { return w.attached.capabilities().ConfirmServers },
		Ask: func(ctx context.Context, params *protocol.ConfirmServerParams) (decision protocol.ServerDecision, by string, err error) {
			result, err := lend(ctx, w.attached, needsConfirmation, func(ctx context.Context, f *frontEnd) (*protocol.ConfirmServerResult, error) {
				by = f.name
				return f.own.ConfirmServer(ctx, params)
			})
			if err != nil {
				return "", "", err
			}
			return result.Decision, by, nil
		},
		Hides: w.hides, Mask: w.maskDefinition, Environment: environment, Journal: w.journal, Now: w.now,
	}
	if w.opts.DecisionsDir != "" {
		opts.Store = w.decisions.open
	}
	return confirm.NewBook(opts)
}

// hides returns the person's own server that a workspace's server hides; nil if it hides none.
func (w *Workspace) hides(serverName string) *protocol.HiddenServer {
	hidden := w.hub.HiddenBy(serverName)
	if hidden == nil {
		return nil
	}
	return &protocol.HiddenServer{
		Source: hidden.Source, Line: config.Line(hidden.Source, hidden.NameInSource()),
		Definition: w.maskDefinition(hidden.Shown(context.Background(), w.environment)),
	}
}

// listed adds to servers which own ones they hide.
func (w *Workspace) listed(servers []protocol.Server) []protocol.Server {
	by := w.organisation.files.Look()
	for i := range servers {
		servers[i].Hides, servers[i].Blocked = w.hides(servers[i].Name), w.blockedWords(by, servers[i].Name)
	}
	return servers
}

// maskDefinition removes what looks like a secret, and the secrets that Assent holds.
func (w *Workspace) maskDefinition(d protocol.ServerDefinition) protocol.ServerDefinition {
	d.Args = maskArgs(d.Args)
	for _, texts := range []*[]string{&d.Args, &d.Warnings, &d.Files} {
		*texts = slices.Clone(*texts)
		for i := range *texts {
			(*texts)[i] = w.redacted((*texts)[i])
		}
	}
	for _, values := range []*[]protocol.DefinedValue{&d.Env, &d.Headers, &d.Login} {
		*values = slices.Clone(*values)
		for i := range *values {
			(*values)[i].Value = w.redacted((*values)[i].Value)
		}
	}
	for _, text := range []*string{&d.Command, &d.Program, &d.URL, &d.Cwd, &d.EnvFile} {
		*text = w.redacted(*text)
	}
	return d
}

// decisions is a store beside that of the conversations. A command line forgets its conversation, and keeps what the
// person decided about servers. The store is opened at its first use.
type decisions struct {
	dir string

	mu    sync.Mutex // guards store
	store *store.Store
}

func (d *decisions) open() (*store.Store, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.store != nil {
		return d.store, nil
	}
	kept, err := store.OpenBeside(d.dir) // the conversations there may be another process's
	if err != nil {
		return nil, err
	}
	d.store = kept
	return kept, nil
}

func (d *decisions) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.store == nil {
		return nil
	}
	return d.store.Close()
}
