package config_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/config"
)

// identify returns the identity and the definition of the one server that the settings have.
func identify(t *testing.T, folder, server string, environ ...string) (identity, definition string) {
	t.Helper()
	loaded := config.Load(protocol.Configuration{
		WorkspaceFolders: []protocol.WorkspaceFolder{{Path: folder}},
		Servers:          json.RawMessage(`{"s": ` + server + `}`),
		Inputs:           json.RawMessage(`[{"type": "promptString", "id": "key"}]`),
	}, "")
	if len(loaded.Servers) != 1 {
		t.Fatalf("%s: %+v", server, loaded.Problems)
	}
	e := config.Environment{Environ: environ, Home: "/home/a", Ask: func(context.Context, config.Server, config.Input) (string, error) {
		t.Error("the person is asked for an input")
		return "", nil
	}}
	s := loaded.Servers[0]
	if shown := s.Shown(t.Context(), e); shown.Transport != s.Transport {
		t.Errorf("the person is shown %+v", shown)
	}
	return s.Identity(t.Context(), e), s.Definition(t.Context(), e)
}

func TestAnotherDefinitionIsAnotherServer(t *testing.T) {
	const stdio = `{"command": "npx", "args": ["-y", "x y", "${env:A}"], "env": {"K": "v", "GONE": null}, "cwd": "sub"}`
	const remote = `{"url": "https://a.example/mcp", "headers": {"X-A": "1"}, "oauth": {"scopes": ["a b"]}}`
	tests := []struct{ name, a, b string }{
		{"another command", stdio, strings.Replace(stdio, `"npx"`, `"npx2"`, 1)},
		{"an argument's border", stdio, strings.Replace(stdio, `"-y", "x y"`, `"-y x", "y"`, 1)},
		{"a border between the command and an argument", stdio, strings.Replace(stdio, `"npx", "args": ["-y",`, `"npx -y", "args": [`, 1)},
		{"a quote in an argument", `{"command": "c", "args": ["a\" \"b"]}`, `{"command": "c", "args": ["a", "b"]}`},
		{"arguments in another order", `{"command": "c", "args": ["a", "b"]}`, `{"command": "c", "args": ["b", "a"]}`},
		{"one empty argument more", `{"command": "c"}`, `{"command": "c", "args": [""]}`},
		{"another folder", stdio, strings.Replace(stdio, `"sub"`, `"other"`, 1)},
		{"another value in the environment", stdio, strings.Replace(stdio, `"v"`, `"w"`, 1)},
		{"another name in the environment", stdio, strings.Replace(stdio, `"K"`, `"L"`, 1)},
		{"a variable that is set and not removed", stdio, strings.Replace(stdio, `null`, `""`, 1)},
		{"an envFile", stdio, strings.Replace(stdio, `"cwd"`, `"envFile": "none", "cwd"`, 1)},
		{"an input in the path of the envFile", stdio, strings.Replace(stdio, `"cwd"`, `"envFile": "${input:key}.env", "cwd"`, 1)},
		{"another URL", remote, strings.Replace(remote, "a.example", "b.example", 1)},
		{"another transport", remote, strings.Replace(remote, `"url"`, `"type": "sse", "url"`, 1)},
		{"another header", remote, strings.Replace(remote, "X-A", "X-B", 1)},
		{"another value of a header", remote, strings.Replace(remote, `"1"`, `"2"`, 1)},
		{"other scopes", remote, strings.Replace(remote, `"a b"`, `"a", "b"`, 1)},
		{"another issuer", remote, strings.Replace(remote, `"scopes"`, `"issuer": "https://i.example", "scopes"`, 1)},
		{"an older version", remote, strings.Replace(remote, `"url"`, `"protocolVersion": "2025-11-25", "url"`, 1)},
		{"one connection for all", remote, strings.Replace(remote, `"url"`, `"sharing": "shared", "url"`, 1)},
		{"an input in place of a value", remote, strings.Replace(remote, `"1"`, `"${input:key}"`, 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.a == tt.b {
				t.Fatal("the test compares a server with itself")
			}
			a, definitionA := identify(t, "/ws", tt.a)
			b, definitionB := identify(t, "/ws", tt.b)
			if a == b || definitionA == definitionB {
				t.Errorf("the same server: identity %v, definition %v", a == b, definitionA == definitionB)
			}
			again, definitionAgain := identify(t, "/ws", tt.a)
			if again != a || definitionAgain != definitionA {
				t.Error("the same definition is another server")
			}
		})
	}
}

func TestAnIdentityIsOfTheResolvedDefinition(t *testing.T) {
	const server = `{"command": "c", "args": ["${env:MODE}"], "env": {"ROOT": "${workspaceFolder}"}}`
	a, definitionA := identify(t, "/ws", server, "MODE=a")
	b, definitionB := identify(t, "/ws", server, "MODE=b")
	if a == b {
		t.Error("another value of a variable is the same server")
	}
	if definitionA != definitionB {
		t.Error("another value in the person's own environment is another definition")
	}
	// JSON would write both bytes alike.
	x, _ := identify(t, "/ws", server, "MODE=\xff")
	y, _ := identify(t, "/ws", server, "MODE=\xfe")
	if x == y {
		t.Error("another byte is the same server")
	}
	if c, definitionC := identify(t, "/other", server, "MODE=a"); c == a || definitionC == definitionA {
		t.Error("another workspace folder is the same server")
	}
}

func TestAnIdentityHasWhatTheEnvFileSets(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".env")
	server := `{"command": "c", "envFile": "${workspaceFolder}/.env"}`
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("NODE_OPTIONS=--no-warnings\n")
	a, definitionA := identify(t, dir, server)
	write("# the same\nNODE_OPTIONS='--no-warnings'\n")
	if again, definitionAgain := identify(t, dir, server); again != a || definitionAgain != definitionA {
		t.Error("a comment in the envFile makes another server")
	}
	write("NODE_OPTIONS=--require=./evil.js\n")
	if b, definitionB := identify(t, dir, server); b == a || definitionB == definitionA {
		t.Error("another value in the envFile is the same server")
	}
}

func TestAShownDefinitionForgesNoLine(t *testing.T) {
	for _, server := range []string{
		`{"command": "a\nFolder: b", "args": ["c\nd"], "cwd": "e\nf", "envFile": "g\nh", "env": {"i\nj": "k\nl", "LD_\nX": "m"}}`,
		`{"url": "https://a.example/b\nc", "headers": {"d\ne": "f\n${env:g\nh}"}, "oauth": {"clientId": "i\nj", "scopes": ["k\nl"]}}`,
	} {
		loaded := config.Load(protocol.Configuration{
			WorkspaceFolders: []protocol.WorkspaceFolder{{Path: t.TempDir()}},
			Servers:          json.RawMessage(`{"s": ` + server + `}`),
		}, "")
		if len(loaded.Servers) != 1 {
			t.Fatalf("%s: %+v", server, loaded.Problems)
		}
		d := loaded.Servers[0].Shown(t.Context(), config.Environment{})
		members := append([]string{d.Command, d.Cwd, d.EnvFile, d.URL}, slices.Concat(d.Warnings, d.Files)...)
		for _, v := range slices.Concat(d.Env, d.Headers, d.Login, d.Speaks) {
			members = append(members, v.Name, v.Value)
		}
		for _, member := range members {
			if strings.Contains(member, "\n") {
				t.Errorf("%q has two lines", member)
			}
		}
		if len(d.Args) > 0 && d.Args[0] != "c\nd" {
			t.Errorf("the argument is %q; front ends write it as JSON", d.Args[0])
		}
	}
}
