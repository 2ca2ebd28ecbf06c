package protocol

import "encoding/json"

// Ask is a question to the person. It belongs to one task and is settled exactly once.
//
//protocol:variant Body ask
type Ask struct {
	Type tag[Ask] `json:"type"`
	// AskID names the ask in [AskResponseParams]; it is unique across tasks.
	AskID string  `json:"askId"`
	Ask   AskKind `json:"ask"`
	// Question is the question, with the server that asks it.
	Question UseMcpServer `json:"question"`
	// InputKey is the MCP task's name for the question. If the server repeats the key, it is the
	// same ask.
	InputKey string `json:"inputKey,omitempty"`
	// ExpiresAt is when Assent stops waiting for the person, by [Configuration.AskTimeout]; absent if there
	// is no limit. [Sidecar.ExtendAsk] gives more time.
	ExpiresAt int64 `json:"expiresAt,omitempty"`
	// WaitsUntil is when the server stops waiting; absent if it gave no time (2025-11-25, "Tasks": the ttl
	// of the task that it made of its question).
	WaitsUntil int64 `json:"waitsUntil,omitempty"`
	// Draft is an answer that a person has typed and not sent, as [Sidecar.SaveDraft] received it. Only
	// [OpenTaskResult] has it, and only while the ask is open.
	Draft json.RawMessage `json:"draft,omitempty"`
	// Delivered: the MCP task's server has acknowledged the answer, or an agent's host has acted on it.
	Delivered bool `json:"delivered,omitempty"`
	// Outcome is absent while the ask is open.
	Outcome *Outcome `json:"outcome,omitempty"`
}

// AskKind is the kind of an ask.
type AskKind string

// The kinds.
const (
	// AskUseMcpServer: a server asks during a tool call or a prompt, or on its own; or a model wants to call a
	// server.
	AskUseMcpServer AskKind = "use_mcp_server"
	// AskAccessMcpResource: a server asks while one of its resources is read.
	AskAccessMcpResource AskKind = "access_mcp_resource"
	// AskHostPermission: an agent's host asks whether the agent may do something ([HostPermission]), or has a question
	// of the agent ([McpElicitation]). [Origin] has the host's name as the ServerName, because no server asks.
	AskHostPermission AskKind = "host_permission"
)

// UseMcpServer is what a server's request asks of the person.
//
//protocol:union
type UseMcpServer interface {
	isUseMcpServer()
	From() Origin
}

// McpElicitation shows a form that the server defines.
//
//protocol:variant UseMcpServer mcp_elicitation
type McpElicitation struct {
	Type tag[McpElicitation] `json:"type"`
	Origin
	ElicitationRequest McpElicitationRequest `json:"elicitationRequest"`
	// ElicitationResponse is the answer that the server got; absent while the ask is open, and if the server had
	// ended. Secrets are masked, unless an MCP task has not yet sent them to its server: such an answer outlives the
	// sidecar.
	ElicitationResponse *McpElicitationResponse `json:"elicitationResponse,omitempty"`
}

// McpURLElicitation asks the person to open a page and enter the data that the server needs there.
// Assent does not see the data (2025-11-25, "Elicitation: URL mode").
//
//protocol:variant UseMcpServer mcp_url_elicitation
type McpURLElicitation struct {
	Type tag[McpURLElicitation] `json:"type"`
	Origin
	// Message is the server's text, in Markdown. It is untrusted.
	Message string `json:"message"`
	// URL is http or https. A front end shows all of it before [Sidecar.OpenAskURL] opens it.
	URL string `json:"url"`
	// AwaitsCompletion: the ask stays open after the page was opened, until the server or the person
	// reports that it is completed. Otherwise opening the page is the answer.
	AwaitsCompletion bool `json:"awaitsCompletion,omitempty"`
	// ElicitationResponse is the answer that the server got; absent if it got none.
	ElicitationResponse *McpElicitationResponse `json:"elicitationResponse,omitempty"`
}

// McpSampling shows a completion request for the person to approve.
//
//protocol:variant UseMcpServer mcp_sampling
type McpSampling struct {
	Type tag[McpSampling] `json:"type"`
	Origin
	// SamplingRequest is what the server asked for.
	SamplingRequest McpSamplingRequest `json:"samplingRequest"`
	// SentRequest is the edited request that the model got; absent if the person changed nothing.
	SentRequest *McpSamplingRequest `json:"sentRequest,omitempty"`
	// Model is the proposed model and, after approval, the one that answers; absent if there is
	// none, and after a person wrote the answer.
	Model *Model `json:"model,omitempty"`
	// ModelReason says in one line why Model was proposed. It may quote the server.
	ModelReason string `json:"modelReason,omitempty"`
	// GrantReason says in one line why a grant that almost covered the request did not approve it.
	GrantReason string `json:"grantReason,omitempty"`
	// Secrets are the parts of the request that look like secrets. The request is sent only after the
	// person has removed or confirmed them.
	Secrets []SecretFinding `json:"secrets,omitempty"`
	// Context is sent before the conversation if the person includes it; absent if the server did not ask for it, or
	// if there is none.
	Context *SamplingContext `json:"context,omitempty"`
	// Progress is what the model has written so far; present only while it writes.
	Progress *SamplingProgress `json:"progress,omitempty"`
	// InReview: the model has answered, and a [McpSamplingReview] asks whether the server gets the
	// answer.
	InReview bool `json:"inReview,omitempty"`
	// Result is absent until the server's answer is final.
	Result SamplingResult `json:"result,omitempty"`
	// Usage counts the tokens of all models; absent until Result is set, and if no model was
	// asked.
	Usage *SamplingUsage `json:"usage,omitempty"`
}

// SecretFinding is a part of a request that looks like a secret.
type SecretFinding struct {
	// Description is for the person: "an AWS access key".
	Description string `json:"description"`
	// Text is the secret, as it is in the request.
	Text string `json:"text"`
}

// SamplingContext is the context that a server asked for with includeContext (2025-11-25, "Sampling:
// includeContext").
type SamplingContext struct {
	// Text is a user message that would precede the server's messages.
	Text string `json:"text"`
	// ServerNames are the servers with results in Text. The asking server is one of them.
	ServerNames []string `json:"serverNames,omitempty"`
	// Omitted counts the older results that did not fit.
	Omitted int `json:"omitted,omitempty"`
}

// SamplingUsage is what a request cost.
type SamplingUsage struct {
	// InputTokens and OutputTokens are sums over all answers, including those that were withheld.
	InputTokens  int64 `json:"inputTokens"`
	OutputTokens int64 `json:"outputTokens"`
	// Estimated: a provider did not report its numbers, so Assent estimated them.
	Estimated bool `json:"estimated,omitempty"`
	// Cost is in US dollars; absent if the price of a model is unknown.
	Cost *float64 `json:"cost,omitempty"`
}

// McpSamplingReview shows a model's answer before the server gets it (2025-11-25, "Sampling: user
// interaction model"). [YesButtonClicked] returns the answer, edited or not. [NoButtonClicked] and
// [CancelButtonClicked] withhold it. [RegenerateButtonClicked] asks a model again, and another review
// follows.
//
//protocol:variant UseMcpServer mcp_sampling_review
type McpSamplingReview struct {
	Type tag[McpSamplingReview] `json:"type"`
	Origin
	// SamplingMessageID is the message of the [McpSampling] that was approved.
	SamplingMessageID int64 `json:"samplingMessageId"`
	// Model is the one that answered or, after [RegenerateButtonClicked], the one that answers next.
	Model *Model `json:"model,omitempty"`
	// SamplingResponse is the model's answer.
	SamplingResponse McpSamplingResponse `json:"samplingResponse"`
	// SentResponse is the edited answer that the server got; absent if the person changed nothing.
	SentResponse *McpSamplingResponse `json:"sentResponse,omitempty"`
	// Problem says in a sentence why the model gave no new answer. The review then shows the previous
	// one.
	Problem string `json:"problem,omitempty"`
}

// RepeatMcpCall asks whether to repeat a failed call, which may have had effects before it failed. Assent
// asks this, not the server. [YesButtonClicked] repeats the call; [NoButtonClicked] and
// [CancelButtonClicked] leave it as it ended.
//
//protocol:variant UseMcpServer repeat_mcp_call
type RepeatMcpCall struct {
	Type tag[RepeatMcpCall] `json:"type"`
	Origin
	// Reason is a text for the person: why the call failed, and why it may succeed the next time.
	Reason string `json:"reason"`
}

// Origin says which server asks, and during which tool call.
type Origin struct {
	ServerName string `json:"serverName"`
	// ToolNames are the calls of this task that the server was serving when it asked. There is
	// more than one if the server's era does not say which call a request belongs to.
	ToolNames []string `json:"toolNames,omitempty"`
	// ResourceURI is the resource that was being read; absent if none was.
	ResourceURI string `json:"resourceUri,omitempty"`
	// MessageID is the message of the call that the question belongs to; absent if unknown.
	MessageID int64 `json:"messageId,omitempty"`
	// PlacedBy names the front end in which a person assigned an unattributed request to this task; see
	// [UnattributedAsk]. Decisions about one tool do not apply to such a question: it gets no fixed answer,
	// and no grant of a tool covers it.
	PlacedBy string `json:"placedBy,omitempty"`
}

// From returns the origin of a question of any kind.
func (o Origin) From() Origin { return o }

// Outcome is how an ask was settled.
type Outcome struct {
	Reason OutcomeReason `json:"reason"`
	// By names the front end that answered; absent if no person answered.
	By string `json:"by,omitempty"`
	At int64  `json:"at"`
	// Detail is a sentence for the person, if the reason needs one.
	Detail string `json:"detail,omitempty"`
	// Undelivered says in a sentence for the person why the server did not get the answer; absent if no failure
	// is known.
	Undelivered string `json:"undelivered,omitempty"`
	// CompletedAt is when the server reported that the person completed the page that they had opened (2025-11-25,
	// "Elicitation: Completion Notifications").
	CompletedAt int64 `json:"completedAt,omitempty"`
	// GrantID names the grant that approved the request ([OutcomeGranted]), or that the person
	// created with their answer.
	GrantID string `json:"grantId,omitempty"`
	// DeclinedAll: the person declined all elicitations of the server, with this answer or an earlier
	// one. That lasts until the sidecar ends, or until [Sidecar.AskAgain].
	DeclinedAll bool `json:"declinedAll,omitempty"`
	// Standing is the person's earlier decision that settled the ask; absent if the person was asked, or if a grant or
	// a setting settled it.
	Standing StandingDecision `json:"standing,omitempty"`
}

// StandingDecision is a decision of a person that answers later asks.
type StandingDecision string

// The standing decisions.
const (
	// StandingDeclineAll: the person declined all elicitations of the server; see
	// [DeclinedServer].
	StandingDeclineAll StandingDecision = "declineAll"
	// StandingNever, StandingAlways and StandingTask are a [ToolRule] with [RememberNever], [RememberAlways] and
	// [RememberTask].
	StandingNever  StandingDecision = "never"
	StandingAlways StandingDecision = "always"
	StandingTask   StandingDecision = "task"
)

// OutcomeReason is why an ask is settled. "answered", "declined", "dismissed" and "regenerated" are
// always a person's own act.
type OutcomeReason string

// The reasons.
const (
	// OutcomeAnswered: a person approved or submitted.
	OutcomeAnswered OutcomeReason = "answered"
	// OutcomeDeclined: a person said no.
	OutcomeDeclined OutcomeReason = "declined"
	// OutcomeDismissed: a person dismissed the ask, or closed its task.
	OutcomeDismissed OutcomeReason = "dismissed"
	// OutcomeRegenerated: a person asked for another answer instead of approving the one to
	// review.
	OutcomeRegenerated OutcomeReason = "regenerated"
	// OutcomeTimedOut: the person did not answer within the time set.
	OutcomeTimedOut OutcomeReason = "timedOut"
	// OutcomeServerStoppedWaiting: the server cancelled its request.
	OutcomeServerStoppedWaiting OutcomeReason = "serverStoppedWaiting"
	// OutcomeCallEnded: the call that the ask belonged to was cancelled, or ended.
	OutcomeCallEnded OutcomeReason = "callEnded"
	// OutcomeServerLost: the connection to the server ended.
	OutcomeServerLost OutcomeReason = "serverLost"
	// OutcomeCompleted: the server reported that the person completed the page.
	OutcomeCompleted OutcomeReason = "completed"
	// OutcomeGranted: a grant, or an answer in the settings, answered the ask.
	OutcomeGranted OutcomeReason = "granted"
	// OutcomeRestarted: the sidecar stopped while the ask was open, and the request was lost with
	// it.
	OutcomeRestarted OutcomeReason = "restarted"
	// OutcomeNoFrontEnd: no front end is attached that can show such a question.
	OutcomeNoFrontEnd OutcomeReason = "noFrontEnd"
	// OutcomeAnsweredInHost: the agent's host went on after its own prompt was answered, or asks its next question.
	OutcomeAnsweredInHost OutcomeReason = "answeredInHost"
	// OutcomeHostStoppedWaiting: the agent's host took its question back, or has ended.
	OutcomeHostStoppedWaiting OutcomeReason = "hostStoppedWaiting"
	// OutcomeDenied: the person's limits do not allow the request, and they were not asked.
	OutcomeDenied OutcomeReason = "denied"
)

// McpElicitationRequest is MCP's elicitation/create in form mode, its schema read into fields.
type McpElicitationRequest struct {
	// Message is the server's text, in Markdown. It is untrusted.
	Message string `json:"message"`
	// Fields are in the order in which the server wrote them.
	Fields []Field `json:"fields,omitempty"`
	// RequestedSchema is the JSON text of the schema as the server wrote it, for a person to read.
	RequestedSchema string `json:"requestedSchema,omitempty"`
	// AppURI is the ui:// URI of an app of the server that proposes an answer; absent if there is none, and if no front end
	// shows one. What the app proposes is untrusted: the person sees it in the form's fields and submits it.
	AppURI string `json:"appUri,omitempty"`
	// Meta is the request's _meta as the server wrote it, for the app; absent without an app, and if it is large.
	Meta json.RawMessage `json:"_meta,omitempty"`
}

// McpElicitationResponse is MCP's result of elicitation/create.
type McpElicitationResponse struct {
	Action ElicitationAction `json:"action"`
	// Content is present only with [ActionAccept].
	Content json.RawMessage `json:"content,omitempty"`
	// SecretFields are [AskResponseParams.SecretFields]. The server does not get this list.
	SecretFields []string `json:"secretFields,omitempty"`
}

// ElicitationAction is MCP's action in the result of elicitation/create.
type ElicitationAction string

// The actions.
const (
	ActionAccept  ElicitationAction = "accept"
	ActionDecline ElicitationAction = "decline"
	ActionCancel  ElicitationAction = "cancel"
)

// McpSamplingRequest is MCP's sampling/createMessage.
type McpSamplingRequest struct {
	Messages         []SamplingMessage `json:"messages,omitempty"`
	ModelPreferences *ModelPreferences `json:"modelPreferences,omitempty"`
	SystemPrompt     string            `json:"systemPrompt,omitempty"`
	IncludeContext   string            `json:"includeContext,omitempty"`
	// Temperature is absent if the server gave none. 0 is a value.
	Temperature   *float64        `json:"temperature,omitempty"`
	MaxTokens     int64           `json:"maxTokens"`
	StopSequences []string        `json:"stopSequences,omitempty"`
	Metadata      json.RawMessage `json:"metadata,omitempty"`
	// Tools are the tools of the server that the model may call (2025-11-25, "Sampling with
	// Tools").
	Tools []SamplingTool `json:"tools,omitempty"`
	// ToolChoice is absent if the server did not restrict the choice, as with [ToolChoiceAuto].
	ToolChoice *ToolChoice `json:"toolChoice,omitempty"`
}

// SamplingMessage is one turn of the conversation that a model is asked to continue.
type SamplingMessage struct {
	Role    Role           `json:"role"`
	Content []ContentBlock `json:"content,omitempty"`
}

// Role is who speaks.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// ModelPreferences are a server's wishes; priorities are from 0 to 1.
type ModelPreferences struct {
	Hints                []ModelHint `json:"hints,omitempty"`
	CostPriority         *float64    `json:"costPriority,omitempty"`
	SpeedPriority        *float64    `json:"speedPriority,omitempty"`
	IntelligencePriority *float64    `json:"intelligencePriority,omitempty"`
}

// ModelHint is a part of a model's name.
type ModelHint struct {
	Name string `json:"name,omitempty"`
}

// SamplingResult is how an approved sampling request ended.
//
//protocol:union
type SamplingResult interface{ isSamplingResult() }

// McpSamplingResponse is MCP's result of sampling/createMessage: what the server got.
//
//protocol:variant SamplingResult response
type McpSamplingResponse struct {
	Type tag[McpSamplingResponse] `json:"type"`
	Role Role                     `json:"role"`
	// Content is a text, or texts and the calls of tools that the model asks for.
	Content []ContentBlock `json:"content,omitempty"`
	// Model is the name that the provider gave.
	Model string `json:"model"`
	// StopReason is "endTurn", "stopSequence", "maxTokens", "toolUse", a word of the provider, or "userStopped"
	// if a person stopped the model and sent the unfinished answer.
	StopReason string `json:"stopReason,omitempty"`
	// ByPerson: a person wrote the answer, and no model was asked; see [HandWritten]. The server does not get
	// this member.
	ByPerson bool `json:"byPerson,omitempty"`
}

// SamplingWithheld says that a person withheld the completion. The server was told that the person
// refused.
//
//protocol:variant SamplingResult withheld
type SamplingWithheld struct {
	Type tag[SamplingWithheld] `json:"type"`
	// Reason is a sentence for the person.
	Reason string `json:"reason"`
}

// SamplingFailure says why the server got no completion.
//
//protocol:variant SamplingResult failure
type SamplingFailure struct {
	Type tag[SamplingFailure] `json:"type"`
	// Reason is a sentence for the person. It says what to do.
	Reason string `json:"reason"`
}

// SamplingProgress is the completion so far.
type SamplingProgress struct {
	Text string `json:"text"`
	// Sequence is the number of the next piece.
	Sequence int64 `json:"sequence"`
}

// McpSamplingProgressParams is one piece of a completion.
type McpSamplingProgressParams struct {
	TaskID    string `json:"taskId"`
	MessageID int64  `json:"messageId"`
	// Sequence counts the pieces of one ask from 0, over all answers to it.
	Sequence int64  `json:"sequence"`
	Chunk    string `json:"chunk"`
}

// HandWritten is a completion that a person writes in place of a model.
type HandWritten struct {
	// Text is the content. It is not blank.
	Text string `json:"text"`
	// Model is the name that the server gets. It is not blank, and has at most 200 bytes.
	Model string `json:"model"`
	// StopReason is MCP's "endTurn", "stopSequence" or "maxTokens", or another word of at most 200 bytes.
	// "toolUse" is not allowed, because there are no calls. If absent, the server gets no stop reason.
	StopReason string `json:"stopReason,omitempty"`
}

// SamplingEdit is a person's edit of a sampling request, made before the request goes to a model.
type SamplingEdit struct {
	// Messages replaces the conversation; absent leaves it as the server wrote it.
	Messages []SamplingMessage `json:"messages,omitempty"`
	// SystemPrompt is the system prompt to send. If absent or empty, none is sent.
	SystemPrompt string `json:"systemPrompt,omitempty"`
	// Temperature is from 0 to 2. If absent, none is sent.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens is at least 1, and at most the server's value.
	MaxTokens int64 `json:"maxTokens"`
}

// SamplingSettings are the settings for completions.
type SamplingSettings struct {
	// Review is absent if the person has not set it; the default is [ReviewAlways].
	Review SamplingReview `json:"review,omitempty"`
	// Limits bounds the requests of servers; absent if the person has set no limits.
	Limits *SamplingLimits `json:"limits,omitempty"`
}

// SamplingLimits bounds the sampling requests of each server. An absent limit has its default; 0 allows
// nothing.
type SamplingLimits struct {
	// RequestsPerMinute counts the requests of the last minute.
	RequestsPerMinute *int64 `json:"requestsPerMinute,omitempty"`
	// InFlight counts the requests without an answer or a refusal.
	InFlight *int64 `json:"inFlight,omitempty"`
	// ToolRounds bounds how often the model of one conversation may call the server's tools and continue
	// with the results. Each round may ask a model again.
	ToolRounds *int64 `json:"toolRounds,omitempty"`
	// PromptBytes bounds all texts, tools and results together; ImageBytes all images and audio, decoded.
	PromptBytes *int64 `json:"promptBytes,omitempty"`
	ImageBytes  *int64 `json:"imageBytes,omitempty"`
}

// SamplingReview is when a person sees a model's answer before the server gets it.
type SamplingReview string

// When answers are reviewed.
const (
	ReviewAlways SamplingReview = "always"
	// ReviewFirstFromServer: until a person has approved an answer for that server. It starts again with
	// the sidecar.
	ReviewFirstFromServer SamplingReview = "firstFromServer"
	ReviewNever           SamplingReview = "never"
)

// StopSamplingParams names an approved sampling request that a model is answering.
type StopSamplingParams struct {
	TaskID string `json:"taskId"`
	AskID  string `json:"askId"`
	// Keep makes the unfinished text the model's answer. Otherwise the server gets MCP's error for a
	// refusal by the person.
	Keep bool `json:"keep,omitempty"`
}

// StopSamplingResult says whether there was a model to stop.
type StopSamplingResult struct {
	Stopped bool `json:"stopped"`
}
