package gateway

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"assent/sidecar/base/jsonscan"
)

// edit returns an object with other values for some members. Change returns a member's new value, or nil to leave the
// member out. All other bytes stay, except white space between members.
func edit(object json.RawMessage, change func(name string, value json.RawMessage) json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	for name, value := range jsonscan.Of(object) {
		if value = change(name, value); value != nil {
			out = appendMember(out, name, value)
		}
	}
	return append(out, '}')
}

// with returns an object with one member set.
func with(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	isSet := false
	out := edit(object, func(n string, v json.RawMessage) json.RawMessage {
		if n == name {
			isSet = true
			return value
		}
		return v
	})
	if isSet {
		return out
	}
	return append(appendMember(out[:len(out)-1], name, value), '}')
}

// appendMember appends a member to an object that is not closed yet.
func appendMember(object []byte, name string, value json.RawMessage) []byte {
	if len(object) > 1 {
		object = append(object, ',')
	}
	object = append(appendString(object, name), ':')
	return append(object, value...)
}

func appendString(to []byte, text string) []byte {
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string can be encoded
	return append(to, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
}

// array returns an array of values, byte for byte: encoding/json would escape some signs.
func array(values []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, value := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, value...)
	}
	return append(out, ']')
}

// member returns the value of a member, or nil. The object may be nil.
func member(object json.RawMessage, name string) json.RawMessage {
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	var found json.RawMessage
	for n, value := range jsonscan.Of(object) {
		if n == name {
			found = value // the last one counts, as in encoding/json
		}
	}
	return found
}

// text returns a member that is a string, or "".
func text(object json.RawMessage, name string) string {
	var s string
	if json.Unmarshal(member(object, name), &s) != nil {
		return ""
	}
	return s
}

// ownMeta are the members of _meta that concern one connection alone.
var ownMeta = map[string]bool{
	"progressToken": true,
	"io.modelcontextprotocol/protocolVersion":    true,
	"io.modelcontextprotocol/clientInfo":         true,
	"io.modelcontextprotocol/clientCapabilities": true,
	"io.modelcontextprotocol/related-task":       true,
}

// clientWords are the members of params with which a client answers a server's questions and asks for an MCP task. In a host's
// request they would be answers that no person gave, so Assent alone sends them.
var clientWords = []string{"inputResponses", "requestState", "task"}

// passable returns the params of a host's request without the members that only Assent may send, and the progress token.
func passable(params json.RawMessage) (rest, progressToken json.RawMessage) {
	if len(params) == 0 || params[0] != '{' {
		return params, nil
	}
	rest = edit(params, func(name string, value json.RawMessage) json.RawMessage {
		// A server may read the names of members in any case.
		if slices.ContainsFunc(clientWords, func(word string) bool { return strings.EqualFold(name, word) }) {
			return nil
		}
		if name != "_meta" || value[0] != '{' {
			return value
		}
		progressToken = member(value, "progressToken")
		meta := edit(value, func(name string, value json.RawMessage) json.RawMessage {
			if ownMeta[name] {
				return nil
			}
			return value
		})
		if len(meta) == len("{}") {
			return nil
		}
		return meta
	})
	return rest, progressToken
}
