package setup_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"assent/sidecar/setup"
)

const claudeSettings = "home/.claude/settings.json"

func (m *machine) findHooks() *setup.HookPlan {
	m.t.Helper()
	p, err := setup.FindHooks(m.Options)
	if err != nil {
		m.t.Fatal(err)
	}
	return p
}

// hooks counts the commands of each event in Claude Code's settings.
func (m *machine) hooks() map[string]int {
	m.t.Helper()
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct{ Command string }
		}
	}
	if err := json.Unmarshal(m.read(claudeSettings), &settings); err != nil {
		m.t.Fatal(err)
	}
	counts := map[string]int{}
	for event, groups := range settings.Hooks {
		for _, g := range groups {
			counts[event] += len(g.Hooks)
		}
	}
	return counts
}

// Each file of settings gets the hooks, and is restored byte for byte. If it has changed since, only the hooks go.
func TestHooksOfClaudeCode(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"no file":            "",
		"an empty object":    "{}\n",
		"one line":           `{"model":"opus"}`,
		"tabs and line ends": "{\r\n\t\"model\": \"opus\",\r\n\t\"permissions\": {\r\n\t\t\"allow\": [\"Bash(ls)\"]\r\n\t}\r\n}\r\n",
		"hooks of others":    "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n    ]\n  }\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.Command = "/opt/My Tools/assent"
			m.write("home/.claude/projects", nil)
			if before != "" {
				m.write(claudeSettings, []byte(before))
			}
			plan := m.findHooks()
			if len(plan.Hooks) != 9 || plan.Forbidden != "" {
				t.Fatalf("the plan is %+v", plan)
			}
			if err := plan.Apply(); err != nil {
				t.Fatal(err)
			}
			after := string(m.read(claudeSettings))
			if !strings.Contains(after, `"command": "'/opt/My Tools/assent' hook claude || exit 0"`) || m.hooks()["PermissionRequest"] != 1 {
				t.Errorf("the settings are %s", after)
			}
			if again := m.findHooks(); len(again.Hooks) != 0 {
				t.Errorf("a second run would add %v", again.Hooks)
			}
			if u := m.restore(); len(u.Problems) != 0 || len(u.Files) != 1 {
				t.Fatalf("restored %+v", u)
			}
			if before == "" {
				if _, err := os.Stat(m.path(claudeSettings)); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the file stays: %v", err)
				}
			} else if got := string(m.read(claudeSettings)); got != before {
				t.Errorf("restored %q, want %q", got, before)
			}

			// Claude Code writes its settings, and the hooks are gone all the same.
			if err := m.findHooks().Apply(); err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(m.read(claudeSettings)), "{", `{"theme": "dark",`, 1)
			m.write(claudeSettings, []byte(changed))
			m.restore()
			got := string(m.read(claudeSettings))
			if strings.Contains(got, "hook claude") || !strings.Contains(got, `"theme": "dark"`) || strings.Contains(before, "say done") != strings.Contains(got, "say done") {
				t.Errorf("restored %s", got)
			}
			if !strings.Contains(before, "hooks") && strings.Contains(got, "hooks") {
				t.Errorf("an empty list stays: %s", got)
			}
		})
	}
}

// Two hooks for an event would ask twice.
func TestAHookWrittenByHand(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.write(claudeSettings, []byte(`{"hooks": {"PermissionRequest": [{"hooks": [{"type": "command", "command": "assent hook claude"}]}]}}`))
	if p := m.findHooks(); len(p.Hooks) != 8 || p.Hooks["PermissionRequest"] != nil {
		t.Errorf("the plan is %+v", p.Hooks)
	}
}

func TestHooksWithoutClaudeCode(t *testing.T) {
	t.Parallel()
	if p := newMachine(t).findHooks(); p != nil {
		t.Errorf("the plan is %+v", p)
	}
	m := newMachine(t)
	for text, want := range map[string]string{"[": "cannot be read", `{"hooks": []}`: "cannot be changed", `{"hooks": {"Stop": {}}}`: "no list for Stop"} {
		m.write(claudeSettings, []byte(text))
		if _, err := setup.FindHooks(m.Options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
