// Package reason explains in plain words why something failed, for a person or a server.
//
// The texts of Go's errors contain Go's types and the states of contexts, which mean nothing to either of them. [Of]
// replaces them by plain words and the terms of JSON, and leaves the rest of a text as it is. The package has no
// state.
package reason

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"assent/sidecar/base/lazyregexp"
)

// Of returns the text of an error without the terms of Go.
func Of(err error) string {
	text := err.Error()
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		text = strings.Replace(text, mismatch.Error(), typeMismatch(mismatch), 1)
	}
	for _, m := range unknownMismatch().FindAllStringSubmatch(text, -1) { // of an error that is only left as a text
		text = strings.Replace(text, m[0], mismatchOf(m[2], m[1], namedType(m[3])), 1)
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		text = strings.ReplaceAll(text, io.ErrUnexpectedEOF.Error(), "the connection ended in the middle")
	case errors.Is(err, io.EOF) && (text == io.EOF.Error() || strings.HasSuffix(text, ": "+io.EOF.Error())):
		text = strings.TrimSuffix(text, io.EOF.Error()) + "the connection was closed"
	}
	text = strings.ReplaceAll(text, context.Canceled.Error(), "it was cancelled")
	return strings.ReplaceAll(text, context.DeadlineExceeded.Error(), "it took too long")
}

// unknownMismatch matches the text of a [json.UnmarshalTypeError] that is only left as a text.
var unknownMismatch = lazyregexp.New(
	`json: cannot unmarshal ("(?:[^"\\]|\\.)*"|\w+(?: [^ ]+)?) into Go (?:struct field \w*\.?([^ ]*)|value) of type (.*)`)

// typeMismatch names the member with a wrong type, and the types.
func typeMismatch(err *json.UnmarshalTypeError) string {
	return mismatchOf(err.Field, err.Value, typeOf(err.Type))
}

// mismatchOf describes a wrong type of a member, or of the whole value if name is empty.
func mismatchOf(name, value, want string) string {
	kind := kindOf(value)
	subject := "it"
	if name != "" {
		subject = fmt.Sprintf("%q", name)
	}
	if want == "" || want == kind {
		return fmt.Sprintf("%s must not be %s", subject, withArticle(kind))
	}
	return fmt.Sprintf("%s is %s and must be %s", subject, withArticle(kind), withArticle(want))
}

// kindOf returns the type of a value as a [json.UnmarshalTypeError] describes it: encoding/json by its type, and a
// number with its digits; the decoder of go-sdk by the text at its place, in quotes.
func kindOf(value string) string {
	if text, err := strconv.Unquote(value); err == nil && text != "" {
		switch text[0] {
		case '"':
			return "string"
		case '{':
			return "object"
		case '[':
			return "array"
		case 't', 'f':
			return "boolean"
		default:
			return "number"
		}
	}
	kind, _, _ := strings.Cut(value, " ")
	if kind == "bool" {
		return "boolean"
	}
	return kind
}

// typeOf returns the JSON type for a type of Go, or "" if it is unknown.
func typeOf(t reflect.Type) string {
	if t == nil {
		return ""
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "integer"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Pointer:
		return typeOf(t.Elem())
	default:
		return ""
	}
}

// namedType is typeOf for the name of a type.
func namedType(name string) string {
	switch {
	case name == "string":
		return "string"
	case name == "bool":
		return "boolean"
	case strings.HasPrefix(name, "float"):
		return "number"
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"):
		return "integer"
	case strings.HasPrefix(name, "["):
		return "array"
	case strings.HasPrefix(name, "map["), strings.HasPrefix(name, "struct {"):
		return "object"
	default:
		return "" // a named type of a package, with an unknown kind
	}
}

func withArticle(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
