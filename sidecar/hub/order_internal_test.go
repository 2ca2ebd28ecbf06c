package hub

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A question that is slow to be asked holds up those behind it for a bounded time only, however many they are.
func TestASlowQuestionBlocksItsNeighboursForABoundedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order sequence
		slow, second, third := order.join(), order.join(), order.join()
		slow.await(t.Context()) // at once: it is the first
		began := time.Now()
		waited := make(chan time.Duration, 2)
		for _, next := range []*slot{second, third} {
			go func() {
				next.await(t.Context())
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
		order.join().await(over) // at once: it is withdrawn
		slow.pass()
		slow.pass()
		if took := time.Since(began); took != slowest {
			t.Errorf("it took %v", took)
		}
	})
}
