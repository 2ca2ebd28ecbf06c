package server

import (
	"context"
	"sync"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/confirm"
	"assent/sidecar/secret"
	"assent/sidecar/store"
)

// confirmations returns the decisions about servers that files of the workspace configure.
func (s *Server) confirmations(environment config.Environment) *confirm.Book {
	opts := confirm.Options{
		Store: s.tasks.Store, By: s.frontEnd.Name, Mask: s.maskDefinition,
		Environment: environment, Journal: s.journal, Now: s.now,
	}
	if s.opts.DecisionsDir != "" {
		opts.Store = s.decisions.open
	}
	if s.capabilities.ConfirmServers {
		opts.Ask = func(ctx context.Context, params *protocol.ConfirmServerParams) (protocol.ServerDecision, error) {
			result, err := s.editor.ConfirmServer(ctx, params)
			if err != nil {
				return "", err
			}
			return result.Decision, nil
		}
	}
	return confirm.NewBook(opts)
}

// maskDefinition takes out what looks like a secret.
func (s *Server) maskDefinition(d protocol.ServerDefinition) protocol.ServerDefinition {
	held := s.held()
	clean := func(text string) string { return secret.Redact(text, s.scanner.Scan(text, held)) }
	d.Args = maskArgs(d.Args)
	for i := range d.Args {
		d.Args[i] = clean(d.Args[i])
	}
	d.Command, d.URL, d.Cwd, d.EnvFile = clean(d.Command), clean(d.URL), clean(d.Cwd), clean(d.EnvFile)
	return d
}

// decisions is a store beside that of the conversations: a command line forgets its conversation, and not what the
// person decided. It is opened at its first use.
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
	kept, err := store.Open(d.dir)
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
