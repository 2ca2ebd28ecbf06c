package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assent/sidecar/gateway/mcpserver"
)

// scripted is a call that does as it is told.
type scripted struct {
	runs   int
	ask    chan string
	finish chan error
}

func newScripted() *scripted {
	return &scripted{ask: make(chan string), finish: make(chan error)}
}

func (s *scripted) run(ctx context.Context, h caller) (json.RawMessage, error) {
	s.runs++
	for {
		select {
		case question := <-s.ask:
			h.asking(question)
		case err := <-s.finish:
			return json.RawMessage(`"done"`), err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// silent is a request of a host that takes nothing but its result.
var silent = hostRequest{notify: func(string, json.RawMessage) {}, begin: func() {}, takes: func(string, json.RawMessage) bool { return false }}

// of returns silent as a request of a session, of a conversation in one, as "session/conversation", or of a connection of a
// host without sessions, as "#connection".
func of(session string) hostRequest {
	a := silent
	a.session, a.connection, _ = strings.Cut(session, "#")
	a.session, a.conversation, _ = strings.Cut(a.session, "/")
	return a
}

// outcome is what a request of a host got.
type outcome struct {
	result json.RawMessage
	err    error
}

// request sends a request of a host, and returns where its outcome comes. A result is sent to the host.
func request(ctx context.Context, c *calls, s *scripted, waitLimit time.Duration) <-chan outcome {
	return requestOf(ctx, c, s, waitLimit, silent)
}

func requestOf(ctx context.Context, c *calls, s *scripted, waitLimit time.Duration, request hostRequest) <-chan outcome {
	got := make(chan outcome, 1)
	go func() {
		result, report, err := c.do(ctx, "key", waitLimit, request, callSpec{}, s.run)
		if report != nil {
			report(true)
		}
		got <- outcome{result, err}
	}()
	synctest.Wait()
	return got
}

// requestToTell sends a request of a host. The test says whether the result was sent.
func requestToTell(ctx context.Context, c *calls, s *scripted) <-chan deliveryReport {
	told := make(chan deliveryReport, 1)
	go func() {
		_, report, _ := c.do(ctx, "key", 0, silent, callSpec{}, s.run)
		told <- report
	}()
	return told
}

func TestACallThatAsksRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := &calls{}, newScripted()
		defer c.close()
		ctx, timeout := context.WithCancelCause(t.Context())
		first := request(ctx, c, s, 0)
		s.ask <- "Which size?"
		synctest.Wait()
		timeout(mcpserver.ErrCancelled)
		if got := <-first; !errors.Is(got.err, mcpserver.ErrCancelled) {
			t.Errorf("the request that was given up: %v", got.err)
		}
		// The same call again joins it, and so does one more of the session beside it.
		second, third := request(t.Context(), c, s, 0), request(t.Context(), c, s, 0)
		s.finish <- nil
		for _, got := range []outcome{<-second, <-third} {
			if string(got.result) != `"done"` || got.err != nil {
				t.Errorf("a request that joined: %s, %v", got.result, got.err)
			}
		}
		if s.runs != 1 {
			t.Errorf("it ran %d times", s.runs)
		}
		// The result was delivered: now it is another call.
		fourth := request(t.Context(), c, s, 0)
		s.finish <- nil
		if <-fourth; s.runs != 2 {
			t.Errorf("the next call did not run: %d", s.runs)
		}
	})
}

func TestAnAnswerAfterTheHostHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := &calls{}, newScripted()
		defer c.close()
		ctx, timeout := context.WithCancelCause(t.Context())
		first := request(ctx, c, s, 0)
		s.ask <- "Which size?"
		synctest.Wait()
		timeout(mcpserver.ErrCancelled)
		<-first
		s.finish <- nil
		time.Sleep(time.Hour)
		if got := <-request(t.Context(), c, s, 0); string(got.result) != `"done"` || s.runs != 1 {
			t.Errorf("the late result: %s, %v, %d runs", got.result, got.err, s.runs)
		}
	})
}

// An equal call joins the first one, or runs. The first one is of session a, and has asked unless the test says otherwise.
func TestWhichCallsJoin(t *testing.T) {
	isGone := false
	for _, test := range []struct {
		name string
		// noQuestion: the first call has asked nothing.
		noQuestion bool
		waitLimit  time.Duration // of the first request
		// then is what happens to the first request.
		then    func(c *calls, giveUp func(error))
		session string // of the equal call
		joins   bool
	}{
		{"two live sessions", false, 0, nil, "b", false},
		{"two live sessions, and no question", true, 0, nil, "b", false},
		{"one session, the question is open", false, 0, nil, "a", true},
		{"one session, and no question", true, 0, nil, "a", false},
		{"the host cancelled its request", false, 0, func(_ *calls, giveUp func(error)) { giveUp(mcpserver.ErrCancelled) }, "b", true},
		{"the host cancelled its request and calls again", false, 0, func(_ *calls, giveUp func(error)) { giveUp(mcpserver.ErrCancelled) }, "a", true},
		{"the session has ended", false, 0, func(c *calls, giveUp func(error)) {
			giveUp(mcpserver.ErrEnded)
			c.ended("a")
		}, "b", true},
		{"the host cancelled, and the call had asked nothing", true, 0, func(_ *calls, giveUp func(error)) { giveUp(mcpserver.ErrCancelled) }, "b", false},
		{"the host has a handle, and lives", false, time.Second, func(*calls, func(error)) { time.Sleep(time.Minute) }, "b", false},
		{"the host has a handle and calls again", false, time.Second, func(*calls, func(error)) { time.Sleep(time.Minute) }, "a", true},
		{"the host had a handle, and has ended", false, time.Second, func(c *calls, _ func(error)) {
			time.Sleep(time.Minute)
			c.ended("a")
		}, "b", true},
		{"two conversations in one session", false, 0, nil, "a/other", false},
		{"two conversations in one session, and no question", true, 0, nil, "a/other", false},
		{"two conversations in one session, and the first one cancelled", false, 0, func(_ *calls, giveUp func(error)) { giveUp(mcpserver.ErrCancelled) }, "a/other", true},
		{"a conversation in a session that has ended", false, 0, func(c *calls, giveUp func(error)) {
			giveUp(mcpserver.ErrEnded)
			c.ended("a")
		}, "b/other", true},
		{"the host over HTTP has no connection open", false, time.Second, func(*calls, func(error)) {
			time.Sleep(time.Minute)
			isGone = true
		}, "b", true},
		{"two connections of a host without sessions", false, 0, nil, "#2", false},
		{"a connection of a host without sessions is closed", false, 0, func(_ *calls, giveUp func(error)) { giveUp(mcpserver.ErrCancelled) }, "#2", true},
		{"a connection of a host without sessions is closed after the call came again", false, 0, func(_ *calls, giveUp func(error)) {
			time.AfterFunc(closingTime/2, func() { giveUp(mcpserver.ErrCancelled) })
		}, "#2", true},
		{"a host without sessions has a handle and calls again", false, time.Second, func(*calls, func(error)) { time.Sleep(time.Minute) }, "#2", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				isGone = false
				c, s := &calls{}, newScripted()
				first := of("a")
				if strings.HasPrefix(test.session, "#") {
					first = of("#1")
				}
				first.isThere = func() bool { return !isGone }
				ctx, giveUp := context.WithCancelCause(t.Context())
				defer giveUp(nil)
				requestOf(ctx, c, s, test.waitLimit, first)
				if !test.noQuestion {
					s.ask <- "Which size?"
					synctest.Wait()
				}
				if test.then != nil {
					test.then(c, giveUp)
					synctest.Wait()
				}
				requestOf(t.Context(), c, s, 0, of(test.session))
				time.Sleep(closingTime)
				synctest.Wait()
				if joins := s.runs == 1; joins != test.joins {
					t.Errorf("the tool ran %d times", s.runs)
				}
				c.close()
			})
		})
	}
}

// A host sends its next request as soon as it has the result, before the gateway knows that the result was sent.
func TestARequestRightAfterTheResult(t *testing.T) {
	for _, test := range []struct {
		name string
		next func(ctx context.Context, c *calls, s *scripted, handle string) error
		// The result of the first request was sent, or was not.
		sent bool
		want error
		runs int
	}{
		{"the same call", sameCall, true, nil, 2},
		{"the same call, and the result was not sent", sameCall, false, nil, 1},
		{"its handle", itsHandle, true, errNoHandle, 1},
		{"its handle, and the result was not sent", itsHandle, false, nil, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := &calls{}, newScripted()
				defer c.close()
				first := requestToTell(t.Context(), c, s)
				synctest.Wait()
				s.ask <- "Which size?"
				synctest.Wait()
				handle := c.all[0].handle
				s.finish <- nil
				told := <-first
				next := make(chan error, 1)
				go func() { next <- test.next(t.Context(), c, s, handle) }()
				synctest.Wait()
				told(test.sent)
				synctest.Wait()
				if test.runs == 2 {
					s.finish <- nil
				}
				if err := <-next; !errors.Is(err, test.want) || s.runs != test.runs {
					t.Errorf("the next request got %v, and the tool ran %d times; want %v and %d", err, s.runs, test.want, test.runs)
				}
			})
		})
	}
}

func sameCall(ctx context.Context, c *calls, s *scripted, _ string) error {
	_, report, err := c.do(ctx, "key", 0, silent, callSpec{}, s.run)
	if report != nil {
		report(true)
	}
	return err
}

func itsHandle(ctx context.Context, c *calls, _ *scripted, handle string) error {
	_, report, err := c.resume(ctx, handle, 0, silent)
	if report != nil {
		report(true)
	}
	return err
}

// A result and the host's cancellation pass each other.
func TestAResultThatTheHostDidNotWaitForIsKept(t *testing.T) {
	for _, test := range []struct {
		name string
		said []bool // of the answer to the first request
	}{
		{"it was not sent", []bool{false}},
		{"it was sent, and the host had given up", []bool{true, false}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := &calls{}, newScripted()
				defer c.close()
				first := requestToTell(t.Context(), c, s)
				s.ask <- "Which size?"
				s.finish <- nil
				tell := <-first
				for _, sent := range test.said {
					tell(sent)
				}
				if got := <-request(t.Context(), c, s, 0); string(got.result) != `"done"` || s.runs != 1 {
					t.Errorf("the same call again: %s, %v, %d runs", got.result, got.err, s.runs)
				}
			})
		})
	}
}

func TestACallThatAskedNothingEndsWithItsHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := &calls{}, newScripted()
		ctx, cancel := context.WithCancelCause(t.Context())
		first := request(ctx, c, s, 0)
		cancel(mcpserver.ErrCancelled)
		<-first
		c.running.Wait()
		// Equal calls beside each other both run: a model may want both.
		_, _ = request(t.Context(), c, s, 0), request(t.Context(), c, s, 0)
		if s.runs != 3 {
			t.Errorf("%d runs", s.runs)
		}
		c.close()
	})
}

func TestACallReturnsBeforeItsHostGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := &calls{}, newScripted()
		defer c.close()
		first := request(t.Context(), c, s, 50*time.Second)
		time.Sleep(time.Minute)
		select {
		case got := <-first:
			t.Fatalf("it returned without a question: %v", got)
		default:
		}
		s.ask <- "Which size?"
		var waiting errWaiting
		if got := <-first; !errors.As(got.err, &waiting) || waiting.question != "Which size?" {
			t.Fatalf("got %v", got)
		}
		_, _, err := c.resume(t.Context(), waiting.handle, 50*time.Second, silent)
		if !errors.As(err, &waiting) {
			t.Errorf("the question is still open: %v", err)
		}
		s.finish <- nil
		result, report, err := c.resume(t.Context(), waiting.handle, 0, silent)
		if string(result) != `"done"` || err != nil {
			t.Errorf("got %s, %v", result, err)
		}
		report(true)
		if _, _, err := c.resume(t.Context(), waiting.handle, 0, silent); !errors.Is(err, errNoHandle) {
			t.Errorf("delivered twice: %v", err)
		}
	})
}

// Folders are no question to a person: a host that gives the call up ends it.
func TestACallThatAsksForFoldersIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &calls{}
		defer c.close()
		ctx, giveUp := context.WithCancelCause(t.Context())
		asks := silent
		asks.takes = func(string, json.RawMessage) bool { return true }
		asks.ask = func(string, json.RawMessage) (func(context.Context) (json.RawMessage, error), error) {
			return func(ctx context.Context) (json.RawMessage, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}, nil
		}
		ended := make(chan error, 1)
		go func() {
			_, _, err := c.do(ctx, "key", 0, asks, callSpec{}, func(ctx context.Context, h caller) (json.RawMessage, error) {
				_, err := h.ask(ctx, Question{Method: "roots/list"}, func() {})
				if err != nil {
					<-ctx.Done()
					ended <- context.Cause(ctx)
				}
				return nil, err
			})
			if !errors.Is(err, mcpserver.ErrCancelled) {
				t.Errorf("the request that was given up: %v", err)
			}
		}()
		synctest.Wait()
		giveUp(mcpserver.ErrCancelled)
		if err := <-ended; !errors.Is(err, mcpserver.ErrCancelled) {
			t.Errorf("the call ended with %v", err)
		}
	})
}

func TestCallKey(t *testing.T) {
	same := callKey("s", "tools/call", json.RawMessage(`{"name":"t","arguments":{"a":1,"b":{"c":[1.50]}},"_meta":{"progressToken":1}}`))
	tests := []struct {
		name, server, params string
		want                 bool
	}{
		{"the order of members", "s", `{"arguments":{"b":{"c":[1.50]},"a":1},"name":"t"}`, true},
		{"another server", "s2", `{"arguments":{"b":{"c":[1.50]},"a":1},"name":"t"}`, false},
		{"another value", "s", `{"arguments":{"b":{"c":[1.5]},"a":1},"name":"t"}`, false},
	}
	for _, test := range tests {
		if got := callKey(test.server, "tools/call", json.RawMessage(test.params)) == same; got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
	if callKey("s", "tools/call", json.RawMessage(`{"name":"t"}`)) != callKey("s", "tools/call", json.RawMessage(`{"name":"t","arguments":{}}`)) {
		t.Error("no arguments are {}")
	}
}
