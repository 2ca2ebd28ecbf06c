package test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assent/protocol"
)

// Two hosts of one program run in one folder and make the same call at once. Each gets the answer to its own question, in a
// conversation of its own. Only over HTTP since 2026-07-28 there is nothing but a program's name that tells the conversations
// of a token apart.
func TestTwoHostsAtOnce(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http", "http of two programs"} {
		for _, server := range []string{"legacy", "modern"} {
			for _, revision := range []string{"2025-06-18", "2026-07-28"} {
				t.Run(transport+" "+server+" "+revision, func(t *testing.T) {
					t.Parallel()
					h := newDaemonHome(t)
					window := h.serve()
					if err := window.shakeHands(); err != nil {
						t.Fatal(err)
					}
					second := "claude-code"
					if transport == "http of two programs" {
						second = "zed"
					}
					var hosts []*rawHost
					var folder, log string
					if transport == "stdio" {
						gateway, logged := h.gatewayOf(server)
						folder, log = gateway.Dir, logged
						for range 2 {
							same := h.command(gateway.Args[1:]...)
							same.Dir = folder
							hosts = append(hosts, startHost(t, revision, same))
						}
					} else {
						in, address, token, logged := h.addHost(server)
						folder, log = in, logged
						for _, name := range []string{"claude-code", second} {
							hosts = append(hosts, connectHostNamed(t, name, revision, address, token))
						}
					}
					var calls []int
					var asks []protocol.OpenAsk
					for i, host := range hosts {
						calls = append(calls, host.send("tools/call", `{"name":"form","arguments":{"n":1}}`))
						for _, ask := range awaitAsks(t, window, i+1) {
							if i == 0 || ask.AskID != asks[0].AskID {
								asks = append(asks, ask)
							}
						}
					}
					titles := []string{"Claude Code in " + filepath.Base(folder), "Claude Code in " + filepath.Base(folder) + " (2)"}
					switch {
					case second == "zed":
						titles[1] = "zed in " + filepath.Base(folder)
					case transport == "http" && revision == "2026-07-28":
						titles[1] = titles[0]
					}
					if isOne := asks[0].TaskID == asks[1].TaskID; isOne != (titles[0] == titles[1]) {
						t.Errorf("the questions are in the tasks %s and %s", asks[0].TaskID, asks[1].TaskID)
					}
					if asks[0].Title != titles[0] || asks[1].Title != titles[1] {
						t.Errorf("the conversations are %q and %q", asks[0].Title, asks[1].Title)
					}
					acceptWith(t, window, asks[1], "second")
					acceptWith(t, window, asks[0], "first")
					for i, want := range []string{"first", "second"} {
						if got := hosts[i].await(calls[i]); !strings.Contains(got, `"a":"`+want+`"`) {
							t.Errorf("the %s host got %s", want, got)
						}
					}
					if got := len(answersIn(t, log+".runs")); got != 2 {
						t.Errorf("the tool ran %d times", got)
					}
				})
			}
		}
	}
}

// A conversation that its host names is one task: in each of its sessions, and after the daemon's restart. Several in one
// session are several.
func TestAConversationThatItsHostNames(t *testing.T) {
	t.Parallel()
	type program struct{ server, name, variable string }
	type call struct {
		of      int // the host
		meta    string
		restart bool // the daemon ends before the call
		task    int  // the number of the task that the call is in
	}
	claude := func(server, id string) program {
		return program{server, "claude-code", "CLAUDE_CODE_SESSION_ID=" + id}
	}
	codex := program{"modern", "codex-mcp-client", ""}
	for _, test := range []struct {
		name  string
		hosts []program
		calls []call
	}{
		{"one conversation with two servers", []program{claude("modern", "1"), claude("legacy", "1")}, []call{{of: 0}, {of: 1}}},
		{"two conversations", []program{claude("modern", "1"), claude("modern", "2")}, []call{{of: 0}, {of: 1, task: 1}, {of: 0}}},
		{"a conversation that another program goes on with", []program{claude("modern", "1"), claude("modern", "1")}, []call{{of: 0}, {of: 1}, {of: 0}}},
		{"the daemon's restart", []program{claude("modern", "1")}, []call{{}, {restart: true}}},
		{"two threads in one session", []program{codex}, []call{{meta: `"threadId":"a"`}, {meta: `"threadId":"b"`, task: 1}, {meta: `"threadId":"a"`}}},
		{"a thread after the daemon's restart", []program{codex}, []call{{meta: `"threadId":"a"`}, {meta: `"threadId":"a"`, restart: true}, {meta: `"threadId":"b"`, task: 1}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newDaemonHome(t)
			window := h.serve()
			if err := window.shakeHands(); err != nil {
				t.Fatal(err)
			}
			var first *exec.Cmd
			var hosts []*rawHost
			for _, host := range test.hosts {
				gateway, _ := h.gatewayOf(host.server)
				if first == nil {
					first = gateway
				}
				gateway.Dir = first.Dir
				gateway.Env = append(gateway.Env, host.variable)
				hosts = append(hosts, startHostNamed(t, host.name, "2025-06-18", hostCapabilities, gateway))
			}
			tasks := map[int]string{}
			for i, call := range test.calls {
				if call.restart {
					h.run("daemon", "stop", "--force")
					if window = h.serve(); window.shakeHands() != nil {
						t.Fatal("the window did not attach")
					}
				}
				host := hosts[call.of]
				host.meta = call.meta
				id := host.send("tools/call", `{"name":"form","arguments":{}}`)
				ask := awaitAsk(t, window)
				accept(t, window, ask)
				if got := host.await(id); !strings.Contains(got, `"a":"x"`) {
					t.Errorf("call %d: the host got %s", i, got)
				}
				awaitNoAsk(t, window)
				if tasks[call.task] == "" {
					tasks[call.task] = ask.TaskID
				}
				if ask.TaskID != tasks[call.task] {
					t.Errorf("call %d is in the task %s, want %s", i, ask.TaskID, tasks[call.task])
				}
			}
			if tasks[0] == tasks[1] {
				t.Errorf("two conversations are one task")
			}
		})
	}
}
