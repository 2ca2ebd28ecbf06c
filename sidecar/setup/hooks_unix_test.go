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
