package workspace_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/gateway/hosts"
)

// openAsks waits until a number of questions is open.
func openAsks(d *desk, want int) (open protocol.ListOpenAsksResult) {
	d.t.Helper()
	for open.Asks = nil; len(open.Asks) != want; {
		open = protocol.ListOpenAsksResult{}
		d.result(d.ask("ask/list", "null"), &open)
	}
	return open
}

// TestWhatTakesThePlaceOfAFileEndsCalls has a call that waits in a session of Claude Code, and one in that of another host, while
// something else comes to stand where Claude Code's file was.
func TestWhatTakesThePlaceOfAFileEndsCalls(t *testing.T) {
	denies := []byte(`{"deniedMcpServers": [{"serverName": "github"}]}`)
	for name, tt := range map[string]struct {
		put  func(path string) error
		want string
	}{
		"half a file":  {func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) }, "cannot be used"},
		"a huge file":  {func(path string) error { return os.Truncate(path, 1<<40) }, "more than 1048576 bytes"},
		"a folder":     {func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, "is not a file"},
		"a loose link": {func(path string) error { return errors.Join(os.Remove(path), os.Symlink("nowhere", path)) }, "cannot be used"},
		"another link": {func(path string) error {
			return errors.Join(os.WriteFile(path+".other", denies, 0o600), os.Symlink(path+".other", path+".link"), os.Rename(path+".link", path))
		}, "managed-settings.json, entry {"},
		"a file that adds to it": {func(path string) error {
			folder := strings.TrimSuffix(path, ".json") + ".d"
			return errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "10.json"), denies, 0o600))
		}, "10.json, entry"},
		"an exclusive set": {func(path string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(path), "managed-mcp.json"), []byte(`{"mcpServers": {}}`), 0o600)
		}, "managed-mcp.json, mcpServers"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGoverned(t)
			const file = "etc/claude-code/managed-settings.json"
			g.lay(file, `{}`)
			claude, other := g.host("claude-code", hosts.Use{Server: "github"}), g.host("something", hosts.Use{Server: "github"})
			claude.answer(1)
			other.answer(1)
			waits := claude.call("tools/call", `{"name":"ask","arguments":{}}`)
			other.call("tools/call", `{"name":"ask","arguments":{}}`)
			d := seat(t, g.Workspace, "a window", shows, g.servers)
			openAsks(d, 2)
			if err := tt.put(filepath.Join(g.root, file)); err != nil {
				t.Fatal(err)
			}
			if answer := claude.answer(waits); !strings.Contains(answer, blocks) || !strings.Contains(answer, tt.want) {
				t.Errorf("the call ended with %s", answer)
			}
			openAsks(d, 1) // that of the other host
			claude.leave()
			other.leave()
			d.leave()
			g.Close()
		})
	}
}

// TestARestartWithAnotherPolicy has a call of a window, with a question that is open when the workspace ends. After that, the server may
// not be used any more: neither for that call nor for the next one.
func TestARestartWithAnotherPolicy(t *testing.T) {
	g := newGoverned(t)
	var d *desk
	call := func(tool string) (task protocol.Task) {
		d.result(d.ask("task/create", `{"title":"T"}`), &task)
		d.answer(d.ask("call/start", fmt.Sprintf(`{"taskId":%q,"serverName":"github","request":{"type":"tools/call","toolName":%q,"arguments":{}}}`, task.ID, tool)))
		return task
	}
	ended := func(task protocol.Task) protocol.CallResult {
		for {
			var opened protocol.OpenTaskResult
			d.result(d.ask("task/open", fmt.Sprintf(`{"taskId":%q}`, task.ID)), &opened)
			if call := opened.Messages[0].Body.(protocol.Call); call.Result != nil {
				return call.Result
			}
		}
	}
	d = seat(t, g.Workspace, "a window", shows, g.servers)
	asked := call("ask")
	openAsks(d, 1)
	d.leave()
	g.Close()
	if !g.wasStarted("github") {
		t.Fatal("the server was not started")
	}
	g.lay("etc/assent/policy.json", `{"servers": {"denied": [{"serverCommand": ["$PROGRAM"]}]}}`)
	g.open()
	d = seat(t, g.Workspace, "a window", shows, g.servers)
	ended(asked)
	if lost, ok := ended(call("echo")).(protocol.CallLost); !ok || !strings.Contains(lost.Reason, blocks) {
		t.Errorf("the next call ended with %+v", lost)
	}
	d.leave()
	g.Close()
	if g.wasStarted("github") {
		t.Error("the blocked server was started")
	}
}
