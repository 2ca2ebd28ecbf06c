package terminal

import (
	"encoding/json"
	"slices"

	"assent/protocol"
	"assent/sidecar/terminal/answers"
)

// property is what matters here of a property of a tool's inputSchema.
type property struct {
	Type json.RawMessage   `json:"type"`
	Enum []json.RawMessage `json:"enum"`
}

// types are the schema's types; none where it does not say.
func (p property) types() []string {
	var one string
	var many []string
	if json.Unmarshal(p.Type, &one) == nil && one != "" {
		return []string{one}
	}
	if json.Unmarshal(p.Type, &many) == nil {
		return many
	}
	return nil
}

// typed makes a JSON object of --arg's texts: a text where the schema wants one, JSON otherwise. Whether the
// values are right is for the server to say.
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
		_ = json.Unmarshal(raw, &p) // true and false are schemas too: they say nothing of a type
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

// hint names what was perhaps meant, or else what there is.
func hint(wrong string, names []string) string {
	if near := answers.Nearest(wrong, names); near != "" {
		return ": did you mean " + near + "?"
	}
	if len(names) == 0 {
		return ": there is none"
	}
	if len(names) > 20 {
		return ""
	}
	return ": there is " + answers.Either(names)
}
