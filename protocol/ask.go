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
	// Question is who asks, and what.
	Question UseMcpServer `json:"question"`
	// InputKey names the question for good, where an MCP task asks: asked again, it is the same ask.
	InputKey string `json:"inputKey,omitempty"`
	// ExpiresAt is when Assent stops waiting for the person, as they have set it; absent if it waits for ever.
	// [Sidecar.ExtendAsk] gives more time.
	ExpiresAt int64 `json:"expiresAt,omitempty"`
	// WaitsUntil is when the server gives up waiting, where it has said so (2025-11-25, "Tasks": the ttl of a
	// task that it made of its question).
	WaitsUntil int64 `json:"waitsUntil,omitempty"`
	// Draft is what a person has typed and not sent, as the front end put it with [Sidecar.SaveDraft]. It is
	// in [OpenTaskResult] alone, until a person answers.
	Draft json.RawMessage `json:"draft,omitempty"`
	// Delivered: the MCP task's server has acknowledged the answer.
	Delivered bool `json:"delivered,omitempty"`
	// Outcome is absent while the ask is open.
	Outcome *Outcome `json:"outcome,omitempty"`
}

// AskKind is the kind of an ask.
type AskKind string

// The kinds.
const (
	// AskUseMcpServer: the server asks during a tool call or a prompt, or by itself; or a model wants something
	// of a server.
	AskUseMcpServer AskKind = "use_mcp_server"
	// AskAccessMcpResource: the server asks while a resource of its is read.
	AskAccessMcpResource AskKind = "access_mcp_resource"
)

// UseMcpServer is what a server's request asks of the person.
//
//protocol:union
type UseMcpServer interface {
	isUseMcpServer()
	From() Origin
}

// McpElicitation shows a form of the server's making.
//
//protocol:variant UseMcpServer mcp_elicitation
type McpElicitation struct {
	Type tag[McpElicitation] `json:"type"`
	Origin
	ElicitationRequest McpElicitationRequest `json:"elicitationRequest"`
	// ElicitationResponse is the server's answer; absent while the ask is open, and if the server had ended. Secrets in
	// it are masked, except while the server of an MCP task has yet to get them: such an answer outlives the sidecar.
	ElicitationResponse *McpElicitationResponse `json:"elicitationResponse,omitempty"`
}

// McpURLElicitation asks the person to go to a page: there they give the server what it needs, which
// Assent never sees (2025-11-25, "Elicitation: URL mode").
//
//protocol:variant UseMcpServer mcp_url_elicitation
type McpURLElicitation struct {
	Type tag[McpURLElicitation] `json:"type"`
	Origin
	// Message is the server's, in Markdown; it is not to be trusted.
	Message string `json:"message"`
	// URL is http or https. A front end shows all of it before [Sidecar.OpenAskURL] opens it.
	URL string `json:"url"`
	// AwaitsCompletion: the ask stays open when the page was opened, until the server or the person says
	// that it is done. Without it, opening the page is the answer.
	AwaitsCompletion bool `json:"awaitsCompletion,omitempty"`
	// ElicitationResponse is the server's answer; absent if the server got none.
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
	// SentRequest is what went to the model instead, where the person edited the request.
	SentRequest *McpSamplingRequest `json:"sentRequest,omitempty"`
	// Model is the one proposed and, once approved, the one that answers; absent if
	// there is none, and once a person answered in its place.
	Model *Model `json:"model,omitempty"`
	// ModelReason is a line that says why that one was proposed; it may quote the server.
	ModelReason string `json:"modelReason,omitempty"`
	// GrantReason is a line that says why no grant approved the request, where one nearly did.
	GrantReason string `json:"grantReason,omitempty"`
	// Secrets are what looks like one in the request. It leaves only where the person edited them out or
	// confirmed them.
	Secrets []SecretFinding `json:"secrets,omitempty"`
	// Context goes before the conversation if the person includes it; absent if the server asked for none or there is
	// none.
	Context *SamplingContext `json:"context,omitempty"`
	// Progress is what the model has written so far; present only while it writes.
	Progress *SamplingProgress `json:"progress,omitempty"`
	// InReview: the model is done, and a [McpSamplingReview] asks whether the server gets its answer.
	InReview bool `json:"inReview,omitempty"`
	// Result is absent until it is certain what the server gets.
	Result SamplingResult `json:"result,omitempty"`
	// Usage counts the tokens of the models; absent until then, and if no model was asked.
	Usage *SamplingUsage `json:"usage,omitempty"`
}

// SecretFinding is a part of a request that looks like a secret.
type SecretFinding struct {
	// Description is for the person: "an AWS access key".
	Description string `json:"description"`
	// Text is the secret, as it is in the request.
	Text string `json:"text"`
}

// SamplingContext is what a server may have of the conversation, which it asked for with includeContext
// (2025-11-25, "Sampling: includeContext").
type SamplingContext struct {
	// Text is the message of the user that would go before the server's own.
	Text string `json:"text"`
	// ServerNames are those whose results are in it, the asking one among them.
	ServerNames []string `json:"serverNames,omitempty"`
	// Omitted counts the older results that were left out because the whole would have been too long.
	Omitted int `json:"omitted,omitempty"`
}

// SamplingUsage is what a request cost.
type SamplingUsage struct {
	// InputTokens and OutputTokens are those of every answer that was asked for, the withheld ones too.
	InputTokens  int64 `json:"inputTokens"`
	OutputTokens int64 `json:"outputTokens"`
	// Estimated: a provider did not say, and the numbers are Assent's own measure.
	Estimated bool `json:"estimated,omitempty"`
	// Cost is in US dollars; absent if the price of a model is not known.
	Cost *float64 `json:"cost,omitempty"`
}

// McpSamplingReview shows what a model answered, before the server gets it (2025-11-25, "Sampling:
// user interaction model"). [YesButtonClicked] returns it, edited or not, [NoButtonClicked] and
// [CancelButtonClicked] withhold it, and [RegenerateButtonClicked] has a model answer anew, after which
// there is another review.
//
//protocol:variant UseMcpServer mcp_sampling_review
type McpSamplingReview struct {
	Type tag[McpSamplingReview] `json:"type"`
	Origin
	// SamplingMessageID is the message of the [McpSampling] that was approved.
	SamplingMessageID int64 `json:"samplingMessageId"`
	// Model is the one that answered and, once the person asks for another answer, the one that gives it.
	Model *Model `json:"model,omitempty"`
	// SamplingResponse is what the model answered.
	SamplingResponse McpSamplingResponse `json:"samplingResponse"`
	// SentResponse is what the server got instead, where the person edited the answer.
	SentResponse *McpSamplingResponse `json:"sentResponse,omitempty"`
	// Problem is a sentence on why the model gave no other answer. The review is then of the one before.
	Problem string `json:"problem,omitempty"`
}

// RepeatMcpCall asks whether a call is made once more that has failed, and may have done something before it
// did. Assent asks this, not the server. [YesButtonClicked] makes the call once more; [NoButtonClicked] and
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
	// more than one where the server's era does not say which call a request belongs to.
	ToolNames []string `json:"toolNames,omitempty"`
	// ResourceURI is set where the server asks while that resource is read.
	ResourceURI string `json:"resourceUri,omitempty"`
	// MessageID is that of the call to which the question belongs; absent if unknown.
	MessageID int64 `json:"messageId,omitempty"`
	// PlacedBy names the front end in which a person said that the question belongs here, where nothing
	// proved it; see [UnclaimedAsk]. What is for one tool alone does not apply to it: no fixed answer, and
	// no grant of a tool.
	PlacedBy string `json:"placedBy,omitempty"`
}

// From returns the origin of a question of any kind.
func (o Origin) From() Origin { return o }

// Outcome is how an ask was settled.
type Outcome struct {
	Reason OutcomeReason `json:"reason"`
	// By names the front end whose answer it was; absent if no person answered.
	By string `json:"by,omitempty"`
	At int64  `json:"at"`
	// Detail is a sentence for the person, where the reason alone does not say enough.
	Detail string `json:"detail,omitempty"`
	// Undelivered says why the server did not get the answer, in a sentence for the person; absent if nothing of
	// the kind is known.
	Undelivered string `json:"undelivered,omitempty"`
	// CompletedAt is when the server reported that the person has finished on the page that they opened as their answer
	// (2025-11-25, "Elicitation: Completion Notifications").
	CompletedAt int64 `json:"completedAt,omitempty"`
	// GrantID names the grant that approved, with [OutcomeGranted], or that the person made with their
	// answer.
	GrantID string `json:"grantId,omitempty"`
	// DeclinedAll: with it, or before it, the person declined everything that the server elicits until the
	// sidecar ends, or until [Sidecar.AskAgain].
	DeclinedAll bool `json:"declinedAll,omitempty"`
	// Standing is the earlier decision of the person that settled the ask; absent if they were asked, or if a grant or a
	// setting settled it.
	Standing StandingDecision `json:"standing,omitempty"`
}

// StandingDecision is a decision of a person that answers later asks.
type StandingDecision string

// The standing decisions.
const (
	// StandingDeclineAll: they declined everything from the server; see [DeclinedServer].
	StandingDeclineAll StandingDecision = "declineAll"
	// StandingNever, StandingAlways and StandingTask are a [ToolRule] with [RememberNever], [RememberAlways] and
	// [RememberTask].
	StandingNever  StandingDecision = "never"
	StandingAlways StandingDecision = "always"
	StandingTask   StandingDecision = "task"
)

// OutcomeReason is why an ask is settled. Only a person's own act is told as "answered", "declined",
// "dismissed" or "regenerated".
type OutcomeReason string

// The reasons.
const (
	// OutcomeAnswered: a person approved or submitted.
	OutcomeAnswered OutcomeReason = "answered"
	// OutcomeDeclined: a person said no.
	OutcomeDeclined OutcomeReason = "declined"
	// OutcomeDismissed: a person put the ask away, or closed its task.
	OutcomeDismissed OutcomeReason = "dismissed"
	// OutcomeRegenerated: a person wanted another answer than the one to review.
	OutcomeRegenerated OutcomeReason = "regenerated"
	// OutcomeTimedOut: the person did not answer within the time that they have set for it.
	OutcomeTimedOut OutcomeReason = "timedOut"
	// OutcomeServerStoppedWaiting: the server cancelled its request.
	OutcomeServerStoppedWaiting OutcomeReason = "serverStoppedWaiting"
	// OutcomeCallEnded: the call that the ask belonged to was cancelled, or ended.
	OutcomeCallEnded OutcomeReason = "callEnded"
	// OutcomeServerLost: the connection to the server ended.
	OutcomeServerLost OutcomeReason = "serverLost"
	// OutcomeCompleted: the server said that what the person was sent to do is done.
	OutcomeCompleted OutcomeReason = "completed"
	// OutcomeGranted: a grant that the person had made approved it, or an answer that they had set.
	OutcomeGranted OutcomeReason = "granted"
	// OutcomeRestarted: the sidecar stopped while the ask was open, and the request with it.
	OutcomeRestarted OutcomeReason = "restarted"
	// OutcomeTakenOver: the task was taken over in another window, and the server's request could not follow. Only tasks of
	// earlier versions have it.
	OutcomeTakenOver OutcomeReason = "takenOver"
	// OutcomeNoFrontEnd: no front end is attached that can show such a question.
	OutcomeNoFrontEnd OutcomeReason = "noFrontEnd"
	// OutcomeDenied: the person's limits do not allow the request, and they were not asked.
	OutcomeDenied OutcomeReason = "denied"
)

// McpElicitationRequest is MCP's elicitation/create in form mode, its schema read into fields.
type McpElicitationRequest struct {
	// Message is the server's, in Markdown; it is not to be trusted.
	Message string `json:"message"`
	// Fields are in the order in which the server wrote them.
	Fields []Field `json:"fields,omitempty"`
	// RequestedSchema is the JSON text of the schema as the server wrote it, for a person to read.
	RequestedSchema string `json:"requestedSchema,omitempty"`
}

// McpElicitationResponse is MCP's result of elicitation/create.
type McpElicitationResponse struct {
	Action ElicitationAction `json:"action"`
	// Content is present with [ActionAccept] alone.
	Content json.RawMessage `json:"content,omitempty"`
	// SecretFields are [AskResponseParams.SecretFields]. The server does not get this list.
	SecretFields []string `json:"secretFields,omitempty"`
}

// ElicitationAction is MCP's word for the way out.
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
	// Temperature is absent if the server gave none: 0 is a value.
	Temperature   *float64        `json:"temperature,omitempty"`
	MaxTokens     int64           `json:"maxTokens"`
	StopSequences []string        `json:"stopSequences,omitempty"`
	Metadata      json.RawMessage `json:"metadata,omitempty"`
	// Tools are what the model may ask the server to run for it (2025-11-25, "Sampling with Tools").
	Tools []SamplingTool `json:"tools,omitempty"`
	// ToolChoice is absent if the server left it to the model, as [ToolChoiceAuto] does.
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
	// StopReason is "endTurn", "stopSequence", "maxTokens", "toolUse", the provider's own word, or "userStopped"
	// where a person stopped the model and had returned what it had written by then.
	StopReason string `json:"stopReason,omitempty"`
	// ByPerson: a person wrote it, and no model was asked; see [HandWritten]. The server does not get this member.
	ByPerson bool `json:"byPerson,omitempty"`
}

// SamplingWithheld says that a person kept the completion from the server, which was told that they
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
	// Reason is a sentence for the person, naming the way out.
	Reason string `json:"reason"`
}

// SamplingProgress is the completion so far.
type SamplingProgress struct {
	Text string `json:"text"`
	// Sequence is the number that the next piece bears.
	Sequence int64 `json:"sequence"`
}

// McpSamplingProgressParams is one piece of a completion.
type McpSamplingProgressParams struct {
	TaskID    string `json:"taskId"`
	MessageID int64  `json:"messageId"`
	// Sequence counts the pieces of one ask from 0; those of another answer to it go on counting.
	Sequence int64  `json:"sequence"`
	Chunk    string `json:"chunk"`
}

// HandWritten is a completion that a person writes in place of a model.
type HandWritten struct {
	// Text is the content. It is not blank.
	Text string `json:"text"`
	// Model is the name that the server gets. It is not blank, and has at most 200 bytes.
	Model string `json:"model"`
	// StopReason is MCP's "endTurn", "stopSequence" or "maxTokens", or another word of at most 200 bytes, but not
	// "toolUse": there are no calls. Absent if the server is to get none.
	StopReason string `json:"stopReason,omitempty"`
}

// SamplingEdit is what a person makes of a sampling request before it goes to a model.
type SamplingEdit struct {
	// Messages replaces the conversation; absent leaves it as the server wrote it.
	Messages []SamplingMessage `json:"messages,omitempty"`
	// SystemPrompt is the one to send; absent or empty sends none.
	SystemPrompt string `json:"systemPrompt,omitempty"`
	// Temperature is from 0 to 2; absent sends none.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens is at least 1, and at most what the server asked for.
	MaxTokens int64 `json:"maxTokens"`
}

// SamplingSettings is how completions are asked for.
type SamplingSettings struct {
	// Review is absent if the person has not said: it is then [ReviewAlways].
	Review SamplingReview `json:"review,omitempty"`
	// Limits bounds what servers may ask for; absent if the person has set none.
	Limits *SamplingLimits `json:"limits,omitempty"`
}

// SamplingLimits bounds the sampling requests of each server. What is absent has its default, and 0 allows
// nothing.
type SamplingLimits struct {
	// RequestsPerMinute counts those that came in within any minute.
	RequestsPerMinute *int64 `json:"requestsPerMinute,omitempty"`
	// InFlight counts those that were neither answered nor refused yet.
	InFlight *int64 `json:"inFlight,omitempty"`
	// ToolRounds counts how often the model of one conversation may go to the server's tools and back, each
	// of which may ask a model again.
	ToolRounds *int64 `json:"toolRounds,omitempty"`
	// PromptBytes is of all texts, tools and results, ImageBytes of all images and audio together, decoded.
	PromptBytes *int64 `json:"promptBytes,omitempty"`
	ImageBytes  *int64 `json:"imageBytes,omitempty"`
}

// SamplingReview is when a person sees a model's answer before the server gets it.
type SamplingReview string

// When answers are reviewed.
const (
	ReviewAlways SamplingReview = "always"
	// ReviewFirstFromServer is until a person let an answer go to that server, since the sidecar started.
	ReviewFirstFromServer SamplingReview = "firstFromServer"
	ReviewNever           SamplingReview = "never"
)

// StopSamplingParams names an approved sampling request that a model is answering.
type StopSamplingParams struct {
	TaskID string `json:"taskId"`
	AskID  string `json:"askId"`
	// Keep: what is written goes on as the model's answer. Without it the server is told that the person
	// refused.
	Keep bool `json:"keep,omitempty"`
}

// StopSamplingResult says whether there was a model to stop.
type StopSamplingResult struct {
	Stopped bool `json:"stopped"`
}
