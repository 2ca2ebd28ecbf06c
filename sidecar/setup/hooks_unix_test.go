//go:build unix

// The organisation's files are in their places on Linux.

package setup_test

import (
	"strings"
	"testing"
)

func TestHooksThatMayNotRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ path, text string }{
		"the person's own settings": {claudeSettings, `{"disableAllHooks": true}`},
		"an organisation":           {"root/etc/claude-code/managed-settings.json", `{"allowManagedHooksOnly": true}`},
		"an addition to its file":   {"root/etc/claude-code/managed-settings.d/a.json", `{"disableAllHooks": true}`},
	} {
		m := newMachine(t)
		m.write("home/.claude/projects", nil)
		m.write(test.path, []byte(test.text))
		if p := m.findHooks("Claude Code"); !strings.Contains(p.Forbidden, m.path(test.path)) {
			t.Errorf("%s: %q", name, p.Forbidden)
		}
	}
}

// A later Assent notices the hooks of an earlier one, and renews them. The restores in turn leave the file as it was.
func TestHooksOfAnEarlierAssent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, hooks string
		added       int
	}{
		{"fewer events", `{"PermissionRequest": [%s], "Stop": [%s]}`, 7},
		{"a command that may refuse", `{"PermissionRequest": [{"hooks": [{"type": "command", "command": "PROGRAM hook claude", "timeout": 86400}]}], "Stop": [%s]}`, 8},
		{"a short wait", `{"PermissionRequest": [{"hooks": [{"type": "command", "command": "PROGRAM hook claude || exit 0"}]}], "Stop": [%s]}`, 8},
		{"a program that is gone", `{"PermissionRequest": [%s], "Stop": [{"hooks": [{"type": "command", "command": "'/no/My assent' hook claude || exit 0"}]}]}`, 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.Command = m.path("bin/assent")
			m.write("bin/assent", nil)
			now := `{"hooks": [{"type": "command", "command": "PROGRAM hook claude || exit 0", "timeout": 86400}]}`
			before := strings.ReplaceAll(strings.ReplaceAll(`{"hooks": `+tt.hooks+"}", "%s", now), "PROGRAM", m.Command)
			m.write(claudeSettings, []byte(before))
			plan := m.findHooks("Claude Code")
			if len(plan.Hooks) != tt.added || !plan.Renews {
				t.Fatalf("the plan is %+v", plan)
			}
			if err := plan.Apply(); err != nil {
				t.Fatal(err)
			}
			if after := string(m.read(claudeSettings)); len(m.hooks()) != 9 || m.hooks()["PermissionRequest"] != 1 || m.hooks()["Stop"] != 1 || strings.Contains(after, "/no/") {
				t.Errorf("the settings are %s", after)
			}
			if again := m.findHooks("Claude Code"); len(again.Hooks) != 0 || again.Renews {
				t.Errorf("a second run would add %v", again.Hooks)
			}
			if m.restore(); string(m.read(claudeSettings)) != before {
				t.Errorf("restored %s, want %s", m.read(claudeSettings), before)
			}
		})
	}
}
