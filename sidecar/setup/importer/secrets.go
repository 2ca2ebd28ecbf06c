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
	Value    string
	findings []secret.Finding
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
	found := func(findings []secret.Finding, value string, at ...string) {
		if len(findings) > 0 {
			all = append(all, Secret{at, value, findings})
		}
	}
	look := func(name, value string, at ...string) { found(scanner.InValue(name, value), value, at...) }
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		if value := e.Env[name]; value != nil {
			look(name, *value, "env", name)
		}
	}
	for i, findings := range scanner.InArgs(e.Args) {
		found(findings, e.Args[i], "args", strconv.Itoa(i))
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

// secretDefaults returns the names of variables in an entry of mcp.json that have a default with a secret.
func secretDefaults(raw json.RawMessage) []string {
	var names []string
	for _, s := range Secrets(raw) {
		for _, f := range s.findings {
			for _, match := range ofEnvironment().FindAllStringSubmatch(s.Value[f.Start:f.End], -1) {
				if match[2] != "" && !strings.HasPrefix(match[2], "$") {
					names = append(names, match[1])
				}
			}
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
