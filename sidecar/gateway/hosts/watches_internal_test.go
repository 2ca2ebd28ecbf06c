package hosts

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestSubscriptionsOfHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watching, refused := 0, errors.New("there is no such resource")
		var answer error
		w := &watches{all: map[resource]*watch{}, watch: func(ctx context.Context, _, _ string, began func(error)) {
			err := answer // the test may change answer as soon as began is called
			if began(err); err != nil {
				return
			}
			watching++
			<-ctx.Done()
			watching--
		}}
		want := func(when string, n int) {
			t.Helper()
			synctest.Wait()
			if watching != n {
				t.Errorf("%s: the server has %d subscriptions, want %d", when, watching, n)
			}
		}
		subscribe := func() func() {
			t.Helper()
			stop, err := w.subscribe(t.Context(), "s", "memo://1")
			if err != nil {
				t.Fatal(err)
			}
			return stop
		}
		first, second := subscribe(), subscribe()
		want("two sessions", 1)
		first()
		first()
		want("one has left", 1)
		second()
		want("both have left", 0)

		answer = refused
		if _, err := w.subscribe(t.Context(), "s", "memo://1"); !errors.Is(err, refused) {
			t.Errorf("a subscription that the server refuses: %v", err)
		}
		answer = nil
		stop := subscribe()
		want("it was refused before", 1)
		w.close()
		want("after the end", 0)
		stop()
		if _, err := w.subscribe(t.Context(), "s", "memo://1"); err == nil {
			t.Error("a subscription after the end")
		}
		w.running.Wait()
	})
}
