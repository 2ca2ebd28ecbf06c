package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/protocol"
)

// answer waits for the result of a request, and returns the methods of what came before it.
func (f *frontEnd) answer(id int, result any) (before []string) {
	f.t.Helper()
	for {
		var m struct {
			ID     *int            `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal([]byte(f.next()), &m); err != nil {
			f.t.Fatal(err)
		}
		switch {
		case m.ID == nil:
			before = append(before, m.Method)
		case *m.ID != id || m.Error != nil:
			f.t.Fatalf("request %d was answered by %d: %s", id, *m.ID, m.Error)
		default:
			if err := json.Unmarshal(m.Result, result); err != nil {
				f.t.Fatal(err)
			}
			return before
		}
	}
}

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
	f.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"a test","version":"1"},"capabilities":{},`+
		`"configuration":{"workspaceFolders":[{"name":"project","path":%q}],"servers":{"two":{"command":"mine"}},"model":{}}}}`, project))
	f.answer(0, &protocol.InitializeResult{})

	var found protocol.FindImportsResult
	f.send(`{"jsonrpc":"2.0","id":1,"method":"import/find"}`)
	f.answer(1, &found)
	if len(found.Sources) != 1 || found.Sources[0].Path != path || len(found.Sources[0].Servers) != 2 {
		t.Fatalf("found %+v", found)
	}
	one, two := found.Sources[0].Servers[0], found.Sources[0].Servers[1]
	if string(one.Entry) != `{"type":"stdio","command":"x"}` || one.Known || !two.Known || len(two.Warnings) != 1 {
		t.Errorf("found %+v and %+v", one, two)
	}

	var imported protocol.ImportResult
	f.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"import/apply","params":{"folder":%q,"servers":[{"path":%q,"name":"one"},{"path":%q,"name":"two"}]}}`, project, path, path))
	before := f.answer(2, &imported)
	if imported.Path != filepath.Join(project, ".vscode", "mcp.json") || strings.Join(imported.Imported, " ") != "one" {
		t.Errorf("imported %+v", imported)
	}
	if len(before) == 0 || before[0] != "server/listChanged" {
		t.Errorf("before the answer came %v", before)
	}

	var list protocol.ServersChangedParams
	f.send(`{"jsonrpc":"2.0","id":3,"method":"server/list"}`)
	f.answer(3, &list)
	if len(list.Servers) != 2 || list.Servers[0].Name != "one" || list.Servers[0].Source != imported.Path {
		t.Errorf("the list has %+v", list)
	}
	f.close()
}
