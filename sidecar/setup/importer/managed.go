package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"assent/sidecar/setup/hostfile"
)

// maxManaged bounds an organisation's file, in bytes.
const maxManaged = 4 << 20

// managed is a folder in which an organisation configures a host, with the files there that may limit servers.
type managed struct {
	hosts []string
	// folders are by [Places.OS].
	folders map[string]string
	files   []managedFile
}

// managedFile is a file of an organisation.
type managedFile struct {
	// pattern is its name, as of [filepath.Glob].
	pattern string
	syntax  hostfile.Syntax
	// members limit the servers. Without any, the file itself does.
	members []hostfile.Path
	// harmless are values of the members that limit nothing.
	harmless []string
}

var managedFolders = []managed{
	{
		[]string{"claude-code"},
		map[string]string{"linux": "/etc/claude-code", "darwin": "/Library/Application Support/ClaudeCode", "windows": `C:\Program Files\ClaudeCode`},
		[]managedFile{
			{pattern: "managed-mcp.json"},
			{pattern: "managed-settings.json", members: claudeLimits, harmless: []string{"null", "false"}},
			{pattern: "managed-settings.d/*.json", members: claudeLimits, harmless: []string{"null", "false"}},
		},
	},
	{
		[]string{"copilot-cli", "vscode"},
		map[string]string{"linux": "/etc/github-copilot", "darwin": "/Library/Application Support/GitHubCopilot", "windows": `C:\Program Files\GitHubCopilot`},
		[]managedFile{{pattern: "managed-settings.json", members: []hostfile.Path{{"allowedMcpServers"}, {"deniedMcpServers"}}, harmless: []string{"null"}}},
	},
	{
		[]string{"vscode"},
		map[string]string{"linux": "/etc/vscode"},
		[]managedFile{{
			pattern: "policy.json", members: []hostfile.Path{{"ChatMCP"}, {"ChatAllowedMcpServers"}, {"ChatDeniedMcpServers"}}, harmless: []string{"null", `"all"`, `""`},
		}},
	},
	{
		[]string{"codex"},
		map[string]string{"linux": "/etc/codex", "darwin": "/etc/codex", "windows": `C:\ProgramData\OpenAI\Codex`},
		[]managedFile{{pattern: "requirements.toml", syntax: hostfile.TOML, members: []hostfile.Path{{"mcp_servers"}}}},
	},
	{
		[]string{"gemini-cli"},
		map[string]string{"linux": "/etc/gemini-cli", "darwin": "/Library/Application Support/GeminiCli", "windows": `C:\ProgramData\gemini-cli`},
		[]managedFile{{pattern: "settings.json", members: []hostfile.Path{{"mcp", "allowed"}, {"mcp", "excluded"}}, harmless: []string{"null", "[]"}}},
	},
}

var claudeLimits = []hostfile.Path{
	{"allowedMcpServers"}, {"deniedMcpServers"}, {"allowManagedMcpServersOnly"}, {"managedMcpServers"}, {"strictPluginOnlyCustomization"},
}

// ManagedFile returns the file in which the organisation limits the servers of a host, or "" if there is none. A file that
// cannot be read counts. What a vendor's server, MDM or the registry of Windows says is not known here.
func (p Places) ManagedFile(hostID string) string {
	for _, m := range managedFolders {
		folder := m.folders[p.OS]
		if folder == "" || !slices.Contains(m.hosts, hostID) {
			continue
		}
		if p.Root != "" {
			folder = filepath.Join(p.Root, filepath.FromSlash(folder))
		}
		for _, f := range m.files {
			found, err := filepath.Glob(filepath.Join(folder, filepath.FromSlash(f.pattern)))
			if err != nil {
				continue // the pattern is ours and right
			}
			for _, path := range found {
				if f.limits(path) {
					return path
				}
			}
		}
	}
	return ""
}

func (f managedFile) limits(path string) bool {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxManaged || len(f.members) == 0 {
		return true
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return true
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return false
	}
	doc, err := hostfile.Parse(f.syntax, data)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(f.members, func(at hostfile.Path) bool {
		value := doc.Value(at...)
		return value != nil && !slices.Contains(f.harmless, string(compact(value)))
	})
}

func compact(raw json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	return out.Bytes()
}
