package orgpolicy_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"assent/sidecar/config/orgpolicy"
)

// home is the only variable of the tests' environment.
func home(name string) (string, bool) { return "/home/ann", name == "HOME" }

// TestVerdicts holds the verdicts against a table. Where Assent is stricter than the host, or a file is not an
// organisation's, the table says why in "differs".
func TestVerdicts(t *testing.T) {
	data, err := os.ReadFile("testdata/verdicts.json")
	if err != nil {
		t.Fatal(err)
	}
	var groups []struct {
		Host  string
		Files []struct {
			Kind       orgpolicy.Kind
			Path, Text string
		}
		Servers []struct {
			ID, Name, URL, Why, Differs string
			Command                     []string
			Resolved                    json.RawMessage
			Blocked                     bool
		}
	}
	if err := json.Unmarshal(data, &groups); err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		var files []orgpolicy.File
		for _, f := range g.Files {
			files = append(files, orgpolicy.File{Path: f.Path, Kind: f.Kind, Data: []byte(f.Text)})
		}
		policies := orgpolicy.New(files, home)
		for _, s := range g.Servers {
			server := orgpolicy.Server{Name: s.Name, Command: s.Command, URL: s.URL, ResolvedURL: s.URL}
			if s.Resolved == nil {
				for _, part := range s.Command {
					server.Resolved = append(server.Resolved, strings.ReplaceAll(part, "${HOME}", "/home/ann"))
				}
			} else if err := json.Unmarshal(s.Resolved, &server.Resolved); err != nil {
				t.Fatal(err)
			}
			got := policies.Check(server, g.Host)
			if got == nil && g.Host != "" { // a host's session needs the gateway, too
				got = policies.Own().Forbids(orgpolicy.Gateway)
			}
			if want := s.Blocked != (s.Differs != ""); (got != nil) != want {
				t.Errorf("%s: got %v, want blocked %v (%s%s)", s.ID, got, want, s.Why, s.Differs)
			}
			if got != nil && (got.File == "" || got.Entry == "") {
				t.Errorf("%s: %#v names no file or no entry", s.ID, got)
			}
		}
	}
}

func TestBrokenFilesBlock(t *testing.T) {
	server := orgpolicy.Server{Name: "a", Command: []string{"a"}, Resolved: []string{"a"}}
	for _, tt := range []struct {
		name string
		file orgpolicy.File
		want string
	}{
		{"not readable", orgpolicy.File{Kind: orgpolicy.Assent, Err: os.ErrPermission}, "permission denied"},
		{"empty", orgpolicy.File{Kind: orgpolicy.Assent}, "no JSON object"},
		{"null", orgpolicy.File{Kind: orgpolicy.Assent, Data: []byte("null")}, "no JSON object"},
		{"another version", orgpolicy.File{Kind: orgpolicy.Assent, Data: []byte(`{"version": 2}`)}, "too old"},
		{"a member of a later version", orgpolicy.File{Kind: orgpolicy.Assent, Data: []byte(`{"update": {"allowed": true}}`)}, `"update" is not known`},
		{"a member of servers", orgpolicy.File{Kind: orgpolicy.Assent, Data: []byte(`{"servers": {"alowed": []}}`)}, `"servers.alowed" is not known`},
		{"a list that is none", orgpolicy.File{Kind: orgpolicy.Assent, Data: []byte(`{"servers": {"denied": null}}`)}, "denied: it is no list"},
		{"a comma too much", orgpolicy.File{Kind: orgpolicy.Assent, Data: []byte("{\n \"servers\": {\"denied\": [],}\n}")}, "no JSON object: line 2, column 27: invalid character '}'"},
		{"half a file", orgpolicy.File{Kind: orgpolicy.Assent, Data: []byte("{\"a\":\n")}, "no JSON object: line 2, column 1: unexpected end of JSON input"},
		{"half a file of Gemini CLI", orgpolicy.File{Kind: orgpolicy.Gemini, Data: []byte("{\n\"a\":")}, "no JSON: line 2, column 5: parsing value: the file ends in the middle"},
		{"a file of Codex", orgpolicy.File{Kind: orgpolicy.Codex, Data: []byte("a = 1\n[mcp_servers")}, "no TOML: line 2, column "},
		{"an allowed name", orgpolicy.File{Kind: orgpolicy.Assent, Data: []byte(`{"servers": {"allowed": [{"serverName": "a"}]}}`)}, "which the person chooses"},
		{"a URL without a scheme", orgpolicy.File{Kind: orgpolicy.Assent, Data: []byte(`{"servers": {"denied": [{"serverUrl": "evil.example"}]}}`)}, "a URL with https://"},
		{"a bad entry", orgpolicy.File{Kind: orgpolicy.Assent, Data: []byte(`{"servers": {"denied": [{"serverName": 5}]}}`)}, "needs one of"},
	} {
		got := orgpolicy.New([]orgpolicy.File{tt.file}, home).Check(server, string(tt.file.Kind))
		if got == nil || !strings.Contains(got.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, got, tt.want)
		}
	}
}

// TestDeniedByAnyReading has the ways around a deny list that a URL or a program's path has.
func TestDeniedByAnyReading(t *testing.T) {
	policies := orgpolicy.New([]orgpolicy.File{{Path: "/etc/x", Kind: orgpolicy.Assent, Data: []byte(`{"message": "Ask it@corp.example",
		"servers": {"denied": [{"serverUrl": "https://evil.example/mcp"}, {"serverUrl": "https://*.bad.example"}, {"serverCommand": ["/opt/evil", "x"]},
			{"serverUrl": "https://B\u00fccher.example"}, {"serverUrl": "*://[2001:db8::1]/*"}, {"serverUrl": "https://192.0.2.1"}, {"serverUrl": "https://*.port.example:8443"}]}}`)}}, home)
	for _, url := range []string{
		"https://evil.example/mcp", "HTTPS://EVIL.example:443/mcp?x=1#y", "https://evil.example/a/../mcp", "https://evil.example/%6dcp",
		"https://evil.example//mcp", `https://evil.example\mcp`, "https://me:pass@evil.example./mcp", "https://a.bad.example:8443/any",
		"https://evil.example/MCP", "https://evil.example/%4dcp",
		"http://evil.example/mcp", "wss://evil.example/mcp", "https://evil.example:/mcp", "https://evil.example:0443/mcp",
		"https://\uff45vil.example/mcp", "https://evil\u3002example/mcp", "https://%EF%BD%85vil.example/mcp", "https://EVIL.example/./mcp",
		"https://xn--bcher-kva.example/", "https://b\u00fccher.example/", "https://B\u00dcCHER.example/",
		"https://[2001:db8::1]/", "https://[2001:0DB8:0:0:0:0:0:1]:8443/", "https://[::ffff:192.0.2.1]/", "https://192.0.2.1/x", "https://x.port.example:08443/",
	} {
		got := policies.Check(orgpolicy.Server{Name: "s", URL: "${input:url}", ResolvedURL: url})
		if want := "Ask it@corp.example"; got == nil || !strings.Contains(got.Error(), want) {
			t.Errorf("%s: got %v, want a block with %q", url, got, want)
		}
	}
	if got := policies.Check(orgpolicy.Server{Name: "s", Command: []string{"evil", "x"}, Resolved: []string{"evil", "x"}, Paths: []string{"/opt/evil"}}); got == nil {
		t.Error("the program is denied by its path, and may start by its name")
	}
	for _, url := range []string{"https://good.example/", "https://evil.example/mcp2", "https://evil.example.org/mcp", "https://x.port.example:8444/", "https://bucher.example/", "https://[2001:db8::2]/"} {
		if got := policies.Check(orgpolicy.Server{Name: "s", URL: url, ResolvedURL: url}); got != nil {
			t.Errorf("%s: %v", url, got)
		}
	}
}

// TestACommandThatIsDeniedInItsPlainForm has the ways in which people write one command, and neighbours that are none.
func TestACommandThatIsDeniedInItsPlainForm(t *testing.T) {
	policies := orgpolicy.New([]orgpolicy.File{{Path: "/etc/x", Kind: orgpolicy.ClaudeCode, Data: []byte(`{"deniedMcpServers": [
		{"serverCommand": ["npx", "-y", "@corp/evil", "--root", "/"]}, {"serverCommand": ["/opt/tool", "serve"]}, {"serverCommand": ["cmd", "/c", "uvx", "bad"]}]}`)}}, home)
	for _, tt := range []struct {
		blocked bool
		paths   []string
		command []string
	}{
		{true, nil, []string{"npx", "@corp/evil", "--root", "/"}},
		{true, nil, []string{"npx", "--yes", "@corp/evil", "--root=/"}},
		{true, nil, []string{"/usr/bin/npx", "-y", "@corp/evil", "--root", "/"}},
		{true, nil, []string{"cmd", "/c", "npx", "-y", "@corp/evil", "--root", "/"}},
		{true, nil, []string{`C:\Windows\System32\cmd.exe`, "/d", "/s", "/C", "npx.cmd -y @corp/evil --root /"}},
		{true, nil, []string{"env", "-i", "X=Y", "npx", "@corp/evil", "--root", "/"}},
		{true, nil, []string{"/usr/bin/env", "-u", "HOME", "bash", "-lc", "exec npx -y '@corp/evil' --root=/"}},
		{true, nil, []string{"sh", "-c", "env A=b npx -y @corp/evil --root /"}},
		{true, []string{"/home/ann/link", "/opt/tool"}, []string{"./link", "serve"}},
		{true, nil, []string{"sh", "-c", "/opt/tool serve"}},
		{true, nil, []string{"uvx", "bad"}},
		{true, nil, []string{"env", "-S", "X=Y /opt/tool serve"}},
		{true, nil, []string{"powershell.exe", "-NoProfile", "-Command", "npx", "-y", "@corp/evil", "--root", "/"}},
		{false, nil, []string{"pwsh", "-File", "x.ps1"}},
		{false, nil, []string{"npx", "-y", "@corp/evil", "--root", "/tmp"}},
		{false, nil, []string{"npx", "-y", "@corp/evil"}},
		{false, nil, []string{"/srv/tool", "serve"}},
		{false, []string{"/srv/tool"}, []string{"tool", "serve"}},
		{false, nil, []string{"sh", "-c"}},
		{false, nil, []string{"env", "X=Y"}},
		{false, nil, []string{"cmd", "/c"}},
	} {
		server := orgpolicy.Server{Name: "s", Command: tt.command, Resolved: tt.command, Paths: tt.paths}
		if got := policies.Check(server); (got != nil) != tt.blocked {
			t.Errorf("%q: got %v, want blocked %v", tt.command, got, tt.blocked)
		}
	}
	// A list of allowed commands has them only as they are written.
	list := orgpolicy.New([]orgpolicy.File{{Kind: orgpolicy.Assent, Data: []byte(`{"servers": {"allowed": [{"serverCommand": ["npx", "-y", "good"]}]}}`)}}, home)
	for _, command := range [][]string{{"npx", "good"}, {"/tmp/npx", "-y", "good"}, {"env", "PATH=/tmp", "npx", "-y", "good"}} {
		if list.Check(orgpolicy.Server{Name: "s", Command: command, Resolved: command}) == nil {
			t.Errorf("%q is allowed", command)
		}
	}
}

// TestWhatAPersonDeniesToClaudeCode holds for its sessions alone, and a file that Claude Code cannot read denies nothing.
func TestWhatAPersonDeniesToClaudeCode(t *testing.T) {
	server := orgpolicy.Server{Name: "s", Command: []string{"s"}, Resolved: []string{"s"}}
	for text, blocked := range map[string]bool{
		`{"deniedMcpServers": [{"serverCommand": ["s"]}], "model": "opus"}`: true,
		`{"deniedMcpServers": [{"serverName": "s"}]}`:                       true,
		`{"deniedMcpServers": [{"serverName": "t"}]}`:                       false,
		`{"allowedMcpServers": []}`:                                         false,
		`{"deniedMcpServers": "s"}`:                                         false,
		`{"deniedMcpServers": [{"serverName": "s"}]`:                        false,
	} {
		policies := orgpolicy.New([]orgpolicy.File{{Path: "/home/ann/.claude/settings.json", Kind: orgpolicy.ClaudeOwn, Data: []byte(text)}}, home)
		got := policies.Check(server, "claude-code")
		if (got != nil) != blocked || got != nil && !strings.HasPrefix(got.Error(), "Blocked by your own settings: /home/ann/.claude/settings.json, entry {") {
			t.Errorf("%s: got %v, want blocked %v", text, got, blocked)
		}
		for _, hosts := range [][]string{nil, {"codex"}, {"vscode"}} {
			if got := policies.Check(server, hosts...); got != nil {
				t.Errorf("%s, for %q: %v", text, hosts, got)
			}
		}
		if states := policies.States(); len(states) > 0 {
			t.Errorf("%s is told as a file of an organisation: %v", text, states)
		}
	}
}

// TestAnEntryThatIsMissing has hosts with lists that do not have the entry that starts Assent. Codex has one identity for a name, so
// that no line lets both the server and the entry start.
func TestAnEntryThatIsMissing(t *testing.T) {
	entry := orgpolicy.Server{Name: "s", Command: []string{"assent"}, Resolved: []string{"assent"}}
	for _, tt := range []struct {
		kind orgpolicy.Kind
		text string
		want string
	}{
		{orgpolicy.ClaudeCode, `{"allowedMcpServers": [{"serverCommand": ["s"]}]}`, `{"serverCommand":["assent"]}`},
		{orgpolicy.Codex, "[mcp_servers.s.identity]\ncommand = \"s\"\n", ""},
	} {
		policies := orgpolicy.New([]orgpolicy.File{{Kind: tt.kind, Data: []byte(tt.text)}}, home)
		if got := policies.CheckEntry(string(tt.kind), entry); got == nil || got.Missing != tt.want {
			t.Errorf("%s: got %#v, want the line %q", tt.kind, got, tt.want)
		}
	}
}

func TestTheDocumentsExample(t *testing.T) {
	text, err := os.ReadFile("../../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```json\n")
	example, _, _ := strings.Cut(rest, "```")
	policies := orgpolicy.New([]orgpolicy.File{{Path: "policy.json", Kind: orgpolicy.Assent, Data: []byte(example)}}, home)
	for url, blocked := range map[string]bool{"https://mcp.corp.example/x": false, "https://staging.corp.example/x": true, "https://other.example/x": true} {
		got := policies.Check(orgpolicy.Server{Name: "s", URL: url, ResolvedURL: url})
		if (got != nil) != blocked || got != nil && strings.Contains(got.Error(), "cannot be used") {
			t.Errorf("%s: got %v, want blocked %v", url, got, blocked)
		}
	}
}
