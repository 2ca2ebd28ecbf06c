package importer

import (
	"os"
	"path"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// maxProfiles bounds the profiles of an editor that are looked at.
const maxProfiles = 50

// Places says where to look. It is made of values, so that the places of each system can be computed
// on every other.
type Places struct {
	// OS is as [runtime.GOOS] has it.
	OS string
	// Home is the person's own folder.
	Home string
	// Env returns an environment variable.
	Env func(name string) string
	// Folders are the workspace's folders. Their own files are searched too.
	Folders []string
}

// place is one file to look at.
type place struct {
	program string
	path    string
	dialect dialect
	// folder is the workspace folder of the file; empty if the file belongs to the person.
	folder string
}

// dialect is what a program's configuration means.
type dialect struct {
	// name is the program's.
	name string
	// servers returns the objects that hold servers, the first one first.
	servers func(Places, *hujson.Value) []*hujson.Value
	// hasInputs says that the file defines inputs as mcp.json does, beside its servers.
	hasInputs bool
	// variables says how the program writes them.
	variables variables
	// mayBeElse is what a file has to contain to be about servers at all.
	mayBeElse string
}

// variables is a way to write variables.
type variables int

const (
	// literal: there are none.
	literal variables = iota
	// prefixed: as in mcp.json, ${env:NAME} and others.
	prefixed
	// shell: ${NAME} and ${NAME:-default}.
	shell
)

var (
	claudeDesktop = dialect{name: "Claude Desktop", servers: at("mcpServers"), variables: literal}
	claudeCode    = dialect{name: "Claude Code", servers: claudeServers, variables: shell, mayBeElse: `"mcpServers"`}
	claudeProject = dialect{name: "Claude Code", servers: at("mcpServers"), variables: shell}
	cursor        = dialect{name: "Cursor", servers: at("mcpServers"), variables: prefixed}
	cline         = dialect{name: "Cline", servers: at("mcpServers"), variables: prefixed}
	roo           = dialect{name: "Roo Code", servers: at("mcpServers"), variables: prefixed}
	windsurf      = dialect{name: "Windsurf", servers: at("mcpServers"), variables: prefixed}
	vscode        = dialect{name: "VS Code", servers: at("servers"), hasInputs: true, variables: prefixed}
	// Before it had an mcp.json for the person, VS Code kept servers in the settings.
	vscodeSettings = dialect{name: "VS Code", servers: at("mcp", "servers"), hasInputs: true, variables: prefixed, mayBeElse: `"mcp"`}
)

// at returns the value below the names.
func at(names ...string) func(Places, *hujson.Value) []*hujson.Value {
	return func(_ Places, v *hujson.Value) []*hujson.Value {
		for _, name := range names {
			v = member(v, name)
		}
		if v == nil {
			return nil
		}
		return []*hujson.Value{v}
	}
}

// claudeServers returns the servers that Claude Code has for the open folders alone, which it prefers,
// and those for every folder.
func claudeServers(p Places, root *hujson.Value) []*hujson.Value {
	var found []*hujson.Value
	if projects := member(root, "projects"); projects != nil {
		if object, ok := projects.Value.(*hujson.Object); ok {
			for i := range object.Members {
				name, _ := object.Members[i].Name.Value.(hujson.Literal)
				isOpen := slices.ContainsFunc(p.Folders, func(folder string) bool { return p.samePath(folder, name.String()) })
				if servers := member(&object.Members[i].Value, "mcpServers"); isOpen && servers != nil {
					found = append(found, servers)
				}
			}
		}
	}
	return append(found, at("mcpServers")(p, root)...)
}

// samePath reports whether two paths are the same by their names.
func (p Places) samePath(a, b string) bool {
	if p.OS != "windows" {
		return path.Clean(a) == path.Clean(b)
	}
	a, b = strings.ReplaceAll(a, `\`, "/"), strings.ReplaceAll(b, `\`, "/")
	return strings.EqualFold(path.Clean(a), path.Clean(b))
}

func (p Places) join(elements ...string) string {
	if p.OS == "windows" {
		return strings.Join(elements, `\`)
	}
	return path.Join(elements...)
}

// editor is VS Code, or one of those that are made of it.
type editor struct {
	name string
	// user is where it keeps the person's own files.
	user string
}

// editors returns the editors of all systems' kinds, those of remotes included.
func (p Places) editors() []editor {
	var all []editor
	settings := p.settings()
	for _, e := range []editor{
		{"VS Code", "Code"},
		{"VS Code Insiders", "Code - Insiders"},
		{"VSCodium", "VSCodium"},
		{"VSCodium Insiders", "VSCodium - Insiders"},
		{"Code - OSS", "Code - OSS"},
		{"Cursor", "Cursor"},
		{"Windsurf", "Windsurf"},
		{"Windsurf Next", "Windsurf - Next"},
	} {
		all = append(all, editor{e.name, p.join(settings, e.user, "User")})
	}
	if p.OS == "linux" {
		all = append(all,
			editor{"VS Code (Flatpak)", p.join(p.Home, ".var/app/com.visualstudio.code/config/Code/User")},
			editor{"VSCodium (Flatpak)", p.join(p.Home, ".var/app/com.vscodium.codium/config/VSCodium/User")})
	}
	// What a window has on this machine that it is connected to from another one.
	data := p.Env("XDG_DATA_HOME")
	if data == "" {
		data = p.join(p.Home, ".local", "share")
	}
	for _, remote := range []editor{
		{"code-server", p.join(data, "code-server")},
		{"VS Code (remote)", p.join(p.Home, ".vscode-server", "data")},
		{"VS Code Insiders (remote)", p.join(p.Home, ".vscode-server-insiders", "data")},
		{"VS Code (Codespaces)", p.join(p.Home, ".vscode-remote", "data")},
		{"OpenVSCode Server", p.join(p.Home, ".openvscode-server", "data")},
		{"VSCodium (remote)", p.join(p.Home, ".vscodium-server", "data")},
		{"Cursor (remote)", p.join(p.Home, ".cursor-server", "data")},
		{"Windsurf (remote)", p.join(p.Home, ".windsurf-server", "data")},
	} {
		all = append(all, editor{remote.name, p.join(remote.user, "User")})
	}
	return all
}

// settings returns the folder where programs keep their settings.
func (p Places) settings() string {
	switch p.OS {
	case "windows":
		if dir := p.Env("APPDATA"); dir != "" {
			return dir
		}
		return p.join(p.Home, "AppData", "Roaming")
	case "darwin":
		return p.join(p.Home, "Library", "Application Support")
	default:
		if dir := p.Env("XDG_CONFIG_HOME"); strings.HasPrefix(dir, "/") {
			return dir
		}
		return p.join(p.Home, ".config")
	}
}

// all returns every place, in the order in which people are likely to want them.
func (p Places) all() []place {
	if p.Home == "" {
		return nil // which would make every path begin at the root
	}
	var all []place
	add := func(d dialect, elements ...string) {
		all = append(all, place{program: d.name, path: p.join(elements...), dialect: d})
	}
	inFolders := func(d dialect, elements ...string) {
		for _, folder := range p.Folders {
			path := p.join(append([]string{folder}, elements...)...)
			all = append(all, place{program: d.name + " (this project)", path: path, dialect: d, folder: folder})
		}
	}
	inEditors := func(d dialect, elements ...string) {
		for _, e := range p.editors() {
			program := e.name
			switch {
			case d.name == "VS Code": // the editor itself
			case e.name == "VS Code":
				program = d.name
			default:
				program = d.name + " in " + e.name
			}
			all = append(all, place{program: program, path: p.join(append([]string{e.user}, elements...)...), dialect: d})
		}
	}

	add(claudeDesktop, p.settings(), "Claude", "claude_desktop_config.json")
	if p.OS == "windows" { // as it comes from Microsoft's store
		local := p.Env("LOCALAPPDATA")
		if local == "" {
			local = p.join(p.Home, "AppData", "Local")
		}
		add(claudeDesktop, local, "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming", "Claude", "claude_desktop_config.json")
	}
	if dir := p.Env("CLAUDE_CONFIG_DIR"); dir != "" {
		add(claudeCode, dir, ".claude.json")
	} else {
		add(claudeCode, p.Home, ".claude.json")
	}
	inFolders(claudeProject, ".mcp.json")
	add(cursor, p.Home, ".cursor", "mcp.json")
	inFolders(cursor, ".cursor", "mcp.json")
	inEditors(vscode, "mcp.json")
	for _, e := range p.editors() {
		profiles := p.join(e.user, "profiles")
		entries, _ := os.ReadDir(profiles) // a folder that is not there has none
		for _, entry := range entries[:min(len(entries), maxProfiles)] {
			all = append(all, place{program: e.name + " (a profile)", path: p.join(profiles, entry.Name(), "mcp.json"), dialect: vscode})
		}
	}
	inEditors(vscodeSettings, "settings.json")
	inEditors(cline, "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json")
	add(cline, p.Home, ".cline", "data", "settings", "cline_mcp_settings.json")
	inEditors(roo, "globalStorage", "rooveterinaryinc.roo-cline", "settings", "mcp_settings.json")
	inFolders(roo, ".roo", "mcp.json")
	add(windsurf, p.Home, ".codeium", "windsurf", "mcp_config.json")
	add(windsurf, p.Home, ".codeium", "windsurf-next", "mcp_config.json")
	add(windsurf, p.Home, ".codeium", "mcp_config.json")
	// A path names a source; and a home that is open as a folder has the same file twice.
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(pl place) bool {
		again := seen[pl.path]
		seen[pl.path] = true
		return again
	})
}
