package jsonscan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// Unmarshal is [json.Unmarshal] with case-sensitive names. encoding/json takes the member "MaxTokens" for a field with the
// tag "maxTokens"; Unmarshal ignores it. Every field needs a tag, and types that implement [json.Unmarshaler] decode
// themselves. Its errors are those of [json.Unmarshal].
func Unmarshal(data []byte, into any) error {
	if json.Valid(data) {
		if rest, changed := exact(bytes.TrimSpace(data), reflect.TypeOf(into)); changed {
			data = rest
		}
	}
	return json.Unmarshal(data, into)
}

// Exact returns JSON without the members that [Unmarshal] into a T ignores because of the case of their names. The data
// has to be valid JSON without space around it, or empty.
func Exact[T any](data []byte) []byte {
	if len(data) == 0 {
		return data
	}
	rest, _ := exact(data, reflect.TypeFor[T]())
	return rest
}

var decodesItself = reflect.TypeFor[json.Unmarshaler]()

// exact returns valid JSON without the members that differ from a field's name only in case, and whether there were any.
func exact(data []byte, t reflect.Type) (rest []byte, changed bool) {
	for t.Kind() == reflect.Pointer && !t.Implements(decodesItself) {
		t = t.Elem()
	}
	switch {
	case t.Implements(decodesItself), reflect.PointerTo(t).Implements(decodesItself):
	case t.Kind() == reflect.Struct && data[0] == '{':
		return exactMembers(data, func(name string) (reflect.Type, bool) { return fieldOf(t, name) })
	case t.Kind() == reflect.Map && data[0] == '{' && holdsStructs(t.Elem()):
		return exactMembers(data, func(string) (reflect.Type, bool) { return t.Elem(), true })
	case t.Kind() == reflect.Slice && data[0] == '[' && holdsStructs(t.Elem()):
		return exactElements(data, t.Elem())
	}
	return data, false
}

// holdsStructs reports whether values of a type can have fields.
func holdsStructs(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}

// fieldOf returns the type of the field with a member's name, or nil if there is none. A member is not taken if its name
// differs from a field's name only in case.
func fieldOf(t reflect.Type, name string) (field reflect.Type, taken bool) {
	taken = true
	for field := range t.Fields() {
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag == name {
			return field.Type, true
		}
		taken = taken && !strings.EqualFold(tag, name)
	}
	return nil, taken
}

// exactMembers is exact for an object. typeOf returns the type of a member, and whether the member stays.
func exactMembers(object []byte, typeOf func(name string) (t reflect.Type, taken bool)) (rest []byte, changed bool) {
	type member struct {
		name  string
		value []byte
	}
	var kept []member
	for name, value := range Of(object) {
		t, taken := typeOf(name)
		if !taken {
			changed = true
			continue
		}
		m := member{name, value}
		if t != nil {
			var inside bool
			m.value, inside = exact(value, t)
			changed = changed || inside
		}
		kept = append(kept, m)
	}
	if !changed {
		return object, false
	}
	rest = append(rest, '{')
	for i, m := range kept {
		if i > 0 {
			rest = append(rest, ',')
		}
		name, _ := json.Marshal(m.name) // a string is always encoded
		rest = append(append(append(rest, name...), ':'), m.value...)
	}
	return append(rest, '}'), true
}

// exactElements is exact for an array with elements of type t.
func exactElements(array []byte, t reflect.Type) (rest []byte, changed bool) {
	var elements []json.RawMessage
	if json.Unmarshal(array, &elements) != nil {
		return array, false
	}
	rest = append(rest, '[')
	for i, element := range elements {
		if i > 0 {
			rest = append(rest, ',')
		}
		value, inside := exact(element, t)
		changed = changed || inside
		rest = append(rest, value...)
	}
	if !changed {
		return array, false
	}
	return append(rest, ']'), true
}
