package protocol

import "encoding/json"

// Server is a configured MCP server and the state of Assent's connections to it.
type Server struct {
	Name string `json:"name"`
	// Source is the file that configures the server, or "settings", or "built in" for that of
	// [Configuration.ExampleServer].
	Source string `json:"source"`
	// Transport is how the server is reached.
	Transport Transport `json:"transport"`
	// Command is the command line, or the URL, as configured, before variables are put in.
	Command string      `json:"command"`
	State   ServerState `json:"state"`
	// ProtocolVersion is the revision of MCP that the server spoke last; absent before the first
	// connection.
	ProtocolVersion string `json:"protocolVersion,omitempty"`
	// Reason says in a sentence why the state is [ServerFailed]: the text of [ServerInspection.Verdict]. If the state is
	// [ServerStarting], it says what the start waits for.
	Reason string `json:"reason,omitempty"`
	// Stderr holds the last lines that the server wrote there, where it failed.
	Stderr []string `json:"stderr,omitempty"`
}

// Transport is a way to reach a server, by the words of mcp.json's "type".
type Transport string

// The transports.
const (
	TransportStdio Transport = "stdio"
	// TransportHTTP is Streamable HTTP.
	TransportHTTP Transport = "http"
	// TransportSSE is HTTP with SSE, of 2024-11-05.
	TransportSSE Transport = "sse"
	TransportWS  Transport = "ws"
)

// ServerState is the state of a server.
type ServerState string

// The states.
const (
	// ServerStopped: no connection; the next use starts one.
	ServerStopped ServerState = "stopped"
	// ServerStarting: the process or the handshake is under way.
	ServerStarting ServerState = "starting"
	// ServerRunning: at least one connection is ready.
	ServerRunning ServerState = "running"
	// ServerFailed: the last connection could not be made, or ended by itself.
	ServerFailed ServerState = "failed"
)

// ServersChangedParams is every configured server and every fault of the configuration.
type ServersChangedParams struct {
	Servers  []Server        `json:"servers,omitempty"`
	Problems []ConfigProblem `json:"problems,omitempty"`
}

// ConfigProblem is a fault in a configuration file.
type ConfigProblem struct {
	// Source is the file, or "settings".
	Source string `json:"source"`
	// Line and Column count from 1; 0 where the fault has no place.
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// Tool is a tool of an MCP server.
type Tool struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Fields is a form for the arguments.
	Fields      []Field         `json:"fields,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	// Annotations are the server's own claims; absent if it makes none.
	Annotations *ToolAnnotations `json:"annotations,omitempty"`
	// McpTask: a call of it becomes an MCP task, by what its server says (2025-11-25, "Tasks: Tool-Level
	// Negotiation").
	McpTask bool `json:"mcpTask,omitempty"`
}

// ListKind is one of the lists that a server has.
type ListKind string

// The lists.
const (
	ListTools     ListKind = "tools"
	ListResources ListKind = "resources"
	ListPrompts   ListKind = "prompts"
)

// ServerItemsChangedParams names a list of a server that has changed.
type ServerItemsChangedParams struct {
	ServerName string   `json:"serverName"`
	List       ListKind `json:"list"`
}

// Resource is something that can be read from a server.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
	// Size is in bytes; absent if the server does not say.
	Size int64 `json:"size,omitempty"`
}

// ResourceTemplate is a URI with variables to fill in (RFC 6570).
type ResourceTemplate struct {
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// Prompt is a prompt that a server offers.
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
}

// PromptArgument is what a prompt wants to know; always a text.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}
