package test

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

// TestSetupFitsTheTerminal has a narrow terminal, on which no line of the table may break by itself.
func TestSetupFitsTheTerminal(t *testing.T) {
	home := t.TempDir()
	for _, host := range []string{".cursor", ".gemini"} {
		if err := os.Mkdir(filepath.Join(home, host), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	servers := `{"mcpServers": {"calendar": {"command": "npx", "args": ["-y", "a-package-with-a-rather-long-name", "--all"]}}}`
	for _, name := range []string{".cursor/mcp.json", ".gemini/settings.json"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(servers), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := reads(t, 60, 60, []string{"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config")}, "setup")
	s.sees("Change 2 files? (yes, no):")
	shown := strings.Join(s.lines(), "\n")
	const want = "calendar\n  runs: npx -y a-package-with-a-rather-long-nam…\n  configured in: Cursor, Gemini CLI\n  through Assent in: Cursor, Gemini CLI\n"
	if !strings.Contains(shown, want) {
		t.Errorf("it shows\n%s\nwant\n%s", shown, want)
	}
	s.types("no\r")
	s.ends(0)
}
