package test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// person is a person with a home folder, files of their own, and a daemon.
type person struct {
	daemonHome
	home string
}

// newPerson returns a person with these servers in their own mcp.json.
func newPerson(t *testing.T, servers string) person {
	t.Helper()
	p := person{newDaemonHome(t), t.TempDir()}
	if resolved, err := filepath.EvalSymlinks(p.home); err == nil { // as a server sees it
		p.home = resolved
	}
	p.write(p.ownFile(), `{"servers":`+servers+`}`)
	return p
}

// ownFile is the person's own mcp.json.
func (p person) ownFile() string {
	folder := map[string]string{"darwin": "Library/Application Support", "windows": "config"}[runtime.GOOS]
	if folder == "" {
		folder = ".config"
	}
	return filepath.Join(p.home, folder, "assent", "mcp.json")
}

func (p person) write(path, text string) {
	p.t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o700)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// in returns a command of the person in a folder.
func (p person) in(folder string, args ...string) *exec.Cmd {
	c := p.command(args...)
	c.Dir = folder
	c.Env = append(c.Env, "HOME="+p.home, "USERPROFILE="+p.home, "XDG_CONFIG_HOME="+filepath.Join(p.home, ".config"), "AppData="+filepath.Join(p.home, "config"))
	return c
}

// project returns a folder with files.
func (p person) project(files ...string) string {
	p.t.Helper()
	folder, err := filepath.EvalSymlinks(p.t.TempDir())
	if err != nil {
		p.t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		p.write(filepath.Join(folder, files[i]), files[i+1])
	}
	return folder
}

// who returns the entry of a server that calls itself so.
func who(name string, members ...string) string {
	return fmt.Sprintf(`{"command":"placed","env":{"WHO":%q}%s}`, name, strings.Join(append([]string{""}, members...), ","))
}

// where returns what a [placed] server tells in the frame with the result of a call.
func where(t *testing.T, frame string) whereabouts {
	t.Helper()
	var f struct {
		Result struct{ Content []struct{ Text string } }
	}
	var at whereabouts
	err := json.Unmarshal([]byte(frame), &f)
	if err == nil && len(f.Result.Content) == 1 {
		err = json.Unmarshal([]byte(f.Result.Content[0].Text), &at)
	}
	if err != nil || at.Who == "" {
		t.Fatalf("the server told nothing: %v %s", err, frame)
	}
	return at
}

func TestAProjectsServerNeverReplacesAnOwnOne(t *testing.T) {
	t.Parallel()
	of := func(member, entry string) string { return fmt.Sprintf(`{%q:{"shop":%s}}`, member, entry) }
	for _, tt := range []struct {
		name         string
		own          string
		file, text   string
		flags        []string
		want, wanted string
	}{
		{"nothing of the project", who("own"), "README", "", []string{"--own"}, "own", ""},
		{".mcp.json", who("own"), ".mcp.json", of("mcpServers", who("project")), []string{"--own", "--host", "codex"}, "own", "project"},
		{".vscode/mcp.json", who("own"), ".vscode/mcp.json", of("servers", who("project")), []string{"--own", "--host", "codex"}, "own", "project"},
		{"the name that Assent makes", who("own"), ".mcp.json", `{"mcpServers":{"shop (your own)":` + who("project") + `}}`, []string{"--own"}, "own", ""},
		{"a file that cannot be read", who("own"), ".mcp.json", "{", []string{"--own"}, "own", ""},
		{"the same definition", who("own"), ".mcp.json", of("mcpServers", who("own")), []string{"--own"}, "own", "own"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, `{"shop":`+tt.own+`}`)
			folder := p.project(tt.file, tt.text)
			own := startHost(t, "2025-11-25", p.in(folder, slices.Concat([]string{"gateway", "--trust"}, tt.flags, []string{"shop"})...))
			if got := where(t, own.call("tools/call", `{"name":"where"}`)).Who; got != tt.want {
				t.Errorf("the host uses the server %q, want %q", got, tt.want)
			}
			if tt.wanted == "" {
				return
			}
			plain := startHost(t, "2025-11-25", p.in(folder, "gateway", "--trust", "shop")) // at the same time, in the same folder
			if got := where(t, plain.call("tools/call", `{"name":"where"}`)).Who; got != tt.wanted {
				t.Errorf("without --own, the host uses the server %q, want %q", got, tt.wanted)
			}
			if got := where(t, own.call("tools/call", `{"name":"where"}`)).Who; got != tt.want {
				t.Errorf("then the host uses the server %q, want %q", got, tt.want)
			}
		})
	}
}

// A clone may get its file after the host has started.
func TestAProjectsServerThatComesLaterReplacesNoOwnOne(t *testing.T) {
	t.Parallel()
	p := newPerson(t, `{"shop":`+who("own")+`}`)
	folder := p.project()
	own := startHost(t, "2026-07-28", p.in(folder, "gateway", "--trust", "--own", "shop"))
	plain := startHost(t, "2026-07-28", p.in(folder, "gateway", "--trust", "shop"))
	if got := where(t, plain.call("tools/call", `{"name":"where"}`)).Who; got != "own" {
		t.Errorf("without --own, the host uses the server %q", got)
	}
	p.write(filepath.Join(folder, ".mcp.json"), `{"mcpServers":{"shop":`+who("project")+`}}`)
	for { // until the file is noticed; a call that is under way then ends
		if got := plain.call("tools/call", `{"name":"where"}`); !strings.Contains(got, "its configuration has changed") && where(t, got).Who == "project" {
			break
		}
	}
	if got := where(t, own.call("tools/call", `{"name":"where"}`)).Who; got != "own" {
		t.Errorf("the host uses the server %q", got)
	}
}

func TestFlagsOfTheGatewayThatDoNotFit(t *testing.T) {
	t.Parallel()
	p := newPerson(t, `{"shop":`+who("own")+`}`)
	for _, tt := range []struct{ args, want string }{
		{"--own", "--own needs the name of a server"},
		{"--own --config x.json shop", "--config takes them from another file"},
		{"shop mail", "write an entry for each of shop, mail"},
	} {
		out, err := p.in(p.project(), append([]string{"gateway"}, strings.Fields(tt.args)...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("assent gateway %s: %v %s", tt.args, err, out)
		}
	}
}

func TestAnUnknownServerIsNamedWithWhatWasLookedAt(t *testing.T) {
	t.Parallel()
	p := newPerson(t, `{"context7":`+who("own")+`}`)
	folder := p.project(".mcp.json", `{"mcpServers":{"fetch":`+who("project")+`,"broken":{"command":5}}}`)
	for _, tt := range []struct {
		name        string
		args        []string
		want, avoid []string
	}{
		{"a near own one", []string{"contex7"}, []string{`"contex7"`, `did you mean "context7"?`, p.ownFile(), filepath.Join(folder, ".mcp.json"), filepath.Join(folder, ".vscode", "mcp.json")}, nil},
		{"a near one of the project", []string{"fetsh"}, []string{`did you mean "fetch"?`}, nil},
		{"none is near", []string{"zzzzzzzzz"}, []string{p.ownFile()}, []string{"did you mean"}},
		{"of the own ones only", []string{"--own", "contex7"}, []string{"of your own", `did you mean "context7"?`, p.ownFile()}, []string{".vscode"}},
		{"the project's is no own one", []string{"--own", "fetch"}, []string{`no MCP server "fetch" of your own`}, []string{"did you mean"}},
		{"one whose entry is faulty", []string{"broken"}, []string{`is configured, and cannot be used; `, `.mcp.json: the server "broken" cannot be read: "command" is a number`}, nil},
		{"a faulty entry of another", []string{"other"}, nil, []string{`"broken"`}},
		{"a file that is not there", []string{"--config", "no.json", "context7"}, []string{"no.json: cannot be read"}, []string{p.ownFile()}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := startHost(t, "2026-07-28", p.in(folder, append([]string{"gateway"}, tt.args...)...))
			var f struct{ Error struct{ Message string } }
			if err := json.Unmarshal([]byte(h.call("tools/list", "{}")), &f); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(f.Error.Message, want) {
					t.Errorf("%q does not name %s", f.Error.Message, want)
				}
			}
			for _, avoid := range tt.avoid {
				if strings.Contains(f.Error.Message, avoid) {
					t.Errorf("%q names %s", f.Error.Message, avoid)
				}
			}
		})
	}
}

// calledInTerminal returns where the server shop is that a terminal uses.
func (p person) calledInTerminal(folder string, flags ...string) whereabouts {
	p.t.Helper()
	return p.told(folder, append([]string{"call", "shop", "where"}, flags...)...)
}

// told returns what a call in a terminal prints.
func (p person) told(folder string, args ...string) whereabouts {
	p.t.Helper()
	c := p.in(folder, args...)
	var said, noted strings.Builder
	c.Stdout, c.Stderr = &said, &noted
	var at whereabouts
	if err := c.Run(); err != nil {
		p.t.Fatalf("%v: %s", err, &noted)
	}
	if err := json.Unmarshal([]byte(said.String()), &at); err != nil {
		p.t.Fatalf("%v: %s", err, &said)
	}
	return at
}

func TestAnOwnServerRunsThePersonsCode(t *testing.T) {
	t.Parallel()
	p := newPerson(t, `{"shop":`+who("own")+`,"below":`+who("own", `"cwd":"sub"`)+`}`)
	if err := os.Mkdir(filepath.Join(p.home, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	clone := p.project("node_modules/placed", "the clone", "sub/node_modules/placed", "the clone")
	inGateway := func(args ...string) whereabouts {
		h := startHost(t, "2025-11-25", p.in(clone, append([]string{"gateway"}, args...)...))
		return where(t, h.call("tools/call", `{"name":"where"}`))
	}
	for _, tt := range []struct {
		name, want string
		at         func() whereabouts
	}{
		{"in the terminal", p.home, func() whereabouts { return p.calledInTerminal(clone) }},
		{"in the terminal, trusted", p.home, func() whereabouts { return p.calledInTerminal(clone, "--trust") }},
		{"for a host", p.home, func() whereabouts { return inGateway("shop") }},
		{"for a host, as an own one", p.home, func() whereabouts { return inGateway("--own", "--host", "codex", "shop") }},
		{"with a relative cwd", filepath.Join(p.home, "sub"), func() whereabouts { return inGateway("--own", "below") }},
	} {
		if at := tt.at(); at.Who != "own" || at.Folder != tt.want {
			t.Errorf("%s: %q runs in %s, want the own one in %s", tt.name, at.Who, at.Folder, tt.want)
		}
	}
	// What the command line names runs where the person is.
	if out, err := p.in(clone, "call", "where", "--", "placed").CombinedOutput(); err != nil || !strings.Contains(string(out), "the clone") {
		t.Errorf("a server of the command line: %v %s", err, out)
	}
}

func TestAnOwnServerStartsInAFolderThatThePersonAllowed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, entry string }{
		{"cwd", who("own", `"cwd":"${workspaceFolder}"`)},
		{"a folder below", who("own", `"cwd":"${workspaceFolder}/."`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, `{"shop":`+tt.entry+`}`)
			first, second := p.project(), p.project()
			c := p.in(first, "call", "shop", "where")
			out, err := c.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "your own server") || !strings.Contains(string(out), first) || !strings.Contains(string(out), "--trust") {
				t.Errorf("without a person: %v %s", err, out)
			}
			if at := p.calledInTerminal(first, "--trust"); at.Folder != first {
				t.Errorf("with --trust, it runs in %s, want %s", at.Folder, first)
			}
			c = p.in(first, "call", "shop", "where", "--plain")
			c.Stdin = strings.NewReader("yes\n")
			if out, err = c.CombinedOutput(); err != nil || !strings.Contains(string(out), `Your own server "shop" would use files of the folder `+first) {
				t.Errorf("asked: %v %s", err, out)
			}
			if at := p.calledInTerminal(first); at.Folder != first { // and no second time
				t.Errorf("it runs in %s, want %s", at.Folder, first)
			}
			if out, err = p.in(second, "call", "shop", "where").CombinedOutput(); err == nil {
				t.Errorf("in another folder it runs without a question: %s", out)
			}
			hosts := map[string]*rawHost{}
			for _, folder := range []string{first, second} { // at the same time
				hosts[folder] = startHost(t, "2025-11-25", p.in(folder, "gateway", "--own", "--host", "codex", "shop"))
			}
			for folder, h := range hosts {
				if at := where(t, h.call("tools/call", `{"name":"where"}`)); at.Folder != folder {
					t.Errorf("for a host that asks for trust, it runs in %s, want %s", at.Folder, folder)
				}
			}
			unknown := startHost(t, "2025-11-25", p.in(p.project(), "gateway", "--own", "--host", "cursor", "shop"))
			if said := unknown.call("tools/call", `{"name":"where"}`); !strings.Contains(said, "you have not allowed") || !strings.Contains(said, "--trust") {
				t.Errorf("for another host: %s", said)
			}
		})
	}
}

// inFolder returns a command of the person in a folder, as a shell starts it there.
func (p person) inFolder(folder string, args ...string) *exec.Cmd {
	c := p.in(folder, args...)
	c.Env = append(c.Env, "PWD="+folder, "INIT_CWD="+folder)
	return c
}

// The folder of a clone has other names than ${workspaceFolder}.
func TestAnOwnServerComesToAFolderByNoOtherName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, member string
		asked        bool
	}{
		{"the environment's PWD", `"cwd":"${env:PWD}"`, true},
		{"a folder below it", `"cwd":"${env:INIT_CWD}${/}"`, true},
		{"a default", `"cwd":"${env:NOT_SET:-FOLDER}"`, true},
		{"its last name", `"cwd":"${userHome}/src/${workspaceFolderBasename}"`, true},
		{"an envFile", `"cwd":"${userHome}/src/clone","envFile":"${env:PWD}/.env"`, true},
		{"the home folder", `"cwd":"${env:HOME}/src/clone"`, false}, // which the person wrote
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, `{}`)
			clone := filepath.Join(p.home, "src", "clone")
			p.write(filepath.Join(clone, "node_modules", "placed"), "the clone")
			p.write(filepath.Join(clone, ".env"), "A=B")
			p.write(p.ownFile(), `{"servers":{"shop":`+who("own", strings.ReplaceAll(tt.member, "FOLDER", clone))+`}}`)
			out, err := p.inFolder(clone, "call", "shop", "where").CombinedOutput()
			if refused := err != nil && strings.Contains(string(out), "it would use files of the folder "+clone); refused != tt.asked {
				t.Errorf("in the terminal: %v %s", err, out)
			}
			h := startHost(t, "2025-11-25", p.inFolder(clone, "gateway", "--own", "--host", "cursor", "shop"))
			if said := h.call("tools/call", `{"name":"where"}`); strings.Contains(said, "you have not allowed") != tt.asked {
				t.Errorf("for a host: %s", said)
			}
			trusting := startHost(t, "2025-11-25", p.inFolder(clone, "gateway", "--own", "--host", "codex", "--data-dir", t.TempDir(), "shop"))
			if at := where(t, trusting.call("tools/call", `{"name":"where"}`)); at.Folder != clone {
				t.Errorf("for a host that asks for trust, it runs in %s", at.Folder)
			}
		})
	}
}

// The daemon may have been started where the person's own mcp.json is elsewhere.
func TestTheDaemonsEnvironmentDoesNotChooseTheOwnServers(t *testing.T) {
	t.Parallel()
	p := newPerson(t, `{"shop":`+who("one")+`}`)
	folder := p.project()
	other := p
	other.home = t.TempDir()
	other.write(other.ownFile(), `{"servers":{"shop":`+who("other")+`}}`)
	start := func(p person) *rawHost { return startHost(t, "2025-11-25", p.in(folder, "gateway", "--own", "shop")) }
	for _, tt := range []struct {
		person person
		want   string
	}{{p, "one"}, {other, "other"}, {p, "one"}} {
		h := start(tt.person)
		if at := where(t, h.call("tools/call", `{"name":"where"}`)); at.Who != tt.want {
			t.Errorf("a host uses %q, want %q", at.Who, tt.want)
		}
		if at := tt.person.calledInTerminal(folder); at.Who != tt.want {
			t.Errorf("a terminal uses %q, want %q", at.Who, tt.want)
		}
		h.leave()
	}
	shared := t.TempDir()
	for _, tt := range []struct {
		person person
		want   string
	}{{p, "one"}, {other, "other"}} { // one after the other, in one workspace
		if at := tt.person.calledInTerminal(folder, "--data-dir", shared); at.Who != tt.want {
			t.Errorf("with --data-dir, a terminal uses %q, want %q", at.Who, tt.want)
		}
	}
}

// A person who is to confirm a project's server learns that they have one of that name, and what that is.
func TestAHiddenOwnServerIsShown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, member string }{{".mcp.json", "mcpServers"}, {".vscode/mcp.json", "servers"}} {
		p := newPerson(t, `{"shop":{"command":"own-command","args":["exact"]}}`)
		folder := p.project(tt.file, fmt.Sprintf(`{%q:{"shop":%s}}`, tt.member, who("project")))
		c := p.in(folder, "tools", "shop", "--plain")
		c.Stdin = strings.NewReader("no\n")
		out, _ := c.CombinedOutput() // it is refused
		for _, want := range []string{"placed", `It hides your own server "shop" (` + p.ownFile() + ":1), which is:", "own-command", `["exact"]`} {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: the question does not say %s: %s", tt.file, want, out)
			}
		}
		listed, err := p.in(folder, "servers", "--output", "json").Output()
		if err != nil || !strings.Contains(string(listed), `"hides": {`) || !strings.Contains(string(listed), "own-command") {
			t.Errorf("%s: the list does not say what is hidden: %v %s", tt.file, err, listed)
		}
	}
}
