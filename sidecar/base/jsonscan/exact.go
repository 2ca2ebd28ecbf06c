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
		data = exact(bytes.TrimSpace(data), reflect.TypeOf(into))
	}
	return json.Unmarshal(data, into)
}

// Exact returns JSON without the members that [Unmarshal] into a T ignores because of the case of their names. The data
// has to be valid JSON without space around it, or empty.
func Exact[T any](data []byte) []byte {
	if len(data) == 0 {
		return data
	}
	return exact(data, reflect.TypeFor[T]())
}

var decodesItself = reflect.TypeFor[json.Unmarshaler]()

// exact returns valid JSON without the members that differ from a field's name only in case.
func exact(data []byte, t reflect.Type) []byte {
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
	return data
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
func exactMembers(object []byte, typeOf func(name string) (t reflect.Type, taken bool)) []byte {
	return Edit(object, func(name string, value json.RawMessage) json.RawMessage {
		switch t, taken := typeOf(name); {
		case !taken:
			return nil
		case t != nil:
			return exact(value, t)
		}
		return value
	})
}

// exactElements is exact for an array with elements of type t.
func exactElements(array []byte, t reflect.Type) []byte {
	var elements []json.RawMessage
	same := true
	for was := range Elements(array) {
		is := exact(was, t)
		same = same && len(is) == len(was) // what changes becomes shorter
		elements = append(elements, is)
	}
	if same {
		return array
	}
	return Array(elements)
}
