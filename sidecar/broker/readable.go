package broker

import (
	"encoding/json"
	"maps"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/broker/form"
)

// This file reads parts of requests that are clear, although MCP has them in another form.

// readableBlock returns a content block: a text for a text, and a tool's result with a list of blocks. A block of a kind
// that MCP does not have becomes a text with its JSON.
func readableBlock(raw json.RawMessage) json.RawMessage {
	switch {
	case isText(raw):
		return asTextBlock(raw)
	case !isObject(raw):
		return raw
	}
	members := maps.Collect(jsonscan.Of(raw))
	content := members["content"]
	switch {
	case string(members["type"]) == `"tool_use"`:
		return encoded(withInput(members), raw)
	case string(members["type"]) != `"tool_result"` || content == nil:
		return raw
	}
	parts := []json.RawMessage{}
	switch {
	case isText(content), isObject(content):
		parts = append(parts, readablePart(content))
	case content[0] == '[':
		for part := range jsonscan.Elements(content) {
			parts = append(parts, readablePart(part))
		}
	case string(content) != "null":
		return raw
	}
	members["content"] = encoded(parts, content)
	return encoded(members, raw)
}

// withInput returns a tool_use with an object as its input: an empty one for none, which PHP writes as [], and that of a text
// with JSON, as OpenAI has it.
func withInput(members map[string]json.RawMessage) map[string]json.RawMessage {
	input := members["input"]
	var text string
	if isText(input) && json.Unmarshal(input, &text) == nil && json.Valid([]byte(text)) {
		input = json.RawMessage(text)
	}
	if said := string(input); said == "" || said == "null" || said == "[]" {
		input = json.RawMessage("{}")
	}
	members["input"] = input
	return members
}

// readablePart returns a block of a tool's result.
func readablePart(raw json.RawMessage) json.RawMessage {
	if isText(raw) {
		return asTextBlock(raw)
	}
	if isObject(raw) {
		var kind string
		_ = json.Unmarshal(maps.Collect(jsonscan.Of(raw))["type"], &kind) // another value is no kind
		switch kind {
		case "text", "image", "audio", "resource", "resource_link":
			return raw
		}
	}
	return asTextBlock(encoded(string(raw), raw))
}

func asTextBlock(text json.RawMessage) json.RawMessage {
	return encoded(map[string]json.RawMessage{"type": json.RawMessage(`"text"`), "text": text}, text)
}

// preferences are a server's wishes for a model. A wish that cannot be read is left out.
type preferences struct{ *protocol.ModelPreferences }

// UnmarshalJSON implements [json.Unmarshaler].
func (p *preferences) UnmarshalJSON(raw []byte) error {
	if !isObject(raw) {
		return nil
	}
	p.ModelPreferences = &protocol.ModelPreferences{}
	for name, value := range jsonscan.Of(raw) {
		switch name {
		case "hints":
			p.Hints = readHints(value)
		case "costPriority":
			p.CostPriority = readNumber(value)
		case "speedPriority":
			p.SpeedPriority = readNumber(value)
		case "intelligencePriority":
			p.IntelligencePriority = readNumber(value)
		}
	}
	return nil
}

func readHints(raw json.RawMessage) []protocol.ModelHint {
	if !isObject(raw) && !isText(raw) && raw[0] != '[' {
		return nil
	}
	hints := []json.RawMessage{raw}
	if raw[0] == '[' {
		hints = nil
		for hint := range jsonscan.Elements(raw) {
			hints = append(hints, hint)
		}
	}
	var read []protocol.ModelHint
	for _, hint := range hints {
		var h protocol.ModelHint
		if isText(hint) {
			_ = json.Unmarshal(hint, &h.Name) // it is a text
		} else if !isObject(hint) || jsonscan.Unmarshal(hint, &h) != nil {
			continue
		}
		read = append(read, h)
	}
	return read
}

// plain is a text. Another value is its JSON.
type plain string

// UnmarshalJSON implements [json.Unmarshaler].
func (p *plain) UnmarshalJSON(raw []byte) error {
	if !isText(raw) {
		*p = plain(raw)
		return nil
	}
	return json.Unmarshal(raw, (*string)(p))
}

func readNumber(raw json.RawMessage) *float64 {
	var n *float64
	if json.Unmarshal(raw, &n) != nil {
		return nil
	}
	return n
}

// readableSchema returns the inputSchema of a tool as providers of models take it: of one without any, that of an object, with
// an object for the properties that PHP writes as [], with the type "object", and without anyOf and its like at the root.
func readableSchema(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "[]" {
		return json.RawMessage(`{"type":"object"}`)
	}
	if !isObject(raw) {
		return raw
	}
	raw = jsonscan.Edit(raw, func(name string, value json.RawMessage) json.RawMessage {
		if name == "properties" && string(value) == "[]" {
			return json.RawMessage("{}")
		}
		return value
	})
	raw, _ = form.Flat(raw)
	if jsonscan.Text(raw, "type") != "object" {
		raw = jsonscan.With(raw, "type", json.RawMessage(`"object"`))
	}
	return raw
}

func isText(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// encoded encodes a value. It returns otherwise if that is impossible.
func encoded(value any, otherwise json.RawMessage) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil {
		return otherwise
	}
	return raw
}
