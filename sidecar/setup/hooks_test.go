package setup_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/sidecar/setup"
)

const claudeSettings = "home/.claude/settings.json"

// findHooks returns the plan of a host; nil if it is not installed.
func (m *machine) findHooks(host string) *setup.HookPlan {
	m.t.Helper()
	plans, err := setup.FindHooks(m.Options)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, p := range plans {
		if p.Host == host {
			return p
		}
	}
	return nil
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
			plan := m.findHooks("Claude Code")
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
			if again := m.findHooks("Claude Code"); len(again.Hooks) != 0 {
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
			if err := m.findHooks("Claude Code").Apply(); err != nil {
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
	if p := m.findHooks("Claude Code"); len(p.Hooks) != 8 || p.Hooks["PermissionRequest"] != nil || !p.Renews {
		t.Errorf("the plan is %+v", p.Hooks)
	}
}

func TestHooksWithoutClaudeCode(t *testing.T) {
	t.Parallel()
	if p := newMachine(t).findHooks("Claude Code"); p != nil {
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

const plugin = "home/.config/opencode/plugin/assent.js"

// The plugin is a file of its own, which restore removes with its folder.
func TestThePluginOfOpencode(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if p := m.findHooks("opencode"); p != nil {
		t.Errorf("without opencode, the plan is %+v", p)
	}
	m.Command = `/opt/My "Tools"/assent`
	m.write("home/.config/opencode/opencode.json", []byte("{}"))
	add := func() string {
		t.Helper()
		plan := m.findHooks("opencode")
		if plan.Complete() || filepath.ToSlash(plan.Path) != m.path(plugin) {
			t.Fatalf("the plan is %+v", plan)
		}
		if err := plan.Apply(); err != nil {
			t.Fatal(err)
		}
		text := string(m.read(plugin))
		if program, _ := json.Marshal(m.Command); text != plan.Plugin || !strings.Contains(text, "const program = "+string(program)+";\n") {
			t.Errorf("the plugin is %s", text)
		}
		if !m.findHooks("opencode").Complete() {
			t.Error("a second run would add it again")
		}
		return text
	}
	gone := func() {
		t.Helper()
		if u := m.restore(); len(u.Problems) != 0 {
			t.Errorf("restored %+v", u)
		}
		if _, err := os.Stat(m.path("home/.config/opencode/plugin")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder stays: %v", err)
		}
		if got := string(m.read("home/.config/opencode/opencode.json")); got != "{}" {
			t.Errorf("opencode.json is %s", got)
		}
	}
	add()
	gone()
	text := add()
	m.write(plugin, []byte(text+"// mine\n"))
	gone()
	add()
	m.Command = "/usr/bin/assent" // the program has moved
	add()
	gone()
	m.write(plugin, []byte("export const Mine = async () => ({});\n"))
	if plans, err := setup.FindHooks(m.Options); err == nil || !strings.Contains(err.Error(), "is not Assent's") || len(plans) != 0 {
		t.Errorf("over another plugin, the plan is %+v, %v", plans, err)
	}
	m.write(claudeSettings, []byte("{}"))
	if plans, err := setup.FindHooks(m.Options); err == nil || len(plans) != 1 {
		t.Errorf("beside another plugin, the plan is %+v, %v", plans, err)
	}
}
