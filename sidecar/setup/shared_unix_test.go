//go:build unix

package setup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTwoHostsWithOneFile: links make one file of two, as people do who keep their files in a repository. A server stays if the
// hosts read it in different ways.
func TestTwoHostsWithOneFile(t *testing.T) {
	m := newMachine(t)
	was := []byte(`{"mcpServers": {"same": {"command": "x"}, "other": {"command": "x", "args": ["${env:SET}"]}}}`)
	m.write("dotfiles/mcp.json", was)
	for _, name := range []string{cursorPath, kiroFile} {
		if err := os.MkdirAll(filepath.Dir(m.path(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(m.path("dotfiles/mcp.json"), m.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	m.route()
	routed := string(m.read("dotfiles/mcp.json"))
	if strings.Count(routed, "gateway") != 1 || !strings.Contains(routed, `"--host", "cursor", "same"`) || !strings.Contains(routed, `"other": {"command": "x", "args": ["${env:SET}"]}`) {
		t.Errorf("the file is %s", routed)
	}
	plan := m.find()
	if len(plan.Files) != 0 {
		t.Errorf("%v would change again", plan.Files)
	}
	for _, want := range []string{"It is the same file as " + m.path(cursorPath), `The server "other" is left alone: Kiro has the same file`} {
		if !strings.Contains(plan.Problems[0].Message+plan.Problems[1].Message, want) {
			t.Errorf("the problems are %+v, want %q", plan.Problems, want)
		}
	}
	m.restore()
	if got := m.read("dotfiles/mcp.json"); string(got) != string(was) {
		t.Errorf("restored is %s", got)
	}
}
