// Package shape says how a part of a server's lists and results looks that everything behind the hub can read, and repairs
// or leaves out what looks otherwise. It has no state.
package shape

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"assent/sidecar/base/base64text"
	"assent/sidecar/base/jsonscan"
)

// A Shape returns a value of a server as everything behind the hub can read it, hosts with strict types among them: the
// value itself if that is right, another one if its meaning is clear, and nil to leave it out. It says which part is wrong
// with the value at a place, such as "annotations.readOnlyHint". The value is valid JSON.
type Shape func(at string, value json.RawMessage, say func(format string, args ...any)) json.RawMessage

// Shapes of values that many objects of MCP have.
var (
	Text, Boolean, AnyObject = Kind("string"), Kind("boolean"), Kind("object")

	// Icons are those of MCP. One without a place is left out.
	Icons = List(Having("src", Object(map[string]Shape{
		"src": Text, "mimeType": Text, "sizes": List(Text), "theme": OneOf("light", "dark"),
	})))
	// Annotations are those of a resource and of a content block.
	Annotations = Object(map[string]Shape{"audience": List(OneOf("user", "assistant")), "priority": priority, "lastModified": moment})
	// Resource is that of a list, and of a link in a content block.
	Resource = Object(map[string]Shape{
		"name": Text, "title": Text, "description": Text, "mimeType": Text, "size": Size, "icons": Icons, "annotations": Annotations, "_meta": AnyObject,
	})
)

// KindOf returns the type of a valid value in the words of JSON Schema.
func KindOf(value json.RawMessage) string {
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

// Article returns the type of a value with its article, as a part of a sentence.
func Article(kind string) string {
	switch kind {
	case "missing", "null":
		return kind
	case "object", "array":
		return "an " + kind
	}
	return "a " + kind
}

// Kind is the shape of values of one type. null means that there is no value.
func Kind(want string) Shape {
	return func(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
		switch got := KindOf(value); got {
		case want:
			return value
		case "null", "missing":
		default:
			say("%s is %s and must be %s", at, Article(got), Article(want))
		}
		return nil
	}
}

// OneOf is the shape of a text that is one of some.
func OneOf(texts ...string) Shape {
	return func(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
		if value = Text(at, value, say); value == nil {
			return nil
		}
		var is string
		if err := json.Unmarshal(value, &is); err != nil || !slices.Contains(texts, is) {
			say("%s is %s and must be one of %s", at, Clipped(is), strings.Join(texts, ", "))
			return nil
		}
		return value
	}
}

// Size is the shape of a number of bytes.
func Size(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
	if value = Kind("number")(at, value, say); value == nil {
		return nil
	}
	if _, err := strconv.ParseUint(string(value), 10, 63); err != nil {
		say("%s is %s and must be a number of bytes", at, Clipped(string(value)))
		return nil
	}
	return value
}

// Base64 is the shape of bytes. Another text stays: it says something.
func Base64(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
	var is string
	if KindOf(value) != "string" || json.Unmarshal(value, &is) != nil {
		return value
	}
	normal, ok := base64text.Normal(is)
	if !ok || normal == is {
		return value
	}
	say("%s is no plain base64", at)
	return jsonscan.Quote(normal)
}

// priority is the shape of a number from 0 to 1.
func priority(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
	if value = Kind("number")(at, value, say); value == nil {
		return nil
	}
	if n, err := strconv.ParseFloat(string(value), 64); err != nil || n < 0 || n > 1 {
		say("%s is %s and must be a number from 0 to 1", at, Clipped(string(value)))
		return nil
	}
	return value
}

// moment is the shape of a time.
func moment(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
	if value = Text(at, value, say); value == nil {
		return nil
	}
	var is string
	_ = json.Unmarshal(value, &is) // a text can be decoded
	if _, err := time.Parse(time.RFC3339, is); err != nil {
		say("%s is %s and must be a time such as 2025-01-12T15:00:58Z", at, Clipped(is))
		return nil
	}
	return value
}

// Object is the shape of an object with members of these shapes, and others.
func Object(members map[string]Shape) Shape {
	return func(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
		if value = AnyObject(at, value, say); value == nil {
			return nil
		}
		return jsonscan.Edit(value, func(name string, value json.RawMessage) json.RawMessage {
			if shape := members[name]; shape != nil {
				return shape(Within(at, name), value, say)
			}
			return value
		})
	}
}

// Within returns the place of a member.
func Within(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + Clip(name)
}

// Having is the shape of an object that needs one member, which is a text.
func Having(name string, whole Shape) Shape {
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

// List is the shape of a list with elements of a shape. Other elements are left out.
func List(element Shape) Shape {
	return func(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
		if value = Kind("array")(at, value, say); value == nil {
			return nil
		}
		var kept []json.RawMessage
		same := true
		for i, was := range slices.Collect(jsonscan.Elements(value)) {
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

// Clip returns the beginning of a server's text.
func Clip(text string) string {
	if runes := []rune(text); len(runes) > maxWord {
		return string(runes[:maxWord]) + "…"
	}
	return text
}

// Clipped is [Clip] in quotes, on one line.
func Clipped(text string) string { return strconv.Quote(Clip(text)) }
