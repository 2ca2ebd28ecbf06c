//go:build unix

// The servers are scripts of the shell.

package hub_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/config"
)

// script returns a program of the shell's.
func script(t *testing.T, text string) config.Server {
	t.Helper()
	path := filepath.Join(t.TempDir(), "server.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return config.Server{Name: "bad", Source: "test", Transport: protocol.TransportStdio, Command: path}
}

// TestABadServerDoesNotAffectOthers has two servers: what the bad one does is its own misfortune, and it can
// be used once it behaves.
func TestABadServerDoesNotAffectOthers(t *testing.T) {
	good := handshake("good") + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tool","arguments":{}}}
-- server good --
{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"done"}]}}
`
	better := strings.ReplaceAll(good, " good --", " bad --")
	tests := []struct{ name, script, want string }{
		{"a line without end", "exec head -c 100000000 /dev/zero\n", "The server sent too much at once: a line of more than 16777216 bytes"},
		{"half closed", "exec 1>&-\nexec sleep 100\n", "It closed its output and stayed"},
		{"garbage, and gone", "echo garbage\necho oops >&2\nexit 4\n", "It ended at once, with the exit code 4: oops."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, good+better)
			bad, well := script(t, tt.script), server("good")
			f.Configure([]config.Server{bad, well})
			end := f.call(t.Context(), "t1", "bad", "tool")
			if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), "t1", "good", "tool")); diff != "" {
				t.Errorf("the good server's result (-want +got):\n%s", diff)
			}
			lost, ok := (<-end).(protocol.CallLost)
			if !ok || !strings.Contains(lost.Reason, tt.want) {
				t.Errorf("the bad server's result = %+v, want %s", lost, tt.want)
			}
			if got := f.state(t, "bad"); got.State != protocol.ServerFailed || !strings.Contains(got.Reason, tt.want) {
				t.Errorf("the bad server = %+v, want %s", got, tt.want)
			}
			behaves := server("bad")
			f.Configure([]config.Server{behaves, well})
			if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), "t1", "bad", "tool")); diff != "" {
				t.Errorf("once it behaves (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFloodOfNotificationsIsBorne(t *testing.T) {
	const many = 20000
	var flood strings.Builder
	for i := range many {
		fmt.Fprintf(&flood, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}`+"\n", i)
		flood.WriteString(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n")
		flood.WriteString("and garbage\n")
	}
	overEach(t, handshake("s")+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tool","arguments":{}}}
-- server s --
`+flood.String()+`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"done"}]}}
`, legacyWays[:1], func(t *testing.T, f *fixture) {
		if diff := cmp.Diff(protocol.CallResult(done), <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		f.awaitChange(t, protocol.ListTools)
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.changes) > many/100 {
			t.Errorf("%d changes were announced", len(f.changes))
		}
	})
}
