package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/nearest"
	"assent/sidecar/terminal/answers"
)

// property is the part of a property of a tool's inputSchema that arguments need.
type property struct {
	Type json.RawMessage   `json:"type"`
	Enum []json.RawMessage `json:"enum"`
}

// types returns the schema's types, or nil if it names none.
func (p property) types() []string {
	var one string
	var many []string
	if json.Unmarshal(p.Type, &one) == nil && one != "" && one != "any" {
		return []string{one}
	}
	if json.Unmarshal(p.Type, &many) == nil {
		return many
	}
	return nil
}

// typed makes a JSON object from the values of --arg. A value is a text if the schema wants one, and JSON otherwise.
// The server checks the values.
func typed(tool *protocol.Tool, given []argument) (json.RawMessage, error) {
	var schema struct {
		Properties           map[string]json.RawMessage `json:"properties"`
		AdditionalProperties json.RawMessage            `json:"additionalProperties"`
	}
	if len(tool.InputSchema) > 0 {
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
			return nil, usagef("the inputSchema of %s cannot be read (%v): give the arguments by --json", tool.Name, err)
		}
	}
	object := map[string]json.RawMessage{}
	for _, a := range given {
		raw, known := schema.Properties[a.name]
		if !known && string(schema.AdditionalProperties) == "false" {
			var names []string
			for name := range schema.Properties {
				names = append(names, name)
			}
			slices.Sort(names)
			return nil, usagef("%s has no argument %q%s", tool.Name, a.name, hint(a.name, names))
		}
		var p property
		_ = json.Unmarshal(raw, &p) // the schemas true and false have no type
		value, err := value(a, p)
		if err != nil {
			return nil, err
		}
		object[a.name] = value
	}
	return json.Marshal(object)
}

func value(a argument, p property) (json.RawMessage, error) {
	types := p.types()
	text, err := json.Marshal(a.value)
	if err != nil {
		return nil, err
	}
	isOption := slices.ContainsFunc(p.Enum, func(option json.RawMessage) bool { return string(option) == string(text) })
	switch {
	case len(types) == 1 && types[0] == "string", len(types) == 0 && isOption:
		return text, nil
	case json.Valid([]byte(a.value)):
		return json.RawMessage(a.value), nil
	case len(types) == 0 || slices.Contains(types, "string"):
		return text, nil
	}
	return nil, usagef("--arg %s=%s: the tool wants %s, written as JSON", a.name, a.value, answers.Either(types))
}

// wanted describes what a person fills in arguments for.
type wanted struct {
	// name is a phrase such as "tool book"; list names the command that lists all items of that kind.
	name, list string
	// do is the start of the question to the person, such as "Run the tool".
	do     string
	fields []protocol.Field
	// byJSON reports whether the flag --json can give the arguments, too.
	byJSON bool
}

// complete adds the missing required arguments to those of a call. The person fills them in, in a form made from the
// tool's schema. Without a person, the error names the missing arguments.
func (s *session) complete(ctx context.Context, w wanted, object json.RawMessage) (json.RawMessage, error) {
	given := map[string]json.RawMessage{}
	if object != nil {
		if err := json.Unmarshal(object, &given); err != nil {
			return nil, err
		}
	}
	var missing []protocol.Field
	for _, f := range w.fields {
		if head := f.Head(); head.Required && given[head.Name] == nil {
			missing = append(missing, f)
		}
	}
	switch {
	case len(missing) == 0:
		return object, nil
	case s.person == nil:
		return nil, s.missingArguments(ctx, w, missing)
	}
	typed, err := s.person.arguments(ctx, formWords{
		about:    fmt.Sprintf("The %s of the server %q requires what the command line does not have.", w.name, s.line.server),
		question: w.do + " with this?", send: "Run it", cancel: "Cancel: run nothing",
	}, missing)
	switch {
	case errors.Is(err, errDismissed), errors.Is(err, errDeclined):
		s.note("Nothing was run.")
		return nil, errInterrupted
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(typed, &given); err != nil {
		return nil, err
	}
	return json.Marshal(given)
}

// missingArguments names each argument that is missing, with its flag.
func (s *session) missingArguments(ctx context.Context, w wanted, missing []protocol.Field) error {
	var text strings.Builder
	fmt.Fprintf(&text, "the %s of the server %q requires arguments that are missing:", w.name, s.line.server)
	for _, f := range missing {
		head := f.Head()
		fmt.Fprintf(&text, "\n  --arg %s=…  (%s)", word(head.Name), kindOf(f))
		if head.Description != "" {
			text.WriteString(" " + oneLine(head.Description, mostDescription))
		}
	}
	wayOut := "Run it in a terminal to enter them"
	if w.byJSON {
		wayOut += "; --json sends its object unchanged"
	}
	return &usageError{text: text.String(), wayOut: fmt.Sprintf("%s. The arguments of all %s: %s", wayOut, w.list, s.listCommand(ctx, w.list))}
}

// mostNear bounds how many names are proposed for a wrong one, and mostNames how many are listed if none is near.
const mostNear, mostNames = 3, 20

// hint proposes the names near a wrong one, or else lists the names.
func hint(wrong string, names []string) string {
	near, sure := nearest.Names(wrong, names, mostNear)
	switch {
	case len(names) == 0:
		return ": there are none"
	case sure:
		return ": did you mean " + answers.Either(near) + "?"
	case len(names) > mostNames:
		return ": the nearest are " + answers.And(near)
	}
	return ": there is " + answers.Either(names)
}
