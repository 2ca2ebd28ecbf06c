package setup_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/setup"
	"assent/sidecar/setup/vault"
)

const cursorFile = `{"mcpServers": {"a": {"command": "a", "env": {"API_KEY": "sk-0123456789abcdef"}}}}`

// TestBadFilesAreNamedAndLeftAlone has one good file beside each bad one, which is routed.
func TestBadFilesAreNamedAndLeftAlone(t *testing.T) {
	utf16le := func(text string) []byte {
		out := []byte{0xff, 0xfe}
		for _, unit := range utf16.Encode([]rune(text)) {
			out = binary.LittleEndian.AppendUint16(out, unit)
		}
		return out
	}
	tests := []struct {
		name, path string
		data       []byte
		want       string
	}{
		{"broken JSON", "home/.codeium/windsurf/mcp_config.json", []byte(`{"mcpServers": {`), "cannot be read: line 1"},
		{"single backslashes", "home/.codeium/windsurf/mcp_config.json", []byte(`{"mcpServers": {"a": {"command": "C:\Users\ann\a.exe"}}}`), `"C:\Users\ann\a.exe" has single backslashes: write each one twice`},
		{"a secret in invalid JSON", "home/.codeium/windsurf/mcp_config.json", []byte(`{"mcpServers": {"a": {"command": "a", "env": {"T": "C:\pw7XYZq-4711"}}}}`), "invalid literal (a text has single backslashes"},
		{"a member twice in YAML", "home/.config/goose/config.yaml", []byte("extensions:\n  a:\n    cmd: x\n    cmd: y\n"), "cannot be read: line 4: mapping key \"cmd\" already defined at line 3. Repair it"},
		{"a secret in invalid YAML", "home/.config/goose/config.yaml", []byte("extensions:\n  a:\n    cmd: *pw7XYZq-4711\n"), "unknown anchor referenced"},
		{"broken TOML", "home/.codex/config.toml", []byte("[mcp_servers.a]\ncommand = x"), "cannot be read: line 2, column 11"},
		{"a tab in YAML", "home/.config/goose/config.yaml", []byte("extensions:\n\ta:\n"), "cannot be read: line 2: found a tab, or another character"},
		{"broken YAML", "home/.config/goose/config.yaml", []byte("extensions:\n  a: {b\n"), "cannot be read"},
		{"not an object", "home/.codeium/windsurf/mcp_config.json", []byte(`{"mcpServers": []}`), "is not an object"},
		{"UTF-16", "home/.claude.json", utf16le(`{"mcpServers": {}}`), "it is in UTF-16: save it as UTF-8"},
		{"UTF-16 without a mark", "home/.claude.json", utf16le(`{"mcpServers": {}}`)[2:], "zero bytes"},
		{"Latin-1", "home/.claude.json", []byte("{\"mcpServers\": {\"\xe9\": {}}}"), "not in UTF-8"},
		{"deep", "home/.codeium/windsurf/mcp_config.json", []byte(strings.Repeat("[", 1000)), "200 deep"},
		{"huge", "home/.codeium/windsurf/mcp_config.json", bytes.Repeat([]byte(" "), 33<<20), "more than 33554432 bytes"},
		{"braces around all", "home/.codex/config.toml", []byte(`mcp_servers = { a = { command = "x" } }`), "write each as a table of its own, [mcp_servers.a]"},
		{"flow", "home/.config/goose/config.yaml", []byte("extensions: {a: {type: stdio, cmd: x}}\n"), `"a" is in braces: write it in lines`},
		{"alias", "home/.config/goose/config.yaml", []byte("x: &x {type: stdio, cmd: x}\nextensions:\n  a: *x\n"), "write it out"},
		{"a variable that only the host knows", "home/.codeium/windsurf/mcp_config.json", []byte(`{"mcpServers": {"w": {"command": "${command:x}"}}}`), `"w" is left alone, because it would not work the same. The command holds the variable ${command:x}`},
		{"a file's text", "home/.config/opencode/opencode.json", []byte(`{"mcp": {"o": {"type": "local", "command": ["o", "{file:x}"]}}}`), "stands for the text of a file"},
		{"keychain of Goose", "home/.config/goose/config.yaml", []byte("extensions:\n  a: {type: stdio, cmd: x, env_keys: [K]}\n"), "Goose's own keychain"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.write("home/.cursor/mcp.json", []byte(cursorFile))
			m.write(tt.path, tt.data)
			plan := m.find()
			if len(plan.Problems) != 1 || plan.Problems[0].Path != m.path(tt.path) || !strings.Contains(plan.Problems[0].Message, tt.want) {
				t.Errorf("the problems are %+v, want %q", plan.Problems, tt.want)
			}
			if strings.Contains(plan.Problems[0].Message, "pw7XYZq-4711") {
				t.Error("a secret is shown")
			}
			if isOne := strings.HasPrefix(plan.Problems[0].Message, "The server"); len(plan.Unreadable) != 1 && !isOne || len(plan.Unreadable) > 0 && isOne {
				t.Errorf("%+v was not read", plan.Unreadable)
			}
			m.Hosts = []string{"cursor"}
			if plan := m.find(); len(plan.Unreadable) > 0 {
				t.Errorf("%+v was not chosen", plan.Unreadable)
			}
			m.Hosts = nil
			m.route()
			if !bytes.Equal(m.read(tt.path), tt.data) {
				t.Error("it was changed")
			}
			if !strings.Contains(string(m.read("home/.cursor/mcp.json")), "gateway") {
				t.Error("the good file was left, too")
			}
		})
	}
}

func TestReadOnlyFilesStay(t *testing.T) {
	m := newMachine(t)
	m.write("home/.cursor/mcp.json", []byte(cursorFile))
	if err := os.Chmod(m.path("home/.cursor/mcp.json"), 0o400); err != nil {
		t.Fatal(err)
	}
	plan := m.find()
	if len(plan.Files) != 0 || len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Message, "is read-only: make it writable") {
		t.Errorf("%+v", plan)
	}
	// Nothing will differ for a server that stays.
	if warnings := plan.Servers[0].Warnings; len(warnings) > 0 {
		t.Errorf("warnings: %q", warnings)
	}
	if r := m.route(); len(r.Added) != 0 {
		t.Errorf("%+v", r)
	}
}

// A host's folder may be a file, as an old or a foreign program leaves it. It has no servers.
func TestAFileWhereAFolderWouldBe(t *testing.T) {
	m := newMachine(t)
	m.write("home/.cursor/mcp.json", []byte(cursorFile))
	m.write("home/.codex", nil)
	plan := m.find()
	if len(plan.Files) != 1 || len(plan.Problems) != 0 || len(plan.Unreadable) != 0 {
		t.Errorf("%+v", plan)
	}
	if r := m.route(); len(r.Added) == 0 {
		t.Errorf("%+v", r)
	}
}

func TestModesAndLinksStay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("Windows has neither these modes, nor links for everybody.")
		return
	}
	m := newMachine(t)
	m.write("dotfiles/cursor.json", []byte(cursorFile))
	if err := os.Chmod(m.path("dotfiles/cursor.json"), 0o640); err != nil {
		t.Fatal(err)
	}
	link := m.path("home/.cursor/mcp.json")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(m.path("dotfiles/cursor.json"), link); err != nil {
		t.Fatal(err)
	}
	for _, step := range []func(){func() { m.route() }, func() { m.restore() }} {
		step()
		if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
			t.Errorf("the link is %v, %v", info, err)
		}
		if info, err := os.Stat(link); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("the mode is %v, %v", info.Mode(), err)
		}
	}
	if got := m.read("dotfiles/cursor.json"); string(got) != cursorFile {
		t.Errorf("%s", got)
	}
}

// TestAFileThatChangesMeanwhileStays writes to a host's file between Find and Apply.
func TestAFileThatChangesMeanwhileStays(t *testing.T) {
	m := newMachine(t)
	m.write("home/.cursor/mcp.json", []byte(cursorFile))
	m.write("home/.codex/config.toml", []byte("[mcp_servers.b]\ncommand = \"b\"\n"))
	plan := m.find()
	changed := []byte(`{"mcpServers": {"other": {"command": "o"}}}`)
	m.write("home/.cursor/mcp.json", changed)
	r, err := plan.Apply(setup.ToFile)
	if err != nil || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Message, "was changed at the same time: try again") {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := m.read("home/.cursor/mcp.json"); !bytes.Equal(got, changed) {
		t.Errorf("%s", got)
	}
	if u := m.restore(); len(u.Problems) > 0 || len(u.Files) != 2 { // Codex's and the person's own
		t.Errorf("%+v", u)
	}
	if got := m.read("home/.cursor/mcp.json"); !bytes.Equal(got, changed) {
		t.Errorf("%s", got)
	}
}

// TestNothingStaysIfNothingCouldBeChanged writes to the only host's file between Find and Apply.
func TestNothingStaysIfNothingCouldBeChanged(t *testing.T) {
	m := newMachine(t)
	m.write("home/.cursor/mcp.json", []byte(cursorFile))
	plan := m.find()
	m.write("home/.cursor/mcp.json", []byte("{}"))
	r, err := plan.Apply(setup.ToFile)
	if err != nil || len(r.Problems) != 1 || len(r.Added) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := os.Stat(m.UserFile); err == nil {
		t.Error("the person's own file is there")
	}
	if u := m.restore(); len(u.Files) != 0 {
		t.Errorf("%+v", u)
	}
}

// TestRestoreGoesOnWhereItStopped breaks a file, so that it cannot be merged, and repairs it.
func TestRestoreGoesOnWhereItStopped(t *testing.T) {
	m := newMachine(t)
	m.write("home/.cursor/mcp.json", []byte(cursorFile))
	m.write("home/.codex/config.toml", []byte("[mcp_servers.b]\ncommand = \"b\"\n"))
	m.route()
	routed := m.read("home/.cursor/mcp.json")
	m.write("home/.cursor/mcp.json", append(routed[:len(routed)-1:len(routed)-1], ','))
	u := m.restore()
	if len(u.Problems) != 1 || !strings.Contains(u.Problems[0].Message, "Repair it. Then run assent restore again.") || len(u.Files) != 1 {
		t.Fatalf("%+v", u)
	}
	if _, err := os.Stat(m.UserFile); err != nil {
		t.Error("Cursor needs the servers still:", err)
	}
	m.write("home/.cursor/mcp.json", append(routed[:len(routed)-1:len(routed)-1], `, "x": 1}`...))
	if u := m.restore(); len(u.Problems) != 0 || len(u.Files) != 2 {
		t.Fatalf("%+v", u)
	}
	if got, want := string(m.read("home/.cursor/mcp.json")), strings.TrimSuffix(cursorFile, "}")+`, "x": 1}`; got != want {
		t.Errorf("it is\n%s, want\n%s", got, want)
	}
}

// TestRunsAreUndoneFromTheLast has a second run after a change of the person's.
func TestRunsAreUndoneFromTheLast(t *testing.T) {
	m := newMachine(t)
	m.write("home/.cursor/mcp.json", []byte(cursorFile))
	m.route()
	routed := string(m.read("home/.cursor/mcp.json"))
	m.write("home/.cursor/mcp.json", []byte(strings.Replace(routed, `{"a":`, `{"new": {"command": "n"}, "a":`, 1)))
	if r := m.route(); strings.Join(r.Added, " ") != "new" {
		t.Fatalf("%+v", r)
	}
	u := m.restore()
	if len(u.Problems) != 0 {
		t.Fatalf("%+v", u)
	}
	want := strings.Replace(cursorFile, `{"a":`, `{"new": {"command": "n"}, "a":`, 1)
	if got := string(m.read("home/.cursor/mcp.json")); got != want {
		t.Errorf("it is\n%s, want\n%s", got, want)
	}
	if _, err := os.Stat(m.UserFile); err == nil {
		t.Error("the person's own file is there")
	}
}

// TestWhatThePersonChangedStays edits the person's own file and an entry of Assent before Restore.
func TestWhatThePersonChangedStays(t *testing.T) {
	m := newMachine(t)
	m.write("home/.cursor/mcp.json", []byte(cursorFile))
	m.write("home/.gemini/settings.json", []byte(`{"mcpServers": {"b": {"command": "b"}, "c": {"command": "c"}}}`))
	m.route()
	user := strings.Replace(string(m.read("assent/mcp.json")), `"command": "a"`, `"command": "a2"`, 1)
	m.write("assent/mcp.json", []byte(user))
	m.write("home/.gemini/settings.json", []byte(`{"mcpServers": {"b": {"command": "mine"}}}`))
	u := m.restore()
	if len(u.Problems) != 0 {
		t.Fatalf("%+v", u)
	}
	if got := string(m.read("home/.gemini/settings.json")); got != `{"mcpServers": {"b": {"command": "mine"}}}` {
		t.Errorf("%s", got)
	}
	left := string(m.read("assent/mcp.json"))
	if !strings.Contains(left, `"a2"`) || strings.Contains(left, `"c"`) {
		t.Errorf("%s", left)
	}
	if !strings.Contains(left, "${secret:a/env/API_KEY}") {
		t.Errorf("%s", left)
	}
	if _, err := os.Stat(m.path("assent/secrets.sealed")); err != nil {
		t.Error("the secret of the server that stays is gone:", err)
	}
}

// TestCommentsBesideAnEntry: those between members stay, and with restore all of them come back.
func TestCommentsBesideAnEntry(t *testing.T) {
	const args = `["gateway", "--own", "--host", "cursor", "a"]`
	for _, tt := range []struct{ path, before, want string }{
		{
			cursorPath, "{\n  \"mcpServers\": {\n    \"a\": {\n      // why\n      \"command\": \"x\", // the program\n      \"args\": [\"1\"], // the profile\n      \"timeout\": 5\n    }\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {\n      // why\n      // the program\n      \"command\": \"assent\",\n      \"args\": " + args + ", // the profile\n      \"timeout\": 5\n    }\n  }\n}\n",
		},
		{
			cursorPath, `{"mcpServers": {"a": {/* 1 */ "command" /* 2 */ : /* 3 */ "x" /* 4 */, "args": [] /* 5 */ }}}`,
			`{"mcpServers": {"a": {/* 1 */ /* 2 */ /* 3 */ /* 4 */ "command": "assent", "args": ` + args + ` /* 5 */ }}}`,
		},
		{
			cursorPath, "{\"mcpServers\": {\"a\": {\"command\": \"x\", // 1\n\"args\": [],}}}",
			"{\"mcpServers\": {\"a\": { // 1\n\"command\": \"assent\",\"args\": " + args + ",}}}",
		},
		{
			codexFile, "[mcp_servers]\na = { command = \"x\", startup_timeout_sec = 30 } # ask Ada\nb = { command = \"y\" } # last",
			"[mcp_servers]\na = { command = \"assent\", args = [\"gateway\", \"--own\", \"--host\", \"codex\", \"a\"], startup_timeout_sec = 30 } # ask Ada\n" +
				"b = { command = \"assent\", args = [\"gateway\", \"--own\", \"--host\", \"codex\", \"b\"] } # last",
		},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			m := newMachine(t)
			before := strings.ReplaceAll(tt.before, "\n", end)
			m.write(tt.path, []byte(before))
			m.route()
			if diff := cmp.Diff(strings.ReplaceAll(tt.want, "\n", end), string(m.read(tt.path))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", before, diff)
			}
			m.restore()
			if got := string(m.read(tt.path)); got != before {
				t.Errorf("restored is\n%s, want\n%s", got, before)
			}
		}
	}
}

// TestAFileThatTheHostEmptiedStays: it is the host's, and was there before.
func TestAFileThatTheHostEmptiedStays(t *testing.T) {
	for path, data := range map[string]string{"home/.cursor/mcp.json": cursorFile, codexFile: "[mcp_servers.a]\ncommand = \"a\"\n"} {
		m := newMachine(t)
		m.write(path, []byte(data))
		m.route()
		m.write(path, nil)
		if u := m.restore(); len(u.Problems) != 0 || u.Files[0].How != setup.Merged || !strings.Contains(strings.Join(u.Files[0].Notes, " "), "had been removed from it") {
			t.Errorf("%+v", u)
		}
		if got := m.read(path); len(got) != 0 {
			t.Errorf("it is %q", got)
		}
	}
}

// TestANumberThatJSONDoesNotHave does not keep the other servers of the file from moving.
func TestANumberThatJSONDoesNotHave(t *testing.T) {
	for path, data := range map[string]string{
		codexFile: "x = nan\n[mcp_servers.a]\ncommand = \"a\"\ntool_timeout_sec = inf\n",
		gooseFile: "x: .nan\nextensions:\n  a:\n    type: stdio\n    cmd: a\n    timeout: .inf\n",
	} {
		m := newMachine(t)
		m.write(path, []byte(data))
		if r := m.route(); strings.Join(r.Added, " ") != "a" {
			t.Errorf("%s: %+v", path, r)
		}
		if got := string(m.read(path)); !strings.Contains(got, "inf\n") || !strings.Contains(got, "nan\n") {
			t.Errorf("it is\n%s", got)
		}
		m.restore()
		if got := string(m.read(path)); got != data {
			t.Errorf("restored is\n%s, want\n%s", got, data)
		}
	}
}

// TestEntriesThatStartAssentThroughAnother: a server of Assent is not put behind Assent once more.
func TestEntriesThatStartAssentThroughAnother(t *testing.T) {
	m := newMachine(t)
	data := `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "@assent/cli@3", "gateway", "--own", "x"]},
		"b": {"command": "cmd", "args": ["/c", "assent.cmd", "gateway", "y"]}, "c": {"command": "C:\\bin\\Assent.exe", "args": ["gateway"]},
		"d": {"command": "npx", "args": ["-y", "assent-gateway"]}}}`
	m.write("home/.cursor/mcp.json", []byte(data))
	if r := m.route(); strings.Join(r.Added, " ") != "d" {
		t.Errorf("%+v", r)
	}
	for _, u := range m.find().Uses() {
		if strings.Join(u.Through, " ") != "x y  d" {
			t.Errorf("it is used through Assent: %q", u.Through)
		}
	}
}

// TestTwoEntriesThatAreOneServer: opencode and Codex mix the members of entries with one name.
func TestTwoEntriesThatAreOneServer(t *testing.T) {
	for _, tt := range []struct {
		first, second string
		a, b          string
		stays         bool
	}{
		{
			opencodeFile, "home/.config/opencode/opencode.jsonc", `{"mcp": {"s": {"type": "local", "command": ["x"], "environment": {"A": "1"}}}}`,
			`{"mcp": {"s": {"type": "local", "command": ["y"]}}}`, true,
		},
		{opencodeFile, "project/opencode.json", `{"mcp": {"s": {"type": "local", "command": ["x"]}}}`, `{"mcp": {"s": {"type": "local", "command": ["y"]}}}`, true},
		{codexFile, "project/.codex/config.toml", "[mcp_servers.s]\ncommand = \"x\"\nargs = [\"1\"]\n", "[mcp_servers.s]\ncommand = \"y\"\n", true},
		{
			opencodeFile, "home/.config/opencode/opencode.jsonc", `{"mcp": {"s": {"type": "local", "command": ["x"]}}}`,
			`{"mcp": {"s": {"type": "local", "command": ["x"], "enabled": false}}}`, false,
		},
		{geminiFile, "project/.gemini/settings.json", `{"mcpServers": {"s": {"command": "x"}}}`, `{"mcpServers": {"s": {"command": "y"}}}`, false},
	} {
		m := newMachine(t)
		m.write(tt.first, []byte(tt.a))
		m.write(tt.second, []byte(tt.b))
		plan := m.find()
		if stays := len(plan.Files) == 0 && len(plan.Problems) == 2 && strings.Contains(plan.Problems[0].Message, "makes one server of the two"); stays != tt.stays {
			t.Errorf("%s and %s: the plan is %+v with %+v", tt.first, tt.second, plan.Files, plan.Problems)
		}
	}
}

// TestServersThatDifferAreTold has two servers of one name.
func TestServersThatDifferAreTold(t *testing.T) {
	m := newMachine(t)
	m.write("home/.cursor/mcp.json", []byte(cursorFile))
	m.write("home/.codex/config.toml", []byte("[mcp_servers.a]\ncommand = \"a\"\nargs = [\"--other\"]\n"))
	m.write("home/.gemini/settings.json", []byte(cursorFile))
	plan := m.find()
	if len(plan.Servers) != 2 {
		t.Fatalf("%+v", plan.Servers)
	}
	other, first := plan.Servers[1], plan.Servers[0]
	if first.Name != "a" || first.Copies[0].Host != "Codex" || other.Name != "a-cursor" || strings.Join(other.Differs, " ") != "args env" ||
		strings.Join(other.Hosts, " ") != "Cursor Gemini CLI" || strings.Join(other.Secrets, " ") != "env API_KEY" {
		t.Errorf("%+v, %+v", first, other)
	}
	m.route()
	if got := string(m.read("home/.cursor/mcp.json")); !strings.Contains(got, `["gateway", "--own", "--host", "cursor", "a-cursor"]`) {
		t.Errorf("%s", got)
	}
	m.Hosts = []string{"nobody"}
	if _, err := setup.Find(m.Options); err == nil || !strings.Contains(err.Error(), `there is no host "nobody": there are claude-desktop, claude-code`) {
		t.Error(err)
	}
}

// TestInputsOfOneID: a server never gets the value that is asked for in the words of another. The others move.
func TestInputsOfOneID(t *testing.T) {
	const (
		insiders = "home/.config/Code - Insiders/User/mcp.json"
		own      = "assent/mcp.json"
	)
	with := func(server, input string) string {
		return `{"inputs": [{"type": "promptString", "id": "k", ` + input + `}], "servers": {"` + server + `": {"type": "stdio", "command": "x", "args": ["${input:k}"], "cwd": "/w"}, "d": {"command": "d"}}}`
	}
	for _, tt := range []struct {
		name, path, first string
		added, uses       string
		alone, differs    string
	}{
		{"another server", insiders, with("b", `"default": "1"`), "a c d", "a d", "b", ""},
		{"the same server", insiders, with("a", `"default": "1"`), "a c d", "a d", "a", "inputs"},
		{"the same input", insiders, with("a", `"password": false, "description": "K"`), "a c d", "a d", "", ""},
		{"the own file", own, with("b", `"default": "1"`), "c d-vscode", "d-vscode", "a", ""},
		{"the same server of the own file", own, with("a", `"default": "1"`), "c d-vscode", "d-vscode", "a", ""},
		{"the same input of the own file", own, with("a", `"password": false, "description": "K"`), "c d-vscode", "a d-vscode", "", ""},
		{"an input that is not asked for", own, `{"inputs": [{"id": "other"}, 1]}`, "a c d", "a d", "", ""},
		{"the last of one id", own, `{"inputs": [{"type": "promptString", "id": "k", "description": "K", "password": false}, {"id": "k"}]}`, "c d", "d", "a", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t)
			m.write(tt.path, []byte(tt.first))
			m.write(vscodeFile, []byte(with("a", `"description": "K", "password": false`)))
			m.write(cursorPath, []byte(`{"mcpServers": {"c": {"command": "c"}}}`))
			at, other := m.path(vscodeFile), m.path(tt.path)
			if tt.path == insiders { // which is read after it
				at, other = other, at
			}
			alone, differs := "", ""
			plan := m.find()
			for _, p := range plan.Problems {
				alone += p.Path + ": " + p.Message
			}
			for _, s := range plan.Servers {
				differs += strings.Join(s.Differs, " ")
			}
			want := ""
			if tt.alone != "" {
				want = at + `: The server "` + tt.alone + `" is left alone: its input "k" is another than the one of that id in ` + other + ". Rename one of the two."
			}
			if alone != want || differs != tt.differs {
				t.Errorf("%s, want %s; it differs in %q", alone, want, differs)
			}
			if r := m.route(); strings.Join(r.Added, " ") != tt.added {
				t.Errorf("it added %v, want %s", r.Added, tt.added)
			}
			for _, u := range m.find().Uses() {
				if got := strings.Join(u.Through, " "); u.Path == m.path(vscodeFile) && got != tt.uses {
					t.Errorf("VS Code uses %q, want %q", got, tt.uses)
				}
			}
		})
	}
}

// TestTwoServersOfOneNameInAFile: of two members of an object, the last counts. Of two in a list it cannot be known.
func TestTwoServersOfOneNameInAFile(t *testing.T) {
	m := newMachine(t)
	const before = `{"mcpServers": {"a": {"command": "first"}, "b": {"command": "b"}, "a": {"command": "last"}}}`
	m.write("home/.cursor/mcp.json", []byte(before))
	list := "mcpServers:\n  - name: c\n    command: one\n  - name: d\n    command: d\n  - name: c\n    command: two\n"
	m.write(continueFile, []byte(list))
	plan := m.find()
	if len(plan.Problems) != 2 || !strings.Contains(plan.Problems[1].Message, `"c" is left alone: it is not the only server of this name`) {
		t.Errorf("%+v", plan.Problems)
	}
	if r := m.route(); strings.Join(r.Added, " ") != "a b d" {
		t.Errorf("%+v", r)
	}
	if own := string(m.read("assent/mcp.json")); !strings.Contains(own, `"last"`) || strings.Contains(own, `"first"`) {
		t.Error(own)
	}
	if got := string(m.read(continueFile)); !strings.Contains(got, "command: one\n") || !strings.Contains(got, "command: two\n") || strings.Contains(got, "command: d\n") {
		t.Error(got)
	}
	m.restore()
	if got := string(m.read("home/.cursor/mcp.json")) + string(m.read(continueFile)); got != before+list {
		t.Error(got)
	}
}

func TestNullHasNoServers(t *testing.T) {
	m := newMachine(t)
	m.write("home/.cursor/mcp.json", []byte(cursorFile))
	m.write("home/.gemini/settings.json", []byte(`{"mcpServers": null}`))
	m.write("home/.config/goose/config.yaml", []byte("extensions:\n"))
	if plan := m.find(); len(plan.Problems) != 0 || len(plan.Servers) != 1 {
		t.Errorf("%+v", plan)
	}
	m.Share = true
	if plan := m.find(); len(plan.Problems) != 0 || len(plan.Files) != 3 {
		t.Errorf("shared: %+v", plan)
	}
}

// TestTheOwnFile has forms of the person's own file that Assent reads. Each gets servers, and comes back.
func TestTheOwnFile(t *testing.T) {
	for _, before := range []string{"\ufeff{\r\n  \"servers\": {}\r\n}\r\n", "\ufeff", `{"servers": null}`, `{"inputs": null, "servers": {}}`, `{"inputs": null}`} {
		m := newMachine(t)
		m.write("assent/mcp.json", []byte(before))
		m.write(vscodeFile, []byte(`{"inputs": [{"type": "promptString", "id": "k"}], "servers": {"a": {"command": "x", "args": ["${input:k}"]}}}`))
		if r := m.route(); strings.Join(r.Added, " ") != "a" || len(m.find().Files) > 0 {
			t.Errorf("%q: %+v, and it would change %q", before, r, m.find().Files)
		}
		m.restore()
		if got := string(m.read("assent/mcp.json")); got != before {
			t.Errorf("restored is %q, want %q", got, before)
		}
	}
}

// TestNamesWithVariables: a host would replace a variable in the arguments of Assent.
func TestNamesWithVariables(t *testing.T) {
	for path, data := range map[string]string{
		claudeFile:   `{"mcpServers": {"${HOME}": {"command": "x"}}}`,
		geminiFile:   `{"mcpServers": {"a$HOME": {"command": "x"}}}`,
		opencodeFile: `{"mcp": {"{env:HOME}": {"type": "local", "command": ["x"]}}}`,
	} {
		m := newMachine(t)
		m.write(path, []byte(data))
		if plan := m.find(); len(plan.Files) > 0 || len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Message, "its name for a variable") {
			t.Errorf("%s: the plan is %+v with %+v", path, plan.Files, plan.Problems)
		}
	}
	m := newMachine(t)
	m.write(codexFile, []byte("[mcp_servers.\"${HOME}\"]\ncommand = \"x\"\n")) // Codex replaces none
	m.route()
}

// TestSecretsOfServersWithSimilarNames: each server gets its own.
func TestSecretsOfServersWithSimilarNames(t *testing.T) {
	m := newMachine(t)
	m.write(claudeFile, []byte(`{"mcpServers": {"a}b": {"command": "x", "env": {"TOKEN": "first-1"}}, "a_b": {"command": "x", "env": {"TOKEN": "second-2"}},
		"a/env": {"command": "x", "env": {"TOKEN": "third-3"}}, "a": {"command": "x", "env": {"env/TOKEN": "fourth-4"}}}}`))
	m.route()
	if result := m.find(); len(result.Files) != 0 {
		t.Errorf("%+v would change again", result.Files)
	}
	kept := vault.Open(m.Folder)
	for name, want := range map[string]string{"a%7Db/env/TOKEN": "first-1", "a_b/env/TOKEN": "second-2", "a%2Fenv/env/TOKEN": "third-3", "a/env/env%2FTOKEN": "fourth-4"} {
		if got, err := kept.Get(name); got != want || !strings.Contains(string(m.read("assent/mcp.json")), "${secret:"+name+"}") {
			t.Errorf("%s is %q, %v, want %q in %s", name, got, err, want, m.read("assent/mcp.json"))
		}
	}
}
