package test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assent/protocol"
)

// erasOfServers are the versions of a [placed] server.
var erasOfServers = []string{"2025-11-25", "2026-07-28"}

// placedIn returns the entry of a [placed] server of a version.
func placedIn(era string, members ...string) string {
	return fmt.Sprintf(`{"command":"placed","env":{"WHO":"own","ERA":%q}%s}`, era, strings.Join(append([]string{""}, members...), ","))
}

// wantRoots compares what a server was told with the roots that were given: the folder, or "" for none.
func (at whereabouts) wantRoots(t *testing.T, front, folder string) {
	t.Helper()
	switch told := string(at.Roots); {
	case folder == "" && (at.Declared != nil || told != `"refused"` && told != `{"roots":[]}`):
		t.Errorf("%s: the server was told of roots: %s, and got %s", front, at.Declared, told)
	case folder != "" && (at.Declared == nil || !strings.Contains(told, filepath.ToSlash(folder)+`"`) || strings.Count(told, "uri") != 1):
		t.Errorf("%s: the server was told %s, and got %s; want %s", front, at.Declared, told, folder)
	}
}

func TestRootsAreWhatThePersonGave(t *testing.T) {
	t.Parallel()
	for _, era := range erasOfServers {
		t.Run("a server of "+era, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, `{"shop":`+placedIn(era)+`}`)
			folder, given := p.project(), p.project()
			for _, tt := range []struct {
				front string
				flags []string
				want  string
			}{
				{"a terminal", nil, ""},
				{"a terminal with --root", []string{"--root", given}, given},
				{"a terminal with a server of its own", []string{"--root", given, "--", "placed"}, given},
			} {
				args := []string{"call", "shop", "roots"}
				if len(tt.flags) > 2 {
					args = []string{"call", "roots", "--env", "ERA=" + era, "--env", "WHO=own"}
				}
				p.told(folder, append(args, tt.flags...)...).wantRoots(t, tt.front, tt.want)
			}
			for _, revision := range []string{"2025-11-25", "2026-07-28"} {
				start := func(declares, roots string) *rawHost {
					h := startHostThat(t, revision, declares, p.in(folder, "gateway", "--own", "--quiet", "shop"))
					h.answer = func(string) string { return roots }
					return h
				}
				without, with, other := start(`{}`, ""), start(`{"roots":{}}`, rootsOf(given)), start(`{"roots":{"listChanged":true}}`, rootsOf(p.home))
				for range 2 { // also once the first one has its connection
					where(t, without.call("tools/call", `{"name":"roots"}`)).wantRoots(t, "a host without roots", "")
					where(t, with.call("tools/call", `{"name":"roots"}`)).wantRoots(t, "a host with roots", given)
					where(t, other.call("tools/call", `{"name":"roots"}`)).wantRoots(t, "another host", p.home)
				}
			}
		})
	}
}

// rootsOf is the result of roots/list with a folder.
func rootsOf(folder string) string {
	return fmt.Sprintf(`{"roots":[{"uri":"file://%s"}]}`, filepath.ToSlash(folder))
}

// textOfResult is the text of a result in an event.
var textOfResult = regexp.MustCompile(`"text":("\{\\"Who(?:[^"\\]|\\.)*")`)

// whereabouts returns what a tool of a [placed] server tells a front end, in a new task.
func (c *talk) whereabouts(server, tool string) whereabouts {
	c.t.Helper()
	return c.whereaboutsIn(c.newTask(), server, tool)
}

// newTask creates a task, and returns its id.
func (c *talk) newTask() string {
	c.t.Helper()
	var created protocol.Task
	if err := c.Call("task/create", map[string]any{"title": "A task"}, &created); err != nil {
		c.t.Fatal(err)
	}
	return created.ID
}

// whereaboutsIn is whereabouts in a task.
func (c *talk) whereaboutsIn(taskID, server, tool string) whereabouts {
	c.t.Helper()
	told := ""
	c.Heard = func(_ string, params json.RawMessage) { // also of the tasks of hosts
		if found := textOfResult.FindSubmatch(params); found != nil && strings.Contains(string(params), taskID) {
			told = string(found[1])
		}
	}
	err := c.Call("call/start", map[string]any{"taskId": taskID, "serverName": server, "request": map[string]any{"type": "tools/call", "toolName": tool}}, &struct{}{})
	for err == nil && told == "" {
		_, err = c.Next()
	}
	var text string
	var at whereabouts
	if err == nil {
		err = json.Unmarshal([]byte(told), &text)
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &at)
	}
	if err != nil {
		c.t.Fatalf("%v: %s", err, told)
	}
	return at
}

// A terminal that uses the workspace of a window gets the roots of its own command line, and the window keeps its own. So do two
// terminals, and a call that goes on once a window has come.
func TestTheRootsOfATerminalAreItsOwn(t *testing.T) {
	t.Parallel()
	for _, era := range erasOfServers {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, `{"shop":`+placedIn(era)+`}`)
			folder, given, data := p.project(), p.project(), t.TempDir()
			call := func(name, want string, flags ...string) {
				t.Helper()
				p.told(folder, append([]string{"call", "shop", "roots", "--data-dir", data}, flags...)...).wantRoots(t, name, want)
			}
			attach := func(initialize *protocol.InitializeParams) *talk {
				t.Helper()
				initialize.ProtocolVersion, initialize.ClientInfo.Version = protocol.Version, "1"
				front := startTalk(t, p.in(folder, "serve", "--data-dir", data))
				if err := front.Call("initialize", initialize, &struct{}{}); err != nil {
					t.Fatal(err)
				}
				return front
			}
			first := attach(&protocol.InitializeParams{
				ClientInfo: protocol.Implementation{Name: "a terminal"}, Transient: true,
				Configuration: protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{{Name: "g", Path: given, RootOnly: true}}},
			})
			call("a terminal beside one with --root", "")
			call("a terminal with another --root", folder, "--root", folder)
			task := first.newTask()
			first.whereaboutsIn(task, "shop", "roots").wantRoots(t, "the first terminal", given)
			window := attach(&protocol.InitializeParams{
				ClientInfo:    protocol.Implementation{Name: "a window"},
				Configuration: protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{{Name: "w", Path: folder, Vouched: true}}},
			})
			first.whereaboutsIn(task, "shop", "roots").wantRoots(t, "the task of the first terminal, beside a window", given)
			call("a terminal beside a window", "")
			call("a terminal with --root beside a window", given, "--root", given)
			window.whereabouts("shop", "roots").wantRoots(t, "the window", folder)
		})
	}
}

func TestAnEmptyRootIsNotTheCurrentFolder(t *testing.T) {
	t.Parallel()
	p := newPerson(t, `{"shop":`+placedIn("2025-11-25")+`}`)
	out, err := p.in(p.project(), "call", "shop", "roots", "--root", "").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--root is empty") {
		t.Errorf("%v: %s", err, out)
	}
}

// A host that uses the workspace of a window gets none of its folders.
func TestTheRootsOfAWindowAreNotThoseOfAHost(t *testing.T) {
	t.Parallel()
	for _, era := range erasOfServers {
		for _, sharing := range []string{"task", "shared"} {
			t.Run(era+" "+sharing, func(t *testing.T) {
				t.Parallel()
				p := newPerson(t, `{"shop":`+placedIn(era, fmt.Sprintf(`"sharing":%q`, sharing))+`}`)
				folder, given, data := p.project(), p.project(), t.TempDir()
				window := startTalk(t, p.in(folder, "serve", "--data-dir", data))
				if err := window.Call("initialize", &protocol.InitializeParams{
					ProtocolVersion: protocol.Version, ClientInfo: protocol.Implementation{Name: "a window", Version: "1"},
					Configuration: protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{{Name: "w", Path: folder, Vouched: true}}},
				}, &struct{}{}); err != nil {
					t.Fatal(err)
				}
				var tools struct{}
				if err := window.Call("tools/list", map[string]any{"serverName": "shop"}, &tools); err != nil { // it has a connection
					t.Fatal(err)
				}
				start := func(declares string) *rawHost {
					h := startHostThat(t, "2025-11-25", declares, p.in(folder, "gateway", "--own", "--quiet", "--data-dir", data, "shop"))
					h.answer = func(string) string { return rootsOf(given) }
					return h
				}
				where(t, start(`{}`).call("tools/call", `{"name":"roots"}`)).wantRoots(t, "a host without roots", "")
				want := given
				if era < "2026" && sharing == "shared" { // one connection for all
					want = ""
				}
				where(t, start(`{"roots":{}}`).call("tools/call", `{"name":"roots"}`)).wantRoots(t, "a host with roots", want)
				if sharing == "shared" && era < "2026" {
					return
				}
				window.whereabouts("shop", "roots").wantRoots(t, "the window", folder)
			})
		}
	}
}

// A legacy server asks again, between two calls of the host.
func TestChangedRootsOfAHostReachItsServer(t *testing.T) {
	t.Parallel()
	p := newPerson(t, `{"shop":`+placedIn("2025-11-25")+`}`)
	folder, second := p.project(), p.project()
	h := startHostThat(t, "2025-11-25", `{"roots":{"listChanged":true}}`, p.in(folder, "gateway", "--own", "--quiet", "shop"))
	h.answer = func(string) string { return rootsOf(folder) }
	where(t, h.call("tools/call", `{"name":"roots"}`)).wantRoots(t, "at first", folder)
	h.answer = func(string) string { return rootsOf(second) }
	asked := len(h.asked)
	h.write(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	for len(h.asked) == asked { // a ping of the host's own takes the frames between calls
		h.call("ping", "{}")
	}
	for !strings.Contains(string(where(t, h.call("tools/call", `{"name":"where"}`)).Roots), second) { // until the server has them
	}
}
