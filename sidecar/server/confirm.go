package server

import (
	"context"
	"sync"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/confirm"
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

// maskDefinition removes what looks like a secret, and the secrets that Assent holds.
func (s *Server) maskDefinition(d protocol.ServerDefinition) protocol.ServerDefinition {
	d.Args = maskArgs(d.Args)
	for i := range d.Args {
		d.Args[i] = s.redacted(d.Args[i])
	}
	d.Command, d.URL, d.Cwd, d.EnvFile = s.redacted(d.Command), s.redacted(d.URL), s.redacted(d.Cwd), s.redacted(d.EnvFile)
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
