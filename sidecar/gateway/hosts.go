package gateway

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"assent/sidecar/base/jsonscan"
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

// knownHost describes a host.
type knownHost struct {
	title string
	// program is its name in the table of package importer.
	program string
	clock   clock
	// session is the variable of the environment of its servers that names the conversation, or "".
	session string
	// hidesStructured: the model sees no structuredContent.
	hidesStructured bool
	// losesTaskErrors: it makes an MCP task of each call that can be one, and its model does not see what an MCP task says that
	// failed.
	losesTaskErrors bool
}

// knownHosts are those of which something is known, by the name that they send, with their clocks as they come. A person can
// change most of the clocks.
var knownHosts = map[string]knownHost{
	"claude-code":           {title: "Claude Code", program: "claude-code", session: "CLAUDE_CODE_SESSION_ID"},
	"copilot-cli":           {title: "Copilot CLI", program: "copilot-cli", session: "COPILOT_AGENT_SESSION_ID", clock: clock{limit: 3 * time.Minute, resets: true}},
	"codex-mcp-client":      {title: "Codex", program: "codex", clock: clock{limit: 5 * time.Minute}},
	"gemini-cli-mcp-client": {title: "Gemini CLI", program: "gemini-cli", clock: clock{limit: 10 * time.Minute}, hidesStructured: true},
	"opencode":              {title: "opencode", program: "opencode", clock: clock{limit: time.Minute, resets: true}, hidesStructured: true},
	"qwen-cli-mcp-client":   {title: "Qwen Code", program: "qwen-code", session: "QWEN_CODE_SESSION_ID", clock: clock{limit: 5 * time.Minute, resets: true}},
	"Visual Studio Code":    {title: "VS Code", program: "vscode", losesTaskErrors: true},
	"VSCodium":              {title: "VS Code", program: "vscode", losesTaskErrors: true},
	"code-server":           {title: "VS Code", program: "vscode", losesTaskErrors: true},
}

// isNamed reports whether a client has the name of a host. Some hosts add a suffix for each server, and VS Code one for each
// channel.
func isNamed(client mcpserver.Client, name string) bool {
	return client.Name == name || strings.HasPrefix(client.Name, name+"-") || strings.HasPrefix(client.Name, name+" - ")
}

// known returns the description of a host, which may be one of which little is known.
func known(client mcpserver.Client) knownHost {
	for name, host := range knownHosts {
		if isNamed(client, name) {
			return host
		}
	}
	return knownHost{title: cmp.Or(client.Title, client.Name, "A host"), clock: unknownClock}
}

// HostTitle returns the name of a host for a person.
func HostTitle(client mcpserver.Client) string { return known(client).title }

// Program returns the name of a host in the table of package importer, or "" for one of which nothing is known. It is the
// client's own claim.
func Program(client mcpserver.Client) string { return known(client).program }

// SessionVariables returns the names of the variables with which hosts name their conversations to the programs that they
// start. The values are for [mcpserver.Options].
func SessionVariables() (names []string) {
	for _, host := range knownHosts {
		if host.session != "" {
			names = append(names, host.session)
		}
	}
	return names
}

// conversations is the namespace of the UUIDs of conversations.
var conversations = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://modelcontextprotocol.io/#conversation-of-a-host"))

// conversationOf identifies the conversation that a request belongs to; see [Request]. A thread that the request names counts
// first: Codex has several in a session. A variable counts only if it is the host's own, because what a host starts inherits
// its environment, and may be another host.
func conversationOf(r *mcpserver.Request) string {
	meta := jsonscan.Member(r.Params, "_meta")
	host := known(r.Client)
	name := cmp.Or(jsonscan.Text(meta, "threadId"), jsonscan.Text(jsonscan.Member(meta, "x-codex-turn-metadata"), "thread_id"), r.Session.Environment[host.session])
	if name == "" {
		return ""
	}
	return ConversationNamed(r.Session.Credential, host.title, name)
}

// ConversationNamed identifies the conversation to which a host gives a name; see [Sender]. The credential is "" for a host
// that is not on HTTP.
func ConversationNamed(credential, hostTitle, name string) string {
	return uuid.NewSHA1(conversations, []byte(strings.Join([]string{credential, hostTitle, name}, "\x00"))).String()
}

// waitLimit returns for how long a call of a host can go on before the host gives it up, with a margin. It is 0 if there
// is no limit.
func (c clock) waitLimit(hasProgress bool) time.Duration {
	if c.limit == 0 || c.resets && hasProgress {
		return 0
	}
	return c.limit - c.limit/6
}

// CallsTools reports whether a host declared that its models can call tools (2025-11-25, "Sampling").
func CallsTools(client mcpserver.Client) bool {
	return jsonscan.Member(jsonscan.Member(client.Capabilities, "sampling"), "tools") != nil
}

// Roots returns what a host declared about roots; nil if it has none.
func Roots(client mcpserver.Client) json.RawMessage {
	return jsonscan.Member(client.Capabilities, "roots")
}

// takes reports whether a host declared that it can answer a request.
func takes(client mcpserver.Client, method string, params json.RawMessage) bool {
	switch method {
	case "roots/list":
		return Roots(client) != nil
	case "elicitation/create":
		declared := jsonscan.Member(client.Capabilities, "elicitation")
		if jsonscan.Text(params, "mode") == "url" {
			return jsonscan.Member(declared, "url") != nil
		}
		return declared != nil && (jsonscan.Member(declared, "form") != nil || jsonscan.Member(declared, "url") == nil)
	case "sampling/createMessage":
		declared := jsonscan.Member(client.Capabilities, "sampling")
		return declared != nil && (jsonscan.Member(params, "tools") == nil || CallsTools(client))
	}
	return false
}
