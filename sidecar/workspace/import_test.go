package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/protocol"
)

// TestImport finds another program's server, copies it, and has it in the list at once.
func TestImport(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	for _, name := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(name, home)
	}
	t.Setenv("XDG_CONFIG_HOME", "")
	path := filepath.Join(home, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"mcpServers": {"one": {"command": "x"}, "two": {"url": "https://example.org/mcp", "disabled": true}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	f := newFrontEnd(t)
	f.result(0, "initialize", fmt.Sprintf(`{"protocolVersion":1,"clientInfo":{"name":"a test","version":"1"},"capabilities":{},`+
		`"configuration":{"workspaceFolders":[{"name":"project","path":%q}],"servers":{"two":{"command":"mine"}},"model":{}}}`, project), &protocol.InitializeResult{})

	var found protocol.FindImportsResult
	f.result(1, "import/find", `{}`, &found)
	if len(found.Sources) != 1 || found.Sources[0].Path != path || len(found.Sources[0].Servers) != 2 {
		t.Fatalf("found %+v", found)
	}
	one, two := found.Sources[0].Servers[0], found.Sources[0].Servers[1]
	if string(one.Entry) != `{"type":"stdio","command":"x"}` || one.Known || !two.Known || len(two.Warnings) != 1 {
		t.Errorf("found %+v and %+v", one, two)
	}

	var imported protocol.ImportResult
	before := f.result(2, "import/apply", fmt.Sprintf(`{"folder":%q,"servers":[{"path":%q,"name":"one"},{"path":%q,"name":"two"}]}`, project, path, path), &imported)
	if imported.Path != filepath.Join(project, ".vscode", "mcp.json") || strings.Join(imported.Imported, " ") != "one" {
		t.Errorf("imported %+v", imported)
	}
	if len(before) == 0 || before[0].Method != "servers/changed" {
		t.Errorf("before the answer came %v", before)
	}

	var list protocol.ServersChangedParams
	f.result(3, "server/list", `{}`, &list)
	if len(list.Servers) != 2 || list.Servers[0].Name != "one" || list.Servers[0].Source != imported.Path {
		t.Errorf("the list has %+v", list)
	}
	f.close()
}
