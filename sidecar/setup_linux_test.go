package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSetupAsksFirst has a person at a terminal say yes to the files, and yes to the secrets; no; and Ctrl-C.
func TestSetupAsksFirst(t *testing.T) {
	tests := []struct {
		name    string
		answers []string
		code    int
		routed  bool
		secret  bool // stays in clear text
	}{
		{"yes and yes", []string{"yes\r", "yes\r"}, 0, true, false},
		{"yes and no", []string{"y\r", "n\r"}, 0, true, true},
		{"no", []string{"no\r"}, 0, false, false},
		{"Ctrl-C", []string{"\x03"}, 130, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, ".cursor", "mcp.json")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			const before = `{"mcpServers": {"a": {"command": "a", "env": {"API_KEY": "sk-0123456789abcdef"}}}}`
			if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			s := sit(t, 80, 24, []string{
				"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
				"DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(home, "none"),
			}, "setup")
			questions := []string{"Change 1 file? (yes, no):", "Move the secrets in clear text into a sealed file"}
			for i, answer := range tt.answers {
				s.sees(questions[i])
				s.types(answer)
			}
			s.ends(tt.code)
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if tt.routed != strings.Contains(string(after), `"gateway"`) || !tt.routed && string(after) != before {
				t.Errorf("it is %s", after)
			}
			user, err := os.ReadFile(filepath.Join(home, ".config", "assent", "mcp.json"))
			if (err == nil) != tt.routed || tt.secret != strings.Contains(string(user), "sk-0123") {
				t.Errorf("%s, %v", user, err)
			}
		})
	}
}
