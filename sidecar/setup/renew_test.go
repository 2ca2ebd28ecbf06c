package setup_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"assent/sidecar/setup"
)

// TestEntriesOfEarlierVersionsAreRenewed has what an earlier version of setup wrote, and an entry that a person wrote.
func TestEntriesOfEarlierVersionsAreRenewed(t *testing.T) {
	for _, tt := range []struct{ path, before, now, earlier string }{
		{"home/.cursor/mcp.json", cursorFile, `["gateway", "--own", "--host", "cursor", "a"]`, `["gateway", "a"]`},
		{
			"home/.codex/config.toml", "[mcp_servers.a]\nurl = \"https://h/\"\nbearer_token_env_var = \"T\"\n",
			"args = [\"gateway\", \"--own\", \"--host\", \"codex\", \"a\"]\nenv_vars = [\"T\"]\n", "args = [\"gateway\", \"a\"]\n",
		},
		{
			"home/.gemini/settings.json", `{"mcpServers": {"a": {"command": "a", "env": {"T": "$T"}}}}`,
			`"args": ["gateway", "--own", "--host", "gemini-cli", "a"],"env": {"T":"$T"}`, `"args": ["gateway", "a"]`,
		},
	} {
		t.Run(tt.path, func(t *testing.T) {
			m := newMachine(t)
			m.write("home/.claude.json", []byte(`{"mcpServers": {"a": {"command": "assent", "args": ["gateway", "a"]}}}`))
			m.write(tt.path, []byte(tt.before))
			m.route()
			routed := m.read(tt.path)
			earlier := bytes.Replace(routed, []byte(tt.now), []byte(tt.earlier), 1)
			if bytes.Equal(earlier, routed) {
				t.Fatalf("there is no %s in\n%s", tt.now, routed)
			}
			m.write(tt.path, earlier)
			journal := "assent/setup/000001/journal.json"
			m.write(journal, bytes.Replace(m.read(journal), fmt.Appendf(nil, "%x", sha256.Sum256(routed)), fmt.Appendf(nil, "%x", sha256.Sum256(earlier)), 1))

			plan := m.find()
			if strings.Join(plan.Files, " ") != m.path(tt.path) {
				t.Fatalf("it would change %v", plan.Files)
			}
			if r := m.route(); len(r.Added) != 0 {
				t.Errorf("it added %v", r.Added)
			}
			if got := m.read(tt.path); !bytes.Equal(got, routed) {
				t.Errorf("it is\n%s, want\n%s", got, routed)
			}
			u := m.restore()
			if got := m.read(tt.path); string(got) != tt.before || len(u.Problems) != 0 {
				t.Errorf("restored is\n%s, want\n%s (%+v)", got, tt.before, u)
			}
			for _, f := range u.Files {
				if f.How == setup.Merged {
					t.Errorf("%s was merged", f.Path)
				}
			}
		})
	}
}

// TestOneServerForHostsWithAndWithoutTrust: Claude Code asks whether the person trusts a folder. Gemini CLI has not asked, and
// Claude Desktop runs in no folder of the person's.
func TestOneServerForHostsWithAndWithoutTrust(t *testing.T) {
	for _, other := range []string{"home/.gemini/settings.json", "home/.config/Claude/claude_desktop_config.json", "home/.cursor/mcp.json"} {
		t.Run(other, func(t *testing.T) {
			m := newMachine(t)
			m.write("home/.claude.json", []byte(cursorFile))
			m.write(other, []byte(cursorFile))
			plan := m.find()
			if len(plan.Servers) != 1 || !strings.Contains(strings.Join(plan.Servers[0].Warnings, " "), "home folder for all of its hosts") {
				t.Fatalf("%+v", plan.Servers)
			}
			m.route()
			if own := m.read("assent/mcp.json"); bytes.Contains(own, []byte("cwd")) {
				t.Errorf("%s", own)
			}
		})
	}
}
