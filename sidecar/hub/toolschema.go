package hub

import (
	"encoding/json"

	"assent/sidecar/base/jsonscan"
	"assent/sidecar/hub/shape"
	"assent/sidecar/wire/quirk"
)

// anyArguments is the schema of a tool that says nothing of its arguments that can be used.
const anyArguments = `{"type":"object","additionalProperties":true}`

// withSchemas returns a tool whose schemas hosts with strict types and models take: an inputSchema is an object of the
// type "object", with an object for each property and a list of names (2025-11-25, "Tool"). A legacy server's outputSchema
// is of the same kind; since 2026-07-28 it may be of every type.
func withSchemas(tool json.RawMessage, modern bool, say func(string, ...any)) json.RawMessage {
	tool = jsonscan.Edit(tool, func(name string, value json.RawMessage) json.RawMessage {
		switch name {
		case "inputSchema":
			return inputSchema(value, say)
		case "outputSchema":
			return outputSchema(value, modern, say)
		}
		return value
	})
	if jsonscan.Member(tool, "inputSchema") == nil {
		say("inputSchema is missing")
		tool = jsonscan.With(tool, "inputSchema", json.RawMessage(anyArguments))
	}
	return tool
}

func inputSchema(value json.RawMessage, say func(string, ...any)) json.RawMessage {
	const at = "inputSchema"
	if shape.KindOf(value) != "object" {
		say("%s is %s and must be an object", at, shape.Article(shape.KindOf(value)))
		return json.RawMessage(anyArguments)
	}
	value = properties(at, value, say)
	switch kind := jsonscan.Member(value, "type"); {
	case string(kind) == `"object"`:
		return value
	case kind != nil:
		say(`%s.type is %s and must be "object"`, at, written(kind))
	default:
		say(`%s has no type, which must be "object"`, at)
	}
	return ofObjects(value)
}

// written returns a value as a part of a sentence.
func written(value json.RawMessage) string {
	if string(value) == `""` {
		return "empty"
	}
	return shape.Clip(string(value))
}

func outputSchema(value json.RawMessage, modern bool, say func(string, ...any)) json.RawMessage {
	const at = "outputSchema"
	if value = shape.AnyObject(at, value, say); value == nil {
		return nil
	}
	value = properties(at, value, say)
	switch kind := jsonscan.Member(value, "type"); {
	case modern, string(kind) == `"object"`:
		return value
	case kind != nil:
		say(`%s.type is %s and must be "object"`, at, written(kind))
		return nil
	}
	return ofObjects(value)
}

// ofObjects returns a schema with the type "object".
func ofObjects(schema json.RawMessage) json.RawMessage {
	schema = jsonscan.Edit(schema, func(name string, value json.RawMessage) json.RawMessage {
		if name == "type" {
			return nil
		}
		return value
	})
	return jsonscan.With(schema, "type", json.RawMessage(`"object"`))
}

// properties returns a schema with objects as properties, and with a list of names as required. A name in it need not be
// described (JSON Schema Validation 2020-12, 6.5.3).
func properties(at string, schema json.RawMessage, say func(string, ...any)) json.RawMessage {
	return jsonscan.Edit(schema, func(name string, value json.RawMessage) json.RawMessage {
		at := shape.Within(at, name)
		switch name {
		case "properties":
			if value = shape.AnyObject(at, value, say); value == nil {
				return nil
			}
			return jsonscan.Edit(value, func(name string, value json.RawMessage) json.RawMessage {
				switch string(value) {
				case "true":
					return json.RawMessage("{}")
				case "false":
					return json.RawMessage(`{"not":{}}`)
				}
				if shape.KindOf(value) != "object" {
					say("%s is %s and must be an object", shape.Within(at, name), shape.Article(shape.KindOf(value)))
					return json.RawMessage("{}")
				}
				return typed(shape.Within(at, name), value, say, 0)
			})
		case "$defs", "definitions":
			return typedMembers(at, value, say, 0)
		case "required":
			return shape.List(shape.Text)(at, value, say)
		}
		return value
	})
}

// maxTyped bounds how deep a schema is looked at for names of types.
const maxTyped = 20

// typed returns the schema of a value with JSON Schema's names for types. A provider of models refuses a whole request for
// one other name.
func typed(at string, schema json.RawMessage, say func(string, ...any), depth int) json.RawMessage {
	if depth > maxTyped || shape.KindOf(schema) != "object" {
		return schema
	}
	below := func(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
		return typed(at, value, say, depth+1)
	}
	return jsonscan.Edit(schema, func(name string, value json.RawMessage) json.RawMessage {
		at := shape.Within(at, name)
		switch name {
		case "type":
			if shape.KindOf(value) == "array" {
				return shape.List(typeName)(at, value, say)
			}
			return typeName(at, value, say)
		case "items", "additionalProperties":
			return below(at, value, say)
		case "anyOf", "oneOf", "allOf":
			if shape.KindOf(value) == "array" {
				return shape.List(below)(at, value, say)
			}
		case "properties", "$defs", "definitions":
			return typedMembers(at, value, say, depth+1)
		}
		return value
	})
}

// typedMembers is typed for the schemas that are the members of an object.
func typedMembers(at string, schemas json.RawMessage, say func(string, ...any), depth int) json.RawMessage {
	if shape.KindOf(schemas) != "object" {
		return schemas
	}
	return jsonscan.Edit(schemas, func(name string, schema json.RawMessage) json.RawMessage {
		return typed(shape.Within(at, name), schema, say, depth)
	})
}

// typeName returns JSON Schema's name for a type. One that no language has stays.
func typeName(at string, value json.RawMessage, say func(string, ...any)) json.RawMessage {
	var is string
	if shape.KindOf(value) != "string" || json.Unmarshal(value, &is) != nil || quirk.Type(is) == is {
		return value
	}
	say("%s is %s and must be %s", at, shape.Clipped(is), shape.Clipped(quirk.Type(is)))
	quoted, _ := json.Marshal(quirk.Type(is)) // a string can be encoded
	return quoted
}
