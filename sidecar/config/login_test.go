//go:build unix

package config

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// shell makes a login shell of a script, in which run stands for the command to run.
func shell(t *testing.T, script string) *LoginShell {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ash")
	text := "#!/bin/sh\nset -e\nrun() { eval \"$3\"; }\n" + strings.ReplaceAll(script, "run", `run "$@"`) + "\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return NewLoginShell([]string{"SHELL=" + path, "PATH=/usr/bin:/bin"})
}

func TestTheLoginShellSaysItsPATH(t *testing.T) {
	tests := []struct {
		name, script, want, wrong string
	}{
		{"a PATH", "PATH=/new:$PATH; run", "/new:/usr/bin:/bin", ""},
		{"noise on both sides", "echo welcome; echo PATH=/evil; printf 'no newline'; PATH=/new:$PATH; run; echo bye; exit 3", "/new:/usr/bin:/bin", ""},
		{"noise elsewhere", "echo broken >&2; run", "/usr/bin:/bin", ""},
		{"stdin", "cat; run", "/usr/bin:/bin", ""},
		{"somebody who keeps stdout", "sleep 1000 & run", "/usr/bin:/bin", ""},
		{"a dumb terminal", `[ "$TERM$VSCODE_RESOLVING_ENVIRONMENT" = dumb1 ]; run`, "/usr/bin:/bin", ""},
		{"an early end", "exit 7", "", "ended with exit status 7"},
		{"nothing", "true", "", "did not say its PATH"},
		{"too much", "yes", "", "wrote more than 1048576 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := shell(t, tt.script)
			got, err := l.Path()
			if got != tt.want || (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), l.Name()+" "+tt.wrong) {
				t.Errorf("Path = %q, %v, want %q, %q", got, err, tt.want, tt.wrong)
			}
		})
	}
}

func TestAShellThatHangsIsGivenUpOn(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	alive, err := os.OpenFile(fifo, os.O_RDWR, 0) // so that neither side's opening waits
	if err != nil {
		t.Fatal(err)
	}
	l := shell(t, "exec 3>"+fifo+"; echo up >&3; sleep 1000 & sleep 1000")
	l.timeout = 500 * time.Millisecond
	if path, err := l.Path(); path != "" || err == nil || !strings.Contains(err.Error(), "did not answer within 500ms") {
		t.Errorf("Path = %q, %v", path, err)
	}
	reader, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := alive.Close(); err != nil {
		t.Fatal(err)
	}
	// The end of the pipe is the end of everybody who had it.
	if got, err := io.ReadAll(reader); string(got) != "up\n" || err != nil {
		t.Errorf("the shell wrote %q, %v", got, err)
	}
}

func TestTheLoginShellIsAskedOnce(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	l := shell(t, "echo x >> "+count+"; run")
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if path, err := l.Path(); path == "" || err != nil {
				t.Errorf("Path = %q, %v", path, err)
			}
		})
	}
	wg.Wait()
	if text, err := os.ReadFile(count); string(text) != "x\n" {
		t.Errorf("it was asked %q, %v", text, err)
	}
}

func TestWhichShell(t *testing.T) {
	passwd := "root:x:0:0:root:/root:/bin/bash\nme:x:1000:1000::/home/me:/usr/bin/zsh\nsvc:x:1:1::/:nologin\nbroken\n"
	for uid, want := range map[int]string{0: "/bin/bash", 1000: "/usr/bin/zsh", 1: "", 5: ""} {
		if got := shellOf(passwd, uid); got != want {
			t.Errorf("shellOf(%d) = %q, want %q", uid, got, want)
		}
	}
	if got := NewLoginShell([]string{"SHELL=zsh"}).Name(); got == "zsh" {
		t.Error("a shell without its folder was taken")
	}
	none := NewLoginShell(nil)
	none.shell = ""
	if _, err := none.Path(); err == nil || !strings.Contains(err.Error(), "neither SHELL") {
		t.Errorf("Path = %v", err)
	}
	gone := NewLoginShell([]string{"SHELL=/no/such/shell"})
	if _, err := gone.Path(); err == nil || !strings.Contains(err.Error(), "/no/such/shell cannot be started") {
		t.Errorf("Path = %v", err)
	}
	for shell, want := range map[string]string{"/bin/zsh": "-l -i -c", "/usr/bin/fish": "-l -i -c", "/bin/tcsh": "-ic", "/usr/bin/pwsh": "-Login -Command", "/bin/nu": "-l -c print"} {
		if got := strings.Join(shellArgs(shell, "MARK"), " "); !strings.HasPrefix(got, want) || !strings.Contains(got, "printenv PATH") {
			t.Errorf("shellArgs(%s) = %s, want %s", shell, got, want)
		}
	}
}

// The real thing, where the machine has it: every system of ours has bash or sh.
func TestARealShell(t *testing.T) {
	for _, shell := range []string{"/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/fish"} {
		if _, err := os.Stat(shell); err != nil {
			continue
		}
		l := NewLoginShell([]string{"SHELL=" + shell, "PATH=/usr/bin:/bin", "HOME=" + t.TempDir()})
		if path, err := l.Path(); err != nil || !strings.Contains(path, "/bin") {
			t.Errorf("%s: Path = %q, %v", shell, path, err)
		}
	}
}

// TestAServerOfAVersionManagerRuns starts a script with its interpreter beside it, in a folder that
// only the login shell knows.
func TestAServerOfAVersionManagerRuns(t *testing.T) {
	bin := t.TempDir()
	for name, text := range map[string]string{
		"assent-test-npx":  "#!/usr/bin/env assent-test-node\n",
		"assent-test-node": "#!/bin/sh\necho \"run by node: $2\"\n",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	e := Environment{Environ: []string{"PATH=/usr/bin:/bin"}, Home: t.TempDir(), Shell: shell(t, "PATH="+bin+":$PATH; run")}
	cmd, err := Server{Command: "assent-test-npx", Args: []string{"x"}}.Resolve(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); string(out) != "run by node: x\n" || err != nil {
		t.Errorf("it says %q, %v", out, err)
	}
}
