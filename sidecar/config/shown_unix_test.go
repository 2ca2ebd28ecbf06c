//go:build !windows

package config_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// To open a pipe is to wait for a program that writes to it. The test hangs if one is opened.
func TestAPipeIsNotOpenedForAServerOfAWorkspace(t *testing.T) {
	for name, entry := range map[string]string{
		"in the workspace": `{"command": "npx", "envFile": "${workspaceFolder}/pipe"}`,
		"elsewhere":        `{"command": "npx", "envFile": "${userHome}/pipe"}`,
		"a device":         `{"command": "npx", "envFile": "/dev/tty"}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			for _, folder := range []string{r.folder, r.home} {
				if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, e := r.server(entry), r.environment()
			s.Definition(t.Context(), e)
			s.Identity(t.Context(), e)
			s.Shown(t.Context(), e)
			s.Launch(t.Context(), e)
			if _, err := s.Resolve(t.Context(), e); err == nil || !strings.Contains(err.Error(), "is not a file") {
				t.Errorf("a server with a pipe as its envFile: %v", err)
			}
		})
	}
}
