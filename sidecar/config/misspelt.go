package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// misspelt has the names that people write instead of a member's: those of other programs, and mistakes. Upper and
// lower case make no difference in mcp.json.
var misspelt = map[string][]string{
	"command": {"cmd", "comand", "commmand", "commands", "exec", "executable", "program", "path", "run"},
	"url":     {"uri", "href", "address", "endpoint", "baseUrl", "serverUrl", "httpUrl"},
}

// Missing returns a sentence without its subject: the server has no such member. It names the member that the person
// probably meant, or else one that Assent does not know. Members are all that the server has, by name.
func Missing(member string, members map[string]json.RawMessage) string {
	text := fmt.Sprintf("has no %q", member)
	names := slices.Sorted(maps.Keys(members))
	for _, name := range names {
		if has(misspelt[member], name) {
			return fmt.Sprintf("%s (did you mean it instead of %q?)", text, name)
		}
	}
	known := jsonNames(reflect.TypeFor[serverObject]())
	for _, name := range names {
		if !has(known, name) {
			return fmt.Sprintf("%s (it has %q, which Assent does not know)", text, name)
		}
	}
	return text
}

// has reports whether names has a name, in upper or lower case.
func has(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// jsonNames returns the names of a struct's members in JSON.
func jsonNames(t reflect.Type) []string {
	var names []string
	for field := range t.Fields() {
		names = append(names, field.Tag.Get("json"))
	}
	return names
}
