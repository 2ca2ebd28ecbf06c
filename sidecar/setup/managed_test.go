package setup_test

import (
	"bytes"
	"strings"
	"testing"
)

// A host whose servers the organisation limits stays as it is. Its neighbour is routed.
func TestAHostThatAnOrganisationLimitsIsLeftAlone(t *testing.T) {
	const claude, codex, gemini, vscode, copilot = "home/.claude.json", "home/.codex/config.toml", "home/.gemini/settings.json", "home/.config/Code/User/mcp.json", "home/.copilot/mcp-config.json"
	servers := map[string]string{
		claude: `{"mcpServers": {"s": {"command": "s"}}}`, gemini: `{"mcpServers": {"s": {"command": "s"}}}`,
		codex: "[mcp_servers.s]\ncommand = \"s\"\n", vscode: `{"servers": {"s": {"command": "s"}}}`, copilot: `{"mcpServers": {"s": {"command": "s"}}}`,
	}
	for _, tt := range []struct {
		name, host, file, text string
		limited                bool
	}{
		{"Claude's exclusive set", claude, "etc/claude-code/managed-mcp.json", `{"mcpServers": {}}`, true},
		{"Claude's deny list", claude, "etc/claude-code/managed-settings.json", `{"deniedMcpServers": [{"serverName": "x"}]}`, true},
		{"an empty allow list allows nothing", claude, "etc/claude-code/managed-settings.d/10-mcp.json", `{"allowedMcpServers": []}`, true},
		{"a file that cannot be read", claude, "etc/claude-code/managed-settings.json", `{"deniedMcpServers": [`, true},
		{"settings about something else", claude, "etc/claude-code/managed-settings.json", `{"model": "opus", "allowManagedMcpServersOnly": false}`, false},
		{"Codex's requirements", codex, "etc/codex/requirements.toml", "[mcp_servers.shop.identity]\ncommand = \"shop\"\n", true},
		{"Codex's other requirements", codex, "etc/codex/requirements.toml", "allowed_approval_policies = [\"never\"]\n", false},
		{"Gemini's allow list", gemini, "etc/gemini-cli/settings.json", `{"mcp": {"allowed": ["shop"]}}`, true},
		{"Gemini takes an empty allow list as everything", gemini, "etc/gemini-cli/settings.json", `{"mcp": {"allowed": []}}`, false},
		{"VS Code without servers", vscode, "etc/vscode/policy.json", `{"ChatMCP": "none"}`, true},
		{"VS Code with all", vscode, "etc/vscode/policy.json", `{"ChatMCP": "all"}`, false},
		{"Copilot's list holds for VS Code", vscode, "etc/github-copilot/managed-settings.json", `{"deniedMcpServers": []}`, true},
		{"Copilot's allow list", copilot, "etc/github-copilot/managed-settings.json", `{"allowedMcpServers": [{"serverCommand": ["s"]}]}`, true},
		{"the file of another host", copilot, "etc/claude-code/managed-mcp.json", `{}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.write("home/.cursor/mcp.json", []byte(cursorFile))
			m.write(tt.host, []byte(servers[tt.host]))
			m.write("root/"+tt.file, []byte(tt.text))
			plan := m.find()
			named := len(plan.Problems) == 1 && plan.Problems[0].Path == m.path(tt.host) && strings.Contains(plan.Problems[0].Message, m.path("root/"+tt.file))
			if named != tt.limited || !tt.limited && len(plan.Problems) > 0 {
				t.Errorf("the problems are %+v", plan.Problems)
			}
			m.route()
			if stayed := bytes.Equal(m.read(tt.host), []byte(servers[tt.host])); stayed != tt.limited {
				t.Errorf("the file stayed: %v, want %v", stayed, tt.limited)
			}
			if bytes.Equal(m.read("home/.cursor/mcp.json"), []byte(cursorFile)) {
				t.Error("its neighbour was not routed")
			}
		})
	}
}
