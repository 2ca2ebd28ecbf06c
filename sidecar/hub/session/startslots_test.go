package session

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := make(startSlots, 2)
		take := func() func() {
			release, err := all.take(t.Context(), time.Minute)
			if err != nil {
				t.Error(err)
				return func() {}
			}
			return release
		}
		began := time.Now()
		release := take()
		take() // and keeps it
		go func() {
			time.Sleep(time.Second)
			release()
			release() // gives none away that it has not
		}()
		defer take()()
		if took := time.Since(began); took != time.Second {
			t.Errorf("the third waited %v for the first", took)
		}
		gone, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("nobody waits"))
		if _, err := all.take(gone, time.Minute); err == nil || err.Error() != "nobody waits" {
			t.Errorf("the error is %v", err)
		}
		defer take()()
		if took := time.Since(began); took != time.Minute {
			t.Errorf("the fourth waited %v for the end of the second's turn", took)
		}
	})
}
