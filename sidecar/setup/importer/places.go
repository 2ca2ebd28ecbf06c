package importer

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"assent/sidecar/setup/hostfile"
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

// Place is a file in which a program may configure servers.
type Place struct {
	// Program is the program's name, with what tells this file from its others.
	Program string
	Path    string
	// Folder is the workspace folder that the file belongs to; empty if it is the person's own file.
	Folder string
	// Own: Assent reads the file itself, so nothing is imported from it.
	Own bool
	// Adds: a server that the person wants in this program belongs into this file.
	Adds bool
	dialect
	// env returns a variable of the environment.
	env func(name string) string
}

// container is a part of a file that holds servers.
type container struct {
	at hostfile.Path
	// folder is the only folder that has them, empty if all have them.
	folder string
}

// dialect is what a program's configuration means.
type dialect struct {
	// name is the program's name, id its name on a command line, and command starts it there, if it can be started so.
	name, id, command string
	// syntax is JSON if it is empty.
	syntax hostfile.Syntax
	// containers returns where servers are, the first one first.
	containers func(*hostfile.File) []container
	// hasInputs says that the file defines inputs as mcp.json does, beside its servers.
	hasInputs bool
	// variables says how the program writes them.
	variables variables
	// mayBeElse is what a file has to contain to be about servers at all.
	mayBeElse string
	// names are the program's own words for members of mcp.json.
	names map[string]string
	// style is how the program names a program with its arguments.
	style style
	// added are the members that a new entry has besides.
	added []hostfile.Member
	// passes says which variables the host gives to a program that it starts.
	passes passing
	// merges says that the host makes one server of the entries with one name in its files.
	merges bool
	// noFolder says that the host does not run in a folder of the person's.
	noFolder bool
	// login are the names of a login's members in those of mcp.json.
	login map[string]string
}

// passing says which variables a host gives to a program that it starts. The zero value is all.
type passing int

const (
	passesAll passing = iota
	// passesNamed: those that the member env_vars names, and a few.
	passesNamed
	// passesFew: those of the member env, and some others. It is also that of a host of which it is not known.
	passesFew
)

// style is a way to write a program and its arguments.
type style int

const (
	// listStyle: type is local, and command is a list with the arguments. The zero value is command and args.
	listStyle style = iota + 1
	// gooseStyle: type is stdio, cmd and args.
	gooseStyle
)

var (
	claudeDesktop = dialect{name: "Claude Desktop", id: "claude-desktop", containers: at("mcpServers"), noFolder: true}
	claudeCode    = dialect{name: "Claude Code", id: "claude-code", command: "claude", containers: claudeServers, variables: shell, login: claudeLogin, mayBeElse: `"mcpServers"`}
	claudeProject = dialect{name: "Claude Code", id: "claude-code", command: "claude", containers: at("mcpServers"), variables: shell, login: claudeLogin}
	cursor        = dialect{name: "Cursor", id: "cursor", command: "cursor", containers: at("mcpServers"), variables: prefixed, passes: passesFew, login: cursorLogin}
	cline         = dialect{name: "Cline", id: "cline", command: "cline", containers: at("mcpServers"), variables: onlyEnv, passes: passesFew}
	roo           = dialect{name: "Roo Code", id: "roo-code", containers: at("mcpServers"), variables: ofRoo, passes: passesFew}
	windsurf      = dialect{name: "Windsurf", id: "windsurf", command: "windsurf", containers: at("mcpServers"), variables: onlyEnv, passes: passesFew}
	vscode        = dialect{
		name: "VS Code", id: "vscode", command: "code", containers: at("servers"), hasInputs: true, variables: ofVSCode, login: editorLogin,
		added: []hostfile.Member{{Name: "type", Value: "stdio"}},
	}
	// Before it had an mcp.json for the person, VS Code kept servers in the settings.
	vscodeSettings = dialect{
		name: "VS Code", id: "vscode", containers: at("mcp", "servers"), hasInputs: true, variables: ofVSCode, login: editorLogin, mayBeElse: `"mcp"`,
	}
	codex = dialect{
		name: "Codex", id: "codex", command: "codex", syntax: hostfile.TOML, containers: at("mcp_servers"), mayBeElse: "mcp_servers",
		names: map[string]string{"http_headers": "headers"}, passes: passesNamed, login: codexLogin,
		merges: true,
	}
	copilot = dialect{
		name: "Copilot CLI", id: "copilot-cli", command: "copilot", containers: at("mcpServers"), variables: ofCopilot, passes: passesFew,
		login: map[string]string{"oauthClientId": "clientId", "oauthScopes": "scopes"},
		added: []hostfile.Member{{Name: "tools", Value: []string{"*"}}},
	}
	gemini = dialect{
		name: "Gemini CLI", id: "gemini-cli", command: "gemini", containers: at("mcpServers"), variables: ofGemini, mayBeElse: `"mcpServers"`, names: httpURL,
		passes: passesFew, login: geminiLogin,
	}
	qwen = dialect{
		name: "Qwen Code", id: "qwen-code", command: "qwen", containers: at("mcpServers"), variables: ofQwen, mayBeElse: `"mcpServers"`, names: httpURL,
		login: geminiLogin,
	}
	opencode = dialect{
		name: "opencode", id: "opencode", command: "opencode", containers: at("mcp"), variables: braces, mayBeElse: `"mcp"`, style: listStyle,
		names: map[string]string{"environment": "env"}, login: opencodeLogin, added: []hostfile.Member{{Name: "enabled", Value: true}}, merges: true,
	}
	kiloCLI = dialect{
		name: "Kilo", id: "kilo", command: "kilo", containers: at("mcp"), variables: braces, mayBeElse: `"mcp"`, style: listStyle,
		names: map[string]string{"environment": "env"}, login: opencodeLogin, added: []hostfile.Member{{Name: "enabled", Value: true}}, merges: true,
	}
	kilo  = dialect{name: "Kilo", id: "kilo", containers: at("mcpServers"), variables: ofRoo, passes: passesFew}
	amp   = dialect{name: "Amp", id: "amp", command: "amp", containers: at("amp.mcpServers"), variables: shellPlain, passes: passesFew, mayBeElse: `"amp.mcpServers"`}
	zed   = dialect{name: "Zed", id: "zed", command: "zed", containers: at("context_servers"), mayBeElse: `"context_servers"`, login: zedLogin}
	kiro  = dialect{name: "Kiro", id: "kiro", command: "kiro", containers: at("mcpServers"), variables: shellPlain, passes: passesFew}
	junie = dialect{name: "Junie", id: "junie", command: "junie", containers: at("mcpServers")}
	goose = dialect{
		name: "Goose", id: "goose", command: "goose", syntax: hostfile.YAML, containers: at("extensions"), mayBeElse: "extensions:", style: gooseStyle, variables: ofGoose,
		names: map[string]string{"cmd": "command", "envs": "env", "uri": "url"},
	}
	continueDev = dialect{
		name: "Continue", id: "continue", command: "cn", syntax: hostfile.YAML, containers: at("mcpServers"), mayBeElse: "mcpServers:",
	}
	httpURL       = map[string]string{"httpUrl": "url"}
	claudeLogin   = map[string]string{"oauth.clientId": "clientId", "oauth.callbackPort": "callbackPort", "oauth.scopes": "scopes"}
	codexLogin    = map[string]string{"oauth.client_id": "clientId", "oauth.client_secret": "clientSecret", "oauth.callback_port": "callbackPort", "scopes": "scopes"}
	editorLogin   = map[string]string{"oauth.clientId": "clientId", "oauth.clientSecret": "clientSecret"}
	cursorLogin   = map[string]string{"auth.CLIENT_ID": "clientId", "auth.CLIENT_SECRET": "clientSecret", "auth.scopes": "scopes"}
	geminiLogin   = map[string]string{"oauth.clientId": "clientId", "oauth.clientSecret": "clientSecret", "oauth.scopes": "scopes", "oauth.issuer": "issuer"}
	opencodeLogin = map[string]string{"oauth.clientId": "clientId", "oauth.clientSecret": "clientSecret", "oauth.scope": "scopes"}
	zedLogin      = map[string]string{"oauth.client_id": "clientId", "oauth.client_secret": "clientSecret"}
)

// at returns the place below the names.
func at(names ...string) func(*hostfile.File) []container {
	return func(*hostfile.File) []container { return []container{{at: names}} }
}

// claudeServers returns the servers that Claude Code has for a folder alone, which it prefers, and those for every folder.
func claudeServers(f *hostfile.File) []container {
	var found []container
	var projects map[string]struct {
		Servers json.RawMessage `json:"mcpServers"`
	}
	if json.Unmarshal(f.Value("projects"), &projects) == nil {
		for _, folder := range slices.Sorted(maps.Keys(projects)) {
			if len(projects[folder].Servers) > 0 {
				found = append(found, container{hostfile.Path{"projects", folder, "mcpServers"}, folder})
			}
		}
	}
	return append(found, container{at: hostfile.Path{"mcpServers"}})
}

// samePath reports whether two paths are the same by their names.
func (p Places) samePath(a, b string) bool {
	if p.OS != "windows" {
		return path.Clean(a) == path.Clean(b)
	}
	a, b = strings.ReplaceAll(a, `\`, "/"), strings.ReplaceAll(b, `\`, "/")
	return strings.EqualFold(path.Clean(a), path.Clean(b))
}

// moved returns the path that a variable of the environment names, or another one if there is no such variable. A relative path
// is one in the folder where the program runs, which is the first of the folders.
func (p Places) moved(name, otherwise string) string {
	to := p.Env(name)
	rest, isHome := strings.CutPrefix(to, "~/")
	switch {
	case to == "":
		return otherwise
	case isHome:
		return p.join(p.Home, rest)
	case !absolute().MatchString(to) && len(p.Folders) > 0:
		return p.join(p.Folders[0], to)
	}
	return to
}

func (p Places) join(elements ...string) string {
	if p.OS == "windows" {
		return strings.Join(slices.DeleteFunc(elements, func(e string) bool { return e == "" }), `\`)
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

// Programs returns the names of the programs that have a place, each once.
func (p Places) Programs() []string {
	var names []string
	for _, place := range p.all() {
		if !slices.Contains(names, place.dialect.name) {
			names = append(names, place.dialect.name)
		}
	}
	return names
}

// all returns every place, in the order in which people are likely to want them.
func (p Places) all() []Place {
	if p.Home == "" {
		return nil // which would make every path begin at the root
	}
	var all []Place
	seen := map[string]bool{}
	put := func(pl Place) {
		// A path names a source; and a home that is open as a folder has the same file twice.
		if !seen[pl.Path] {
			seen[pl.Path] = true
			pl.env = p.Env
			all = append(all, pl)
		}
	}
	file := func(d dialect, adds bool, elements ...string) {
		put(Place{Program: d.name, Path: p.join(elements...), Adds: adds, dialect: d})
	}
	// main is the file into which the program itself writes, and add another one.
	main := func(d dialect, elements ...string) { file(d, true, elements...) }
	add := func(d dialect, elements ...string) { file(d, false, elements...) }
	inFolders := func(d dialect, elements ...string) {
		for _, folder := range p.Folders {
			path := p.join(append([]string{folder}, elements...)...)
			put(Place{Program: d.name + " (this project)", Path: path, dialect: d, Folder: folder, Own: d.id == vscode.id})
		}
	}
	inEditors := func(d dialect, elements ...string) {
		for i, e := range p.editors() {
			program := e.name
			switch {
			case d.name == "VS Code": // the editor itself
			case e.name == "VS Code":
				program = d.name
			default:
				program = d.name + " in " + e.name
			}
			put(Place{Program: program, Path: p.join(append([]string{e.user}, elements...)...), Adds: i == 0 && d.command == vscode.command, dialect: d})
		}
	}

	main(claudeDesktop, p.settings(), "Claude", "claude_desktop_config.json")
	if p.OS == "windows" { // as it comes from Microsoft's store
		local := p.Env("LOCALAPPDATA")
		if local == "" {
			local = p.join(p.Home, "AppData", "Local")
		}
		add(claudeDesktop, local, "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming", "Claude", "claude_desktop_config.json")
	}
	main(claudeCode, p.moved("CLAUDE_CONFIG_DIR", p.Home), ".claude.json")
	inFolders(claudeProject, ".mcp.json")
	main(codex, p.moved("CODEX_HOME", p.join(p.Home, ".codex")), "config.toml")
	inFolders(codex, ".codex", "config.toml")
	main(cursor, p.Home, ".cursor", "mcp.json")
	inFolders(cursor, ".cursor", "mcp.json")
	inEditors(vscode, "mcp.json")
	for _, e := range p.editors() {
		profiles := p.join(e.user, "profiles")
		entries, _ := os.ReadDir(profiles) // a folder that is not there has none
		for _, entry := range entries[:min(len(entries), maxProfiles)] {
			put(Place{Program: e.name + " (a profile)", Path: p.join(profiles, entry.Name(), "mcp.json"), dialect: vscode})
		}
	}
	inEditors(vscodeSettings, "settings.json")
	inFolders(vscode, ".vscode", "mcp.json")
	main(copilot, p.moved("COPILOT_HOME", p.join(p.Home, ".copilot")), "mcp-config.json")
	inFolders(copilot, ".github", "mcp.json")
	main(gemini, p.moved("GEMINI_CLI_HOME", p.Home), ".gemini", "settings.json")
	inFolders(gemini, ".gemini", "settings.json")
	main(qwen, p.moved("QWEN_HOME", p.join(p.Home, ".qwen")), "settings.json")
	inFolders(qwen, ".qwen", "settings.json")
	xdg := p.XDG()
	ofOpencode := p.join(xdg, "opencode")
	main(opencode, ofOpencode, "opencode.json")
	add(opencode, ofOpencode, "opencode.jsonc")
	add(opencode, ofOpencode, "config.json")
	if file := p.moved("OPENCODE_CONFIG", ""); file != "" {
		add(opencode, file)
	}
	for _, dir := range []string{p.join(p.Home, ".opencode"), p.moved("OPENCODE_CONFIG_DIR", ofOpencode)} {
		add(opencode, dir, "opencode.json")
		add(opencode, dir, "opencode.jsonc")
	}
	for _, dir := range []string{"", ".opencode"} {
		inFolders(opencode, dir, "opencode.json")
		inFolders(opencode, dir, "opencode.jsonc")
	}
	inEditors(cline, "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json")
	main(cline, p.Home, ".cline", "data", "settings", "cline_mcp_settings.json")
	inEditors(roo, "globalStorage", "rooveterinaryinc.roo-cline", "settings", "mcp_settings.json")
	inFolders(roo, ".roo", "mcp.json")
	inEditors(kilo, "globalStorage", "kilocode.kilo-code", "settings", "mcp_settings.json")
	main(kiloCLI, xdg, "kilo", "kilo.jsonc")
	inFolders(kiloCLI, ".kilo", "kilo.jsonc")
	main(windsurf, p.Home, ".codeium", "windsurf", "mcp_config.json")
	add(windsurf, p.Home, ".codeium", "windsurf-next", "mcp_config.json")
	add(windsurf, p.Home, ".codeium", "mcp_config.json")
	if p.OS == "windows" {
		main(zed, p.settings(), "Zed", "settings.json")
		main(goose, p.settings(), "Block", "goose", "config", "config.yaml")
	} else {
		main(zed, xdg, "zed", "settings.json")
		main(goose, xdg, "goose", "config.yaml")
	}
	if root := p.Env("GOOSE_PATH_ROOT"); absolute().MatchString(root) {
		add(goose, root, "config", "config.yaml")
	}
	inFolders(zed, ".zed", "settings.json")
	main(continueDev, p.moved("CONTINUE_GLOBAL_DIR", p.join(p.Home, ".continue")), "config.yaml")
	main(kiro, p.Home, ".kiro", "settings", "mcp.json")
	inFolders(kiro, ".kiro", "settings", "mcp.json")
	main(junie, p.Home, ".junie", "mcp", "mcp.json")
	inFolders(junie, ".junie", "mcp", "mcp.json")
	main(amp, p.moved("AMP_SETTINGS_FILE", p.join(xdg, "amp", "settings.json")))
	inFolders(amp, ".amp", "settings.json")
	return all
}

// Files returns every file that may configure servers, in the order in which people are likely to want them.
func (p Places) Files() []Place { return p.all() }

// XDG returns the folder of settings that some programs have on every system.
func (p Places) XDG() string {
	if dir := p.Env("XDG_CONFIG_HOME"); strings.HasPrefix(dir, "/") {
		return dir
	}
	return p.join(p.Home, ".config")
}
