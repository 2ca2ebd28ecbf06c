package protocol

// McpTask is a task in MCP's sense: a server's handle for a call that takes long (2025-11-25, "Tasks",
// and the extension io.modelcontextprotocol/tasks of 2026-07-28). It belongs to a call of a [Task].
type McpTask struct {
	// TaskID is the server's.
	TaskID string `json:"taskId"`
	// Status is the last that the server told. It stays so if the task is lost: the call's result says that.
	Status McpTaskStatus `json:"status"`
	// StatusMessage is the server's; it is not to be trusted.
	StatusMessage string `json:"statusMessage,omitempty"`
	// CreatedAt is when Assent got the handle: the server's clock may be wrong.
	CreatedAt int64 `json:"createdAt"`
	// ExpiresAt is when the server may forget the task; absent if it will not, or does not say.
	ExpiresAt int64 `json:"expiresAt,omitempty"`
	// Cancelling: a person asked for the end, and the server has not said its last word.
	Cancelling bool `json:"cancelling,omitempty"`
	// Problem says why the server cannot be asked at present; Assent goes on trying.
	Problem string `json:"problem,omitempty"`
}

// McpTaskStatus is MCP's word for how a task is.
type McpTaskStatus string

// The statuses. The last three are for good.
const (
	McpTaskWorking       McpTaskStatus = "working"
	McpTaskInputRequired McpTaskStatus = "input_required"
	McpTaskCompleted     McpTaskStatus = "completed"
	McpTaskFailed        McpTaskStatus = "failed"
	McpTaskCancelled     McpTaskStatus = "cancelled"
)

// ListMcpTasksResult is a page of the calls that became MCP tasks: first all that run, then those that have
// ended, the newest of each first. A page has a hundred. The last page also has those of the other open workspaces, a
// hundred of each at most. An entry that changes while the list is read can be in
// two pages.
type ListMcpTasksResult struct {
	McpTasks []McpTaskEntry `json:"mcpTasks,omitempty"`
	// NextCursor is for [Sidecar.MoreMcpTasks]; absent on the last page.
	NextCursor string `json:"nextCursor,omitempty"`
	// NotAnswering is as of [ListOpenAsksResult], on the last page.
	NotAnswering []string `json:"notAnswering,omitempty"`
}

// MoreMcpTasksParams asks for the next page.
type MoreMcpTasksParams struct {
	// Cursor is the [ListMcpTasksResult.NextCursor] of the page before.
	Cursor string `json:"cursor"`
}

// GetMcpTaskParams names an MCP task.
type GetMcpTaskParams struct {
	// McpTaskID is the server's id of the task, or the beginning of it, if no other task's id begins so.
	McpTaskID string `json:"mcpTaskId"`
	// ServerName is the task's server, which is then asked if no call has the task. Absent looks at the calls of
	// all servers, and asks none.
	ServerName string `json:"serverName,omitempty"`
}

// GetMcpTaskResult has one of the two.
type GetMcpTaskResult struct {
	// McpTask is the newest call that has the task or waits for it.
	McpTask *McpTaskEntry `json:"mcpTask,omitempty"`
	// ServerMcpTask is what the server says of a task that no call has or waits for.
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

// ListServerMcpTasksResult holds the MCP tasks that only their servers know: of an earlier installation,
// or of a call whose answer was lost.
type ListServerMcpTasksResult struct {
	McpTasks []ServerMcpTask `json:"mcpTasks,omitempty"`
	// Problems are of the servers whose list could not be had, or not all of it.
	Problems []ServerMcpTasksProblem `json:"problems,omitempty"`
}

// ServerMcpTask is an MCP task as a server lists it, whose end no call has or waits for. Which tool it
// came from, MCP does not say. A [TaskResultRequest] makes it a call.
type ServerMcpTask struct {
	ServerName string `json:"serverName"`
	// McpTaskID is the server's.
	McpTaskID string        `json:"mcpTaskId"`
	Status    McpTaskStatus `json:"status"`
	// StatusMessage is the server's; it is not to be trusted.
	StatusMessage string `json:"statusMessage,omitempty"`
	// CreatedAt and LastUpdatedAt are by the server's clock; absent if it does not say. After ExpiresAt
	// it may forget the task; absent if it will not.
	CreatedAt     int64 `json:"createdAt,omitempty"`
	LastUpdatedAt int64 `json:"lastUpdatedAt,omitempty"`
	ExpiresAt     int64 `json:"expiresAt,omitempty"`
}

// ServerMcpTasksProblem says why a server's list is not there, or not whole.
type ServerMcpTasksProblem struct {
	ServerName string `json:"serverName"`
	// Message is a sentence for the person.
	Message string `json:"message"`
}
