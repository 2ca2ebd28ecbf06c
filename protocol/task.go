package protocol

import "encoding/json"

// Task is one conversation. It owns its messages, its asks, and the calls and connections that it
// started.
type Task struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	CreatedAt int64  `json:"createdAt"`
	// Closed: the task can only be read.
	Closed bool `json:"closed,omitempty"`
	// DeletedAt is when a person deleted the task; absent if it is not deleted. A deleted task is in no
	// list and cannot be read. [Sidecar.RestoreTask] restores it until it is removed permanently.
	DeletedAt int64 `json:"deletedAt,omitempty"`
	// OpenAsks counts the asks that wait for a person.
	OpenAsks int `json:"openAsks"`
	// LastNumber is the number of the task's newest event.
	LastNumber int64 `json:"lastNumber"`
	// Workspace names the workspace that the task is of; absent if it is that of the front end. Such a task is in no list.
	Workspace string `json:"workspace,omitempty"`
	// Running: a turn is under way. [Sidecar.StopChat] ends it.
	Running bool `json:"running,omitempty"`
	// Awaits names the servers that the turn waits for before it asks the model; absent if it waits for none.
	Awaits *AwaitedServers `json:"awaits,omitempty"`
	// Queue holds the messages that the person typed during the turn. The first one is sent first.
	Queue []QueuedMessage `json:"queue,omitempty"`
	// Settings is absent if the person has set none; the default is all servers and the first
	// model.
	Settings *TaskSettings `json:"settings,omitempty"`
}

// AwaitedServers are servers that have not listed their tools yet. [Sidecar.SkipServers] ends the wait.
type AwaitedServers struct {
	ServerNames []string `json:"serverNames,omitempty"`
	// Since is when the first of them was asked, in milliseconds since 1970.
	Since int64 `json:"since"`
}

// TaskEventParams is one change of one task.
type TaskEventParams struct {
	TaskID string `json:"taskId"`
	// Number is one more than that of the task's previous event.
	Number int64 `json:"number"`
	// OpenAsks is the task's count after this event.
	OpenAsks int   `json:"openAsks"`
	Event    Event `json:"event"`
	// Unsaved: the change is only in memory, because the store cannot be written. It is lost if the sidecar ends
	// before [FrontEnd.StorageRecovered]. The changed message has [Message.Unsaved].
	Unsaved bool `json:"unsaved,omitempty"`
	// Workspace is [Task.Workspace]. The front end gets the event because it opened the task.
	Workspace string `json:"workspace,omitempty"`
}

// Event is a change of a task.
//
//protocol:union
type Event interface{ isEvent() }

// TaskChanged says that the task is new, or has another title, another queue or other settings, or was
// closed, deleted or restored, or that a turn of its conversation began or ended, or waits for other servers.
//
//protocol:variant Event taskChanged
type TaskChanged struct {
	Type tag[TaskChanged] `json:"type"`
	Task Task             `json:"task"`
}

// MessageAdded brings a new message.
//
//protocol:variant Event messageAdded
type MessageAdded struct {
	Type    tag[MessageAdded] `json:"type"`
	Message Message           `json:"message"`
}

// AskSettled says how an ask was settled. It is final.
//
//protocol:variant Event askSettled
type AskSettled struct {
	Type      tag[AskSettled] `json:"type"`
	MessageID int64           `json:"messageId"`
	Outcome   Outcome         `json:"outcome"`
	// ElicitationResponse is the answer that the server got; only for a form, and only if the server
	// was still connected.
	ElicitationResponse *McpElicitationResponse `json:"elicitationResponse,omitempty"`
	// Model is the model that answers next, for an approved sampling request or after
	// [RegenerateButtonClicked].
	Model *Model `json:"model,omitempty"`
	// SentRequest is the edited request to the model; absent if the person changed nothing.
	SentRequest *McpSamplingRequest `json:"sentRequest,omitempty"`
	// SentResponse is the answer that the server got, if the person edited the model's answer or wrote it. An answer
	// that the person wrote is the [McpSampling.Result], and the ask no longer has a proposed model.
	SentResponse *McpSamplingResponse `json:"sentResponse,omitempty"`
	// SentArguments are the edited arguments of a tool's call; absent if the person changed
	// nothing.
	SentArguments json.RawMessage `json:"sentArguments,omitempty"`
	// Permission is [HostPermission.Answer].
	Permission *PermissionAnswer `json:"permission,omitempty"`
}

// AskExtended says that an open ask has a new time limit.
//
//protocol:variant Event askExtended
type AskExtended struct {
	Type      tag[AskExtended] `json:"type"`
	MessageID int64            `json:"messageId"`
	ExpiresAt int64            `json:"expiresAt"`
}

// AskCompleted says that the server has reported the completion of a settled [McpURLElicitation].
//
//protocol:variant Event askCompleted
type AskCompleted struct {
	Type        tag[AskCompleted] `json:"type"`
	MessageID   int64             `json:"messageId"`
	CompletedAt int64             `json:"completedAt"`
}

// AskUndelivered says that the server did not get the answer to a settled ask. If the reason is empty, the server got
// the answer later, when it repeated the request.
//
//protocol:variant Event askUndelivered
type AskUndelivered struct {
	Type      tag[AskUndelivered] `json:"type"`
	MessageID int64               `json:"messageId"`
	// Reason is [Outcome.Undelivered].
	Reason string `json:"reason"`
}

// AskDelivered says that the server of an MCP task has acknowledged the answer to an ask, or that an agent's host has
// acted on it.
//
//protocol:variant Event askDelivered
type AskDelivered struct {
	Type      tag[AskDelivered] `json:"type"`
	MessageID int64             `json:"messageId"`
}

// SamplingMoved says which step an approved sampling request has reached: a model answers again, or
// the person reviews the answer.
//
//protocol:variant Event samplingMoved
type SamplingMoved struct {
	Type      tag[SamplingMoved] `json:"type"`
	MessageID int64              `json:"messageId"`
	Model     *Model             `json:"model,omitempty"`
	InReview  bool               `json:"inReview,omitempty"`
	// Progress is present if a model answers again. It is empty at first.
	Progress *SamplingProgress `json:"progress,omitempty"`
}

// SamplingEnded brings the completion of an approved sampling request, or why there is none.
//
//protocol:variant Event samplingEnded
type SamplingEnded struct {
	Type      tag[SamplingEnded] `json:"type"`
	MessageID int64              `json:"messageId"`
	Result    SamplingResult     `json:"result"`
	// Usage counts the tokens of all models; absent if none was asked.
	Usage *SamplingUsage `json:"usage,omitempty"`
}

// CallEnded says how a call ended. It is sent again if the content of the result was removed.
//
//protocol:variant Event callEnded
type CallEnded struct {
	Type      tag[CallEnded] `json:"type"`
	MessageID int64          `json:"messageId"`
	EndedAt   int64          `json:"endedAt"`
	Result    CallResult     `json:"result"`
}

// CallTaskChanged brings the server's new state of the MCP task that a call became.
//
//protocol:variant Event callTaskChanged
type CallTaskChanged struct {
	Type      tag[CallTaskChanged] `json:"type"`
	MessageID int64                `json:"messageId"`
	Task      McpTask              `json:"task"`
}

// CallJoined brings [Call.Joined] as it is now.
//
//protocol:variant Event callJoined
type CallJoined struct {
	Type      tag[CallJoined] `json:"type"`
	MessageID int64           `json:"messageId"`
	// Joined is absent if no equal call waits for the result any more.
	Joined *JoinedCall `json:"joined,omitempty"`
}

// Message is one entry of a conversation.
type Message struct {
	// ID counts a task's messages from 1.
	ID int64 `json:"id"`
	// Time is when the message was created.
	Time int64 `json:"time"`
	Body Body  `json:"body"`
	// Unsaved: the current state of the message is only in memory; see [TaskEventParams.Unsaved].
	Unsaved bool `json:"unsaved,omitempty"`
}

// Body is the content of a message.
//
//protocol:union
type Body interface{ isBody() }

// Notice is a text from Assent itself.
//
//protocol:variant Body notice
type Notice struct {
	Type  tag[Notice] `json:"type"`
	Level NoticeLevel `json:"level"`
	Text  string      `json:"text"`
	// Unavailable are the servers that the text counts. The model does not have their tools.
	Unavailable []UnavailableServer `json:"unavailable,omitempty"`
	// Refused is the count in a text about refused questions. Several notices of a task may count the questions of one
	// server; the newest has the highest count since Assent started.
	Refused *RefusedQuestions `json:"refused,omitempty"`
}

// RefusedQuestions counts the questions of a server that were refused without asking, because of a setting.
type RefusedQuestions struct {
	ServerName string `json:"serverName"`
	// Count is over all tasks since Assent started. It may have grown since.
	Count int64 `json:"count"`
	// Setting is the name in VS Code of the setting that caused it, such as assent.limits.maxOpen.
	Setting string `json:"setting"`
	// Max is how many questions of one server may wait at once.
	Max int64 `json:"max"`
}

// UnavailableServer is a server with tools that the model does not have.
type UnavailableServer struct {
	ServerName string `json:"serverName"`
	// Reason is one or two sentences for the person: the [Server.Reason] at that time, or that the server has not
	// answered yet.
	Reason string `json:"reason"`
}

// NoticeLevel is the severity of a notice.
type NoticeLevel string

// The levels of notices.
const (
	NoticeInfo    NoticeLevel = "info"
	NoticeWarning NoticeLevel = "warning"
	NoticeError   NoticeLevel = "error"
)

// Call is a request to a server. It runs, and ends once.
//
//protocol:variant Body call
type Call struct {
	Type       tag[Call]   `json:"type"`
	ServerName string      `json:"serverName"`
	Request    CallRequest `json:"request"`
	// ToolUse is set if a model asked for the call, and absent if the person made it.
	ToolUse *ToolUseRef `json:"toolUse,omitempty"`
	// FromApp is the message of the call with the app that asked for this one; absent if no app did.
	FromApp int64 `json:"fromApp,omitempty"`
	// AppURI is the ui:// URI of the tool's MCP App; absent if it has none, or if that is not known.
	AppURI string `json:"appUri,omitempty"`
	// Progress is the server's last report; present only while the call runs.
	Progress *Progress `json:"progress,omitempty"`
	// Task is present once the call is an MCP task. Such a call outlives the sidecar.
	Task *McpTask `json:"task,omitempty"`
	// Joined is set if a host made an equal call again, which gets the result of this one.
	Joined *JoinedCall `json:"joined,omitempty"`
	// EndedAt and Result are absent while the call runs.
	EndedAt int64      `json:"endedAt,omitempty"`
	Result  CallResult `json:"result,omitempty"`
}

// JoinedCall says that a host made an equal call again, while this one waited for a person.
type JoinedCall struct {
	// GivenUp: the host of the first call had gone, or had given it up.
	GivenUp bool `json:"givenUp,omitempty"`
	// Separable: [Sidecar.RunSeparately] can run the equal call on its own.
	Separable bool `json:"separable,omitempty"`
}

// CallRequest is a request to a server, named by MCP's method.
//
//protocol:union
type CallRequest interface{ isCallRequest() }

// CallToolRequest runs a tool.
//
//protocol:variant CallRequest tools/call
type CallToolRequest struct {
	Type     tag[CallToolRequest] `json:"type"`
	ToolName string               `json:"toolName"`
	// Title is the tool's title, cut if it is long; absent if it has none other than its name, or if the sidecar had
	// not read it yet. In [StartCallParams] it is ignored.
	Title string `json:"title,omitempty"`
	// Arguments is the JSON object to send.
	Arguments json.RawMessage `json:"arguments"`
	// ArgumentsText is the text of that object; present if a double cannot hold one of its numbers
	// exactly. In [StartCallParams] it replaces Arguments.
	ArgumentsText string `json:"argumentsText,omitempty"`
	// TaskTTL is how many milliseconds the server is asked to keep the MCP task (2025-11-25, "Tasks": ttl);
	// absent means a week. A server of 2026-07-28 chooses the time itself.
	TaskTTL int64 `json:"taskTtl,omitempty"`
}

// TaskResultRequest follows an MCP task that Assent has no call for (see [ServerMcpTask]) to its end,
// with progress, questions and cancelling, like the call that created it. It is refused if a call
// follows the task already, or has its result.
//
//protocol:variant CallRequest tasks/result
type TaskResultRequest struct {
	Type      tag[TaskResultRequest] `json:"type"`
	McpTaskID string                 `json:"mcpTaskId"`
}

// ReadResourceRequest reads a resource.
//
//protocol:variant CallRequest resources/read
type ReadResourceRequest struct {
	Type tag[ReadResourceRequest] `json:"type"`
	URI  string                   `json:"uri"`
}

// GetPromptRequest fills in a prompt.
//
//protocol:variant CallRequest prompts/get
type GetPromptRequest struct {
	Type       tag[GetPromptRequest] `json:"type"`
	PromptName string                `json:"promptName"`
	Arguments  map[string]string     `json:"arguments,omitempty"`
}

// CallResult is how a call ended. A result never becomes an error, nor an error a result.
//
//protocol:union
type CallResult interface{ isCallResult() }

// ToolResult is a tool's result or the contents of a resource. With IsError, the tool reports that
// it failed.
//
//protocol:variant CallResult result
type ToolResult struct {
	Type              tag[ToolResult] `json:"type"`
	Content           []ContentBlock  `json:"content,omitempty"`
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"`
	// StructuredText is the text of StructuredContent; present if a double cannot hold one of its numbers exactly.
	StructuredText string `json:"structuredText,omitempty"`
	// Repeats are the places in Content, from 0 and ascending, of the texts that only repeat StructuredContent.
	Repeats []int `json:"repeats,omitempty"`
	// Mismatches says in sentences for the person where StructuredContent is not as the tool's outputSchema declares it;
	// absent if it is, or if the tool's list is not known.
	Mismatches []string `json:"mismatches,omitempty"`
	IsError    bool     `json:"isError,omitempty"`
	// Meta is the result's _meta. Only the tool's app gets it.
	Meta json.RawMessage `json:"_meta,omitempty"`
	// RemovedAfter is the number of days after which [McpTaskSettings] had the content removed;
	// absent if it was not removed.
	RemovedAfter int `json:"removedAfter,omitempty"`
}

// CallError is the JSON-RPC error that the server gave instead of a result.
//
//protocol:variant CallResult error
type CallError struct {
	Type    tag[CallError]  `json:"type"`
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// CallCancelled says that a person cancelled the call, or closed its task.
//
//protocol:variant CallResult cancelled
type CallCancelled struct {
	Type tag[CallCancelled] `json:"type"`
}

// PromptResult is a prompt with its arguments filled in.
//
//protocol:variant CallResult prompt
type PromptResult struct {
	Type        tag[PromptResult] `json:"type"`
	Description string            `json:"description,omitempty"`
	Messages    []PromptMessage   `json:"messages,omitempty"`
}

// PromptMessage is one message of a prompt.
type PromptMessage struct {
	Role    Role         `json:"role"`
	Content ContentBlock `json:"content"`
}

// CallAbandoned says that Assent ended the call, because the server's request got no answer that
// the server could continue with. A legacy server gets the error and decides by itself.
//
//protocol:variant CallResult abandoned
type CallAbandoned struct {
	Type tag[CallAbandoned] `json:"type"`
	// Reason is a sentence for the person.
	Reason string `json:"reason"`
}

// Progress is the progress of a call, in the server's units.
type Progress struct {
	Progress float64 `json:"progress"`
	// Total is 0 if the server does not give one.
	Total   float64 `json:"total,omitempty"`
	Message string  `json:"message,omitempty"`
	At      int64   `json:"at"`
}

// CallLost says that no answer can come: the server could not be started, died or was stopped, the
// sidecar was restarted, or the answer was too long.
//
//protocol:variant CallResult lost
type CallLost struct {
	Type tag[CallLost] `json:"type"`
	// Reason is a sentence for the person. It says what to do.
	Reason string `json:"reason"`
}

// ContentBlock is MCP's content: of a tool's result, or of a sampling message.
//
//protocol:union
type ContentBlock interface{ isContentBlock() }

// TextContent is plain text or Markdown.
//
//protocol:variant ContentBlock,ToolResultBlock text
type TextContent struct {
	Type tag[TextContent] `json:"type"`
	Text string           `json:"text"`
	// Annotations are absent if the server gives none.
	Annotations *Annotations `json:"annotations,omitempty"`
}

// ImageContent is a picture.
//
//protocol:variant ContentBlock,ToolResultBlock image
type ImageContent struct {
	Type tag[ImageContent] `json:"type"`
	// Data is base64.
	Data        string       `json:"data"`
	MIMEType    string       `json:"mimeType"`
	Annotations *Annotations `json:"annotations,omitempty"`
}

// AudioContent is a sound.
//
//protocol:variant ContentBlock,ToolResultBlock audio
type AudioContent struct {
	Type tag[AudioContent] `json:"type"`
	// Data is base64.
	Data        string       `json:"data"`
	MIMEType    string       `json:"mimeType"`
	Annotations *Annotations `json:"annotations,omitempty"`
}

// ResourceLink points to a resource that can be read from the server.
//
//protocol:variant ContentBlock,ToolResultBlock resource_link
type ResourceLink struct {
	Type        tag[ResourceLink] `json:"type"`
	URI         string            `json:"uri"`
	Name        string            `json:"name"`
	Title       string            `json:"title,omitempty"`
	Description string            `json:"description,omitempty"`
	MIMEType    string            `json:"mimeType,omitempty"`
	Annotations *Annotations      `json:"annotations,omitempty"`
}

// EmbeddedResource is a resource's own contents.
//
//protocol:variant ContentBlock,ToolResultBlock resource
type EmbeddedResource struct {
	Type        tag[EmbeddedResource] `json:"type"`
	Resource    ResourceContents      `json:"resource"`
	Annotations *Annotations          `json:"annotations,omitempty"`
}

// Annotations are a server's hints for whom a block is and how much it matters (2025-06-18, "Resources: Annotations").
type Annotations struct {
	// Audience is empty if the block is for both, the person ("user") and the model ("assistant").
	Audience []Role `json:"audience,omitempty"`
	// Priority is from 0, which means optional, to 1, which means required; absent if the server does not say.
	Priority *float64 `json:"priority,omitempty"`
}

// ResourceContents is text or, in base64, bytes.
type ResourceContents struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType,omitempty"`
	Text     string `json:"text,omitempty"`
	Blob     string `json:"blob,omitempty"`
}

// UnknownContent stands for a block of a type that Assent does not know, kept whole.
//
//protocol:variant ContentBlock unknown
type UnknownContent struct {
	Type tag[UnknownContent] `json:"type"`
	Raw  json.RawMessage     `json:"raw"`
}
