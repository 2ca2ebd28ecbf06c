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
		{"a list that is none", orgpolicy.File{Kind: orgpolicy.Assent, Data: []byte(`{"servers": {"denied": null}}`)}, "not a list"},
		{"an allowed name", orgpolicy.File{Kind: orgpolicy.Assent, Data: []byte(`{"servers": {"allowed": [{"serverName": "a"}]}}`)}, "which the person chooses"},
		{"a bad entry", orgpolicy.File{Kind: orgpolicy.Assent, Data: []byte(`{"servers": {"denied": [{"serverName": 5}]}}`)}, "needs one of"},
	} {
		got := orgpolicy.New([]orgpolicy.File{tt.file}, home).Check(server)
		if got == nil || !strings.Contains(got.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, got, tt.want)
		}
	}
}

// TestDeniedByAnyReading has the ways around a deny list that a URL or a program's path has.
func TestDeniedByAnyReading(t *testing.T) {
	policies := orgpolicy.New([]orgpolicy.File{{Path: "/etc/x", Kind: orgpolicy.Assent, Data: []byte(`{"message": "Ask it@corp.example",
		"servers": {"denied": [{"serverUrl": "https://evil.example/mcp"}, {"serverUrl": "https://*.bad.example"}, {"serverCommand": ["/opt/evil", "x"]}]}}`)}}, home)
	for _, url := range []string{
		"https://evil.example/mcp", "HTTPS://EVIL.example:443/mcp?x=1#y", "https://evil.example/a/../mcp", "https://evil.example/%6dcp",
		"https://evil.example//mcp", `https://evil.example\mcp`, "https://me:pass@evil.example./mcp", "https://a.bad.example:8443/any",
	} {
		got := policies.Check(orgpolicy.Server{Name: "s", URL: "${input:url}", ResolvedURL: url})
		if want := "Ask it@corp.example"; got == nil || !strings.Contains(got.Error(), want) {
			t.Errorf("%s: got %v, want a block with %q", url, got, want)
		}
	}
	if got := policies.Check(orgpolicy.Server{Name: "s", Command: []string{"evil", "x"}, Resolved: []string{"evil", "x"}, Path: "/opt/evil"}); got == nil {
		t.Error("the program is denied by its path, and may start by its name")
	}
	if got := policies.Check(orgpolicy.Server{Name: "s", URL: "https://good.example/", ResolvedURL: "https://good.example/"}); got != nil {
		t.Error(got)
	}
}

// TestAnEntryThatIsMissing has hosts whose lists do not have the entry that starts Assent. Codex has one identity for a name, so
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
