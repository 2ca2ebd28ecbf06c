package setup_test

import (
	"bytes"
	"strings"
	"testing"

	"assent/sidecar/config/managedfiles"
)

// A server that a host may not use, or not by an entry that starts Assent, stays as it is. Its neighbour is routed.
func TestAServerThatAnOrganisationBlocksIsLeftAlone(t *testing.T) {
	const claude, codex, gemini, vscode, copilot = "home/.claude.json", "home/.codex/config.toml", "home/.gemini/settings.json", "home/.config/Code/User/mcp.json", "home/.copilot/mcp-config.json"
	servers := map[string]string{
		claude: `{"mcpServers": {"s": {"command": "s", "args": ["${HOME}"]}}}`, gemini: `{"mcpServers": {"s": {"command": "s"}}}`,
		codex: "[mcp_servers.s]\ncommand = \"s\"\n", vscode: `{"servers": {"s": {"command": "s"}}}`, copilot: `{"mcpServers": {"s": {"url": "https://a.example/mcp"}}}`,
	}
	const (
		claudeFile  = "etc/claude-code/managed-settings.json"
		copilotFile = "etc/github-copilot/managed-settings.json"
		codexFile   = "etc/codex/requirements.toml"
		vscodeFile  = "etc/vscode/policy.json"
		geminiFile  = "etc/gemini-cli/settings.json"
		entry       = `{"serverCommand":["assent","gateway","--own","--host","claude-code","s"]}`
	)
	for _, tt := range []struct {
		name, host, file, text string
		want                   string // in the problem; empty if the server is routed
	}{
		{"Claude's exclusive set", claude, "etc/claude-code/managed-mcp.json", `{"mcpServers": {}}`, "mcpServers does not have this server"},
		{"another server is denied", claude, claudeFile, `{"deniedMcpServers": [{"serverName": "x"}]}`, ""},
		{"its name is denied", claude, claudeFile, `{"deniedMcpServers": [{"serverName": "s"}]}`, `entry {"serverName":"s"}`},
		{"its command is denied, as variables make it", claude, claudeFile, `{"deniedMcpServers": [{"serverCommand": ["s", "/home/ann"]}]}`, `"/home/ann"`},
		{"its command is denied to another host", codex, claudeFile, `{"deniedMcpServers": [{"serverCommand": ["s"]}]}`, "Blocked by your organisation"},
		{"Assent's entry is denied", claude, claudeFile, `{"deniedMcpServers": [` + entry + `]}`, "may not start Assent"},
		{"Assent's entry is denied to another host", gemini, claudeFile, `{"deniedMcpServers": [` + entry + `]}`, ""},
		{"its command alone is allowed", claude, claudeFile, `{"allowedMcpServers": [{"serverCommand": ["s", "${HOME}"]}]}`, "adds to that file: " + entry},
		{"its command and the entry are allowed", claude, claudeFile, `{"allowedMcpServers": [{"serverCommand": ["s", "${HOME}"]}, ` + entry + `]}`, ""},
		{"an empty allow list", claude, "etc/claude-code/managed-settings.d/10-mcp.json", `{"allowedMcpServers": []}`, "10-mcp.json"},
		{"a file that cannot be read", claude, claudeFile, `{"deniedMcpServers": [`, "cannot be used"},
		{"plugins alone", claude, claudeFile, `{"strictPluginOnlyCustomization": ["mcp"]}`, "strictPluginOnlyCustomization"},
		{"settings about something else", claude, claudeFile, `{"model": "opus", "allowManagedMcpServersOnly": false, "strictPluginOnlyCustomization": ["skills"]}`, ""},
		{"Codex's requirements", codex, codexFile, "[mcp_servers.shop.identity]\ncommand = \"shop\"\n", "mcp_servers does not have this server"},
		{"Codex's identity of the server", codex, codexFile, "[mcp_servers.s.identity]\ncommand = \"s\"\n", "may not start Assent"},
		{"Codex's identity of Assent's entry", codex, codexFile, "[mcp_servers.s.identity]\ncommand = \"assent\"\n", "mcp_servers does not have this server"},
		{"Codex's other requirements", codex, codexFile, "allowed_approval_policies = [\"never\"]\n", ""},
		{"Gemini's list without it", gemini, geminiFile, `{"mcp": {"allowed": ["shop"]}}`, "mcp.allowed"},
		{"Gemini's list with it", gemini, geminiFile, `{"mcp": {"allowed": ["s"]}}`, ""},
		{"Gemini takes an empty allow list as everything", gemini, geminiFile, `{"mcp": {"allowed": []}}`, ""},
		{"VS Code without servers", vscode, vscodeFile, `{"ChatMCP": "none"}`, "ChatMCP"},
		{"VS Code with all", vscode, vscodeFile, `{"ChatMCP": "all"}`, ""},
		{"Copilot's list holds for VS Code", vscode, copilotFile, `{"deniedMcpServers": [{"serverName": "s"}]}`, "github-copilot"},
		{"Copilot's URL", copilot, copilotFile, `{"allowedMcpServers": [{"serverUrl": "https://a.example/*"}]}`, `"--host","copilot-cli","s"]}`},
		{"the file of another host", copilot, "etc/claude-code/managed-mcp.json", `{}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.Policy = managedfiles.New(m.path("root"), []string{"HOME=/home/ann"})
			m.write("home/.cursor/mcp.json", []byte(cursorFile))
			m.write(tt.host, []byte(servers[tt.host]))
			m.write("root/"+tt.file, []byte(tt.text))
			plan := m.find()
			blocked := len(plan.Problems) == 1 && plan.Problems[0].Path == m.path(tt.host) &&
				strings.Contains(plan.Problems[0].Message, m.path("root/"+tt.file)) && strings.Contains(plan.Problems[0].Message, tt.want)
			if blocked != (tt.want != "") || tt.want == "" && len(plan.Problems) > 0 {
				t.Errorf("the problems are %+v", plan.Problems)
			}
			m.route()
			if stayed := bytes.Equal(m.read(tt.host), []byte(servers[tt.host])); stayed != (tt.want != "") {
				t.Errorf("the file stayed: %v", stayed)
			}
			if bytes.Equal(m.read("home/.cursor/mcp.json"), []byte(cursorFile)) {
				t.Error("its neighbour was not routed")
			}
		})
	}
}

// TestAServerThatThePersonDeniesIsLeftAlone: a denied command would not be seen in an entry that starts Assent.
func TestAServerThatThePersonDeniesIsLeftAlone(t *testing.T) {
	m := newMachine(t)
	m.Policy = managedfiles.New(m.path("root"), []string{"HOME=" + m.path("home")})
	const servers = `{"mcpServers": {"s": {"command": "s", "args": ["x"]}}}`
	for _, path := range []string{"home/.claude.json", "home/.cursor/mcp.json"} {
		m.write(path, []byte(servers))
	}
	m.write("home/.claude/settings.json", []byte(`{"deniedMcpServers": [{"serverCommand": ["s", "x"]}]}`))
	plan := m.find()
	if want := "Blocked by your own settings: " + m.path("home/.claude/settings.json"); len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Message, want) {
		t.Errorf("the problems are %+v", plan.Problems)
	}
	m.route()
	if !bytes.Equal(m.read("home/.claude.json"), []byte(servers)) {
		t.Error("Claude Code reaches the server through Assent")
	}
	if bytes.Equal(m.read("home/.cursor/mcp.json"), []byte(servers)) {
		t.Error("the server of another host was not routed")
	}
}

// TestAServerWhoseEntryThePersonDoesNotAllowIsLeftAlone: Claude Code would ignore the entry without a word.
func TestAServerWhoseEntryThePersonDoesNotAllowIsLeftAlone(t *testing.T) {
	const (
		servers = `{"mcpServers": {"s": {"command": "s", "args": ["x"]}}}`
		entry   = `{"serverCommand":["assent","gateway","--own","--host","claude-code","s"]}`
	)
	for own, want := range map[string]string{
		`{"allowedMcpServers": [{"serverCommand": ["s", "x"]}]}`:                          "To let it, add to the list there: " + entry,
		`{"allowedMcpServers": []}`:                                                       "To let it, add to the list there: " + entry,
		`{"allowedMcpServers": [{"serverName": "t"}]}`:                                    "To let it, add to the list there: " + entry,
		`{"allowedMcpServers": [{"serverName": "s"}]}`:                                    "",
		`{"allowedMcpServers": [{"serverCommand": ["s", "x"]}, ` + entry + `]}`:           "",
		`{"allowedMcpServers": "s", "deniedMcpServers": [{"serverCommand": ["s", "x"]}]}`: "entry {",
		`{"allowedMcpServers": "s"}`:                                                      "", // Claude Code leaves it out
	} {
		t.Run(own, func(t *testing.T) {
			m := newMachine(t)
			m.Policy = managedfiles.New(m.path("root"), []string{"HOME=" + m.path("home")})
			for _, path := range []string{"home/.claude.json", "home/.cursor/mcp.json"} {
				m.write(path, []byte(servers))
			}
			m.write("home/.claude/settings.json", []byte(own))
			plan := m.find()
			var said strings.Builder
			for _, p := range plan.Problems {
				said.WriteString(p.Message)
			}
			if from := "Blocked by your own settings: " + m.path("home/.claude/settings.json"); (want == "") != (said.String() == "") ||
				want != "" && !(strings.Contains(said.String(), from) && strings.Contains(said.String(), want)) {
				t.Errorf("setup says %q", said.String())
			}
			m.route()
			if stayed := bytes.Equal(m.read("home/.claude.json"), []byte(servers)); stayed != (want != "") {
				t.Errorf("the entry stayed: %v", stayed)
			}
			if bytes.Equal(m.read("home/.cursor/mcp.json"), []byte(servers)) {
				t.Error("the server of another host was not routed")
			}
		})
	}
}

// An organisation's list counts alone: what the person allows could only add to it.
func TestAPersonsListBesideAnOrganisations(t *testing.T) {
	m := newMachine(t)
	m.Policy = managedfiles.New(m.path("root"), []string{"HOME=" + m.path("home")})
	m.write("home/.claude.json", []byte(`{"mcpServers": {"s": {"command": "s"}}}`))
	m.write("home/.claude/settings.json", []byte(`{"allowedMcpServers": []}`))
	m.write("root/etc/claude-code/managed-settings.json", []byte(`{"allowedMcpServers": [{"serverName": "s"}]}`))
	if plan := m.find(); len(plan.Problems) > 0 || len(plan.Files) != 1 {
		t.Errorf("the plan is %v, with %+v", plan.Files, plan.Problems)
	}
}

// TestAServerIsNotSharedWithAHostThatDeniesIt: with --share, the others get it.
func TestAServerIsNotSharedWithAHostThatDeniesIt(t *testing.T) {
	m := newMachine(t)
	m.Policy, m.Share = managedfiles.New(m.path("root"), nil), true
	m.write("home/.cursor/mcp.json", []byte(`{"mcpServers": {"s": {"command": "s", "args": ["x"]}}}`))
	m.write("home/.claude.json", []byte(`{"mcpServers": {}}`))
	m.write("home/.gemini/settings.json", []byte(`{"mcpServers": {}}`))
	m.write("home/.codex/config.toml", nil)
	m.write("root/etc/claude-code/managed-settings.json", []byte(`{"deniedMcpServers": [{"serverName": "s"}]}`))
	m.write("root/etc/gemini-cli/system-defaults.json", []byte(`{"mcp": {"excluded": ["s"]}}`))
	plan := m.find()
	m.route()
	var said []string
	for _, p := range plan.Problems {
		said = append(said, p.Message)
	}
	for path, gets := range map[string]bool{"home/.claude.json": false, "home/.gemini/settings.json": false, "home/.codex/config.toml": true} {
		if got := bytes.Contains(m.read(path), []byte("gateway")); got != gets {
			t.Errorf("%s has the server: %v; setup says %q", path, got, said)
		}
	}
	if all := strings.Join(said, " "); !strings.Contains(all, "claude-code/managed-settings.json") || !strings.Contains(all, "system-defaults.json") {
		t.Errorf("setup says %q", said)
	}
}

// TestASecretInAnAllowedCommandStays: no list has a command with a sealed secret, so the server could not be used any more.
func TestASecretInAnAllowedCommandStays(t *testing.T) {
	m := newMachine(t)
	m.Policy = managedfiles.New(m.path("root"), []string{"HOME=/home/ann"})
	m.write("home/.claude.json", []byte(`{"mcpServers": {"s": {"command": "s", "args": ["--token", "pw7XYZq-4711"]}, "t": {"command": "t", "env": {"TOKEN": "pw7XYZq-4711"}}}}`))
	entries := `{"serverCommand":["assent","gateway","--own","--host","claude-code","s"]}, {"serverCommand":["assent","gateway","--own","--host","claude-code","t"]}`
	m.write("root/etc/claude-code/managed-settings.json", []byte(`{"allowedMcpServers": [{"serverCommand": ["s", "--token", "pw7XYZq-4711"]}, {"serverCommand": ["t"]}, `+entries+`]}`))
	plan := m.find()
	if len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Message, `The server "s" is left alone, because its secret would be sealed`) || len(plan.Files) != 1 {
		t.Errorf("the plan is %+v with %+v", plan.Files, plan.Problems)
	}
	if strings.Contains(plan.Problems[0].Message, "pw7XYZq-4711") {
		t.Error("the secret is shown")
	}
}

// Assent's own file can forbid setup, and sharing alone.
func TestAnOrganisationForbidsSetup(t *testing.T) {
	for text, moves := range map[string]bool{`{"setup": {"allowed": false}}`: false, `{"setup": {"share": false}}`: true, `{`: false} {
		m := newMachine(t)
		m.Policy, m.Share = managedfiles.New(m.path("root"), nil), true
		m.write("home/.cursor/mcp.json", []byte(cursorFile))
		m.write("home/.codex/config.toml", nil)
		m.write("root/etc/assent/policy.json", []byte(text))
		plan := m.find()
		if len(plan.Problems) == 0 || !strings.Contains(plan.Problems[0].Message, m.path("root/etc/assent/policy.json")) {
			t.Errorf("%s: the problems are %+v", text, plan.Problems)
		}
		m.route()
		if stayed := bytes.Equal(m.read("home/.cursor/mcp.json"), []byte(cursorFile)); stayed == moves {
			t.Errorf("%s: the file stayed: %v", text, stayed)
		}
		if len(m.read("home/.codex/config.toml")) > 0 {
			t.Errorf("%s: a server was shared", text)
		}
	}
}
