package gateway

import (
	"encoding/json"
	"slices"
	"strings"

	"assent/sidecar/base/jsonscan"
)

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
	rest = jsonscan.Edit(params, func(name string, value json.RawMessage) json.RawMessage {
		// A server may read the names of members in any case.
		if slices.ContainsFunc(clientWords, func(word string) bool { return strings.EqualFold(name, word) }) {
			return nil
		}
		if name != "_meta" || value[0] != '{' {
			return value
		}
		if token := jsonscan.Member(value, "progressToken"); token != nil && strings.ContainsRune(`"-0123456789`, rune(token[0])) {
			progressToken = token
		}
		meta := jsonscan.Edit(value, func(name string, value json.RawMessage) json.RawMessage {
			if ownMeta[name] {
				return nil
			}
			return value
		})
		for range jsonscan.Of(meta) {
			return meta
		}
		return nil // it has no members
	})
	return rest, progressToken
}
