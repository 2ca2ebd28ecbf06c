package importer_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/setup/importer"
)

var update = flag.Bool("update", false, "rewrite what is found in testdata")

// hasModes is whether files have the modes of Unix.
var hasModes = runtime.GOOS != "windows"

// machine is a home and a project in a folder of their own.
type machine struct {
	t    *testing.T
	work string
	importer.Places
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	work := filepath.ToSlash(t.TempDir()) // the places are those of Linux on each system
	m := &machine{t, work, importer.Places{
		OS: "linux", Home: path.Join(work, "home"), Env: func(string) string { return "" },
		Folders: []string{path.Join(work, "project")},
	}}
	if err := os.Mkdir(m.Folders[0], 0o700); err != nil {
		t.Fatal(err)
	}
	return m
}

// write writes a file and returns its path.
func (m *machine) write(name, text string) string {
	m.t.Helper()
	path := path.Join(m.work, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	return path
}

func (m *machine) read(name string) string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.work, name))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

// apply imports servers that are given as a path and a name each.
func (m *machine) apply(known []string, servers ...protocol.ImportName) (*protocol.ImportResult, error) {
	return importer.Import(m.Places, &protocol.ImportParams{Folder: m.Folders[0], Servers: servers}, known)
}

// TestFind reads each program's own files in testdata/programs, compares the result with "found",
// and checks that package config can read it.
func TestFind(t *testing.T) {
	paths, err := filepath.Glob("testdata/programs/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m := newMachine(t)
			var want []byte
			var files []txtar.File
			for _, f := range archive.Files {
				if f.Name == "found" {
					want = f.Data
					continue
				}
				files = append(files, f)
				m.write(f.Name, strings.ReplaceAll(string(f.Data), "WORK", m.work))
			}
			sources := importer.Find(m.Places, []string{"github"})
			var got bytes.Buffer
			enc := json.NewEncoder(&got)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(sources); err != nil {
				t.Fatal(err)
			}
			found := bytes.ReplaceAll(got.Bytes(), []byte(m.work), []byte("WORK"))
			if *update {
				archive.Files = append(files, txtar.File{Name: "found", Data: found})
				if err := os.WriteFile(path, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(want), string(found)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, source := range sources {
				for _, server := range source.Servers {
					whole, err := json.Marshal(map[string]json.RawMessage{server.Name: server.Entry})
					if err != nil {
						t.Fatal(err)
					}
					loaded := config.Load(protocol.Configuration{Servers: whole}, "")
					if len(loaded.Servers) != 1 || len(loaded.Problems) != 0 {
						t.Errorf("%s is not what config reads: %+v", server.Entry, loaded.Problems)
					}
				}
			}
		})
	}
}

const source = `{"mcpServers": {
	"a": {"command": "a", "args": ["1", "<2>"]},
	"b/~c": {"url": "https://example.org/mcp"},
	"known": {"command": "k"}
}}`

func TestImportKeepsWhatIsThere(t *testing.T) {
	const a = `"a": {
|"type": "stdio",
|"command": "a",
|"args": [
||"1",
||"<2>"
|]
}`
	// in returns the text of a as it stands at a depth, with an indentation.
	in := func(indent, unit string) string {
		text := strings.ReplaceAll(a, "|", unit)
		return strings.ReplaceAll(text, "\n", "\n"+indent)
	}
	tests := []struct{ name, before, after string }{
		{"an empty file", "", "{\n\t\"servers\": {\n\t\t" + in("\t\t", "\t") + "\n\t}\n}\n"},
		{
			"comments",
			"// mine\n{\n  \"servers\": {\n    // x is good\n    \"x\": {\"command\": \"x\"} // very\n    // the end\n  } // servers\n}\n",
			"// mine\n{\n  \"servers\": {\n    // x is good\n    \"x\": {\"command\": \"x\"}, // very\n    " + in("    ", "  ") + "\n    // the end\n  } // servers\n}\n",
		},
		{
			"a trailing comma, and other members",
			"{\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t\"x\": {\"command\": \"x\"},\n\t},\n\t\"other\": 1,\n}",
			"{\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t\"x\": {\"command\": \"x\"},\n\t\t" + in("\t\t", "\t") + ",\n\t},\n\t\"other\": 1,\n}",
		},
		{
			"one line", `{"servers": {"x": {"command": "x"}}}`,
			"{\"servers\": {\"x\": {\"command\": \"x\"},\n\t\t" + in("\t\t", "\t") + "\n\t}}",
		},
		{
			"lines of Windows", "{\r\n  \"servers\": {\r\n    \"x\": {\"command\": \"x\"}\r\n  }\r\n}\r\n",
			strings.ReplaceAll("{\n  \"servers\": {\n    \"x\": {\"command\": \"x\"},\n    "+in("    ", "  ")+"\n  }\n}\n", "\n", "\r\n"),
		},
		{"a byte order mark", "\ufeff{\n  \"servers\": {}\n}\n", "\ufeff{\n  \"servers\": {\n    " + in("    ", "  ") + "\n  }\n}\n"},
		{"nothing but a byte order mark", "\ufeff", "\ufeff{\n\t\"servers\": {\n\t\t" + in("\t\t", "\t") + "\n\t}\n}\n"},
		{"null", "{\n\t\"servers\": null, // none\n}\n", "{\n\t\"servers\": {\n\t\t" + in("\t\t", "\t") + "\n\t}, // none\n}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t)
			path := m.write("home/.cursor/mcp.json", source)
			target := m.write("project/.vscode/mcp.json", tt.before)
			if err := os.Chmod(target, 0o640); err != nil {
				t.Fatal(err)
			}
			got, err := m.apply(nil, protocol.ImportName{Path: path, Name: "a"})
			if diff := cmp.Diff(&protocol.ImportResult{Path: filepath.FromSlash(target), Imported: []string{"a"}}, got); diff != "" || err != nil {
				t.Fatalf("Import, %v (-want +got):\n%s", err, diff)
			}
			if diff := cmp.Diff(tt.after, m.read("project/.vscode/mcp.json")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if info, err := os.Stat(target); err != nil || hasModes && info.Mode() != 0o640 {
				t.Errorf("its mode is %v, %v", info.Mode(), err)
			}
			if m.read("home/.cursor/mcp.json") != source {
				t.Error("the source was changed")
			}
			m.alone()
		})
	}
}

// alone wants nothing but mcp.json in .vscode.
func (m *machine) alone() {
	m.t.Helper()
	if entries, err := os.ReadDir(filepath.Join(m.Folders[0], ".vscode")); err != nil || len(entries) != 1 {
		m.t.Errorf(".vscode holds %v, %v", entries, err)
	}
}

func TestImportMakesTheFileAndTakesNoNameTwice(t *testing.T) {
	m := newMachine(t)
	path := m.write("home/.cursor/mcp.json", source)
	a, b, known := protocol.ImportName{Path: path, Name: "a"}, protocol.ImportName{Path: path, Name: "b/~c"}, protocol.ImportName{Path: path, Name: "known"}
	got, err := m.apply([]string{"known"}, a, b, known, a)
	if err != nil || cmp.Diff([]string{"a", "b/~c"}, got.Imported) != "" {
		t.Fatalf("Import = %+v, %v", got, err)
	}
	loaded := config.Load(protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{{Path: m.Folders[0]}}}, "")
	if len(loaded.Problems) != 0 || len(loaded.Servers) != 2 || loaded.Servers[1].Name != "b/~c" || loaded.Servers[0].Args[1] != "<2>" {
		t.Errorf("config reads %+v", loaded)
	}
	if info, err := os.Stat(got.Path); err != nil || hasModes && info.Mode() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	m.alone()

	// An existing server is never changed.
	text := `{"servers": {"a": "mine", "known": {}}}`
	m.write("project/.vscode/mcp.json", text)
	got, err = m.apply(nil, a, known)
	if err != nil || got.Imported != nil || m.read("project/.vscode/mcp.json") != text {
		t.Errorf("Import = %+v, %v: %s", got, err, m.read("project/.vscode/mcp.json"))
	}
}

func TestImportCopiesInputs(t *testing.T) {
	m := newMachine(t)
	const key = `{ "type": "promptString", "id": "key", "description": "The key", "password": true }`
	path := m.write("home/.config/Code/User/mcp.json", `{"inputs": [`+key+`], "servers": {"a": {"command": "x", "args": ["${input:key}"]}}}`)
	a := protocol.ImportName{Path: path, Name: "a"}
	for _, before := range []string{``, `{"inputs": [` + key + `]}`, `{"inputs": null}`} {
		m.write("project/.vscode/mcp.json", before)
		if _, err := m.apply(nil, a); err != nil {
			t.Fatal(err)
		}
		loaded := config.Load(protocol.Configuration{WorkspaceFolders: []protocol.WorkspaceFolder{{Path: m.Folders[0]}}}, "")
		want := map[string]config.Input{"key": {ID: "key", Type: protocol.PromptString, Description: "The key", Password: true}}
		if len(loaded.Servers) != 1 || cmp.Diff(want, loaded.Servers[0].Inputs) != "" || strings.Count(m.read("project/.vscode/mcp.json"), `"key"`) != 1 {
			t.Errorf("config reads %+v from %s", loaded, m.read("project/.vscode/mcp.json"))
		}
	}
	m.write("project/.vscode/mcp.json", `{"inputs": [{"type": "promptString", "id": "key", "description": "Another"}]}`)
	if _, err := m.apply(nil, a); err == nil || !strings.Contains(err.Error(), `already asks for another input with the id "key" than the one that the server "a" needs`) {
		t.Errorf("Import = %v", err)
	}
}

func TestImportIsAllOrNothing(t *testing.T) {
	m := newMachine(t)
	path := m.write("home/.cursor/mcp.json", source)
	other := m.write("home/.codeium/windsurf/mcp_config.json", `{"mcpServers": {"a": {"command": "other"}}}`)
	secret := m.write("home/.ssh/mcp.json", source)
	a := protocol.ImportName{Path: path, Name: "a"}
	tests := []struct {
		name, target string
		servers      []protocol.ImportName
		want         string
	}{
		{"two of one name", `{}`, []protocol.ImportName{a, {Path: other, Name: "a"}}, `the server "a" is chosen from both ` + path + " and " + other},
		{"another file", `{}`, []protocol.ImportName{a, {Path: secret, Name: "b"}}, secret + " is not a file that servers are imported from"},
		{"a server that is gone", `{}`, []protocol.ImportName{a, {Path: path, Name: "gone"}}, `no longer has a server "gone"`},
		{"a broken target", "{\n  \"servers\": {,", []protocol.ImportName{a}, "cannot be read, so that nothing can be added to it: line 2, column 15"},
		{"an array", "[]", []protocol.ImportName{a}, "is not an object"},
		{"servers of another type", `{"servers": []}`, []protocol.ImportName{a}, `has a member "servers" of another type`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m.t = t
			m.write("project/.vscode/mcp.json", tt.target)
			if got, err := m.apply(nil, tt.servers...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Import = %+v, %v, want %q", got, err, tt.want)
			}
			if got := m.read("project/.vscode/mcp.json"); got != tt.target {
				t.Errorf("the file has %s", got)
			}
			m.alone()
		})
	}
	elsewhere := &protocol.ImportParams{Folder: m.Home, Servers: []protocol.ImportName{a}}
	if _, err := importer.Import(m.Places, elsewhere, nil); err == nil || !strings.Contains(err.Error(), "is not a folder of this workspace") {
		t.Errorf("Import = %v", err)
	}
}
