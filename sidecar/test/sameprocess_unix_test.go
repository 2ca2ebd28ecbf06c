//go:build unix

package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
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

// TestEachSessionHasItsEnvironment: a server gets the variables of the session that uses it, while sessions with others are
// open in the same folder. Codex gives each entry only the variables that it names.
func TestEachSessionHasItsEnvironment(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		result := map[string]string{
			"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"1"}}`,
			"tools/list": `{"tools":[{"name":"process","inputSchema":{"type":"object"}}]}`,
			"tools/call": fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, r.Header.Get("Authorization")),
		}[m.Method]
		if r.URL.Path == "/modern" {
			const complete = `"resultType":"complete","ttlMs":0,"cacheScope":"private",`
			result = map[string]string{
				"server/discover": `{` + complete + `"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"modern","version":"1"}}`,
				"tools/list":      strings.Replace(result, "{", "{"+complete, 1),
				"tools/call":      strings.Replace(result, "{", `{"resultType":"complete",`, 1),
			}[m.Method]
		}
		switch {
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case result == "":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
		}
	}))
	t.Cleanup(web.Close)
	p := newPerson(t, "{}")
	p.write(filepath.Join(p.home, ".codex", "config.toml"),
		"[mcp_servers.other]\ncommand = \"placed\"\n[mcp_servers.team]\ncommand = \"placed\"\nenv_vars = [\"TOKEN\"]\n"+
			"[mcp_servers.web]\nurl = \""+web.URL+"\"\nbearer_token_env_var = \"TOKEN\"\n"+
			"[mcp_servers.modern]\nurl = \""+web.URL+"/modern\"\nbearer_token_env_var = \"TOKEN\"\n")
	if out, err := p.in(t.TempDir(), "setup", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	folder := p.project()
	start := func(tool, environment string, args ...string) (call func() string) {
		c := p.in(folder, append([]string{"gateway"}, args...)...)
		c.Env = append(bare(p), environment)
		h := startHostThat(t, "2025-11-25", "{}", c)
		h.call("tools/list", "{}")
		return func() string { return h.call("tools/call", `{"name":"`+tool+`"}`) }
	}
	open := func(host, server, environment string) (call func() string) {
		return start("process", environment, "--own", "--host", host, server)
	}
	other := open("codex", "other", "OTHER=1")
	calls := map[string]func() string{
		"team=codex's":          open("codex", "team", "TOKEN=codex's"),
		"team=another's":        open("claude-code", "team", "TOKEN=another's"),
		"web=Bearer codex's":    open("codex", "web", "TOKEN=codex's"),
		"web=Bearer 2":          open("claude-code", "web", "TOKEN=2"),
		"modern=Bearer codex's": open("codex", "modern", "TOKEN=codex's"),
		"modern=Bearer 2":       open("claude-code", "modern", "TOKEN=2"),
		"modern=Bearer 3":       open("cursor", "modern", "TOKEN=3"),
		"team=4":                start("process", "TOKEN=4", "team"), // an entry by hand
		"modern=Bearer 5":       start("process", "TOKEN=5", "modern"),
		"team=6":                start("team__process", "TOKEN=6"), // all servers
		"web=Bearer 7":          start("web__process", "TOKEN=7"),
		"modern=Bearer 8":       start("modern__process", "TOKEN=8"),
	}
	if got := processIn(t, other()); slices.ContainsFunc(got.Env, func(kv string) bool { return strings.HasPrefix(kv, "TOKEN=") }) {
		t.Errorf("the server that is given no TOKEN has %q", got.Env)
	}
	for name, call := range calls {
		for range 2 { // also once each has called
			checkCall(t, name, call())
		}
	}
	// A window's task has that of the window, also on a server that all tasks share and a host has started.
	data := t.TempDir()
	serve := p.in(folder, "serve", "--data-dir", data)
	serve.Env = append(bare(p), "TOKEN=window's")
	window := startTalk(t, serve)
	err := window.shakeHands()
	ofHost := start("modern__process", "TOKEN=host's", "--data-dir", data)
	var created protocol.Task
	if err == nil {
		err = window.Call("task/create", map[string]any{"title": "A task"}, &created)
	}
	if err == nil {
		err = window.Call("call/start", map[string]any{
			"taskId": created.ID, "serverName": "modern", "request": map[string]any{"type": "tools/call", "toolName": "process"},
		}, &protocol.StartCallResult{})
	}
	if err != nil {
		t.Fatal(err)
	}
	said, err := json.Marshal(awaitEnd(t, window, created.ID))
	if err != nil || !strings.Contains(string(said), `"text":"Bearer window's"`) {
		t.Errorf("the window's task has %s, %v", said, err)
	}
	checkCall(t, "modern=Bearer host's", ofHost())
}

// checkCall checks that a call's result has the variable TOKEN of its session.
func checkCall(t *testing.T, name, got string) {
	t.Helper()
	server, want, _ := strings.Cut(name, "=")
	isThere := strings.Contains(got, `"text":"`+want+`"`)
	if server == "team" {
		isThere = slices.Contains(processIn(t, got).Env, "TOKEN="+want)
	}
	if !isThere {
		t.Errorf("the server %s has not %s: %s", server, want, got)
	}
}
