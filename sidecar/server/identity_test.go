package server_test

import (
	"maps"
	"strings"
	"testing"

	"assent/protocol"
)

// README promises: a grant, and a rule about a tool, is for the program, or the place, that the server was when the
// person made it.
func TestWhatWasAllowedIsForTheServerAsItWas(t *testing.T) {
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
				w.approve()
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
