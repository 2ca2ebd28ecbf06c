package config

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/tailscale/hujson"

	"assent/sidecar/base/lazyregexp"
)

// The members that hold the servers of a file.
const (
	ownServers   = "servers"
	otherServers = "mcpServers"
)

// shapes returns the members that may hold the servers of a file, the first one first. Any file that the person names may be
// of either shape.
func shapes(path string, named bool) []string {
	switch {
	case filepath.Base(path) == RootFileName:
		return []string{otherServers}
	case named:
		return []string{ownServers, otherServers}
	}
	return []string{ownServers}
}

// serversOf returns the servers of a file, with the name of their member.
func serversOf(root *hujson.Value, shapes []string) (member string, servers *hujson.Value) {
	for _, member := range shapes {
		if v := root.Find("/" + member); v != nil {
			return member, v
		}
	}
	return shapes[0], nil
}

// shellVariable is how the programs that share .mcp.json write an environment variable, perhaps with a default.
var shellVariable = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)

// ownVariables are the variables of mcp.json that look like those of an environment.
var ownVariables = []string{"workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator"}

// translated returns a server of the shape mcpServers as mcp.json has it: its variables and its member for the URL.
func translated(raw json.RawMessage) json.RawMessage {
	raw = shellVariable().ReplaceAllFunc(raw, func(match []byte) []byte {
		parts := shellVariable().FindSubmatch(match)
		switch name := string(parts[1]); {
		case name == "CLAUDE_PROJECT_DIR":
			return []byte("${workspaceFolder}")
		case len(parts[2]) == 0 && slices.Contains(ownVariables, name):
			return match
		}
		return slices.Concat([]byte("${env:"), parts[1], parts[2], []byte("}"))
	})
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return raw // the reader of the entry says why
	}
	for _, name := range []string{"serverUrl", "httpUrl"} { // of Windsurf and of Gemini CLI
		if value, ok := members[name]; ok && members["url"] == nil {
			members["url"] = value
			delete(members, name)
		}
	}
	out, err := json.Marshal(members)
	if err != nil {
		return raw // it was read from JSON
	}
	return out
}
