//go:build unix

package test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"assent/sidecar/daemon"
	"assent/sidecar/workspace/rpc/rpctest"
)

// neverLeaves is a server that does not speak, does not leave when it is asked to, and has a child.
const neverLeaves = `#!/bin/sh
trap '' TERM
sleep 1000 &
echo $! >child.pid
echo $$ >server.pid
while true; do sleep 1; done
`

// starting is a conversation that begins to start the server.
func starting(server string, args ...string) string {
	quoted, err := json.Marshal(append([]string{}, args...))
	if err != nil {
		panic(err)
	}
	return rpctest.Frame(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"a test","version":"1"},"capabilities":{},"configuration":{"servers":{"never-leaves":{"command":"`+server+`","args":`+string(quoted)+`,"cwd":"`+filepath.Dir(server)+`"}},"model":{}}}}`) +
		rpctest.Frame(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"serverName":"never-leaves"}}`)
}

// pid returns the process id that a file will hold.
func pid(t *testing.T, path string) int {
	t.Helper()
	id := 0
	eventually(t, path, func() bool {
		data, err := os.ReadFile(path)
		if err != nil {
			return false
		}
		id, err = strconv.Atoi(strings.TrimSpace(string(data)))
		return err == nil
	})
	return id
}

// alive reports whether a process runs. A zombie does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func wantGone(t *testing.T, who string, pid int) {
	t.Helper()
	eventually(t, "the end of the "+who, func() bool { return !alive(pid) })
}

func TestServersEndWithTheSidecar(t *testing.T) {
	tests := []struct {
		name string
		end  func(t *testing.T, assent *exec.Cmd, stdin *os.File)
	}{
		{"its stdin closes", func(t *testing.T, _ *exec.Cmd, stdin *os.File) {
			if err := stdin.Close(); err != nil {
				t.Fatal(err)
			}
		}},
		{"it is asked to terminate", func(t *testing.T, assent *exec.Cmd, _ *os.File) {
			if err := assent.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // the server takes its grace
			dir, server := newNeverLeaves(t)
			assent := newDaemonHome(t).alone("--data-dir", filepath.Join(dir, "data"))
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			assent.Stdin = read
			if err := assent.Start(); err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			defer write.Close()
			if _, err := write.WriteString(starting(server)); err != nil {
				t.Fatal(err)
			}
			serverPID, childPID := pid(t, filepath.Join(dir, "server.pid")), pid(t, filepath.Join(dir, "child.pid"))
			tt.end(t, assent, write)
			if err := assent.Wait(); err != nil {
				t.Errorf("the sidecar: %v", err)
			}
			wantGone(t, "server", serverPID)
			wantGone(t, "server's child", childPID)
		})
	}
}

func TestAnOrphanedSidecarEnds(t *testing.T) {
	t.Parallel()
	dir, server := newNeverLeaves(t)
	// The parent is a shell that dies; this test keeps the other end of the sidecar's stdin.
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	parent := exec.Command("/bin/sh", "-c", "assent serve --standalone --data-dir data <&3 & echo $! >sidecar.pid; wait")
	parent.Dir, parent.ExtraFiles = dir, []*os.File{read}
	parent.Env = append(os.Environ(), daemon.FolderVariable+"="+newDaemonHome(t).folder)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := write.WriteString(starting(server)); err != nil {
		t.Fatal(err)
	}
	sidecarPID := pid(t, filepath.Join(dir, "sidecar.pid"))
	serverPID, childPID := pid(t, filepath.Join(dir, "server.pid")), pid(t, filepath.Join(dir, "child.pid"))
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // that it was killed is no news
	wantGone(t, "sidecar", sidecarPID)
	wantGone(t, "server", serverPID)
	wantGone(t, "server's child", childPID)
}

func newNeverLeaves(t *testing.T) (dir, server string) {
	t.Helper()
	dir = t.TempDir()
	server = filepath.Join(dir, "server.sh")
	if err := os.WriteFile(server, []byte(neverLeaves), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir, server
}
