package workspace_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
)

// docs/guide.md promises: a grant, and a rule about a tool, is for the program, or the place, that the server was when the
// person made it.
func TestARuleIsForTheServerAsItWas(t *testing.T) {
	program := installToolServer(t)
	original := map[string]any{"command": program, "args": []string{"a b"}, "env": map[string]any{"MODE": "one"}}
	tests := []struct {
		name   string
		change map[string]any
		holds  bool
	}{
		{"the same definition", nil, true},
		{"a shifted border between arguments", map[string]any{"args": []string{"a", "b"}}, false},
		{"another folder", map[string]any{"cwd": t.TempDir()}, false},
		{"another value in the environment", map[string]any{"env": map[string]any{"MODE": "two"}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWindow(t, configured{"servers": map[string]any{"t": original}})
			w.model.then(uses("t__wipe", `{}`), says("Done."))
			w.say("Go.")
			w.approve("remember", "always")
			w.idle()
			var grant protocol.Grant
			w.call("grant/create", map[string]any{"serverName": "t", "models": []string{"*"}, "maxRequests": 5}, &grant)

			changed := maps.Clone(original)
			maps.Copy(changed, tt.change)
			w.configure(map[string]any{"t": changed})
			w.model.then(uses("t__wipe", `{}`), says("Done."))
			w.say("Go.")
			w.until("the end, or an ask", func() bool { return w.task.OpenAsks > 0 || !w.task.Running && len(ends(w)) == 4 })
			if holds := w.task.OpenAsks == 0; holds != tt.holds {
				t.Errorf("the rule holds: %v, want %v", holds, tt.holds)
			}
			if w.task.OpenAsks > 0 {
				change := w.approve().Question.(protocol.UseMcpTool).Changed
				if change == nil || !change.Server || change.Tool || change.By != "a window" {
					t.Errorf("the card says of the change: %+v", change)
				}
				w.idle()
			}
			var again protocol.Grant
			w.call("grant/create", map[string]any{"serverName": "t", "models": []string{"*"}, "maxRequests": 5}, &again)
			if same := again.Identity == grant.Identity; same != tt.holds || again.Identity == "" {
				t.Errorf("a grant is for the same server: %v, want %v (%s)", same, tt.holds, again.Identity)
			}
			if strings.Contains(grant.Identity, "one") {
				t.Errorf("the identity shows a value: %s", grant.Identity)
			}
			w.done()
		})
	}
}

func TestAToolThatChangedIsShownWithTheDifference(t *testing.T) {
	said := filepath.Join(t.TempDir(), "description")
	describe := func(text string) {
		t.Helper()
		if err := os.WriteFile(said, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	describe("Wipes the board.")
	w := newWindow(t, configured{"servers": map[string]any{"t": map[string]any{
		"command": installToolServer(t), "env": map[string]any{"TOOLSERVER_DESCRIPTION": said},
	}}})
	w.model.then(uses("t__wipe", `{}`), says("Done."), uses("t__wipe", `{}`), says("Done."), uses("t__wipe", `{}`), says("Done."))
	w.say("Go.")
	if change := w.approve("remember", "always").Question.(protocol.UseMcpTool).Changed; change != nil {
		t.Errorf("a tool that was never allowed has changed: %+v", change)
	}
	w.idle()
	describe("Wipes the disk.")
	w.call("server/restart", map[string]any{"serverName": "t"}, nil)
	w.say("Go.")
	change := w.approve().Question.(protocol.UseMcpTool).Changed
	w.idle()
	if change == nil || change.Server || !change.Tool {
		t.Fatalf("the card says of the change: %+v", change)
	}
	w.say("Go.") // it was allowed once as it is now, and the rule is for the earlier one
	if again := w.approve().Question.(protocol.UseMcpTool).Changed; again != nil {
		t.Errorf("the card says again of the change: %+v", again)
	}
	w.idle()
	want := []protocol.DiffLine{
		{Kind: protocol.DiffSame, Text: "Description:"},
		{Kind: protocol.DiffRemoved, Text: "Wipes the board."},
		{Kind: protocol.DiffAdded, Text: "Wipes the disk."},
		{Kind: protocol.DiffSame, Text: "Claims:"},
	}
	if diff := cmp.Diff(want, change.Lines[:min(len(want), len(change.Lines))]); diff != "" {
		t.Errorf("the difference (-want +got):\n%s", diff)
	}
	w.done()
}
