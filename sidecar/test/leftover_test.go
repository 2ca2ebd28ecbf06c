//go:build linux || darwin

package test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"assent/sidecar/daemon"
	"assent/sidecar/terminal"
)

// neverEndingRun is an Assent with a server that never ends.
type neverEndingRun struct {
	assent *exec.Cmd
	stdin  io.WriteCloser
	// pids are the server and its child, in any order.
	pids []int
	// fifo ends when both have ended.
	fifo *bufio.Reader
}

// kill kills Assent, and no other process.
func (r *neverEndingRun) kill(t *testing.T) {
	t.Helper()
	if err := r.assent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.assent.Wait() // that it was killed is no news
}

// killDaemon kills the daemon of a command in a terminal, which then ends.
func (r *neverEndingRun) killDaemon(t *testing.T) {
	t.Helper()
	stop := exec.Command("assent", "daemon", "stop", "--force")
	stop.Env = r.assent.Env
	if out, err := stop.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if exit, ok := errors.AsType[*exec.ExitError](r.assent.Wait()); !ok || exit.ExitCode() != terminal.ExitEnded {
		t.Errorf("the command ended with %v, want the code %d", exit, terminal.ExitEnded)
	}
}

// wantEnd waits until the server and its child have ended.
func (r *neverEndingRun) wantEnd(t *testing.T) {
	t.Helper()
	if rest, err := io.ReadAll(r.fifo); err != nil || len(rest) > 0 {
		t.Fatalf("the server and its child, %v, wrote %q, %v, and should have ended", r.pids, rest, err)
	}
}

// startNeverEnding has an Assent start a server that never ends, with one or two processes. With args, the Assent is a command in a
// terminal, and the server's command is added to them.
func startNeverEnding(t *testing.T, cache, program string, processes int, server []string, args ...string) *neverEndingRun {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	server = append(server, path)
	if processes == 1 {
		server = append(server, "alone")
	}
	r := &neverEndingRun{assent: exec.Command(program, "serve", "--standalone", "--data-dir", filepath.Join(dir, "data"))}
	if args != nil {
		r.assent = exec.Command(program, append(append(args, "--"), server...)...)
	}
	r.assent.Env, r.assent.Dir = inCache(t, cache), dir
	stdin, err := r.assent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.stdin = stdin
	if err := r.assent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.assent.Process.Kill() // where the test failed before
		_ = r.assent.Wait()
	})
	if args == nil {
		if _, err := io.WriteString(stdin, starting(server[0], server[1:]...)); err != nil {
			t.Fatal(err)
		}
	}
	fifo, err := os.Open(path) // once the server has
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fifo.Close() })
	if err := fifo.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	r.fifo = bufio.NewReader(fifo)
	for range processes {
		line, err := r.fifo.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		r.pids = append(r.pids, pid)
		t.Cleanup(func() {
			if t.Failed() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		})
	}
	return r
}

// inCache returns an environment for an Assent with its run files and temporary files in a folder. It has its own
// daemon.
func inCache(t *testing.T, folder string) []string {
	t.Helper()
	return append(os.Environ(), "XDG_CACHE_HOME="+folder, "HOME="+folder, "TMPDIR="+folder, daemon.FolderVariable+"="+newDaemonHome(t).folder)
}

// runs returns the files of runs that are kept there.
func runs(t *testing.T, cache string) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"assent/runs/*", "Library/Caches/assent/runs/*"} {
		matches, err := filepath.Glob(filepath.Join(cache, pattern))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, matches...)
	}
	return found
}

func TestProcessesOfAKilledAssentAreEnded(t *testing.T) {
	program, err := exec.LookPath("never-ends")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name      string
		args      []string
		processes int
		server    []string
	}{
		{"of a sidecar", nil, 2, []string{program}},
		{"of a command in a terminal", []string{"call", "any"}, 2, []string{program}},
		{"of a server that drops its environment", nil, 1, []string{"/usr/bin/env", "-i", program}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // it takes two seconds to end such a process
			cache := t.TempDir()
			r := startNeverEnding(t, cache, "assent", tt.processes, tt.server, tt.args...)
			eventually(t, "the note of the server", func() bool { return noted(t, runs(t, cache)[0]) })
			if n := len(temporary(t, cache)); tt.args != nil && n != 1 {
				t.Errorf("the command has %d temporary folders, want 1", n)
			}
			if tt.args != nil {
				r.killDaemon(t)
			} else {
				r.kill(t)
			}
			r.wantEnd(t)
			eventually(t, "the removal of the run's file", func() bool { return len(runs(t, cache)) == 0 })
			if left := temporary(t, cache); len(left) > 0 {
				t.Errorf("the run left %v", left)
			}
		})
	}
}

// TestAnOrderlyEndIsNotWeakerThanAKill has a server whose child has a session of its own and ignores SIGTERM.
func TestAnOrderlyEndIsNotWeakerThanAKill(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server []string
		end    func(r *neverEndingRun) error
	}{
		{"stdin closes", []string{"never-ends"}, func(r *neverEndingRun) error { return r.stdin.Close() }},
		{"SIGTERM", []string{"never-ends"}, func(r *neverEndingRun) error { return r.assent.Process.Signal(syscall.SIGTERM) }},
		{"SIGINT", []string{"never-ends"}, func(r *neverEndingRun) error { return r.assent.Process.Signal(os.Interrupt) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // it takes two seconds to end such a process
			cache := t.TempDir()
			r := startNeverEnding(t, cache, "assent", 2, tt.server)
			if err := errors.Join(tt.end(r), r.assent.Wait()); err != nil {
				t.Errorf("Assent ended with %v", err)
			}
			for _, pid := range r.pids {
				if alive(pid) {
					t.Errorf("process %d is still there after the end", pid)
				}
			}
			if left := runs(t, cache); len(left) > 0 {
				t.Errorf("the run left %v", left)
			}
		})
	}
}

// temporary returns the temporary folders of conversations.
func temporary(t *testing.T, cache string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(cache, "assent-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// noted reports whether the file of a run has its server.
func noted(t *testing.T, path string) bool {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n") == 2
}

// The keeper of the killed run cannot start the program, which an update may have removed.
func TestTheNextStartEndsWhatIsLeft(t *testing.T) {
	t.Parallel()
	cache, dir := t.TempDir(), t.TempDir()
	installed, err := exec.LookPath("assent")
	if err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, "assent")
	if err := os.Link(installed, old); err != nil {
		t.Fatal(err)
	}
	dead := startNeverEnding(t, cache, old, 2, []string{"never-ends"})
	living := startNeverEnding(t, cache, "assent", 2, []string{"never-ends"})
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}
	dead.kill(t)
	for _, pid := range dead.pids {
		if !alive(pid) {
			t.Fatalf("%d has ended before the next start", pid)
		}
	}
	next := exec.Command("assent", "serve", "--standalone", "--data-dir", filepath.Join(dir, "data"))
	next.Env = inCache(t, cache)
	stdin, err := next.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Start(); err != nil {
		t.Fatal(err)
	}
	dead.wantEnd(t)
	eventually(t, "the removal of the dead run's file", func() bool { return len(runs(t, cache)) == 2 })
	for _, pid := range living.pids {
		if !alive(pid) {
			t.Errorf("%d has ended, though its Assent lives", pid)
		}
	}
	if err := errors.Join(stdin.Close(), next.Wait()); err != nil {
		t.Error(err)
	}
	living.kill(t)
	living.wantEnd(t)
	eventually(t, "the removal of the runs' files", func() bool { return len(runs(t, cache)) == 0 })
}

func TestARunThatEndsLeavesNoFile(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	assent := exec.Command("assent", "tools", "--", "scripted")
	assent.Env, assent.Dir = inCache(t, cache), cache
	if out, err := assent.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if left := runs(t, cache); len(left) > 0 {
		t.Errorf("the run left %v", left)
	}
}

// TestStoppingTheDaemonSaysWhatItWaitsFor has a server that does not end when it is asked to.
func TestStoppingTheDaemonSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel() // the server takes its grace
	dir, server := newNeverLeaves(t)
	h := newDaemonHome(t)
	window := h.serve()
	if _, err := io.WriteString(window.Stdin, starting(server)); err != nil {
		t.Fatal(err)
	}
	serverPID := pid(t, filepath.Join(dir, "server.pid"))
	out, err := h.command("daemon", "stop").CombinedOutput()
	if err != nil {
		t.Errorf("stop: %v", err)
	}
	if want := "Waiting for the MCP server \"never-leaves\".\n"; !strings.Contains(string(out), want) {
		t.Errorf("stop said %q, want %q", out, want)
	}
	if alive(serverPID) {
		t.Error("the server is still there after the end")
	}
}
