package gateway

import (
	"bytes"
	"encoding/json"
	"reflect"

	"assent/sidecar/mcpserver"
)

// repeated returns a tool's result as a host's model can see all of it: a host that shows no structuredContent gets that
// as a text, too, unless a text of the result says the same. Everything else stays.
func repeated(client mcpserver.Client, result json.RawMessage) json.RawMessage {
	structured := member(result, "structuredContent")
	if structured == nil || !hidesStructured(client) {
		return result
	}
	var content []json.RawMessage
	if json.Unmarshal(member(result, "content"), &content) != nil {
		return result
	}
	for _, block := range content {
		if sameJSON(json.RawMessage(text(block, "text")), structured) {
			return result
		}
	}
	block := appendMember([]byte(`{"type":"text"`), "text", appendString(nil, string(structured)))
	return with(result, "content", array(append(content, append(block, '}'))))
}

// hidesStructured reports whether a host is known to show its model no structuredContent.
func hidesStructured(client mcpserver.Client) bool {
	for name, host := range knownHosts {
		if isNamed(client, name) {
			return host.hidesStructured
		}
	}
	return false
}

// sameJSON reports whether two texts are the same JSON. Numbers are compared as they are written.
func sameJSON(a, b json.RawMessage) bool {
	decode := func(text json.RawMessage) (value any, ok bool) {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		return value, decoder.Decode(&value) == nil
	}
	first, ok := decode(a)
	second, alsoOK := decode(b)
	return ok && alsoOK && reflect.DeepEqual(first, second)
}
