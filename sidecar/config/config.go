// Package config reads which MCP servers a person has configured: in the .vscode/mcp.json and the .mcp.json of each workspace
// folder, in the user settings that a front end hands over, in the editor's own mcp.json, and in the person's own.
//
// [Load] never fails as a whole: it reports each problem with its position, and uses the rest. When a server
// starts, [Server.Resolve] replaces the variables and finds the program, if necessary with the PATH of the login
// shell ([LoginShell]). The only state of the package is in [Memory]. Callers must not change its results.
package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
	"assent/sidecar/base/visible"
)

// SettingsSource is the source of servers that come from user settings.
const SettingsSource = "settings"

// The server that Assent brings along.
const (
	// builtInSource is its source.
	builtInSource = "built in"
	// exampleName is its name.
	exampleName = "example-server"
)

// FileName is the configuration file of a workspace folder.
var FileName = filepath.Join(".vscode", "mcp.json")

// RootFileName is the file that a workspace folder shares with other programs. Its servers are in the member "mcpServers".
// Those of [FileName] hide it.
const RootFileName = ".mcp.json"

// UserFile returns the person's own mcp.json, whose servers are in every workspace. It is empty where the person has no folder
// for settings.
func UserFile() string {
	folder, err := UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "assent", filepath.Base(FileName))
}

// Server is a configured server. Two are equal exactly when nothing about how they start differs.
type Server struct {
	Name string
	// Source is the file, or [SettingsSource], or "built in".
	Source string
	// Folder is the path of the workspace folder; for an own server that of the first one. It is empty if no folder is open.
	Folder    string
	Transport protocol.Transport
	// Command, Args, Env, EnvFile and Cwd are of a [protocol.TransportStdio] server.
	Command string
	Args    []string
	// Env holds the variables to set. A nil value removes the variable.
	Env     map[string]*string
	EnvFile string
	Cwd     string
	// URL and Headers are of every other server.
	URL     string
	Headers map[string]string
	OAuth   OAuth
	Usage
	SourceRights
	// Resembles says which other server has a name that looks like this one's, in a sentence; empty for none, and for the
	// person's own servers.
	Resembles string
}

// Usage is how Assent uses a server.
type Usage struct {
	// ProtocolVersion is LegacyProtocol if Assent must speak that version with the server. If it is empty, the handshake
	// decides.
	ProtocolVersion string
	// Shared reports whether all tasks use one connection, although each would have its own in the server's era. It is for
	// servers that can run only once, such as those that lock a port or a device.
	Shared bool
	// ToolTimeout bounds the time in which a call of a tool has neither a result nor progress. 0 is no bound. If it is nil,
	// the setting of the front end counts.
	ToolTimeout *time.Duration
}

// SourceRights are what a server may do and use because of its source.
type SourceRights struct {
	// Own reports whether the server is the person's own: of their mcp.json, of the editor's own file, or of the settings.
	Own bool
	// Hidden reports whether a workspace's server hides this own one. Its Name is then one of [IsOwnName].
	Hidden bool
	// Unconfirmed reports whether the person must confirm the server's definition before it runs: because a file of the
	// workspace configures it, or because an own server would use files of a folder for which nothing vouches.
	Unconfirmed bool
	// Unvouched reports whether [Server.In] can find that an own server must be confirmed: it names variables of the environment,
	// and nothing vouches for the folder.
	Unvouched bool
	// Inputs are those of the server's source, by id.
	Inputs map[string]Input
	// KeptSecrets reports whether the server may use what [Environment.Secret] returns: those of the person's own file may.
	KeptSecrets bool
}

// LegacyProtocol is the newest version of MCP in which a server sends requests of its own. A server may
// offer a newer one and have tools that can ask in this one only.
const LegacyProtocol = "2025-11-25"

// maxToolTimeout bounds a server's member "toolTimeout".
const maxToolTimeout = 10_000 * time.Hour

// What a server's member "sharing" says; nothing says the first.
const (
	sharingTask   = "task"
	sharingShared = "shared"
)

// Input is a value that the person is asked for.
type Input struct {
	ID          string             `json:"id" jsonschema:"The name of the value in ${input:NAME}."`
	Type        protocol.InputKind `json:"type" jsonschema:"promptString: the person types it. pickString: the person chooses one of the options."`
	Description string             `json:"description" jsonschema:"What the person reads."`
	Default     string             `json:"default" jsonschema:"The value that is proposed."`
	Password    bool               `json:"password" jsonschema:"The value is a secret and is hidden while the person types."`
	Options     []string           `json:"options" jsonschema:"The values to choose from."`
}

// Result is the configuration, with its problems.
type Result struct {
	// Servers have unique names, in the order of their sources.
	Servers []Server
	// Hidden are the person's own servers that have the name of one of the workspace's.
	Hidden   []Server
	Problems []protocol.ConfigProblem
	// Sources are the places where servers were looked for. Files need not exist.
	Sources []Source
}

// Source is a place with servers.
type Source struct {
	// Name is the path of a file, or [SettingsSource].
	Name string
	// Own reports whether its servers are the person's own.
	Own bool
}

// Trusted returns the folders that may configure servers, and in which servers may start.
func Trusted(folders []protocol.WorkspaceFolder) []protocol.WorkspaceFolder {
	return slices.DeleteFunc(slices.Clone(folders), func(f protocol.WorkspaceFolder) bool { return f.Untrusted })
}

// Load reads the configuration. A workspace's server hides one of the user's with the same name; see [Result.Hidden]. Load does not read the file
// of an untrusted folder, and only reports that there is one.
//
// The person's own servers start in the person's home folder: in another folder, a program such as npx may run files of
// that folder. With a cwd such as ${workspaceFolder}, a server starts in the first folder that is trusted. It then
// needs the person's confirmation, unless the front end vouches for the folder.
//
// UserFile is the person's own mcp.json; it may be empty. Its servers come last, after those of the editor's own file. Both
// are left out if a folder names another file. The person's own file alone can have traces exported. Load skips entries of
// files that start "assent gateway": they are a host's way to a server.
func Load(c protocol.Configuration, userFile string) Result { return Memory{}.Load(c, userFile) }

// Memory has the contents that files had when they could last be read, by their paths. A program may be writing one: while it
// cannot be read, its servers stay. One goroutine at a time may use it.
type Memory map[string][]byte

// Load is [Load] with the memory of earlier calls.
func (m Memory) Load(c protocol.Configuration, userFile string) Result {
	l := loader{memory: m, names: map[string]string{}, isOwn: map[string]bool{}, places: map[string]protocol.ConfigProblem{}}
	for _, folder := range c.WorkspaceFolders {
		for _, path := range Files(folder) {
			l.result.Sources = append(l.result.Sources, Source{Name: path})
			l.read(path, folder)
		}
	}
	if len(c.Servers) > 0 {
		l.result.Sources = append(l.result.Sources, Source{SettingsSource, true})
		l.settings(firstFolder(c.WorkspaceFolders), c.Servers, c.Inputs)
	}
	named := slices.ContainsFunc(c.WorkspaceFolders, func(f protocol.WorkspaceFolder) bool { return f.ConfigFile != "" })
	if c.EditorFile != "" && !named {
		data, err := ReadFile(c.EditorFile, maxFile)
		l.own(c.EditorFile, data, err, c.WorkspaceFolders)
	}
	if userFile != "" {
		l.user(userFile, c.WorkspaceFolders, named)
	}
	if c.ExampleServer {
		l.example()
	}
	l.lookalikes()
	return l.result
}

// Files returns the files that configure a folder's servers, the one that hides the other first. They need not exist.
func Files(folder protocol.WorkspaceFolder) []string {
	switch {
	case folder.RootOnly:
		return nil
	case folder.ConfigFile != "":
		return []string{folder.ConfigFile}
	}
	return []string{filepath.Join(folder.Path, FileName), filepath.Join(folder.Path, RootFileName)}
}

// read reads a folder's file.
func (l *loader) read(path string, folder protocol.WorkspaceFolder) {
	if folder.Untrusted {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			l.problem(path, nil, 0, "is not read, because you have not trusted this workspace. To have its servers, trust it with the command Workspaces: Manage Workspace Trust")
		}
		return
	}
	data, err := ReadFile(path, maxFile)
	l.forget(path, data, err)
	switch {
	case errors.Is(err, fs.ErrNotExist) && folder.ConfigFile == "":
	case err == nil && len(bytes.TrimSpace(data)) == 0 && folder.ConfigFile == "": // as VS Code takes it, a file without servers
	case err == nil && len(bytes.TrimSpace(data)) == 0:
		l.problem(path, nil, 0, "is empty: it needs an object with the member %q", ownServers)
	case err != nil:
		l.unreadable(protocol.ConfigProblem{Source: path, Message: fmt.Sprintf("cannot be read: %v", err)}, folder, false)
	default:
		l.file(path, folder, false, data)
	}
}

// user reads the person's own file; without its servers if a folder names another one.
func (l *loader) user(path string, folders []protocol.WorkspaceFolder, isReplaced bool) {
	data, err := ReadFile(path, maxFile)
	if isReplaced {
		return
	}
	before, beforeHidden := len(l.result.Servers), len(l.result.Hidden)
	l.own(path, data, err, folders)
	for i := range l.result.Servers[before:] {
		l.result.Servers[before+i].KeptSecrets = true
	}
	for i := range l.result.Hidden[beforeHidden:] {
		l.result.Hidden[beforeHidden+i].KeptSecrets = true
	}
}

// own takes the servers of a file that the person has for every folder, as it was read.
func (l *loader) own(path string, data []byte, err error, folders []protocol.WorkspaceFolder) {
	l.result.Sources = append(l.result.Sources, Source{path, true})
	l.forget(path, data, err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		l.unreadable(protocol.ConfigProblem{Source: path, Message: fmt.Sprintf("cannot be read: %v", err)}, firstFolder(folders), true)
	case len(bytes.TrimSpace(data)) == 0: // as VS Code takes it, a file without servers
	default:
		l.file(path, firstFolder(folders), true, data)
	}
}

// forget forgets a file that is gone or empty.
func (l *loader) forget(path string, data []byte, err error) {
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(data)) == 0 {
		delete(l.memory, path)
	}
}

// unreadable reports why a file cannot be read, and takes the servers that it had before.
func (l *loader) unreadable(p protocol.ConfigProblem, folder protocol.WorkspaceFolder, own bool) {
	before, isKnown := l.memory[p.Source]
	if isKnown {
		p.Message += "; until it can be read, its servers are those of before"
	}
	l.result.Problems = append(l.result.Problems, p)
	if isKnown {
		l.file(p.Source, folder, own, before)
	}
}

// firstFolder returns the folder that ${workspaceFolder} means for the person's own servers, or none.
func firstFolder(folders []protocol.WorkspaceFolder) protocol.WorkspaceFolder {
	for _, f := range folders {
		if !f.Untrusted && !f.RootOnly {
			f.ConfigFile = ""
			return f
		}
	}
	return protocol.WorkspaceFolder{}
}

// example adds the server that Assent brings along: this very program, so that nothing else has to be installed. One
// that a person has configured under its name is used in its place.
func (l *loader) example() {
	if _, ok := l.names[exampleName]; ok {
		return
	}
	program, err := os.Executable()
	if err != nil {
		l.problem(builtInSource, nil, 0, "the example server cannot be started, because the program of Assent was not found: %v", err)
		return
	}
	l.result.Servers = append(l.result.Servers, Server{
		Name: exampleName, Source: builtInSource, Transport: protocol.TransportStdio, Command: program, Args: []string{exampleName},
	})
}

type loader struct {
	memory Memory
	result Result
	names  map[string]string                 // source by server name
	isOwn  map[string]bool                   // by server name
	places map[string]protocol.ConfigProblem // by server name; without a message
}

// problem reports a fault at an offset of data, where data is not nil.
func (l *loader) problem(source string, data []byte, offset int, format string, args ...any) {
	p := place(source, data, offset)
	p.Message = fmt.Sprintf(format, args...)
	l.result.Problems = append(l.result.Problems, p)
}

// place returns a problem without a message.
func place(source string, data []byte, offset int) protocol.ConfigProblem {
	p := protocol.ConfigProblem{Source: source}
	if data != nil {
		p.Line, p.Column = position(data, offset)
	}
	return p
}

// position returns the line and column of an offset, counted from 1.
func position(data []byte, offset int) (line, column int) {
	line, column = 1, 1
	for _, b := range data[:min(offset, len(data))] {
		column++
		if b == '\n' {
			line, column = line+1, 1
		}
	}
	return line, column
}

// offsetOf returns the offset of a line, counted from 1.
func offsetOf(data []byte, line int) int {
	offset := 0
	for range line - 1 {
		offset += bytes.IndexByte(data[offset:], '\n') + 1
	}
	return offset
}

// file reads an mcp.json: JSON with comments and trailing commas. Own reports whether it is the person's own.
func (l *loader) file(path string, folder protocol.WorkspaceFolder, own bool, data []byte) {
	root, err := Parse(data)
	if err != nil {
		p := protocol.ConfigProblem{Source: path, Message: err.Error()}
		var rest string
		if n, _ := fmt.Sscanf(err.Error(), "hujson: line %d, column %d: %s", &p.Line, &p.Column, &rest); n == 3 {
			p.Message = err.Error()[len(fmt.Sprintf("hujson: line %d, column %d: ", p.Line, p.Column)):]
			if advice, at := SingleBackslashes(data, offsetOf(data, p.Line)); advice != "" {
				p.Line, p.Column = position(data, at)
				p.Message = advice
			}
		}
		l.unreadable(p, folder, own)
		return
	}
	l.memory[path] = data
	for _, twice := range lastOnes(&root) {
		l.problem(path, data, twice.offset, "%q is there twice: the last one counts", twice.name)
	}
	of := shapes(path, folder.ConfigFile != "")
	whole, ok := root.Value.(*hujson.Object)
	if !ok {
		l.problem(path, data, root.StartOffset, "must be an object with the member %q", of[0])
		return
	}
	inputs := map[string]Input{}
	if v := root.Find("/inputs"); v != nil {
		inputs = l.inputs(path, data, v.StartOffset, standard(*v))
	}
	member, servers := serversOf(&root, of)
	if servers == nil {
		l.problem(path, data, root.StartOffset, "has no member %q%s", member, insteadOf(member, whole))
		return
	}
	object, ok := servers.Value.(*hujson.Object)
	if !ok {
		l.problem(path, data, servers.StartOffset, "%q must be an object", member)
		return
	}
	for _, m := range object.Members {
		name, _ := m.Name.Value.(hujson.Literal)
		raw := standard(m.Value)
		if member == otherServers {
			raw = translated(raw)
		}
		s := Server{Name: name.String(), Source: path, SourceRights: SourceRights{Own: own, Inputs: inputs}}
		l.server(s, folder, data, m.Name.StartOffset, raw)
	}
}

// standard returns a value as plain JSON.
func standard(v hujson.Value) json.RawMessage {
	v = v.Clone()
	v.Standardize()
	return v.Pack()
}

// settings reads what the front end took from the user's settings.
func (l *loader) settings(folder protocol.WorkspaceFolder, servers, inputs json.RawMessage) {
	byID := map[string]Input{}
	if len(inputs) > 0 {
		byID = l.inputs(SettingsSource, nil, 0, inputs)
	}
	root, err := Parse(servers)
	if err != nil {
		l.problem(SettingsSource, nil, 0, "the servers cannot be read: %v", err)
		return
	}
	for _, twice := range lastOnes(&root) {
		l.problem(SettingsSource, nil, 0, "%q is there twice: the last one counts", twice.name)
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		l.problem(SettingsSource, nil, 0, "the servers must be an object")
		return
	}
	for _, m := range object.Members {
		name, _ := m.Name.Value.(hujson.Literal)
		s := Server{Name: name.String(), Source: SettingsSource, SourceRights: SourceRights{Own: true, Inputs: byID}}
		l.server(s, folder, nil, 0, standard(m.Value))
	}
}

func (l *loader) inputs(source string, data []byte, offset int, raw json.RawMessage) map[string]Input {
	byID := map[string]Input{}
	var inputs []Input
	if err := jsonscan.Unmarshal(raw, &inputs); err != nil {
		l.problem(source, data, offset, `"inputs" cannot be read: %s`, reason.Of(err))
	}
	for _, in := range inputs {
		switch {
		case in.ID == "":
			l.problem(source, data, offset, "an input has no id")
		case in.Type != protocol.PromptString && in.Type != protocol.PickString:
			l.problem(source, data, offset, "the input %q has the type %q; Assent knows promptString and pickString", in.ID, in.Type)
		default:
			byID[in.ID] = in
		}
	}
	return byID
}

// serverObject is a server's object in mcp.json. The schema of mcp.json is made from it, with the texts behind jsonschema.
type serverObject struct {
	Type     string                     `json:"type" jsonschema:"How to reach the server. Without it a command means stdio and a url means http."`
	Command  string                     `json:"command" jsonschema:"The program to start, by its name or path. No shell reads it."`
	Args     []json.RawMessage          `json:"args" jsonschema:"The arguments of the program."`
	Env      map[string]json.RawMessage `json:"env" jsonschema:"Variables of the program. null removes one that Assent itself has."`
	EnvFile  string                     `json:"envFile" jsonschema:"The path of a file with further variables, NAME=VALUE in each line."`
	Cwd      string                     `json:"cwd" jsonschema:"The folder in which the program starts."`
	URL      string                     `json:"url" jsonschema:"The address of a server over HTTP or WebSocket."`
	Headers  map[string]json.RawMessage `json:"headers" jsonschema:"Headers of every request to the url."`
	OAuth    OAuth                      `json:"oauth" jsonschema:"How Assent signs in, for a server that must know its clients beforehand. Most servers need none of it."`
	Version  string                     `json:"protocolVersion" jsonschema:"The version of MCP that Assent must speak with the server. Without it the newest that both know is spoken."`
	Sharing  string                     `json:"sharing" jsonschema:"task: each task has a connection of its own. shared: all tasks have one, for a server that can run only once."`
	Timeout  *float64                   `json:"toolTimeout" jsonschema:"Seconds without a result or progress after which a call of a tool is given up. 0 waits for ever."`
	Disabled bool                       `json:"disabled" jsonschema:"true: the server is not used."`
	Enabled  *bool                      `json:"enabled" jsonschema:"false: the server is not used."`
}

// server adds one server with its raw configuration. The folder is that of its file, or the one in which an own server may start.
func (l *loader) server(s Server, folder protocol.WorkspaceFolder, data []byte, offset int, raw json.RawMessage) {
	var c serverObject
	if err := jsonscan.Unmarshal(raw, &c); err != nil {
		l.problem(s.Source, data, offset, "the server %q cannot be read: %s", s.Name, reason.Of(err))
		return
	}
	if s.Name == "" {
		l.problem(s.Source, data, offset, "a server has no name")
		return
	}
	if shown := visible.Line(s.Name); shown != s.Name {
		l.problem(s.Source, data, offset, "the name of the server %q has hidden characters: give it another name", shown)
		return
	}
	if IsOwnName(s.Name) {
		l.problem(s.Source, data, offset, "the name of the server %q ends as Assent names an own server that is hidden: give it another name", s.Name)
		return
	}
	if err := s.take(c); err != nil {
		l.problem(s.Source, data, offset, "the server %q cannot be read: %v", s.Name, err)
		return
	}
	if _, isGateway := GatewayArgs(s.Command, s.Args); s.Source != SettingsSource && isGateway {
		return
	}
	if c.Disabled || c.Enabled != nil && !*c.Enabled {
		l.problem(s.Source, data, offset, `the server %q is switched off: its "disabled" is true, or its "enabled" is false`, s.Name)
		return
	}
	transport, err := transportOf(c.Type, c.Command, c.URL, raw)
	if err != nil {
		l.problem(s.Source, data, offset, "the server %q %v", s.Name, err)
		return
	}
	s.Transport, s.OAuth, s.ProtocolVersion = transport, c.OAuth, c.Version
	switch {
	case c.Version != "" && c.Version != LegacyProtocol:
		l.problem(s.Source, data, offset, "the server %q has the protocolVersion %q; only %q can be asked for, and without it the newest that the server knows is spoken", s.Name, c.Version, LegacyProtocol)
		return
	case c.Sharing != "" && c.Sharing != sharingTask && c.Sharing != sharingShared:
		l.problem(s.Source, data, offset, "the server %q has the sharing %q; it must be %q (a connection for each task) or %q (one for all)", s.Name, c.Sharing, sharingTask, sharingShared)
		return
	case c.Timeout != nil && (*c.Timeout < 0 || *c.Timeout > maxToolTimeout.Seconds()):
		l.problem(s.Source, data, offset, "the server %q has the toolTimeout %v; it is a number of seconds, and 0 is for ever", s.Name, *c.Timeout)
		return
	}
	if err := c.OAuth.check(); err != nil {
		l.problem(s.Source, data, offset, "the server %q: oauth%v", s.Name, err)
		return
	}
	if earlier, ok := l.names[s.Name]; ok {
		l.problem(s.Source, data, offset, "the server %q is already configured in %s, which is used", s.Name, earlier)
		if _, ok := l.names[ownName(s.Name)]; ok || !s.Own || l.isOwn[s.Name] {
			return
		}
		s.Name, s.Hidden = ownName(s.Name), true
	}
	s.Shared = c.Sharing == sharingShared
	if c.Timeout != nil {
		timeout := time.Duration(*c.Timeout * float64(time.Second))
		s.ToolTimeout = &timeout
	}
	s.Folder = folder.Path
	s.Unconfirmed = !folder.Confirmed && (!s.Own || !folder.Vouched && s.names("${workspaceFolder"))
	s.Unvouched = s.Own && !folder.Confirmed && !folder.Vouched && s.names("${env:")
	l.names[s.Name], l.isOwn[s.Name], l.places[s.Name] = s.Source, s.Own, place(s.Source, data, offset)
	if s.Hidden {
		l.result.Hidden = append(l.result.Hidden, s)
		return
	}
	l.result.Servers = append(l.result.Servers, s)
}

// take takes the texts of an entry.
func (s *Server) take(c serverObject) (err error) {
	s.Command, s.EnvFile, s.Cwd, s.URL = c.Command, c.EnvFile, c.Cwd, c.URL
	if s.Args, err = plainTexts("args", c.Args); err != nil {
		return err
	}
	for name, raw := range c.Env {
		value, err := envValue(raw)
		if err == nil && (name == "" || strings.ContainsAny(name, "=\x00")) {
			err = errors.New("is no name of a variable") // what follows the sign would be a part of the value
		}
		if err != nil {
			return fmt.Errorf("%q in \"env\" %w", name, err)
		}
		if s.Env == nil {
			s.Env = map[string]*string{}
		}
		s.Env[name] = value
	}
	for name, raw := range c.Headers {
		value, err := envValue(raw)
		if err != nil || value == nil {
			return fmt.Errorf("%q in \"headers\" must be a text", name)
		}
		if s.Headers == nil {
			s.Headers = map[string]string{}
		}
		s.Headers[name] = *value
	}
	for member, text := range map[string]string{"command": s.Command, "cwd": s.Cwd, "envFile": s.EnvFile} {
		if drivePath.MatchString(text) {
			return fmt.Errorf("%q is a path of Windows with single backslashes: write each one twice, as \\\\, or write / in its place", member)
		}
	}
	return nil
}

// ownSuffix ends the name of a hidden server. No configured name ends so.
const ownSuffix = " (your own)"

// ownName returns the name of an own server that a workspace's server of this name hides.
func ownName(name string) string { return name + ownSuffix }

// IsOwnName reports whether a name is that of an own server that a workspace's server hides.
func IsOwnName(name string) bool { return strings.HasSuffix(name, ownSuffix) }

// NameInSource returns the server's name in its source.
func (s Server) NameInSource() string {
	if s.Hidden {
		return strings.TrimSuffix(s.Name, ownSuffix)
	}
	return s.Name
}

// GatewayArgs returns the arguments of "assent gateway" if a command starts it. Another program may start it, as in
// "npx -y @assent/cli gateway" and "cmd /c assent gateway".
func GatewayArgs(command string, args []string) (rest []string, is bool) {
	words := append([]string{command}, args...)
	for i, word := range words[:len(words)-1] {
		name := strings.ToLower(word[strings.LastIndexAny(word, `/\`)+1:])
		isPackage := word == "@assent/cli" || strings.HasPrefix(word, "@assent/cli@")
		if (isPackage || slices.Contains([]string{"assent", "assent.exe", "assent.cmd"}, name)) && words[i+1] == "gateway" {
			return words[i+2:], true
		}
	}
	return nil, false
}

// UserConfigDir is [os.UserConfigDir], but takes no notice of a relative XDG_CONFIG_HOME, as its specification says.
func UserConfigDir() (string, error) {
	folder, err := os.UserConfigDir()
	if xdg := os.Getenv("XDG_CONFIG_HOME"); err != nil && xdg != "" && !filepath.IsAbs(xdg) {
		home, err := os.UserHomeDir()
		return filepath.Join(home, ".config"), err
	}
	return folder, err
}

// transportOf returns the transport of a server. The error is a sentence about its configuration, without its subject. As in
// VS Code, "http" is tried as Streamable HTTP first, and then as HTTP with SSE.
func transportOf(kind, command, url string, raw json.RawMessage) (protocol.Transport, error) {
	transport := protocol.Transport(strings.ToLower(kind))
	switch strings.NewReplacer("-", "", "_", "").Replace(string(transport)) {
	case "streamablehttp", "streamable", "httpstream":
		transport = protocol.TransportHTTP // as other programs write it
	}
	if transport == "" && url != "" {
		transport = protocol.TransportHTTP
	}
	switch transport {
	case "", protocol.TransportStdio:
		if command == "" {
			return "", errors.New(Missing("command", membersOf(raw)))
		}
		return protocol.TransportStdio, nil
	case protocol.TransportHTTP, protocol.TransportSSE, protocol.TransportWS:
		if url == "" {
			return "", errors.New(Missing("url", membersOf(raw)))
		}
		return transport, nil
	default:
		return "", fmt.Errorf("has the type %q; Assent knows stdio, http, sse and ws", kind)
	}
}

// membersOf returns the members of an object, or nil for other values.
func membersOf(object json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(object, &members) // the server was read from it
	return members
}

// envValue reads what mcp.json allows: a text, a number, or null to remove the variable.
func envValue(raw json.RawMessage) (*string, error) {
	var text string
	var number json.Number
	switch {
	case string(raw) == "null":
		return nil, nil
	case json.Unmarshal(raw, &text) == nil:
		return &text, nil
	case json.Unmarshal(raw, &number) == nil:
		text = number.String()
		return &text, nil
	default:
		return nil, errors.New("must be a text, a number or null")
	}
}
