package config_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/config"
)

// rootFile returns a trusted folder with a .mcp.json.
func rootFile(t *testing.T, text string) protocol.WorkspaceFolder {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, config.RootFileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return protocol.WorkspaceFolder{Name: "f", Path: dir}
}

func TestTheRootFileIsReadToo(t *testing.T) {
	ws := rootFile(t, `{ // of other programs
		"mcpServers": {
			"local": {"command": "${BIN:-x\"y}", "args": ["${KEY}", "${env:KEY}", "${workspaceFolder}", "${CLAUDE_PROJECT_DIR}"], "env": {"A": "b"}},
			"remote": {"type": "streamable-http", "url": "https://example.com/mcp", "headers": {"X": "${KEY}"}},
			"other": {"serverUrl": "https://example.com/mcp"},
			"stopped": {},
		},
	}`)
	got := config.Load(protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{ws}}, "")
	path := filepath.Join(ws.Path, config.RootFileName)
	want := []config.Server{
		{Name: "local", Transport: protocol.TransportStdio, Command: `${env:BIN:-x"y}`, Args: []string{"${env:KEY}", "${env:KEY}", "${workspaceFolder}", "${workspaceFolder}"}, Env: map[string]*string{"A": new("b")}},
		{Name: "remote", Transport: protocol.TransportHTTP, URL: "https://example.com/mcp", Headers: map[string]string{"X": "${env:KEY}"}},
		{Name: "other", Transport: protocol.TransportHTTP, URL: "https://example.com/mcp"},
	}
	for i := range want {
		want[i].Source, want[i].Folder, want[i].Unconfirmed, want[i].Inputs = path, ws.Path, true, map[string]config.Input{}
	}
	if diff := cmp.Diff(want, got.Servers); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	if len(got.Problems) != 1 || !strings.Contains(got.Problems[0].Message, `the server "stopped" has no "command"`) || got.Problems[0].Line != 6 {
		t.Errorf("problems %+v", got.Problems)
	}
	if line := config.Line(path, "remote"); line != 4 {
		t.Errorf("the server is in line %d, want 4", line)
	}

	// A default is used if the variable is unset, and not if it is empty: so do the programs that share the file.
	for _, tt := range []struct{ environ, want string }{{"BIN=", ""}, {"OTHER=1", `x"y`}, {"BIN=/b", "/b"}} {
		s := config.Server{Transport: protocol.TransportHTTP, URL: "http://h/", Headers: map[string]string{"V": got.Servers[0].Command}}
		_, headers, err := s.Endpoint(context.Background(), config.Environment{Environ: []string{tt.environ}})
		if err != nil || headers.Get("V") != tt.want {
			t.Errorf("with %s it is %q, %v; want %q", tt.environ, headers.Get("V"), err, tt.want)
		}
	}
}

func TestTheFolderOfVSCodeHidesTheRootFile(t *testing.T) {
	ws := rootFile(t, `{"mcpServers": {"both": {"command": "root"}, "one": {"command": "root"}}}`)
	vscode := filepath.Join(ws.Path, config.FileName)
	if err := os.Mkdir(filepath.Dir(vscode), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(vscode, []byte(`{"servers": {"both": {"command": "vscode"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := config.Load(protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{ws}}, "")
	if len(got.Servers) != 2 || got.Servers[0].Command != "vscode" || got.Servers[1].Name != "one" {
		t.Errorf("servers %+v", got.Servers)
	}
	if len(got.Problems) != 1 || got.Problems[0].Source != filepath.Join(ws.Path, config.RootFileName) ||
		got.Problems[0].Message != `the server "both" is already configured in `+vscode+", which is used" {
		t.Errorf("problems %+v", got.Problems)
	}
	ws.Untrusted = true
	got = config.Load(protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{ws}}, "")
	if len(got.Servers) != 0 || len(got.Problems) != 2 {
		t.Errorf("an untrusted folder has %+v", got)
	}
}

func TestAHostsWayToAssentIsNoServer(t *testing.T) {
	ws := rootFile(t, `{"mcpServers": {
		"one": {"command": "assent", "args": ["gateway"]}, "two": {"command": "C:\\x\\Assent.exe", "args": ["gateway", "shop"]},
		"three": {"command": "/opt/assent", "args": ["example-server"]}}}`)
	got := config.Load(protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{ws}}, "")
	if len(got.Servers) != 1 || got.Servers[0].Name != "three" || len(got.Problems) > 0 {
		t.Errorf("Load = %+v", got)
	}
}

func TestTheShapeOfAFile(t *testing.T) {
	const other, own = `{"mcpServers": {"a": {"command": "x"}}}`, `{"servers": {"a": {"command": "x"}}}`
	tests := []struct {
		name, file, text string
		named            bool
		problem          string
	}{
		{"VS Code's own", config.FileName, own, false, ""},
		{"VS Code's with the other's member", config.FileName, other, false, `has no member "servers" (did you mean it instead of "mcpServers"?)`},
		{"the root file with VS Code's member", config.RootFileName, own, false, `has no member "mcpServers" (did you mean it instead of "servers"?)`},
		{"named, of one shape", "any.json", own, true, ""},
		{"named, of the other", "any.json", other, true, ""},
		{"a mistake", config.FileName, `{"server": {}}`, false, `has no member "servers" (did you mean it instead of "server"?)`},
		{"nothing", config.FileName, `{}`, false, `has no member "servers"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, tt.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			ws := protocol.WorkspaceFolder{Path: dir}
			if tt.named {
				ws.ConfigFile = path
			}
			got := config.Load(protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{ws}}, "")
			switch {
			case tt.problem == "" && (len(got.Servers) != 1 || len(got.Problems) > 0):
				t.Errorf("Load = %+v", got)
			case tt.problem != "" && (len(got.Problems) != 1 || got.Problems[0].Message != tt.problem):
				t.Errorf("problems %+v, want %q", got.Problems, tt.problem)
			}
		})
	}
}

func TestUnknownMembersHaveTheNearestKnownOne(t *testing.T) {
	ws := rootFile(t, `{"mcpServers": {"a": {"command": "x", "cmd": "y", "arg": [], "tool_timeout": 1, "title": "A", "autoApprove": [],
		"oauth": {"client_id": "c", "scopes": []}}}}`)
	want := []string{
		`It has the member "arg", which Assent does not know and ignores: did you mean "args"?`,
		`It has the member "autoApprove", which Assent does not know and ignores.`,
		`It has the member "cmd", which Assent does not know and ignores: did you mean "command"?`,
		`It has the member "tool_timeout", which Assent does not know and ignores: did you mean "toolTimeout"?`,
		`"oauth" has the member "client_id", which Assent does not know and ignores: did you mean "clientId"?`,
	}
	got := config.UnknownMembers(filepath.Join(ws.Path, config.RootFileName), "a")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unknown members (-want +got):\n%s", diff)
	}
	if got := config.UnknownMembers(config.SettingsSource, "a"); got != nil {
		t.Errorf("the settings have %q", got)
	}
}
