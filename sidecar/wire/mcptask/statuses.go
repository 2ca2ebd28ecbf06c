package mcptask

import (
	"assent/protocol"
	"assent/sidecar/wire/quirk"
)

// StatusOf returns MCP's status for the word of a server. A word that means none stays as it is.
func StatusOf(word string) protocol.McpTaskStatus {
	if s := (&State{Status: protocol.McpTaskStatus(quirk.Status(word))}); s.Valid() {
		return s.Status
	}
	return protocol.McpTaskStatus(word)
}
