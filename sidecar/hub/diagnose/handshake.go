package diagnose

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/wire"
)

const (
	// maxInstructions is the most bytes of a server's instructions that are shown, and maxCapabilities the most names.
	maxInstructions = 4000
	maxCapabilities = 100
	// maxName is the most bytes of a server's own name.
	maxName = 200
)

// shownEndpoint leaves out of an address what may be a secret in it. Variables stay as they are written.
func shownEndpoint(c config.Server) *protocol.ServerEndpoint {
	shown, query, _ := strings.Cut(c.URL, "?")
	if query != "" {
		shown += "?…"
	}
	if scheme, rest, ok := strings.Cut(shown, "://"); ok {
		authority, path, _ := strings.Cut(rest, "/")
		if _, host, ok := strings.Cut(authority, "@"); ok {
			shown = scheme + "://…@" + host + "/" + path
		}
	}
	return &protocol.ServerEndpoint{URL: shown, HeaderNames: slices.Sorted(maps.Keys(c.Headers))}
}

// Handshake reads an InitializeResult or a DiscoverResult (2026-07-28, "Discovery").
func Handshake(h *wire.Handshake) *protocol.ServerHandshake {
	type implementation struct{ Name, Title, Version string }
	var result struct {
		Capabilities map[string]json.RawMessage `json:"capabilities"`
		ServerInfo   implementation             `json:"serverInfo"`
		Instructions string                     `json:"instructions"`
		Meta         struct {
			ServerInfo implementation `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	shown := &protocol.ServerHandshake{Era: protocol.EraLegacy, ProtocolVersion: h.Version}
	if h.Era == wire.EraModern {
		shown.Era = protocol.EraModern
	}
	if json.Unmarshal(h.Result, &result) != nil {
		return shown // go-sdk understood it otherwise
	}
	who := result.ServerInfo
	if who.Name == "" {
		who = result.Meta.ServerInfo
	}
	shown.Name, shown.Title, shown.Version = plain(Clip(who.Name, maxName)), plain(Clip(who.Title, maxName)), plain(Clip(who.Version, maxName))
	shown.Capabilities = capabilityNames(result.Capabilities)
	var lines []string // line breaks are kept
	for line := range strings.Lines(Clip(result.Instructions, maxInstructions)) {
		lines = append(lines, plain(strings.TrimRight(line, "\r\n")))
	}
	shown.Instructions = strings.Join(lines, "\n")
	return shown
}

// capabilityNames returns the names of capabilities, and of the true or present members of each.
func capabilityNames(capabilities map[string]json.RawMessage) []string {
	var names []string
	for name, raw := range capabilities {
		names = append(names, name)
		var within map[string]json.RawMessage
		if json.Unmarshal(raw, &within) != nil {
			continue
		}
		for inner, value := range within {
			if text := string(value); text != "false" && text != "null" {
				names = append(names, name+"."+inner)
			}
		}
	}
	slices.Sort(names)
	names = names[:min(len(names), maxCapabilities)]
	for i := range names {
		names[i] = plain(Clip(names[i], maxName))
	}
	return names
}
