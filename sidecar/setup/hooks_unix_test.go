//go:build unix

package setup_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
)

// An Assent that does not know the command, and one that has gone, refuse nothing: Claude Code takes an exit with 2 as a refusal.
func TestTheHookOfAnotherAssent(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]string{"an older one": "#!/bin/sh\nexit 2\n", "one that has gone": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.Command = m.path("bin/assent")
			if program != "" {
				m.write("bin/assent", []byte(program))
				if err := os.Chmod(m.Command, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			m.write("home/.claude/projects", nil)
			if err := m.findHooks().Apply(); err != nil {
				t.Fatal(err)
			}
			var settings struct {
				Hooks map[string][]struct {
					Hooks []struct{ Command string }
				}
			}
			if err := json.Unmarshal(m.read(claudeSettings), &settings); err != nil || len(settings.Hooks) == 0 {
				t.Fatal(err)
			}
			for event, groups := range settings.Hooks {
				if err := exec.Command("sh", "-c", groups[0].Hooks[0].Command).Run(); err != nil {
					t.Errorf("%s: %v", event, err)
				}
			}
		})
	}
}
