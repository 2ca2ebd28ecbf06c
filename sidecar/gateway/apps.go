package gateway

import (
	"encoding/json"
	"slices"

	"assent/sidecar/base/jsonscan"
	"assent/sidecar/gateway/mcpserver"
)

// appsExtension is the capability of hosts that show MCP Apps (SEP-1865).
const appsExtension = "io.modelcontextprotocol/ui"

// showsApps reports whether a host can show MCP Apps. What servers say of them goes to every host as it is.
func showsApps(client mcpserver.Client) bool {
	return jsonscan.Member(jsonscan.Member(client.Capabilities, "extensions"), appsExtension) != nil
}

// showsAppForms reports whether a host shows an app that a server offers for its form (draft SEP-3118).
func showsAppForms(client mcpserver.Client) bool {
	return jsonscan.Member(jsonscan.Member(jsonscan.Member(client.Capabilities, "extensions"), appsExtension), "elicitation") != nil
}

// isFor reports whether a host gets a tool. One that its server keeps from models is for hosts that know what that means:
// others would offer it to their models.
func isFor(client mcpserver.Client, tool json.RawMessage) bool {
	visibility := jsonscan.Member(jsonscan.Member(jsonscan.Member(tool, "_meta"), "ui"), "visibility")
	var who []string
	if visibility == nil || json.Unmarshal(visibility, &who) != nil || who == nil {
		return true
	}
	return slices.Contains(who, "model") || showsApps(client)
}
