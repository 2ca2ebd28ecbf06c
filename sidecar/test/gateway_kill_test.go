package test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assent/protocol"
	"assent/sidecar/terminal"
)

const (
	hostKills = 100
	// hostConversations share the kills, side by side.
	hostConversations = 4
)

// TestAHostsQuestionOutlivesKills kills the host, its shim, the daemon or the window while the question of a host's
// call is open or being answered. No tool runs twice, no answer is delivered twice, and a person can see if an
// acknowledged answer did not reach the server.
func TestAHostsQuestionOutlivesKills(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	for i := range hostConversations {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			c := newKilledHosts(t, rand.New(rand.NewPCG(seed, uint64(i))))
			for n := range hostKills / hostConversations {
				c.round(n)
				if t.Failed() {
					t.Fatalf("in round %d of conversation %d, seed %d", n, i, seed)
				}
			}
		})
	}
}

// killedHosts is one conversation of [TestAHostsQuestionOutlivesKills].
type killedHosts struct {
	t      *testing.T
	random *rand.Rand
	home   daemonHome
	folder string
	log    string // the servers'
	runs   int    // of the tools, in earlier rounds
	window *talk
}

func newKilledHosts(t *testing.T, random *rand.Rand) *killedHosts {
	t.Helper()
	c := &killedHosts{t: t, random: random, home: newDaemonHome(t)}
	c.folder, c.log = c.home.hostFolder()
	c.openWindow()
	return c
}

// openWindow opens a window on the folder of the hosts. It has their workspace.
func (c *killedHosts) openWindow() {
	c.t.Helper()
	c.window = startTalk(c.t, c.home.command("serve", "--data-dir", filepath.Join(c.home.folder, "host")))
	folder := terminal.ConfiguredFolder("", c.folder)
	folder.Confirmed = true
	err := c.window.Call("initialize", map[string]any{
		"protocolVersion": 1, "clientInfo": map[string]any{"name": "a test", "version": "1"},
		"capabilities":  map[string]any{"elicitation": true, "sampling": true},
		"configuration": map[string]any{"workspaceFolders": []any{folder}},
	}, &struct{}{})
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *killedHosts) startHost(server string) *rawHost {
	c.t.Helper()
	gateway := c.home.command("gateway", server, "--trust", "--data-dir", filepath.Join(c.home.folder, "host"))
	gateway.Dir = c.folder
	return startHost(c.t, []string{"2025-11-25", "2026-07-28"}[c.random.IntN(2)], gateway)
}

// round is a call, a question, and a kill.
func (c *killedHosts) round(n int) {
	c.t.Helper()
	server := []string{"legacy", "modern"}[c.random.IntN(2)]
	victim := []string{"host", "shim", "daemon", "window"}[c.random.IntN(4)]
	isAnswering := c.random.IntN(2) == 0
	call := fmt.Sprintf(`{"name":"form","arguments":{"round":%d}}`, n)
	host := c.startHost(server)
	id := host.send("tools/call", call)
	ask := awaitAsk(c.t, c.window)
	isAnswered := false
	if isAnswering {
		isAnswered = c.answerWhile(ask, func() { c.end(victim, host) })
	} else {
		c.end(victim, host)
	}
	if victim == "daemon" || victim == "window" {
		c.window.kill()
		c.openWindow()
	}
	switch victim {
	case "host", "shim": // a new one makes the same call, and joins the first
		c.home.awaitLeaving() // the calls of two hosts that are there are two
		host = c.startHost(server)
		id = host.send("tools/call", call)
	}
	got := make(chan string, 1)
	var waiting sync.WaitGroup
	waiting.Go(func() { got <- host.await(id) })
	result := c.answerAll(got)
	waiting.Wait()
	if victim != "daemon" && !strings.Contains(result, `"content":[]`) {
		c.t.Errorf("%s, %s: the host got %s", server, victim, result)
	}
	host.leave()
	c.check(ask, isAnswered)
	runs := len(answersIn(c.t, c.log+".runs"))
	// The first host may have got the result before it was killed. Then the same call is another one.
	mayRunAgain := isAnswering && (victim == "host" || victim == "shim")
	if ran := runs - c.runs; ran != 1 && !(mayRunAgain && ran == 2) {
		c.t.Errorf("%s, %s: the tool ran %d times", server, victim, ran)
	}
	c.runs = runs
}

// end ends the victim as nothing is allowed to do.
func (c *killedHosts) end(victim string, host *rawHost) {
	switch victim {
	case "host":
		host.leave()
	case "shim":
		host.kill()
	case "window":
		_ = c.window.Cmd.Process.Kill() // or it has ended
	case "daemon":
		c.home.kill()
	}
}

// answerWhile answers an ask while something else happens, and reports whether the answer was acknowledged.
func (c *killedHosts) answerWhile(ask protocol.OpenAsk, do func()) bool {
	pause := time.Duration(c.random.IntN(3000)) * time.Microsecond
	var doing sync.WaitGroup
	doing.Go(func() {
		time.Sleep(pause) // at any moment of the work
		do()
	})
	defer doing.Wait()
	return c.window.Call("askResponse", answerTo(ask), &struct{}{}) == nil
}

func answerTo(ask protocol.OpenAsk) map[string]any {
	return map[string]any{
		"taskId": ask.TaskID, "askId": ask.AskID, "askResponse": protocol.YesButtonClicked,
		"elicitationContent": map[string]any{"a": "x"},
	}
}

// answerAll answers questions until the host has its answer and nothing is open, and returns the host's answer.
func (c *killedHosts) answerAll(got <-chan string) string {
	c.t.Helper()
	result := ""
	for {
		var listed protocol.ListOpenAsksResult
		if err := c.window.Call("ask/list", map[string]any{}, &listed); err != nil {
			c.t.Fatal(err)
		}
		for _, ask := range listed.Asks {
			err := c.window.Call("askResponse", answerTo(ask), &struct{}{})
			if refused, isRefused := errors.AsType[*protocol.Error](err); err != nil && (!isRefused || refused.Code != protocol.CodeAskSettled) {
				c.t.Fatal(err)
			}
		}
		if result != "" && len(listed.Asks) == 0 {
			return result
		}
		if result == "" {
			select {
			case result = <-got:
			case <-time.After(time.Millisecond): // the list is read again
			}
		}
	}
}

// awaitEnd returns the messages of a task when all of its calls have ended.
func awaitEnd(t *testing.T, window *talk, taskID string) []protocol.Message {
	t.Helper()
	heard := false // also while the task is read
	window.Heard = func(string, json.RawMessage) { heard = true }
	for {
		heard = false
		var opened protocol.OpenTaskResult
		if err := window.Call("task/open", map[string]any{"taskId": taskID, "limit": 1000}, &opened); err != nil {
			t.Fatal(err)
		}
		goesOn := slices.ContainsFunc(opened.Messages, func(m protocol.Message) bool {
			call, isCall := m.Body.(protocol.Call)
			return isCall && call.Result == nil
		})
		if !goesOn {
			return opened.Messages
		}
		for !heard {
			if _, err := window.Next(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// check compares what the server noted of a question with what the task shows of it.
func (c *killedHosts) check(ask protocol.OpenAsk, isAcknowledged bool) {
	c.t.Helper()
	count := func(file string) (n int) {
		for _, line := range answersIn(c.t, c.log+file) {
			if strings.Contains(line, ask.Text) {
				n++
			}
		}
		return n
	}
	messages := awaitEnd(c.t, c.window, ask.TaskID) // with a modern server, the next daemon goes on with the call
	delivered := count("")
	if runs := count(".runs"); runs != 1 || delivered > 1 {
		c.t.Errorf("the tool ran %d times, and got %d answers to %q", runs, delivered, ask.Text)
	}
	if delivered == 1 {
		return
	}
	isTold := slices.ContainsFunc(messages, func(m protocol.Message) bool {
		switch body := m.Body.(type) {
		case protocol.Ask:
			return body.AskID == ask.AskID && body.Outcome != nil && (body.Outcome.Undelivered != "" || body.Outcome.Reason != protocol.OutcomeAnswered)
		case protocol.Call:
			_, isLost := body.Result.(protocol.CallLost)
			return isLost
		}
		return false
	})
	if !isTold {
		shown, _ := json.Marshal(messages)
		c.t.Errorf("the answer to %q (acknowledged: %v) did not reach the server, and the task shows %s", ask.Text, isAcknowledged, shown)
	}
}
