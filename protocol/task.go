package protocol

import "encoding/json"

// Task is one conversation: it owns its messages, its asks, and the calls and connections that it
// started.
type Task struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	CreatedAt int64  `json:"createdAt"`
	// Closed tasks can be read and do nothing else.
	Closed bool `json:"closed,omitempty"`
	// DeletedAt is when a person deleted the task; absent if nobody did. A deleted task is in no list, and
	// cannot even be read, but [Sidecar.RestoreTask] brings it back until it is removed for good.
	DeletedAt int64 `json:"deletedAt,omitempty"`
	// OpenAsks counts the asks that wait for a person.
	OpenAsks int `json:"openAsks"`
	// LastNumber is the number of the task's newest event.
	LastNumber int64 `json:"lastNumber"`
	// Workspace names the workspace that the task is of; absent if it is that of the front end. Such a task is in no list.
	Workspace string `json:"workspace,omitempty"`
	// Running: a turn of its conversation with a model is under way, which [Sidecar.StopChat] ends.
	Running bool `json:"running,omitempty"`
	// Queue holds the messages that the person typed during the turn. The first one is sent first.
	Queue []QueuedMessage `json:"queue,omitempty"`
	// Settings is absent if the person has set nothing: all servers, and the first model.
	Settings *TaskSettings `json:"settings,omitempty"`
}

// TaskEventParams is one change of one task.
type TaskEventParams struct {
	TaskID string `json:"taskId"`
	// Number is one more than that of the task's event before.
	Number int64 `json:"number"`
	// OpenAsks is the task's count after this event.
	OpenAsks int   `json:"openAsks"`
	Event    Event `json:"event"`
	// Unsaved reports that the change is in memory only, because the store cannot be written. It is lost if the sidecar
	// ends before [FrontEnd.StorageRecovered]. The changed message has [Message.Unsaved].
	Unsaved bool `json:"unsaved,omitempty"`
	// Workspace is [Task.Workspace]. The front end gets the event because it opened the task.
	Workspace string `json:"workspace,omitempty"`
}

// Event is what changed.
//
//protocol:union
type Event interface{ isEvent() }

// TaskChanged says that the task is new, or has another title, another queue or other settings, or was
// closed, deleted or restored, or that a turn of its conversation began or ended.
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

// AskSettled says how an ask was settled, for good.
//
//protocol:variant Event askSettled
type AskSettled struct {
	Type      tag[AskSettled] `json:"type"`
	MessageID int64           `json:"messageId"`
	Outcome   Outcome         `json:"outcome"`
	// ElicitationResponse is what the server was told, where the ask was a form and there was still a
	// server to tell.
	ElicitationResponse *McpElicitationResponse `json:"elicitationResponse,omitempty"`
	// Model answers the server's request from here on, where the ask was an approved sampling, or a
	// review after which a model answers anew.
	Model *Model `json:"model,omitempty"`
	// SentRequest is what goes to the model, where the person edited the server's request.
	SentRequest *McpSamplingRequest `json:"sentRequest,omitempty"`
	// SentResponse is what the server got, where the person edited the model's answer, or wrote it in place of a model:
	// then it is the [McpSampling.Result], and no model is proposed any more.
	SentResponse *McpSamplingResponse `json:"sentResponse,omitempty"`
	// SentArguments is what a tool is called with, where the person edited what the model wrote.
	SentArguments json.RawMessage `json:"sentArguments,omitempty"`
}

// AskExtended says that there is more time for an open ask.
//
//protocol:variant Event askExtended
type AskExtended struct {
	Type      tag[AskExtended] `json:"type"`
	MessageID int64            `json:"messageId"`
	ExpiresAt int64            `json:"expiresAt"`
}

// AskCompleted says that a server is done with the page of a [McpURLElicitation] that was settled.
//
//protocol:variant Event askCompleted
type AskCompleted struct {
	Type        tag[AskCompleted] `json:"type"`
	MessageID   int64             `json:"messageId"`
	CompletedAt int64             `json:"completedAt"`
}

// AskUndelivered says that the server did not get the answer to an ask that was settled; with an empty reason, that it
// got the answer later, when it asked the same again.
//
//protocol:variant Event askUndelivered
type AskUndelivered struct {
	Type      tag[AskUndelivered] `json:"type"`
	MessageID int64               `json:"messageId"`
	// Reason is [Outcome.Undelivered].
	Reason string `json:"reason"`
}

// AskDelivered says that the server of an MCP task has acknowledged the answer to an ask.
//
//protocol:variant Event askDelivered
type AskDelivered struct {
	Type      tag[AskDelivered] `json:"type"`
	MessageID int64             `json:"messageId"`
}

// SamplingMoved says where an approved sampling request has got to: back to a model that answers anew,
// or to the person who reviews the answer.
//
//protocol:variant Event samplingMoved
type SamplingMoved struct {
	Type      tag[SamplingMoved] `json:"type"`
	MessageID int64              `json:"messageId"`
	Model     *Model             `json:"model,omitempty"`
	InReview  bool               `json:"inReview,omitempty"`
	// Progress is present where a model answers anew: nothing is written yet.
	Progress *SamplingProgress `json:"progress,omitempty"`
}

// SamplingEnded brings the completion of an approved sampling request, or why there is none.
//
//protocol:variant Event samplingEnded
type SamplingEnded struct {
	Type      tag[SamplingEnded] `json:"type"`
	MessageID int64              `json:"messageId"`
	Result    SamplingResult     `json:"result"`
	// Usage is what the models read and wrote for it, where any was asked.
	Usage *SamplingUsage `json:"usage,omitempty"`
}

// CallEnded says how a call ended; once more where the content of its result was removed.
//
//protocol:variant Event callEnded
type CallEnded struct {
	Type      tag[CallEnded] `json:"type"`
	MessageID int64          `json:"messageId"`
	EndedAt   int64          `json:"endedAt"`
	Result    CallResult     `json:"result"`
}

// CallTaskChanged brings what a server said of the MCP task that a call became.
//
//protocol:variant Event callTaskChanged
type CallTaskChanged struct {
	Type      tag[CallTaskChanged] `json:"type"`
	MessageID int64                `json:"messageId"`
	Task      McpTask              `json:"task"`
}

// Message is one entry of a conversation.
type Message struct {
	// ID counts a task's messages from 1.
	ID int64 `json:"id"`
	// Time is when the message came to be.
	Time int64 `json:"time"`
	Body Body  `json:"body"`
	// Unsaved reports that the message, as it is now, is in memory only; see [TaskEventParams.Unsaved].
	Unsaved bool `json:"unsaved,omitempty"`
}

// Body is what a message holds.
//
//protocol:union
type Body interface{ isBody() }

// Notice is something that Assent itself has to say.
//
//protocol:variant Body notice
type Notice struct {
	Type  tag[Notice] `json:"type"`
	Level NoticeLevel `json:"level"`
	Text  string      `json:"text"`
	// Unavailable holds the servers that the text counts: the model does not have their tools.
	Unavailable []UnavailableServer `json:"unavailable,omitempty"`
	// Refused is what the text counts, if it is of questions that the person was not asked. Several notices of a task may
	// count those of one server: the newest has the highest count, until Assent starts anew.
	Refused *RefusedQuestions `json:"refused,omitempty"`
}

// RefusedQuestions counts the questions of a server that were refused without asking, because of a setting.
type RefusedQuestions struct {
	ServerName string `json:"serverName"`
	// Count is of those since Assent started, in all tasks. There may have been more since.
	Count int64 `json:"count"`
	// Setting is the cause, by the name that VS Code's settings have for it, such as assent.limits.maxOpen.
	Setting string `json:"setting"`
	// Max is how many of a server's questions the setting lets wait at once.
	Max int64 `json:"max"`
}

// UnavailableServer is a server with tools that the model does not have.
type UnavailableServer struct {
	ServerName string `json:"serverName"`
	// Reason is one or two sentences for the person: the [Server.Reason] at that time, or that the server has not answered
	// yet.
	Reason string `json:"reason"`
}

// NoticeLevel is how much a notice matters.
type NoticeLevel string

// The levels of notices.
const (
	NoticeInfo    NoticeLevel = "info"
	NoticeWarning NoticeLevel = "warning"
	NoticeError   NoticeLevel = "error"
)

// Call is a request to a server: it runs, and ends once.
//
//protocol:variant Body call
type Call struct {
	Type       tag[Call]   `json:"type"`
	ServerName string      `json:"serverName"`
	Request    CallRequest `json:"request"`
	// ToolUse is set where a model asked for the call, and absent if the person made it.
	ToolUse *ToolUseRef `json:"toolUse,omitempty"`
	// Progress is what the server said last; present only while the call runs.
	Progress *Progress `json:"progress,omitempty"`
	// Task is present once the server made an MCP task of the call. Such a call outlives the sidecar.
	Task *McpTask `json:"task,omitempty"`
	// EndedAt and Result are absent while the call runs.
	EndedAt int64      `json:"endedAt,omitempty"`
	Result  CallResult `json:"result,omitempty"`
}

// CallRequest is what a server is asked to do, named by MCP's own method.
//
//protocol:union
type CallRequest interface{ isCallRequest() }

// CallToolRequest runs a tool.
//
//protocol:variant CallRequest tools/call
type CallToolRequest struct {
	Type     tag[CallToolRequest] `json:"type"`
	ToolName string               `json:"toolName"`
	// Arguments is the JSON object that is sent.
	Arguments json.RawMessage `json:"arguments"`
	// ArgumentsText is the text of that object, where a double does not hold one of its numbers exactly. In
	// [StartCallParams] it takes the place of Arguments.
	ArgumentsText string `json:"argumentsText,omitempty"`
	// TaskTTL is for how many milliseconds the server is asked to keep the MCP task that the call becomes; absent
	// means a week. A server of 2026-07-28 decides that by itself (2025-11-25, "Tasks": ttl).
	TaskTTL int64 `json:"taskTtl,omitempty"`
}

// TaskResultRequest follows an MCP task that the server knows and Assent does not (see [ServerMcpTask])
// to its end, with all that the call has that became it: progress, questions, cancelling. It is refused
// where a call does that already, or has the end.
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

// CallResult is how a call ended. A result is never turned into an error, nor an error into a
// result.
//
//protocol:union
type CallResult interface{ isCallResult() }

// ToolResult is what a tool returned, or a resource held; with IsError, the tool itself says that it
// failed.
//
//protocol:variant CallResult result
type ToolResult struct {
	Type              tag[ToolResult] `json:"type"`
	Content           []ContentBlock  `json:"content,omitempty"`
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"`
	IsError           bool            `json:"isError,omitempty"`
	// RemovedAfter is the number of days after which the content was removed, as the person has set by
	// [McpTaskSettings]; absent if it was not.
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

// PromptResult is what a prompt became with its arguments filled in.
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

// CallAbandoned says that the server asked for something that it was not given, and that Assent did
// therefore not go on with the call. A legacy server hears of that and decides by itself.
//
//protocol:variant CallResult abandoned
type CallAbandoned struct {
	Type tag[CallAbandoned] `json:"type"`
	// Reason is a sentence for the person.
	Reason string `json:"reason"`
}

// Progress is how far a call is, in the server's own units.
type Progress struct {
	Progress float64 `json:"progress"`
	// Total is 0 where the server does not say.
	Total   float64 `json:"total,omitempty"`
	Message string  `json:"message,omitempty"`
	At      int64   `json:"at"`
}

// CallLost says that no answer can come any more: the server could not be started, died, or was
// stopped, or the sidecar was restarted; or that the answer was too long to be read.
//
//protocol:variant CallResult lost
type CallLost struct {
	Type tag[CallLost] `json:"type"`
	// Reason is a sentence for the person, naming the way out.
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
}

// ImageContent is a picture.
//
//protocol:variant ContentBlock,ToolResultBlock image
type ImageContent struct {
	Type tag[ImageContent] `json:"type"`
	// Data is base64.
	Data     string `json:"data"`
	MIMEType string `json:"mimeType"`
}

// AudioContent is a sound.
//
//protocol:variant ContentBlock,ToolResultBlock audio
type AudioContent struct {
	Type tag[AudioContent] `json:"type"`
	// Data is base64.
	Data     string `json:"data"`
	MIMEType string `json:"mimeType"`
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
}

// EmbeddedResource is a resource's own contents.
//
//protocol:variant ContentBlock,ToolResultBlock resource
type EmbeddedResource struct {
	Type     tag[EmbeddedResource] `json:"type"`
	Resource ResourceContents      `json:"resource"`
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
