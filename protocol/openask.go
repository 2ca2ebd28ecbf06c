package protocol

// ListOpenAsksResult holds the asks of all tasks that wait for a person: those of the front end's workspace, the oldest
// first, and then those of each other open workspace, the oldest first.
type ListOpenAsksResult struct {
	Asks []OpenAsk `json:"asks,omitempty"`
	// Truncated reports that there are more: [Task.OpenAsks] counts them all.
	Truncated bool `json:"truncated,omitempty"`
	// Unclaimed are the requests of servers that no conversation has yet, in the order of the Asks.
	Unclaimed []UnclaimedAsk `json:"unclaimed,omitempty"`
	// Declined are the servers of the front end's workspace with elicitations that are all declined without asking, in the
	// order of their names.
	Declined []DeclinedServer `json:"declined,omitempty"`
	// NotAnswering are the other open workspaces whose asks are left out because they did not answer in time.
	NotAnswering []string `json:"notAnswering,omitempty"`
}

// DeclinedServer is a server with elicitations that a person declined all at once, with [AskResponseParams.DeclineAll].
// That lasts until the sidecar ends or [Sidecar.AskAgain].
type DeclinedServer struct {
	ServerName string `json:"serverName"`
	// By names the front end in which they did.
	By string `json:"by"`
}

// DeclinedChangedParams are the [ListOpenAsksResult.Declined] as they are now.
type DeclinedChangedParams struct {
	Declined []DeclinedServer `json:"declined,omitempty"`
}

// OpenAsk is an ask that waits for a person, in brief. [Sidecar.OpenTask] has it whole: a completion
// request may be of megabytes, which a list of hundreds must not be.
type OpenAsk struct {
	// TaskID and Title are of the conversation, MessageID of the ask's message in it.
	TaskID    string `json:"taskId"`
	Title     string `json:"title"`
	MessageID int64  `json:"messageId"`
	// Time is since when the ask waits.
	Time  int64  `json:"time"`
	AskID string `json:"askId"`
	// Wants is the type of the ask's [UseMcpServer].
	Wants  AskWants `json:"wants"`
	Origin Origin   `json:"origin"`
	// Text is the beginning of what it is about, on one line: a form's or a page's message, the last text of
	// a conversation to complete, an answer to review, the arguments of a tool, a resource's URI. It is a stranger's and may be
	// empty. It has no Markdown any more.
	Text string `json:"text,omitempty"`
	// Simple reports that Text is the whole question, and that the person can answer it where it is listed: by a form with
	// the Fields, or by a yes or no to a call that destroys nothing.
	Simple bool `json:"simple,omitempty"`
	// Fields are the one field of a simple form, or none.
	Fields []Field `json:"fields,omitempty"`
	// Workspace names the workspace that the task is of; absent if it is that of the front end.
	Workspace string `json:"workspace,omitempty"`
	// Unattended: it is of another workspace, and no front end of that one asks.
	Unattended bool `json:"unattended,omitempty"`
}

// OthersChangedParams is what the other workspaces of the person mean for a front end.
type OthersChangedParams struct {
	// Quiet: another front end of this workspace notifies the person of its questions.
	Quiet bool `json:"quiet,omitempty"`
	// Unattended counts the questions that wait in workspaces without a front end that asks. This front end notifies the
	// person of them, too. It is 0 at all front ends but the one that the person used last.
	Unattended int `json:"unattended,omitempty"`
}

// AskWants is what an ask wants of the person.
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
	// WantsResource is an [AccessMcpResource].
	WantsResource AskWants = "access_mcp_resource"
	// WantsRepeat is a [RepeatMcpCall].
	WantsRepeat AskWants = "repeat_mcp_call"
)
