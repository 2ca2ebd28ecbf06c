package mcptask_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assent/protocol"
	"assent/sidecar/wire/mcptask"
)

// A task may stay completed for long without a result.
func TestAResultThatDoesNotComeIsNotAskedForForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := state(completed, func(s *mcptask.State) { s.Result = nil })
		s := &script{begin: time.Now(), states: []any{ended}, result: errors.New("its answer broke off")}
		problem := ""
		_, err := mcptask.Follow(t.Context(), s, ended, mcptask.Options{Observe: func(o protocol.McpTask) {
			if o.Problem != "" {
				problem = o.Problem
			}
		}})
		if err == nil || !strings.Contains(err.Error(), "broke off") {
			t.Errorf("err = %v", err)
		}
		if problem != "its answer broke off" {
			t.Errorf("the person was told %q", problem)
		}
		if took := time.Since(s.begin); took > time.Hour {
			t.Errorf("gave up after %v", took)
		}
	})
}

func TestAServerThatTellsNoMoreIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{begin: time.Now(), states: []any{state(completed)}}
		news := make(chan *mcptask.State, 1)
		news <- state(working)
		go func() {
			synctest.Wait() // until the news is handled
			news <- nil
		}()
		if _, err := mcptask.Follow(t.Context(), s, state(working), mcptask.Options{Observe: func(protocol.McpTask) {}, News: news}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(s.begin); took > 10*time.Second {
			t.Errorf("asked after %v, as if the server still told", took)
		}
	})
}

func TestADriverMayKnowThatAskingAgainIsOfNoUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{begin: time.Now(), states: []any{&mcptask.LostError{Reason: "the server sent too much"}}}
		_, err := mcptask.Follow(t.Context(), s, state(working), mcptask.Options{Observe: func(protocol.McpTask) {}})
		if lost := new(*mcptask.LostError); !errors.As(err, lost) || len(s.polls) != 1 {
			t.Errorf("err = %v after %d polls", err, len(s.polls))
		}
	})
}
