//go:build unix

package test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"assent/sidecar/daemon"
)

// A daemon that refuses, says something else or says nothing leaves the question to Claude Code's own prompt.
func TestAHookOfAnOddDaemon(t *testing.T) {
	const welcome = `{"build":"0.1.0","protocol":1,"pid":1,"ok":true}` + "\n"
	for name, says := range map[string]string{
		"one that does not know hooks": `{"build":"0.1.0","protocol":1,"pid":1,"ok":false,"error":{"code":"hello","message":"does not serve a client"}}` + "\n",
		"one of another version":       `{"build":"9.9.9","protocol":9,"pid":1,"ok":false,"error":{"code":"protocol","message":"update Assent"}}` + "\n",
		"one that leaves":              "",
		"one that leaves later":        welcome,
		"garbage after the welcome":    welcome + "allow\n",
		"half a decision":              welcome + `{"hookSpecificOutput":`,
	} {
		t.Run(name, func(t *testing.T) {
			folder, err := os.MkdirTemp("", "assent-odd-") // with a shorter path than the test's own
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(folder) })
			t.Setenv(daemon.FolderVariable, folder)
			address, err := daemon.Locate()
			if err != nil {
				t.Fatal(err)
			}
			listener, err := net.Listen("unix", address.Socket)
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan error, 1)
			go func() {
				conn, err := listener.Accept()
				if err == nil {
					_, err = conn.Read(make([]byte, 64<<10))
					_, _ = io.WriteString(conn, says)
					if half, ok := conn.(*net.UnixConn); ok {
						_ = half.CloseWrite()
					}
					_, _ = io.Copy(io.Discard, conn) // until the hook has gone
					_ = conn.Close()
				}
				served <- err
			}()
			claude := newClaude(t, daemonHome{t, folder}, "s1")
			if got := claude.hook("PermissionRequest", "", "touch x").end(); got != "" {
				t.Errorf("the hook printed %q", got)
			}
			if err := <-served; err != nil {
				t.Errorf("the hook did not come: %v", err)
			}
			_ = listener.Close()
		})
	}
}

// A hook of which the host was killed ends, and so does its question.
func TestAnOrphanedHook(t *testing.T) {
	t.Parallel()
	home := newDaemonHome(t)
	window := home.serve()
	if err := window.shakeHands(); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("assent")
	if err != nil {
		t.Fatal(err)
	}
	question := `{"session_id":"s1","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"touch x"}}`
	host := exec.Command("sh", "-c", fmt.Sprintf(`echo '%s' | %q hook claude; true`, question, program))
	host.Env = home.command().Env
	host.Stdin = strings.NewReader("")
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	awaitAsk(t, window)
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait() // which says that it was killed
	awaitNoAsk(t, window)
}
