package hub

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
)

// A shape returns a value of a server as everything behind the hub can read it, hosts with strict types among them: the
// value itself if that is right, another one if its meaning is clear, and nil to leave it out. It says which part is wrong
// with the value at a place, such as "annotations.readOnlyHint". The value is valid JSON.
type shape func(at string, value json.RawMessage, say func(format string, args ...any)) json.RawMessage

// itemShapes are the shapes of the items of each list (2025-11-25 and 2026-07-28, "Schema"). They have the members that
// MCP names: others stay as they are.
var itemShapes = map[protocol.ListKind]shape{
	protocol.ListTools: object(map[string]shape{
		"title": text, "description": text, "icons": pictures, "_meta": anyObject,
		"annotations": object(map[string]shape{
			"title": text, "readOnlyHint": boolean, "destructiveHint": boolean, "idempotentHint": boolean, "openWorldHint": boolean,
		}),
		"execution": object(map[string]shape{"taskSupport": oneOf("forbidden", "optional", "required")}),
	}),
	protocol.ListResources: object(map[string]shape{
		"name": text, "title": text, "description": text, "mimeType": text, "size": size, "icons": pictures, "annotations": audience, "_meta": anyObject,
	}),
	ListTemplates: object(map[string]shape{
		"name": text, "title": text, "description": text, "mimeType": text, "icons": pictures, "annotations": audience, "_meta": anyObject,
	}),
	protocol.ListPrompts: object(map[string]shape{
		"title": text, "description": text, "icons": pictures, "_meta": anyObject,
		"arguments": list(having("name", object(map[string]shape{"name": text, "title": text, "description": text, "required": boolean}))),
	}),
}

var (
	text, boolean, anyObject = kind("string"), kind("boolean"), kind("object")

	pictures = list(having("src", object(map[string]shape{
		"src": text, "mimeType": text, "sizes": list(text), "theme": oneOf("light", "dark"),
	})))
	audience = object(map[string]shape{"audience": list(oneOf("user", "assistant")), "priority": kind("number"), "lastModified": text})
)

// kindOf returns the type of a valid value in the words of JSON Schema.
func kindOf(value json.RawMessage) string {
	if len(value) == 0 {
		return "missing"
	}
	switch value[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// article returns the type of a value with its article, as a part of a sentence.
func article(kind string) string {
	switch kind {
	case "missing", "null":
		return kind
	case "object", "array":
		return "an " + kind
	}
	return "a " + kind
}

// kind is the shape of values of one type. null means that there is no value.
func kind(want string) shape {
	return func(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
		switch got := kindOf(value); got {
		case want:
			return value
		case "null", "missing":
		default:
			say("%s is %s and must be %s", at, article(got), article(want))
		}
		return nil
	}
}

// oneOf is the shape of a text that is one of some.
func oneOf(texts ...string) shape {
	return func(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
		if value = text(at, value, say); value == nil {
			return nil
		}
		var is string
		if err := json.Unmarshal(value, &is); err != nil || !slices.Contains(texts, is) {
			say("%s is %s and must be one of %s", at, clipped(is), strings.Join(texts, ", "))
			return nil
		}
		return value
	}
}

// size is the shape of a number of bytes.
func size(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
	if value = kind("number")(at, value, say); value == nil {
		return nil
	}
	if _, err := strconv.ParseUint(string(value), 10, 63); err != nil {
		say("%s is %s and must be a number of bytes", at, clipped(string(value)))
		return nil
	}
	return value
}

// object is the shape of an object with members of these shapes, and others.
func object(members map[string]shape) shape {
	return func(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
		if value = anyObject(at, value, say); value == nil {
			return nil
		}
		return jsonscan.Edit(value, func(name string, value json.RawMessage) json.RawMessage {
			if shape := members[name]; shape != nil {
				return shape(within(at, name), value, say)
			}
			return value
		})
	}
}

// within returns the place of a member.
func within(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + clip(name)
}

// having is the shape of an object that needs one member, which is a text.
func having(name string, whole shape) shape {
	return func(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
		if value = whole(at, value, say); value == nil {
			return nil
		}
		if jsonscan.Text(value, name) == "" {
			say("%s has no %s", at, name)
			return nil
		}
		return value
	}
}

// list is the shape of a list with elements of a shape. Other elements are left out.
func list(element shape) shape {
	return func(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
		if value = kind("array")(at, value, say); value == nil {
			return nil
		}
		var kept []json.RawMessage
		same := true
		for i, was := range elements(value) {
			is := element(fmt.Sprintf("%s[%d]", at, i), was, say)
			same = same && string(is) == string(was)
			if is != nil {
				kept = append(kept, is)
			}
		}
		if same {
			return value
		}
		return jsonscan.Array(kept)
	}
}

// maxWord bounds what a sentence quotes of a server, in characters.
const maxWord = 80

// clip returns the beginning of a server's text.
func clip(text string) string {
	if runes := []rune(text); len(runes) > maxWord {
		return string(runes[:maxWord]) + "…"
	}
	return text
}

// clipped is clip in quotes, on one line.
func clipped(text string) string { return strconv.Quote(clip(text)) }
