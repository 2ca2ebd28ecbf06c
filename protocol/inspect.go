package protocol

// ServerInspection holds all facts about a server that are known without starting it. Texts of the server are bounded,
// have no control characters, and contain nothing that looks like a secret.
type ServerInspection struct {
	Server Server `json:"server"`
	// Line is the server's line in [Server.Source], counted from 1; absent if that is not a file.
	Line int `json:"line,omitempty"`
	// Verdict is why the server does not start, or would not; absent if no reason is known.
	Verdict *ServerVerdict `json:"verdict,omitempty"`
	// Warnings are sentences on probable mistakes in its configuration, such as a variable that is not set.
	Warnings []string `json:"warnings,omitempty"`
	// Launch is set for a server on [TransportStdio], Endpoint for every other.
	Launch   *ServerLaunch   `json:"launch,omitempty"`
	Endpoint *ServerEndpoint `json:"endpoint,omitempty"`
	// Handshake is the last one; absent before the first connection.
	Handshake *ServerHandshake `json:"handshake,omitempty"`
	// Connections are those that are ready, the oldest first, and Calls the calls under way on them.
	Connections []ServerConnection `json:"connections,omitempty"`
	Calls       []ServerCall       `json:"calls,omitempty"`
	Counts      ServerCounts       `json:"counts"`
	// LastFailure is present even if the server has started again since.
	LastFailure *ServerFailure `json:"lastFailure,omitempty"`
	// Log holds the last lines, the oldest first: 200 at most. LogDropped counts those before them.
	Log        []ServerLogLine `json:"log,omitempty"`
	LogDropped int64           `json:"logDropped,omitempty"`
	// Ports are those of this machine that the configuration or the last failure names.
	Ports []PortUse `json:"ports,omitempty"`
	// Orphans are processes of the same command without a parent that waits for them. Assent does not end
	// them.
	Orphans []ServerProcess `json:"orphans,omitempty"`
	// MachineUnknown: this system does not show which processes listen on Ports, or which are
	// Orphans.
	MachineUnknown bool `json:"machineUnknown,omitempty"`
}

// ServerVerdict is why a server does not start.
type ServerVerdict struct {
	Kind VerdictKind `json:"kind"`
	// Text says in a sentence why the server does not start, WayOut what to do.
	Text   string `json:"text"`
	WayOut string `json:"wayOut"`
}

// VerdictKind is a kind of [ServerVerdict].
type VerdictKind string

// The kinds.
const (
	// VerdictNotFound: there is no such program, or no such folder to start it in.
	VerdictNotFound VerdictKind = "notFound"
	// VerdictNotExecutable: the file exists but cannot be run.
	VerdictNotExecutable VerdictKind = "notExecutable"
	// VerdictExited: the process ended before or during the handshake.
	VerdictExited VerdictKind = "exited"
	// VerdictSilent: the server did not answer the handshake.
	VerdictSilent VerdictKind = "silent"
	// VerdictNoMcp: the answer to the handshake is not an MCP message.
	VerdictNoMcp VerdictKind = "noMcp"
	// VerdictRefused: the server refused the handshake.
	VerdictRefused VerdictKind = "refused"
	// VerdictVersion: the two sides have no revision of MCP in common.
	VerdictVersion VerdictKind = "version"
	// VerdictPortInUse: another process listens on the server's port.
	VerdictPortInUse VerdictKind = "portInUse"
	// VerdictUnreachable: no MCP server answers at the URL.
	VerdictUnreachable VerdictKind = "unreachable"
	// VerdictLogin: the server requires sign-in.
	VerdictLogin VerdictKind = "login"
	// VerdictInput: the configuration needs an input value that the person did not give.
	VerdictInput VerdictKind = "input"
	// VerdictUnconfirmed: the person has not confirmed that the server may run as it is configured.
	VerdictUnconfirmed VerdictKind = "unconfirmed"
	// VerdictBlocked: the organisation does not let the server be used.
	VerdictBlocked VerdictKind = "blocked"
	// VerdictLost: the server was running, and ended on its own.
	VerdictLost VerdictKind = "lost"
	// VerdictMended: the cause of the last failure is gone.
	VerdictMended VerdictKind = "mended"
	VerdictOther  VerdictKind = "other"
)

// ServerLaunch is how a server's process is started.
type ServerLaunch struct {
	// Path is the program that a start would run; absent if there is none.
	Path string `json:"path,omitempty"`
	// FoundBy is where the program was found.
	FoundBy ProgramPlace `json:"foundBy,omitempty"`
	// Manager is the version manager that the program belongs to, as in "nvm"; absent if it belongs to none.
	Manager string `json:"manager,omitempty"`
	// Args are as configured, with all variables replaced except those that hold secrets.
	Args []string `json:"args,omitempty"`
	// Cwd is absolute; absent if it is the sidecar's own.
	Cwd string `json:"cwd,omitempty"`
	// EnvNames are the variables that the configuration sets. Their values are not included.
	EnvNames []string `json:"envNames,omitempty"`
	// Searched are the folders that were searched without success, in order.
	Searched []string `json:"searched,omitempty"`
	// NearMisses are sentences on programs that may be meant instead.
	NearMisses []string `json:"nearMisses,omitempty"`
	// Problem says why there is no program, or why it is unknown without asking the person.
	Problem string `json:"problem,omitempty"`
}

// ProgramPlace is where a program was found.
type ProgramPlace string

// The places.
const (
	// FoundByPath: the command is a path.
	FoundByPath ProgramPlace = "path"
	// FoundInPATH: in the PATH that the server gets.
	FoundInPATH ProgramPlace = "PATH"
	// FoundInLoginShell: only in what the startup files of the person's shell add to PATH.
	FoundInLoginShell ProgramPlace = "loginShell"
	// FoundInUsualFolder: only in a usual folder for programs.
	FoundInUsualFolder ProgramPlace = "usualFolder"
)

// ServerEndpoint is the URL of a server that Assent does not start.
type ServerEndpoint struct {
	// URL is as configured, without its query and user.
	URL string `json:"url"`
	// HeaderNames are the headers that the configuration sets. Their values are not included.
	HeaderNames []string `json:"headerNames,omitempty"`
}

// ServerHandshake is the server's description of itself.
type ServerHandshake struct {
	Era             ServerEra `json:"era"`
	ProtocolVersion string    `json:"protocolVersion"`
	// Name, Title and Version are the server's Implementation; absent if it gives none.
	Name    string `json:"name,omitempty"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version,omitempty"`
	// Capabilities are the names of its capabilities, nested ones with a dot: "tools.listChanged".
	Capabilities []string `json:"capabilities,omitempty"`
	// Instructions are at most the first 4,000 characters of the server's instructions for a model.
	Instructions string `json:"instructions,omitempty"`
}

// ServerEra is one of the two eras of MCP.
type ServerEra string

// The eras.
const (
	// EraModern is 2026-07-28 and later: without a handshake, questions in results.
	EraModern ServerEra = "modern"
	// EraLegacy is 2024-11-05 to 2025-11-25: with initialize, questions as requests.
	EraLegacy ServerEra = "legacy"
)

// ServerConnection is a connection that is ready.
type ServerConnection struct {
	// TaskID and Title are of the conversation that it belongs to; absent if it serves all.
	TaskID string `json:"taskId,omitempty"`
	Title  string `json:"title,omitempty"`
	Since  int64  `json:"since"`
	// PID is that of the server's process; absent if Assent did not start it.
	PID int64 `json:"pid,omitempty"`
	// OpenAsks counts the server's open asks, in this conversation or in all.
	OpenAsks int64 `json:"openAsks,omitempty"`
}

// ServerCall is a call under way.
type ServerCall struct {
	TaskID string `json:"taskId"`
	// Title is of the conversation; absent if it has none yet.
	Title     string `json:"title,omitempty"`
	MessageID int64  `json:"messageId"`
	// ToolName or ResourceURI is set. Both are absent for a prompt.
	ToolName    string `json:"toolName,omitempty"`
	ResourceURI string `json:"resourceUri,omitempty"`
	Since       int64  `json:"since"`
}

// ServerCounts are the lengths of a server's lists. A count is absent if the list has not been read
// since the sidecar started, or has changed since.
type ServerCounts struct {
	Tools     *int64 `json:"tools,omitempty"`
	Resources *int64 `json:"resources,omitempty"`
	Prompts   *int64 `json:"prompts,omitempty"`
}

// ServerFailure is how a connection failed or ended on its own.
type ServerFailure struct {
	At     int64  `json:"at"`
	Reason string `json:"reason"`
	// ExitCode is the exit code of the process; absent if the process did not end on its own.
	ExitCode *int64 `json:"exitCode,omitempty"`
	// Stderr holds the last lines of stderr. Stdout holds the first lines of stdout, or of the network, that are not
	// MCP.
	Stderr []string `json:"stderr,omitempty"`
	Stdout []string `json:"stdout,omitempty"`
}

// ServerLogLine is a line that a server wrote.
type ServerLogLine struct {
	At   int64         `json:"at"`
	From ServerLogFrom `json:"from"`
	// Level is MCP's logging level; only with [LogMessage].
	Level string `json:"level,omitempty"`
	// Text is one line: 2,000 characters at most.
	Text string `json:"text"`
}

// ServerLogFrom is where a line came from.
type ServerLogFrom string

// The sources.
const (
	LogStderr ServerLogFrom = "stderr"
	// LogStdout: the line came from stdout or the network, and is not MCP or matches no request.
	LogStdout ServerLogFrom = "stdout"
	// LogMessage is a notifications/message ("Logging").
	LogMessage ServerLogFrom = "message"
	// LogAssent is an action of Assent.
	LogAssent ServerLogFrom = "assent"
)

// PortUse says which processes listen on a port of this machine.
type PortUse struct {
	Port int64 `json:"port"`
	// By are the listening processes; absent if none is visible to this user of the system.
	By []ServerProcess `json:"by,omitempty"`
	// Listening reports that a process listens.
	Listening bool `json:"listening"`
}

// ServerProcess is a process of this machine.
type ServerProcess struct {
	PID int64 `json:"pid"`
	// Name is the system's name for the process.
	Name string `json:"name"`
	// Since is when the process started; absent if unknown.
	Since int64 `json:"since,omitempty"`
	// Own: this sidecar started the process for the server.
	Own bool `json:"own,omitempty"`
}
