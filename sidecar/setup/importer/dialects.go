package importer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assent/sidecar/base/secret"
	"assent/sidecar/setup/hostfile"
)

// own takes the program's own words for members of mcp.json out of members, and puts in those of mcp.json.
func (t *translation) own(members map[string]json.RawMessage) error {
	take := func(name string, into any) (bool, error) {
		raw, ok := members[name]
		if !ok || string(raw) == "null" {
			return false, nil
		}
		if err := decode(raw, into); err != nil {
			return false, unreadable(name, err)
		}
		return true, nil
	}
	t.ownType(members)
	for _, from := range slices.Sorted(maps.Keys(t.names)) {
		if raw, ok := members[from]; ok {
			if _, ok := members[t.names[from]]; ok {
				t.fail("It has both %q and %q, and it cannot be known which of them counts.", from, t.names[from])
			}
			delete(members, from)
			members[t.names[from]] = raw
		}
	}
	var inner map[string]json.RawMessage
	if raw := members["transport"]; len(raw) > 0 && raw[0] == '{' { // of Cline's program
		if _, err := take("transport", &inner); err != nil {
			return err
		}
		delete(members, "transport")
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if known := find(t.id, name); inner[name] != nil || known != nil && known.Treatment == Carried {
				t.fail("It has %q beside its transport, and it cannot be known which of them counts.", secret.Shown(name))
			}
		}
		maps.Copy(members, inner)
		t.check(inner)
	}
	takeRequestOptions(members)
	switch raw := members["command"]; {
	case len(raw) > 0 && raw[0] == '[':
		var words []string
		if _, err := take("command", &words); err != nil {
			return err
		}
		if len(words) == 0 {
			return errors.New("has an empty command")
		}
		if err := put(members, map[string]any{"command": words[0], "args": words[1:]}); err != nil {
			return err
		}
	case len(raw) > 0 && raw[0] == '{': // of Zed's past
		var command struct {
			Path string                     `json:"path"`
			Args []string                   `json:"args"`
			Env  map[string]json.RawMessage `json:"env"`
		}
		if _, err := take("command", &command); err != nil {
			return err
		}
		var within map[string]json.RawMessage
		if _, err := take("command", &within); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(within)) {
			if !slices.Contains([]string{"path", "args", "env"}, name) && !isOff(within[name]) {
				t.fail("It has the member %.100q, which setup would lose.", "command."+secret.Shown(name))
			}
		}
		if err := put(members, map[string]any{"command": command.Path, "args": command.Args, "env": command.Env}); err != nil {
			return err
		}
	}
	return t.ownHeaders(members, take)
}

// ownType sets the type that counts for the host, if the entry names another one.
func (t *translation) ownType(members map[string]json.RawMessage) {
	switch {
	case t.id == codex.id:
		delete(members, "type") // Codex does not read it
	case members["httpUrl"] != nil:
		members["type"] = json.RawMessage(`"http"`)
	case t.id == qwen.id && members["url"] != nil:
		members["type"] = json.RawMessage(`"sse"`)
	case t.id == claudeCode.id && members["url"] != nil && members["command"] == nil && members["type"] == nil:
		t.fail("It has a URL and no type, so that Claude Code does not use it: give it the type http or sse.")
	}
}

// ownHeaders translates the members in which Codex and Goose name secrets.
func (t *translation) ownHeaders(members map[string]json.RawMessage, take func(string, any) (bool, error)) error {
	var bearer string
	var keys []string
	fromEnv := map[string]string{}
	headers := map[string]string{}
	if _, err := take("headers", &headers); err != nil {
		return err
	}
	hasBearer, err := take("bearer_token_env_var", &bearer)
	hasEnv, errEnv := take("env_http_headers", &fromEnv)
	_, errKeys := take("env_keys", &keys)
	if err := errors.Join(err, errEnv, errKeys); err != nil {
		return err
	}
	if isRemote(members["env_vars"]) {
		t.fail("It gets variables of another machine (%q), which Assent does not have.", "env_vars")
	}
	if len(keys) > 0 {
		return fmt.Errorf("has the values of %s in %s's own keychain: write them into its envs first", strings.Join(keys, ", "), t.dialect.name)
	}
	for _, name := range []string{"bearer_token_env_var", "env_http_headers", "env_keys", "env_vars"} {
		delete(members, name) // Starts has their names in the entry of Assent
	}
	if !hasBearer && !hasEnv {
		return nil
	}
	names := slices.Concat(slices.Sorted(maps.Keys(headers)), slices.Sorted(maps.Keys(fromEnv)))
	if hasBearer {
		names = append(names, "Authorization")
	}
	lower := map[string]bool{}
	for _, name := range names {
		if lower[strings.ToLower(name)] {
			t.fail("It has the header %.100q twice, and it cannot be known which of them counts.", secret.Shown(name))
		}
		lower[strings.ToLower(name)] = true
	}
	if hasBearer {
		headers["Authorization"] = "Bearer ${env:" + bearer + "}"
	}
	for _, name := range slices.Sorted(maps.Keys(fromEnv)) {
		headers[name] = "${env:" + fromEnv[name] + "}"
	}
	t.prefixed = slices.Concat(slices.Collect(maps.Keys(fromEnv)), []string{"Authorization"})
	return put(members, map[string]any{"headers": headers})
}

// isRemote reports whether Codex takes one of the variables from another machine.
func isRemote(raw json.RawMessage) bool {
	var names []json.RawMessage
	_ = json.Unmarshal(raw, &names)
	return slices.ContainsFunc(names, func(raw json.RawMessage) bool {
		var variable struct{ Source string }
		return json.Unmarshal(raw, &variable) == nil && variable.Source == "remote"
	})
}

// put puts values into members.
func put(members map[string]json.RawMessage, values map[string]any) error {
	for name, value := range values {
		raw, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if string(raw) != "null" {
			members[name] = raw
		}
	}
	return nil
}

// noServer reports whether an entry is none of a server that could be reached: a part of the program itself, or what only
// changes one that is defined elsewhere.
func (d dialect) noServer(value json.RawMessage) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return false
	}
	kind := strings.Trim(string(members["type"]), `"`)
	switch d.id {
	case goose.id:
		return !slices.Contains([]string{"stdio", "sse", "streamable_http"}, kind)
	case zed.id, opencode.id, kiloCLI.id:
		return members["command"] == nil && members["url"] == nil
	}
	return false
}

// ID returns what the program is called on a command line.
func (pl Place) ID() string { return pl.id }

// Host returns the program's name.
func (pl Place) Host() string { return pl.name }

// Command returns how the program is started in a terminal; empty if it is not.
func (pl Place) Command() string { return pl.command }

// Merges reports whether the host makes one server of the entries with one name in its files.
func (pl Place) Merges() bool { return pl.merges }

// Launch returns the members of entries that setup takes out.
func Launch() hostfile.Launch { return launch }

// Parse reads the file's text.
func (pl Place) Parse(data []byte) (*hostfile.File, error) {
	return hostfile.Parse(pl.Syntax(), data)
}

// Syntax returns how the file is written.
func (pl Place) Syntax() hostfile.Syntax { return cmp.Or(pl.syntax, hostfile.JSON) }

// IsAboutServers reports whether a text that cannot be read is likely to have servers: some programs keep much else in the
// same file.
func (pl Place) IsAboutServers(data []byte) bool {
	return pl.mayBeElse == "" || strings.Contains(string(data), pl.mayBeElse)
}

// Found is a server in a file.
type Found struct {
	At   hostfile.Path
	Name string
	// Value is the entry as the file has it.
	Value json.RawMessage
	// Folder is the only folder that has the server, empty if all have it.
	Folder string
	// Server is the translation. Err is set if there is none. It is a sentence without its subject.
	Server Server
	Err    error
}

// Servers returns the servers of a file.
func (pl Place) Servers(f *hostfile.File) ([]Found, error) {
	inputs := pl.inputs(f)
	var all []Found
	for _, c := range pl.containers(f) {
		entries, err := f.Entries(c.at)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if pl.noServer(e.Value) {
				continue
			}
			found := Found{At: c.at, Name: e.Name, Value: e.Value, Folder: c.folder}
			found.Server, found.Err = pl.translate(e, inputs, false)
			all = append(all, found)
			if len(all) > maxInFile {
				return nil, fmt.Errorf("it has more than %d servers", maxInFile)
			}
		}
	}
	for i, found := range all { // in a list
		if slices.ContainsFunc(all[i+1:], found.hasName) || slices.ContainsFunc(all[:i], found.hasName) {
			all[i].Err = errors.New("is not the only server of this name there: give each a name of its own")
		}
	}
	return all, nil
}

func (f Found) hasName(other Found) bool { return f.Name == other.Name && slices.Equal(f.At, other.At) }

// Inputs returns the inputs that a server asks for, as mcp.json has them.
func (s Server) Inputs() []json.RawMessage {
	var all []json.RawMessage
	for _, in := range s.inputs {
		all = append(all, in.raw)
	}
	return all
}

// Main returns where a new server belongs.
func (pl Place) Main() hostfile.Path {
	f, err := pl.Parse(nil)
	if err != nil { // an empty file has no faults
		return nil
	}
	all := pl.containers(f)
	return all[len(all)-1].at
}

// Start is how a host starts another program in place of a server.
type Start struct {
	Command string
	Args    []string
	// Entry is the server in mcp.json, or nil.
	Entry json.RawMessage
}

// Starts returns the launch members with which the host starts a program. Old is the entry that they are for, or nil for a
// new one, which has all that the host wants.
func (pl Place) Starts(name string, start Start, old json.RawMessage) []hostfile.Member {
	var was map[string]json.RawMessage
	_ = json.Unmarshal(old, &was) // nil has no members
	command, args := start.Command, start.Args
	members := []hostfile.Member{{Name: "command", Value: command}, {Name: "args", Value: args}}
	switch {
	case pl.style == listStyle:
		members = []hostfile.Member{{Name: "type", Value: "local"}, {Name: "command", Value: append([]string{command}, args...)}}
	case pl.style == gooseStyle:
		members = []hostfile.Member{{Name: "type", Value: "stdio"}, {Name: "cmd", Value: command}, {Name: "args", Value: args}}
	case len(was["transport"]) > 0 && was["transport"][0] == '{':
		transport := map[string]any{"type": "stdio", "command": command, "args": args}
		for _, m := range pl.environment(start.Entry, was) {
			transport[m.Name] = m.Value
		}
		return []hostfile.Member{{Name: "transport", Value: transport}}
	case len(was["command"]) > 0 && was["command"][0] == '{':
		return []hostfile.Member{{Name: "command", Value: map[string]any{"path": command, "args": args}}}
	case string(was["type"]) == `"local"`:
		members = slices.Insert(members, 0, hostfile.Member{Name: "type", Value: "local"})
	case was["type"] != nil:
		members = slices.Insert(members, 0, hostfile.Member{Name: "type", Value: "stdio"})
	}
	members = append(members, pl.environment(start.Entry, was)...)
	if old != nil {
		return members
	}
	switch {
	case pl.id == goose.id:
		members = append(members, hostfile.Member{Name: "enabled", Value: true}, hostfile.Member{Name: "name", Value: name}, hostfile.Member{Name: "timeout", Value: 300})
	case pl.id == continueDev.id:
		members = slices.Insert(members, 0, hostfile.Member{Name: "name", Value: name})
	}
	return append(members, pl.added...)
}

// environment returns the members with which the host passes on the variables that an entry of mcp.json uses.
func (pl Place) environment(entry json.RawMessage, was map[string]json.RawMessage) []hostfile.Member {
	needed := pl.variables.passedOn(entry)
	switch pl.passes {
	case passesNamed:
		var names []any
		_ = json.Unmarshal(was["env_vars"], &names) // it was read before
		for _, name := range slices.Sorted(maps.Keys(needed)) {
			if !slices.ContainsFunc(names, func(has any) bool { return has == name }) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			return []hostfile.Member{{Name: "env_vars", Value: names}}
		}
	case passesFew:
		if len(needed) > 0 {
			return []hostfile.Member{{Name: "env", Value: needed}}
		}
	}
	return nil
}
