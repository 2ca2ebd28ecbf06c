// Package managedfiles reads the files by which an organisation decides about MCP servers, from their places on this system.
//
// The places are fixed: no setting, flag or variable moves them. What administrators set in a vendor's console, in Windows's
// registry or in a profile of macOS is not read. The package has no state.
package managedfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"assent/sidecar/config"
	"assent/sidecar/config/orgpolicy"
)

// maxFile bounds the size of a file. A larger one blocks, as any that cannot be read.
const maxFile = 1 << 20

// place is where a system has a file.
type place struct {
	kind orgpolicy.Kind
	path string
}

// places returns where a system has its files.
func places(system string) []place {
	switch system {
	case "darwin":
		const support = "/Library/Application Support/"
		return []place{
			{orgpolicy.Assent, support + "Assent/policy.json"},
			{orgpolicy.ClaudeCode, support + "ClaudeCode/managed-settings.json"},
			{orgpolicy.ClaudeServers, support + "ClaudeCode/managed-mcp.json"},
			{orgpolicy.Copilot, support + "GitHubCopilot/managed-settings.json"},
			{orgpolicy.Codex, "/etc/codex/requirements.toml"},
			{orgpolicy.Gemini, support + "GeminiCli/settings.json"},
		}
	case "windows":
		// Variables such as ProgramFiles are the person's to set.
		const programs, data = `C:\Program Files\`, `C:\ProgramData\`
		return []place{
			{orgpolicy.Assent, programs + `Assent\policy.json`},
			{orgpolicy.ClaudeCode, programs + `ClaudeCode\managed-settings.json`},
			{orgpolicy.ClaudeServers, programs + `ClaudeCode\managed-mcp.json`},
			{orgpolicy.Copilot, programs + `GitHubCopilot\managed-settings.json`},
			{orgpolicy.Codex, data + `OpenAI\Codex\requirements.toml`},
			{orgpolicy.Gemini, data + `gemini-cli\settings.json`},
		}
	}
	return []place{
		{orgpolicy.Assent, "/etc/assent/policy.json"},
		{orgpolicy.ClaudeCode, "/etc/claude-code/managed-settings.json"},
		{orgpolicy.ClaudeServers, "/etc/claude-code/managed-mcp.json"},
		{orgpolicy.Copilot, "/etc/github-copilot/managed-settings.json"},
		{orgpolicy.VSCode, "/etc/vscode/policy.json"},
		{orgpolicy.Codex, "/etc/codex/requirements.toml"},
		{orgpolicy.Gemini, "/etc/gemini-cli/settings.json"},
	}
}

// Read returns the files that this system has, with the error of each that cannot be read. Root is the folder that stands for
// the root of the file system, and empty for the real one; only tests give one.
func Read(root string) []orgpolicy.File {
	var files []orgpolicy.File
	for _, p := range places(runtime.GOOS) {
		path := p.path
		if root != "" {
			path = filepath.Join(root, strings.TrimPrefix(path, `C:`))
		}
		files = append(files, read(p.kind, path)...)
		if p.kind == orgpolicy.ClaudeCode {
			files = append(files, dropIns(strings.TrimSuffix(path, ".json")+".d")...)
		}
	}
	return files
}

// read returns a file, or nothing if there is none. A link that leads nowhere is a file that cannot be read.
func read(kind orgpolicy.Kind, path string) []orgpolicy.File {
	data, err := config.ReadFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		if _, there := os.Lstat(path); errors.Is(there, fs.ErrNotExist) {
			return nil
		}
	}
	return []orgpolicy.File{{Path: path, Kind: kind, Data: data, Err: err}}
}

// dropIns returns the files of the folder that adds to Claude Code's.
func dropIns(folder string) (files []orgpolicy.File) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []orgpolicy.File{{Path: folder, Kind: orgpolicy.ClaudeCode, Err: fmt.Errorf("the folder cannot be read: %w", err)}}
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".json") && !strings.HasPrefix(entry.Name(), ".") {
			files = append(files, read(orgpolicy.ClaudeCode, filepath.Join(folder, entry.Name()))...)
		}
	}
	return slices.Clip(files)
}

// Permit returns a [config.Environment]'s Permit that reads the files at every start of a server, so that a changed one counts
// from the next start on. Root is that of [Read], and environ the environment in which servers start.
func Permit(root string, environ []string) func(config.Server, config.Start) error {
	return func(s config.Server, start config.Start) error {
		policies := orgpolicy.New(Read(root), func(name string) (string, bool) {
			value := config.LookupEnv(environ, name)
			return value, value != ""
		})
		server := orgpolicy.Server{Name: s.NameInSource(), Resolved: start.Command, Path: start.Path, ResolvedURL: start.URL}
		if start.URL != "" {
			server.URL = s.URL
		} else {
			server.Command = append([]string{s.Command}, s.Args...)
		}
		if blocked := policies.Check("", server); blocked != nil {
			return blocked
		}
		return nil
	}
}
