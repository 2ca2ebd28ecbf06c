//go:build linux

package managedfiles_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/config/managedfiles"
)

// lay writes a managed file below a root.
func lay(t *testing.T, root, path, text string) {
	t.Helper()
	path = filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const (
	own    = "etc/assent/policy.json"
	claude = "etc/claude-code/managed-settings.json"
	dropIn = "etc/claude-code/managed-settings.d/10-more.json"
)

func TestServersThatMayNotStart(t *testing.T) {
	shell := config.Server{Name: "s", Transport: protocol.TransportStdio, Command: "sh", Args: []string{"${env:WHAT}"}}
	remote := config.Server{Name: "r", Transport: protocol.TransportHTTP, URL: "https://${env:WHERE}/mcp"}
	disguised := shell
	disguised.URL = "https://good.example/"
	tests := []struct {
		name   string
		server config.Server
		path   string
		text   string
		want   string // in the error; empty if the server may start
	}{
		{"no file", shell, "etc/other", "", ""},
		{"a command that Claude Code denies", shell, claude, `{"deniedMcpServers": [{"serverCommand": ["sh", "evil"]}]}`, "/managed-settings.json, entry "},
		{"by a file that adds to it", shell, dropIn, `{"deniedMcpServers": [{"serverCommand": ["sh", "evil"]}]}`, "10-more.json"},
		{"with its variables as they are written", shell, claude, `{"deniedMcpServers": [{"serverCommand": ["sh", "${env:WHAT}"]}]}`, "Blocked by your organisation"},
		{"with a variable of the entry", shell, claude, `{"deniedMcpServers": [{"serverCommand": ["sh", "${WHAT}"]}]}`, "Blocked by your organisation"},
		{"a command beside a URL that is not used", disguised, own, `{"servers": {"allowed": [{"serverUrl": "https://good.example/*"}]}}`, "allowed does not have"},
		{"a URL that Copilot denies", remote, "etc/github-copilot/managed-settings.json", `{"deniedMcpServers": [{"serverUrl": "https://evil.example"}]}`, "github-copilot"},
		{"a name that Claude Code denies", shell, claude, `{"deniedMcpServers": [{"serverName": "s"}]}`, ""},
		{"a list of Claude Code's", shell, claude, `{"allowedMcpServers": []}`, ""},
		{"a broken file of Claude Code's", shell, claude, `{`, ""},
		{"a broken file of Assent's", shell, own, `{`, "cannot be used"},
		{"one in UTF-16", shell, own, "\xff\xfe{\x00}\x00", "it is in UTF-16: save it as UTF-8"},
		{"a huge one", shell, own, strings.Repeat(" ", 2<<20), "more than 1048576 bytes"},
		{"a name that Assent denies", remote, own, `{"servers": {"denied": [{"serverName": "r"}]}}`, `{"serverName":"r"}`},
		{"a server that Assent allows", remote, own, `{"servers": {"allowed": [{"serverUrl": "https://*.example/*"}]}}`, ""},
		{"one that it does not", shell, own, `{"servers": {"allowed": [{"serverUrl": "https://*.example/*"}]}}`, "allowed does not have"},
	}
	for _, tt := range tests {
		root := t.TempDir()
		lay(t, root, tt.path, tt.text)
		environ := []string{"PATH=" + os.Getenv("PATH"), "WHAT=evil", "WHERE=evil.example"}
		e := config.Environment{Environ: environ, Permit: managedfiles.New(root, environ).Permit}
		var err error
		if tt.server.Transport == protocol.TransportStdio {
			_, err = tt.server.Resolve(t.Context(), e)
		} else {
			_, _, err = tt.server.Endpoint(t.Context(), e)
		}
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestPlacesThatAreNoFile has what stands in a file's place, or in that of a folder on the way to it. It blocks for the programs of
// the file, and no reading waits.
func TestPlacesThatAreNoFile(t *testing.T) {
	server := config.Server{Name: "r", Transport: protocol.TransportHTTP, URL: "https://a.example/"}
	for name, stands := range map[string]func(path string) error{
		"a folder":                  func(path string) error { return os.Mkdir(path, 0o700) },
		"a link that leads nowhere": func(path string) error { return os.Symlink("nowhere", path) },
		"a link to itself":          func(path string) error { return os.Symlink(filepath.Base(path), path) },
		"a link to a device":        func(path string) error { return os.Symlink("/dev/zero", path) },
		"a pipe":                    func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link to a pipe": func(path string) error {
			return errors.Join(syscall.Mkfifo(path+".pipe", 0o600), os.Symlink(path+".pipe", path))
		},
		"a file in the place of its folder": func(path string) error {
			return errors.Join(os.Remove(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), []byte("{}"), 0o600))
		},
		"a huge file without text": func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)) },
		"half a file":              func(path string) error { return os.WriteFile(path, []byte(`{"a": [`), 0o600) },
		"bytes":                    func(path string) error { return os.WriteFile(path, []byte("\x00\xff"), 0o600) },
	} {
		for file, host := range map[string]string{
			own: "", claude: "claude-code", "etc/claude-code/managed-mcp.json": "claude-code", "etc/github-copilot/managed-settings.json": "vscode",
			"etc/vscode/policy.json": "vscode", "etc/codex/requirements.toml": "codex", "etc/gemini-cli/settings.json": "gemini-cli",
			"etc/gemini-cli/system-defaults.json": "gemini-cli",
			"etc/qwen-code/settings.json":         "qwen-code", "etc/qwen-code/system-defaults.json": "qwen-code", dropIn: "claude-code",
		} {
			root := t.TempDir()
			path := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := stands(path); err != nil {
				t.Fatal(err)
			}
			files := managedfiles.New(root, nil)
			if files.Look().Check(t.Context(), server, config.Environment{}, host) == nil {
				t.Errorf("%s in the place of %s lets a server be used", name, file)
			}
			if other := files.Look().Check(t.Context(), server, config.Environment{}, "another"); (other != nil) != (file == own) {
				t.Errorf("%s in the place of %s, for another program: %v", name, file, other)
			}
		}
	}
}

// TestALinkToADeniedProgram has a program that the list names by its place, and servers that come to it by other ways.
func TestALinkToADeniedProgram(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	denied := filepath.Join(folder, "denied")
	if err := os.WriteFile(denied, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("denied", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	lay(t, root, claude, `{"deniedMcpServers": [{"serverCommand": ["`+denied+`", "serve"]}]}`)
	e := config.Environment{Environ: []string{"PATH=" + folder}, Permit: managedfiles.New(root, nil).Permit}
	for _, command := range []string{denied, filepath.Join(folder, "link"), "./link", "./denied", "../" + filepath.Base(folder) + "/link", "link", "denied"} {
		s := config.Server{Name: "s", Transport: protocol.TransportStdio, Command: command, Args: []string{"serve"}, Cwd: folder}
		if _, err := s.Resolve(t.Context(), e); err == nil || !strings.Contains(err.Error(), "Blocked by your organisation") {
			t.Errorf("%s: got %v", command, err)
		}
	}
}

// TestWatchedFiles has a file that is a link. The file at its end changes.
func TestWatchedFiles(t *testing.T) {
	root := t.TempDir()
	lay(t, root, "usr/corp/settings.json", `{}`)
	link := filepath.Join(root, claude)
	if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink("../../usr/corp/settings.json", link)); err != nil {
		t.Fatal(err)
	}
	for _, environ := range [][]string{{"HOME=/home/ann"}, {"HOME=/home/ann", "CLAUDE_CONFIG_DIR=/srv/claude"}} {
		want := []string{link, filepath.Join(root, "usr/corp/settings.json"), filepath.Join(root, "etc/codex/requirements.toml"), "/home/ann/.claude/settings.json"}
		if len(environ) > 1 {
			want[3] = "/srv/claude/settings.json"
		}
		watched := managedfiles.New(root, environ).Watched()
		for _, path := range want {
			if !slices.Contains(watched, path) {
				t.Errorf("%s is not watched: %q", path, watched)
			}
		}
	}
}

// TestASecondLook has a file that changes between two looks, and policies that a window says.
func TestASecondLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		files := managedfiles.New(root, nil)
		first := files.Look().Hash
		lay(t, root, own, `{"gateway": {"allowed": false}}`)
		if files.LookAgain().Hash != first {
			t.Error("the files were read twice in a moment")
		}
		time.Sleep(time.Second)
		second := files.LookAgain().Hash
		if second == first {
			t.Error("a change was not seen a second later")
		}
		files.SetEditor([]byte(`{"ChatMCP": "none"}`))
		if files.LookAgain().Hash == second {
			t.Error("what a window says was not seen at once")
		}
	})
}

// TestReports has files that anyone may write, and one that cannot be used.
func TestReports(t *testing.T) {
	root := t.TempDir()
	lay(t, root, own, `{`)
	lay(t, root, claude, `{}`)
	if err := os.Chmod(filepath.Join(root, claude), 0o666); err != nil {
		t.Fatal(err)
	}
	all := managedfiles.New(root, nil).Reports()
	if len(all) != 2 || !strings.Contains(all[0].Words(), "blocks all servers: it is no JSON object") || len(all[0].Programs) != 0 {
		t.Fatalf("the reports are %+v", all)
	}
	if words := all[1].Words(); !strings.Contains(words, "claude-code") || !strings.Contains(words, "Others than an administrator can change it") {
		t.Errorf("of a file that all may write it says %s", words)
	}
	if isRoot := os.Getuid() == 0; (all[0].Warning == "") != isRoot {
		t.Errorf("of a file of this user, who is root: %v, it says %q", isRoot, all[0].Warning)
	}
}
