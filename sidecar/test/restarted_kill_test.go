package test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assent/protocol"
)

// gate can hold servers at their start: a [logsAnswers] with the variable GATE connects, and serves when the connection ends.
type gate struct {
	address string
	// held tells of each server that waits.
	held chan struct{}

	mu    sync.Mutex // guards the fields below
	holds bool
	conns []net.Conn
}

func newGate(t *testing.T) *gate {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{address: listener.Addr().String(), held: make(chan struct{}, 100)}
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			g.mu.Lock()
			if g.holds {
				g.conns = append(g.conns, conn)
				g.held <- struct{}{}
			} else {
				_ = conn.Close()
			}
			g.mu.Unlock()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		accepting.Wait()
		g.release()
	})
	return g
}

// hold has servers wait that start from now on.
func (g *gate) hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holds = true
}

// release lets all servers serve.
func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holds = false
	for _, conn := range g.conns {
		_ = conn.Close()
	}
	g.conns = nil
}

// restarted is a conversation with a server of 2026-07-28, whose answers are given after a restart.
type restarted struct {
	t      *testing.T
	home   daemonHome
	gate   *gate
	log    string // the server's
	window *talk
}

// open opens a window, and with it the next life of the daemon.
func (r *restarted) open() {
	r.t.Helper()
	r.window = r.home.serve()
	err := r.window.Call("initialize", map[string]any{
		"protocolVersion": 1, "clientInfo": map[string]any{"name": "a test", "version": "1"},
		"capabilities": map[string]any{"elicitation": true},
		"configuration": map[string]any{"model": map[string]any{}, "servers": map[string]any{
			"modern": map[string]any{"command": "logs-answers", "env": map[string]any{"ERA": "2026-07-28", "LOG": r.log, "GATE": r.gate.address}},
		}},
	}, &struct{}{})
	if err != nil {
		r.t.Fatal(err)
	}
}

// end ends a life of the daemon.
func (r *restarted) end(isKilled bool) {
	r.t.Helper()
	if isKilled {
		r.home.kill()
	} else {
		r.home.run("daemon", "stop")
	}
	r.window.kill()
}

// asks calls the tool, and returns the ask.
func (r *restarted) asks() protocol.OpenAsk {
	r.t.Helper()
	var task protocol.Task
	if err := r.window.Call("task/create", map[string]any{"title": "A task"}, &task); err != nil {
		r.t.Fatal(err)
	}
	err := r.window.Call("call/start", map[string]any{
		"taskId": task.ID, "serverName": "modern", "request": map[string]any{"type": "tools/call", "toolName": "form"},
	}, &struct{}{})
	if err != nil {
		r.t.Fatal(err)
	}
	return awaitAsk(r.t, r.window)
}

// answers answers the ask in the next life, and returns when the server that is to get the answer waits at the gate.
func (r *restarted) answers(ask protocol.OpenAsk) {
	r.t.Helper()
	r.gate.hold()
	r.open()
	if now := awaitAsk(r.t, r.window); now.AskID != ask.AskID || now.Text != ask.Text {
		r.t.Fatalf("after the restart %+v is open, want %+v", now, ask)
	}
	accept(r.t, r.window, ask)
	<-r.gate.held
}

// outcome waits for the end of the call, and returns how often the server got the answer, and whether the task says that it
// may not have.
func (r *restarted) outcome(ask protocol.OpenAsk) (delivered int, isMarked bool) {
	r.t.Helper()
	messages := awaitEnd(r.t, r.window, ask.TaskID)
	for _, m := range messages {
		switch body := m.Body.(type) {
		case protocol.Ask:
			if body.AskID != ask.AskID {
				r.t.Errorf("%q was asked again", body.AskID)
			} else if body.Outcome == nil || body.Outcome.Reason != protocol.OutcomeAnswered {
				r.t.Errorf("the acknowledged answer is %+v", body.Outcome)
			} else {
				isMarked = body.Outcome.Undelivered != ""
			}
		}
	}
	if runs := slices.DeleteFunc(answersIn(r.t, r.log+".runs"), func(line string) bool { return line != ask.Text }); len(runs) != 1 {
		r.t.Errorf("the tool ran %d times", len(runs))
	}
	for _, line := range answersIn(r.t, r.log) {
		if strings.Contains(line, ask.Text) {
			delivered++
			if !strings.Contains(line, `"a":"x"`) {
				r.t.Errorf("the server got %s", line)
			}
		}
	}
	if delivered > 1 || delivered == 0 && !isMarked {
		shown, _ := json.Marshal(messages)
		r.t.Errorf("the server got %d answers, and the task shows %s", delivered, shown)
	}
	return delivered, isMarked
}

func newRestarted(t *testing.T) *restarted {
	t.Helper()
	r := &restarted{t: t, home: newDaemonHome(t), gate: newGate(t)}
	r.log = filepath.Join(r.home.folder, "told")
	r.open()
	return r
}

// The daemon ends after the answer was acknowledged, and before the server that is to get it is up. The next daemon sends it.
func TestAnAnswerAfterARestartSurvivesTheNextEnd(t *testing.T) {
	t.Parallel()
	for _, isKilled := range []bool{true, false} {
		t.Run(fmt.Sprintf("killed=%t", isKilled), func(t *testing.T) {
			t.Parallel()
			r := newRestarted(t)
			ask := r.asks()
			r.end(isKilled)
			r.answers(ask)
			r.end(isKilled)
			r.open()
			r.end(isKilled) // again
			r.gate.release()
			r.open()
			if delivered, isMarked := r.outcome(ask); delivered != 1 || isMarked {
				t.Errorf("the server got %d answers; the task says that it did not: %t", delivered, isMarked)
			}
		})
	}
}

// The daemon is killed at any moment after the answer was acknowledged, while the server comes up. The answer reaches the
// server once, or the task says that it may not have.
func TestKillsWhileAnAnsweredServerStarts(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	r := newRestarted(t)
	reached := 0
	for round := range 25 {
		ask := r.asks()
		r.end(true)
		r.answers(ask)
		pause := time.Duration(random.IntN(10_000)) * time.Microsecond
		r.gate.release()
		time.Sleep(pause) // at any moment of the work
		r.end(true)
		r.open()
		delivered, _ := r.outcome(ask)
		reached += delivered
		if t.Failed() {
			t.Fatalf("in round %d, seed %d", round, seed)
		}
	}
	t.Logf("%d answers reached the server", reached)
}
