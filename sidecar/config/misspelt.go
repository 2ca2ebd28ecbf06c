package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// misspelt has, for a member of mcp.json, the names that people write instead: those of other programs, and mistakes.
var misspelt = map[string][]string{
	"command": {"cmd", "Command", "CMD", "comand", "commmand", "commands", "exec", "executable", "program", "path", "run"},
	"url":     {"URL", "Url", "uri", "href", "address", "endpoint", "baseUrl", "serverUrl", "httpUrl"},
}

// missing says that a server has no such member, and names the member that was probably meant.
func missing(member string, raw json.RawMessage) string {
	text := fmt.Sprintf("has no %q", member)
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return text
	}
	for _, name := range misspelt[member] {
		if members[name] != nil {
			return fmt.Sprintf("%s; did you mean it instead of %q?", text, name)
		}
	}
	known := []string{"type", "command", "args", "env", "envFile", "cwd", "url", "headers", "oauth", "protocolVersion", "sharing"}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(known, name) {
			return fmt.Sprintf("%s; it has %q, which Assent does not know", text, name)
		}
	}
	return text
}
