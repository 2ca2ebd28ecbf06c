package form

import (
	"encoding/json"
	"slices"
	"strings"

	"assent/sidecar/base/jsonscan"
)

// maxMerged bounds the schemas that [Flat] merges into one.
const maxMerged = 100

// unions are the keywords with schemas that describe the same object, each only for some of its values. allOf and $ref describe
// every value.
var unions = []string{"anyOf", "oneOf", "then", "else"}

// Flat returns a tool's inputSchema with all properties at its root. It merges what the root says by $ref, allOf, anyOf,
// oneOf, then and else, and leaves these keywords and their like out: some providers of models refuse them at the root,
// and a form has no fields for them. A property that two schemas describe differently may be either. merged reports
// whether the result says less than the schema. A schema without such keywords is returned as it is.
func Flat(schema json.RawMessage) (flat json.RawMessage, merged bool) {
	m := merger{root: schema, at: map[string]int{}, found: map[string]bool{"#": true}}
	m.add(schema, true)
	if !m.merged {
		return schema, false
	}
	flat, err := json.Marshal(m.flat())
	if err != nil { // the parts were valid JSON
		return json.RawMessage(`{"type":"object"}`), true
	}
	return flat, true
}

// merger collects what the schemas of an object say.
type merger struct {
	root json.RawMessage
	// others are the members of the root that are not merged.
	others, properties object
	// at has the places of the properties.
	at       map[string]int
	required []string
	// found are the references that were followed.
	found map[string]bool
	// merged reports that a schema other than the root was merged or left out, and count counts the schemas.
	merged bool
	count  int
}

// add merges a schema. Always reports that it describes every value of the object.
func (m *merger) add(schema json.RawMessage, always bool) {
	if m.count++; m.count > maxMerged || !isObject(schema) {
		return
	}
	isRoot := m.count == 1
	for name, value := range jsonscan.Of(schema) {
		switch {
		case name == "properties" && isObject(value):
			for name, value := range jsonscan.Of(value) {
				m.property(name, value)
			}
		case name == "required" && always:
			var names []string
			if json.Unmarshal(value, &names) == nil {
				m.required = append(m.required, names...)
			}
		case name == "$ref":
			m.merged = true
			var ref string
			if json.Unmarshal(value, &ref) == nil && !m.found[ref] {
				m.found[ref] = true
				m.add(m.find(ref), always)
			}
		case name == "allOf", slices.Contains(unions, name):
			m.merged = true
			m.addAll(value, always && name == "allOf")
		case name == "if", name == "not", name == "enum", name == "const", name == "dependentSchemas":
			m.merged = m.merged || isRoot
		case isRoot && name != "properties" && name != "required":
			m.others = append(m.others, member{name, value})
		}
	}
}

// addAll merges a schema, or each schema of a list.
func (m *merger) addAll(value json.RawMessage, always bool) {
	var schemas []json.RawMessage
	if json.Unmarshal(value, &schemas) != nil {
		schemas = []json.RawMessage{value}
	}
	for _, schema := range schemas {
		m.add(schema, always)
	}
}

// property adds what a schema says of a property.
func (m *merger) property(name string, value json.RawMessage) {
	at, known := m.at[name]
	switch {
	case !known:
		m.at[name] = len(m.properties)
		m.properties = append(m.properties, member{name, value})
	case string(m.properties[at].value) != string(value):
		either, err := json.Marshal(map[string][]json.RawMessage{"anyOf": {m.properties[at].value, value}})
		if err == nil { // they were valid JSON
			m.properties[at].value = either
		}
	}
}

// flat returns the merged schema.
func (m *merger) flat() object {
	all := m.others
	add := func(name string, value any) {
		if raw, err := json.Marshal(value); err == nil { // it was valid JSON
			all = append(all, member{name, raw})
		}
	}
	if !slices.ContainsFunc(all, func(m member) bool { return m.name == "type" }) {
		add("type", "object")
	}
	if len(m.properties) > 0 {
		add("properties", m.properties)
	}
	slices.Sort(m.required)
	if required := slices.Compact(m.required); len(required) > 0 {
		add("required", required)
	}
	return all
}

// find returns the schema at a reference into the root, or nil.
func (m *merger) find(ref string) json.RawMessage {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || path != "" && path[0] != '/' {
		return nil
	}
	found := m.root
	for _, step := range strings.Split(path, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		next := json.RawMessage(nil)
		if isObject(found) {
			for name, value := range jsonscan.Of(found) {
				if name == step {
					next = value
				}
			}
		}
		found = next
	}
	return found
}

// isObject reports whether a valid value is an object.
func isObject(value json.RawMessage) bool { return len(value) > 0 && value[0] == '{' }
