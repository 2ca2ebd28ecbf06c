// Package form reads JSON Schemas into the fields of a form, and checks answers against them.
//
// MCP allows a form one level of strings, numbers, booleans and choices (2025-06-18 and later,
// "Elicitation: requested schema"). [ParseElicitation] accepts those, and its error names a property
// that is none of them. [ParseInput] makes a form from any tool's inputSchema: a property of another
// kind becomes a field for JSON. The only state of the package is in [Cache].
//
// Keywords of JSON Schema that MCP does not name are not checked here, but by the server.
// testdata/forms.json has valid and invalid schemas, and answers to them.
package form

import (
	"encoding/json"
	"fmt"
	"strings"

	"assent/protocol"
)

// ParseElicitation reads the requestedSchema of an elicitation. The error names the property that
// MCP does not allow; it is one line of a bounded length.
func ParseElicitation(schema json.RawMessage) ([]protocol.Field, error) {
	if len(schema) > maxSchemaBytes {
		return nil, fmt.Errorf("the schema has %d bytes, and a form may have %d", len(schema), maxSchemaBytes)
	}
	p := &parser{}
	fields, err := p.parse(schema, p.property)
	switch {
	case err != nil:
		return nil, err
	case len(fields) > maxFields:
		return nil, fmt.Errorf("the schema has %d properties, and a form may have %d: ask in several steps", len(fields), maxFields)
	case p.options > maxOptions:
		return nil, fmt.Errorf("the schema has %d choices, and a form may have %d: ask for a text, or in several steps", p.options, maxOptions)
	}
	return fields, nil
}

// ParseInput reads a tool's inputSchema.
func ParseInput(schema json.RawMessage) ([]protocol.Field, error) {
	p := &parser{}
	return p.parse(schema, func(head protocol.FieldHead, raw json.RawMessage) (protocol.Field, error) {
		field, err := p.property(head, raw)
		if err == nil {
			return field, nil
		}
		// For any schema of a property, a person can write JSON, and the server checks it.
		var preset json.RawMessage
		if err := decode(raw, map[string]any{"title": &head.Title, "description": &head.Description, "default": &preset}); err != nil {
			head.Title, head.Description = "", "" // a boolean schema has none either
		}
		head.Secret = asksForSecret(head, "")
		return protocol.JSONField{FieldHead: head, Schema: raw, Default: preset}, nil
	})
}

// parser reads one schema.
type parser struct {
	// The sums over all fields that are bounded for the form.
	patternBytes, steps, classRunes, options int
}

func (p *parser) parse(schema json.RawMessage, field func(protocol.FieldHead, json.RawMessage) (protocol.Field, error)) ([]protocol.Field, error) {
	if len(schema) == 0 {
		return nil, fmt.Errorf("the schema is missing")
	}
	var s struct {
		kind       string
		properties object
		required   []string
	}
	err := decode(schema, map[string]any{"type": &s.kind, "properties": &s.properties, "required": &s.required})
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be read: %w", err)
	}
	if s.kind != "object" {
		return nil, fmt.Errorf(`the schema's type is %s, it must be "object"`, quote(s.kind))
	}
	required := map[string]bool{}
	for _, name := range s.required {
		required[name] = true
	}
	var fields []protocol.Field
	for _, m := range s.properties {
		if len([]rune(m.name)) > maxNameRunes {
			return nil, fmt.Errorf("property %s: its name has more than %d characters", quote(m.name), maxNameRunes)
		}
		f, err := field(protocol.FieldHead{Name: m.name, Required: required[m.name]}, m.value)
		if err != nil {
			return nil, fmt.Errorf("property %s: %w", quote(m.name), err)
		}
		fields = append(fields, f)
		delete(required, m.name)
	}
	for _, name := range s.required {
		if required[name] {
			return nil, fmt.Errorf("property %s is required and not described", quote(name))
		}
	}
	return fields, nil
}

// property is the part of a property's schema that a form reads.
type property struct {
	kind               json.RawMessage
	title, description string
	defaultValue       json.RawMessage
	stringBounds
	numberBounds
	choiceTerms
	listBounds
}

// stringBounds are what a property says of a text that is typed.
type stringBounds struct {
	minLength, maxLength *count
	pattern, format      string
}

// numberBounds are what a property says of a number.
type numberBounds struct{ minimum, maximum *float64 }

func readProperty(raw json.RawMessage) (*property, error) {
	var p property
	err := decode(raw, map[string]any{
		"type": &p.kind, "title": &p.title, "description": &p.description, "default": &p.defaultValue,
		"minLength": &p.minLength, "maxLength": &p.maxLength, "pattern": &p.pattern, "format": &p.format,
		"minimum": &p.minimum, "maximum": &p.maximum,
		"enum": &p.enum, "enumNames": &p.enumNames, "const": &p.constant, "oneOf": &p.oneOf, "anyOf": &p.anyOf,
		"minItems": &p.minItems, "maxItems": &p.maxItems, "items": &p.items,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	return &p, nil
}

func (p *parser) property(head protocol.FieldHead, raw json.RawMessage) (protocol.Field, error) {
	s, err := readProperty(raw)
	if err != nil {
		return nil, err
	}
	head.Title, head.Description = s.title, s.description
	kind, ok := readText(s.kind)
	if !ok {
		return nil, fmt.Errorf("has no type that a form can show: %s", orMissing(s.kind))
	}
	switch kind {
	case "string":
		if s.isChoice() {
			return p.choice(head, s)
		}
		head.Secret = asksForSecret(head, s.format)
		return p.text(head, s)
	case "number", "integer":
		head.Secret = asksForSecret(head, s.format)
		return numeric(head, s, kind == "integer")
	case "boolean":
		return protocol.BooleanField{FieldHead: head, Default: readDefault[*bool](s.defaultValue)}, nil
	case "array":
		return p.choices(head, s)
	default:
		return nil, fmt.Errorf("has the type %s, which a form cannot show", quote(kind))
	}
}

func orMissing(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "it is missing"
	}
	return clip(raw)
}

func (p *parser) text(head protocol.FieldHead, s *property) (protocol.Field, error) {
	if err := checkBounds("minLength", s.minLength, "maxLength", s.maxLength); err != nil {
		return nil, err
	}
	f := protocol.StringField{
		FieldHead: head, MinLength: (*int)(s.minLength), MaxLength: (*int)(s.maxLength),
		Pattern: s.pattern, PatternUnchecked: !p.canCheck(s.pattern), Default: readDefault[*string](s.defaultValue),
	}
	switch format := protocol.StringFormat(s.format); format {
	case protocol.FormatEmail, protocol.FormatURI, protocol.FormatDate, protocol.FormatDateTime:
		f.Format = format
	default: // a format of JSON Schema that MCP does not have: any text is accepted
	}
	return f, nil
}

// canCheck reports whether a pattern can be checked here. If so, it counts against the form's
// limits.
func (p *parser) canCheck(pattern string) bool {
	if pattern == "" {
		return true
	}
	if p.patternBytes += len(pattern); p.patternBytes > maxPatternBytes {
		return false
	}
	steps, classRunes, err := measurePattern(pattern)
	if err != nil || p.steps+steps > maxSteps || p.classRunes+classRunes > maxClassRunes {
		return false // the person sees the pattern, and the server checks it
	}
	p.steps += steps
	p.classRunes += classRunes
	return true
}

func numeric(head protocol.FieldHead, s *property, integer bool) (protocol.Field, error) {
	if s.isChoice() {
		return nil, fmt.Errorf("is a choice of numbers, which a form cannot show")
	}
	if s.minimum != nil && s.maximum != nil && *s.minimum > *s.maximum {
		return nil, fmt.Errorf("has a minimum of %v above its maximum of %v, which no answer can meet", *s.minimum, *s.maximum)
	}
	f := protocol.NumberField{
		FieldHead: head, Integer: integer, Minimum: s.minimum, Maximum: s.maximum, Default: readDefault[*float64](s.defaultValue),
	}
	if f.Default != nil && !isExact(string(s.defaultValue)) {
		f.DefaultText = string(s.defaultValue)
	}
	return f, nil
}

// checkBounds refuses bounds that no answer can satisfy.
func checkBounds(lowName string, low *count, highName string, high *count) error {
	if low != nil && high != nil && *low > *high {
		return fmt.Errorf("has a %s of %d above its %s of %d, which no answer can meet", lowName, *low, highName, *high)
	}
	return nil
}

// readDefault reads a default. It ignores one of another type than the property's, because a default is only a
// proposal.
func readDefault[T any](raw json.RawMessage) T {
	var value, none T
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return none
	}
	return value
}

// readText reads a JSON string. null is not a string.
func readText(raw json.RawMessage) (string, bool) {
	var s string
	if !strings.HasPrefix(string(raw), `"`) || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}
