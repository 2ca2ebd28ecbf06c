package grant

import (
	"context"
	"fmt"
	"sync"

	"assent/protocol"
)

// Reserve finds the grant that approves a request, and holds there the most that it may come to. Of
// several it is the one that was made last: it is the person's last word, on the review too.
//
// Where none does, the reservation is nil, and the reason a line for the person: why the one that comes
// nearest does not. It is empty where there is no grant for the server at all.
func (b *Book) Reserve(ctx context.Context, r Request) (_ *Reservation, reason string, _ error) {
	s, err := b.opts.Store()
	if err != nil {
		return nil, "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var found *protocol.Grant
	var held *Reservation
	err = s.ChangeGrants(ctx, r.Origin.ServerName, func(all []protocol.Grant) *protocol.Grant {
		for _, g := range b.session {
			if g.ServerName == r.Origin.ServerName {
				all = append(all, *g)
			}
		}
		newestFirst(all)
		if found, reason = b.choose(all, r); found == nil {
			return nil
		}
		held = b.hold(found, r.Most)
		if g := b.ofSession(found.ID); g != nil {
			*g = *found
			return nil
		}
		return found
	})
	switch {
	case err != nil && held != nil: // nothing of it was kept, as no grant of the session gets this far
		b.inFlight[held.GrantID]--
		return nil, "", err
	case err != nil:
		return nil, "", err
	case held == nil:
		return nil, reason, nil
	}
	b.changed(*found)
	return held, "", nil
}

// choose returns the first of the grants that covers a request, or why the one that comes nearest does
// not.
func (b *Book) choose(all []protocol.Grant, r Request) (*protocol.Grant, string) {
	var nearest reason
	now := b.opts.Now()
	identity, _ := b.opts.Server(r.Origin.ServerName)
	for i := range all {
		why := covers(&all[i], r, identity, "The grant made on "+moment(all[i].CreatedAt, now), now)
		if why.text == "" {
			return &all[i], ""
		}
		if why.telling > nearest.telling {
			nearest = why
		}
	}
	return nil, nearest.text
}

// hold counts a request as the most that it may come to. The lock must be held.
func (b *Book) hold(g *protocol.Grant, most protocol.SamplingUsage) *Reservation {
	tokens, cost := tokensOf(most), costOf(most)
	spend(g, 1, tokens, cost)
	b.inFlight[g.ID]++
	return &Reservation{
		GrantID: g.ID,
		Review:  g.Review,
		Detail:  fmt.Sprintf("Allowed by the grant made in %s on %s.", g.By, moment(g.CreatedAt, b.opts.Now())),
		book:    b, inFlight: true, tokens: tokens, cost: cost,
	}
}

// Reservation is a request under a grant, until it is known what it came to. It may be used from any
// goroutine.
type Reservation struct {
	GrantID string
	// Review: the person sees the answer before the server gets it.
	Review bool
	// Detail is a sentence for the person: which grant it is.
	Detail string

	book *Book
	// inFlight is false for what an earlier sidecar held.
	inFlight bool
	tokens   int64
	cost     float64
	settle   sync.Once
}

// Resume returns the reservation of a request that a grant approved in an earlier sidecar. What was held
// then is spent, so it holds nothing, and settling it changes nothing. A grant that is not there any more
// counts as revoked.
func (b *Book) Resume(ctx context.Context, id string) *Reservation {
	g, err := b.find(ctx, id)
	return &Reservation{GrantID: id, Review: err != nil || g == nil || g.Review, book: b}
}

func (b *Book) find(ctx context.Context, id string) (*protocol.Grant, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g := b.ofSession(id); g != nil {
		found := *g
		return &found, nil
	}
	s, err := b.opts.Store()
	if err != nil {
		return nil, err
	}
	return s.Grant(ctx, id)
}

// Settle puts what the request came to in the place of what it held; nil where no model was asked, which
// counts as a request all the same. What another answer that the person wanted came to counts too. A cost
// that is not known leaves what was held. Only the first settlement counts, and Release is one.
func (r *Reservation) Settle(usage *protocol.SamplingUsage) error {
	if usage == nil {
		return r.end(0, -r.tokens, -r.cost)
	}
	var cost float64
	if usage.Cost != nil {
		cost = *usage.Cost - r.cost
	}
	return r.end(0, tokensOf(*usage)-r.tokens, cost)
}

// Release gives back what a request held that was not made after all.
func (r *Reservation) Release() error { return r.end(-1, -r.tokens, -r.cost) }

// end runs whether or not anybody waits for it: what was spent is kept.
func (r *Reservation) end(requests, tokens int64, cost float64) (err error) {
	r.settle.Do(func() {
		if !r.inFlight {
			return
		}
		b := r.book
		b.mu.Lock()
		defer b.mu.Unlock()
		b.inFlight[r.GrantID]--
		_, err = b.change(context.Background(), r.GrantID, func(g *protocol.Grant) { spend(g, requests, tokens, cost) })
		if err != nil {
			err = fmt.Errorf("what the grant %s was used for stays counted as the most that it could be: %w", r.GrantID, err)
		}
		if b.inFlight[r.GrantID] == 0 {
			delete(b.inFlight, r.GrantID)
		}
	})
	return err
}

// Revoked reports whether the grant was revoked meanwhile, in this window or another; so it does where
// that cannot be known.
func (r *Reservation) Revoked(ctx context.Context) bool {
	g, err := r.book.find(ctx, r.GrantID)
	return err != nil || g == nil || g.EndedAt != 0
}
