// Package confirm asks a person whether a server may run as a file of the workspace configures it.
//
// A [Book] saves the decisions in the store. A decision is about one file, one server name and one exact definition
// ([config.Server.Definition]), so a changed definition needs another decision. For a server of the person's own that would
// use files of a folder, it is about that folder, too. The hub calls [Book.Confirm] before
// each connection, and waits. Servers of the person's own settings, and of folders that the front end has confirmed, do
// not wait.
//
// A book may be used from any goroutine, and by several sidecars on one file. It does not start servers.
package confirm

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/task/journal"
	"assent/sidecar/task/store"
)

// NotConfirmed is why a server does not run. Its text is for the person.
type NotConfirmed struct{ text string }

// Error implements error.
func (e *NotConfirmed) Error() string { return e.text }

// Options configure a [Book].
type Options struct {
	// Store returns the store; it is called at each use.
	Store func() (*store.Store, error)
	// Ask asks the person, until ctx ends, and returns the name of the front end where they answered. An empty
	// decision means that they dismissed the question.
	Ask func(ctx context.Context, params *protocol.ConfirmServerParams) (decision protocol.ServerDecision, by string, err error)
	// CanAsk reports whether a front end can ask the person.
	CanAsk func() bool
	// Hides returns the person's own server that a server hides, or nil. It may be nil.
	Hides func(serverName string) *protocol.HiddenServer
	// Mask removes the secrets from a definition before it is saved.
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
	// putAway holds the questions that the person dismissed, in this sidecar.
	putAway map[key]bool
}

// key identifies what a decision is about.
type key struct{ source, server, definition string }

// question is open until done is closed. All callers with the same key wait for the same question.
type question struct {
	done    chan struct{}
	err     error // valid after done
	waiting int   // guarded by the book's lock
	cancel  context.CancelFunc
}

// NewBook returns a book that opens the store when it is used.
func NewBook(opts Options) *Book {
	return &Book{opts: opts, asking: map[key]*question{}, putAway: map[key]bool{}}
}

// Confirm returns nil once a server may run as it is configured. It blocks while the person decides. The error is a
// [NotConfirmed] if the person did not allow it, the cause of ctx, or an error of the store. A person who refused, or
// who dismissed the question, is asked again only if asked is true, which means that they have just started the server
// themselves.
func (b *Book) Confirm(ctx context.Context, s config.Server, asked bool) error {
	if !s.Unconfirmed {
		return nil
	}
	k := key{sourceOf(s), s.NameInSource(), s.Definition(ctx, b.opts.Environment)}
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
		return refused(s)
	case !b.opts.CanAsk():
		if s.Own {
			return notConfirmed("it is your own server, and as configured in %s it would use files of the folder %s: you have not allowed "+
				"that yet, and cannot be asked here. To decide, run assent tools %q in a terminal in that folder; --trust allows it without a question",
				s.Source, s.RealFolder(), s.NameInSource())
		}
		return notConfirmed("its definition in %s is new or has changed, and you cannot be asked here whether it may run: "+
			"to decide, run assent tools %q in a terminal in that folder", s.Source, s.Name)
	}
	return b.wait(ctx, k, s, kept, asked)
}

// sourceOf returns the source that a decision is about. That about an own server counts in one folder, and not in another to
// which a link leads later.
func sourceOf(s config.Server) string {
	if s.Own {
		return s.Source + ", in " + s.RealFolder()
	}
	return s.Source
}

func notConfirmed(format string, args ...any) error {
	return &NotConfirmed{fmt.Sprintf(format, args...)}
}

func refused(s config.Server) error {
	return notConfirmed("you refused to run it as configured in %s: start it yourself to decide again", s.Source)
}

func undecided(s config.Server) error {
	return notConfirmed("you did not decide whether it may run as configured in %s: start it yourself to decide again", s.Source)
}

// wait asks the person, or joins the open question about the same definition. The last caller that stops waiting ends
// the question.
func (b *Book) wait(ctx context.Context, k key, s config.Server, kept *store.Store, asked bool) error {
	b.mu.Lock()
	q := b.asking[k]
	switch {
	case q != nil:
	case b.putAway[k] && !asked:
		b.mu.Unlock()
		return undecided(s)
	default:
		asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
		q = &question{done: make(chan struct{}), cancel: cancel}
		b.asking[k] = q
		go b.ask(asking, q, k, s, kept) // ends with the answer, or when the last caller cancels it
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

// ask asks the person, saves the decision, and closes the question.
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
		q.err = refused(s)
	default:
		b.putAway[k] = true
		q.err = undecided(s)
	}
	b.mu.Unlock()
	close(q.done)
}

// decide asks the person and saves the decision. It returns an empty decision if the person dismissed the
// question.
func (b *Book) decide(ctx context.Context, k key, s config.Server, kept *store.Store) (protocol.ServerDecision, error) {
	params := &protocol.ConfirmServerParams{
		ServerName: s.NameInSource(), Source: s.Source, Line: config.Line(s.Source, s.NameInSource()), Definition: s.Shown(ctx, b.opts.Environment),
	}
	switch {
	case s.Own:
		params.Folder = s.RealFolder()
	case b.opts.Hides != nil:
		params.Hides = b.opts.Hides(s.Name)
	}
	masked := b.opts.Mask(params.Definition)
	last, err := kept.LastAllowed(ctx, k.source, k.server)
	if err != nil {
		return "", err
	}
	if last != nil {
		params.Earlier = earlier(last.Shown, masked, params.Definition)
	}
	decision, by, err := b.opts.Ask(ctx, params)
	if err != nil || decision != protocol.ServerAllowed && decision != protocol.ServerRefused {
		return "", err
	}
	// The envFile may have changed since. The decision is about the definition that was shown.
	if s.Definition(ctx, b.opts.Environment) != k.definition {
		return "", notConfirmed("its definition has changed while you were asked: start it again")
	}
	d := store.ServerDecision{
		Source: k.source, ServerName: k.server, Definition: k.definition, Shown: masked,
		Decision: decision, By: by, At: b.opts.Now().UnixMilli(),
	}
	// The decision counts, even if all callers have stopped waiting.
	ctx = context.WithoutCancel(ctx)
	if err := kept.DecideServer(ctx, d, b.opts.Journal.ServerDecided(d)); err != nil {
		return "", fmt.Errorf("cannot save your decision: %w", err)
	}
	return decision, nil
}

// earlier returns the definition that was allowed last, for a comparison with the present one. It was saved with its
// secrets masked. A member that is the same under the mask is returned with its present value.
func earlier(last, masked, now protocol.ServerDefinition) *protocol.ServerDefinition {
	for _, member := range []struct {
		last        *string
		masked, now string
	}{
		{&last.Command, masked.Command, now.Command},
		{&last.Program, masked.Program, now.Program},
		{&last.Cwd, masked.Cwd, now.Cwd},
		{&last.EnvFile, masked.EnvFile, now.EnvFile},
		{&last.URL, masked.URL, now.URL},
	} {
		if *member.last == member.masked {
			*member.last = member.now
		}
	}
	if slices.Equal(last.Args, masked.Args) {
		last.Args = now.Args
	}
	for _, list := range []struct{ last, masked, now []protocol.DefinedValue }{
		{last.Env, masked.Env, now.Env}, {last.Headers, masked.Headers, now.Headers}, {last.Login, masked.Login, now.Login},
	} {
		for i := range list.last {
			if same := slices.Index(list.masked, list.last[i]); same >= 0 {
				list.last[i] = list.now[same]
			}
		}
	}
	return &last
}
