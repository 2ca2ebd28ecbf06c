package workspace_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/gateway"
	"assent/sidecar/gateway/hosts"
	"assent/sidecar/workspace"
)

// governed is a workspace with the servers "github" and "shop" on a machine with an organisation's files.
type governed struct {
	t *testing.T
	*workspace.Workspace
	// root stands for the root of the file system. data keeps what the workspace keeps.
	root, data, program string
	// servers are the own servers, as JSON, for "github" of its program alone and "shop" with an argument.
	servers string
}

func newGoverned(t *testing.T) *governed {
	t.Helper()
	g := &governed{t: t, root: t.TempDir(), data: t.TempDir(), program: installToolServer(t)}
	server := func(name string, args ...string) map[string]any {
		return map[string]any{"command": g.program, "args": args, "env": map[string]any{"TOOLSERVER_CALLS": g.mark(name), "TOOLSERVER_MARK": g.mark(name) + ".started"}}
	}
	servers, err := json.Marshal(map[string]any{"github": server("github"), "shop": server("shop", "shop")})
	if err != nil {
		t.Fatal(err)
	}
	g.servers = fmt.Sprintf(`{"servers":%s,"model":{}}`, servers)
	g.open()
	return g
}

func (g *governed) open() {
	g.Workspace, _ = openWorkspace(g.t, workspace.Options{DataDir: g.data, SharedDirs: workspace.SharedDirs{PolicyRoot: g.root}})
}

// mark is the file that a server writes when one of its tools is called.
func (g *governed) mark(server string) string { return filepath.Join(g.data, server+".called") }

// wasCalled reports whether a tool of a server was called since the last question.
func (g *governed) wasCalled(server string) bool { return g.had(g.mark(server)) }

// wasStarted reports whether a server was started since the last question.
func (g *governed) wasStarted(server string) bool { return g.had(g.mark(server) + ".started") }

// had reports whether there was a file, and removes it.
func (g *governed) had(file string) bool {
	g.t.Helper()
	err := os.Remove(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		g.t.Fatal(err)
	}
	return err == nil
}

// lay writes an organisation's file, in which $PROGRAM stands for the servers' program.
func (g *governed) lay(path, text string) {
	g.t.Helper()
	path = filepath.Join(g.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		g.t.Fatal(err)
	}
	text = strings.ReplaceAll(text, "$PROGRAM", g.program)
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		g.t.Fatal(err)
	}
}

// testHost is a host that speaks MCP with the workspace.
type testHost struct {
	t      *testing.T
	lines  chan string
	conn   net.Conn
	served chan error
	last   int
	early  []string // that came before they were waited for
}

// host attaches a host: the name of its client, and what its entry says.
func (g *governed) host(client string, use hosts.Use) *testHost {
	g.t.Helper()
	if len(use.Configuration.WorkspaceFolders) == 0 {
		if err := json.Unmarshal([]byte(g.servers), &use.Configuration); err != nil {
			g.t.Fatal(err)
		}
	}
	near, far := net.Pipe()
	h := &testHost{t: g.t, conn: near, lines: make(chan string, 1000), served: make(chan error, 1)}
	go func() { h.served <- g.AttachHost(context.Background(), far, use) }()
	go func() {
		defer close(h.lines)
		for in := bufio.NewScanner(near); in.Scan(); {
			h.lines <- in.Text()
		}
	}()
	h.last = 1
	h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":%q,"version":"1"}}}`, client))
	return h
}

func (h *testHost) send(frame string) {
	h.t.Helper()
	if _, err := h.conn.Write([]byte(frame + "\n")); err != nil {
		h.t.Fatal(err)
	}
}

// call sends a request.
func (h *testHost) call(method, params string) (id int) {
	h.t.Helper()
	h.last++
	h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, h.last, method, params))
	return h.last
}

// until returns the first frame with a text.
func (h *testHost) until(text string) string {
	h.t.Helper()
	has := func(line string) bool { return strings.Contains(line, text) }
	if at := slices.IndexFunc(h.early, has); at >= 0 {
		line := h.early[at]
		h.early = slices.Delete(h.early, at, at+1)
		return line
	}
	for line := range h.lines {
		if has(line) {
			return line
		}
		h.early = append(h.early, line)
	}
	h.t.Fatalf("the host got no %s", text)
	return ""
}

// answer returns the answer to a request, or to the handshake if that is 1.
func (h *testHost) answer(id int) string {
	h.t.Helper()
	return h.until(fmt.Sprintf(`"id":%d,`, id))
}

func (h *testHost) leave() {
	h.t.Helper()
	if err := h.conn.Close(); err != nil {
		h.t.Error(err)
	}
	<-h.served
	for range h.lines {
	}
}

// overHTTP calls a tool of a server as a host over HTTP, and returns the answers.
func (g *governed) overHTTP(client, server, tool string) (got string) {
	g.t.Helper()
	use := hosts.Use{Server: server}
	if err := json.Unmarshal([]byte(g.servers), &use.Configuration); err != nil {
		g.t.Fatal(err)
	}
	session := ""
	for _, frame := range []string{
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":%q,"version":"1"}}}`, client),
		fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, tool),
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(frame))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		w := httptest.NewRecorder()
		g.ServeHost(w, r, "token", use)
		session = w.Header().Get("Mcp-Session-Id")
		got += w.Body.String()
	}
	return got
}

// folders are the ways in which a folder configures the same servers: its own files, and a file that is named. The person
// vouches for all of them.
func (g *governed) folders() (all []protocol.WorkspaceFolder) {
	g.t.Helper()
	folder := g.t.TempDir()
	var servers struct{ Servers json.RawMessage }
	if err := json.Unmarshal([]byte(g.servers), &servers); err != nil {
		g.t.Fatal(err)
	}
	for _, path := range []string{".vscode/mcp.json", ".mcp.json", "named.json"} {
		member := "servers"
		if path == ".mcp.json" {
			member = "mcpServers"
		}
		path = filepath.Join(folder, filepath.Dir(path)+"-of", path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			g.t.Fatal(err)
		}
		if err := os.WriteFile(path, fmt.Appendf(nil, `{%q:%s}`, member, servers.Servers), 0o600); err != nil {
			g.t.Fatal(err)
		}
		root, file, _ := strings.Cut(path, "-of/")
		f := protocol.WorkspaceFolder{Name: "f", Path: root + "-of", Confirmed: true}
		if file == "named.json" {
			f.ConfigFile = path
		}
		all = append(all, f)
	}
	return all
}

const blocks = "Blocked by your organisation"

func TestAHostUsesWhatItsOrganisationAllows(t *testing.T) {
	const (
		claude  = "etc/claude-code/managed-settings.json"
		copilot = "etc/github-copilot/managed-settings.json"
		vscode  = "etc/vscode/policy.json"
		own     = "etc/assent/policy.json"
	)
	deniesName := `{"deniedMcpServers": [{"serverName": "github"}]}`
	for _, tt := range []struct {
		name, file, text string
		client, program  string
		github, shop     bool // may be used
	}{
		{"no file", "etc/other", "", "claude-code", "claude-code", true, true},
		{"a denied name", claude, deniesName, "claude-code", "", false, true},
		{"a denied name, by the entry", claude, deniesName, "something", "claude-code", false, true},
		{"a denied name, by the client", claude, deniesName, "claude-code", "codex", false, true},
		{"a denied name, for another host", claude, deniesName, "codex-mcp-client", "codex", true, true},
		{"a denied name, for an unknown host", claude, deniesName, "something", "", true, true},
		{"a denied command, for an unknown host", claude, `{"deniedMcpServers": [{"serverCommand": ["$PROGRAM"]}]}`, "something", "", false, true},
		{"an allow list", claude, `{"allowedMcpServers": [{"serverCommand": ["$PROGRAM", "shop"]}]}`, "claude-code", "", false, true},
		{"a list of the entry that setup writes", claude, `{"allowedMcpServers": [{"serverCommand": ["assent", "gateway", "github"]}]}`, "claude-code", "", false, false},
		{"an exclusive set without them", "etc/claude-code/managed-mcp.json", `{"mcpServers": {}}`, "claude-code", "", false, false},
		{"an exclusive set with one", "etc/claude-code/managed-mcp.json", `{"mcpServers": {"shop": {"command": "assent", "args": ["gateway", "shop"]}}}`, "claude-code", "", false, true},
		{"a broken file", claude, `{`, "claude-code", "", false, false},
		{"a broken file of another host", claude, `{`, "copilot-cli", "", true, true},
		{"Copilot's list", copilot, `{"allowedMcpServers": [{"serverName": "shop"}]}`, "copilot-cli", "", false, true},
		{"Copilot's list for VS Code", copilot, deniesName, "Visual Studio Code", "", false, true},
		{"Codex", "etc/codex/requirements.toml", "[mcp_servers.shop.identity]\ncommand = \"$PROGRAM\"\n", "codex-mcp-client-1", "", false, true},
		{"Gemini", "etc/gemini-cli/settings.json", `{"mcp": {"excluded": ["github"]}}`, "gemini-cli-mcp-client", "", false, true},
		{"Gemini's defaults", "etc/gemini-cli/system-defaults.json", `{"mcp": {"excluded": ["github"]}}`, "gemini-cli-mcp-client", "", false, true},
		{"a list in Gemini's defaults", "etc/gemini-cli/system-defaults.json", `{"mcp": {"allowed": ["shop"]}}`, "gemini-cli-mcp-client", "", false, true},
		{"Qwen Code's defaults", "etc/qwen-code/system-defaults.json", `{"mcp": {"allowed": ["x"], "excluded": ["git*"]}, "allowMCPServers": []}`, "", "qwen-code", false, true},
		{"what Gemini's vendor forbids", "etc/gemini-cli/settings.json", `{"admin": {"mcp": {"enabled": false}}}`, "gemini-cli-mcp-client", "", false, false},
		{"Qwen Code", "etc/qwen-code/settings.json", `{"mcp": {"excluded": ["git*"]}}`, "qwen-cli-mcp-client-github", "", false, true},
		{"VS Code has none", vscode, `{"ChatMCP": "none"}`, "Visual Studio Code", "vscode", false, false},
		{"Assent's own", own, `{"servers": {"denied": [{"serverName": "github"}]}}`, "something", "", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGoverned(t)
			g.lay(tt.file, tt.text)
			for server, may := range map[string]bool{"github": tt.github, "shop": tt.shop} {
				h := g.host(tt.client, hosts.Use{Server: server, Program: tt.program})
				hello := h.answer(1)
				if blocked := strings.Contains(hello, blocks) && strings.Contains(hello, tt.file); blocked == may {
					t.Errorf("%s: the handshake's answer is %s", server, hello)
				}
				if may {
					h.answer(h.call("tools/call", `{"name":"echo","arguments":{}}`))
				}
				if g.wasCalled(server) != may {
					t.Errorf("%s was called: %v", server, !may)
				}
				h.leave()
			}
			all := g.host(tt.client, hosts.Use{Program: tt.program})
			all.answer(1)
			list := all.answer(all.call("tools/list", `{}`))
			for server, may := range map[string]bool{"github": tt.github, "shop": tt.shop} {
				if strings.Contains(list, server+"__echo") != may {
					t.Errorf("%s is listed: %v", server, !may)
				}
				answer := all.answer(all.call("tools/call", fmt.Sprintf(`{"name":"%s__echo","arguments":{}}`, server)))
				if strings.Contains(answer, blocks) == may || g.wasCalled(server) != may {
					t.Errorf("%s was called by its name: %s", server, answer)
				}
			}
			all.leave()
			g.Close()
		})
	}
}

// TestWhatAPersonDeniesToClaudeCodeHoldsInItsSessions has a denial that comes while a call waits.
func TestWhatAPersonDeniesToClaudeCodeHoldsInItsSessions(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	g := newGoverned(t)
	claude, other := g.host("claude-code", hosts.Use{Server: "github"}), g.host("something", hosts.Use{Server: "github"})
	claude.answer(1)
	other.answer(1)
	waits := claude.call("tools/call", `{"name":"ask","arguments":{}}`)
	desk := seat(t, g.Workspace, "a window", shows, g.servers)
	for asks := 0; asks == 0; { // until the call has asked
		var open protocol.ListOpenAsksResult
		desk.result(desk.ask("ask/list", "null"), &open)
		asks = len(open.Asks)
	}
	settings := filepath.Join(home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"deniedMcpServers": [{"serverCommand": [%q]}]}`, g.program)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const words = "Blocked by your own settings"
	if answer := claude.answer(waits); !strings.Contains(answer, words) || !strings.Contains(answer, settings) {
		t.Errorf("the call ended with %s", answer)
	}
	g.wasCalled("github")
	if answer := claude.answer(claude.call("tools/call", `{"name":"echo","arguments":{}}`)); !strings.Contains(answer, words) || g.wasCalled("github") {
		t.Errorf("the next call is answered with %s", answer)
	}
	if answer := other.answer(other.call("tools/call", `{"name":"echo","arguments":{}}`)); strings.Contains(answer, words) || !g.wasCalled("github") {
		t.Errorf("another host's call is answered with %s", answer)
	}
	claude.leave()
	other.leave()
	desk.leave()
	g.Close()
}

// TestAListThatWasKeptDoesNotReachABlockedServer has a host that got the tools before a restart and a new policy.
func TestAListThatWasKeptDoesNotReachABlockedServer(t *testing.T) {
	g := newGoverned(t)
	h := g.host("claude-code", hosts.Use{})
	h.answer(1)
	if list := h.answer(h.call("tools/list", `{}`)); !strings.Contains(list, "github__echo") {
		t.Fatal(list)
	}
	h.leave()
	g.Close()
	g.lay("etc/claude-code/managed-settings.json", `{"deniedMcpServers": [{"serverName": "github"}]}`)
	g.open()
	h = g.host("claude-code", hosts.Use{})
	h.answer(1)
	for _, request := range []string{
		`tools/call {"name":"github__echo","arguments":{}}`, `prompts/get {"name":"github__x"}`,
		`completion/complete {"ref":{"type":"ref/prompt","name":"github__x"},"argument":{"name":"a","value":""}}`,
	} {
		method, params, _ := strings.Cut(request, " ")
		if answer := h.answer(h.call(method, params)); strings.Contains(answer, `"result"`) {
			t.Errorf("%s: %s", request, answer)
		}
	}
	if g.wasCalled("github") {
		t.Error("the blocked server was called")
	}
	h.leave()
	g.Close()
}

// TestAPolicyThatChangesEndsCalls has a call of a host that waits, and one of a host that the change does not concern.
func TestAPolicyThatChangesEndsCalls(t *testing.T) {
	g := newGoverned(t)
	claude, other := g.host("claude-code", hosts.Use{Server: "github"}), g.host("something", hosts.Use{Server: "github"})
	claude.answer(1)
	other.answer(1)
	waits, goesOn := claude.call("tools/call", `{"name":"ask","arguments":{}}`), other.call("tools/call", `{"name":"ask","arguments":{}}`)
	desk := seat(t, g.Workspace, "a window", shows, g.servers)
	open := func() (asks []protocol.OpenAsk) {
		var list protocol.ListOpenAsksResult
		desk.result(desk.ask("ask/list", "null"), &list)
		return list.Asks
	}
	for len(open()) < 2 { // until both calls have asked
	}
	g.lay("etc/claude-code/managed-settings.json", `{"deniedMcpServers": [{"serverName": "github"}]}`)
	if answer := claude.answer(waits); !strings.Contains(answer, blocks) || !strings.Contains(answer, "managed-settings.json") {
		t.Errorf("the call that the organisation ended: %s", answer)
	}
	claude.until("notifications/tools/list_changed")
	asks := open()
	if len(asks) != 1 {
		t.Fatalf("%d asks are open, want that of the other host", len(asks))
	}
	// The server is denied for all now.
	g.lay("etc/assent/policy.json", `{"servers": {"denied": [{"serverName": "github"}]}, "message": "Ask it@corp.example"}`)
	if answer := other.answer(goesOn); !strings.Contains(answer, blocks) || !strings.Contains(answer, "Ask it@corp.example") {
		t.Errorf("the call that the organisation ended: %s", answer)
	}
	for {
		var servers protocol.ServersChangedParams
		desk.result(desk.ask("server/list", "null"), &servers)
		// It fails if something has tried to start it since.
		if github := servers.Servers[0]; github.State == protocol.ServerStopped || github.State == protocol.ServerFailed {
			if !strings.Contains(github.Blocked, "policy.json") || servers.Servers[1].Blocked != "" {
				t.Errorf("the list says %q and %q", github.Blocked, servers.Servers[1].Blocked)
			}
			break
		}
	}
	var journal protocol.ListJournalResult
	desk.result(desk.ask("journal/list", `{"kind":"serverBlocked"}`), &journal)
	if len(journal.Records) == 0 || !strings.Contains(string(journal.Records[0].Body), `"policy":"`) {
		t.Errorf("the journal has %+v", journal.Records)
	}
	desk.leave()
	claude.leave()
	other.leave()
	g.Close()
}

// TestThePanelIsAHostOfTheOrganisationsToo has VS Code's own policies, which hold for its windows and not for other hosts.
func TestThePanelIsAHostOfTheOrganisationsToo(t *testing.T) {
	g := newGoverned(t)
	g.lay("etc/vscode/policy.json", `{"ChatDeniedMcpServers": [{"serverName": "github"}]}`)
	terminal := seat(t, g.Workspace, "a terminal", shows, g.servers)
	var started protocol.Server
	terminal.result(terminal.ask("server/start", `{"serverName":"github"}`), &started)
	window := seat(t, g.Workspace, "VS Code", shows, g.servers)
	for _, method := range []string{"server/start", "server/restart", "tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
		window.refused(window.ask(method, `{"serverName":"github"}`), protocol.CodeServerFailed, blocks)
	}
	var list protocol.ServersChangedParams
	window.result(window.ask("server/list", "null"), &list)
	if !strings.Contains(list.Servers[0].Blocked, "vscode/policy.json") {
		t.Errorf("the list says %q", list.Servers[0].Blocked)
	}
	var task protocol.Task
	window.result(window.ask("task/create", `{"title":"T"}`), &task)
	window.answer(window.ask("call/start", fmt.Sprintf(`{"taskId":%q,"serverName":"github","request":{"type":"tools/call","toolName":"echo","arguments":{}}}`, task.ID)))
	for {
		var opened protocol.OpenTaskResult
		window.result(window.ask("task/open", fmt.Sprintf(`{"taskId":%q}`, task.ID)), &opened)
		if call := opened.Messages[0].Body.(protocol.Call); call.Result != nil {
			if lost, ok := call.Result.(protocol.CallLost); !ok || !strings.Contains(lost.Reason, blocks) {
				t.Errorf("the call ended with %+v", call.Result)
			}
			break
		}
	}
	h := g.host("claude-code", hosts.Use{Server: "github"})
	h.answer(1)
	if g.wasCalled("github") {
		t.Error("the panel called a blocked server")
	}
	if answer := h.answer(h.call("tools/call", `{"name":"echo","arguments":{}}`)); !g.wasCalled("github") {
		t.Errorf("VS Code's policy stopped another host: %s", answer)
	}
	h.leave()
	window.leave()
	terminal.leave()
	g.Close()
}

// TestAWindowSaysThePoliciesOfVSCode has policies that are in no file, such as those of a registry. Hosts that call themselves
// VS Code have none.
func TestAWindowSaysThePoliciesOfVSCode(t *testing.T) {
	g := newGoverned(t)
	with := func(policies string) string {
		if policies == "" {
			return g.servers
		}
		return strings.Replace(g.servers, `"model":{}`, `"model":{},"editorPolicies":`+policies, 1)
	}
	window := seat(t, g.Workspace, "VS Code", shows, with(`{"ChatMCP":"all"}`))
	blocked := func(server string) bool {
		var list protocol.ServersChangedParams
		window.result(window.ask("server/list", "null"), &list)
		i := slices.IndexFunc(list.Servers, func(s protocol.Server) bool { return s.Name == server })
		return strings.Contains(list.Servers[i].Blocked, "the settings of VS Code")
	}
	for _, tt := range []struct {
		policies     string
		github, shop bool
	}{
		{`{"ChatMCP":"all"}`, false, false},
		{`{"ChatMCP":"none"}`, true, true},
		{``, false, false},
		{`{"ChatMCP":"all","ChatDeniedMcpServers":[{"serverName":"github"}]}`, true, false},
		{`{"ChatMCP":"all","ChatDeniedMcpServers":"[{\"serverName\":\"github\"}]"}`, true, false},
		{`{"ChatMCP":"all","ChatAllowedMcpServers":[{"serverName":"shop"}]}`, true, false},
		{`{"ChatMCP":"all","ChatAllowedMcpServers":{}}`, true, true},
		{`"none"`, true, true},
	} {
		window.send(`{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":` + with(tt.policies) + `}`)
		for _, use := range []hosts.Use{{}, {Program: "VS Code"}} {
			h := g.host("VS Code", use)
			h.answer(1)
			h.leave()
		}
		if github, shop := blocked("github"), blocked("shop"); github != tt.github || shop != tt.shop {
			t.Errorf("%s: github is blocked: %v, shop is: %v", tt.policies, github, shop)
		}
	}
	window.refused(window.ask("server/start", `{"serverName":"github"}`), protocol.CodeServerFailed, "the settings of VS Code")
	window.leave()
	g.Close()
}

// TestAssentsOwnFileRestrictsMoreThanServers has the members that hosts, models, the journal and approvals meet.
func TestAssentsOwnFileRestrictsMoreThanServers(t *testing.T) {
	g := newGoverned(t)
	g.lay("etc/assent/policy.json", `{"gateway": {"http": false, "answerIn": ["assent"]}, "approvals": {"grants": true}}`)
	desk := seat(t, g.Workspace, "a window", shows, strings.Replace(g.servers, `"model":{}`,
		`"model":{"endpoints":[{"provider":"openai","baseUrl":"https://evil.example/v1","models":["m"]}]},"tools":{"autoApprove":"readOnly"}`, 1))
	list := func() (l protocol.ServersChangedParams) {
		desk.result(desk.ask("server/list", "null"), &l)
		return l
	}
	var made protocol.Grant
	desk.result(desk.ask("grant/create", `{"serverName":"shop","models":["*"],"maxRequests":9}`), &made)

	// A question is answered in Assent, although the host's entry says otherwise.
	h := g.host("claude-code", hosts.Use{Server: "shop", AnswerIn: gateway.AnswerInHost})
	h.answer(1)
	asking := h.call("tools/call", `{"name":"ask","arguments":{}}`)
	for asks := 0; asks == 0; {
		var open protocol.ListOpenAsksResult
		desk.result(desk.ask("ask/list", "null"), &open)
		asks = len(open.Asks)
	}

	web := httptest.NewRecorder()
	g.ServeHost(web, httptest.NewRequest(http.MethodPost, "/", nil), "token", hosts.Use{})
	if web.Code != http.StatusForbidden || !strings.Contains(web.Body.String(), blocks) {
		t.Errorf("a host over HTTP got %d %s", web.Code, web.Body)
	}

	g.lay("etc/assent/policy.json", `{"gateway": {"allowed": false}, "approvals": {"grants": false, "toolsAutoApprove": "never"},
		"models": {"endpoints": ["https://llm.corp.example/*"]}}`)
	if answer := h.answer(asking); !strings.Contains(answer, blocks) || !strings.Contains(answer, "gateway.allowed") {
		t.Errorf("the call of a host that may use Assent no more: %s", answer)
	}
	for len(list().Problems) == 0 { // until the workspace has seen it
	}
	if problem := list().Problems[0].Message; !strings.Contains(problem, "evil.example") || !strings.Contains(problem, "models.endpoints") {
		t.Errorf("the problem is %s", problem)
	}
	for _, use := range []hosts.Use{{}, {Server: "shop"}} {
		late := g.host("something", use)
		if hello := late.answer(1); !strings.Contains(hello, blocks) {
			t.Errorf("a host's handshake: %s", hello)
		}
		late.leave()
	}
	var entries protocol.ListPolicyResult
	desk.result(desk.ask("policy/list", "null"), &entries)
	asleep := 0
	for _, e := range entries.Entries {
		if strings.Contains(e.Head().Asleep, blocks) {
			asleep++
		}
	}
	if asleep != 2 {
		t.Errorf("%d entries sleep, want the grant and the setting: %+v", asleep, entries.Entries)
	}
	desk.refused(desk.ask("grant/create", `{"serverName":"shop","models":["*"],"maxRequests":9}`), protocol.CodeInvalidAnswer, blocks)
	h.leave()
	desk.leave()
	g.Close()
}

// TestNoWalkReachesABlockedServer has hosts that come, ask, and call by all ways, while the workspace restarts and the files
// change. After each step, a server was started or called only if the files let it be.
func TestNoWalkReachesABlockedServer(t *testing.T) {
	// Each file blocks "github" for some hosts: all that no one exempts.
	files := []struct {
		path, text string
		exempt     []string
	}{
		{"etc/claude-code/managed-settings.json", `{"deniedMcpServers": [{"serverName": "github"}]}`, []string{"codex", ""}},
		{"etc/claude-code/managed-settings.json", `{"allowedMcpServers": [{"serverCommand": ["$PROGRAM", "shop"]}]}`, []string{"codex", ""}},
		{"etc/claude-code/managed-settings.json", `{"deniedMcpServers": [{"serverCommand": ["$PROGRAM"]}]}`, nil},
		{"etc/claude-code/managed-mcp.json", `{"mcpServers": {"shop": {"command": "assent", "args": ["gateway", "shop"]}}}`, []string{"codex", ""}},
		{"etc/codex/requirements.toml", "[mcp_servers.shop.identity]\ncommand = \"$PROGRAM\"\n", []string{"claude-code", ""}},
		{"etc/assent/policy.json", `{"servers": {"denied": [{"serverName": "github"}]}}`, nil},
		{"etc/assent/policy.json", `{"servers": {"allowed": [{"serverCommand": ["$PROGRAM", "shop"]}]}}`, nil},
		{"etc/assent/policy.json", `{`, nil},
	}
	seed := int64(44)
	if given, err := strconv.ParseInt(os.Getenv("ASSENT_SEED"), 10, 64); err == nil {
		seed = given
	}
	t.Logf("ASSENT_SEED=%d repeats this walk, and another number makes another one", seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	g := newGoverned(t)
	at := -1 // the file that is there, or none
	calls := []string{"tools/call", "prompts/get", "resources/read", "resources/subscribe", "completion/complete"}
	reached, blocked, never := 0, 0, 0
	folders := g.folders()
	// The sessions since the workspace was opened. It has ended all that they began only once it is closed.
	open := ""
	restart := func() {
		g.Close()
		if g.wasStarted("github") && !strings.Contains(open, "may") {
			t.Fatalf("a blocked server was started, by one of:%s", open)
		}
		if strings.Contains(open, "blocked") && !strings.Contains(open, "may") {
			never++
		}
		open = ""
		g.open()
	}
	for range 60 {
		switch random.IntN(3) {
		case 0: // another file
			if at >= 0 {
				if err := os.Remove(filepath.Join(g.root, files[at].path)); err != nil {
					t.Fatal(err)
				}
			}
			if at = random.IntN(len(files)+1) - 1; at >= 0 {
				g.lay(files[at].path, files[at].text)
			}
			continue
		case 1:
			if random.IntN(2) == 0 {
				restart()
			}
		}
		program := []string{"claude-code", "codex", ""}[random.IntN(3)]
		use := hosts.Use{Program: program, Server: []string{"", "github"}[random.IntN(2)], Own: random.IntN(2) == 0}
		if at := random.IntN(len(folders) * 2); at < len(folders) {
			use.Own, use.Configuration.WorkspaceFolders = false, folders[at:at+1]
		}
		use.Own = use.Own && use.Server != ""
		may := at < 0 || slices.Contains(files[at].exempt, program)
		h := g.host("something", use)
		hello := h.answer(1)
		prefix := "github__"
		if use.Server != "" {
			prefix = ""
			if strings.Contains(hello, blocks) == may {
				t.Fatalf("file %d, %+v: the handshake says %s", at, use, hello)
			}
		}
		for range 3 {
			switch random.IntN(3) {
			case 0:
				if list := h.answer(h.call("tools/list", `{}`)); strings.Contains(list, prefix+"echo") != may {
					t.Fatalf("file %d, %+v: the list is %s", at, use, list)
				}
			case 1:
				h.answer(h.call(calls[random.IntN(len(calls))], fmt.Sprintf(`{"name":"%secho","uri":"memo://note","arguments":{}}`, prefix)))
			case 2:
				h.answer(h.call("tools/call", fmt.Sprintf(`{"name":"%secho","arguments":{"text":"x"}}`, prefix)))
			}
		}
		h.leave()
		if random.IntN(4) == 0 { // over HTTP, the client's name alone says which host it is
			client := map[string]string{"claude-code": "claude-code", "codex": "codex-mcp-client", "": "something"}[program]
			if got := g.overHTTP(client, use.Server, prefix+"echo"); strings.Contains(got, blocks) == may {
				t.Fatalf("file %d, %+v: over HTTP it got %s", at, use, got)
			}
		}
		switch called := g.wasCalled("github"); {
		case called && !may:
			t.Fatalf("file %d, %+v: a blocked server was called", at, use)
		case called:
			reached++
		case !may:
			blocked++
		}
		open += fmt.Sprintf("\nfile %d, %s: %+v", at, map[bool]string{true: "may", false: "blocked"}[may], use)
	}
	restart()
	g.Close()
	if reached == 0 || blocked == 0 || never == 0 {
		t.Errorf("%d steps reached the server, %d were blocked, and %d workspaces never started it: the walk tries too little", reached, blocked, never)
	}
}

// TestAnAllowListSeesTheVariablesOfTheSession: a variable of the host makes the command of the person's own server. A list of
// allowed commands counts for what each session starts.
func TestAnAllowListSeesTheVariablesOfTheSession(t *testing.T) {
	g := &governed{t: t, root: t.TempDir(), data: t.TempDir(), program: installToolServer(t), servers: `{"servers":{},"model":{}}`}
	userFile := filepath.Join(t.TempDir(), "mcp.json")
	own := fmt.Sprintf(`{"servers": {"own": {"command": %q, "args": ["${env:WHICH}"], "env": {"TOOLSERVER_CALLS": %q}}}}`, g.program, g.mark("own"))
	if err := os.WriteFile(userFile, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	g.Workspace, _ = openWorkspace(t, workspace.Options{DataDir: g.data, UserFile: userFile, SharedDirs: workspace.SharedDirs{PolicyRoot: g.root}})
	defer g.Close()
	g.lay("etc/claude-code/managed-settings.json", `{"allowedMcpServers": [{"serverCommand": ["$PROGRAM", "shop"]}]}`)
	session := func(which string) *testHost {
		return g.host("claude-code", hosts.Use{Server: "own", Own: true, Program: "claude-code", Environ: append(os.Environ(), "WHICH="+which)})
	}
	denied := session("github")
	defer denied.leave()
	if hello := denied.answer(1); !strings.Contains(hello, blocks) {
		t.Errorf("another command is answered with %s", hello)
	}
	allowed := session("shop")
	defer allowed.leave()
	if answer := allowed.answer(1); strings.Contains(answer, blocks) {
		t.Errorf("the allowed command is answered with %s", answer)
	}
	allowed.answer(allowed.call("tools/call", `{"name":"echo","arguments":{}}`))
	if !g.wasCalled("own") {
		t.Error("the allowed command was not called")
	}
	// The last session may use the server. The one before it still may not.
	denied.answer(denied.call("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-code","version":"1"}}`))
	if answer := denied.answer(denied.call("tools/call", `{"name":"echo","arguments":{}}`)); !strings.Contains(answer, blocks) || g.wasCalled("own") {
		t.Errorf("the call of another command is answered with %s", answer)
	}
}

// TestAServerThatAnOrganisationBlocksIsNotImported has two servers of another program. The list of what can be imported says
// that one of them is blocked, and nothing is imported together with it.
func TestAServerThatAnOrganisationBlocksIsNotImported(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	g := newGoverned(t)
	g.lay("etc/assent/policy.json", `{"servers": {"denied": [{"serverUrl": "https://evil.example"}]}, "message": "Ask it@corp.example"}`)
	path := filepath.Join(home, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"mcpServers": {"bad": {"url": "https://evil.example/mcp"}, "good": {"url": "https://good.example/mcp"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	desk := seat(t, g.Workspace, "a window", shows, fmt.Sprintf(`{"workspaceFolders":[{"name":"p","path":%q}],"servers":{},"model":{}}`, project))
	var found protocol.FindImportsResult
	desk.result(desk.ask("import/find", `{}`), &found)
	if len(found.Sources) != 1 || len(found.Sources[0].Servers) != 2 {
		t.Fatalf("found %+v", found)
	}
	for _, s := range found.Sources[0].Servers {
		if warned := strings.Contains(strings.Join(s.Warnings, " "), "Ask it@corp.example"); warned != (s.Name == "bad") {
			t.Errorf("of %s it says %q", s.Name, s.Warnings)
		}
	}
	choose := func(names ...string) string {
		var all []string
		for _, name := range names {
			all = append(all, fmt.Sprintf(`{"path":%q,"name":%q}`, path, name))
		}
		return fmt.Sprintf(`{"folder":%q,"servers":[%s]}`, project, strings.Join(all, ","))
	}
	desk.refused(desk.ask("import/apply", choose("good", "bad")), protocol.CodeInvalidParams, `leave out the server "bad". Blocked by your organisation`)
	if _, err := os.Lstat(filepath.Join(project, ".vscode", "mcp.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was imported: %v", err)
	}
	var imported protocol.ImportResult
	desk.result(desk.ask("import/apply", choose("good")), &imported)
	if !slices.Equal(imported.Imported, []string{"good"}) {
		t.Errorf("imported %+v", imported)
	}
	desk.leave()
	g.Close()
}
