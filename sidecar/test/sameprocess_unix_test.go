//go:build unix

package test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/daemon"
	"assent/sidecar/setup/hostfile"
)

// TestAServersProcessIsTheSame: after setup, a server gets the arguments, the environment with its PATH, the folder, and the
// kinds of stdin and stdout that it got when its host started it, also if the daemon was started with other ones.
func TestAServersProcessIsTheSame(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("placed")
	if err != nil {
		t.Fatal(err)
	}
	placedIn := strings.NewReplacer("PLACED", filepath.Dir(program))
	for _, tt := range []struct {
		host, file string // below the home folder
		syntax     hostfile.Syntax
		at         hostfile.Path
		text       string
		env        []string // that the entry gives
		inherits   []string // that the host passes on beside HOME, PATH and LANG
		// inHome says that the folder has to differ: the host does not ask whether the person trusts one, so its servers start
		// in the home folder, which the plan says.
		inHome bool
	}{
		{
			host: "claude-code", file: ".claude.json", at: hostfile.Path{"mcpServers"},
			text: `{"mcpServers": {"s": {"type": "stdio", "command": "placed", "args": ["a b", "", "$X", "ü\"'\\"], "env": {"A": "b c", "EMPTY": ""}}}}`,
			env:  []string{"A=b c", "EMPTY="}, inherits: []string{"HOST_ONLY=1"},
		},
		{
			host: "codex", file: ".codex/config.toml", syntax: hostfile.TOML, at: hostfile.Path{"mcp_servers"},
			text: "[mcp_servers.s]\ncommand = \"placed\"\nargs = [\"--x=1\"]\nenv_vars = [\"TOKEN\"]\nenv = { A = \"b\" }\n",
			env:  []string{"A=b"}, inherits: []string{"TOKEN=t"},
		},
		{
			host: "cursor", file: ".cursor/mcp.json", at: hostfile.Path{"mcpServers"},
			text: `{"mcpServers": {"s": {"command": "placed", "env": {"PATH": "PLACED:/nowhere"}}}}`,
			env:  []string{"PATH=PLACED:/nowhere"}, inherits: []string{"HOST_ONLY=1", "LC_ALL=C"},
			inHome: true,
		},
	} {
		t.Run(tt.host, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, "{}")
			folder := p.project()
			path := filepath.Join(p.home, filepath.FromSlash(tt.file))
			p.write(path, placedIn.Replace(tt.text))
			start := func(entry []byte, more []string) process {
				var e struct {
					Command string
					Args    []string
				}
				if err := json.Unmarshal(entry, &e); err != nil {
					t.Fatal(err)
				}
				c := exec.Command(e.Command, e.Args...)
				c.Dir = folder
				c.Env = append(slices.Concat(bare(p), tt.inherits), more...)
				c.Args[0] = e.Command
				h := startHostThat(t, "2025-11-25", "{}", c)
				defer h.leave()
				return processIn(t, h.call("tools/call", `{"name":"process"}`))
			}
			entry := func() []byte {
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				f, err := hostfile.Parse(tt.syntax, data)
				if err != nil {
					t.Fatal(err)
				}
				e, err := f.Entry(tt.at, "s")
				if err != nil {
					t.Fatal(err)
				}
				return e.Value
			}
			before := start(entry(), strings.Split(placedIn.Replace(strings.Join(tt.env, "\n")), "\n"))
			shell := p.in(t.TempDir(), "setup", "--yes")
			shell.Env = append(shell.Env, "SHELL_ONLY=1", "TOKEN=of the shell", "LANG=of the shell")
			if out, err := shell.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			started := p.in(t.TempDir(), "servers")
			started.Env = append(started.Env, "SHELL_ONLY=1", "TOKEN=of the shell", "LANG=of the shell")
			if out, err := started.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			after := start(entry(), nil)
			if tt.inHome && after.Folder == p.home {
				after.Folder = before.Folder
			}
			// By this variable, Assent finds the processes that a server leaves behind.
			after.Env = slices.DeleteFunc(after.Env, func(kv string) bool { return strings.HasPrefix(kv, "ASSENT_SERVER=") })
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("(-of the host +of Assent):\n%s", diff)
			}
		})
	}
}

// bare is the environment that hosts pass on, with what finds the daemon of a test.
func bare(p person) []string {
	env := []string{"HOME=" + p.home, "LANG=C.UTF-8", daemon.FolderVariable + "=" + p.folder}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); name == "PATH" {
			env = append(env, kv)
		}
	}
	return env
}

// processIn returns what the tool process told in a frame.
func processIn(t *testing.T, frame string) process {
	t.Helper()
	var f struct {
		Result struct{ Content []struct{ Text string } }
	}
	var p process
	err := json.Unmarshal([]byte(frame), &f)
	if err == nil && len(f.Result.Content) == 1 {
		err = json.Unmarshal([]byte(f.Result.Content[0].Text), &p)
	}
	if err != nil || p.Folder == "" {
		t.Fatalf("the server told nothing: %v %s", err, frame)
	}
	return p
}
