//go:build unix

package wire_test

import (
	"bufio"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/wire"
)

// start runs a shell script as a server.
func start(t *testing.T, script string) (*wire.Process, *[]string) {
	t.Helper()
	var lines []string
	p, err := wire.StartProcess(exec.Command("/bin/sh", "-c", script), func(line string) { lines = append(lines, line) })
	if err != nil {
		t.Fatal(err)
	}
	return p, &lines
}

func TestAServerLeavesWhenItsStdinCloses(t *testing.T) {
	p, _ := start(t, `cat; exit 0`)
	if _, err := io.WriteString(p, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(p).ReadString('\n'); err != nil || line != "hello\n" {
		t.Fatalf("read %q, %v", line, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if got := p.Exit(); got != "it exited" {
		t.Errorf("Exit = %q", got)
	}
}

func TestAServersDeathIsExplained(t *testing.T) {
	p, lines := start(t, `i=0; while [ $i -lt 30 ]; do echo "line $i" >&2; i=$((i+1)); done; exit 3`)
	if got := p.Exit(); got != "it ended with exit status 3" {
		t.Errorf("Exit = %q", got)
	}
	if code, ok := p.ExitCode(); code != 3 || !ok {
		t.Errorf("ExitCode = %d, %v, want 3", code, ok)
	}
	if len(*lines) != 30 {
		t.Errorf("%d lines were reported, want 30", len(*lines))
	}
	if diff := cmp.Diff((*lines)[10:], p.Stderr()); diff != "" {
		t.Errorf("the tail of stderr (-want +got):\n%s", diff)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// gone waits until a group has no processes.
func gone(t *testing.T, group int) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for syscall.Kill(-group, 0) == nil {
		select {
		case <-deadline:
			t.Fatalf("the group %d is still there", group)
		case <-time.Tick(5 * time.Millisecond):
		}
	}
}

func TestTheWholeGroupEndsWithTheServer(t *testing.T) {
	tests := []struct {
		name, script string
	}{
		{"that leaves a child behind", `sleep 1000 & echo $$; exit 0`},
		{"that ignores its stdin", `sleep 1000 & echo $$; exec sleep 1000`},
		{"that ignores SIGTERM too", `trap '' TERM; echo $$; while true; do sleep 1; done`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // each takes its grace
			p, _ := start(t, tt.script)
			line, err := bufio.NewReader(p).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			group, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			gone(t, group)
		})
	}
}

func TestAProgramThatCannotRunIsAnError(t *testing.T) {
	_, err := wire.StartProcess(&exec.Cmd{Path: "/dev/null/nothing"}, func(string) {})
	if err == nil {
		t.Error("a program that is not there was started")
	}
}
