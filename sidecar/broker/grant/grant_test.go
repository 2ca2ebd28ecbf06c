package grant_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/broker/grant"
	"assent/sidecar/task/store"
)

// book is a book over a store, with its announcements.
type book struct {
	*grant.Book
	mu      sync.Mutex // guards changed
	changed []protocol.Grant
}

func newBook(s *store.Store) *book {
	b := &book{}
	b.Book = grant.NewBook(grant.Options{
		Store: func() (*store.Store, error) { return s, nil },
		Changed: func(g protocol.Grant) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.changed = append(b.changed, g)
		},
		Now: func() time.Time { return time.Now().UTC() }, // for the reasons' dates
	})
	return b
}

// last returns the last announcement.
func (b *book) last() protocol.Grant {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed[len(b.changed)-1]
}

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (b *book) create(t *testing.T, terms protocol.GrantTerms) *protocol.Grant {
	t.Helper()
	g, err := b.Create(t.Context(), terms, "a test")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// reserve expects a reservation if wantReason is empty, and otherwise a reason with that text.
func (b *book) reserve(t *testing.T, r grant.Request, wantReason string) *grant.Reservation {
	t.Helper()
	held, reason, err := b.Reserve(t.Context(), r)
	switch {
	case err != nil:
		t.Fatal(err)
	case wantReason == "" && held == nil:
		t.Fatalf("Reserve gave none: %q", reason)
	case wantReason != "" && (held != nil || !strings.Contains(reason, wantReason)):
		t.Fatalf("Reserve = %v, %q, want the reason %q", held, reason, wantReason)
	}
	return held
}

func (b *book) spent(t *testing.T, id string) protocol.GrantSpent {
	t.Helper()
	list, err := b.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(g protocol.Grant) bool { return g.ID == id })
	if i < 0 {
		t.Fatalf("there is no grant %s", id)
	}
	return list[i].Spent
}

var (
	anyModel = []string{"*"}
	free     = protocol.Model{ID: "openai:free", Name: "Free"}
)

func priced(in, out float64) *protocol.Model {
	m := protocol.Model{ID: "openai:priced", Name: "Priced"}
	m.InputCost, m.OutputCost = &in, &out
	return &m
}

// request returns a request with 100 input and 900 output tokens, during calls of a tool.
func request(m *protocol.Model, tools ...string) grant.Request {
	r := grant.Request{
		Origin: protocol.Origin{ServerName: "s", ToolNames: tools}, Model: m,
		Most: protocol.SamplingUsage{InputTokens: 100, OutputTokens: 900},
	}
	if m != nil && m.InputCost != nil {
		cost := (100**m.InputCost + 900**m.OutputCost) / 1e6
		r.Most.Cost = &cost
	}
	return r
}

func TestTermsThatAreNotToBeHad(t *testing.T) {
	good := protocol.GrantTerms{ServerName: "s", Models: anyModel, MaxRequests: 1}
	tests := []struct {
		name   string
		change func(*protocol.GrantTerms)
		want   []string // the fields with a problem
	}{
		{"good ones", func(*protocol.GrantTerms) {}, nil},
		{"a session without bounds", func(g *protocol.GrantTerms) { g.MaxRequests, g.Session = 0, true }, nil},
		{"no bound", func(g *protocol.GrantTerms) { g.MaxRequests = 0 }, []string{""}},
		{"no server", func(g *protocol.GrantTerms) { g.ServerName = "" }, []string{"serverName"}},
		{"no model", func(g *protocol.GrantTerms) { g.Models = nil }, []string{"models"}},
		{"an empty model", func(g *protocol.GrantTerms) { g.Models = []string{"a", " "} }, []string{"models"}},
		{"an end in the past", func(g *protocol.GrantTerms) { g.ExpiresAt = 1 }, []string{"expiresAt"}},
		{"negative numbers", func(g *protocol.GrantTerms) { g.MaxRequests, g.MaxTokens, g.MaxCost = -1, -1, -0.1 }, []string{"maxRequests", "maxTokens", "maxCost"}},
		{"a negative end", func(g *protocol.GrantTerms) { g.ExpiresAt = -1 }, []string{"expiresAt"}},
		{"no bound in truth", func(g *protocol.GrantTerms) { g.MaxTokens = 1 << 60 }, []string{"maxTokens"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			terms := good
			tt.change(&terms)
			var got []string
			if err := newBook(openStore(t, t.TempDir())).Check(&terms); err != nil {
				var e *protocol.Error
				if !errors.As(err, &e) || e.Code != protocol.CodeInvalidAnswer {
					t.Fatalf("Check = %v, want an invalid answer", err)
				}
				for _, p := range e.Data.(protocol.InvalidAnswerData).Problems {
					got = append(got, p.Name)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAGrantCovers(t *testing.T) {
	tests := []struct {
		name    string
		terms   protocol.GrantTerms
		request grant.Request
		want    string // the reason
	}{
		{"all that a server asks", protocol.GrantTerms{Models: anyModel, MaxRequests: 1}, request(&free), ""},
		{"a model by its id", protocol.GrantTerms{Models: []string{"OpenAI:free"}, MaxRequests: 1}, request(&free), ""},
		{"another model", protocol.GrantTerms{Models: []string{"vscode:*"}, MaxRequests: 1}, request(&free), "does not cover the model Free"},
		{"no model", protocol.GrantTerms{Models: anyModel, MaxRequests: 1}, request(nil), "no model to propose"},
		{"its tool", protocol.GrantTerms{Models: anyModel, MaxRequests: 1, ToolName: "t"}, request(&free, "t"), ""},
		{"another tool", protocol.GrantTerms{Models: anyModel, MaxRequests: 1, ToolName: "t"}, request(&free, "u"), `only requests during calls of "t"`},
		{"no tool", protocol.GrantTerms{Models: anyModel, MaxRequests: 1, ToolName: "t"}, request(&free), "may not be"},
		{"one of several tools", protocol.GrantTerms{Models: anyModel, MaxRequests: 1, ToolName: "t"}, request(&free, "t", "u"), "may not be"},
		{"the last token", protocol.GrantTerms{Models: anyModel, MaxTokens: 1000}, request(&free), ""},
		{"a token more", protocol.GrantTerms{Models: anyModel, MaxTokens: 999}, request(&free), "for 999 tokens has 999 left, and the request may come to 1000"},
		{"a price that is not known", protocol.GrantTerms{Models: anyModel, MaxCost: 5}, request(&free), "for $5.00 cannot cover Free: its price is unknown"},
		{"the last cent", protocol.GrantTerms{Models: anyModel, MaxCost: 0.01}, request(priced(10, 10)), ""},
		{"a cent more", protocol.GrantTerms{Models: anyModel, MaxCost: 0.009}, request(priced(10, 10)), "for $0.0090 has $0.0090 left, and the request may come to $0.010"},
		{"more tokens than numbers hold", protocol.GrantTerms{Models: anyModel, MaxTokens: 1e9}, grant.Request{
			Origin: protocol.Origin{ServerName: "s"}, Model: &free,
			Most: protocol.SamplingUsage{InputTokens: 1 << 62, OutputTokens: 1 << 62},
		}, "may come to"},
		{"what a person has to see", protocol.GrantTerms{Models: anyModel, MaxRequests: 1}, func() grant.Request {
			r := request(&free)
			r.Objection = "it looks odd"
			return r
		}(), "does not cover it: it looks odd."},
	}
	for _, tt := range tests {
		for _, session := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, session %v", tt.name, session), func(t *testing.T) {
				b := newBook(openStore(t, t.TempDir()))
				tt.terms.ServerName, tt.terms.Session = "s", session
				b.create(t, tt.terms)
				b.reserve(t, tt.request, tt.want)
				other := tt.request
				other.Origin.ServerName = "another"
				if held, reason, err := b.Reserve(t.Context(), other); held != nil || reason != "" || err != nil {
					t.Errorf("Reserve for a server without grants = %v, %q, %v", held, reason, err)
				}
			})
		}
	}
}

func TestAReservationBecomesTheRealUsage(t *testing.T) {
	cost := 0.25
	tests := []struct {
		name string
		end  func(*grant.Reservation) error
		want protocol.GrantSpent
	}{
		{"under way", func(*grant.Reservation) error { return nil }, protocol.GrantSpent{Requests: 1, Tokens: 1000, Cost: 1, InFlight: 1}},
		{"settled", func(r *grant.Reservation) error {
			return r.Settle(&protocol.SamplingUsage{InputTokens: 7, OutputTokens: 5, Cost: &cost})
		}, protocol.GrantSpent{Requests: 1, Tokens: 12, Cost: 0.25}},
		{"of no model", func(r *grant.Reservation) error { return r.Settle(nil) }, protocol.GrantSpent{Requests: 1}},
		{"for more than was held", func(r *grant.Reservation) error {
			return r.Settle(&protocol.SamplingUsage{InputTokens: 7000, OutputTokens: 5})
		}, protocol.GrantSpent{Requests: 1, Tokens: 7005, Cost: 1}},
		{"not made", (*grant.Reservation).Release, protocol.GrantSpent{}},
		{"settled twice", func(r *grant.Reservation) error { return errors.Join(r.Settle(nil), r.Release(), r.Settle(nil)) }, protocol.GrantSpent{Requests: 1}},
	}
	for _, tt := range tests {
		for _, session := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, session %v", tt.name, session), func(t *testing.T) {
				b := newBook(openStore(t, t.TempDir()))
				g := b.create(t, protocol.GrantTerms{ServerName: "s", Models: anyModel, MaxRequests: 2, Session: session})
				held := b.reserve(t, request(priced(1000, 1000)), "")
				if err := tt.end(held); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, b.spent(t, g.ID)); diff != "" {
					t.Errorf("spent (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.want, b.last().Spent); diff != "" {
					t.Errorf("announced (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestTheGrantThatWasMadeLastApproves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBook(openStore(t, t.TempDir()))
		b.create(t, protocol.GrantTerms{ServerName: "s", Models: anyModel, MaxRequests: 1})
		time.Sleep(time.Minute)
		b.create(t, protocol.GrantTerms{ServerName: "s", Models: anyModel, MaxRequests: 1, Session: true, Review: true})
		if held := b.reserve(t, request(&free), ""); !held.Review {
			t.Error("the first request went to the older grant")
		}
		if held := b.reserve(t, request(&free), ""); held.Review {
			t.Error("the second request went to the grant that was used up")
		}
		b.reserve(t, request(&free), "made on 1 Jan 2000, 00:01 for 1 request is used up.")
	})
}

func TestAGrantEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBook(openStore(t, t.TempDir()))
		b.create(t, protocol.GrantTerms{ServerName: "s", Models: anyModel, ExpiresAt: time.Now().Add(time.Hour).UnixMilli()})
		time.Sleep(time.Hour - time.Millisecond)
		b.reserve(t, request(&free), "")
		time.Sleep(time.Millisecond)
		b.reserve(t, request(&free), "The grant made on 1 Jan 2000, 00:00 ended on 1 Jan 2000, 01:00.")
	})
}

func TestARevokedGrantApprovesNothingMore(t *testing.T) {
	for _, session := range []bool{false, true} {
		t.Run(fmt.Sprintf("session %v", session), func(t *testing.T) {
			kept := openStore(t, t.TempDir())
			b, other := newBook(kept), newBook(kept)
			g := b.create(t, protocol.GrantTerms{ServerName: "s", Models: anyModel, MaxRequests: 5, Session: session})
			held := b.reserve(t, request(&free), "")
			if held.Revoked(t.Context()) {
				t.Error("it is revoked before anybody revoked it")
			}
			revoker := b // only this book has the session's grants
			if !session {
				revoker = other
			}
			revoked, err := revoker.Revoke(t.Context(), g.ID, "a test")
			if err != nil || revoked.EndedAt == 0 {
				t.Fatalf("Revoke = %+v, %v", revoked, err)
			}
			if again, err := revoker.Revoke(t.Context(), g.ID, "a test"); err != nil || again.EndedAt != revoked.EndedAt {
				t.Errorf("Revoke again = %+v, %v", again, err)
			}
			records, _, err := kept.Journal(t.Context(), store.JournalFilter{}, 10, 1<<20)
			if err != nil || len(records) != 2 || records[0].Kind != "grantCreated" || records[1].Kind != "grantEnded" ||
				!strings.Contains(records[1].Body, `"id":"`+g.ID+`","by":"a test"`) {
				t.Errorf("journal = %+v, %v, want that it was created and, once, that it ended", records, err)
			}
			if !held.Revoked(t.Context()) {
				t.Error("what is under way does not learn of it")
			}
			b.reserve(t, request(&free), "was revoked.")
			if err := held.Settle(nil); err != nil {
				t.Error(err)
			}
			if _, err := b.Revoke(t.Context(), "another", "a test"); err == nil {
				t.Error("Revoke of a grant that is not there gave no error")
			}
		})
	}
}

// Two books share one store, and each has many concurrent requests.
func TestConcurrentRequestsStayWithinTheBounds(t *testing.T) {
	const bound = 25
	kept := openStore(t, t.TempDir())
	books := []*book{newBook(kept), newBook(kept)}
	tests := []protocol.GrantTerms{
		{ServerName: "s", Models: anyModel, MaxRequests: bound},
		{ServerName: "s", Models: anyModel, MaxTokens: bound*1000 + 999},
		{ServerName: "s", Models: anyModel, MaxCost: bound*0.01 + 0.009},
	}
	for i, terms := range tests {
		terms.ServerName = fmt.Sprintf("s%d", i)
		g := books[0].create(t, terms)
		r := request(priced(10, 10))
		r.Origin.ServerName = terms.ServerName
		var wg sync.WaitGroup
		approved := make(chan struct{}, 4*bound)
		for i := range 4 * bound {
			wg.Go(func() {
				held, _, err := books[i%2].Reserve(t.Context(), r)
				if err != nil {
					t.Error(err)
				}
				if held != nil {
					approved <- struct{}{}
				}
			})
		}
		wg.Wait()
		if got := len(approved); got != bound {
			t.Errorf("under %+v, %d requests were approved, want %d", terms, got, bound)
		}
		spent := books[1].spent(t, g.ID)
		if spent.Requests != bound || spent.Tokens != bound*1000 {
			t.Errorf("spent = %+v", spent)
		}
	}
}

// The reservation of a killed sidecar is spent, because its real usage is unknown.
func TestReservationsOfAKilledSidecarAreSpent(t *testing.T) {
	kept := openStore(t, t.TempDir())
	killed := newBook(kept)
	g := killed.create(t, protocol.GrantTerms{ServerName: "s", Models: anyModel, MaxRequests: 1, Review: true})
	session := killed.create(t, protocol.GrantTerms{ServerName: "x", Models: anyModel, Session: true})
	killed.reserve(t, request(&free), "")

	b := newBook(kept)
	want := protocol.GrantSpent{Requests: 1, Tokens: 1000}
	if diff := cmp.Diff(want, b.spent(t, g.ID)); diff != "" {
		t.Errorf("spent (-want +got):\n%s", diff)
	}
	b.reserve(t, request(&free), "is used up")
	resumed := b.Resume(t.Context(), g.ID)
	if !resumed.Review || resumed.Revoked(t.Context()) {
		t.Errorf("the resumed request = %+v, revoked %v", resumed, resumed.Revoked(t.Context()))
	}
	if err := resumed.Settle(&protocol.SamplingUsage{InputTokens: 5000}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, b.spent(t, g.ID)); diff != "" {
		t.Errorf("spent after the resumed request (-want +got):\n%s", diff)
	}
	if r := b.Resume(t.Context(), session.ID); !r.Review || !r.Revoked(t.Context()) {
		t.Error("a session's grant goes on after its sidecar")
	}
}

func TestAGrantThatIsMadeWithAnAnswer(t *testing.T) {
	b := newBook(openStore(t, t.TempDir()))
	first := request(priced(10, 10), "t")
	tests := []struct {
		name  string
		terms protocol.GrantTerms
		want  string // the field with a problem
	}{
		{"another server's", protocol.GrantTerms{ServerName: "x", Models: anyModel, MaxRequests: 1}, "serverName"},
		{"too few tokens for it", protocol.GrantTerms{ServerName: "s", Models: anyModel, MaxTokens: 999}, "maxTokens"},
		{"too few dollars for it", protocol.GrantTerms{ServerName: "s", Models: anyModel, MaxCost: 0.001}, "maxCost"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := b.CreateFor(t.Context(), tt.terms, "a test", first)
			var e *protocol.Error
			if !errors.As(err, &e) || e.Data.(protocol.InvalidAnswerData).Problems[0].Name != tt.want {
				t.Errorf("CreateFor = %v, want a problem of %s", err, tt.want)
			}
		})
	}
	held, err := b.CreateFor(t.Context(), protocol.GrantTerms{ServerName: "s", Models: anyModel, MaxRequests: 2}, "a test", first)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(protocol.GrantSpent{Requests: 1, Tokens: 1000, Cost: 0.01, InFlight: 1}, b.last().Spent); diff != "" {
		t.Errorf("spent (-want +got):\n%s", diff)
	}
	if err := held.Settle(nil); err != nil {
		t.Error(err)
	}
	b.reserve(t, first, "")
	b.reserve(t, first, "for 2 requests is used up")
	if list, err := b.List(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("List = %+v, %v, want the one that was made", list, err)
	}
}

// The workspace can change its mcp.json. A grant for one program does not cover another with the same name.
func TestAGrantIsForTheServerThatItWasMadeFor(t *testing.T) {
	s := openStore(t, t.TempDir())
	command := "npx weather"
	b := &book{Book: grant.NewBook(grant.Options{
		Store: func() (*store.Store, error) { return s, nil },
		Server: func(string) (string, string) {
			if _, err := s.Grants(t.Context()); err != nil { // would block within a transaction
				t.Error(err)
			}
			return "hash of " + command, command
		},
	})}
	b.create(t, protocol.GrantTerms{ServerName: "s", Models: anyModel, MaxRequests: 9})
	b.create(t, protocol.GrantTerms{ServerName: "s", Models: anyModel, Session: true})
	b.reserve(t, request(&free), "")
	command = "sh -c evil"
	b.reserve(t, request(&free), "was for a server with another configuration: npx weather.")
	command = "npx weather"
	b.reserve(t, request(&free), "")
}

func TestAGrantWithAnEndIsNotUsedBeforeItWasMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, t.TempDir())
		b := newBook(s)
		later := time.Now().Add(time.Hour)
		terms := protocol.GrantTerms{ServerName: "s", Models: anyModel, ExpiresAt: later.Add(time.Hour).UnixMilli()}
		if err := s.AddGrant(t.Context(), protocol.Grant{ID: "g", CreatedAt: later.UnixMilli(), GrantTerms: terms}); err != nil {
			t.Fatal(err)
		}
		b.reserve(t, request(&free), "The grant made on 1 Jan 2000, 01:00 has an end, and the clock was set back, so it may have ended.")
		time.Sleep(time.Hour)
		b.reserve(t, request(&free), "")
	})
}
