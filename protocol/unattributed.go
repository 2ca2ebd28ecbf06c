package protocol

// UnattributedAsk is an unattributed request of a server. It arrived on a connection that several
// conversations share, while the server served no call or calls of several conversations, and it had no tag
// (2025-11-25, "Elicitation" and "Sampling": requests are nested inside other features, but do not name
// them). It belongs to no conversation until a person assigns it with [Sidecar.ClaimAsk]; then it is an ask
// like any other. Nothing approves or answers it before.
type UnattributedAsk struct {
	ID string `json:"id"`
	// Time is when the request arrived.
	Time       int64    `json:"time"`
	ServerName string   `json:"serverName"`
	Wants      AskWants `json:"wants"`
	// Text is the beginning of the question, as in [OpenAsk].
	Text string `json:"text,omitempty"`
	// Question is the whole question, so that the person can place and answer it at once, with [Sidecar.ClaimAsk] and then
	// [Sidecar.AskResponse] or [Sidecar.OpenAskURL]. It is absent for a completion, since the model, the grants and the
	// context that the person decides about are those of a task, and for a form with more than 64 KiB.
	Question UseMcpServer `json:"question,omitempty"`
	// Candidates are the calls that may have caused it, as of now: the calls in flight or, if there are
	// none, the conversations that used the server last, the newest first. There are at most 200, and
	// there may be none.
	Candidates []AskCandidate `json:"candidates,omitempty"`
	// Workspace and Unattended are as in [OpenAsk].
	Workspace  string `json:"workspace,omitempty"`
	Unattended bool   `json:"unattended,omitempty"`
}

// AskCandidate is a call that may have caused an [UnattributedAsk], and its conversation. At most one of
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
	// State is the state of the call.
	State CandidateState `json:"state"`
}

// CandidateState is the state of a candidate's call.
type CandidateState string

// The states.
const (
	// CandidateInFlight: the server has not answered the call yet.
	CandidateInFlight CandidateState = "inFlight"
	// CandidateGivenUp: the call was cancelled. The server may still be working on it.
	CandidateGivenUp CandidateState = "givenUp"
	// CandidateEnded: the server has answered it.
	CandidateEnded CandidateState = "ended"
)

// ClaimAskParams assigns an [UnattributedAsk]. Exactly one of TaskID, NewTask and Dismiss is set.
type ClaimAskParams struct {
	ID string `json:"id"`
	// TaskID and MessageID identify one of the candidates.
	TaskID    string `json:"taskId,omitempty"`
	MessageID int64  `json:"messageId,omitempty"`
	// NewTask assigns it to a new conversation.
	NewTask bool `json:"newTask,omitempty"`
	// Dismiss dismisses it: MCP's "cancel".
	Dismiss bool `json:"dismiss,omitempty"`
}

// ClaimAskResult is the message of the ask.
type ClaimAskResult struct {
	// TaskID is absent if it was dismissed.
	TaskID string `json:"taskId,omitempty"`
	// MessageID is the ask's message; absent if there is no ask because the request ended or was
	// refused.
	MessageID int64 `json:"messageId,omitempty"`
	// AskID is the id of the ask; absent if MessageID is.
	AskID string `json:"askId,omitempty"`
}

// UnattributedChangedParams counts the unattributed requests. [ListOpenAsksResult] lists them, and has
// changed.
type UnattributedChangedParams struct {
	Count int `json:"count"`
}
