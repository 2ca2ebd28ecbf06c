//go:build unix

// The server is a script of the shell.

package hub_test

import (
	"os"
	"path/filepath"
	"testing"

	"assent/protocol"
	"assent/sidecar/config"
)

func TestClosingATaskEndsItsProcess(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "server.sh")
	// A server that leaves a mark while it lives, in front of the one that speaks.
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch "+dir+"/$$\ntrap 'rm "+dir+"/$$' EXIT\nrawserver s\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, handshake("s")+`
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tool","arguments":{}}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"content":[]}}
`)
	f.Configure([]config.Server{{Name: "s", Command: script}})
	for _, id := range []string{"t1", "t2"} {
		if got, ok := (<-f.call(t.Context(), id, "s", "tool")).(protocol.ToolResult); !ok {
			t.Fatalf("result = %+v", got)
		}
	}
	alive := func() int {
		marks, err := filepath.Glob(filepath.Join(dir, "[0-9]*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(marks)
	}
	if n := alive(); n != 2 {
		t.Fatalf("%d processes serve two tasks", n)
	}
	f.CloseTask("t1")
	if n := alive(); n != 1 {
		t.Errorf("after a task was closed %d processes are left, want 1", n)
	}
	if got := f.state(t, "s").State; got != protocol.ServerRunning {
		t.Errorf("the server = %s, the other task still uses it", got)
	}
	f.CloseTask("t2")
	if n := alive(); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	if got := f.state(t, "s").State; got != protocol.ServerStopped {
		t.Errorf("the server = %s", got)
	}
}
