package add

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assent/sidecar/base/secret"
	"assent/sidecar/base/visible"
)

// isSecret reports whether an input takes a secret. One that is chosen among values does not.
func isSecret(name, otherwise string, options []string) bool {
	return len(options) == 0 && (secret.Named(name) || len(secret.New().InValue(name, otherwise)) > 0)
}

// hideSecrets puts an input into the place of each secret that the entry has in clear text. It refuses one where no input can
// be.
func (s *Server) hideSecrets() error {
	scanner := secret.New()
	e := &s.entry
	for what, text := range map[string]string{"command": e.Command, "folder": e.Cwd, "envFile": e.EnvFile} {
		for _, findings := range scanner.InArgs(append([]string{""}, strings.Fields(text)...)) {
			if len(findings) > 0 {
				return fmt.Errorf("the server's %s has what looks like a secret, which a file must not have: the arguments and variables of a server can have one", what)
			}
		}
	}
	names := slices.Concat([]string{s.Name}, slices.Sorted(maps.Keys(e.Env)), slices.Sorted(maps.Keys(e.Headers)))
	for i, in := range s.Inputs {
		names = append(names, in.Name)
		s.Inputs[i].Description = secret.MaskArgs([]string{in.Description})[0]
		for _, option := range in.Options {
			if len(scanner.InValue("", option)) > 0 || secret.Named(in.Name) && secret.Generated(option) {
				return fmt.Errorf("the input %q offers what looks like a secret, which a file must not have", visible.Line(clipped(in.Name)))
			}
		}
	}
	if slices.ContainsFunc(names, func(name string) bool { return len(scanner.InValue("", name)) > 0 }) {
		return errors.New("the name of the server, or of one of its variables, headers or inputs, looks like a secret, which a file must not have")
	}
	for _, texts := range []map[string]string{e.Env, e.Headers} {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			value := texts[name]
			findings := scanner.InValue(name, value)
			if len(findings) > 0 && secret.Named(name) { // with the scheme of a header
				findings = []secret.Finding{{Rule: secret.RuleNamed, Description: name, End: len(value)}}
			}
			texts[name] = s.hidden(name, value, findings)
		}
	}
	for i, findings := range scanner.InArgs(e.Args) {
		e.Args[i] = s.hidden(fmt.Sprintf("argument %d", i+1), e.Args[i], findings)
	}
	e.URL = s.hidden("url", e.URL, scanner.InValue("", e.URL))
	return nil
}

// shown returns a text of a reference for the person: on one line, not too long, and without secrets.
func shown(text string) string { return visible.Line(clipped(secret.MaskArgs([]string{text})[0])) }

// hidden returns a text with an input for each finding. Each has an input of its own.
func (s *Server) hidden(where, text string, findings []secret.Finding) string {
	for _, f := range slices.Backward(findings) {
		name := where
		if f.Rule == secret.RuleNamed && f.Description != "" {
			name = f.Description
		}
		name = strings.NewReplacer("$", "", "{", "", "}", "").Replace(visible.Line(clipped(name)))
		unique := name
		for n := 2; slices.ContainsFunc(s.Inputs, func(in Input) bool { return in.Name == unique }); n++ {
			unique = fmt.Sprintf("%s %d", name, n)
		}
		s.note("The value of %s is probably a secret, and is not written: Assent asks you for it when the server starts.", unique)
		text = text[:f.Start] + s.input(Input{Name: unique, Description: unique, Secret: true, Required: true}) + text[f.End:]
	}
	return text
}
