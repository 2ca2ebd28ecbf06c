// Package confirm has a person decide whether a server may run as a file of the workspace configures it.
//
// A [Book] owns the decisions, over the store. A decision is of one file, one server name and one exact definition
// ([config.Server.Definition]): a file that changed is asked about again. Whoever is about to connect to a server calls
// [Book.Confirm] and waits. Servers of the person's own settings, and of folders that are confirmed as a whole, never
// wait.
//
// A book may be used from any goroutine, and by several sidecars on one file. It starts nothing, and knows nothing of
// connections.
package confirm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/journal"
	"assent/sidecar/store"
)

// NotConfirmed is why a server does not run. Its text is for the person.
type NotConfirmed struct{ text string }

// Error implements error.
func (e *NotConfirmed) Error() string { return e.text }

// Options are what a book needs.
type Options struct {
	// Store returns the store; it is called at each use.
	Store func() (*store.Store, error)
	// Ask asks the person, until ctx ends. An empty decision means that they made none. Nil: nobody can be asked.
	Ask func(ctx context.Context, params *protocol.ConfirmServerParams) (protocol.ServerDecision, error)
	// By is the name of the front end.
	By string
	// Mask takes secrets out of a definition that is to be kept.
	Mask        func(protocol.ServerDefinition) protocol.ServerDefinition
	Environment config.Environment
	Journal     *journal.Journal
	Now         func() time.Time
}

// Book holds every decision.
type Book struct {
	opts Options

	mu sync.Mutex // guards the fields below
	// asking holds the open questions.
	asking map[key]*question
	// putAway holds what the person was asked and did not decide, in this sidecar.
	putAway map[key]bool
}

// key is what a decision is of.
type key struct{ source, server, definition string }

// question is open until done is closed. Everybody who wants to connect to the server waits for the same one.
type question struct {
	done    chan struct{}
	err     error // to be read after done
	waiting int   // guarded by the book's lock
	cancel  context.CancelFunc
}

// NewBook returns a book that reads the store as it is used.
func NewBook(opts Options) *Book {
	return &Book{opts: opts, asking: map[key]*question{}, putAway: map[key]bool{}}
}

// Confirm returns nil once a server may run as it is configured. The error is a [NotConfirmed] where the person did not
// allow it, or that of ctx. A person who refused is asked again only if asked says that they have just started the server
// themselves.
func (b *Book) Confirm(ctx context.Context, s config.Server, asked bool) error {
	if !s.Unconfirmed {
		return nil
	}
	k := key{s.Source, s.Name, s.Definition(ctx, b.opts.Environment)}
	kept, err := b.opts.Store()
	if err != nil {
		return fmt.Errorf("what you decided of %s cannot be read: %w", s.Source, err)
	}
	decided, err := kept.DecisionOf(ctx, k.source, k.server, k.definition)
	switch {
	case err != nil:
		return err
	case decided != nil && decided.Decision == protocol.ServerAllowed:
		return nil
	case decided != nil && !asked:
		return notConfirmed("you refused to run it as it is configured in %s: start it yourself to be asked again", s.Source)
	case b.opts.Ask == nil:
		return notConfirmed("its definition in %s is new or has changed, and nobody can be asked here whether it may run", s.Source)
	}
	return b.wait(ctx, k, s, kept, asked)
}

func notConfirmed(format string, args ...any) error {
	return &NotConfirmed{fmt.Sprintf(format, args...)}
}

// wait asks the person, or joins a question that is open already. It ends when nobody waits any more.
func (b *Book) wait(ctx context.Context, k key, s config.Server, kept *store.Store, asked bool) error {
	b.mu.Lock()
	q := b.asking[k]
	switch {
	case q != nil:
	case b.putAway[k] && !asked:
		b.mu.Unlock()
		return notConfirmed("you did not decide whether it may run as it is configured in %s: start it yourself to be asked again", s.Source)
	default:
		asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
		q = &question{done: make(chan struct{}), cancel: cancel}
		b.asking[k] = q
		go b.ask(asking, q, k, s, kept) // ends with the answer, or when the last who waits cancels it
	}
	q.waiting++
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		last := q.waiting == 1
		q.waiting--
		if last && b.asking[k] == q {
			delete(b.asking, k) // a later caller asks again
		}
		b.mu.Unlock()
		if last {
			q.cancel()
			<-q.done
		}
	}()
	select {
	case <-q.done:
		return q.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ask puts the question, and keeps the decision.
func (b *Book) ask(ctx context.Context, q *question, k key, s config.Server, kept *store.Store) {
	decision, err := b.decide(ctx, k, s, kept)
	b.mu.Lock()
	if b.asking[k] == q {
		delete(b.asking, k)
	}
	switch {
	case err != nil:
		q.err = err
	case decision == protocol.ServerAllowed:
	case decision == protocol.ServerRefused:
		q.err = notConfirmed("you refused to run it as it is configured in %s: start it yourself to be asked again", s.Source)
	default:
		b.putAway[k] = true
		q.err = notConfirmed("you did not decide whether it may run as it is configured in %s: start it yourself to be asked again", s.Source)
	}
	b.mu.Unlock()
	close(q.done)
}

func (b *Book) decide(ctx context.Context, k key, s config.Server, kept *store.Store) (protocol.ServerDecision, error) {
	params := &protocol.ConfirmServerParams{
		ServerName: s.Name, Source: s.Source, Line: config.Line(s.Source, s.Name), Definition: s.Shown(ctx, b.opts.Environment),
	}
	masked := b.opts.Mask(params.Definition)
	last, err := kept.LastAllowed(ctx, k.source, k.server)
	if err != nil {
		return "", err
	}
	if last != nil {
		params.Earlier = earlier(last.Shown, masked, params.Definition)
	}
	decision, err := b.opts.Ask(ctx, params)
	if err != nil || decision != protocol.ServerAllowed && decision != protocol.ServerRefused {
		return "", err
	}
	// The envFile may have changed since. The person decided about what they saw.
	if s.Definition(ctx, b.opts.Environment) != k.definition {
		return "", errors.New("its definition has changed while you were asked: start it again")
	}
	d := store.ServerDecision{
		Source: k.source, ServerName: k.server, Definition: k.definition, Shown: masked,
		Decision: decision, By: b.opts.By, At: b.opts.Now().UnixMilli(),
	}
	// The person has decided, whether or not anybody still waits.
	ctx = context.WithoutCancel(ctx)
	if err := kept.DecideServer(ctx, d, b.opts.Journal.ServerDecided(d)); err != nil {
		return "", fmt.Errorf("what you decided cannot be kept: %w", err)
	}
	return decision, nil
}

// earlier is what was kept of the last definition, in which secrets are masked. Where only the mask would differ, it is as
// now.
func earlier(last, masked, now protocol.ServerDefinition) *protocol.ServerDefinition {
	if last.Command == masked.Command {
		last.Command = now.Command
	}
	if slices.Equal(last.Args, masked.Args) {
		last.Args = now.Args
	}
	if last.URL == masked.URL {
		last.URL = now.URL
	}
	if last.Cwd == masked.Cwd {
		last.Cwd = now.Cwd
	}
	return &last
}
