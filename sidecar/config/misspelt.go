package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"assent/sidecar/base/nearest"
	"assent/sidecar/base/secret"
)

// misspelt has the names that people write instead of a member's: those of other programs, and mistakes.
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
		if has(misspelt[member], name) || strings.EqualFold(member, name) {
			return fmt.Sprintf("%s (did you mean it instead of %q?)", text, name)
		}
	}
	known := jsonNames(reflect.TypeFor[serverObject]())
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Sprintf("%s (it has %q, which Assent does not know)", text, secret.Shown(name))
		}
	}
	return text
}

// harmless are members of other programs that no server needs.
var harmless = []string{"description", "name", "title", "icon", "version", "gallery", "_meta", "note", "comment", "dev", "$schema"}

// maxUnknown bounds the sentences of one server's unknown members.
const maxUnknown = 10

// UnknownMembers returns a sentence for each member of a server in a file that Assent does not know, with the member that the
// person probably meant. It returns none for a server that no file configures.
func UnknownMembers(source, serverName string) []string {
	_, found := find(source, serverName)
	if found == nil {
		return nil
	}
	members := membersOf(standard(*found))
	var said []string
	look := func(of string, members map[string]json.RawMessage, known []string) {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if slices.Contains(known, name) || has(harmless, name) || has([]string{"serverUrl", "httpUrl"}, name) && members["url"] == nil {
				continue
			}
			text := fmt.Sprintf("%s the member %q, which Assent does not know and ignores", of, secret.Shown(name))
			if near := meant(name, known); near != "" {
				text += fmt.Sprintf(": did you mean %q?", near)
			} else {
				text += "."
			}
			said = append(said, text)
		}
	}
	look("It has", members, jsonNames(reflect.TypeFor[serverObject]()))
	login := membersOf(members["oauth"])
	look(`"oauth" has`, login, jsonNames(reflect.TypeFor[OAuth]()))
	look(`"identityProvider" has`, membersOf(login["identityProvider"]), jsonNames(reflect.TypeFor[IdentityProvider]()))
	return said[:min(len(said), maxUnknown)]
}

// meant returns the known member that a name was probably to be, or "".
func meant(name string, known []string) string {
	for _, member := range slices.Sorted(maps.Keys(misspelt)) {
		if has(misspelt[member], name) || strings.EqualFold(member, name) {
			return member
		}
	}
	plain := strings.NewReplacer("_", "", "-", "").Replace(name)
	return nearest.Name(plain, known)
}

// insteadOf returns the hint that an object has another member instead of the one that it should have, or "".
func insteadOf(member string, object *hujson.Object) string {
	for _, m := range object.Members {
		name, _ := m.Name.Value.(hujson.Literal)
		if other := name.String(); has([]string{ownServers, otherServers, "mcp_servers", "mcp-servers", "context_servers"}, other) || nearest.Name(other, []string{member}) != "" {
			return fmt.Sprintf(" (did you mean it instead of %q?)", other)
		}
	}
	return ""
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
