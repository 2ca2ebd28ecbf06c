package test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"assent/sidecar/base/leftover"
	"assent/sidecar/daemon"
	"assent/sidecar/terminal"
)

// stop stops a process, and waits until each of its threads stands still: a busy system lets some of them run on for a
// while.
func stop(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	threads := filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat")
	eventually(t, "the stop of a process", func() bool {
		files, err := filepath.Glob(threads)
		if err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(files, func(file string) bool {
			stat, err := os.ReadFile(file)
			return err == nil && !strings.Contains(string(stat), ") T ")
		})
	})
}

func TestADaemonIsDetachedFromItsStarter(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	c := h.command("serve", "--data-dir", filepath.Join(h.folder, "data"))
	c.Dir = t.TempDir()
	c.ExtraFiles = []*os.File{write} // as of a shell that waits for its end
	c.Env = append(c.Env, leftover.Variable+"=a-token")
	if err := errors.Join(c.Run(), write.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, read); err != nil { // returns because the daemon has not inherited the pipe
		t.Error(err)
	}
	pid := h.status().PID
	if session, err := unix.Getsid(pid); err != nil || session != pid {
		t.Errorf("the daemon %d is in session %d, %v", pid, session, err)
	}
	proc := func(name string) string { return filepath.Join("/proc", strconv.Itoa(pid), name) }
	if dir, err := os.Readlink(proc("cwd")); err != nil || dir != "/" {
		t.Errorf("the daemon is in %s, %v", dir, err)
	}
	environ, err := os.ReadFile(proc("environ"))
	if err != nil || strings.Contains(string(environ), leftover.Variable) {
		t.Errorf("the daemon would end as a server's process: %v, %q", err, environ)
	}
}

func TestADaemonThatDoesNotAnswerIsEnded(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	c := h.serve()
	if err := c.shakeHands(); err != nil {
		t.Fatal(err)
	}
	pid := h.status().PID
	stop(t, pid)
	if got, want := h.run("daemon", "stop", "--force"), fmt.Sprintf("The daemon, process %d, has ended.\n", pid); got != want {
		t.Errorf("stop --force said %q, want %q", got, want)
	}
	if _, err := c.Next(); err == nil {
		t.Error("the ended daemon said something")
	}
	next := h.serve()
	if err := next.shakeHands(); err != nil {
		t.Error(err)
	}
	if now := h.status().PID; now == pid {
		t.Errorf("the daemon is still %d", now)
	}
}

// It takes as long as a front end waits before it takes its daemon for one that hangs.
func TestADaemonThatBeginsToHang(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	serve := h.command("serve", "--data-dir", filepath.Join(h.folder, "data"))
	serve.Stderr = write
	window := startTalk(t, serve)
	if err := errors.Join(write.Close(), window.shakeHands()); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(read)
	says := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("the relay did not say %q: %v", want, lines.Err())
	}
	inTerminal := callAsker(t, h, askerFolder(t), "--plain")
	inTerminal.reads("Question 1?")

	pid := h.status().PID
	stop(t, pid)
	if _, err := window.Send("task/list", map[string]any{}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(inTerminal.stdin, "b\nyes\n"); err != nil {
		t.Fatal(err)
	}
	says(fmt.Sprintf(`"code":"hangs","pid":%d,"error":"the daemon (process %d, Assent `, pid, pid))
	inTerminal.reads(fmt.Sprintf("Still waiting: the daemon (process %d, Assent ", pid))
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	says(`"code":"answers"`)
	inTerminal.ends(terminal.ExitOK)
	if got := inTerminal.stdout.String(); !strings.Contains(got, "b") {
		t.Errorf("the call's result is %q", got)
	}
}

func TestAFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	if err := os.Chmod(h.folder, 0o500); err != nil {
		t.Fatal(err)
	}
	c := h.command("serve", "--data-dir", filepath.Join(h.folder, "data"))
	if os.Getuid() == 0 {
		// Everything is allowed to this user.
		installed, err := exec.LookPath("assent")
		if err != nil {
			t.Fatal(err)
		}
		program := filepath.Join(h.folder, "assent")
		if err := errors.Join(exec.Command("cp", installed, program).Run(), os.Chown(h.folder, 65534, 65534)); err != nil {
			t.Fatal(err)
		}
		c.Path = program
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := c.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		t.Errorf("it ended with %v, want the code 1", err)
	}
	for _, want := range []string{h.folder, "permission denied", daemon.FolderVariable} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it said %s, and should have said %q", out, want)
		}
	}
	if os.Getuid() == 0 {
		if err := os.Chown(h.folder, 0, 0); err != nil {
			t.Error(err)
		}
	}
	if err := os.Chmod(h.folder, 0o700); err != nil {
		t.Error(err)
	}
}

func TestAFullDiskIsSaidAtTheStart(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	// As with a full disk, the system then refuses every change that makes a file larger.
	c := h.command("serve", "--data-dir", filepath.Join(h.folder, "data"))
	c.Args = append([]string{"sh", "-c", `ulimit -f 0; exec "$@"`, "sh"}, c.Args...)
	c.Path = "/bin/sh"
	out, err := c.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		t.Errorf("it ended with %v, want the code 1", err)
	}
	for _, want := range []string{"start the daemon", h.folder, "file too large"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it said %s, and should have said %q", out, want)
		}
	}
}

// What a front end sends after the hello is its own trouble.
func TestGarbageEndsOneFrontEnd(t *testing.T) {
	t.Parallel()
	h := newDaemonHome(t)
	good := h.serve()
	if err := good.shakeHands(); err != nil {
		t.Fatal(err)
	}
	for name, garbage := range map[string]string{
		"garbage": "GET / HTTP/1.1\r\n\r\n", "a flood": "Content-Length: 99999999999\r\n\r\n" + strings.Repeat("x", 1<<20), "no JSON": "Content-Length: 3\r\n\r\n{{{",
	} {
		bad := h.serve()
		_, _ = io.WriteString(bad.Stdin, garbage) // it may be refused before its end
		_ = bad.Stdin.Close()
		for err := error(nil); err == nil; {
			_, err = bad.Next()
		}
		_ = bad.Cmd.Wait()
		good.create(name)
	}
	good.wantTasks("a flood", "garbage", "no JSON")
	if status := h.status(); len(status.Attached) != 1 {
		t.Errorf("attached are %+v", status.Attached)
	}
}
