package deadline_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"assent/sidecar/base/deadline"
)

var errSlow = errors.New("slow")

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := deadline.WithTimeout(t.Context(), time.Minute, errSlow)
		defer cancel()
		start := time.Now()
		<-ctx.Done()
		if took := time.Since(start); took != time.Minute || context.Cause(ctx) != errSlow {
			t.Errorf("ended after %v for %v, want after a minute for %v", took, context.Cause(ctx), errSlow)
		}
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := deadline.WithTimeout(t.Context(), time.Minute, errSlow)
		resume := deadline.Pause(ctx)
		cancel()
		resume() // does not restart an expired clock
		if context.Cause(ctx) != context.Canceled {
			t.Errorf("ended for %v, want %v", context.Cause(ctx), context.Canceled)
		}
	})
}

func TestPausesDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer, cancel := deadline.WithTimeout(t.Context(), 2*time.Minute, errors.New("outer"))
		defer cancel()
		inner, cancel := deadline.WithTimeout(outer, time.Minute, errSlow)
		defer cancel()
		start := time.Now()
		time.Sleep(30 * time.Second)
		first := deadline.Pause(inner)
		time.Sleep(time.Hour)
		second := deadline.Pause(inner)
		first()
		first() // resumes only once
		time.Sleep(time.Hour)
		if inner.Err() != nil || outer.Err() != nil {
			t.Fatalf("ended while it was paused: inner %v, outer %v", inner.Err(), outer.Err())
		}
		second()
		<-inner.Done()
		if took := time.Since(start); took != 2*time.Hour+time.Minute {
			t.Errorf("inner ended after %v, want two hours and a minute", took)
		}
		<-outer.Done()
		if took := time.Since(start); took != 2*time.Hour+2*time.Minute {
			t.Errorf("outer ended after %v, want two hours and two minutes", took)
		}
	})
}

func TestPauseWithoutClock(t *testing.T) {
	deadline.Pause(t.Context())()
}

func TestAClockCountsOnlyWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, clock, cancel := deadline.WithClock(t.Context(), time.Minute, errSlow)
		defer cancel()
		begin := time.Now()
		time.Sleep(time.Hour) // it is stopped
		for range 3 {
			clock.Start()
			time.Sleep(50 * time.Second)
			clock.Restart()
			time.Sleep(50 * time.Second)
			resume := clock.Pause()
			time.Sleep(time.Hour)
			resume()
			clock.Stop()
			time.Sleep(time.Hour)
		}
		clock.Restart() // does not start it
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Fatalf("it ended after %v", time.Since(begin))
		}
		clock.Start()
		begin = time.Now()
		<-ctx.Done()
		if took := time.Since(begin); took != time.Minute || context.Cause(ctx) != errSlow {
			t.Errorf("it ended %v after its start, for %v", took, context.Cause(ctx))
		}
	})
}
