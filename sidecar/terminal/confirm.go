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

// confirm implements [manner].
func (p *person) confirm(ctx context.Context, params *protocol.ConfirmServerParams) (bool, error) {
	p.s.note("\n%s", definition(params))
	word, err := p.choose(ctx, "Run it? (yes, no; :cancel decides nothing): ", "yes", "no")
	return word == "yes", err
}

// confirm implements [manner].
func (q *dialogs) confirm(ctx context.Context, params *protocol.ConfirmServerParams) (bool, error) {
	at, err := q.choose(ctx, safe(definition(params))+"\n", "Run it?", true, "Run it as configured", "Do not run it")
	return at == 0, err
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
	now := definitionLines(params.Definition)
	var before []definitionLine
	if params.Earlier != nil {
		before = definitionLines(*params.Earlier)
	}
	for i, line := range now {
		changed := before != nil && before[i].value != line.value
		if line.value != "" || changed {
			fmt.Fprintf(&b, "  %-12s %s\n", line.name, cmp.Or(line.value, "(nothing)"))
		}
		if changed {
			fmt.Fprintf(&b, "  %-12s %s\n", "  before", cmp.Or(before[i].value, "(nothing)"))
		}
	}
	if before != nil && slices.Equal(now, before) {
		b.WriteString("  A value that is not shown has changed, such as one of the environment or a header.\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

type definitionLine struct{ name, value string }

// definitionLines returns the same lines for every server. Lists are JSON, so that the person sees where an element
// ends.
func definitionLines(d protocol.ServerDefinition) []definitionLine {
	return []definitionLine{
		{"reached by", string(d.Transport)},
		{"command", d.Command},
		{"arguments", shownList(d.Args)},
		{"folder", d.Cwd},
		{"environment", strings.Join(d.EnvNames, " ")},
		{"envFile", d.EnvFile},
		{"url", d.URL},
		{"headers", strings.Join(d.HeaderNames, " ")},
	}
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
