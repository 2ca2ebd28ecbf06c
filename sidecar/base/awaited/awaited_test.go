package awaited_test

import (
	"context"
	"slices"
	"testing"

	"assent/sidecar/base/awaited"
)

// heard is what a listener was told.
type heard []string

func (h *heard) listen(ctx context.Context) context.Context {
	return awaited.WithListener(ctx, func(what string) { *h = append(*h, what) })
}

func (h heard) want(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(h, want) {
		t.Errorf("heard %q, want %q", h, want)
	}
}

func TestEveryListenerHearsOfAWaitOnce(t *testing.T) {
	var outer, inner heard
	ctx := inner.listen(outer.listen(t.Context()))
	endFirst := awaited.Begin(ctx, "a window")
	endSecond := awaited.Begin(ctx, "another window")
	endFirst()
	outer.want(t, "a window")
	endSecond()
	awaited.Begin(ctx, "a third one")()
	outer.want(t, "a window", "", "a third one", "")
	inner.want(t, outer...)
	awaited.Begin(t.Context(), "nobody hears it")()
}

func TestWaitersForSharedWorkLearnItsReason(t *testing.T) {
	var s awaited.Shared
	var owner, early, late, gone heard
	work := s.Context(owner.listen(context.Background()))
	leaveGone := s.Join(gone.listen(t.Context()))
	leaveGone()
	twice := early.listen(t.Context())
	leaveEarly, leaveAgain := s.Join(twice), s.Join(twice)
	s.Join(t.Context())()

	end := awaited.Begin(work, "a window")
	leaveLate := s.Join(late.listen(t.Context()))
	leaveLate()
	leaveEarly()
	early.want(t, "a window")
	end()
	leaveAgain()

	owner.want(t, "a window", "")
	early.want(t, "a window", "")
	late.want(t, "a window", "")
	gone.want(t)
}
