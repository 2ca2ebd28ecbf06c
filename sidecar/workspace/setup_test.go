package workspace_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/workspace"
)

const (
	codexBefore  = "[mcp_servers.shop]\ncommand = \"shop\"\n\n[mcp_servers.shop.env]\nSHOP_TOKEN = \"sk-0123456789abcdef\"\n"
	cursorBefore = `{"mcpServers": {"shop": {"command": "other"}, "far": {"url": "https://far.example/mcp"}}}`
)

// setupMachine has two hosts with servers in a home folder, and a project file.
type setupMachine struct {
	*frontEnd
	codex, cursor, project, userFile string
	id                               int
}

func newSetupMachine(t *testing.T) *setupMachine {
	t.Helper()
	home, project := t.TempDir(), t.TempDir()
	m := &setupMachine{
		codex: filepath.Join(home, ".codex", "config.toml"), cursor: filepath.Join(home, ".cursor", "mcp.json"),
		project: filepath.Join(project, ".cursor", "mcp.json"), userFile: filepath.Join(home, "own", "mcp.json"),
	}
	m.write(t, m.codex, codexBefore)
	m.write(t, m.cursor, cursorBefore)
	m.write(t, m.project, `{"mcpServers": {"theirs": {"command": "theirs"}}}`)
	m.frontEnd = newFrontEndOf(t, workspace.Options{
		DataDir: t.TempDir(), UserFile: m.userFile,
		Environ: []string{"HOME=" + home, "USERPROFILE=" + home, "APPDATA=" + filepath.Join(home, "roaming")},
	})
	m.result(0, "initialize", fmt.Sprintf(`{"protocolVersion":1,"clientInfo":{"name":"a test","version":"1"},"capabilities":{},`+
		`"configuration":{"workspaceFolders":[{"name":"project","path":%q}],"servers":{},"model":{}}}`, project), &protocol.InitializeResult{})
	return m
}

func (m *setupMachine) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (m *setupMachine) want(t *testing.T, path, text string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != text {
		t.Errorf("%s has %q, %v; want %q", path, got, err, text)
	}
}

func (m *setupMachine) plan(choice string) *protocol.SetupPlan {
	m.id++
	var plan protocol.SetupPlan
	m.result(m.id, "setup/plan", `{"choice":`+choice+`}`, &plan)
	return &plan
}

func (m *setupMachine) servers() []string {
	m.id++
	var list protocol.ServersChangedParams
	m.result(m.id, "server/list", `{}`, &list)
	var names []string
	for _, s := range list.Servers {
		names = append(names, s.Name)
	}
	return names
}

// TestAPersonSetsUpHosts has the plan shown, a part of it chosen and applied, and all of it restored.
func TestAPersonSetsUpHosts(t *testing.T) {
	m := newSetupMachine(t)
	plan := m.plan(`{}`)
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "sk-0123456789abcdef") {
		t.Errorf("the plan has the secret: %s", text)
	}
	if len(plan.Files) != 2 || plan.Secrets == "" || plan.Restorable || plan.UserFile != m.userFile {
		t.Errorf("the plan is %s", text)
	}
	var names []string
	for _, s := range plan.Servers {
		names = append(names, s.Name)
		if s.Fixed != (s.Name == "theirs") {
			t.Errorf("of the server %s, fixed is %v", s.Name, s.Fixed)
		}
	}
	if want := []string{"shop", "shop-cursor", "far", "theirs"}; !slices.Equal(names, want) {
		t.Errorf("the servers are %v, want %v", names, want)
	}

	const choice = `{"withoutHosts":["Codex"],"withoutServers":["shop-cursor"]}`
	plan = m.plan(choice)
	if !slices.Equal(plan.Files, []string{m.cursor}) || plan.Secrets != "" {
		t.Errorf("the smaller plan is %+v", plan)
	}
	m.want(t, m.cursor, cursorBefore)
	m.id++
	var applied protocol.ApplySetupResult
	m.result(m.id, "setup/apply", fmt.Sprintf(`{"choice":%s,"planId":%q,"moveSecrets":true}`, choice, plan.ID), &applied)
	if !slices.Equal(applied.Added, []string{"far"}) || !slices.Equal(applied.Files, []string{m.cursor}) {
		t.Errorf("applied %+v", applied)
	}
	m.want(t, m.codex, codexBefore)
	if names := m.servers(); !slices.Contains(names, "far") {
		t.Errorf("the workspace has the servers %v", names)
	}
	if plan := m.plan(`{}`); !plan.Restorable {
		t.Error("there is nothing to restore")
	}

	m.id++
	var restored protocol.RestoreSetupResult
	m.result(m.id, "setup/restore", `{}`, &restored)
	if len(restored.Files) != 2 || len(restored.Problems) > 0 || restored.Files[0].How != protocol.FilePutBack {
		t.Errorf("restored %+v", restored)
	}
	m.want(t, m.cursor, cursorBefore)
	if names := m.servers(); slices.Contains(names, "far") {
		t.Errorf("the workspace still has the servers %v", names)
	}
	m.close()
}

func TestAPlanWithoutHostsNamesWhatIsSought(t *testing.T) {
	m := newSetupMachine(t)
	if plan := m.plan(`{}`); len(plan.Hosts) == 0 || plan.Sought != nil {
		t.Errorf("with the hosts %v, the plan names %v", plan.Hosts, plan.Sought)
	}
	for _, file := range []string{m.codex, m.cursor, m.project} {
		if err := os.RemoveAll(filepath.Dir(file)); err != nil {
			t.Fatal(err)
		}
	}
	plan := m.plan(`{}`)
	if len(plan.Hosts) > 0 || !slices.Contains(plan.Sought, "Codex") || !slices.Contains(plan.Sought, "Cursor") {
		t.Errorf("with the hosts %v, the plan names %v", plan.Hosts, plan.Sought)
	}
	m.close()
}

// TestAPlanThatIsNoLongerTrueIsNotCarriedOut changes a file after the plan was shown.
func TestAPlanThatIsNoLongerTrueIsNotCarriedOut(t *testing.T) {
	m := newSetupMachine(t)
	plan := m.plan(`{}`)
	changed := `{"mcpServers": {"shop": {"command": "evil"}}}`
	m.write(t, m.cursor, changed)
	m.id++
	answer, _ := m.request(m.id, "setup/apply", fmt.Sprintf(`{"choice":{},"planId":%q}`, plan.ID))
	if answer.Error == nil || !strings.Contains(answer.Error.Message, "nothing was changed: look again") {
		t.Errorf("the answer is %+v", answer)
	}
	m.want(t, m.cursor, changed)
	m.want(t, m.codex, codexBefore)
	m.close()
}
