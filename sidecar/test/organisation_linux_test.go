package test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// governed is a person with an /etc that is a folder of the test. No organisation has a file there at first.
type governed struct {
	person
	etc string
}

// newGoverned fails where a process may not have files of its own in /etc.
func newGoverned(t *testing.T, servers string) governed {
	t.Helper()
	g := governed{newPerson(t, servers), t.TempDir()}
	for _, name := range []string{"passwd", "group", "hosts", "nsswitch.conf", "resolv.conf"} {
		if text, err := os.ReadFile(filepath.Join("/etc", name)); err == nil {
			g.write(filepath.Join(g.etc, name), string(text))
		}
	}
	if out, err := g.inNamespace(exec.Command("true")).CombinedOutput(); err != nil {
		t.Fatalf("unshare is not permitted here, so an organisation's file cannot be at its place: %v: %s", err, out)
	}
	return g
}

// inNamespace has a command find the test's folder in the place of /etc.
func (g governed) inNamespace(c *exec.Cmd) *exec.Cmd {
	args := []string{"--mount", "sh", "-ec", `mount --bind "$1" /etc; shift; exec "$@"`, "sh", g.etc}
	if os.Getuid() != 0 {
		args = append([]string{"--map-root-user"}, args...)
	}
	in := exec.Command("unshare", append(args, c.Args...)...)
	in.Env, in.Dir = c.Env, c.Dir
	return in
}

// command returns a command of the person on that machine.
func (g governed) command(args ...string) *exec.Cmd {
	c := g.in(g.home, args...)
	c.Env = append(c.Env, "PATH="+filepath.Join(g.home, "bin")+":"+os.Getenv("PATH"))
	return g.inNamespace(c)
}

// says returns all that a command writes, which may fail.
func (g governed) says(args ...string) string {
	out, _ := g.command(args...).CombinedOutput()
	return string(out)
}

// window returns what a window's requests get, each after the other.
func (g governed) window(configuration string, requests ...string) string {
	g.t.Helper()
	c := startTalk(g.t, g.command("serve", "--data-dir", filepath.Join(g.home, "data")))
	defer c.kill()
	requests = append([]string{`initialize {"protocolVersion":1,"clientInfo":{"name":"a window","version":"1"},"capabilities":{"elicitation":true,"sampling":true},"configuration":` + configuration + `}`}, requests...)
	var said strings.Builder
	for _, request := range requests {
		method, params, _ := strings.Cut(request, " ")
		var result json.RawMessage
		for result == nil || strings.Contains(params, "recordsRemoved") && !strings.Contains(string(result), "recordsRemoved") {
			if err := c.Call(method, json.RawMessage(params), &result); err != nil {
				result = []byte(err.Error())
			}
		}
		said.WriteString(string(result))
	}
	return said.String()
}

// change has the window's store be otherwise. In what changes it, ?1 is 30 days ago and ?2 is 100.
func (g governed) change(how string) {
	g.t.Helper()
	if err := endDaemon(g.folder); err != nil {
		g.t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(g.home, "data", "assent.db"))
	if err != nil {
		g.t.Fatal(err)
	}
	defer db.Close()
	now := time.Now()
	if _, err := db.Exec(how, now.AddDate(0, 0, -30).UnixMilli(), now.AddDate(0, 0, -100).UnixMilli()); err != nil {
		g.t.Fatal(err)
	}
}

const (
	hello  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n"
	theirs = `{"servers":{"asker":{"command":"asker"}},"model":{"endpoints":[{"provider":"openai","baseUrl":"https://evil.example/v1","models":["m"]}]},
		"sampling":{"review":"never"},"tools":{"autoApprove":"readOnly"},"journal":{"keepDays":1},
		"elicitation":{"answers":[{"serverName":"asker","toolName":"ask","content":{"a":"b"}}]}}`
	grant = `grant/create {"serverName":"asker","models":["*"],"maxRequests":9}`
)

// TestEachMemberOfTheOrganisationsFile runs the program twice for each member: without the file, and with it in its place.
func TestEachMemberOfTheOrganisationsFile(t *testing.T) {
	t.Parallel()
	asleep := func(g governed) string { return g.window(theirs, "policy/list null") }
	for _, tt := range []struct {
		name, policy string
		does         func(g governed) string
		want         string // in the output with the file, and not without it
	}{
		{"servers.allowed", `{"servers":{"allowed":[]}}`, func(g governed) string { return g.says("tools", "asker") }, "policy.json, allowed does not have this server"},
		{"servers.denied", `{"servers":{"denied":[{"serverCommand":["asker"]}]}}`, func(g governed) string { return g.says("tools", "asker") }, `policy.json, entry {"serverCommand":["asker"]}`},
		{"gateway.allowed", `{"gateway":{"allowed":false}}`, func(g governed) string { return g.overStdio("asker") }, "policy.json, gateway.allowed"},
		{"gateway.http", `{"gateway":{"http":false}}`, func(g governed) string { return g.overHTTP("asker") }, "policy.json, gateway.http"},
		{"setup.allowed", `{"setup":{"allowed":false}}`, func(g governed) string { return g.says("setup", "--yes") }, "policy.json, setup.allowed"},
		{"setup.share", `{"setup":{"share":false}}`, func(g governed) string { return g.says("setup", "--share", "--yes") }, "policy.json, setup.share"},
		{"browser.allowed", `{"browser":{"allowed":false}}`, func(g governed) string { return g.says("open", "--print") }, "policy.json, browser.allowed"},
		{"approvals.grants", `{"approvals":{"grants":false}}`, func(g governed) string { return g.window(theirs, grant) }, "policy.json, approvals.grants"},
		{"approvals.grantMaxDays", `{"approvals":{"grantMaxDays":7}}`, func(g governed) string {
			g.window(theirs, grant)
			g.change(`UPDATE grants SET created_at = ?1, body = json_set(body, '$.createdAt', ?1)`)
			return asleep(g)
		}, "policy.json, approvals.grantMaxDays"},
		{"approvals.answerRules", `{"approvals":{"answerRules":false}}`, asleep, "policy.json, approvals.answerRules"},
		{"approvals.toolsAutoApprove", `{"approvals":{"toolsAutoApprove":"never"}}`, asleep, "policy.json, approvals.toolsAutoApprove"},
		{"approvals.samplingReview", `{"approvals":{"samplingReview":"always"}}`, asleep, "policy.json, approvals.samplingReview"},
		{"models.endpoints", `{"models":{"endpoints":["https://llm.corp.example/*"]}}`, func(g governed) string { return g.window(theirs, "server/list null") }, "policy.json, models.endpoints"},
		// A record is older than the days of the setting, and one is older than those of the file.
		{"journal.minDays", `{"journal":{"minDays":50}}`, func(g governed) string {
			g.window(theirs, grant, grant)
			g.change(`UPDATE journal SET at = iif(seq = 1, ?2, ?1)`)
			return g.window(theirs, `journal/list {"kind":"recordsRemoved"}`, `journal/list {}`)
		}, `"seq":2,`},
		{"recording.allowed", `{"recording":{"allowed":false}}`, func(g governed) string {
			return g.says("call", "asker", "ask", "--record", filepath.Join(g.home, "recording.yaml"))
		}, "policy.json, recording.allowed"},
		{"a file that cannot be read", `{`, func(g governed) string { return g.says("tools", "asker") }, "policy.json, which cannot be used"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, with := range []bool{false, true} {
				g := newGoverned(t, `{"asker":{"command":"asker"}}`)
				g.write(filepath.Join(g.home, ".cursor", "mcp.json"), `{"mcpServers":{"other":{"command":"other"}}}`)
				g.write(filepath.Join(g.home, ".codex", "config.toml"), "")
				if with {
					g.write(filepath.Join(g.etc, "assent", "policy.json"), tt.policy)
				}
				if said := tt.does(g); strings.Contains(said, tt.want) != with {
					t.Errorf("with the file: %v: it says %s", with, said)
				}
			}
		})
	}
}

// TestTheDoctorSaysWhatItReadOfAnOrganisation has a machine without a file, and with one of each kind of trouble.
func TestTheDoctorSaysWhatItReadOfAnOrganisation(t *testing.T) {
	t.Parallel()
	g := newGoverned(t, `{}`)
	const unseen = "Assent does not see what administrators set on a vendor's server, in a profile of macOS"
	if said := g.says("doctor"); !strings.Contains(said, "policies\tnot seen\t\tThis machine has no file of an organisation. "+unseen) {
		t.Errorf("without a file, the doctor says %s", said)
	}
	g.write(filepath.Join(g.etc, "claude-code", "managed-settings.json"), `{}`)
	g.write(filepath.Join(g.etc, "codex", "requirements.toml"), `[`)
	said := g.says("doctor")
	for _, want := range []string{
		"/etc/claude-code/managed-settings.json\tpolicy\t\tIt holds for claude-code", "/etc/codex/requirements.toml\tproblem\t\tIt cannot be used, so it blocks all servers",
		"other policies\tnot seen\t\t" + unseen,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the doctor does not say %q: %s", want, said)
		}
	}
}

// TestNoWayReachesADeniedServer has the ways in which the program starts a server, or connects to one. Each reaches it without the
// organisation's file. With it, none does, and the person or the host reads which entry of which file it is.
func TestNoWayReachesADeniedServer(t *testing.T) {
	t.Parallel()
	const policy = `{"servers":{"denied":[{"serverCommand":["evil","run"]},{"serverUrl":"http://127.0.0.1"}]},"message":"Ask it@corp.example"}`
	window := func(requests ...string) func(governed) string {
		return func(g governed) string {
			return g.window(`{"servers":{"evil":{"command":"evil","args":["run"]}},"model":{}}`, requests...)
		}
	}
	line := func(args ...string) func(governed) string {
		return func(g governed) string { return g.says(args...) }
	}
	for name, way := range map[string]func(g governed) string{
		"call":                     line("call", "evil", "t"),
		"call, without the daemon": line("call", "evil", "t", "--standalone"),
		"call, a command":          line("call", "t", "--", "evil", "run"),
		"call, in a shell":         line("call", "t", "--", "sh", "-c", "exec evil run"),
		"call, by a link":          line("call", "t", "--", "link", "run"),
		"tools":                    line("tools", "evil"),
		"doctor":                   line("doctor"),
		"doctor, of a command":     line("doctor", "--", "evil", "run"),
		"a window starts it":       window(`server/start {"serverName":"evil"}`),
		"a window starts it again": window(`server/restart {"serverName":"evil"}`),
		"a window lists its tools": window(`tools/list {"serverName":"evil"}`),
		"a host, by its name":      func(g governed) string { return g.overStdio("evil") },
		"a host, as its own":       func(g governed) string { return g.overStdio("--own", "--host", "codex", "evil") },
		"a host, in a list of all": func(g governed) string { return g.overStdio() },
		"a host over HTTP":         func(g governed) string { return g.overHTTP("evil") },
		"a file that is named": func(g governed) string {
			return g.says("call", "evil", "t", "--trust", "--config", g.file("x/named.json"))
		},
		"a file of the folder":       func(g governed) string { g.file(".vscode/mcp.json"); return g.says("call", "evil", "t", "--trust") },
		"another file of the folder": func(g governed) string { g.file(".mcp.json"); return g.says("doctor", "--trust") },
		"a URL":                      func(g governed) string { return g.says("call", g.remote("http"), "t") },
		"a URL, as a user": func(g governed) string {
			return g.says("call", strings.Replace(g.remote("http"), "://", "://me@", 1), "t")
		},
		"a URL, of another transport": func(g governed) string { return g.says("call", g.remote("http"), "t", "--transport", "sse") },
		"a URL with an IPv6 address": func(g governed) string {
			return g.says("call", strings.Replace(g.remote("http"), "127.0.0.1", "[::ffff:127.0.0.1]", 1), "t")
		},
		"a URL of a WebSocket": func(g governed) string { return g.says("call", g.remote("ws"), "t") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, with := range []bool{false, true} {
				g := newGoverned(t, `{"evil":{"command":"evil","args":["run"]}}`)
				g.write(filepath.Join(g.home, "bin", "evil"), "#!/bin/sh\n: > "+filepath.Join(g.home, "reached")+"\n")
				if err := os.Symlink("evil", filepath.Join(g.home, "bin", "link")); err != nil {
					t.Fatal(err)
				}
				if with {
					g.write(filepath.Join(g.etc, "assent", "policy.json"), policy)
				}
				said := way(g)
				// What was begun has ended, and has left its mark.
				g.says("daemon", "stop", "--force")
				_, err := os.Stat(filepath.Join(g.home, "reached"))
				if reached := err == nil; reached == with {
					t.Errorf("with the file: %v, it was reached: %v: it says %s", with, reached, said)
				}
				// It was not started, so that it has no log and may well be up.
				if with && (strings.Contains(said, " log") || strings.Contains(said, "is up")) {
					t.Errorf("it gives a way out that is none: %s", said)
				}
				if with && !(strings.Contains(said, "Blocked by your organisation: /etc/assent/policy.json, entry {") && strings.Contains(said, "Ask it@corp.example")) {
					t.Errorf("it does not say who blocks: %s", said)
				}
			}
		})
	}
}

// file writes a file with the server, below the home folder.
func (g governed) file(path string) string {
	path = filepath.Join(g.home, path)
	members := "servers"
	if filepath.Base(path) == ".mcp.json" {
		members = "mcpServers"
	}
	g.write(g.ownFile(), `{"servers":{}}`)
	g.write(path, `{"`+members+`":{"evil":{"command":"evil","args":["run"]}}}`)
	return path
}

// remote returns the URL of a server that leaves the mark with each request.
func (g governed) remote(scheme string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		g.write(filepath.Join(g.home, "reached"), "")
		w.WriteHeader(http.StatusTeapot)
	}))
	g.t.Cleanup(server.Close)
	return strings.Replace(server.URL, "http", scheme, 1) + "/mcp"
}

// overStdio returns what a host gets: the answer to its handshake and, if that is none that refuses, to a list and a call.
func (g governed) overStdio(args ...string) string {
	g.t.Helper()
	c := g.command(append([]string{"gateway"}, args...)...)
	in, err := c.StdinPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		g.t.Fatal(err)
	}
	said, lines := "", bufio.NewReader(out)
	for i, request := range []string{
		hello, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n",
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"evil__t","arguments":{}}}` + "\n",
	} {
		if strings.Contains(said, `"error"`) {
			break
		}
		if _, err := in.Write([]byte(request)); err != nil {
			g.t.Fatal(err)
		}
		for line := ""; !strings.Contains(line, fmt.Sprintf(`"id":%d,`, i+1)); said += line {
			if line, err = lines.ReadString('\n'); err != nil {
				g.t.Fatalf("%v after %s", err, said)
			}
		}
	}
	if err := in.Close(); err != nil {
		g.t.Fatal(err)
	}
	_ = c.Wait() // a host that was refused gets no exit code that counts
	return said
}

// overHTTP returns what a host over HTTP gets.
func (g governed) overHTTP(server string) string {
	g.t.Helper()
	added := g.says("hosts", "add", "x", "--server", server)
	var url, token string
	for word := range strings.FieldsSeq(added) {
		switch word = strings.Trim(word, `",`); {
		case strings.HasPrefix(word, "http://"):
			url = word
		case len(word) == 26:
			token = word
		}
	}
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewBufferString(hello))
	if err != nil {
		g.t.Fatalf("%v: %s", err, added)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		g.t.Fatal(err)
	}
	defer response.Body.Close()
	var said bytes.Buffer
	if _, err := said.ReadFrom(response.Body); err != nil {
		g.t.Fatal(err)
	}
	return response.Status + said.String()
}
