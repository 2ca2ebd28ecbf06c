// Package form reads JSON Schemas into the fields of a form, and checks answers against them.
//
// MCP allows a form one level of texts, numbers, booleans and choices (2025-06-18 and later, "Elicitation: requested
// schema"). Servers send more than that: what an SDK makes of optional values, of enumerations in other places, of lists.
// [ParseElicitation] accepts each schema whose answer a person can type, and its error names the property that has no
// such answer: an object, a loop, a part of another document. [ParseInput] makes a form from any tool's inputSchema: a
// property of another kind becomes a field for JSON. The only state of the package is in [Cache].
//
// Keywords that a field cannot hold are not checked here, but by the server. testdata/forms.json has valid and invalid
// schemas, and answers to them.
package form

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"assent/protocol"
)

// ParseElicitation reads the requestedSchema of an elicitation. Without a schema, the form has no fields. The error names
// the property that a form cannot show; it is one line of a bounded length.
func ParseElicitation(schema json.RawMessage) ([]protocol.Field, error) {
	if len(schema) > maxSchemaBytes {
		return nil, fmt.Errorf("the schema has %d bytes, and a form may have %d", len(schema), maxSchemaBytes)
	}
	if len(schema) == 0 || string(schema) == "null" || isEmptyArray(schema) {
		return nil, nil
	}
	if text, ok := readText(schema); ok && strings.HasPrefix(strings.TrimSpace(text), "{") { // encoded twice
		schema = json.RawMessage(text)
	}
	p := &parser{reader: newReader(schema)}
	fields, err := p.parse(p.property)
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
	if len(schema) == 0 {
		return nil, fmt.Errorf("the schema is missing")
	}
	p := &parser{reader: newReader(schema), anyJSON: true}
	return p.parse(func(head protocol.FieldHead, raw json.RawMessage) (protocol.Field, error) {
		field, err := p.property(head, raw)
		if err == nil && !field.Head().NullIfLeftOut { // a call has no place for that
			return field, nil
		}
		// For any schema of a property, a person can write JSON, and the server checks it.
		head.Nullable = false
		var preset json.RawMessage
		if err := decode(raw, map[string]any{"title": &head.Title, "description": &head.Description, "default": &preset}); err != nil {
			head.Title, head.Description = "", "" // a boolean schema has none either
		}
		head.Secret = asksForSecret(head, "")
		return protocol.JSONField{FieldHead: head, Schema: raw, Default: preset}, nil
	})
}

// parser reads the schema of a form.
type parser struct {
	*reader
	// anyJSON: the person can write JSON for a property of any type or of several, so it is no text.
	anyJSON bool
	// The sums over all fields that are bounded for the form.
	patternBytes, steps, classRunes, options int
}

func (p *parser) parse(field func(protocol.FieldHead, json.RawMessage) (protocol.Field, error)) ([]protocol.Field, error) {
	root, err := p.flatten(p.root, 0)
	if err != nil {
		return nil, fmt.Errorf("the schema %w", err)
	}
	if root.types != nil && !slices.Contains(root.types, "object") {
		return nil, fmt.Errorf(`the schema's type is %s, it must be "object"`, quote(strings.Join(root.types, ", ")))
	}
	var properties object
	if raw := root.members["properties"]; raw != nil && !isEmptyArray(raw) {
		if err := json.Unmarshal(raw, &properties); err != nil {
			return nil, fmt.Errorf("the schema cannot be read: properties: %w", err)
		}
	}
	names, err := readNames(root.members["required"])
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be read: required: %w", err)
	}
	required := map[string]bool{}
	for _, name := range names {
		required[name] = true
	}
	var fields []protocol.Field
	for _, m := range properties {
		if len([]rune(m.name)) > maxNameRunes {
			return nil, fmt.Errorf("property %s: its name has more than %d characters", quote(m.name), maxNameRunes)
		}
		f, err := field(protocol.FieldHead{Name: m.name, Required: required[m.name]}, m.value)
		if err != nil {
			return nil, fmt.Errorf("property %s %w", called(m.name), err)
		}
		fields = append(fields, f)
		delete(required, m.name)
	}
	for _, name := range names {
		if !required[name] {
			continue
		}
		if len([]rune(name)) > maxNameRunes || string(root.members["additionalProperties"]) == "false" {
			return nil, fmt.Errorf("property %s is required and not described", called(name))
		}
		// Any value is allowed, and so null is.
		f, err := field(protocol.FieldHead{Name: name, Required: true, Nullable: true}, json.RawMessage("true"))
		if err != nil {
			return nil, fmt.Errorf("property %s %w", called(name), err)
		}
		fields = append(fields, f)
		delete(required, name)
	}
	return fields, nil
}

// isEmptyArray reports whether a value is [], which PHP writes for {}.
func isEmptyArray(raw json.RawMessage) bool {
	var list []json.RawMessage
	return json.Unmarshal(raw, &list) == nil && len(list) == 0
}

// readNames reads a list of names, or a single one.
func readNames(raw json.RawMessage) ([]string, error) {
	if name, ok := readText(raw); ok {
		return []string{name}, nil
	}
	var names []string
	if len(raw) == 0 || string(raw) == "false" || string(raw) == "true" || string(raw) == "{}" {
		return nil, nil
	}
	return names, json.Unmarshal(raw, &names)
}

// called returns the name of a property for an error.
func called(name string) string {
	if isWord(name) {
		return name
	}
	return quote(name)
}

func (p *parser) property(head protocol.FieldHead, raw json.RawMessage) (protocol.Field, error) {
	f, err := p.flatten(raw, 0)
	if err != nil {
		return nil, err
	}
	head.Title, _ = readText(f.members["title"])
	head.Description, _ = readText(f.members["description"])
	head.Required = head.Required || string(f.members["required"]) == "true" // of JSON Schema's draft 3
	if head.Nullable || f.allowsNull() {
		head.Nullable, head.NullIfLeftOut, head.Required = true, head.Required, false
	}
	return p.field(head, f)
}

// field reads the schema of one field.
func (p *parser) field(head protocol.FieldHead, f *flat) (protocol.Field, error) {
	if f.options != nil {
		return p.choice(head, f)
	}
	kind, err := f.kind()
	if err != nil {
		return nil, err
	}
	if p.anyJSON && len(f.types) != 1 && (len(f.types) != 2 || !slices.Contains(f.types, "null")) {
		return nil, errors.New("has no type, or several")
	}
	format, _ := readText(f.members["format"])
	switch kind {
	case "string":
		head.Secret = asksForSecret(head, format)
		return p.text(head, f, format)
	case "number", "integer":
		head.Secret = asksForSecret(head, format)
		return numeric(head, f, kind == "integer")
	case "boolean":
		return protocol.BooleanField{FieldHead: head, Default: readDefault[*bool](f.members["default"])}, nil
	case "array":
		return p.list(head, f)
	case "null":
		return p.choice(head, &flat{options: []choice{nullChoice}})
	default:
		return nil, fmt.Errorf("is an %s, which a form cannot show", kind)
	}
}

// kind returns the type that a field is for. Where a schema allows several, that is the first of kinds. Where it names
// none, its other keywords and its default say which one the server expects, and otherwise it is a text.
func (f *flat) kind() (string, error) {
	if f.types == nil {
		for _, of := range []struct{ keyword, kind string }{
			{"properties", "object"},
			{"additionalProperties", "object"},
			{"items", "array"},
			{"minItems", "array"},
			{"maxItems", "array"},
			{"minimum", "number"},
			{"maximum", "number"},
			{"exclusiveMinimum", "number"},
			{"exclusiveMaximum", "number"},
		} {
			if f.members[of.keyword] != nil {
				return of.kind, nil
			}
		}
		if value, ok := decodeExact(f.members["default"]); ok && value != nil {
			return typeOf(value), nil
		}
		return "string", nil
	}
	if at := f.rank(); at < len(kinds) {
		return kinds[at], nil
	}
	for _, name := range f.types {
		switch name {
		case "object":
			return name, nil
		case "null":
		default:
			return "", fmt.Errorf("has the type %s, which a form cannot show", quote(name))
		}
	}
	return "null", nil
}

// decode reads keywords that limit an answer. A number may be in a text. A value of another type limits nothing here: the
// server checks the answer. The error names the first keyword with a number that no answer has.
func (f *flat) decode(into map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(into)) {
		raw := f.members[name]
		if raw == nil {
			continue
		}
		if text, ok := readText(raw); ok && !isTextTarget(into[name]) {
			raw = json.RawMessage(strings.TrimSpace(text))
			if !json.Valid(raw) {
				continue
			}
		}
		var other *json.UnmarshalTypeError
		err := json.Unmarshal(raw, into[name])
		switch {
		case errors.As(err, &other) && !strings.HasPrefix(other.Value, "number "): // a number that is too large is named so
			reflect.ValueOf(into[name]).Elem().SetZero()
		case err != nil:
			return fmt.Errorf("cannot be read: %s: %w", name, err)
		}
	}
	return nil
}

// isTextTarget reports whether a keyword is read into a text.
func isTextTarget(into any) bool {
	_, ok := into.(*string)
	return ok
}

func (p *parser) text(head protocol.FieldHead, s *flat, format string) (protocol.Field, error) {
	var minLength, maxLength *count
	var pattern string
	if err := s.decode(map[string]any{"minLength": &minLength, "maxLength": &maxLength, "pattern": &pattern}); err != nil {
		return nil, err
	}
	if err := checkBounds("minLength", &minLength, "maxLength", maxLength); err != nil {
		return nil, err
	}
	f := protocol.StringField{
		FieldHead: head, MinLength: (*int)(minLength), MaxLength: (*int)(maxLength),
		Pattern: pattern, PatternUnchecked: !p.canCheck(pattern), Default: readDefault[*string](s.members["default"]),
	}
	switch format := protocol.StringFormat(format); format {
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

func numeric(head protocol.FieldHead, s *flat, integer bool) (protocol.Field, error) {
	var minimum, maximum *float64
	if err := s.decode(map[string]any{"minimum": &minimum, "maximum": &maximum}); err != nil {
		return nil, err
	}
	if minimum != nil && maximum != nil && *minimum > *maximum {
		return nil, fmt.Errorf("has a minimum of %v above its maximum of %v, which no answer can meet", *minimum, *maximum)
	}
	preset := s.members["default"]
	f := protocol.NumberField{
		FieldHead: head, Integer: integer, Minimum: minimum, Maximum: maximum, Default: readDefault[*float64](preset),
	}
	if f.Default != nil && !isExact(string(preset)) {
		f.DefaultText = string(preset)
	}
	return f, nil
}

// list reads an array: a choice of several values, or a list that the person types.
func (p *parser) list(head protocol.FieldHead, s *flat) (protocol.Field, error) {
	if s.members["prefixItems"] != nil {
		return nil, errors.New("is an array with another schema for each item, which a form cannot show")
	}
	var minItems, maxItems *count
	var unique bool
	err := s.decode(map[string]any{"minItems": &minItems, "maxItems": &maxItems, "uniqueItems": &unique})
	if err != nil {
		return nil, err
	}
	if err := checkBounds("minItems", &minItems, "maxItems", maxItems); err != nil {
		return nil, err
	}
	items := &flat{}
	if raw := s.members["items"]; raw != nil && string(raw) != "{}" {
		if items, err = p.flatten(raw, 0); err != nil {
			return nil, fmt.Errorf("is an array, and each item %w", err)
		}
	}
	var presets []json.RawMessage
	_ = json.Unmarshal(s.members["default"], &presets) // any other default is none
	if items.options != nil {
		f := protocol.ChoicesField{FieldHead: head, MinItems: (*int)(minItems), MaxItems: (*int)(maxItems)}
		if f.Options, err = p.optionsOf(items); err != nil {
			return nil, err
		}
		if minItems != nil && int(*minItems) > len(f.Options) {
			return nil, fmt.Errorf("has a minItems of %d and %d choices, which no answer can meet", *minItems, len(f.Options))
		}
		f.Default = presetChoices(f.Options, presets)
		return f, nil
	}
	item, err := p.field(protocol.FieldHead{Required: true}, items)
	if err != nil {
		return nil, fmt.Errorf("is an array, and each item %w", err)
	}
	switch item.(type) {
	case protocol.StringField, protocol.NumberField, protocol.BooleanField:
	default:
		return nil, errors.New("is an array of arrays, which a form cannot show")
	}
	head.Secret = asksForSecret(head, "")
	f := protocol.ListField{FieldHead: head, Item: item, MinItems: (*int)(minItems), MaxItems: (*int)(maxItems), Unique: unique}
	f.Default = presetItems(item, presets)
	return f, nil
}

// presetChoices returns the values of the options that a default selects.
func presetChoices(options []protocol.Option, presets []json.RawMessage) []string {
	if presets == nil {
		return nil
	}
	by, taken := indexed(options), map[*protocol.Option]bool{}
	values := []string{}
	for _, preset := range presets {
		if o := by.find(preset); o != nil && !taken[o] {
			taken[o] = true
			values = append(values, o.Value)
		}
	}
	return values
}

// presetItems returns the items of a default, each as one line. A list with an item that is no line is no default.
func presetItems(item protocol.Field, presets []json.RawMessage) []string {
	if presets == nil {
		return nil
	}
	lines := []string{}
	for _, preset := range presets {
		if _, problem := checkValue(item, preset); problem != none {
			return nil
		}
		line, ok := readText(preset)
		if !ok {
			line = string(preset)
		}
		if strings.TrimSpace(line) == "" || strings.ContainsAny(line, "\r\n") {
			return nil
		}
		lines = append(lines, line)
	}
	return lines
}

// checkBounds refuses bounds that no answer can satisfy, and removes a lower one that each answer satisfies.
func checkBounds(lowName string, low **count, highName string, high *count) error {
	if *low != nil && **low < 0 {
		*low = nil
	}
	switch {
	case high != nil && *high < 0:
		return fmt.Errorf("has a %s of %d, which no answer can meet", highName, *high)
	case *low != nil && high != nil && **low > *high:
		return fmt.Errorf("has a %s of %d above its %s of %d, which no answer can meet", lowName, **low, highName, *high)
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
