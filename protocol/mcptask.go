package protocol

// McpTask is a task in MCP's sense: a server's handle for a call that takes long (2025-11-25, "Tasks",
// and the extension io.modelcontextprotocol/tasks of 2026-07-28). It belongs to a call of a [Task].
type McpTask struct {
	// TaskID is the server's.
	TaskID string `json:"taskId"`
	// Status is the last status from the server. It does not change if the task is lost; the call's result
	// says that.
	Status McpTaskStatus `json:"status"`
	// StatusMessage is the server's text. It is untrusted.
	StatusMessage string `json:"statusMessage,omitempty"`
	// CreatedAt is when Assent received the handle. The server's clock may be wrong.
	CreatedAt int64 `json:"createdAt"`
	// ExpiresAt is when the server may delete the task; absent if it keeps it, or does not say.
	ExpiresAt int64 `json:"expiresAt,omitempty"`
	// Cancelling: a person cancelled the task, and the server has not reported a final status yet.
	Cancelling bool `json:"cancelling,omitempty"`
	// Problem says why the server cannot be reached at present, or what of its answers is not MCP. Assent keeps trying.
	Problem string `json:"problem,omitempty"`
	// Abandoned says in a sentence why Assent gave the task up; the server is then told to cancel it.
	Abandoned string `json:"abandoned,omitempty"`
}

// McpTaskStatus is the status of an MCP task, as MCP defines it.
type McpTaskStatus string

// The statuses. The last three are final.
const (
	McpTaskWorking       McpTaskStatus = "working"
	McpTaskInputRequired McpTaskStatus = "input_required"
	McpTaskCompleted     McpTaskStatus = "completed"
	McpTaskFailed        McpTaskStatus = "failed"
	McpTaskCancelled     McpTaskStatus = "cancelled"
)

// ListMcpTasksResult is a page of the calls that became MCP tasks: first all that run, then those that have ended,
// each the newest first. A page has at most 100 entries. The last page also has those of the other open workspaces,
// at most 100 of each. An entry that changes while the list is read can be on two pages.
type ListMcpTasksResult struct {
	McpTasks []McpTaskEntry `json:"mcpTasks,omitempty"`
	// NextCursor is for [Sidecar.MoreMcpTasks]; absent on the last page.
	NextCursor string `json:"nextCursor,omitempty"`
	// NotAnswering is as in [ListOpenAsksResult]; only on the last page.
	NotAnswering []string `json:"notAnswering,omitempty"`
}

// MoreMcpTasksParams asks for the next page.
type MoreMcpTasksParams struct {
	// Cursor is the [ListMcpTasksResult.NextCursor] of the page before.
	Cursor string `json:"cursor"`
}

// GetMcpTaskParams names an MCP task.
type GetMcpTaskParams struct {
	// McpTaskID is the server's id of the task, or a prefix of it that is unique.
	McpTaskID string `json:"mcpTaskId"`
	// ServerName is the task's server. If no call has the task, Assent asks that server. If absent, only the
	// calls of all servers are searched.
	ServerName string `json:"serverName,omitempty"`
}

// GetMcpTaskResult has one of the two.
type GetMcpTaskResult struct {
	// McpTask is the newest call that has the task or waits for it.
	McpTask *McpTaskEntry `json:"mcpTask,omitempty"`
	// ServerMcpTask is the server's state of a task that no call has or waits for.
	ServerMcpTask *ServerMcpTask `json:"serverMcpTask,omitempty"`
}

// McpTaskEntry is an MCP task and the call that it belongs to.
type McpTaskEntry struct {
	// TaskID and Title are of the conversation, MessageID of the call.
	TaskID    string `json:"taskId"`
	Title     string `json:"title"`
	MessageID int64  `json:"messageId"`
	// Time is when the call was made.
	Time int64 `json:"time"`
	// Call is without the contents of its result.
	Call Call `json:"call"`
	// Workspace names the workspace that the conversation is of; absent if it is that of the front end.
	Workspace string `json:"workspace,omitempty"`
}

// ListServerMcpTasksResult holds the MCP tasks that only their servers know: those of an earlier
// installation, or of a call with a lost answer.
type ListServerMcpTasksResult struct {
	McpTasks []ServerMcpTask `json:"mcpTasks,omitempty"`
	// Problems are the servers with a list that could not be read, or only in part.
	Problems []ServerMcpTasksProblem `json:"problems,omitempty"`
}

// ServerMcpTask is an MCP task from a server's list that no call has or waits for. MCP does not say
// which tool created it. A [TaskResultRequest] makes it a call.
type ServerMcpTask struct {
	ServerName string `json:"serverName"`
	// McpTaskID is the server's.
	McpTaskID string        `json:"mcpTaskId"`
	Status    McpTaskStatus `json:"status"`
	// StatusMessage is the server's text. It is untrusted.
	StatusMessage string `json:"statusMessage,omitempty"`
	// CreatedAt and LastUpdatedAt are by the server's clock; absent if it does not say. After
	// ExpiresAt the server may delete the task; absent if it keeps it.
	CreatedAt     int64 `json:"createdAt,omitempty"`
	LastUpdatedAt int64 `json:"lastUpdatedAt,omitempty"`
	ExpiresAt     int64 `json:"expiresAt,omitempty"`
}

// ServerMcpTasksProblem says why a server's list is missing or incomplete.
type ServerMcpTasksProblem struct {
	ServerName string `json:"serverName"`
	// Message is a sentence for the person.
	Message string `json:"message"`
}
