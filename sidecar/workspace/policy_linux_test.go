package workspace_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assent/protocol"
)

// TestNothingThatTheOrganisationDeniesRuns has a server that the person allowed.
func TestNothingThatTheOrganisationDeniesRuns(t *testing.T) {
	program := installToolServer(t)
	policy, err := json.Marshal(map[string]any{"servers": map[string]any{"denied": []any{map[string]any{"serverCommand": []string{program}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, start := range starts {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			mark := filepath.Join(folder, "ran")
			write(t, folder, map[string]any{"command": program, "env": map[string]any{"TOOLSERVER_MARK": mark}})
			file := filepath.Join(folder, "etc/assent/policy.json")
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, policy, 0o600); err != nil {
				t.Fatal(err)
			}
			w := newWorkspace(t, folder, program)
			w.decisions = []protocol.ServerDecision{protocol.ServerAllowed}
			if err := start(w); err == nil || !strings.Contains(err.Error(), "Blocked by your organisation: "+file) {
				t.Errorf("the start of a denied server: %v", err)
			}
			if _, err := os.Stat(mark); err == nil {
				t.Error("the denied server ran")
			}
			w.close()
		})
	}
}
