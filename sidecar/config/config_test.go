package config_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/config"
)

// folder returns a workspace folder with text as its mcp.json.
func folder(t *testing.T, text string) (protocol.WorkspaceFolder, string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, config.FileName)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return protocol.WorkspaceFolder{Name: "ws", Path: dir}, path
}

func load(folders ...protocol.WorkspaceFolder) config.Result {
	return config.Load(protocol.Configuration{WorkspaceFolders: folders}, "")
}

func TestLoadReadsWhatPeopleWrite(t *testing.T) {
	ws, path := folder(t, `{
		// My servers.
		"inputs": [{"type": "promptString", "id": "key", "description": "The key", "password": true}],
		"servers": {
			"zeta": {"type": "stdio", "command": "npx", "args": ["-y", "x"], "env": {"A": "1", "B": 2, "C": null}, "envFile": ".env", "cwd": "sub"},
			/* and another */
			"alpha": {"command": "a", "sharing": "shared", "toolTimeout": 1.5, "unknown": true},
			"far": {"url": "https://example.org/mcp", "protocolVersion": "2025-11-25", "headers": {"X-Key": "${input:key}"}},
			"old": {"type": "sse", "url": "https://example.org/sse", "sharing": "task"},
		},
	}`)
	got := config.Load(protocol.Configuration{
		WorkspaceFolders: []protocol.WorkspaceFolder{ws},
		Servers:          json.RawMessage(`{"mine": {"command": "m"}, "alpha": {"command": "hidden"}}`),
		Inputs:           json.RawMessage(`[{"type": "pickString", "id": "which", "options": ["a", "b"], "default": "b"}]`),
	}, "")
	inputs := map[string]config.Input{"key": {ID: "key", Type: protocol.PromptString, Description: "The key", Password: true}}
	rights := config.SourceRights{Unconfirmed: true, Inputs: inputs}
	want := config.Result{
		Servers: []config.Server{
			{
				Name: "zeta", Source: path, Folder: ws.Path, Transport: protocol.TransportStdio, Command: "npx", Args: []string{"-y", "x"},
				Env: map[string]*string{"A": new("1"), "B": new("2"), "C": nil}, EnvFile: ".env", Cwd: "sub", SourceRights: rights,
			},
			{
				Name: "alpha", Source: path, Folder: ws.Path, Transport: protocol.TransportStdio, Command: "a",
				Usage: config.Usage{Shared: true, ToolTimeout: new(1500 * time.Millisecond)}, SourceRights: rights,
			},
			{
				Name: "far", Source: path, Folder: ws.Path, Transport: protocol.TransportHTTP, URL: "https://example.org/mcp",
				Headers: map[string]string{"X-Key": "${input:key}"}, Usage: config.Usage{ProtocolVersion: config.LegacyProtocol}, SourceRights: rights,
			},
			{Name: "old", Source: path, Folder: ws.Path, Transport: protocol.TransportSSE, URL: "https://example.org/sse", SourceRights: rights},
			{
				Name: "mine", Source: config.SettingsSource, Folder: ws.Path, Transport: protocol.TransportStdio, Command: "m",
				SourceRights: config.SourceRights{Own: true, Inputs: map[string]config.Input{
					"which": {ID: "which", Type: protocol.PickString, Options: []string{"a", "b"}, Default: "b"},
				}},
			},
		},
		Problems: []protocol.ConfigProblem{
			{Source: config.SettingsSource, Message: `the server "alpha" is already configured in ` + path + ", which is used"},
		},
	}
	hidden := want.Servers[len(want.Servers)-1] // of the settings, too
	hidden.Name, hidden.Command, hidden.Hidden = "alpha (your own)", "hidden", true
	want.Hidden = []config.Server{hidden}
	want.Sources = []config.Source{{Name: path}, {Name: filepath.Join(ws.Path, config.RootFileName)}, {Name: config.SettingsSource, Own: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Load (-want +got):\n%s", diff)
	}
	if got := load(protocol.WorkspaceFolder{Path: t.TempDir()}); got.Servers != nil || got.Problems != nil {
		t.Errorf("Load without a file = %+v", got)
	}
}

func TestAnUntrustedFolderStartsNothing(t *testing.T) {
	stranger, path := folder(t, `{"servers": {"evil": {"command": "evil"}, "mine": {"command": "evil"}}}`)
	stranger.Untrusted = true
	silent := protocol.WorkspaceFolder{Name: "silent", Path: t.TempDir(), Untrusted: true}
	friend, _ := folder(t, `{"servers": {"friend": {"command": "f"}}}`)
	names := func(r config.Result) (names []string) {
		for _, s := range r.Servers {
			names = append(names, s.Name+" "+s.Command+" in "+s.Folder)
		}
		return names
	}
	mine := json.RawMessage(`{"mine": {"command": "m"}}`)

	got := config.Load(protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{stranger, silent}, Servers: mine}, "")
	if diff := cmp.Diff([]string{"mine m in "}, names(got)); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	if len(got.Problems) != 1 || got.Problems[0].Source != path || !strings.Contains(got.Problems[0].Message, "not trusted") {
		t.Errorf("problems are %+v; want one of %s that says it is not trusted", got.Problems, path)
	}

	got = config.Load(protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{stranger, friend}, Servers: mine}, "")
	if diff := cmp.Diff([]string{"friend f in " + friend.Path, "mine m in " + friend.Path}, names(got)); diff != "" {
		t.Errorf("servers beside a trusted folder (-want +got):\n%s", diff)
	}

	stranger.Untrusted = false
	if got := names(load(stranger)); len(got) != 2 {
		t.Errorf("servers once it is trusted: %q; want both", got)
	}
}

func TestLoadSaysWhatIsWrongAndWhere(t *testing.T) {
	tests := []struct {
		name, text   string
		line, column int
		want         string
		servers      int
	}{
		{name: "half a file", text: "{\n  \"servers\": {\n", line: 3, column: 1, want: "the file ends too early"},
		{name: "quotes of a word processor", text: `{“servers”: {}}`, line: 1, column: 2, want: "names and texts need straight double quotes"},
		{name: "single quotes", text: `{'servers': {}}`, line: 1, column: 2, want: "names and texts need straight double quotes"},
		{name: "a missing comma", text: "{\"servers\": {\n  \"a\": {\"command\": \"x\"}\n  \"b\": {}\n}}", line: 3, column: 3, want: "invalid character"},
		{name: "a line break in a text", text: "{\"servers\": {\n  \"a\": {\"command\": \"x\n y\"}}}", line: 2, column: 20, want: `a text has a line break, which is written \n`},
		{name: "an array", text: `[]`, line: 1, column: 1, want: "must be an object"},
		{name: "another tool's file", text: `{"mcpServers": {}}`, line: 1, column: 1, want: `has no member "servers"`},
		{name: "servers of another type", text: `{"servers": []}`, line: 1, column: 13, want: `"servers" must be an object`},
		{name: "no command", text: "{\"servers\": {\n  \"a\": {},\n  \"b\": {\"command\": \"x\"}}}", line: 2, column: 3, want: `the server "a" has no "command"`, servers: 1},
		{name: "arguments of another type", text: "{\"servers\": {\n\n  \"a\": {\"command\": \"x\", \"args\": \"y\"}}}", line: 3, column: 3, want: `the server "a" cannot be read: "args" is a string and must be an array`},
		{name: "env of another type", text: `{"servers": {"a": {"command": "x", "env": {"E": []}}}}`, line: 1, column: 14, want: `"E" in "env" must be a text, a number or null`},
		{name: "another transport", text: `{"servers": {"a": {"type": "pigeon", "url": "x"}}}`, line: 1, column: 14, want: `the server "a" has the type "pigeon"`},
		{name: "a time before now", text: `{"servers": {"a": {"command": "x", "toolTimeout": -1}}}`, line: 1, column: 14, want: `the server "a" has the toolTimeout -1; it is a number of seconds, and 0 is for ever`},
		{name: "another name for command", text: `{"servers": {"a": {"cmd": "x"}}}`, line: 1, column: 14, want: `the server "a" has no "command" (did you mean it instead of "cmd"?)`},
		{name: "another name for url", text: `{"servers": {"a": {"type": "http", "serverUrl": "http://x"}}}`, line: 1, column: 14, want: `the server "a" has no "url" (did you mean it instead of "serverUrl"?)`},
		{name: "a member that nobody knows", text: `{"servers": {"a": {"args": [], "zoned": true, "toolTimeout": 1}}}`, line: 1, column: 14, want: `the server "a" has no "command" (it has "zoned", which Assent does not know)`},
		{name: "off", text: `{"servers": {"a": {"command": "x", "disabled": true}, "b": {"command": "y", "disabled": false, "enabled": true}}}`, line: 1, column: 14, want: `the server "a" is switched off`, servers: 1},
		{name: "not on", text: `{"servers": {"a": {"command": "x", "enabled": false}}}`, line: 1, column: 14, want: `the server "a" is switched off`},
		{name: "no url", text: `{"servers": {"a": {"type": "ws"}}}`, line: 1, column: 14, want: `the server "a" has no "url"`},
		{name: "another sharing", text: `{"servers": {"a": {"command": "x", "sharing": "all"}}}`, line: 1, column: 14, want: `the server "a" has the sharing "all"; it must be "task" `},
		{name: "another version", text: `{"servers": {"a": {"command": "x", "protocolVersion": "2024-11-05"}}}`, line: 1, column: 14, want: `the server "a" has the protocolVersion "2024-11-05"; only "2025-11-25"`},
		{name: "no name", text: `{"servers": {"": {"command": "x"}}}`, line: 1, column: 14, want: "a server has no name"},
		{name: "a name that hides something", text: `{"servers": {"git\u200bhub\u202e": {"command": "x"}}}`, line: 1, column: 14, want: `the name of the server "git<U+200B>hub<U+202E>" has hidden characters`},
		{name: "a name of two lines", text: `{"servers": {"git\nhub": {"command": "x"}}}`, line: 1, column: 14, want: "has hidden characters"},
		{name: "an input without id", text: `{"inputs": [{"type": "promptString"}], "servers": {"a": {"command": "x"}}}`, line: 1, column: 12, want: "an input has no id", servers: 1},
		{name: "an input of another type", text: `{"inputs": [{"type": "command", "id": "c"}], "servers": {}}`, line: 1, column: 12, want: `the input "c" has the type "command"`},
		{name: "a tower", text: strings.Repeat("[", 1_000_000), want: "more than 200 deep"},
		{name: "a tower in a comment and a text", text: "/* " + strings.Repeat("[", 300) + " */ {\"servers\": {\"a\": {}}, // " + strings.Repeat("[", 300) + "\n\"\\\"" + strings.Repeat("{", 300) + "\": 1}", line: 1, column: 321, want: `the server "a" has no "command"`},
		{name: "UTF-16", text: "\xff\xfe{\x00}\x00", want: "it is in UTF-16: save it as UTF-8"},
		{name: "UTF-16 the other way", text: "\xfe\xff\x00{\x00}", want: "it is in UTF-16: save it as UTF-8"},
		{name: "Latin-1", text: "{\"servers\": {\"caf\xe9\": {}}}", want: "it is not in UTF-8: save it as UTF-8"},
		{name: "UTF-16 without a mark", text: "{\x00}\x00", want: "it has zero bytes, as UTF-16 does"},
		{name: "a path of Windows", text: "{\"servers\": {\n\"a\": {\"command\": \"C:\\Users\\me\\srv.exe\"}}}", line: 2, column: 18, want: `"C:\Users\me\srv.exe" has single backslashes: write each one twice, as \\, or write / in its place`},
		{name: "one of another kind", text: `{"servers": {"a": {"command": "x", "args": ["D:\work\a.js"]}}}`, line: 1, column: 45, want: `"D:\work\a.js" has single backslashes`},
		{name: "one that is JSON by chance", text: `{"servers": {"a": {"command": "C:\tools\new\dir"}}}`, line: 1, column: 31, want: `has single backslashes`},
		{name: "one of which all is JSON", text: `{"servers": {"a": {"command": "C:\tools\new"}}}`, line: 1, column: 14, want: `"command" is a path of Windows with single backslashes`},
		{name: "two variables in a name", text: `{"servers": {"a": {"command": "x", "env": {"LD_PRELOAD=./evil.so:": ""}}}}`, line: 1, column: 14, want: `"LD_PRELOAD=./evil.so:" in "env" is no name of a variable`},
		{name: "a variable without a name", text: `{"servers": {"a": {"command": "x", "env": {"": "A=1"}}}}`, line: 1, column: 14, want: `"" in "env" is no name of a variable`},
		{name: "a list as an argument", text: `{"servers": {"a": {"command": "x", "args": ["y", ["z"]]}}}`, line: 1, column: 14, want: `element 2 of "args" is ["z"]: it must be a text`},
		{name: "nothing as an argument", text: `{"servers": {"a": {"command": "x", "args": [null]}}}`, line: 1, column: 14, want: `element 1 of "args" is null: it must be a text`},
		{name: "an object as a header", text: `{"servers": {"a": {"url": "https://a.example", "headers": {"X": {}}}}}`, line: 1, column: 14, want: `"X" in "headers" must be a text`},
		{name: "a member in capitals", text: `{"servers": {"a": {"COMMAND": "x"}}}`, line: 1, column: 14, want: `has no "command" (did you mean it instead of "COMMAND"?)`},
		{name: "a server that is there twice", text: "{\"servers\": {\"a\": {\"command\": \"x\"},\n\"a\": {\"command\": \"y\"}}}", line: 2, column: 1, want: `"a" is there twice: the last one counts`, servers: 1},
		{name: "servers that are there twice", text: "{\"servers\": {\"b\": {}},\n\"servers\": {\"a\": {\"command\": \"y\"}}}", line: 2, column: 1, want: `"servers" is there twice: the last one counts`, servers: 1},
		{name: "a variable that is there twice", text: `{"servers": {"a": {"command": "x", "env": {"A": "1", "\u0041": "2"}}}}`, line: 1, column: 54, want: `"A" is there twice`, servers: 1},
		{name: "a large file", text: strings.Repeat(" ", 5<<20), want: "has more than 4194304 bytes"},
		{name: "inputs of another type", text: `{"inputs": {}, "servers": {}}`, line: 1, column: 12, want: `"inputs" cannot be read: it is an object and must be an array`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ws, path := folder(t, tt.text)
			got := load(ws)
			if len(got.Problems) != 1 || len(got.Servers) != tt.servers {
				t.Fatalf("Load = %+v, want one problem and %d servers", got, tt.servers)
			}
			p := got.Problems[0]
			if p.Source != path || p.Line != tt.line || p.Column != tt.column || !strings.Contains(p.Message, tt.want) {
				t.Errorf("problem = %+v, want %d:%d %s", p, tt.line, tt.column, tt.want)
			}
		})
	}
	for _, settings := range []string{`[]`, `{`, `{"a": 1}`} {
		got := config.Load(protocol.Configuration{Servers: json.RawMessage(settings)}, "")
		if len(got.Problems) != 1 || got.Problems[0].Source != config.SettingsSource {
			t.Errorf("settings %s: %+v", settings, got)
		}
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, config.FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := load(protocol.WorkspaceFolder{Path: dir}); len(got.Problems) != 1 || !strings.Contains(got.Problems[0].Message, "cannot be read") {
		t.Errorf("a folder instead of a file: %+v", got)
	}
}

func TestAKnownMemberIsNoMistake(t *testing.T) {
	ws, _ := folder(t, `{"servers": {"a": {"toolTimeout": 5, "args": [], "sharing": "task"}}}`)
	got := load(ws).Problems
	if len(got) != 1 || got[0].Message != `the server "a" has no "command"` {
		t.Errorf("problems %+v", got)
	}
}

// Members count by their exact names, and the last of equal ones does, as in other programs.
func TestAMemberIsWhatOtherProgramsTakeItFor(t *testing.T) {
	for name, text := range map[string]string{
		"a member in capitals":       `{"servers": {"a": {"command": "good", "COMMAND": "evil", "Args": ["evil"], "args": ["1", 2, 3.50], "ENV": {"A": "evil"}}}}`,
		"an earlier member":          `{"servers": {"a": {"command": "evil", "args": ["evil"], "env": {"A": "evil"}, "command": "good", "args": ["1", "2", "3.50"], "env": null}}}`,
		"an earlier server":          `{"servers": {"a": {"command": "evil", "env": {"A": "evil"}}, "a": {"command": "good", "args": ["1", "2", "3.50"]}}}`,
		"earlier servers":            `{"servers": {"a": {"command": "evil"}}, "servers": {"a": {"command": "good", "args": ["1", "2", "3.50"]}}}`,
		"a name with escapes":        `{"servers": {"\u0061": {"command": "evil"}, "a": {"command": "evil", "\u0063ommand": "good", "args": ["1", "2", "3.50"]}}}`,
		"a member in mixed spelling": `{"Servers": {"b": {}}, "servers": {"a": {"Command": "evil", "command": "good", "args": ["1", "2", "3.50"]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			ws, _ := folder(t, text)
			got := load(ws)
			if len(got.Servers) != 1 {
				t.Fatalf("%+v", got)
			}
			s := got.Servers[0]
			if s.Command != "good" || strings.Join(s.Args, " ") != "1 2 3.50" || len(s.Env) > 0 {
				t.Errorf("%s runs %q %q %v", s.Name, s.Command, s.Args, s.Env)
			}
		})
	}
}

func TestAnotherProgramsWordForATransport(t *testing.T) {
	for written, want := range map[string]protocol.Transport{
		"streamable-http": protocol.TransportHTTP, "streamableHttp": protocol.TransportHTTP, "streamable_http": protocol.TransportHTTP,
		"streamable": protocol.TransportHTTP, "http-stream": protocol.TransportHTTP,
		"HTTP": protocol.TransportHTTP, "SSE": protocol.TransportSSE, "ws": protocol.TransportWS,
	} {
		ws, _ := folder(t, `{"servers": {"a": {"type": "`+written+`", "url": "https://a.example"}}}`)
		if got := load(ws); len(got.Servers) != 1 || got.Servers[0].Transport != want {
			t.Errorf("%s: %+v", written, got)
		}
	}
}

func TestAnEmptyFileHasNoServers(t *testing.T) {
	ws, path := folder(t, " \n")
	if got := load(ws); len(got.Problems)+len(got.Servers) > 0 {
		t.Errorf("%+v", got)
	}
	ws.ConfigFile = path
	if got := load(ws).Problems; len(got) != 1 || got[0].Message != `is empty: it needs an object with the member "servers"` {
		t.Errorf("a file that the person named: %+v", got)
	}
}

// program makes an executable file and returns its path.
func program(t *testing.T, dir, name string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestResolvePutsInTheVariables(t *testing.T) {
	ws, bin := t.TempDir(), t.TempDir()
	path := program(t, bin, "server")
	if err := os.WriteFile(filepath.Join(ws, ".env"), []byte("# keys\nKEY='from file'\nexport OTHER=2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := config.Server{
		Name: "s", Folder: ws, Command: "${env:NAME}", EnvFile: "${workspaceFolder}/.env", Cwd: "sub",
		Args:         []string{"--home=${userHome}", "${workspaceFolderBasename}${/}x", "${env:UNSET}", "${input:key}${input:key}", "$plain {}"},
		Env:          map[string]*string{"REMOVED": nil, "ADDED": new("${input:key}!")},
		SourceRights: config.SourceRights{Inputs: map[string]config.Input{"key": {ID: "key", Type: protocol.PromptString, Password: true}}},
	}
	var asked []string
	cmd, err := s.Resolve(t.Context(), config.Environment{
		Environ: []string{"PATH=relative" + string(filepath.ListSeparator) + bin, "PATHEXT=.exe", "NAME=server", "REMOVED=1", "KEY=old"},
		Home:    "/home/me",
		Ask: func(_ context.Context, server config.Server, in config.Input) (string, error) {
			asked = append(asked, server.Name+":"+in.ID)
			return "K", nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if cmd.Path != path || cmd.Dir != filepath.Join(ws, "sub") {
		t.Errorf("path, dir = %s, %s", cmd.Path, cmd.Dir)
	}
	want := []string{"server", "--home=/home/me", filepath.Base(ws) + string(filepath.Separator) + "x", "", "KK", "$plain {}"}
	if diff := cmp.Diff(want, cmd.Args); diff != "" {
		t.Errorf("args (-want +got):\n%s", diff)
	}
	for _, kv := range []string{"KEY=from file", "OTHER=2", "ADDED=K!"} {
		if !slices.Contains(cmd.Env, kv) {
			t.Errorf("env has no %s: %v", kv, cmd.Env)
		}
	}
	for _, kv := range cmd.Env {
		if strings.HasPrefix(kv, "REMOVED=") || kv == "KEY=old" {
			t.Errorf("env still has %s", kv)
		}
	}
	if len(asked) != 3 || asked[0] != "s:key" {
		t.Errorf("asked for %v", asked)
	}
}

func TestResolveWithoutAWorkspaceFolder(t *testing.T) {
	folder := t.TempDir()
	path := program(t, folder, "server")
	if err := os.WriteFile(filepath.Join(folder, ".env"), []byte("KEY=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ cwd, want string }{{"", folder}, {"..", filepath.Dir(folder)}} {
		command := "." + string(filepath.Separator) + filepath.Base(path)
		if tt.cwd != "" {
			command = path
		}
		s := config.Server{Name: "s", Command: command, EnvFile: ".env", Cwd: tt.cwd}
		cmd, err := s.Resolve(t.Context(), config.Environment{Folder: folder, Environ: []string{"PATHEXT=.exe"}})
		if err != nil {
			t.Fatal(err)
		}
		if cmd.Path != path || cmd.Dir != tt.want || !slices.Contains(cmd.Env, "KEY=1") {
			t.Errorf("with the cwd %q: %s in %s with %q", tt.cwd, cmd.Path, cmd.Dir, cmd.Env)
		}
	}
}

func TestResolveSaysWhatItLookedFor(t *testing.T) {
	ws, bin := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "data"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(ws, "large.env")
	if err := os.WriteFile(large, bytes.Repeat([]byte("#\n"), 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		server config.Server
		want   string
	}{
		{"not in PATH", config.Server{Command: "nothing"}, `"nothing" was not found in PATH, which is ` + bin},
		{"not executable", config.Server{Command: "data"}, `"data" was not found in PATH`},
		{"not at its path", config.Server{Command: "./bin/x", Folder: ws}, "there is no program " + filepath.Join(ws, "bin/x")},
		{"an unknown variable", config.Server{Command: "${command:x}"}, "${command:x}: this variable is not known"},
		{"no folder", config.Server{Command: "${workspaceFolder}/x"}, "${workspaceFolder}: no folder is open"},
		{"an unknown input", config.Server{Command: "x", Args: []string{"${input:nope}"}, Source: "mcp.json"}, `mcp.json has no input with the id "nope"`},
		{"an input that was not given", config.Server{Command: "${input:key}", SourceRights: config.SourceRights{Inputs: map[string]config.Input{"key": {}}}}, "${input:key}: dismissed"},
		{"a large envFile", config.Server{Command: "x", EnvFile: large}, "the envFile cannot be read: " + large + " has more than 4194304 bytes"},
		{"an envFile without an end", config.Server{Command: "x", EnvFile: os.DevNull}, "the envFile cannot be read: " + os.DevNull + " is not a file"},
		{"no envFile", config.Server{Command: "x", EnvFile: filepath.Join(ws, "no.env")}, "the envFile cannot be read"},
	}
	program(t, bin, "x")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.server.Resolve(t.Context(), config.Environment{
				Environ: []string{"PATH=" + bin, "PATHEXT=.exe"},
				Ask: func(context.Context, config.Server, config.Input) (string, error) {
					return "", errors.New("dismissed")
				},
			})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Resolve = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestEndpoint(t *testing.T) {
	e := config.Environment{
		Environ: []string{"HOST=example.org"},
		Ask:     func(context.Context, config.Server, config.Input) (string, error) { return "K\n", nil }, // as from a file
	}
	s := config.Server{
		Transport: protocol.TransportHTTP, URL: "https://${env:HOST}/mcp\n",
		Headers:      map[string]string{"authorization": "Bearer ${input:key}"},
		SourceRights: config.SourceRights{Inputs: map[string]config.Input{"key": {ID: "key"}}},
	}
	u, headers, err := s.Endpoint(t.Context(), e)
	if err != nil || u.String() != "https://example.org/mcp" || headers.Get("Authorization") != "Bearer K" {
		t.Errorf("Endpoint = %v, %v, %v", u, headers, err)
	}
	tests := []struct {
		name   string
		server config.Server
		want   string
	}{
		{"another scheme", config.Server{Transport: protocol.TransportHTTP, URL: "ftp://u:secret@x/"}, "the url ftp://x/ must begin with http:// or https://"},
		{"no scheme", config.Server{Transport: protocol.TransportSSE, URL: "example.org"}, "must begin with http:// or https://"},
		{"a WebSocket by http", config.Server{Transport: protocol.TransportWS, URL: "http://x/"}, "must begin with ws:// or wss://"},
		{"no URL at all", config.Server{Transport: protocol.TransportHTTP, URL: "http://[::1"}, "the url cannot be read: missing ']' in host"},
		{"a secret in no URL", config.Server{Transport: protocol.TransportHTTP, URL: "http://u:sec/ret@x"}, "the url cannot be read: invalid port after host"},
		{"a header's name with a space", config.Server{Transport: protocol.TransportHTTP, URL: "http://x", Headers: map[string]string{"X Key": "a"}}, `the header "X Key" has a name that HTTP does not allow`},
		{"a header of two lines", config.Server{Transport: protocol.TransportHTTP, URL: "http://x", Headers: map[string]string{"A": "b\nc"}}, `the value of the header "A" has a line break`},
		{"an unknown variable", config.Server{Transport: protocol.TransportHTTP, URL: "${x}"}, "this variable is not known"},
		{"an unknown variable in a header", config.Server{Transport: protocol.TransportHTTP, URL: "http://x", Headers: map[string]string{"A": "${x}"}}, `the header "A": ${x}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := tt.server.Endpoint(t.Context(), e); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Endpoint = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestAChangedFileIsSeen(t *testing.T) {
	for _, tt := range []struct{ name, watched, changed string }{
		{"of a folder", config.FileName, config.FileName},
		{"the other one of a folder", config.RootFileName, config.RootFileName},
		{"two folders below the first that exists", filepath.Join("a", "b", "mcp.json"), filepath.Join("a", "b", "mcp.json")},
		{"any of a folder", filepath.Join("a", "b.d", config.AnyFile), filepath.Join("a", "b.d", "10-more.json")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // a file that is gone has to rest
			dir := t.TempDir()
			changed := make(chan struct{}, 100)
			w := config.NewWatcher(func() { changed <- struct{}{} }, zerolog.New(zerolog.NewTestWriter(t)))
			defer w.Close()
			path, files := filepath.Join(dir, tt.changed), []string{filepath.Join(dir, tt.watched), filepath.Join(dir, "other.json")}
			w.Watch(files)
			first, _, inFolder := strings.Cut(tt.changed, string(filepath.Separator))
			for range 2 { // its folders come after the watching began, go, and come again
				if inFolder {
					if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
						t.Fatal(err)
					}
					<-changed
				}
				for _, text := range []string{`{"servers":{}}`, `{"servers":{"a":{"command":"x"}}}`} { // editors replace a file
					if err := os.WriteFile(path+".tmp", []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
					if err := os.Rename(path+".tmp", path); err != nil {
						t.Fatal(err)
					}
					<-changed
				}
				if err := os.RemoveAll(filepath.Join(dir, first)); err != nil {
					t.Fatal(err)
				}
				<-changed
			}
			w.Watch(nil)
			w.Close()
			w.Watch(files) // after the end: nothing
		})
	}
}

func TestServersStayWhileTheirFileIsWritten(t *testing.T) {
	const good = `{"servers": {"a": {"command": "x"}}}`
	ws, path := folder(t, good)
	user := filepath.Join(t.TempDir(), "mcp.json")
	memory := config.Memory{}
	for _, tt := range []struct {
		name, text        string // "": the files are gone
		servers, problems int
	}{
		{"good", good, 2, 0},
		{"half", `{"servers": {`, 2, 2},
		{"half, for longer", `{"servers": {"b": {"comm`, 2, 2},
		{"good again", good, 2, 0},
		{"empty", " ", 0, 0},
		{"half, after it was empty", `{"servers": {`, 0, 2},
		{"good once more", good, 2, 0},
		{"gone", "", 0, 0},
		{"half, after it was gone", `{"servers": {`, 0, 2},
	} {
		for _, file := range []string{path, user} {
			text := strings.ReplaceAll(tt.text, `"a"`, `"`+filepath.Base(filepath.Dir(file))+`"`) // two of one name would be a problem
			err := os.WriteFile(file, []byte(text), 0o600)
			if tt.text == "" {
				err = os.Remove(file)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got := memory.Load(protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{ws}}, user)
		if len(got.Servers) != tt.servers || len(got.Problems) != tt.problems {
			t.Errorf("%s: the servers %v, the problems %v", tt.name, got.Servers, got.Problems)
		}
		for _, p := range got.Problems {
			if says := strings.Contains(p.Message, "its servers are those of before"); says != (tt.servers > 0) {
				t.Errorf("%s: %s", tt.name, p.Message)
			}
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(`{"servers": {"a": {"command": "x", "env": {"A": 1}}}, "inputs": [{"id": "i", "type": "promptString"}]}`)
	f.Add("{\"servers\": {\"\\ud800\": {}}, // \n}")
	f.Fuzz(func(t *testing.T, text string) {
		ws, _ := folder(t, text)
		got := load(ws)
		names := map[string]bool{}
		for _, s := range got.Servers {
			if names[s.Name] || s.Command == "" {
				t.Fatalf("Load = %+v", got.Servers)
			}
			names[s.Name] = true
		}
	})
}

// TestUserFile has servers of the person's own file beside those of a folder.
func TestUserFile(t *testing.T) {
	folder := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(folder, config.FileName), `{"servers": {
		"both": {"command": "/opt/Assent", "args": ["gateway", "both"]},
		"windows": {"command": "C:\\assent.EXE", "args": ["gateway"]},
		"thief": {"command": "${secret:key}"}}}`)
	user := filepath.Join(t.TempDir(), "mcp.json")
	write(user, `{"servers": {"both": {"command": "x", "args": ["${secret:key}", "${workspaceFolder}"]}}}`)
	c := protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{{Path: folder}}}
	loaded := config.Load(c, user)
	if len(loaded.Problems) != 0 || len(loaded.Servers) != 2 {
		t.Fatalf("%+v", loaded)
	}
	thief, mine := loaded.Servers[0], loaded.Servers[1]
	if mine.Source != user || mine.Unconfirmed || mine.Folder != folder || !thief.Unconfirmed {
		t.Errorf("%+v", loaded.Servers)
	}
	e := config.Environment{Environ: os.Environ(), Secret: func(name string) (string, error) { return "kept " + name + " ${secret:key}", nil }}
	if got := thief.Launch(t.Context(), e).Err; got == nil || !strings.Contains(got.Error(), "only servers of your own file can use kept secrets") {
		t.Error(got)
	}
	if got := mine.Launch(t.Context(), e).Shown.Args; len(got) != 2 || got[0] != "${secret:key}" {
		t.Errorf("%q", got)
	}
	c.WorkspaceFolders[0].ConfigFile = filepath.Join(folder, config.FileName)
	if loaded := config.Load(c, user); len(loaded.Servers) != 1 {
		t.Errorf("with a file of the command line: %+v", loaded.Servers)
	}
	write(user, `{"servers": `)
	c.WorkspaceFolders[0].ConfigFile = ""
	if loaded := config.Load(c, user); len(loaded.Problems) != 1 || loaded.Problems[0].Source != user {
		t.Errorf("%+v", loaded.Problems)
	}
}

// TestEditorFile has servers of the editor's own file beside those of a folder, of the settings and of the person's own file.
func TestEditorFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write(config.FileName, `{"servers": {"a": {"command": "folder"}}}`)
	editor := write("User/mcp.json", `{
		"inputs": [{"id": "k", "type": "promptString"}],
		"servers": {
			"a": {"command": "editor"},
			"b": {"command": "editor"},
			"c": {"command": "editor", "args": ["${input:k}", "${secret:x}"]},
			"d": {"command": "assent", "args": ["gateway", "d"]},
		},
	}`)
	user := write("assent/mcp.json", `{"servers": {"c": {"command": "user"}, "d": {"command": "user"}}}`)
	c := protocol.Configuration{
		WorkspaceFolders: []protocol.WorkspaceFolder{{Path: dir}}, EditorFile: editor,
		Servers: json.RawMessage(`{"b": {"command": "settings"}}`),
	}
	told := func() (from []string) {
		for _, s := range config.Load(c, user).Servers {
			from = append(from, s.Name+" "+s.Command)
		}
		return from
	}
	if diff := cmp.Diff([]string{"a folder", "b settings", "c editor", "d user"}, told()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	third := config.Load(c, user).Servers[2]
	if third.Source != editor || third.Folder != dir || third.Unconfirmed || third.KeptSecrets || third.Inputs["k"].ID != "k" {
		t.Errorf("%+v", third)
	}
	if problems := config.Load(c, user).Problems; len(problems) != 3 || problems[0].Source != editor || problems[2].Source != user {
		t.Errorf("%+v", problems)
	}

	write("User/mcp.json", "\n")
	if diff := cmp.Diff([]string{"a folder", "b settings", "c user", "d user"}, told()); diff != "" {
		t.Errorf("with an empty file (-want +got):\n%s", diff)
	}
	c.EditorFile = filepath.Join(dir, "none.json")
	if problems := config.Load(c, user).Problems; len(problems) > 0 {
		t.Errorf("without a file: %+v", problems)
	}
	c.EditorFile = editor
	c.WorkspaceFolders[0].ConfigFile = filepath.Join(dir, config.FileName)
	if diff := cmp.Diff([]string{"a folder", "b settings"}, told()); diff != "" {
		t.Errorf("with a file of the command line (-want +got):\n%s", diff)
	}
}

// TestWhereServersStart is about what a clone of a repository could bring along.
func TestWhereServersStart(t *testing.T) {
	shell := map[bool]string{true: "cmd", false: "sh"}[runtime.GOOS == "windows"]
	ws, path := folder(t, `{"servers": {"theirs": {"command": "`+shell+`", "envFile": "x.env"}}}`)
	home, here := t.TempDir(), t.TempDir()
	for _, dir := range []string{home, here, ws.Path} {
		if err := os.WriteFile(filepath.Join(dir, "x.env"), []byte("FROM="+dir), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own := filepath.Join(home, "mcp.json")
	servers := `{"plain": {"command": "sh", "envFile": "x.env"}, "below": {"command": "sh", "cwd": "sub"}, "in": {"command": "sh", "cwd": "${workspaceFolder}"},
		"under": {"command": "sh", "cwd": "${workspaceFolder}/sub"}, "its": {"command": "${workspaceFolder}/sh"}, "path": {"command": "sh", "env": {"PATH": "${workspaceFolder}"}},
		"file": {"command": "sh", "envFile": "${workspaceFolder}/x.env"}, "last": {"command": "sh", "cwd": "${workspaceFolderBasename}"}, "data": {"command": "sh", "args": ["${workspaceFolder}"]}, "far": {"url": "https://example.org"}}`
	servers = strings.ReplaceAll(servers, `"sh"`, `"`+shell+`"`)
	if err := os.WriteFile(own, []byte(`{"servers": `+servers+`}`), 0o600); err != nil {
		t.Fatal(err)
	}
	e := config.Environment{Environ: []string{"PATH=" + os.Getenv("PATH")}, Home: home, Folder: here}
	asked := map[string]bool{"in": true, "under": true, "its": true, "path": true, "file": true, "last": true}
	for _, tt := range []struct {
		name   string
		c      protocol.Configuration
		user   string
		change func(*protocol.WorkspaceFolder)
		asks   bool
	}{
		{"the own file", protocol.Configuration{}, own, func(*protocol.WorkspaceFolder) {}, true},
		{"the editor's own file", protocol.Configuration{EditorFile: own}, "", func(*protocol.WorkspaceFolder) {}, true},
		{"the settings", protocol.Configuration{Servers: json.RawMessage(servers)}, "", func(*protocol.WorkspaceFolder) {}, true},
		{"vouched for", protocol.Configuration{}, own, func(f *protocol.WorkspaceFolder) { f.Vouched = true }, false},
		{"confirmed", protocol.Configuration{}, own, func(f *protocol.WorkspaceFolder) { f.Confirmed = true }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ws := ws
			tt.change(&ws)
			tt.c.WorkspaceFolders = []protocol.WorkspaceFolder{ws}
			want := map[string]string{"theirs": ws.Path, "plain": home, "below": filepath.Join(home, "sub"), "in": ws.Path, "under": filepath.Join(ws.Path, "sub")}
			for _, s := range config.Load(tt.c, tt.user).Servers {
				if isOwn := s.Source != path; s.Own != isOwn || isOwn && s.Unconfirmed != (tt.asks && asked[s.Name]) {
					t.Errorf("%s: own %v, unconfirmed %v", s.Name, s.Own, s.Unconfirmed)
				}
				if want[s.Name] == "" {
					continue
				}
				if shown := s.Shown(t.Context(), e); filepath.Clean(shown.Cwd) != want[s.Name] {
					t.Errorf("%s is said to start in %s, want %s", s.Name, shown.Cwd, want[s.Name])
				}
				cmd, err := s.Resolve(t.Context(), e)
				if err != nil {
					t.Fatal(err)
				}
				if filepath.Clean(cmd.Dir) != want[s.Name] {
					t.Errorf("%s starts in %s, want %s", s.Name, cmd.Dir, want[s.Name])
				}
				from := map[string]string{"plain": "FROM=" + home, "theirs": "FROM=" + here}[s.Name]
				if from != "" && !slices.Contains(cmd.Env, from) {
					t.Errorf("%s does not get %s", s.Name, from)
				}
			}
		})
	}
}

// What an own server runs does not depend on the folder, so a grant for it counts in all.
func TestAnOwnServerIsTheSameInEachFolder(t *testing.T) {
	e := config.Environment{Home: "/home/me"}
	of := func(folder, cwd string) string {
		return config.Server{Transport: protocol.TransportStdio, Command: "npx", Cwd: cwd, Folder: folder, SourceRights: config.SourceRights{Own: true}}.Identity(t.Context(), e)
	}
	if of("/a", "") != of("/b", "") {
		t.Error("without a cwd, the folder makes a difference")
	}
	if of("/a", "${workspaceFolder}") == of("/b", "${workspaceFolder}") {
		t.Error("in the folder, the folder makes no difference")
	}
}

// TestARelativeFolderOfSettings: XDG_CONFIG_HOME has to be absolute, or else it does not count.
func TestARelativeFolderOfSettings(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", "")
	want := config.UserFile()
	t.Setenv("XDG_CONFIG_HOME", "relative")
	if got := config.UserFile(); got != want || want == "" {
		t.Errorf("it is %q, want %q", got, want)
	}
}
