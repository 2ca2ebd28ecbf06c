package gateway

import (
	"strings"
	"time"

	"assent/sidecar/mcpserver"
)

// clock is how long a host waits for a tool.
type clock struct {
	// limit is after how long the host gives up; 0 means never.
	limit time.Duration
	// resets: progress begins the limit anew.
	resets bool
}

// unknownClock is that of hosts of which nothing is known. It is the default of the TypeScript SDK, and the shortest of
// the known hosts.
var unknownClock = clock{limit: time.Minute}

// clocks are those of known hosts, as they come. A person can change most of them.
var clocks = map[string]clock{
	"claude-code":           {},
	"copilot-cli":           {limit: 3 * time.Minute, resets: true},
	"codex-mcp-client":      {limit: 5 * time.Minute},
	"gemini-cli-mcp-client": {limit: 10 * time.Minute},
	"opencode":              {limit: time.Minute, resets: true},
	"qwen-cli-mcp-client":   {limit: 5 * time.Minute, resets: true},
	"Visual Studio Code":    {},
}

// clockOf returns the clock of a host.
func clockOf(client mcpserver.Client) clock {
	for name, c := range clocks {
		if client.Name == name || strings.HasPrefix(client.Name, name+"-") {
			return c
		}
	}
	return unknownClock
}

// patience returns for how long a call of a host can go on before the host gives it up, with a margin. It is 0 if there
// is no limit.
func (c clock) patience(hasProgress bool) time.Duration {
	if c.limit == 0 || c.resets && hasProgress {
		return 0
	}
	return c.limit - c.limit/6
}
