package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assent/sidecar/gateway/mcpserver"
)

// askers are the runs of equal calls, each of which asks at once and ends when it is told to.
type askers struct {
	runs   []string // the sessions
	finish []chan struct{}
}

func (a *askers) run(session string) run {
	return func(ctx context.Context, h caller) (json.RawMessage, error) {
		n, finish := len(a.runs), make(chan struct{})
		a.runs, a.finish = append(a.runs, session), append(a.finish, finish)
		h.began(Place(fmt.Sprint(n)))
		h.asking("Which size?")
		select {
		case <-finish:
			return json.RawMessage(fmt.Sprint(n)), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// send sends an equal call of a session, and returns where its result comes.
func (a *askers) send(ctx context.Context, c *calls, session string, waitLimit time.Duration) <-chan string {
	got := make(chan string, 1)
	go func() {
		result, report, err := c.do(ctx, "key", waitLimit, of(session), callSpec{requester: requester{session: session}}, a.run(session))
		if report != nil {
			report(true)
		}
		var waiting errWaiting
		switch {
		case errors.As(err, &waiting):
			got <- "handle"
		case err != nil:
			got <- err.Error()
		default:
			got <- string(result)
		}
	}()
	synctest.Wait()
	return got
}

func TestAJoinedCallIsSaidAndRunsSeparately(t *testing.T) {
	type step func(c *calls, a *askers, giveUp func(error))
	cancelled := func(_ *calls, _ *askers, giveUp func(error)) { giveUp(mcpserver.ErrCancelled) }
	for _, test := range []struct {
		name      string
		waitLimit time.Duration // of the first call
		then      step          // what happens to it
		session   string        // of the call that comes again
		again     time.Duration // the host's wait limit
		told      string
		runs      string // the sessions, after Run Separately
	}{
		{"one session, both wait", 0, nil, "a", 0, "{true false true} {false false false}", "a a"},
		{
			"one session, the first has a handle", time.Second, func(*calls, *askers, func(error)) { time.Sleep(time.Minute) }, "a", 0,
			"{true false true} {false false false}", "a a",
		},
		{"the host cancelled the first", 0, cancelled, "a", 0, "{true true true} {false false false}", "a a"},
		{"another session, the host cancelled the first", 0, cancelled, "b", 0, "{true true true} {false false false}", "a b"},
		{"the session of the first has ended", time.Second, func(c *calls, _ *askers, _ func(error)) {
			time.Sleep(time.Minute)
			c.ended("a")
		}, "b", 0, "{true true true} {false false false}", "a b"},
		{"the second has a handle by now", 0, nil, "a", time.Second, "{true false true} {true false false}", "a"},
		{"another session does not join", 0, nil, "b", 0, "", "a b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []string
				c, a := &calls{joined: func(at Place, joined Joined) {
					if at != "0" {
						t.Errorf("the call at %s is joined", at)
					}
					told = append(told, fmt.Sprint(joined))
				}}, &askers{}
				defer c.close()
				ctx, giveUp := context.WithCancelCause(t.Context())
				defer giveUp(nil)
				a.send(ctx, c, "a", test.waitLimit)
				if test.then != nil {
					test.then(c, a, giveUp)
					synctest.Wait()
				}
				got := a.send(t.Context(), c, test.session, test.again)
				time.Sleep(time.Minute)
				before := len(a.runs)
				started := c.runSeparately("0")
				synctest.Wait()
				if len(a.runs) == before == started {
					t.Errorf("it started a run: %v, and there are %v", started, a.runs)
				}
				if runs := strings.Join(a.runs, " "); runs != test.runs {
					t.Errorf("the runs are %s, want %s", runs, test.runs)
				}
				if said := strings.Join(told, " "); said != test.told {
					t.Errorf("a person hears %s, want %s", said, test.told)
				}
				if c.runSeparately("0") {
					t.Error("a second press ran it again")
				}
				for _, finish := range a.finish {
					close(finish)
				}
				want := fmt.Sprint(len(a.runs) - 1) // its own run's
				if test.again > 0 {
					want = "handle"
				}
				if result := <-got; result != want {
					t.Errorf("the call that came again got %s, want %s", result, want)
				}
			})
		})
	}
}

// Of several calls that came again, each press runs the newest; one that its host gives up does not count any more.
func TestSeveralCallsJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told Joined
		c, a := &calls{joined: func(_ Place, joined Joined) { told = joined }}, &askers{}
		defer c.close()
		first := a.send(t.Context(), c, "a", 0)
		ctx, giveUp := context.WithCancelCause(t.Context())
		gone := a.send(ctx, c, "a", 0)
		second, third := a.send(t.Context(), c, "a", 0), a.send(t.Context(), c, "a", 0)
		giveUp(mcpserver.ErrCancelled)
		<-gone
		synctest.Wait()
		for _, want := range []struct {
			started bool
			told    Joined
		}{{true, Joined{Has: true, Waits: true}}, {true, Joined{}}, {false, Joined{}}} {
			if started := c.runSeparately("0"); started != want.started || told != want.told {
				t.Errorf("it started: %v, a person hears %v; want %v", started, told, want)
			}
			synctest.Wait()
		}
		for _, finish := range a.finish {
			close(finish)
		}
		if got := <-first + <-second + <-third; got != "021" {
			t.Errorf("the results are of the runs %s", got)
		}
	})
}

// A call that runs on its own is cancelled, asks and ends as any other.
func TestASeparateCallIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, a := &calls{}, &askers{}
		defer c.close()
		a.send(t.Context(), c, "a", 0)
		ctx, giveUp := context.WithCancelCause(t.Context())
		got := a.send(ctx, c, "a", 0)
		c.runSeparately("0")
		synctest.Wait() // it asks, so that its question stays
		giveUp(mcpserver.ErrCancelled)
		if err := <-got; err != mcpserver.ErrCancelled.Error() {
			t.Errorf("it ended with %s", err)
		}
		synctest.Wait()
		if len(a.runs) != 2 || len(c.all) != 2 || c.all[1].question == "" {
			t.Errorf("its question is gone: %d runs, %d calls", len(a.runs), len(c.all))
		}
	})
}
