package attribution

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A slow request blocks those behind it for a bounded time only, regardless of their number.
func TestASlowRequestBlocksItsNeighboursForABoundedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order Sequence
		slow, second, third := order.Join(), order.Join(), order.Join()
		slow.Await(t.Context()) // at once: it is the first
		began := time.Now()
		waited := make(chan time.Duration, 2)
		for _, next := range []*Slot{second, third} {
			go func() {
				next.Await(t.Context())
				waited <- time.Since(began)
			}()
		}
		for range 2 {
			if got := <-waited; got != slowest {
				t.Errorf("it waited for %v, want %v", got, slowest)
			}
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		order.Join().Await(over) // at once: it is withdrawn
		slow.Pass()
		slow.Pass()
		if took := time.Since(began); took != slowest {
			t.Errorf("it took %v", took)
		}
	})
}
