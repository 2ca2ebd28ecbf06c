package protocol

import "encoding/json"

// Server is a configured MCP server and the state of Assent's connections to it.
type Server struct {
	Name string `json:"name"`
	// Source is the file that configures the server, "settings", or "built in" for
	// [Configuration.ExampleServer].
	Source string `json:"source"`
	// Transport is how the server is reached.
	Transport Transport `json:"transport"`
	// Command is the command line or the URL, as configured, with its variables unreplaced.
	Command string      `json:"command"`
	State   ServerState `json:"state"`
	// ProtocolVersion is the server's last MCP revision; absent before the first connection.
	ProtocolVersion string `json:"protocolVersion,omitempty"`
	// Reason says in a sentence why the state is [ServerFailed]: the text of [ServerInspection.Verdict]. In
	// [ServerStarting], it says what the start is waiting for.
	Reason string `json:"reason,omitempty"`
	// Stderr holds the server's last lines on stderr, if it failed.
	Stderr []string `json:"stderr,omitempty"`
	// IconsRevision grows when [Sidecar.ListIcons] has other icons; absent before the server had any.
	IconsRevision int64 `json:"iconsRevision,omitempty"`
	// Hides is the person's own server that this one hides; absent if it hides none.
	Hides *HiddenServer `json:"hides,omitempty"`
	// Blocked says in a sentence that the organisation does not let the server be used here, with the file and the entry;
	// absent if it does.
	Blocked string `json:"blocked,omitempty"`
}

// Transport is the transport of a server, with the names of mcp.json's "type".
type Transport string

// The transports.
const (
	TransportStdio Transport = "stdio"
	// TransportHTTP is Streamable HTTP.
	TransportHTTP Transport = "http"
	// TransportSSE is HTTP with SSE, of revision 2024-11-05.
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
	// ServerFailed: the last connection failed, or ended on its own.
	ServerFailed ServerState = "failed"
)

// ServersChangedParams lists all configured servers and all errors in the configuration.
type ServersChangedParams struct {
	Servers  []Server        `json:"servers,omitempty"`
	Problems []ConfigProblem `json:"problems,omitempty"`
}

// ConfigProblem is an error in a configuration file.
type ConfigProblem struct {
	// Source is the file, or "settings".
	Source string `json:"source"`
	// Line and Column count from 1; 0 if the error has no position.
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// Tool is a tool of an MCP server.
type Tool struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Fields is a form for the arguments. MoreArguments: the tool may take others, which a front end lets the person write as a
	// JSON object.
	Fields        []Field         `json:"fields,omitempty"`
	MoreArguments bool            `json:"moreArguments,omitempty"`
	InputSchema   json.RawMessage `json:"inputSchema,omitempty"`
	// OutputSchema is for Assent alone, which compares it.
	OutputSchema json.RawMessage `json:"-"`
	// Annotations are the server's own claims; absent if it makes none.
	Annotations *ToolAnnotations `json:"annotations,omitempty"`
	// McpTask: a call of the tool becomes an MCP task, according to the server (2025-11-25, "Tasks:
	// Tool-Level Negotiation").
	McpTask bool `json:"mcpTask,omitempty"`
	// AppURI is the ui:// URI of the tool's MCP App; absent if it has none.
	AppURI string `json:"appUri,omitempty"`
	// NotForModels and NotForApps: the server offers the tool to others alone (SEP-1865, visibility).
	NotForModels bool `json:"notForModels,omitempty"`
	NotForApps   bool `json:"notForApps,omitempty"`
}

// ListKind is a list of a server.
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

// Resource is a resource that a server offers.
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

// PromptArgument is an argument of a prompt. Its value is always a text.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}
