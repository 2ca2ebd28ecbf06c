package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Warnings returns a sentence for each ${env:NAME} in a server's configuration that refers to an unset variable. The
// server gets an empty text for it.
func (s Server) Warnings(e Environment) []string {
	var warnings []string
	said := map[string]bool{}
	look := func(where, text string) {
		for _, match := range variable().FindAllStringSubmatch(text, -1) {
			name, isEnv := strings.CutPrefix(match[1], "env:")
			if _, otherwise := envVariable(name); !isEnv || e.has(name) || otherwise != "" || said[where+match[0]] {
				continue
			}
			said[where+match[0]] = true
			warnings = append(warnings, fmt.Sprintf("%s has %s, and the environment of Assent has no variable %q, so that it is empty.", where, match[0], name))
		}
	}
	look(`"command"`, s.Command)
	for _, arg := range s.Args {
		look(`"args"`, arg)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if value := s.Env[name]; value != nil {
			look(fmt.Sprintf("%q in %q", name, "env"), *value)
		}
	}
	look(`"envFile"`, s.EnvFile)
	look(`"cwd"`, s.Cwd)
	look(`"url"`, s.URL)
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		look(fmt.Sprintf("%q in %q", name, "headers"), s.Headers[name])
	}
	for _, text := range s.OAuth.texts() {
		look(`"oauth"`, *text)
	}
	return warnings
}

// has reports whether a variable is set, be it to nothing.
func (e Environment) has(name string) bool {
	return slices.ContainsFunc(e.Environ, func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		return sameName(k, name)
	})
}
