package importer

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assent/sidecar/base/secret"
)

// Secret is what looks like a secret in a server's entry.
type Secret struct {
	// At is its place in the entry: "env", "headers", "oauth" or "args" with a name or a number, or "url".
	At []string
	// Value is the whole text there.
	Value string
}

// where returns the place in words.
func (s Secret) where() string {
	switch s.At[0] {
	case "env":
		return "the env value " + strconv.Quote(secret.Shown(s.At[1]))
	case "headers":
		return "the header " + strconv.Quote(secret.Shown(s.At[1]))
	case "args":
		return "an argument"
	}
	return "the " + strings.Join(s.At, " ")
}

// Secrets returns what looks like secrets in an entry of mcp.json.
func Secrets(raw json.RawMessage) []Secret {
	var e entry
	if json.Unmarshal(raw, &e) != nil {
		return nil
	}
	scanner := secret.New()
	var all []Secret
	look := func(name, value string, at ...string) {
		if len(scanner.InValue(name, value)) > 0 || len(scanner.InValue(name, withDefaults(value))) > 0 || len(secretDefaults(value)) > 0 {
			all = append(all, Secret{at, value})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		if value := e.Env[name]; value != nil {
			look(name, *value, "env", name)
		}
	}
	args := make([]string, len(e.Args))
	for i, arg := range e.Args {
		args[i] = withDefaults(arg)
	}
	inDefaults := scanner.InArgs(args)
	for i, findings := range scanner.InArgs(e.Args) {
		if len(findings) > 0 || len(inDefaults[i]) > 0 || len(secretDefaults(e.Args[i])) > 0 {
			all = append(all, Secret{[]string{"args", strconv.Itoa(i)}, e.Args[i]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		look(name, e.Headers[name], "headers", name)
	}
	look("", e.URL, "url")
	if e.OAuth != nil {
		look("clientSecret", e.OAuth.ClientSecret, "oauth", "clientSecret")
	}
	return all
}

// withDefaults returns a text of mcp.json with the defaults of its variables in their place.
func withDefaults(text string) string {
	return ofEnvironment().ReplaceAllStringFunc(text, func(match string) string {
		if otherwise := ofEnvironment().FindStringSubmatch(match)[2]; !strings.HasPrefix(otherwise, "$") {
			return otherwise
		}
		return match
	})
}

// secretDefaults returns the names of variables in a text of mcp.json that have a default like a secret.
func secretDefaults(text string) []string {
	var names []string
	for _, match := range ofEnvironment().FindAllStringSubmatch(text, -1) {
		name, otherwise := match[1], match[2]
		if !strings.HasPrefix(otherwise, "$") && len(secret.New().InValue(name, otherwise)) > 0 {
			names = append(names, name)
		}
	}
	return names
}

// With returns the server with another text in the place of a secret.
func (s Server) With(secret Secret, text string) (Server, error) {
	var e entry
	if err := json.Unmarshal(s.Entry, &e); err != nil {
		return s, err
	}
	switch secret.At[0] {
	case "env":
		e.Env[secret.At[1]] = &text
	case "headers":
		e.Headers[secret.At[1]] = text
	case "args":
		i, err := strconv.Atoi(secret.At[1])
		if err != nil {
			return s, err
		}
		e.Args[i] = text
	case "url":
		e.URL = text
	case "oauth":
		e.OAuth.ClientSecret = text
	}
	raw, err := plain(e)
	if err != nil {
		return s, err
	}
	s.Entry = raw
	return s, nil
}
