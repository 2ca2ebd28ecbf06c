// Package form reads JSON Schemas into the fields of a form, and checks answers against them.
//
// MCP allows a form one level of strings, numbers, booleans and choices (2025-06-18 and later,
// "Elicitation: requested schema"). [ParseElicitation] takes those and refuses the rest, naming the
// property. [ParseInput] makes a form from any tool's inputSchema: what is none of those becomes a
// field for JSON. The package keeps no state.
package form

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"assent/protocol"
)

// property is what a form reads of a property's schema.
type property struct {
	Type        json.RawMessage `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`

	MinLength *int                  `json:"minLength"`
	MaxLength *int                  `json:"maxLength"`
	Pattern   string                `json:"pattern"`
	Format    protocol.StringFormat `json:"format"`

	Minimum *float64 `json:"minimum"`
	Maximum *float64 `json:"maximum"`

	Enum      []json.RawMessage `json:"enum"`
	EnumNames []string          `json:"enumNames"`
	OneOf     []titledConst     `json:"oneOf"`

	MinItems *int          `json:"minItems"`
	MaxItems *int          `json:"maxItems"`
	Items    *property     `json:"items"`
	AnyOf    []titledConst `json:"anyOf"`
}

// titledConst is a choice that has a title.
type titledConst struct {
	Const json.RawMessage `json:"const"`
	Title string          `json:"title"`
}

// ParseElicitation reads the requestedSchema of an elicitation. Its error names the property that
// MCP does not allow.
func ParseElicitation(schema json.RawMessage) ([]protocol.Field, error) {
	return parse(schema, parseProperty)
}

// ParseInput reads a tool's inputSchema.
func ParseInput(schema json.RawMessage) ([]protocol.Field, error) {
	return parse(schema, func(head protocol.FieldHead, raw json.RawMessage) (protocol.Field, error) {
		field, err := parseProperty(head, raw)
		if err == nil {
			return field, nil
		}
		// Whatever the property's schema says, a person can write JSON and the server will judge it.
		var p struct {
			Title       string          `json:"title"`
			Description string          `json:"description"`
			Default     json.RawMessage `json:"default"`
		}
		if json.Unmarshal(raw, &p) == nil { // a boolean schema has no title either
			head.Title, head.Description = p.Title, p.Description
		}
		return protocol.JSONField{FieldHead: head, Schema: raw, Default: p.Default}, nil
	})
}

func parse(schema json.RawMessage, field func(protocol.FieldHead, json.RawMessage) (protocol.Field, error)) ([]protocol.Field, error) {
	var s struct {
		Type       string   `json:"type"`
		Properties object   `json:"properties"`
		Required   []string `json:"required"`
	}
	if len(schema) == 0 {
		return nil, fmt.Errorf("the schema is missing")
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("the schema cannot be read: %w", err)
	}
	if s.Type != "object" {
		return nil, fmt.Errorf(`the schema's type is %q, it must be "object"`, s.Type)
	}
	var fields []protocol.Field
	for _, m := range s.Properties {
		f, err := field(protocol.FieldHead{Name: m.name, Required: slices.Contains(s.Required, m.name)}, m.value)
		if err != nil {
			return nil, fmt.Errorf("property %q: %w", m.name, err)
		}
		fields = append(fields, f)
	}
	for _, name := range s.Required {
		if _, ok := s.Properties.get(name); !ok {
			return nil, fmt.Errorf("property %q is required and not described", name)
		}
	}
	return fields, nil
}

func parseProperty(head protocol.FieldHead, raw json.RawMessage) (protocol.Field, error) {
	var p property
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	head.Title, head.Description = p.Title, p.Description
	var kind string
	if err := json.Unmarshal(p.Type, &kind); err != nil {
		return nil, fmt.Errorf("has no type that a form can show: %s", orMissing(p.Type))
	}
	switch kind {
	case "string":
		if p.Enum != nil || p.OneOf != nil {
			return p.choice(head)
		}
		return p.text(head)
	case "number", "integer":
		return p.number(head, kind == "integer")
	case "boolean":
		f := protocol.BooleanField{FieldHead: head}
		err := decodeDefault(p.Default, &f.Default)
		return f, err
	case "array":
		return p.choices(head)
	default:
		return nil, fmt.Errorf("has the type %q, which a form cannot show", kind)
	}
}

func orMissing(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "it is missing"
	}
	return string(raw)
}

func (p *property) text(head protocol.FieldHead) (protocol.Field, error) {
	f := protocol.StringField{
		FieldHead: head, MinLength: p.MinLength, MaxLength: p.MaxLength, Pattern: p.Pattern, Format: p.Format,
	}
	if p.Pattern != "" {
		if _, err := regexp.Compile(p.Pattern); err != nil {
			return nil, fmt.Errorf("has a pattern that cannot be checked: %w", err)
		}
	}
	err := decodeDefault(p.Default, &f.Default)
	return f, err
}

func (p *property) number(head protocol.FieldHead, integer bool) (protocol.Field, error) {
	if p.Enum != nil || p.OneOf != nil {
		return nil, fmt.Errorf("is a choice of numbers, which a form cannot show")
	}
	f := protocol.NumberField{FieldHead: head, Integer: integer, Minimum: p.Minimum, Maximum: p.Maximum}
	err := decodeDefault(p.Default, &f.Default)
	return f, err
}

func (p *property) choice(head protocol.FieldHead) (protocol.Field, error) {
	options, err := p.options(p.OneOf)
	if err != nil {
		return nil, err
	}
	f := protocol.ChoiceField{FieldHead: head, Options: options}
	err = decodeDefault(p.Default, &f.Default)
	return f, err
}

func (p *property) choices(head protocol.FieldHead) (protocol.Field, error) {
	if p.Items == nil || p.Items.Enum == nil && p.Items.AnyOf == nil {
		return nil, fmt.Errorf("is an array of something else than choices, which a form cannot show")
	}
	options, err := p.Items.options(p.Items.AnyOf)
	if err != nil {
		return nil, err
	}
	f := protocol.ChoicesField{FieldHead: head, Options: options, MinItems: p.MinItems, MaxItems: p.MaxItems}
	err = decodeDefault(p.Default, &f.Default)
	return f, err
}

// options reads choices in whichever way they are written: with titles, as an enum with the names
// of 2025-06-18, or as a bare enum.
func (p *property) options(titled []titledConst) ([]protocol.Option, error) {
	var options []protocol.Option
	for _, c := range titled {
		o := protocol.Option{Title: c.Title}
		if err := json.Unmarshal(c.Const, &o.Value); err != nil {
			return nil, fmt.Errorf("has a choice that is not a text: %s", orMissing(c.Const))
		}
		options = append(options, o)
	}
	for i, raw := range p.Enum {
		var o protocol.Option
		if err := json.Unmarshal(raw, &o.Value); err != nil {
			return nil, fmt.Errorf("has a choice that is not a text: %s", raw)
		}
		if len(p.EnumNames) == len(p.Enum) {
			o.Title = p.EnumNames[i]
		}
		options = append(options, o)
	}
	if len(options) == 0 {
		return nil, fmt.Errorf("has no choices")
	}
	return options, nil
}

// decodeDefault reads a default of the property's own type; null counts as absent.
func decodeDefault[T any](raw json.RawMessage, into *T) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("has a default of another type: %s", raw)
	}
	return nil
}
