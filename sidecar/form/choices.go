package form

import (
	"encoding/json"
	"fmt"
	"slices"

	"assent/protocol"
)

// choiceTerms are what a property says of the values to choose from.
type choiceTerms struct {
	enum         []json.RawMessage
	enumNames    []string
	constant     json.RawMessage
	oneOf, anyOf []json.RawMessage
}

func (c *choiceTerms) isChoice() bool {
	return c.enum != nil || c.oneOf != nil || c.anyOf != nil || len(c.constant) > 0
}

// listBounds are what an array says of its items.
type listBounds struct {
	minItems, maxItems *count
	items              json.RawMessage
}

func (p *parser) choice(head protocol.FieldHead, s *property) (protocol.Field, error) {
	options, err := p.optionsOf(&s.choiceTerms)
	if err != nil {
		return nil, err
	}
	f := protocol.ChoiceField{FieldHead: head, Options: options, Default: readDefault[*string](s.defaultValue)}
	if f.Default != nil && !optionSet(options)[*f.Default] {
		f.Default = nil // it is not an option
	}
	return f, nil
}

func (p *parser) choices(head protocol.FieldHead, s *property) (protocol.Field, error) {
	free := fmt.Errorf("is an array of something else than choices, which a form cannot show")
	if len(s.items) == 0 {
		return nil, free
	}
	items, err := readProperty(s.items)
	if err != nil {
		return nil, fmt.Errorf("its items: %w", err)
	}
	if kind, ok := readText(items.kind); ok && kind != "string" || !items.isChoice() {
		return nil, free
	}
	options, err := p.optionsOf(&items.choiceTerms)
	if err != nil {
		return nil, err
	}
	if err := checkBounds("minItems", s.minItems, "maxItems", s.maxItems); err != nil {
		return nil, err
	}
	if s.minItems != nil && int(*s.minItems) > len(options) {
		return nil, fmt.Errorf("has a minItems of %d and %d choices, which no answer can meet", *s.minItems, len(options))
	}
	f := protocol.ChoicesField{
		FieldHead: head, Options: options, MinItems: (*int)(s.minItems), MaxItems: (*int)(s.maxItems),
		Default: readDefault[[]string](s.defaultValue),
	}
	known := optionSet(options)
	f.Default = slices.DeleteFunc(f.Default, func(value string) bool {
		twice := !known[value] // unknown, or repeated
		delete(known, value)
		return twice
	})
	return f, nil
}

// optionsOf reads the options of a choice in each of their forms: with titles, as an enum with the
// names of 2025-06-18, as a plain enum, or as a single constant. A repeated option counts once.
func (p *parser) optionsOf(c *choiceTerms) ([]protocol.Option, error) {
	var options []protocol.Option
	for _, raw := range slices.Concat(c.oneOf, c.anyOf) {
		var constant json.RawMessage
		var title string
		if err := decode(raw, map[string]any{"const": &constant, "title": &title}); err != nil {
			return nil, fmt.Errorf("has a choice that cannot be read: %w", err)
		}
		value, ok := readText(constant)
		if !ok {
			return nil, fmt.Errorf("has a choice that is not a text: %s", orMissing(constant))
		}
		options = append(options, protocol.Option{Value: value, Title: title})
	}
	bare := c.enum
	if len(c.constant) > 0 && bare == nil {
		bare = []json.RawMessage{c.constant}
	}
	var listed []protocol.Option
	for i, raw := range bare {
		value, ok := readText(raw)
		if !ok {
			return nil, fmt.Errorf("has a choice that is not a text: %s", clip(raw))
		}
		o := protocol.Option{Value: value}
		if len(c.enumNames) == len(bare) {
			o.Title = c.enumNames[i]
		}
		listed = append(listed, o)
	}
	switch {
	case options == nil:
		options = listed
	case bare != nil: // both conditions apply
		known := optionSet(listed)
		options = slices.DeleteFunc(options, func(o protocol.Option) bool { return !known[o.Value] })
	}
	seen := map[string]bool{}
	options = slices.DeleteFunc(options, func(o protocol.Option) bool {
		twice := seen[o.Value]
		seen[o.Value] = true
		return twice
	})
	if len(options) == 0 {
		return nil, fmt.Errorf("has no choices")
	}
	p.options += len(options)
	return options, nil
}

func optionSet(options []protocol.Option) map[string]bool {
	set := make(map[string]bool, len(options))
	for _, o := range options {
		set[o.Value] = true
	}
	return set
}
