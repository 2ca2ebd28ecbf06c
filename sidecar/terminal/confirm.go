package terminal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assent/protocol"
)

// ConfirmServer implements [protocol.FrontEnd].
func (f frontEnd) ConfirmServer(ctx context.Context, params *protocol.ConfirmServerParams) (*protocol.ConfirmServerResult, error) {
	if f.s.person == nil {
		return &protocol.ConfirmServerResult{}, nil
	}
	run, err := f.s.person.confirm(ctx, params)
	switch {
	case errors.Is(err, errDismissed):
		return &protocol.ConfirmServerResult{}, nil
	case err != nil && !errors.Is(err, errDeclined):
		return nil, err
	case run:
		return &protocol.ConfirmServerResult{Decision: protocol.ServerAllowed}, nil
	}
	return &protocol.ConfirmServerResult{Decision: protocol.ServerRefused}, nil
}

// confirm implements [prompter].
func (p *person) confirm(ctx context.Context, params *protocol.ConfirmServerParams) (bool, error) {
	p.s.note("\n%s", definition(params))
	word, err := p.choose(ctx, question(params)+" (yes, no; :cancel decides nothing): ", "yes", "no")
	return word == "yes", err
}

// confirm implements [prompter].
func (q *dialogs) confirm(ctx context.Context, params *protocol.ConfirmServerParams) (bool, error) {
	at, err := q.choose(ctx, safe(definition(params))+"\n", safe(question(params)), true, "Run it as configured", "Do not run it")
	return at == 0, err
}

// question names each file outside the workspace that the server gets with a yes.
func question(params *protocol.ConfirmServerParams) string {
	switch files := params.Definition.Files; len(files) {
	case 0:
		return "Run it?"
	default:
		return "Run it, and let it read " + strings.Join(files, " and ") + "?"
	}
}

// definition describes what the server would run, and each change since the person last confirmed it.
func definition(params *protocol.ConfirmServerParams) string {
	var b strings.Builder
	place := params.Source
	if params.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, params.Line)
	}
	switch {
	case params.Folder != "" && params.Earlier == nil:
		fmt.Fprintf(&b, "Your own server %q would use files of the folder %s. You have not allowed that yet (%s).\n", params.ServerName, params.Folder, place)
	case params.Earlier == nil:
		fmt.Fprintf(&b, "The server %q is new: you have not confirmed it yet (%s).\n", params.ServerName, place)
	default:
		fmt.Fprintf(&b, "The server %q has changed since you confirmed it (%s).\n", params.ServerName, place)
	}
	for _, warning := range params.Definition.Warnings {
		fmt.Fprintf(&b, "  %s %s\n", warningSign, warning)
	}
	now := definitionLines(params.Definition)
	if params.Earlier == nil {
		for _, line := range now {
			if line.value != "" {
				line.write(&b, line.name)
			}
		}
		return strings.TrimSuffix(b.String()+hidden(params), "\n")
	}
	writeChanges(&b, definitionLines(*params.Earlier), now)
	switch earlier := params.Earlier.Masked; {
	case earlier != params.Definition.Masked && earlier != "":
		b.WriteString("  A value that is masked here has changed.\n")
	case slices.Equal(now, definitionLines(*params.Earlier)):
		b.WriteString("  A value that is not shown has changed.\n")
	}
	return strings.TrimSuffix(b.String()+hidden(params), "\n")
}

// warningSign begins a line that a person must not overlook.
const warningSign = "!"

// hidden describes the person's own server that a workspace's server hides.
func hidden(params *protocol.ConfirmServerParams) string {
	own := params.Hides
	if own == nil {
		return ""
	}
	var b strings.Builder
	place := own.Source
	if own.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, own.Line)
	}
	fmt.Fprintf(&b, "It hides your own server %q (%s), which is:\n", params.ServerName, place)
	for _, line := range definitionLines(own.Definition) {
		if line.value != "" {
			line.write(&b, line.name)
		}
	}
	return b.String()
}

// writeChanges writes each line of a definition, and its earlier value. Lines that are gone come last.
func writeChanges(b *strings.Builder, before, now []definitionLine) {
	same := func(a, b definitionLine) bool { return a.name == b.name && a.of == b.of }
	for _, line := range now {
		at := slices.IndexFunc(before, func(old definitionLine) bool { return same(old, line) })
		old := definitionLine{of: line.of}
		if at >= 0 {
			old = before[at]
		}
		if line.value != "" || old.value != "" {
			line.write(b, line.name)
		}
		if old.value != line.value {
			old.write(b, "  before")
		}
	}
	for _, old := range before {
		if !slices.ContainsFunc(now, func(line definitionLine) bool { return same(old, line) }) {
			definitionLine{of: old.of}.write(b, old.name)
			old.write(b, "  before")
		}
	}
}

// definitionLine is a line of a definition. Of names one of several variables, headers and the like, and begins with the
// sign that follows the name.
type definitionLine struct{ name, of, value string }

func (l definitionLine) write(b *strings.Builder, name string) {
	switch {
	case l.value == "":
		fmt.Fprintf(b, "  %-12s %s\n", name, "(nothing)")
	default:
		fmt.Fprintf(b, "  %-12s %s%s\n", name, l.of, l.value)
	}
}

// definitionLines returns the same lines for every server, and one for each of its variables and headers. Lists are JSON,
// so that the person sees where an element ends.
func definitionLines(d protocol.ServerDefinition) []definitionLine {
	lines := []definitionLine{
		{name: "reached by", value: string(d.Transport)},
		{name: "command", value: d.Command},
		{name: "program", value: d.Program},
		{name: "arguments", value: shownList(d.Args)},
		{name: "folder", value: d.Cwd},
	}
	add := func(name, sign string, values []protocol.DefinedValue) {
		for _, v := range values {
			lines = append(lines, definitionLine{name, v.Name + sign, cmp.Or(v.Value, `""`)})
		}
	}
	add("environment", "=", d.Env)
	lines = append(lines, definitionLine{name: "envFile", value: d.EnvFile}, definitionLine{name: "url", value: d.URL})
	add("header", ": ", d.Headers)
	add("oauth", ": ", d.Login)
	add("setting", ": ", d.Speaks)
	return lines
}

func shownList(list []string) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(list); err != nil {
		return strings.Join(list, " ") // cannot happen: texts can be encoded
	}
	return strings.TrimSpace(b.String())
}
