// Package grant manages what a person allowed in advance: sampling requests of a server that go to a model without
// a question, within bounds.
//
// A [Book] owns the grants. It saves them in the store, and those for the session in memory. It may be used from any
// goroutine, and by several sidecars on one file: one transaction reads the rest of a grant and takes from it, so that
// two requests cannot take the same. [Book.Reserve] reserves the maximum usage of a request until [Reservation.Settle]
// replaces it by the real one. If a sidecar is killed, the reserved amounts stay spent, because the real usage is
// unknown.
//
// A grant is for one server, by its name in this workspace and by its whole definition. The package decides whether a
// grant covers a request. Everything else is up to the broker.
package grant

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/task/journal"
	"assent/sidecar/task/store"
)

// Options are what a book needs.
type Options struct {
	// Store returns the store; it is called at each use.
	Store func() (*store.Store, error)
	// Server returns the present identity of the server with this name, which is the hash of its whole definition, and
	// its [protocol.Server.Command] for people. If it is nil, only the names identify servers.
	Server func(serverName string) (identity, command string)
	// Journal makes the records of grants; nil means one that knows no secrets.
	Journal *journal.Journal
	// Changed, if it is not nil, is called for each grant that is new, was used, or ended, in order. It must not call the
	// book. It is not called for the changes of other sidecars.
	Changed func(protocol.Grant)
	// Asleep returns why the organisation does not let a grant approve anything now, a sentence, or ""; nil means that it
	// does. It must not call the book.
	Asleep func(*protocol.Grant) string
	Log    zerolog.Logger
	// Now and NewID are replaced by tests.
	Now   func() time.Time
	NewID func() string
}

// Book holds every grant.
type Book struct {
	opts Options

	mu sync.Mutex // guards the fields below, and the order of the calls of Changed
	// session holds the grants that end with this sidecar.
	session []*protocol.Grant
	// inFlight counts the requests of this sidecar that are under way, by their grant's id.
	inFlight map[string]int64
}

// NewBook returns a book that reads the store as it is used.
func NewBook(opts Options) *Book {
	if opts.Server == nil {
		opts.Server = func(string) (string, string) { return "", "" }
	}
	if opts.Journal == nil {
		opts.Journal = journal.New(journal.Options{})
	}
	if opts.Changed == nil {
		opts.Changed = func(protocol.Grant) {}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Asleep == nil {
		opts.Asleep = func(*protocol.Grant) string { return "" }
	}
	if opts.NewID == nil {
		opts.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	return &Book{opts: opts, inFlight: map[string]int64{}}
}

// Check returns why a grant with these terms cannot be made, as a [protocol.Error] with [protocol.CodeInvalidAnswer], or
// nil.
func (b *Book) Check(terms *protocol.GrantTerms) error {
	if why := b.Asleep(&protocol.Grant{GrantTerms: *terms, CreatedAt: b.opts.Now().UnixMilli()}); why != "" {
		return protocol.Errorf(protocol.CodeInvalidAnswer, "The grant cannot be made. %s", why)
	}
	return invalid(Check(terms, b.opts.Now()))
}

// Asleep is [Options.Asleep].
func (b *Book) Asleep(g *protocol.Grant) string { return b.opts.Asleep(g) }

// Create makes a grant; by names the front end. The error is that of [Book.Check], or the store's.
func (b *Book) Create(ctx context.Context, terms protocol.GrantTerms, by string) (*protocol.Grant, error) {
	if err := b.Check(&terms); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.draft(terms, by)
	if err := b.add(ctx, g); err != nil {
		return nil, err
	}
	return g, nil
}

// CreateFor makes a grant together with its first request, which the person approved at the same time. If the request
// passes the bounds of the terms, the error is that of [Book.Check].
func (b *Book) CreateFor(ctx context.Context, terms protocol.GrantTerms, by string, r Request) (*Reservation, error) {
	problems := Check(&terms, b.opts.Now())
	if terms.ServerName != r.Origin.ServerName && terms.ServerName != "" {
		problems = append(problems, protocol.FieldProblem{
			Name: "serverName", Message: fmt.Sprintf("The grant would be for %q, and %q asks.", terms.ServerName, r.Origin.ServerName),
		})
	}
	if problems == nil {
		problems = misfits(&terms, r)
	}
	if err := invalid(problems); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.draft(terms, by)
	held := b.hold(g, r.Most)
	if err := b.add(ctx, g); err != nil {
		b.inFlight[g.ID]--
		return nil, err
	}
	return held, nil
}

// misfits returns the terms that the first request does not fit.
func misfits(g *protocol.GrantTerms, r Request) []protocol.FieldProblem {
	tokens := tokensOf(r.Most)
	switch {
	case g.MaxTokens > 0 && tokens > g.MaxTokens:
		return []protocol.FieldProblem{{Name: "maxTokens", Message: fmt.Sprintf("This request alone may come to %d tokens.", tokens)}}
	case g.MaxCost > 0 && r.Most.Cost == nil:
		return []protocol.FieldProblem{{Name: "maxCost", Message: "The price of the model that answers this request is not known."}}
	case g.MaxCost > 0 && even(*r.Most.Cost) > even(g.MaxCost):
		return []protocol.FieldProblem{{Name: "maxCost", Message: fmt.Sprintf("This request alone may come to %s.", dollars(*r.Most.Cost))}}
	}
	return nil
}

func (b *Book) draft(terms protocol.GrantTerms, by string) *protocol.Grant {
	identity, command := b.opts.Server(terms.ServerName)
	return &protocol.Grant{
		ID: b.opts.NewID(), GrantTerms: terms, Identity: identity, Command: command,
		By: by, CreatedAt: b.opts.Now().UnixMilli(),
	}
}

// add saves and announces a new grant. The lock must be held.
func (b *Book) add(ctx context.Context, g *protocol.Grant) error {
	s, err := b.opts.Store()
	if err != nil {
		return err
	}
	if g.Session {
		if err := s.AppendJournal(ctx, b.opts.Journal.GrantCreated(*g)); err != nil {
			return err
		}
		kept := *g
		b.session = append(b.session, &kept)
	} else if err := s.AddGrant(ctx, *g, b.opts.Journal.GrantCreated(*g)); err != nil {
		return err
	}
	b.changed(*g)
	return nil
}

// List returns every grant, the newest first, including those that are used up, expired or revoked.
func (b *Book) List(ctx context.Context) ([]protocol.Grant, error) {
	s, err := b.opts.Store()
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	all, err := s.Grants(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range b.session {
		all = append(all, *g)
	}
	newestFirst(all)
	for i := range all {
		all[i].Spent.InFlight = b.inFlight[all[i].ID]
	}
	return all, nil
}

func newestFirst(all []protocol.Grant) {
	slices.SortFunc(all, func(x, y protocol.Grant) int {
		return cmp.Or(cmp.Compare(y.CreatedAt, x.CreatedAt), cmp.Compare(y.ID, x.ID))
	})
}

// Revoke ends a grant: it approves nothing from now on, and [Reservation.Revoked] returns true for the requests that are
// under way. A second call changes nothing. By names the front end.
func (b *Book) Revoke(ctx context.Context, id, by string) (*protocol.Grant, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ended := false
	g, err := b.change(ctx, id, func(g *protocol.Grant) {
		ended = g.EndedAt == 0
		g.EndedAt = cmp.Or(g.EndedAt, b.opts.Now().UnixMilli())
	})
	if err == nil && g != nil && ended {
		err = b.journalEnd(ctx, *g, by)
	}
	switch {
	case err != nil:
		return nil, err
	case g == nil:
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "there is no grant %q: its session may have ended", id)
	}
	return g, nil
}

// journalEnd records that a grant was revoked. The grant has ended before, so that it approves nothing if the record fails.
func (b *Book) journalEnd(ctx context.Context, g protocol.Grant, by string) error {
	s, err := b.opts.Store()
	if err != nil {
		return err
	}
	if err := s.AppendJournal(ctx, b.opts.Journal.GrantEnded(g, by)); err != nil {
		return fmt.Errorf("the grant is revoked, and the journal does not say so: %w", err)
	}
	return nil
}

// change changes and announces a grant, and returns the changed one, or nil if there is none. The lock must be held.
func (b *Book) change(ctx context.Context, id string, change func(*protocol.Grant)) (*protocol.Grant, error) {
	g := b.ofSession(id)
	if g != nil {
		change(g)
	} else {
		s, err := b.opts.Store()
		if err != nil {
			return nil, err
		}
		if g, err = s.ChangeGrant(ctx, id, change); err != nil || g == nil {
			return nil, err
		}
	}
	now := b.changed(*g)
	return &now, nil
}

// ofSession returns a grant that ends with this sidecar, or nil. The lock must be held.
func (b *Book) ofSession(id string) *protocol.Grant {
	for _, g := range b.session {
		if g.ID == id {
			return g
		}
	}
	return nil
}

// changed announces a grant, and returns it as announced. The lock must be held.
func (b *Book) changed(g protocol.Grant) protocol.Grant {
	g.Spent.InFlight = b.inFlight[g.ID]
	b.opts.Changed(g)
	return g
}
