//go:build unix

// The texts were recorded on Linux, with its paths.

package setup_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
)

// expansions are what real programs gave a server that they started: Claude Code 2.1, Copilot CLI 1.0, Gemini CLI 0.61,
// opencode 1.18 and Qwen Code 0.24. SET was "is set", EMPTY was empty, and OWN was "own" in the env of the entry. The story
// realHosts asks the programs again.
func expansions(t *testing.T) map[string]map[string][2]string {
	t.Helper()
	text, err := os.ReadFile("testdata/expansions.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]map[string][2]string // by host and text: that of an argument, and that of a variable
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTextsArriveAsInTheRealHost has each text as an argument and as a variable.
func TestTextsArriveAsInTheRealHost(t *testing.T) {
	files := map[string]string{"claude-code": claudeFile, "copilot-cli": copilotFile, "gemini-cli": geminiFile, "opencode": opencodeFile, "qwen-code": qwenFile}
	for host, texts := range expansions(t) {
		moved := 0
		for _, text := range slices.Sorted(maps.Keys(texts)) {
			m := newMachine(t)
			m.Places.Env = func(name string) string { return map[string]string{"SET": "is set"}[name] }
			quoted, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			members, env := `"command": "x", "args": [%s], "env": `, "env"
			if host == "opencode" {
				members, env = `"type": "local", "command": ["x", %s], "environment": `, "environment"
			}
			a := alone{path: files[host], entry: fmt.Sprintf(members+`{"OWN": "own", "V": %s}`, quoted, quoted)}
			m.write(a.path, a.file())
			if plan := m.find(); len(plan.Problems) > 0 {
				continue // it is left alone
			}
			moved++
			m.route()
			environ := map[string]string{"PATH": "/bin", "SET": "is set", "EMPTY": ""}
			var entry map[string]json.RawMessage
			if err := json.Unmarshal(m.found(a.path)[0].Value, &entry); err != nil {
				t.Fatal(err)
			}
			var given map[string]string // to Assent, by the host's own rules
			if raw := entry[env]; raw != nil {
				if err := json.Unmarshal(raw, &given); err != nil {
					t.Fatal(err)
				}
			}
			for name, value := range given {
				if got, ok := texts[value]; ok {
					value = got[1]
				} else if value == "$sw0rd" && host == "gemini-cli" {
					value = texts["$NOT"][1]
				}
				environ[name] = value
			}
			got := m.after("s", m.Places.Folders[0], environ)
			if got.Words[1] != texts[text][0] || got.Env["V"] != texts[text][1] {
				t.Errorf("%s makes of %s %q, and Assent %q and %q: %s", host, text, texts[text], got.Words[1], got.Env["V"], m.read("assent/mcp.json"))
			}
		}
		if moved < 12 {
			t.Errorf("%s: only %d servers moved", host, moved)
		}
	}
}
