package form

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"assent/sidecar/wire/quirk"
)

// flat is a schema of one level: without references, and without alternatives of which a form can show one only.
type flat struct {
	// members are the keywords that the fields below do not have, with their values.
	members map[string]json.RawMessage
	// types are the allowed types; nil means any.
	types []string
	// options are the allowed values; nil means any.
	options []choice
}

// reader flattens schemas. It reads each reference once, and at most [maxChecks] parts.
type reader struct {
	root json.RawMessage
	left int
	// parents are the objects and arrays of root that a reference has led through, by their pointers.
	parents map[string]map[string]json.RawMessage
	// read are the schemas of references; nil is one that is being read.
	read map[string]*flat
}

func newReader(root json.RawMessage) *reader {
	return &reader{root: root, left: maxChecks, parents: map[string]map[string]json.RawMessage{}, read: map[string]*flat{}}
}

// errTooLarge refuses a schema that takes too long to read. References can double it with each step.
var errTooLarge = errors.New("is too large for a form, with all that it refers to")

// spend takes work from the amount that is left.
func (r *reader) spend(items, bytes int) error {
	if r.left -= items + bytes/checkedBytes; r.left < 0 {
		return errTooLarge
	}
	return nil
}

// flatten reads a schema and its references.
func (r *reader) flatten(raw json.RawMessage, depth int) (*flat, error) {
	if err := r.spend(1, len(raw)); err != nil {
		return nil, err
	}
	if depth > maxNested {
		return nil, errTooLarge
	}
	switch string(raw) {
	case "true":
		return &flat{}, nil
	case "false":
		return nil, errors.New("allows no value")
	}
	var keywords object
	if err := json.Unmarshal(raw, &keywords); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	f := &flat{members: map[string]json.RawMessage{}}
	for _, m := range keywords {
		if string(m.value) != "null" || m.name == "const" {
			f.members[m.name] = m.value
		}
	}
	if err := f.readTypes(); err != nil {
		return nil, err
	}
	if err := f.readOptions(); err != nil {
		return nil, err
	}
	if string(f.take("nullable")) == "true" { // of OpenAPI
		f.allowNull()
	}
	parts, err := r.parts(f, depth)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		if err := f.and(part); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// take returns the value of a keyword, and removes it.
func (f *flat) take(keyword string) json.RawMessage {
	value := f.members[keyword]
	delete(f.members, keyword)
	return value
}

// parts returns the schemas that hold together with the keywords of f: those of $ref, allOf, anyOf and oneOf.
func (r *reader) parts(f *flat, depth int) ([]*flat, error) {
	for _, keyword := range []string{"$dynamicRef", "$recursiveRef"} {
		if f.members[keyword] != nil {
			return nil, fmt.Errorf("has the keyword %s, which a form cannot follow", keyword)
		}
	}
	var parts []*flat
	if raw := f.take("$ref"); raw != nil {
		part, err := r.refer(raw, depth)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	for _, keyword := range []string{"allOf", "oneOf", "anyOf"} {
		raw := f.take(keyword)
		if raw == nil {
			continue
		}
		branches, err := r.all(keyword, raw, depth)
		switch {
		case err != nil:
			return nil, err
		case keyword == "allOf":
			parts = append(parts, branches...)
			continue
		}
		part, err := alternative(branches)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// all flattens the schemas of a list.
func (r *reader) all(keyword string, raw json.RawMessage, depth int) ([]*flat, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("cannot be read: %s: %w", keyword, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("has no choices: %s is empty", keyword)
	}
	var all []*flat
	for _, one := range list {
		branch, err := r.flatten(one, depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, branch)
	}
	return all, nil
}

// alternative returns one schema for several, of which a value must fit one. If all are choices it has the options of
// all. Otherwise it is the one that is easiest to answer. Null is allowed if one of them allows it.
func alternative(branches []*flat) (*flat, error) {
	var free *flat
	frees, null := 0, false
	var options []choice
	for _, branch := range branches {
		if branch.options == nil && len(branch.types) == 1 && branch.types[0] == "null" {
			branch = &flat{options: []choice{nullChoice}}
		}
		null = null || branch.allowsNull()
		if branch.options == nil {
			frees++
			if free == nil || branch.rank() < free.rank() {
				free = branch
			}
			continue
		}
		fitting := branch.fitting()
		if len(options)+len(fitting) > maxOptions {
			return nil, errTooLarge
		}
		title, _ := readText(branch.members["title"])
		for _, c := range fitting {
			if len(branch.options) == 1 { // the title of the branch is the option's
				c.title = cmp.Or(c.title, title)
			}
			options = append(options, c)
		}
	}
	if free == nil {
		return &flat{options: append([]choice{}, options...)}, nil
	}
	switch {
	case frees > 1 && free.rank() == len(kinds):
		return nil, errors.New("is one of several objects, which a form cannot show")
	case frees > 1 && free.types == nil:
		return &flat{}, nil // they only restrict the value, and the server checks that
	}
	one := *free
	if null {
		if one.types == nil {
			one.types = []string{"string"}
		}
		one.allowNull()
	}
	return &one, nil
}

// kinds are the types that a form can show. The first can hold what a person types for one of the others.
var kinds = []string{"string", "number", "integer", "boolean", "array"}

// rank returns the place in kinds of the first type that a schema allows, or their number if it allows none.
func (f *flat) rank() int {
	at := slices.IndexFunc(kinds, func(name string) bool { return f.types == nil || slices.Contains(f.types, name) })
	if at < 0 {
		return len(kinds)
	}
	return at
}

// and adds what another schema says. Titles, descriptions and defaults of f count.
func (f *flat) and(other *flat) error {
	for name, value := range other.members {
		own, has := f.members[name]
		switch {
		case !has:
			f.members[name] = value
		case canonicalOf(own) == canonicalOf(value):
		case isBound(name, true):
			f.members[name] = stricter(own, value, 1)
		case isBound(name, false):
			f.members[name] = stricter(own, value, -1)
		case name == "required" && join(f.members, name, own, value):
		case name == "properties" && merge(f.members, name, own, value):
		case slices.Contains([]string{"pattern", "items", "properties", "required", "uniqueItems"}, name):
			return fmt.Errorf("has two different values for %s, which a form cannot show", name)
		}
	}
	switch {
	case f.types == nil:
		f.types = other.types
	case other.types != nil:
		both := slices.DeleteFunc(slices.Clone(f.types), func(name string) bool {
			return !slices.Contains(other.types, name) && (name != "integer" || !slices.Contains(other.types, "number"))
		})
		if slices.Contains(other.types, "integer") && slices.Contains(f.types, "number") && !slices.Contains(both, "integer") {
			both = append(both, "integer")
		}
		if len(both) == 0 {
			return fmt.Errorf("has the types %s and %s, which no answer can meet", f.types[0], other.types[0])
		}
		f.types = both
	}
	switch {
	case f.options == nil:
		f.options = other.options
	case other.options != nil:
		f.options = common(f.options, other.options)
	}
	return nil
}

// join makes a member the names of both lists, and reports whether they are lists.
func join(members map[string]json.RawMessage, name string, first, second json.RawMessage) bool {
	var all, more []json.RawMessage
	if json.Unmarshal(first, &all) != nil || json.Unmarshal(second, &more) != nil {
		return false
	}
	members[name] = asArray(append(all, more...))
	return true
}

// merge makes a member an object with the members of both, and reports whether that says all that they say.
func merge(members map[string]json.RawMessage, name string, first, second json.RawMessage) bool {
	var all, more object
	if json.Unmarshal(first, &all) != nil || json.Unmarshal(second, &more) != nil {
		return false
	}
	for _, m := range more {
		at := slices.IndexFunc(all, func(own member) bool { return own.name == m.name })
		switch {
		case at < 0:
			all = append(all, m)
		case canonicalOf(all[at].value) != canonicalOf(m.value):
			return false
		}
	}
	raw, err := json.Marshal(all)
	members[name] = raw
	return err == nil
}

// isBound reports whether a keyword is a lower or an upper bound.
func isBound(name string, lower bool) bool {
	if lower {
		return slices.Contains([]string{"minimum", "exclusiveMinimum", "minLength", "minItems"}, name)
	}
	return slices.Contains([]string{"maximum", "exclusiveMaximum", "maxLength", "maxItems"}, name)
}

// stricter returns the greater of two numbers, or the smaller one if sign is -1. Another value is found later.
func stricter(a, b json.RawMessage, sign int) json.RawMessage {
	n, aRead := parseNumber(string(a))
	m, bRead := parseNumber(string(b))
	if !aRead || bRead && n.compare(m)*sign < 0 {
		return b
	}
	return a
}

// readTypes reads the keyword type: a name or a list of names.
func (f *flat) readTypes() error {
	raw := f.take("type")
	if raw == nil {
		return nil
	}
	if name, ok := readText(raw); ok {
		f.types = []string{quirk.Type(name)}
		if name := f.types[0]; name == "any" || name == "enum" && f.members["enum"] != nil {
			f.types = nil // the values of enum say more
		}
		return nil
	}
	if err := json.Unmarshal(raw, &f.types); err != nil || len(f.types) == 0 {
		return fmt.Errorf("has no type that a form can show: %s", clip(raw))
	}
	for i, name := range f.types {
		f.types[i] = quirk.Type(name)
	}
	return nil
}

// allowNull adds null to the allowed values.
func (f *flat) allowNull() {
	if f.types != nil && !slices.Contains(f.types, "null") {
		f.types = append(slices.Clone(f.types), "null")
	}
	if f.options != nil && !slices.ContainsFunc(f.options, choice.isNull) {
		f.options = append(slices.Clone(f.options), nullChoice)
	}
}

// allowsNull reports whether a schema says that null is allowed.
func (f *flat) allowsNull() bool {
	inTypes, inOptions := slices.Contains(f.types, "null"), slices.ContainsFunc(f.options, choice.isNull)
	return (inTypes || inOptions) && (inTypes || f.types == nil) && (inOptions || f.options == nil)
}

// refer returns the schema that a reference leads to. It must be in the same document.
func (r *reader) refer(raw json.RawMessage, depth int) (*flat, error) {
	reference, ok := readText(raw)
	pointer, local := strings.CutPrefix(reference, "#")
	if !ok || !local || pointer != "" && pointer[0] != '/' {
		return nil, fmt.Errorf("refers to %s, which is not in its schema", clip(raw))
	}
	if known, has := r.read[pointer]; has {
		if known == nil {
			return nil, fmt.Errorf("refers to itself by %s", quote(reference))
		}
		return known, nil
	}
	target, err := r.target(pointer)
	if err != nil {
		return nil, err
	}
	if target == nil {
		return nil, fmt.Errorf("refers to %s, which is not in its schema", quote(reference))
	}
	r.read[pointer] = nil
	read, err := r.flatten(target, depth+1)
	if err != nil {
		return nil, err
	}
	r.read[pointer] = read
	return read, nil
}

// target returns the value that a JSON pointer leads to (RFC 6901, "URI Fragment Identifier Representation"), or nil.
func (r *reader) target(pointer string) (json.RawMessage, error) {
	now, at := r.root, ""
	for _, token := range strings.Split(pointer, "/")[1:] {
		if err := r.spend(1, len(at)); err != nil {
			return nil, err
		}
		parent, known := r.parents[at]
		if !known {
			if err := r.spend(1, len(now)); err != nil {
				return nil, err
			}
			parent = membersOf(now)
			r.parents[at] = parent
		}
		at += "/" + token
		name, err := url.PathUnescape(token)
		if err != nil {
			return nil, nil
		}
		if now = parent[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]; now == nil {
			return nil, nil
		}
	}
	return now, nil
}

// membersOf returns the members of an object, or the items of an array by their places.
func membersOf(raw json.RawMessage) map[string]json.RawMessage {
	members := map[string]json.RawMessage{}
	var keywords object
	var items []json.RawMessage
	switch {
	case json.Unmarshal(raw, &keywords) == nil:
		for _, m := range keywords {
			members[m.name] = m.value
		}
	case json.Unmarshal(raw, &items) == nil:
		for i, item := range items {
			members[strconv.Itoa(i)] = item
		}
	}
	return members
}
