// Package managedfiles reads the files by which an organisation decides about MCP servers, from their places on this system.
//
// The places are fixed: no setting, flag or variable moves them. On Windows, Claude Code's and VS Code's keys of the registry count
// as files. What administrators set in a vendor's console or in a profile of macOS is not read. What the person denies in Claude
// Code's settings counts in its sessions, too. [Files] may be used by several goroutines.
package managedfiles

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/base/realpath"
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
			{orgpolicy.Gemini, support + "GeminiCli/system-defaults.json"},
			{orgpolicy.Qwen, support + "QwenCode/settings.json"},
			{orgpolicy.QwenDefaults, support + "QwenCode/system-defaults.json"},
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
			{orgpolicy.Gemini, data + `gemini-cli\system-defaults.json`},
			{orgpolicy.Qwen, data + `qwen-code\settings.json`},
			{orgpolicy.QwenDefaults, data + `qwen-code\system-defaults.json`},
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
		{orgpolicy.Gemini, "/etc/gemini-cli/system-defaults.json"},
		{orgpolicy.Qwen, "/etc/qwen-code/settings.json"},
		{orgpolicy.QwenDefaults, "/etc/qwen-code/system-defaults.json"},
	}
}

// placesBelow returns where this system has its files. The root stands for that of the file system, as in [New].
func placesBelow(root string) []place {
	all := places(runtime.GOOS)
	for i := range all {
		if root != "" {
			all[i].path = filepath.Join(root, strings.TrimPrefix(all[i].path, `C:`))
		}
	}
	return all
}

// dropInFolder is the folder that adds to a file of Claude Code's.
func dropInFolder(path string) string { return strings.TrimSuffix(path, ".json") + ".d" }

// readAll returns the files that this system has, with the error of each that cannot be read. The root is as in [New].
func readAll(root string) []orgpolicy.File {
	var files []orgpolicy.File
	for _, p := range placesBelow(root) {
		files = append(files, read(p.kind, p.path)...)
		if p.kind == orgpolicy.ClaudeCode {
			files = append(files, dropIns(dropInFolder(p.path))...)
		}
	}
	if root == "" {
		files = append(files, registered()...)
	}
	return files
}

// read returns a file, or nothing if there is none. A link that leads nowhere is a file that cannot be read.
func read(kind orgpolicy.Kind, path string) []orgpolicy.File {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	data, err := config.ReadFile(path, maxFile)
	if bytes.IndexByte(data, 0) >= 0 {
		err = config.CheckEncoding(data)
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

// Files are the managed files of this system. They are read at every use, so a changed one counts at once.
type Files struct {
	root    string
	environ []string

	mu sync.Mutex // guards the fields below
	// editor is the text of VS Code's policies as a window of it says them, or empty.
	editor []byte
	// last are the files of the last reading, which began at a time and gave this look.
	last  []orgpolicy.File
	began time.Time
	look  Look
}

// Look is what the files say at one moment.
type Look struct {
	orgpolicy.Policies
	// Hash identifies it.
	Hash string
}

// moment is how long the last look may be ago for [Files.LookAgain].
const moment = time.Millisecond

// New returns the files below a root: the folder that stands for the root of the file system. It is empty for the real one;
// only tests give one. Environ is the environment in which servers start.
func New(root string, environ []string) *Files { return &Files{root: root, environ: environ} }

// editorPlace is what stands in the place of a path for the policies that a window of VS Code says.
const editorPlace = "the settings of VS Code"

// SetEditor has the policies of VS Code count as a window says them, in the shape of its policy.json. The window also sees what
// comes from the registry, a profile of macOS, or GitHub. They count beside the files.
func (f *Files) SetEditor(policies []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.editor, f.began = policies, time.Time{}
}

// Look returns what the files say now.
func (f *Files) Look() Look {
	began := time.Now()
	files := readAll(f.root)
	if path := f.ownSettings(); path != "" {
		files = append(files, read(orgpolicy.ClaudeOwn, path)...)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if began.Before(f.began) {
		return f.look // of a reading that began later
	}
	f.began = began
	if len(f.editor) > 0 {
		files = append(files, orgpolicy.File{Path: editorPlace, Kind: orgpolicy.VSCode, Data: f.editor})
	}
	if f.look.Hash == "" || !slices.EqualFunc(files, f.last, isSame) {
		f.last, f.look.Hash = files, hashOf(files)
		f.look.Policies = orgpolicy.New(files, func(name string) (string, bool) {
			value := config.LookupEnv(f.environ, name)
			return value, value != ""
		})
	}
	return f.look
}

// LookAgain is Look. Within a moment of the last look it does not read the files again.
func (f *Files) LookAgain() Look {
	f.mu.Lock()
	last, isNow := f.look, time.Since(f.began) < moment
	f.mu.Unlock()
	if isNow {
		return last
	}
	return f.Look()
}

// Permit is a [config.Environment]'s Permit: it keeps what holds for all of Assent.
func (f *Files) Permit(s config.Server, start config.Start) error { return f.PermitFor(s, start) }

// PermitFor is Permit in a session of hosts, which are named as in package orgpolicy.
func (f *Files) PermitFor(s config.Server, start config.Start, hosts ...string) error {
	if blocked := f.Look().check(s, start, hosts...); blocked != nil {
		return blocked
	}
	return nil
}

// Read returns the files that this system has, with the error of each that cannot be read.
func (f *Files) Read() []orgpolicy.File {
	if f == nil {
		return nil
	}
	return readAll(f.root)
}

// ownSettings is the path of the person's own settings of Claude Code, or empty if it is not known.
func (f *Files) ownSettings() string {
	folder := config.LookupEnv(f.environ, "CLAUDE_CONFIG_DIR")
	if home := config.Home(f.environ); folder == "" && home != "" {
		folder = filepath.Join(home, ".claude")
	}
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, "settings.json")
}

// Watched returns the files as [config.Watcher] watches them, and the files to which links lead. It does not see the registry of
// Windows.
func (f *Files) Watched() (files []string) {
	if path := f.ownSettings(); path != "" {
		files = append(files, path)
	}
	for _, p := range placesBelow(f.root) {
		files = append(files, p.path)
		if to := realpath.Of(p.path); to != p.path {
			files = append(files, to)
		}
		if p.kind == orgpolicy.ClaudeCode {
			files = append(files, filepath.Join(dropInFolder(p.path), config.AnyFile))
		}
	}
	return files
}

// Own returns what Assent's own file says now, beside its servers.
func (f *Files) Own() *orgpolicy.Own { return f.Look().Own() }

// Forbids returns why Assent's own file does not allow a thing, or nil.
func (f *Files) Forbids(m orgpolicy.Member) *orgpolicy.Blocked {
	if f == nil {
		return nil
	}
	return f.Own().Forbids(m)
}

// CheckDefinition is [Look.Check] for a server that an mcp.json would have under a name. A definition that cannot be read is an
// error, too.
func (f *Files) CheckDefinition(name string, definition json.RawMessage, hosts ...string) error {
	var d struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
		URL     string   `json:"url"`
	}
	if err := json.Unmarshal(definition, &d); err != nil {
		return fmt.Errorf("its definition cannot be read: %w", err)
	}
	s := config.Server{Name: name, Transport: protocol.TransportStdio, Command: d.Command, Args: d.Args, URL: d.URL}
	if d.URL != "" {
		s.Transport = protocol.TransportHTTP
	}
	if blocked := f.Look().Check(context.Background(), s, config.Environment{Environ: f.environ}, hosts...); blocked != nil {
		return blocked
	}
	return nil
}

// CheckEntry returns why a host's own files do not let the host start a command under a name, or nil.
func (f *Files) CheckEntry(host, name string, command []string) *orgpolicy.Blocked {
	return f.Look().CheckEntry(host, orgpolicy.Server{Name: name, Command: command, Resolved: command})
}

// Check returns why a server may not be used in a session of hosts, which are named as in package orgpolicy, or nil.
func (l Look) Check(ctx context.Context, s config.Server, e config.Environment, hosts ...string) *orgpolicy.Blocked {
	if !l.Restricts() {
		return nil // before the program is looked for
	}
	return l.check(s, s.Foreseen(ctx, e), hosts...)
}

func (l Look) check(s config.Server, start config.Start, hosts ...string) *orgpolicy.Blocked {
	if !l.Restricts() {
		return nil
	}
	server := orgpolicy.Server{Name: s.NameInSource(), Resolved: start.Command, ResolvedURL: start.URL}
	if start.Path != "" {
		server.Paths = []string{start.Path, realpath.Of(start.Path)}
	}
	server.Unresolved = start.URL == "" && len(start.Command) == 0
	if s.Transport == protocol.TransportStdio {
		server.Command = append([]string{s.Command}, s.Args...)
	} else {
		server.URL = s.URL
	}
	return l.Policies.Check(server, hosts...)
}

// isOfAdministrator reports whether only an administrator can have written a file, as far as its owner and its rights say so.
// On Windows nothing is known, and the answer is yes.
func isOfAdministrator(path string) bool {
	info, err := os.Stat(path)
	return err != nil || isOwnedByRoot(info) && (runtime.GOOS == "windows" || info.Mode().Perm()&0o022 == 0)
}

// Report describes a managed file.
type Report struct {
	Path string `json:"path"`
	// Programs are the hosts that obey the whole file in their sessions. Without any, it holds for all of Assent.
	Programs []string `json:"programs,omitempty"`
	// Problem is why the file blocks all servers for these.
	Problem string `json:"problem,omitempty"`
	// Warning says that others than an administrator can change the file. It restricts all the same.
	Warning string `json:"warning,omitempty"`
}

// Words says in a sentence for what the file holds.
func (r Report) Words() string {
	what := "It holds for all of Assent."
	if len(r.Programs) > 0 {
		what = "It holds for " + strings.Join(r.Programs, ", ") + "; the commands and URLs that it denies are denied in all of Assent."
	}
	if r.Problem != "" {
		what = "It cannot be used, so it blocks all servers: " + r.Problem + ". " + what
	}
	if r.Warning != "" {
		what += " " + r.Warning
	}
	return what
}

// Unseen says which policies Assent does not see.
const Unseen = "Assent does not see what administrators set on a vendor's server, in a profile of macOS, or for GitHub Copilot in Windows's registry."

// Reports returns the files that this system has.
func (f *Files) Reports() (all []Report) {
	for _, s := range f.Look().States() {
		r := Report{Path: s.Path, Programs: s.Hosts, Problem: s.Problem}
		if !isOfAdministrator(s.Path) {
			r.Warning = "Others than an administrator can change it: give it to root, and let only root write it. It restricts all the same."
		}
		all = append(all, r)
	}
	return all
}

func isSame(a, b orgpolicy.File) bool {
	return a.Path == b.Path && a.Kind == b.Kind && bytes.Equal(a.Data, b.Data) && textOf(a.Err) == textOf(b.Err)
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func hashOf(files []orgpolicy.File) string {
	sum := sha256.New()
	for _, file := range files {
		for _, part := range []string{file.Path, string(file.Data), textOf(file.Err)} {
			fmt.Fprintf(sum, "%d %s", len(part), part)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
