//go:build unix

// Links are for everybody, and lead to devices, on Unix only.

package importer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/setup/importer"
)

func TestFindIsBounded(t *testing.T) {
	m := newMachine(t)
	var many strings.Builder
	for i := range 300 {
		many.WriteString(`"s` + strings.Repeat("x", i) + `": {"command": "x"},`)
	}
	m.write("home/.cursor/mcp.json", `{"mcpServers": {`+many.String()+`}}`)
	m.write("home/.codeium/windsurf/mcp_config.json", strings.Repeat(" ", 33<<20))
	m.write("home/.codeium/mcp_config.json", strings.Repeat("[", 1<<20))
	m.write("project/.mcp.json", `{"mcpServers": {"a": {"command": "`+strings.Repeat("x", 70_000)+`"}}}`)
	m.write("home/.config/Claude/claude_desktop_config.json/x", "a folder")
	endless := filepath.Join(m.Folders[0], ".roo", "mcp.json")
	if err := os.Mkdir(filepath.Dir(endless), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", endless); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"home/.cursor/mcp.json":                          "it has more than 200 servers",
		"home/.codeium/windsurf/mcp_config.json":         "has more than 33554432 bytes",
		"home/.codeium/mcp_config.json":                  "more than 200 deep",
		"project/.mcp.json":                              `the server "a" has more than 65536 bytes`,
		"project/.roo/mcp.json":                          "is not a file",
		"home/.config/Claude/claude_desktop_config.json": "is not a file",
	}
	sources := importer.Find(m.Places, nil)
	for _, source := range sources {
		name := strings.TrimPrefix(source.Path, m.work+"/")
		if want[name] == "" || !strings.Contains(source.Problem, want[name]) {
			t.Errorf("%s says %q, want %q", source.Path, source.Problem, want[name])
		}
		if len(source.Problem) > 2000 || len(source.Servers) > 200 {
			t.Errorf("%s says %d bytes and %d servers", source.Path, len(source.Problem), len(source.Servers))
		}
	}
	if len(sources) != len(want) {
		t.Errorf("%d files were found, want %d", len(sources), len(want))
	}
	if got := importer.Find(importer.Places{OS: "linux", Env: os.Getenv}, nil); got != nil {
		t.Errorf("without a home: %+v", got)
	}
}

func TestImportWritesThroughALink(t *testing.T) {
	m := newMachine(t)
	path := m.write("home/.cursor/mcp.json", source)
	target := m.write("dotfiles/servers.json", `{"servers": {}}`)
	link := filepath.Join(m.Folders[0], config.FileName)
	if err := os.Mkdir(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if _, err := m.apply(nil, protocol.ImportName{Path: path, Name: "a"}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if !strings.Contains(m.read("dotfiles/servers.json"), `"a": {`) {
		t.Errorf("the file has %s", m.read("dotfiles/servers.json"))
	}
	if err := os.Remove(target); err != nil {
		t.Fatal(err)
	}
	if _, err := m.apply(nil, protocol.ImportName{Path: path, Name: "a"}); err == nil || !strings.Contains(err.Error(), "is a link to a file that is not there") {
		t.Errorf("Import = %v", err)
	}
}
