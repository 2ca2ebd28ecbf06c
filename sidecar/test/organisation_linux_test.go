package test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"net/http"
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
func (g governed) command(args ...string) *exec.Cmd { return g.inNamespace(g.in(g.home, args...)) }

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
		{"gateway.allowed", `{"gateway":{"allowed":false}}`, governed.overStdio, "policy.json, gateway.allowed"},
		{"gateway.http", `{"gateway":{"http":false}}`, governed.overHTTP, "policy.json, gateway.http"},
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

// overStdio returns what a host gets.
func (g governed) overStdio() string {
	g.t.Helper()
	c := g.command("gateway", "asker")
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
	if _, err := in.Write([]byte(hello)); err != nil {
		g.t.Fatal(err)
	}
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		g.t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		g.t.Fatal(err)
	}
	_ = c.Wait() // a host that was refused gets no exit code that counts
	return said
}

// overHTTP returns what a host over HTTP gets.
func (g governed) overHTTP() string {
	g.t.Helper()
	added := g.says("hosts", "add", "x", "--server", "asker")
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
