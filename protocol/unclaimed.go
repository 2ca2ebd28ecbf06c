package protocol

// UnclaimedAsk is a request of a server that nothing proves to be of one conversation: it came while a
// connection that several of them share served none of their calls, or those of several, and bore no tag
// (2025-11-25, "Elicitation" and "Sampling": requests nested inside other features, without a word of
// which). No conversation has it until a person has placed it by [Sidecar.ClaimAsk]; then it is an ask like
// any other. Nothing approves or answers it before.
type UnclaimedAsk struct {
	ID string `json:"id"`
	// Time is since when it waits.
	Time       int64    `json:"time"`
	ServerName string   `json:"serverName"`
	Wants      AskWants `json:"wants"`
	// Text is the beginning of what it is about, as in [OpenAsk].
	Text string `json:"text,omitempty"`
	// Candidates are who may have caused it, as of now: the calls in flight, or where there is none the
	// conversations that used the server last, the newest first. There may be none, and are 200 at most.
	Candidates []AskCandidate `json:"candidates,omitempty"`
	// Workspace names the workspace that it is of, and Unattended says how that is, as in [OpenAsk].
	Workspace  string `json:"workspace,omitempty"`
	Unattended bool   `json:"unattended,omitempty"`
}

// AskCandidate is a call that may have caused an [UnclaimedAsk], and its conversation. At most one of
// ToolName, ResourceURI and PromptName is set.
type AskCandidate struct {
	TaskID string `json:"taskId"`
	Title  string `json:"title"`
	// MessageID is the call's.
	MessageID   int64  `json:"messageId"`
	ToolName    string `json:"toolName,omitempty"`
	ResourceURI string `json:"resourceUri,omitempty"`
	PromptName  string `json:"promptName,omitempty"`
	// Since is when the call began.
	Since int64 `json:"since"`
	// State says what is known of the call.
	State CandidateState `json:"state"`
}

// CandidateState is what is known of a candidate's call.
type CandidateState string

// The states.
const (
	// CandidateInFlight: the server has not answered the call yet.
	CandidateInFlight CandidateState = "inFlight"
	// CandidateGivenUp: the call was cancelled, and whether the server still works on it nobody knows.
	CandidateGivenUp CandidateState = "givenUp"
	// CandidateEnded: the server has answered it.
	CandidateEnded CandidateState = "ended"
)

// ClaimAskParams says whose an [UnclaimedAsk] is. Exactly one of TaskID, NewTask and Dismiss is set.
type ClaimAskParams struct {
	ID string `json:"id"`
	// TaskID and MessageID are of one of its candidates.
	TaskID    string `json:"taskId,omitempty"`
	MessageID int64  `json:"messageId,omitempty"`
	// NewTask places it in a conversation of its own.
	NewTask bool `json:"newTask,omitempty"`
	// Dismiss puts it away without an answer: MCP's "cancel".
	Dismiss bool `json:"dismiss,omitempty"`
}

// ClaimAskResult says where the ask is now.
type ClaimAskResult struct {
	// TaskID is absent if it was dismissed.
	TaskID string `json:"taskId,omitempty"`
	// MessageID is the ask's; absent if none came of it: the request ended, or was refused.
	MessageID int64 `json:"messageId,omitempty"`
}

// UnclaimedChangedParams says how many requests wait to be placed. Which ones is in [ListOpenAsksResult],
// which has changed.
type UnclaimedChangedParams struct {
	Count int `json:"count"`
}
