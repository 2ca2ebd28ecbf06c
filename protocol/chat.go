package protocol

import "encoding/json"

// A conversation with a model has four kinds of messages: the person's texts ([UserMessage]), the files attached
// to them ([Attachment]), the model's texts ([ModelMessage]), and the calls that the model asked for
// ([Call.ToolUse]). No message is ever removed from a task. A message with Replaces removes earlier ones from the
// conversation only: all from that id up to itself. A front end shows them folded.
//
// A turn follows a message of the person. The model writes, its calls run, and it writes again, until it asks for no
// more calls. The last message of every turn is a [ModelMessage] with an end other than [ModelEndToolUse].

// UserMessage is a message of the person to the model.
//
//protocol:variant Body user
type UserMessage struct {
	Type tag[UserMessage] `json:"type"`
	Text string           `json:"text"`
	// Attachments are messages of this task: the person's own calls that have ended, resources they read, prompts they
	// filled in, and files ([Attachment]). The model gets their content before the text.
	Attachments []int64 `json:"attachments,omitempty"`
	// Replaces is the first message that left the conversation because of this one; absent if none did.
	Replaces int64 `json:"replaces,omitempty"`
}

// Attachment is a file that the person attached. It is a separate message before the [UserMessage] that
// it is sent with.
//
//protocol:variant Body attachment
type Attachment struct {
	Type tag[Attachment] `json:"type"`
	// Name is the file's, without its folders.
	Name string `json:"name"`
	// Content is a [TextContent] of at most 256 KiB, or an [ImageContent] of the type image/png, image/jpeg,
	// image/gif or image/webp of at most 3.75 MiB.
	Content ContentBlock `json:"content"`
}

// ModelMessage is what a model said: one completion.
//
//protocol:variant Body model
type ModelMessage struct {
	Type tag[ModelMessage] `json:"type"`
	// Model is the model that was asked; absent if none was found, or if the turn ended before.
	Model *Model `json:"model,omitempty"`
	// ResponseModel is the name that the provider reported; absent until the end.
	ResponseModel string `json:"responseModel,omitempty"`
	// Text is in Markdown and untrusted; absent until the end.
	Text string `json:"text,omitempty"`
	// ToolUses are the calls that the model asked for, in its order.
	ToolUses []ModelToolUse `json:"toolUses,omitempty"`
	// Progress is the text so far; present only while the model writes.
	Progress *SamplingProgress `json:"progress,omitempty"`
	// End is absent while the model writes.
	End *ModelEnd `json:"end,omitempty"`
	// Usage counts the input and output tokens; absent if no model was reached.
	Usage *SamplingUsage `json:"usage,omitempty"`
	// LeftOut is the part of the conversation that was not sent, because it exceeds the model's context; absent if all
	// was sent.
	LeftOut *LeftOut `json:"leftOut,omitempty"`
	// Replaces is as in [UserMessage]. It is set if the message is another try.
	Replaces int64 `json:"replaces,omitempty"`
}

// ModelToolUse is a call that a model asked for. The resulting [Call], and the [UseMcpTool] or
// [AccessMcpResource] that asks the person about it, refer to it with a [ToolUseRef].
type ModelToolUse struct {
	// ID is unique within the message.
	ID string `json:"id"`
	// Name is the name that the model wrote.
	Name string `json:"name"`
	// ServerName and ToolName are the tool that Name stands for. ToolName is absent if it is Assent's own tool for a
	// server's resources. Both are absent if there is no such tool.
	ServerName string `json:"serverName,omitempty"`
	ToolName   string `json:"toolName,omitempty"`
	// Arguments is the JSON object that the model wrote; absent if it wrote no JSON object.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Error is the error that the model got instead of a result; absent if a call has the result, or until
	// there is one.
	Error string `json:"error,omitempty"`
}

// ToolUseRef names a [ModelToolUse] of the same task.
type ToolUseRef struct {
	// MessageID is the [ModelMessage]'s.
	MessageID int64  `json:"messageId"`
	ToolUseID string `json:"toolUseId"`
}

// ModelEnd is why a model stopped writing.
type ModelEnd struct {
	Reason ModelEndReason `json:"reason"`
	// Detail is a sentence for the person, if the reason needs one.
	Detail string `json:"detail,omitempty"`
	At     int64  `json:"at"`
}

// ModelEndReason is why a model stopped writing, in MCP's terms if MCP has one (2025-11-25,
// CreateMessageResult.stopReason). After all but the first two, [Sidecar.RetryChat] tries again from there.
type ModelEndReason string

// The reasons.
const (
	// ModelEndTurn: the model has finished its answer.
	ModelEndTurn ModelEndReason = "endTurn"
	// ModelEndToolUse: the model asked for calls, and continues when they have ended.
	ModelEndToolUse ModelEndReason = "toolUse"
	// ModelEndMaxTokens: the model reached the limit of tokens for one message.
	ModelEndMaxTokens ModelEndReason = "maxTokens"
	// ModelEndRefused: the model or its provider refused.
	ModelEndRefused ModelEndReason = "refused"
	// ModelEndStopped: the person stopped the turn. The text so far stays.
	ModelEndStopped ModelEndReason = "stopped"
	// ModelEndFailed: the model could not be asked, or its answer is incomplete.
	ModelEndFailed ModelEndReason = "failed"
	// ModelEndRoundsLimit: the turn reached the limit of tool rounds.
	ModelEndRoundsLimit ModelEndReason = "roundsLimit"
	// ModelEndInterrupted: the sidecar ended during the turn.
	ModelEndInterrupted ModelEndReason = "interrupted"
)

// LeftOut counts what did not fit the model's context, by Assent's own estimate.
type LeftOut struct {
	// Messages counts whole messages of the conversation: the oldest ones, except the first.
	Messages int `json:"messages,omitempty"`
	// ToolResults counts results that were truncated.
	ToolResults int `json:"toolResults,omitempty"`
	// Tools counts tools that were not offered to the model, because there were too many.
	Tools int `json:"tools,omitempty"`
	// Tokens is an estimate of the size, without the tools.
	Tokens int64 `json:"tokens,omitempty"`
}

// ModelMessageEnded brings the complete message of a model.
//
//protocol:variant Event modelMessageEnded
type ModelMessageEnded struct {
	Type      tag[ModelMessageEnded] `json:"type"`
	MessageID int64                  `json:"messageId"`
	// ModelMessage replaces the message's body.
	ModelMessage ModelMessage `json:"modelMessage"`
}

// ToolUseFailed says that a call was not made, and which error the model got.
//
//protocol:variant Event toolUseFailed
type ToolUseFailed struct {
	Type      tag[ToolUseFailed] `json:"type"`
	MessageID int64              `json:"messageId"`
	ToolUseID string             `json:"toolUseId"`
	// Error is the new [ModelToolUse.Error].
	Error string `json:"error"`
}

// ChatProgressParams is one piece of what a model writes in a conversation.
type ChatProgressParams struct {
	TaskID    string `json:"taskId"`
	MessageID int64  `json:"messageId"`
	// Sequence counts the pieces of one message from 0.
	Sequence int64  `json:"sequence"`
	Chunk    string `json:"chunk"`
}

// QueuedMessage is a message that the person typed during a turn. It is sent when the turn has ended
// well. After a turn that was stopped or failed, it waits for [Sidecar.SendChat]. It never answers an
// ask.
type QueuedMessage struct {
	ID          string  `json:"id"`
	Text        string  `json:"text"`
	Attachments []int64 `json:"attachments,omitempty"`
}

// TaskSettings are the model and the servers of a task's conversation.
type TaskSettings struct {
	// ModelID is one of [Sidecar.ListModels]; absent means the first of them.
	ModelID string `json:"modelId,omitempty"`
	// Servers are the servers whose tools and resources the model gets; absent means all, an empty list
	// none.
	Servers []TaskServer `json:"servers,omitzero"`
}

// TaskServer is a server that is enabled for a task.
type TaskServer struct {
	ServerName string `json:"serverName"`
	// ToolNames are the tools that are enabled; absent means all, an empty list none.
	ToolNames []string `json:"toolNames,omitzero"`
}

// SendChatParams is a message to the model.
type SendChatParams struct {
	TaskID string `json:"taskId"`
	// Text may be empty if there are attachments, or if messages are queued. Queued messages are then
	// sent.
	Text string `json:"text"`
	// Attachments are as in [UserMessage].
	Attachments []int64 `json:"attachments,omitempty"`
	// Files become messages of the task and are attached after Attachments. Together they have at most
	// 10 MiB.
	Files []AttachedFile `json:"files,omitempty"`
	// Replaces is the [UserMessage] that this message replaces. That message and all later ones leave
	// the conversation. It fails with [CodeInvalidParams] while a turn is under way.
	Replaces int64 `json:"replaces,omitempty"`
}

// AttachedFile has the fields of [Attachment].
type AttachedFile struct {
	Name    string       `json:"name"`
	Content ContentBlock `json:"content"`
}

// SendChatResult has one of the two ids.
type SendChatResult struct {
	// MessageID is the new message's.
	MessageID int64 `json:"messageId,omitempty"`
	// QueuedID is set if the message was queued: a turn is under way, or other messages are
	// queued.
	QueuedID string `json:"queuedId,omitempty"`
}

// ChatParams names a task.
type ChatParams struct {
	TaskID string `json:"taskId"`
}

// StopChatResult says whether there was a turn to stop.
type StopChatResult struct {
	Stopped bool `json:"stopped"`
}

// SkipServersResult says whether a turn was waiting for servers.
type SkipServersResult struct {
	Skipped bool `json:"skipped"`
}

// RetryChatResult confirms that the model is asked again.
type RetryChatResult struct{}

// UnqueueChatParams names a queued message.
type UnqueueChatParams struct {
	TaskID   string `json:"taskId"`
	QueuedID string `json:"queuedId"`
}

// UnqueueChatResult says whether the message was still queued.
type UnqueueChatResult struct {
	Removed bool `json:"removed"`
}

// BranchTaskParams says where the new conversation branches off.
type BranchTaskParams struct {
	TaskID string `json:"taskId"`
	// MessageID is the last message to copy.
	MessageID int64 `json:"messageId"`
}

// ConfigureTaskParams replaces a task's settings.
type ConfigureTaskParams struct {
	TaskID   string       `json:"taskId"`
	Settings TaskSettings `json:"settings"`
}

// UseMcpTool asks whether a model, or an app, may call a tool. [YesButtonClicked] calls it, with the arguments as they
// are or as the person edited them. [NoButtonClicked] tells the model that the person declined,
// [CancelButtonClicked] that they gave no answer.
//
//protocol:variant UseMcpServer use_mcp_tool
type UseMcpTool struct {
	Type tag[UseMcpTool] `json:"type"`
	Origin
	ToolUse ToolUseRef `json:"toolUse"`
	// FromApp: not a model asks but the app of the call [Origin.MessageID], which is of the same server. ToolUse is then
	// zero.
	FromApp bool `json:"fromApp,omitempty"`
	// Tool is the server's description of the tool. It is untrusted. A very long schema is left out, together
	// with the fields.
	Tool Tool `json:"tool"`
	// Arguments is the JSON object that the model wrote.
	Arguments json.RawMessage `json:"arguments"`
	// ArgumentsText is the text of Arguments; present if a double cannot hold one of its numbers
	// exactly.
	ArgumentsText string `json:"argumentsText,omitempty"`
	// Destructive: the tool may destroy data. That is the default if the server does not deny it
	// (2025-11-25, ToolAnnotations).
	Destructive bool `json:"destructive,omitempty"`
	// Changed is set if the person, or a host, let the tool run before, and it or its server has changed since.
	Changed *ToolChange `json:"changed,omitempty"`
	// HostName is the host that calls the tool, if no model of Assent's does. Such a call is asked about only if the tool
	// has changed. Its arguments cannot be edited, and the answer cannot be remembered.
	HostName string `json:"hostName,omitempty"`
	// SentArguments are the edited arguments of the call; absent if the person changed nothing.
	SentArguments json.RawMessage `json:"sentArguments,omitempty"`
}

// ToolChange is how a tool differs from the one that was last let run, once or by a remembered answer.
type ToolChange struct {
	// By names the front end in which the person allowed the tool, or the host that called it, and At is when.
	By string `json:"by"`
	At int64  `json:"at"`
	// Server: the server's definition has changed.
	Server bool `json:"server,omitempty"`
	// Tool: what the server says of the tool has changed: its title, description, schemas or claims. Lines is the
	// difference; absent if the description was not saved.
	Tool  bool       `json:"tool,omitempty"`
	Lines []DiffLine `json:"lines,omitempty"`
	// Truncated: Lines is incomplete.
	Truncated bool `json:"truncated,omitempty"`
}

// DiffLine is a line of a difference between two texts.
type DiffLine struct {
	Kind DiffKind `json:"kind"`
	// Text is the line without its line break. It is empty with [DiffGap].
	Text string `json:"text"`
}

// DiffKind is how a line changed.
type DiffKind string

// The kinds of lines.
const (
	DiffSame    DiffKind = "same"
	DiffRemoved DiffKind = "removed"
	DiffAdded   DiffKind = "added"
	// DiffGap stands for omitted lines that are equal.
	DiffGap DiffKind = "gap"
)

// AccessMcpResource asks whether a model may read a resource; it is answered as [UseMcpTool].
//
//protocol:variant UseMcpServer access_mcp_resource
type AccessMcpResource struct {
	Type tag[AccessMcpResource] `json:"type"`
	Origin
	ToolUse ToolUseRef `json:"toolUse"`
	URI     string     `json:"uri"`
	// Resource is the resource's entry in the server's list; absent if it has none.
	Resource *Resource `json:"resource,omitempty"`
}

// ToolAnnotations are a server's own claims about a tool (2025-11-25, ToolAnnotations). They are untrusted. A claim
// that the server does not make is absent.
type ToolAnnotations struct {
	Title string `json:"title,omitempty"`
	// ReadOnlyHint: the tool changes nothing. The default is false.
	ReadOnlyHint *bool `json:"readOnlyHint,omitempty"`
	// DestructiveHint: the tool may destroy data. The default is true.
	DestructiveHint *bool `json:"destructiveHint,omitempty"`
	// IdempotentHint: a repeated call with the same arguments has no further effect.
	IdempotentHint *bool `json:"idempotentHint,omitempty"`
	// OpenWorldHint: the tool reaches beyond its server. The default is true.
	OpenWorldHint *bool `json:"openWorldHint,omitempty"`
}

// Remember is how long an answer to a [UseMcpTool] or an [AccessMcpResource] is valid. It applies to that
// one tool or resource.
type Remember string

// What can be remembered.
const (
	// RememberTask, with [YesButtonClicked]: until the task is closed.
	RememberTask Remember = "task"
	// RememberAlways, with [YesButtonClicked]: until the person removes the rule, or the server changes the
	// tool's description.
	RememberAlways Remember = "always"
	// RememberNever, with [NoButtonClicked]: all later calls are declined, until the person
	// removes the rule.
	RememberNever Remember = "never"
)

// ToolRule is a remembered answer about a tool, a resource, or the domains of an app.
type ToolRule struct {
	ID         string `json:"id"`
	ServerName string `json:"serverName"`
	// Identity is the server's identity, as in a [Grant]. The rule does not cover a server of the same name with
	// another identity.
	Identity string `json:"identity,omitempty"`
	// Command is the server's [Server.Command] at that time, for people.
	Command string `json:"command,omitempty"`
	// ToolName, ResourceURI or AppDomains is set.
	ToolName    string `json:"toolName,omitempty"`
	ResourceURI string `json:"resourceUri,omitempty"`
	// AppDomains are the domains that an app of the server declares, sorted. The rule is about exactly these.
	AppDomains []string `json:"appDomains,omitempty"`
	Remember   Remember `json:"remember"`
	// TaskID is set with [RememberTask].
	TaskID string `json:"taskId,omitempty"`
	// Digest, in hexadecimal, is the SHA-256 of the tool's description, schema and annotations at that time.
	// If the tool has changed, the person is asked again. Absent for resources and with [RememberNever].
	Digest string `json:"digest,omitempty"`
	// Described is the tool at that time, without its fields. It is only in the store, not in lists or the
	// journal.
	Described *Tool `json:"described,omitempty"`
	// By names the front end in which the person answered.
	By        string `json:"by"`
	CreatedAt int64  `json:"createdAt"`
}

// RemoveToolRuleParams names a rule.
type RemoveToolRuleParams struct {
	RuleID string `json:"ruleId"`
}

// RemoveToolRuleResult says whether there was such a rule.
type RemoveToolRuleResult struct {
	Removed bool `json:"removed"`
}

// ToolSettings are the settings for tools that a model calls.
type ToolSettings struct {
	// AutoApprove is absent if the person has not set it; the default is [AutoApproveNever].
	AutoApprove AutoApprove `json:"autoApprove,omitempty"`
	// Timeout is how many seconds a tool call may run without a result or progress; 0 is no limit. A server's
	// "toolTimeout" overrides it. The time in which the server waits for a person does not count, and neither does an
	// MCP task.
	Timeout int64 `json:"timeout,omitempty"`
}

// AutoApprove says which calls of a model are made without asking.
type AutoApprove string

// The calls that are approved without asking.
const (
	AutoApproveNever AutoApprove = "never"
	// AutoApproveReadOnly: calls of tools that are marked read-only by their server.
	AutoApproveReadOnly AutoApprove = "readOnly"
)

// ChatSettings are the settings for conversations with a model.
type ChatSettings struct {
	// MaxRounds is the limit of tool rounds in a turn; absent means 50.
	MaxRounds int `json:"maxRounds,omitempty"`
	// MaxTokens is the limit of tokens in one message of a model; absent means 8192.
	MaxTokens int64 `json:"maxTokens,omitempty"`
	// SystemPrompt precedes every conversation, after Assent's own system prompt.
	SystemPrompt string `json:"systemPrompt,omitempty"`
}
