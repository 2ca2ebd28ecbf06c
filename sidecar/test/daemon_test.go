package test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"assent/protocol"
	"assent/sidecar/daemon"
)

// daemonHome is a folder in which a test has a daemon of its own.
type daemonHome struct {
	t      *testing.T
	folder string
}

func newDaemonHome(t *testing.T) daemonHome {
	t.Helper()
	folder, err := os.MkdirTemp("", "assent-daemon-") // with a shorter path than the test's own
	if err != nil {
		t.Fatal(err)
	}
	h := daemonHome{t, folder}
	t.TempDir() // created first, so that it is removed after the daemon, whose servers may write into it
	t.Cleanup(func() {
		if err := endDaemon(folder); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the daemon's log:\n%s", h.run("daemon", "log"))
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h daemonHome) command(args ...string) *exec.Cmd { return assentIn(h.folder, args...) }

// alone returns a sidecar that is the daemon itself: what a test does to its process, it does to the daemon.
func (h daemonHome) alone(args ...string) *exec.Cmd {
	return h.command(append([]string{"serve", "--standalone"}, args...)...)
}

// assentIn returns a command with its daemon in a folder.
func assentIn(folder string, args ...string) *exec.Cmd {
	c := exec.Command("assent", args...)
	c.Env = append(os.Environ(), daemon.FolderVariable+"="+folder)
	return c
}

// endDaemon ends what a test may have started in a folder.
func endDaemon(folder string) error {
	if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if out, err := assentIn(folder, "daemon", "stop", "--force").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// run returns what a command says on stdout.
func (h daemonHome) run(args ...string) string {
	h.t.Helper()
	out, err := h.command(args...).Output()
	if err != nil {
		exit, _ := errors.AsType[*exec.ExitError](err)
		h.t.Errorf("assent %s: %v %s", strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out)
}

func (h daemonHome) status() daemon.Status {
	h.t.Helper()
	var status daemon.Status
	if err := json.Unmarshal([]byte(h.run("daemon", "status", "--json")), &status); err != nil {
		h.t.Fatal(err)
	}
	return status
}

// serve starts a front end's conversation by way of the daemon.
func (h daemonHome) serve() *talk {
	h.t.Helper()
	return startTalk(h.t, h.command("serve", "--data-dir", filepath.Join(h.folder, "data")))
}

func TestFiftyFrontEndsHaveOneDaemon(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	const frontEnds = 50
	talks := make([]*talk, frontEnds)
	for i := range talks {
		talks[i] = h.serve()
	}
	var all sync.WaitGroup
	for _, c := range talks {
		all.Go(func() {
			if err := c.shakeHands(); err != nil {
				t.Errorf("a front end was not served: %v", err)
			}
		})
	}
	all.Wait()
	status := h.status()
	if len(status.Attached) != frontEnds || status.Busy != "" {
		t.Errorf("%d front ends are attached to one daemon, in which %q", len(status.Attached), status.Busy)
	}
	for _, c := range talks {
		if err := c.Stdin.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, c := range talks {
		if _, err := io.Copy(io.Discard, c.Out); err != nil {
			t.Error(err)
		}
		if err := c.Cmd.Wait(); err != nil {
			t.Errorf("a relay ended with %v", err)
		}
	}
	if after := h.status(); after.PID != status.PID || len(after.Attached) != 0 {
		t.Errorf("at the end the daemon is %+v, and was %d", after, status.PID)
	}
}

func TestFrontEndsOfAKilledDaemonHaveANewOne(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	const frontEnds = 10
	var talks []*talk
	attach := func() {
		talks = nil
		for range frontEnds {
			talks = append(talks, h.serve())
		}
		var all sync.WaitGroup
		for _, c := range talks {
			all.Go(func() {
				if err := c.shakeHands(); err != nil {
					t.Errorf("a front end was not served: %v", err)
				}
			})
		}
		all.Wait()
	}
	attach()
	talks[0].create("kept")
	before := h.status()
	killed, err := os.FindProcess(before.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, c := range talks {
		for err := error(nil); err == nil; { // until the end: it may have said something before
			_, err = c.Next()
		}
		exit, ok := errors.AsType[*exec.ExitError](c.Cmd.Wait())
		if !ok || exit.ExitCode() != protocol.ExitEnded {
			t.Errorf("a relay without its daemon ended with %v, want the code %d", exit, protocol.ExitEnded)
		}
		if log, err := os.ReadFile(c.log.Name()); err != nil || !strings.Contains(string(log), daemon.ErrEnded.Error()) {
			t.Errorf("a relay without its daemon said %s, %v", log, err)
		}
	}
	attach()
	talks[0].wantTasks("kept")
	after := h.status()
	if after.PID == before.PID || len(after.Attached) != frontEnds {
		t.Errorf("after the kill, %d front ends are attached to process %d", len(after.Attached), after.PID)
	}
}

// oldBuild returns the programs of an old build and of this one. Both have their daemons in the
// home.
func (h daemonHome) oldBuild() (old, installed string) {
	h.t.Helper()
	installed, err := exec.LookPath("assent")
	if err != nil {
		h.t.Fatal(err)
	}
	// Not by this process: see [TestChangesThatAFullDiskRefusedAreSavedLater].
	old = filepath.Join(h.t.TempDir(), "assent")
	if err := exec.Command("cp", installed, old).Run(); err != nil {
		h.t.Fatal(err)
	}
	if err := exec.Command("touch", "-d", "2001-02-03T04:05:06Z", old).Run(); err != nil {
		h.t.Fatal(err)
	}
	return old, installed
}

// serveBy is serve with another program, and more flags.
func (h daemonHome) serveBy(program string, flags ...string) *talk {
	h.t.Helper()
	c := h.command(append([]string{"serve", "--data-dir", filepath.Join(h.folder, "data")}, flags...)...)
	c.Path = program
	return startTalk(h.t, c)
}

// asks starts a call with a question that stays open, and returns the daemon's status then.
func (h daemonHome) asks(window *talk) (created protocol.Task, started protocol.StartCallResult, status daemon.Status) {
	h.t.Helper()
	hear, asked := window.Heard, false
	window.Heard = func(method string, params json.RawMessage) {
		hear(method, params)
		asked = asked || strings.Contains(string(params), `"askId"`)
	}
	err := window.shakeHands()
	if err == nil {
		err = window.Call("task/create", map[string]any{"title": "A task"}, &created)
	}
	if err == nil {
		err = window.Call("call/start", map[string]any{
			"taskId": created.ID, "serverName": "asker", "request": map[string]any{"type": "tools/call", "toolName": "ask"},
		}, &started)
	}
	for err == nil && !asked {
		_, err = window.Next()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	status = h.status()
	if status.Build != daemon.Development+"2001-02-03T04:05:06Z" || status.Busy != "a question is open, a call runs" {
		h.t.Fatalf("the old daemon is %+v", status)
	}
	return created, started, status
}

// wantOlder fails if a front end was not told that the daemon is older.
func (c *talk) wantOlder() {
	c.t.Helper()
	log, err := os.ReadFile(c.log.Name())
	if err != nil || !strings.Contains(string(log), `"code":"older","open":"a question is open, a call runs"`) {
		c.t.Errorf("the newer front end was told %s, %v", log, err)
	}
}

func TestANewerBuildTakesOver(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	old, installed := h.oldBuild()
	window := h.serveBy(old)
	ended := false
	window.Heard = func(_ string, params json.RawMessage) {
		ended = ended || strings.Contains(string(params), `"callEnded"`)
	}
	created, started, before := h.asks(window)

	early := h.serveBy(installed)
	if err := early.shakeHands(); err != nil {
		t.Errorf("the newer front end was not served while a question is open: %v", err)
	}
	early.wantOlder()
	if now := h.status(); now.PID != before.PID || len(now.Attached) != 2 {
		t.Errorf("the daemon is %+v", now)
	}
	served := "An older daemon, Assent " + before.Build + ", serves this command, because a question is open, a call runs."
	out, err := h.command("tasks").CombinedOutput()
	if err != nil || !strings.Contains(string(out), served) || !strings.Contains(string(out), `run "assent daemon stop"`) {
		t.Errorf("a command said %s, %v", out, err)
	}

	// With nothing open, the old window is no obstacle: it comes back to the new daemon.
	err = window.Call("call/cancel", map[string]any{"taskId": created.ID, "messageId": started.MessageID}, &struct{}{})
	for err == nil && !ended {
		_, err = window.Next()
	}
	if err != nil {
		t.Fatal(err)
	}
	// The end of a call is told before the call is counted as over.
	eventually(t, "a daemon with nothing open", func() bool { return h.status().Busy == "" })
	newer := h.serveBy(installed)
	if err := newer.shakeHands(); err != nil {
		t.Fatal(err)
	}
	for err := error(nil); err == nil; { // until its relay ends
		_, err = window.Next()
	}
	after := h.status()
	if after.PID == before.PID || !daemon.Newer(after.Build, before.Build) {
		t.Errorf("the new daemon is %+v", after)
	}
	older := h.serveBy(old)
	if err := older.shakeHands(); err != nil {
		t.Errorf("the older front end was not served: %v", err)
	}
	if now := h.status(); now.PID != after.PID || len(now.Attached) != 2 {
		t.Errorf("the older front end met %+v", now)
	}
}

func TestANewerStandaloneFrontEndUpdatesOnDemand(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	old, installed := h.oldBuild()
	_, _, before := h.asks(h.serveBy(old))
	early := h.serveBy(installed, "--standalone")
	if err := early.shakeHands(); err != nil {
		t.Errorf("the newer front end was not served while a question is open: %v", err)
	}
	early.wantOlder()
	newer := h.serveBy(installed, "--standalone", "--update")
	if err := newer.shakeHands(); err != nil {
		t.Fatal(err)
	}
	if now := h.status(); now.PID != newer.Cmd.Process.Pid || !daemon.Newer(now.Build, before.Build) {
		t.Errorf("the daemon is %+v, want the process %d", now, newer.Cmd.Process.Pid)
	}
}

// Nothing lives in a window: its question goes on when it is killed, and the next window answers it.
func TestAKilledFrontEndEndsNothing(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	window := h.serve()
	var ask protocol.Ask
	window.Heard = func(method string, params json.RawMessage) {
		var p protocol.TaskEventParams
		if method != "task/event" || json.Unmarshal(params, &p) != nil {
			return
		}
		if e, ok := p.Event.(protocol.MessageAdded); ok {
			if a, ok := e.Message.Body.(protocol.Ask); ok {
				ask = a
			}
		}
	}
	var created protocol.Task
	err := window.shakeHands()
	if err == nil {
		err = window.Call("task/create", map[string]any{"title": "A task"}, &created)
	}
	if err == nil {
		err = window.Call("call/start", map[string]any{
			"taskId": created.ID, "serverName": "asker", "request": map[string]any{"type": "tools/call", "toolName": "ask"},
		}, &protocol.StartCallResult{})
	}
	for err == nil && ask.AskID == "" {
		_, err = window.Next()
	}
	if err != nil {
		t.Fatal(err)
	}
	before := h.status()
	window.kill()

	next := h.serve()
	ended := ""
	next.Heard = func(_ string, params json.RawMessage) {
		if strings.Contains(string(params), `"callEnded"`) {
			ended = string(params)
		}
	}
	err = next.shakeHands()
	if now := h.status(); now.PID != before.PID || now.Busy != "a question is open, a call runs" {
		t.Errorf("after the kill of the window, the daemon is %+v", now)
	}
	if err == nil {
		err = next.Call("askResponse", map[string]any{
			"taskId": created.ID, "askId": ask.AskID, "askResponse": protocol.YesButtonClicked, "elicitationContent": map[string]any{"a": "later"},
		}, &struct{}{})
	}
	for err == nil && ended == "" {
		_, err = next.Next()
	}
	if err != nil || !strings.Contains(ended, "later") {
		t.Errorf("the call ended with %s, %v", ended, err)
	}
}
