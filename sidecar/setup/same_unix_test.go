//go:build unix

// The paths of what is carried are those of Unix.

package setup_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/setup/hostfile"
	"assent/sidecar/setup/importer"
	"assent/sidecar/setup/vault"
)

// gets is what a server gets.
type gets struct {
	Words   []string // the command and its arguments
	Env     map[string]string
	Cwd     string
	URL     string
	Headers map[string]string
}

var environ = map[string]string{"PATH": "/bin", "SET": "is set", "HOST": "h.example", "DOCS_TOKEN": "t-1", "FIGMA_OAUTH_TOKEN": "t-2"}

// written is how hosts write variables, with the name and the default in the groups.
var written = []struct {
	hosts   string
	pattern *regexp.Regexp
}{
	{"claude-code amp kiro", regexp.MustCompile(`\$\{(\w+)(?::-([^}]*))?\}`)},
	{"gemini-cli qwen-code copilot-cli", regexp.MustCompile(`\$\{?(\w+)(?::-([^}]*))?\}?`)},
	{"opencode kilo", regexp.MustCompile(`\{env:(\w+)()\}`)},
	{"cursor vscode cline roo-code windsurf", regexp.MustCompile(`\$\{env:(\w+)()\}`)},
}

// before returns what a server gets of its host, by the host's own rules and without the code of setup.
func before(host, home, folder string, entry map[string]any) gets {
	expand := func(v any) string {
		text, ok := v.(string)
		if !ok {
			raw, _ := json.Marshal(v) // a number, true or false
			return string(raw)
		}
		for _, w := range written {
			if !slices.Contains(strings.Fields(w.hosts), host) {
				continue
			}
			text = w.pattern.ReplaceAllStringFunc(text, func(match string) string {
				groups := w.pattern.FindStringSubmatch(match)
				switch value := environ[groups[1]]; {
				case value != "":
					return value
				case groups[2] != "", strings.Contains(match, "env:"):
					return groups[2]
				}
				return match
			})
		}
		return strings.NewReplacer("${workspaceFolder}", folder, "${userHome}", home).Replace(text)
	}
	g := gets{Env: map[string]string{}, Headers: map[string]string{}, Cwd: folder}
	if transport, ok := entry["transport"].(map[string]any); ok {
		entry = transport
	}
	for _, name := range []string{"command", "cmd", "args"} {
		switch v := entry[name].(type) {
		case string:
			g.Words = append(g.Words, expand(v))
		case []any:
			for _, word := range v {
				g.Words = append(g.Words, expand(word))
			}
		case map[string]any: // of Zed's past
			return before(host, home, folder, map[string]any{"command": v["path"], "args": v["args"], "env": v["env"]})
		}
	}
	for _, name := range []string{"url", "uri", "httpUrl", "serverUrl"} {
		if v, ok := entry[name]; ok {
			g.URL, g.Cwd, g.Words = expand(v), "", nil
		}
	}
	each := func(names []string, into map[string]string) {
		for _, name := range names {
			if values, ok := entry[name].(map[string]any); ok {
				for key, v := range values {
					into[key] = expand(v)
				}
			}
		}
	}
	if g.URL == "" {
		each([]string{"env", "envs", "environment"}, g.Env)
		if cwd, ok := entry["cwd"]; ok {
			g.Cwd = expand(cwd)
		}
	} else {
		each([]string{"headers", "http_headers"}, g.Headers)
		if name, ok := entry["bearer_token_env_var"].(string); ok {
			g.Headers["Authorization"] = "Bearer " + environ[name]
		}
	}
	return g
}

// after returns what a server of the person's own file gets of Assent in a folder, for a host with an environment.
func (m *machine) after(name, folder string, environ map[string]string) gets {
	m.t.Helper()
	loaded := config.Load(protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{{Path: folder, Confirmed: true}}}, m.UserFile)
	i := slices.IndexFunc(loaded.Servers, func(s config.Server) bool { return s.Name == name })
	if i < 0 {
		m.t.Fatalf("%q is not in %s", name, m.read("assent/mcp.json"))
	}
	s := loaded.Servers[i]
	e := config.Environment{
		Home: m.Places.Home, Folder: folder, Secret: vault.Open(m.Folder).Get,
		Ask: func(_ context.Context, _ config.Server, in config.Input) (string, error) {
			return "${input:" + in.ID + "}", nil
		},
	}
	for key, value := range environ {
		e.Environ = append(e.Environ, key+"="+value)
	}
	g := gets{Env: map[string]string{}, Headers: map[string]string{}}
	if s.URL != "" {
		u, headers, err := s.Endpoint(m.t.Context(), e)
		if err != nil {
			m.t.Fatal(err)
		}
		for key := range headers {
			g.Headers[key] = headers.Get(key)
		}
		g.URL = u.String()
		return g
	}
	// A program that is there stands for the command, which then is the first argument.
	program, err := os.Executable()
	if err != nil {
		m.t.Fatal(err)
	}
	s.Command, s.Args, s.EnvFile = program, slices.Concat([]string{s.Command}, s.Args), ""
	cmd, err := s.Resolve(m.t.Context(), e)
	if err != nil {
		m.t.Fatal(err)
	}
	g.Words, g.Cwd = cmd.Args[1:], cmd.Dir
	for _, kv := range cmd.Env {
		key, value, _ := strings.Cut(kv, "=")
		g.Env[key] = value
	}
	return g
}

// TestServersGetTheSame has each of the real files. A server gets the same as before, or the plan names what differs.
func TestServersGetTheSame(t *testing.T) {
	moved := 0
	for _, f := range realFiles(t) {
		t.Run(f.name, func(t *testing.T) {
			m := newMachine(t)
			m.Places.Env = func(name string) string { return environ[name] }
			m.write(f.path, f.data)
			folder := m.Places.Folders[0]
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			pl := m.place(f.path)
			doc, err := hostfile.Parse(pl.Syntax(), f.data)
			if err != nil {
				t.Fatal(err)
			}
			entries, err := pl.Servers(doc)
			if err != nil {
				t.Fatal(err)
			}
			plan := m.find()
			m.route()
			for _, server := range plan.Servers {
				for _, c := range server.Copies {
					i := slices.IndexFunc(entries, func(e importer.Found) bool { return e.Name == c.Name && (e.Folder == c.Folder || c.Project) })
					var entry map[string]any
					if err := json.Unmarshal(entries[i].Value, &entry); err != nil {
						t.Fatal(err)
					}
					at := folder
					if c.Folder != "" {
						at = c.Folder
					}
					want, got := before(pl.ID(), m.Places.Home, at, entry), m.after(server.Name, at, environ)
					maps.DeleteFunc(got.Env, func(key, value string) bool { // the variables that it inherits in any case
						_, isSet := want.Env[key]
						return !isSet && environ[key] == value || key == "PATH"
					})
					if got.Cwd == m.Places.Home && (strings.Contains(strings.Join(server.Warnings, " "), "home folder") || pl.ID() == "claude-desktop") {
						got.Cwd = want.Cwd // the plan says so; Claude Desktop has no folder
					}
					if diff := cmp.Diff(want, got, cmp.Transformer("lower", lowerKeys)); diff != "" {
						t.Errorf("%s (-before +after):\n%s\n%s", c.Name, diff, m.read("assent/mcp.json"))
					}
					moved++
				}
			}
		})
	}
	if moved < 60 {
		t.Errorf("only %d servers moved", moved)
	}
}

func lowerKeys(m map[string]string) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		all = append(all, strings.ToLower(key)+"="+filepath.ToSlash(m[key]))
	}
	slices.Sort(all)
	return all
}
