package grant

import (
	"context"
	"fmt"
	"sync"

	"assent/protocol"
)

// Reserve finds the grant that approves a request, and reserves the maximum cost. If several grants approve it,
// Reserve takes the newest one, with its setting for the review.
//
// If no grant approves it, the reservation is nil, and the reason is a line for the person: why the nearest grant does
// not approve it. The reason is empty if the server has no grant.
func (b *Book) Reserve(ctx context.Context, r Request) (_ *Reservation, reason string, _ error) {
	s, err := b.opts.Store()
	if err != nil {
		return nil, "", err
	}
	// Reading the identity may read a file, which must not happen within the transaction.
	identity, _ := b.opts.Server(r.Origin.ServerName)
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
		if found, reason = b.choose(all, r, identity); found == nil {
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
	case err != nil && held != nil: // the store changed nothing; a session's grant is not in the store
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

// choose returns the first grant that covers a request of the server with this identity, or why the nearest one does
// not.
func (b *Book) choose(all []protocol.Grant, r Request, identity string) (*protocol.Grant, string) {
	var nearest reason
	now := b.opts.Now()
	for i := range all {
		if why := b.opts.Asleep(&all[i]); why != "" {
			if nearest.telling < objected {
				nearest = reason{telling: objected, text: why}
			}
			continue
		}
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

// hold counts a request with its maximum cost. The lock must be held.
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

// Reservation is the part of a grant that is reserved for a request until its real cost is known. It may be used
// from any goroutine.
type Reservation struct {
	GrantID string
	// Review reports whether the person sees the answer before the server gets it.
	Review bool
	// Detail is a sentence for the person that names the grant.
	Detail string

	book *Book
	// inFlight is false if an earlier sidecar made the reservation.
	inFlight bool
	tokens   int64
	cost     float64
	settle   sync.Once
}

// Resume returns the reservation of a request that a grant approved in an earlier sidecar. The reserved amount counts
// as spent then, so settling the reservation changes nothing. A deleted grant counts as revoked.
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

// Settle replaces the reserved amount by the real usage, which includes regenerated answers. Usage is nil if no model
// was asked; the request still counts. If the cost is unknown, the reserved cost stays. Only the first call of Settle
// or Release has an effect.
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

// Release releases the whole reservation of a request that was not made.
func (r *Reservation) Release() error { return r.end(-1, -r.tokens, -r.cost) }

// end changes the grant's usage. It takes no context, because the usage must be saved even if the caller stops
// waiting.
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
			err = fmt.Errorf("the use of the grant %s stays counted with the most that it could cost: %w", r.GrantID, err)
		}
		if b.inFlight[r.GrantID] == 0 {
			delete(b.inFlight, r.GrantID)
		}
	})
	return err
}

// Revoked reports whether the grant has been revoked, in this window or another. It returns true if the grant cannot be
// read.
func (r *Reservation) Revoked(ctx context.Context) bool {
	g, err := r.book.find(ctx, r.GrantID)
	return err != nil || g == nil || g.EndedAt != 0
}
