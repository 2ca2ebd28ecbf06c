package protocol

// ListOpenAsksResult holds the asks of all tasks that wait for a person, the oldest first.
type ListOpenAsksResult struct {
	Asks []OpenAsk `json:"asks,omitempty"`
	// Truncated reports that there are more: [Task.OpenAsks] counts them all.
	Truncated bool `json:"truncated,omitempty"`
	// Unclaimed are the requests of servers that no conversation has yet, the oldest first.
	Unclaimed []UnclaimedAsk `json:"unclaimed,omitempty"`
	// Declined are the servers with elicitations that are all declined without asking, in the order of their names.
	Declined []DeclinedServer `json:"declined,omitempty"`
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
	// a conversation to complete, an answer to review, the arguments of a tool, a resource's URI. It is a stranger's and may be empty.
	Text string `json:"text,omitempty"`
	// Elsewhere: its task is not live in this window; see [Task.Elsewhere].
	Elsewhere bool `json:"elsewhere,omitempty"`
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
