package gateway

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"assent/sidecar/gateway/mcpserver"
)

// clock is how long a host waits for a tool.
type clock struct {
	// limit is after how long the host gives up; 0 means never.
	limit time.Duration
	// resets: each progress notification restarts the limit.
	resets bool
}

// unknownClock is that of hosts of which nothing is known. It is the default of the TypeScript SDK, and the shortest of
// the known hosts.
var unknownClock = clock{limit: time.Minute}

// knownHosts are those of which something is known, by the name that they send, with their clocks as they come. A person can
// change most of the clocks.
var knownHosts = map[string]struct {
	title string
	clock clock
	// hidesStructured: the model sees no structuredContent.
	hidesStructured bool
	// losesTaskErrors: it makes an MCP task of each call that can be one, and its model does not see what an MCP task says that
	// failed.
	losesTaskErrors bool
}{
	"claude-code":           {title: "Claude Code"},
	"copilot-cli":           {title: "Copilot CLI", clock: clock{limit: 3 * time.Minute, resets: true}},
	"codex-mcp-client":      {title: "Codex", clock: clock{limit: 5 * time.Minute}},
	"gemini-cli-mcp-client": {title: "Gemini CLI", clock: clock{limit: 10 * time.Minute}, hidesStructured: true},
	"opencode":              {title: "opencode", clock: clock{limit: time.Minute, resets: true}, hidesStructured: true},
	"qwen-cli-mcp-client":   {title: "Qwen Code", clock: clock{limit: 5 * time.Minute, resets: true}},
	"Visual Studio Code":    {title: "VS Code", losesTaskErrors: true},
	"VSCodium":              {title: "VS Code", losesTaskErrors: true},
	"code-server":           {title: "VS Code", losesTaskErrors: true},
}

// isNamed reports whether a client has the name of a host. Some hosts add a suffix for each server, and VS Code one for each
// channel.
func isNamed(client mcpserver.Client, name string) bool {
	return client.Name == name || strings.HasPrefix(client.Name, name+"-") || strings.HasPrefix(client.Name, name+" - ")
}

// clockOf returns the clock of a host.
func clockOf(client mcpserver.Client) clock {
	for name, host := range knownHosts {
		if isNamed(client, name) {
			return host.clock
		}
	}
	return unknownClock
}

// HostTitle returns the name of a host for a person.
func HostTitle(client mcpserver.Client) string {
	for name, host := range knownHosts {
		if isNamed(client, name) {
			return host.title
		}
	}
	return cmp.Or(client.Title, client.Name, "A host")
}

// patience returns for how long a call of a host can go on before the host gives it up, with a margin. It is 0 if there
// is no limit.
func (c clock) patience(hasProgress bool) time.Duration {
	if c.limit == 0 || c.resets && hasProgress {
		return 0
	}
	return c.limit - c.limit/6
}

// CallsTools reports whether a host declared that its models can call tools (2025-11-25, "Sampling").
func CallsTools(client mcpserver.Client) bool {
	return member(member(client.Capabilities, "sampling"), "tools") != nil
}

// Roots returns what a host declared about roots; nil if it has none.
func Roots(client mcpserver.Client) json.RawMessage { return member(client.Capabilities, "roots") }

// takes reports whether a host declared that it can answer a request.
func takes(client mcpserver.Client, method string, params json.RawMessage) bool {
	switch method {
	case "roots/list":
		return Roots(client) != nil
	case "elicitation/create":
		declared := member(client.Capabilities, "elicitation")
		if text(params, "mode") == "url" {
			return member(declared, "url") != nil
		}
		return declared != nil && (member(declared, "form") != nil || member(declared, "url") == nil)
	case "sampling/createMessage":
		declared := member(client.Capabilities, "sampling")
		return declared != nil && (member(params, "tools") == nil || CallsTools(client))
	}
	return false
}
