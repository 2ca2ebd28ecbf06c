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
	// Launch is of a server on [TransportStdio], Endpoint of every other.
	Launch   *ServerLaunch   `json:"launch,omitempty"`
	Endpoint *ServerEndpoint `json:"endpoint,omitempty"`
	// Handshake is the last one; absent before the first connection.
	Handshake *ServerHandshake `json:"handshake,omitempty"`
	// Connections are those that are ready, the oldest first, and Calls the calls under way on them.
	Connections []ServerConnection `json:"connections,omitempty"`
	Calls       []ServerCall       `json:"calls,omitempty"`
	Counts      ServerCounts       `json:"counts"`
	// LastFailure is present even if the server was started again since.
	LastFailure *ServerFailure `json:"lastFailure,omitempty"`
	// Log holds the last lines, the oldest first: 200 at most. LogDropped counts those before them.
	Log        []ServerLogLine `json:"log,omitempty"`
	LogDropped int64           `json:"logDropped,omitempty"`
	// Ports are those of this machine that the configuration or the last failure names.
	Ports []PortUse `json:"ports,omitempty"`
	// Orphans are processes of the same command without a parent that waits for them. Assent ends none of them.
	Orphans []ServerProcess `json:"orphans,omitempty"`
	// MachineUnknown: who listens on Ports, and Orphans, cannot be found out on this system.
	MachineUnknown bool `json:"machineUnknown,omitempty"`
}

// ServerVerdict is why a server does not start.
type ServerVerdict struct {
	Kind VerdictKind `json:"kind"`
	// Text is a sentence on what is wrong, and WayOut one on what to do.
	Text   string `json:"text"`
	WayOut string `json:"wayOut"`
}

// VerdictKind is a kind of [ServerVerdict].
type VerdictKind string

// The kinds.
const (
	// VerdictNotFound: there is no such program, or no such folder to start it in.
	VerdictNotFound VerdictKind = "notFound"
	// VerdictNotExecutable: the file is there and cannot be run.
	VerdictNotExecutable VerdictKind = "notExecutable"
	// VerdictExited: the process ended before or during the handshake.
	VerdictExited VerdictKind = "exited"
	// VerdictSilent: the server did not answer the handshake.
	VerdictSilent VerdictKind = "silent"
	// VerdictNoMcp: the answer to the handshake is not MCP.
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
	// VerdictInput: a value that the configuration asks the person for was not given.
	VerdictInput VerdictKind = "input"
	// VerdictUnconfirmed: the person has not confirmed that the server may run as it is configured.
	VerdictUnconfirmed VerdictKind = "unconfirmed"
	// VerdictLost: the server was running, and ended by itself.
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
	// Args are as configured, with the variables put in that hold no secrets.
	Args []string `json:"args,omitempty"`
	// Cwd is absolute; absent if it is the sidecar's own.
	Cwd string `json:"cwd,omitempty"`
	// EnvNames are the variables that the configuration sets. Their values are not told.
	EnvNames []string `json:"envNames,omitempty"`
	// Searched are the folders in which the program was looked for in vain, in this order.
	Searched []string `json:"searched,omitempty"`
	// NearMisses are sentences on programs that may be meant instead.
	NearMisses []string `json:"nearMisses,omitempty"`
	// Problem says why there is no program, or why it cannot be told without asking the person.
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
	// FoundInUsualFolder: only where programs often are.
	FoundInUsualFolder ProgramPlace = "usualFolder"
)

// ServerEndpoint is where a server is that is not started here.
type ServerEndpoint struct {
	// URL is as configured, without what a query or a user may hold.
	URL string `json:"url"`
	// HeaderNames are those that the configuration sets. Their values are not told.
	HeaderNames []string `json:"headerNames,omitempty"`
}

// ServerHandshake is what a server said of itself.
type ServerHandshake struct {
	Era             ServerEra `json:"era"`
	ProtocolVersion string    `json:"protocolVersion"`
	// Name, Title and Version are of the Implementation that the server says it is; absent if it says
	// nothing.
	Name    string `json:"name,omitempty"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version,omitempty"`
	// Capabilities are by name, those within others behind a dot: "tools.listChanged".
	Capabilities []string `json:"capabilities,omitempty"`
	// Instructions are the beginning of what the server would tell a model: 4,000 characters at most.
	Instructions string `json:"instructions,omitempty"`
}

// ServerEra is which of MCP's two ways a server speaks.
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

// ServerCounts is how much a server offers, by its lists as they were last read. A count is absent if
// its list was not read since the sidecar started, or has changed since.
type ServerCounts struct {
	Tools     *int64 `json:"tools,omitempty"`
	Resources *int64 `json:"resources,omitempty"`
	Prompts   *int64 `json:"prompts,omitempty"`
}

// ServerFailure is how a connection failed, or ended by itself.
type ServerFailure struct {
	At     int64  `json:"at"`
	Reason string `json:"reason"`
	// ExitCode is that of the process; absent if it did not end by itself.
	ExitCode *int64 `json:"exitCode,omitempty"`
	// Stderr holds the last lines on stderr, and Stdout the first ones on stdout, or on the network, that were not MCP.
	Stderr []string `json:"stderr,omitempty"`
	Stdout []string `json:"stdout,omitempty"`
}

// ServerLogLine is a line that a server wrote.
type ServerLogLine struct {
	At   int64         `json:"at"`
	From ServerLogFrom `json:"from"`
	// Level is MCP's, of [LogMessage] only.
	Level string `json:"level,omitempty"`
	// Text is one line: 2,000 characters at most.
	Text string `json:"text"`
}

// ServerLogFrom is where a line came from.
type ServerLogFrom string

// The sources.
const (
	LogStderr ServerLogFrom = "stderr"
	// LogStdout: it came on stdout or over the network, and is not MCP or matches no request.
	LogStdout ServerLogFrom = "stdout"
	// LogMessage is a notifications/message ("Logging").
	LogMessage ServerLogFrom = "message"
	// LogAssent is what Assent did.
	LogAssent ServerLogFrom = "assent"
)

// PortUse is who listens on a port of this machine.
type PortUse struct {
	Port int64 `json:"port"`
	// By are the processes that listen; absent if there is none that may be seen.
	By []ServerProcess `json:"by,omitempty"`
	// Listening reports that a process listens.
	Listening bool `json:"listening"`
}

// ServerProcess is a process of this machine.
type ServerProcess struct {
	PID int64 `json:"pid"`
	// Name is what the system calls it.
	Name string `json:"name"`
	// Since is when it began; absent if unknown.
	Since int64 `json:"since,omitempty"`
	// Own: it is a process of the server's that this sidecar started.
	Own bool `json:"own,omitempty"`
}
