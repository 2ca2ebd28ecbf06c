package form

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"assent/protocol"
	"assent/sidecar/wire/quirk"
)

// choice is a value that a schema allows.
type choice struct {
	raw json.RawMessage
	// key is the same for equal values.
	key   string
	title string
}

var nullChoice = newChoice(json.RawMessage("null"), "")

func newChoice(raw json.RawMessage, title string) choice {
	return choice{raw: raw, key: canonicalOf(raw), title: title}
}

func (c choice) isNull() bool { return c.key == nullChoice.key }

// canonicalOf returns a text that is the same for equal JSON values.
func canonicalOf(raw json.RawMessage) string {
	value, ok := decodeExact(raw)
	if !ok {
		return string(raw)
	}
	return canonical(value)
}

// isOf reports whether a choice has one of the types; nil means any type.
func (c choice) isOf(types []string) bool {
	value, ok := decodeExact(c.raw)
	return types == nil || ok && slices.ContainsFunc(types, func(name string) bool { return isOfType(value, name) })
}

// readOptions reads the values of enum, with the names of 2025-06-18, and of const.
func (f *flat) readOptions() error {
	var names []string
	if raw := f.take("enumNames"); raw != nil {
		_ = json.Unmarshal(raw, &names) // names of another kind are no names
	}
	if raw := f.take("enum"); raw != nil {
		if list := quirk.GappedList(raw); list != nil {
			raw = list
		}
		var values []json.RawMessage
		if err := json.Unmarshal(raw, &values); err != nil {
			return fmt.Errorf("cannot be read: enum: %w", err)
		}
		f.options = []choice{}
		for i, value := range values {
			title := ""
			if len(names) == len(values) {
				title = names[i]
			}
			f.options = append(f.options, newChoice(value, title))
		}
	}
	if raw := f.take("const"); raw != nil {
		only := []choice{newChoice(raw, "")}
		if f.options != nil {
			only = common(f.options, only)
		}
		f.options = only
	}
	return nil
}

// common returns the choices that are in both lists, with the title that one of them has.
func common(first, second []choice) []choice {
	titles := make(map[string]string, len(second))
	for _, c := range second {
		titles[c.key] = c.title
	}
	both := []choice{}
	for _, c := range first {
		if title, has := titles[c.key]; has {
			c.title = cmp.Or(c.title, title)
			both = append(both, c)
		}
	}
	return both
}

// fitting returns the options of the allowed types.
func (f *flat) fitting() []choice {
	return slices.DeleteFunc(slices.Clone(f.options), func(c choice) bool { return !c.isOf(f.types) })
}

// converted returns the options in the type of the schema, which is what the server reads, if all are written in another
// one: texts of numbers, or numbers for texts. Otherwise it returns nil.
func (f *flat) converted() []choice {
	var converted []choice
	for _, c := range f.options {
		text, isText := readText(c.raw)
		if !isText {
			text = string(c.raw)
		}
		if _, isNumber := parseNumber(text); !isNumber {
			return nil
		}
		if !isText {
			text = `"` + text + `"`
		}
		if c = newChoice(json.RawMessage(text), c.title); !c.isOf(f.types) {
			return nil
		}
		converted = append(converted, c)
	}
	return converted
}

// optionsOf returns the options of a choice for a form. A repeated option counts once. null is an option only if there is
// no other; else it is the answer of a person who chooses none.
func (p *parser) optionsOf(f *flat) ([]protocol.Option, error) {
	fitting := f.fitting()
	if len(fitting) == 0 {
		fitting = f.converted()
	}
	if len(fitting) == 0 && len(f.options) > 0 {
		return nil, fmt.Errorf("has no choices of its type %s: %s is none", f.types[0], clip(f.options[0].raw))
	}
	if slices.ContainsFunc(fitting, func(c choice) bool { return !c.isNull() }) {
		fitting = slices.DeleteFunc(fitting, choice.isNull)
	}
	var options []protocol.Option
	seen, named := map[string]bool{}, map[string]bool{}
	for _, c := range fitting {
		if seen[c.key] {
			continue
		}
		seen[c.key] = true
		o := protocol.Option{Title: c.title}
		if text, ok := readText(c.raw); ok {
			o.Value = text
		} else if o.Value, o.JSON = string(c.raw), string(c.raw); c.raw[0] == '{' || c.raw[0] == '[' {
			return nil, fmt.Errorf("has a choice that is neither a text nor a number: %s", clip(c.raw))
		}
		for named[o.Value] { // the text 2 and the number 2
			o.Title = cmp.Or(o.Title, o.Value)
			o.Value += " (as JSON)"
		}
		named[o.Value] = true
		options = append(options, o)
	}
	if len(options) == 0 {
		return nil, fmt.Errorf("has no choices")
	}
	p.options += len(options)
	return options, nil
}

// optionsBy finds options.
type optionsBy struct{ json, text map[string]*protocol.Option }

func indexed(options []protocol.Option) optionsBy {
	by := optionsBy{json: make(map[string]*protocol.Option, len(options)), text: make(map[string]*protocol.Option, len(options))}
	for i := range options {
		o := &options[i]
		by.json[canonicalOf(jsonOf(o))], by.text[o.Value] = o, o
	}
	return by
}

// find returns the option that a value of JSON is, or that it names; or nil. Front ends name options by their texts.
func (by optionsBy) find(value json.RawMessage) *protocol.Option {
	if o := by.json[canonicalOf(value)]; o != nil {
		return o
	}
	text, ok := readText(value)
	if !ok {
		return nil
	}
	return by.text[text]
}

// jsonOf returns the value of an option as the server gets it.
func jsonOf(o *protocol.Option) json.RawMessage {
	if o.JSON != "" {
		return json.RawMessage(o.JSON)
	}
	raw, err := json.Marshal(o.Value)
	if err != nil {
		return json.RawMessage("null") // cannot happen: texts can be encoded
	}
	return raw
}

// choice reads a schema of one of several values.
func (p *parser) choice(head protocol.FieldHead, f *flat) (protocol.Field, error) {
	options, err := p.optionsOf(f)
	if err != nil {
		return nil, err
	}
	field := protocol.ChoiceField{FieldHead: head, Options: options}
	if o := indexed(options).find(f.members["default"]); o != nil {
		field.Default = &o.Value
	}
	return field, nil
}
