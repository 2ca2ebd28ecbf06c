package protocol

// ListOpenAsksResult holds the asks of all tasks that wait for a person: those of the front end's workspace, the oldest
// first, and then those of each other open workspace, the oldest first.
type ListOpenAsksResult struct {
	Asks []OpenAsk `json:"asks,omitempty"`
	// Truncated reports that there are more: [Task.OpenAsks] counts them all.
	Truncated bool `json:"truncated,omitempty"`
	// Unattributed are the unattributed requests of servers, in the same order as Asks.
	Unattributed []UnattributedAsk `json:"unattributed,omitempty"`
	// Declined are the servers of the front end's workspace that the person declined all elicitations of, in the
	// order of their names.
	Declined []DeclinedServer `json:"declined,omitempty"`
	// NotAnswering are the other open workspaces that did not answer in time. Their asks are left out.
	NotAnswering []string `json:"notAnswering,omitempty"`
}

// DeclinedServer is a server with all elicitations declined at once, with [AskResponseParams.DeclineAll]. That
// lasts until the sidecar ends or [Sidecar.AskAgain].
type DeclinedServer struct {
	ServerName string `json:"serverName"`
	// By names the front end in which the person declined.
	By string `json:"by"`
}

// DeclinedChangedParams are the [ListOpenAsksResult.Declined] as they are now.
type DeclinedChangedParams struct {
	Declined []DeclinedServer `json:"declined,omitempty"`
}

// OpenAsk is the summary of an ask that waits for a person. [Sidecar.OpenTask] has the whole ask,
// which can have megabytes.
type OpenAsk struct {
	// TaskID and Title are of the conversation, MessageID of the ask's message in it.
	TaskID    string `json:"taskId"`
	Title     string `json:"title"`
	MessageID int64  `json:"messageId"`
	// Time is when the ask began to wait.
	Time  int64  `json:"time"`
	AskID string `json:"askId"`
	// Wants is the type of the ask's [UseMcpServer].
	Wants  AskWants `json:"wants"`
	Origin Origin   `json:"origin"`
	// Text is the beginning of the question, on one line and without Markdown: the message of a form or a page, the
	// last text of a conversation to complete, an answer to review, the arguments of a tool, a command, or a resource's
	// URI. It is untrusted and may be empty.
	Text string `json:"text,omitempty"`
	// Simple: Text is the whole question, and the person can answer it in the list: with a form of the Fields, or with
	// a yes or no to a call that is not destructive.
	Simple bool `json:"simple,omitempty"`
	// Fields has at most the one field of a simple form.
	Fields []Field `json:"fields,omitempty"`
	// Host names the MCP host whose call causes the question, such as "VS Code"; absent if the task is not one of a host,
	// or the host has gone.
	Host string `json:"host,omitempty"`
	// Workspace names the workspace that the task is of; absent if it is that of the front end.
	Workspace string `json:"workspace,omitempty"`
	// Unattended: the ask is of another workspace, and no front end of that workspace shows it.
	Unattended bool `json:"unattended,omitempty"`
}

// OthersChangedParams tells a front end about the other workspaces of the person.
type OthersChangedParams struct {
	// Quiet: another front end of this workspace notifies the person of its questions.
	Quiet bool `json:"quiet,omitempty"`
	// Unattended counts the questions in workspaces without a front end that shows them. This front end notifies the
	// person of them. It is 0 at all front ends except the one that the person used last.
	Unattended int `json:"unattended,omitempty"`
}

// AskWants is the type of an ask's question.
type AskWants string

// What asks want: the types of [UseMcpServer].
const (
	// WantsForm is a [McpElicitation].
	WantsForm AskWants = "mcp_elicitation"
	// WantsPage is a [McpURLElicitation].
	WantsPage AskWants = "mcp_url_elicitation"
	// WantsCompletion is a [McpSampling].
	WantsCompletion AskWants = "mcp_sampling"
	// WantsReview is a [McpSamplingReview].
	WantsReview AskWants = "mcp_sampling_review"
	// WantsTool is a [UseMcpTool].
	WantsTool AskWants = "use_mcp_tool"
	// WantsToolForApp is a [UseMcpTool] with FromApp.
	WantsToolForApp AskWants = "use_mcp_tool_for_app"
	// WantsResource is an [AccessMcpResource].
	WantsResource AskWants = "access_mcp_resource"
	// WantsRepeat is a [RepeatMcpCall].
	WantsRepeat AskWants = "repeat_mcp_call"
	// WantsPermission is a [HostPermission].
	WantsPermission AskWants = "host_permission"
)
