package managedfiles

import (
	"strings"
	"testing"

	"golang.org/x/sys/windows/registry"

	"assent/sidecar/config/orgpolicy"
)

// TestTheRegistry has the keys of administrators below a key of this user.
func TestTheRegistry(t *testing.T) {
	const below = `Software\AssentTest\`
	for _, tt := range []struct {
		name, key, value, text string
		host, want             string // in the error; empty if a server may be used
	}{
		{"nothing", `Other`, "Settings", `{`, "claude-code", ""},
		{"Claude Code", `ClaudeCode`, "Settings", `{"deniedMcpServers": [{"serverName": "s"}]}`, "claude-code", "ClaudeCode"},
		{"another server", `ClaudeCode`, "Settings", `{"deniedMcpServers": [{"serverName": "x"}]}`, "claude-code", ""},
		{"VS Code", `Microsoft\VSCode`, "ChatDeniedMcpServers", `[{"serverName": "s"}]`, "vscode", `{"serverName":"s"}`},
		{"VS Code has none", `Microsoft\VSCode`, "ChatMCP", "none", "vscode", "ChatMCP"},
		{"a broken value", `Microsoft\VSCode`, "ChatAllowedMcpServers", "[{", "vscode", "VSCode"},
		{"no text", `ClaudeCode`, "Settings", "", "claude-code", "cannot be used"},
	} {
		key, _, err := registry.CreateKey(registry.CURRENT_USER, below+tt.key, registry.ALL_ACCESS)
		if err != nil {
			t.Fatal(err)
		}
		if tt.text == "" {
			err = key.SetDWordValue(tt.value, 1)
		} else {
			err = key.SetStringValue(tt.value, tt.text)
		}
		if err != nil {
			t.Fatal(err)
		}
		policies := orgpolicy.New(registeredIn(registry.CURRENT_USER, "", below), func(string) (string, bool) { return "", false })
		got := policies.Check(orgpolicy.Server{Name: "s", Command: []string{"s"}, Resolved: []string{"s"}}, tt.host)
		if (got != nil) != (tt.want != "") || got != nil && !strings.Contains(got.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, got, tt.want)
		}
		if err := key.DeleteValue(tt.value); err != nil {
			t.Error(err)
		}
		if err := key.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, key := range []string{`Other`, `ClaudeCode`, `Microsoft\VSCode`, `Microsoft`, ``} {
		if err := registry.DeleteKey(registry.CURRENT_USER, strings.TrimSuffix(below+key, `\`)); err != nil {
			t.Error(err)
		}
	}
}
