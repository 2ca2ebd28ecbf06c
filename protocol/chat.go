package protocol

import "encoding/json"

// A conversation with a model is made of four kinds of messages: what the person said ([UserMessage]) and the
// files that they gave with it ([Attachment]), what the model said ([ModelMessage]), and the calls that the model
// asked for ([Call.ToolUse]). Nothing is ever
// taken out of a task: a message with Replaces says which earlier ones have left the conversation, namely
// all from that one up to itself. They are kept, and shown folded.
//
// A turn follows a message of the person: the model writes, its calls run, and it writes again, until it asks for no
// call. The last message of every turn is a [ModelMessage] with another end than [ModelEndToolUse].

// UserMessage is a message of the person to the model.
//
//protocol:variant Body user
type UserMessage struct {
	Type tag[UserMessage] `json:"type"`
	Text string           `json:"text"`
	// Attachments are messages of this task: the person's own calls that have ended, a resource that they read, a prompt
	// that they filled in, and files ([Attachment]). Their content goes to the model before the text.
	Attachments []int64 `json:"attachments,omitempty"`
	// Replaces is the first of the messages that have left the conversation for this one; absent if none
	// have.
	Replaces int64 `json:"replaces,omitempty"`
}

// Attachment is a file that the person gave to the conversation. It is a message of its own, before the
// [UserMessage] that it goes to the model with.
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
	// Model is the one that was asked; absent if none was found, or if the turn ended before.
	Model *Model `json:"model,omitempty"`
	// ResponseModel is the name that its provider gave; absent until the end.
	ResponseModel string `json:"responseModel,omitempty"`
	// Text is in Markdown, and not to be trusted; absent until the end.
	Text string `json:"text,omitempty"`
	// ToolUses are the calls that it asked for, in its order.
	ToolUses []ModelToolUse `json:"toolUses,omitempty"`
	// Progress is the text so far; present only while the model writes.
	Progress *SamplingProgress `json:"progress,omitempty"`
	// End is absent while the model writes.
	End *ModelEnd `json:"end,omitempty"`
	// Usage counts the tokens read and written; absent if no model was reached.
	Usage *SamplingUsage `json:"usage,omitempty"`
	// LeftOut is the part of the conversation that the model did not get, because it cannot read that much; absent if it
	// got all.
	LeftOut *LeftOut `json:"leftOut,omitempty"`
	// Replaces is as in [UserMessage]: it is another try.
	Replaces int64 `json:"replaces,omitempty"`
}

// ModelToolUse is a call that a model asked for. Where it became one, a [Call] names it by [Call.ToolUse],
// and where the person is asked about it, so does a [UseMcpTool] or an [AccessMcpResource].
type ModelToolUse struct {
	// ID is unique within the message.
	ID string `json:"id"`
	// Name is what the model wrote.
	Name string `json:"name"`
	// ServerName and ToolName are the tool that Name stands for. ToolName is absent if it is Assent's own tool for a
	// server's resources. Both are absent if there is no such tool.
	ServerName string `json:"serverName,omitempty"`
	ToolName   string `json:"toolName,omitempty"`
	// Arguments is the JSON object that the model wrote; absent if it wrote something else.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Error is what the model was told instead of a result; absent if a call has the result, and as long as
	// there is none.
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
	// Detail is a sentence for the person, where the reason alone does not say enough.
	Detail string `json:"detail,omitempty"`
	At     int64  `json:"at"`
}

// ModelEndReason is why, in MCP's words where it has one (2025-11-25, CreateMessageResult.stopReason). After
// all but the first two, [Sidecar.RetryChat] tries again from there.
type ModelEndReason string

// The reasons.
const (
	// ModelEndTurn: the model has finished its answer.
	ModelEndTurn ModelEndReason = "endTurn"
	// ModelEndToolUse: it asked for calls, and goes on when they have ended.
	ModelEndToolUse ModelEndReason = "toolUse"
	// ModelEndMaxTokens: it may not write more in one message.
	ModelEndMaxTokens ModelEndReason = "maxTokens"
	// ModelEndRefused: the model or its provider refused.
	ModelEndRefused ModelEndReason = "refused"
	// ModelEndStopped: the person stopped the turn. The text so far stays.
	ModelEndStopped ModelEndReason = "stopped"
	// ModelEndFailed: the model could not be asked or gave no whole answer.
	ModelEndFailed ModelEndReason = "failed"
	// ModelEndRoundsLimit: the turn went to the tools and back as often as it may.
	ModelEndRoundsLimit ModelEndReason = "roundsLimit"
	// ModelEndInterrupted: the sidecar ended in the middle.
	ModelEndInterrupted ModelEndReason = "interrupted"
)

// LeftOut is what did not fit, by Assent's own measure.
type LeftOut struct {
	// Messages counts those of the conversation that were left out whole, the oldest after the first.
	Messages int `json:"messages,omitempty"`
	// ToolResults counts results of which only the beginning was sent.
	ToolResults int `json:"toolResults,omitempty"`
	// Tools counts tools that the model was not offered: there were too many.
	Tools int `json:"tools,omitempty"`
	// Tokens is about how much was left out, without the tools.
	Tokens int64 `json:"tokens,omitempty"`
}

// ModelMessageEnded brings what a model said, whole.
//
//protocol:variant Event modelMessageEnded
type ModelMessageEnded struct {
	Type      tag[ModelMessageEnded] `json:"type"`
	MessageID int64                  `json:"messageId"`
	// ModelMessage is the message's body from here on.
	ModelMessage ModelMessage `json:"modelMessage"`
}

// ToolUseFailed says that a call which a model asked for was not made, and what the model was told.
//
//protocol:variant Event toolUseFailed
type ToolUseFailed struct {
	Type      tag[ToolUseFailed] `json:"type"`
	MessageID int64              `json:"messageId"`
	ToolUseID string             `json:"toolUseId"`
	// Error is the [ModelToolUse.Error] from here on.
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

// QueuedMessage is what the person typed while a turn was under way. It is sent when the turn has ended
// well; after one that was stopped, or failed, it waits for [Sidecar.SendChat]. It never answers an ask.
type QueuedMessage struct {
	ID          string  `json:"id"`
	Text        string  `json:"text"`
	Attachments []int64 `json:"attachments,omitempty"`
}

// TaskSettings is with whom and with what a task's conversation is.
type TaskSettings struct {
	// ModelID is one of [Sidecar.ListModels]; absent means the first of them.
	ModelID string `json:"modelId,omitempty"`
	// Servers are those that offer the model their tools and resources; absent means all, an empty list none.
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
	// Text may be empty where something is attached, and where messages are queued, which are then sent.
	Text string `json:"text"`
	// Attachments are as in [UserMessage].
	Attachments []int64 `json:"attachments,omitempty"`
	// Files become messages of the task, and are attached after those. Together they have 10 MiB at most.
	Files []AttachedFile `json:"files,omitempty"`
	// Replaces is a [UserMessage] of the conversation that this one takes the place of: it, and all that
	// followed, leaves the conversation. It fails with [CodeInvalidParams] while a turn is under way.
	Replaces int64 `json:"replaces,omitempty"`
}

// AttachedFile is as [Attachment].
type AttachedFile struct {
	Name    string       `json:"name"`
	Content ContentBlock `json:"content"`
}

// SendChatResult says what became of the message: one of the two is set.
type SendChatResult struct {
	// MessageID is the new message's.
	MessageID int64 `json:"messageId,omitempty"`
	// QueuedID is set where a turn is under way, or others were queued before.
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

// RetryChatResult confirms that the model is asked again.
type RetryChatResult struct{}

// UnqueueChatParams names a queued message.
type UnqueueChatParams struct {
	TaskID   string `json:"taskId"`
	QueuedID string `json:"queuedId"`
}

// UnqueueChatResult says whether it was still queued.
type UnqueueChatResult struct {
	Removed bool `json:"removed"`
}

// BranchTaskParams says from where another conversation begins.
type BranchTaskParams struct {
	TaskID string `json:"taskId"`
	// MessageID is the last message that the new task has as well.
	MessageID int64 `json:"messageId"`
}

// ConfigureTaskParams replaces a task's settings.
type ConfigureTaskParams struct {
	TaskID   string       `json:"taskId"`
	Settings TaskSettings `json:"settings"`
}

// UseMcpTool asks whether a model may call a tool. [YesButtonClicked] calls it, with the arguments as they
// are or as the person edited them; [NoButtonClicked] tells the model that the person declined, and
// [CancelButtonClicked] that they gave no answer.
//
//protocol:variant UseMcpServer use_mcp_tool
type UseMcpTool struct {
	Type tag[UseMcpTool] `json:"type"`
	Origin
	ToolUse ToolUseRef `json:"toolUse"`
	// Tool is as its server describes it: nothing of that is to be trusted. A schema that is very long is left
	// out, with its fields.
	Tool Tool `json:"tool"`
	// Arguments is the JSON object that the model wrote.
	Arguments json.RawMessage `json:"arguments"`
	// ArgumentsText is the same as its text, where a double does not hold one of its numbers exactly.
	ArgumentsText string `json:"argumentsText,omitempty"`
	// Destructive: by what the server says, or does not say, the tool may destroy something (2025-11-25,
	// ToolAnnotations: a tool that does not say otherwise).
	Destructive bool `json:"destructive,omitempty"`
	// Changed is set if the person allowed the tool before, and it or its server has changed since.
	Changed *ToolChange `json:"changed,omitempty"`
	// SentArguments is what the tool was called with instead, where the person edited the arguments.
	SentArguments json.RawMessage `json:"sentArguments,omitempty"`
}

// ToolChange is why a remembered answer no longer holds for a tool.
type ToolChange struct {
	// By names the front end in which the person allowed the tool, and At is when.
	By string `json:"by"`
	At int64  `json:"at"`
	// Server: the server's definition has changed, or an older Assent did not keep all of it.
	Server bool `json:"server,omitempty"`
	// Tool: its server describes it differently. Lines is then the difference; it is absent if an older Assent did not keep
	// the description.
	Tool  bool       `json:"tool,omitempty"`
	Lines []DiffLine `json:"lines,omitempty"`
	// Truncated: the difference has more lines.
	Truncated bool `json:"truncated,omitempty"`
}

// DiffLine is a line of a difference between two texts.
type DiffLine struct {
	Kind DiffKind `json:"kind"`
	// Text is the line without its end. It is empty with [DiffGap].
	Text string `json:"text"`
}

// DiffKind is how a line changed.
type DiffKind string

// The kinds of lines.
const (
	DiffSame    DiffKind = "same"
	DiffRemoved DiffKind = "removed"
	DiffAdded   DiffKind = "added"
	// DiffGap stands for equal lines that are left out.
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
	// Resource is its entry in the server's list; absent if it has none.
	Resource *Resource `json:"resource,omitempty"`
}

// ToolAnnotations are a server's own claims about a tool (2025-11-25, ToolAnnotations), and no more than that. A claim
// that it does not make is absent.
type ToolAnnotations struct {
	Title string `json:"title,omitempty"`
	// ReadOnlyHint: it changes nothing; where absent, it may.
	ReadOnlyHint *bool `json:"readOnlyHint,omitempty"`
	// DestructiveHint: it may destroy something; where absent, so it may.
	DestructiveHint *bool `json:"destructiveHint,omitempty"`
	// IdempotentHint: calling it again with the same arguments changes nothing more.
	IdempotentHint *bool `json:"idempotentHint,omitempty"`
	// OpenWorldHint: it reaches beyond its server; where absent, so it may.
	OpenWorldHint *bool `json:"openWorldHint,omitempty"`
}

// Remember is for how long an answer to a [UseMcpTool] or an [AccessMcpResource] holds. It is about that one
// tool, or resource, alone.
type Remember string

// What can be remembered.
const (
	// RememberTask, with [YesButtonClicked], is until the task is closed.
	RememberTask Remember = "task"
	// RememberAlways, with [YesButtonClicked], is until the person takes it back, or the server describes the
	// tool in other words.
	RememberAlways Remember = "always"
	// RememberNever, with [NoButtonClicked], declines from now on, until the person takes it back.
	RememberNever Remember = "never"
)

// ToolRule is an answer that is remembered.
type ToolRule struct {
	ID         string `json:"id"`
	ServerName string `json:"serverName"`
	// Identity is that of the server, as in a [Grant]. The rule does not cover a server of the same name with another
	// identity.
	Identity string `json:"identity,omitempty"`
	// Command is the server's [Server.Command] at that time, for people.
	Command string `json:"command,omitempty"`
	// ToolName or ResourceURI is set.
	ToolName    string   `json:"toolName,omitempty"`
	ResourceURI string   `json:"resourceUri,omitempty"`
	Remember    Remember `json:"remember"`
	// TaskID is set with [RememberTask].
	TaskID string `json:"taskId,omitempty"`
	// Digest, in hexadecimal, is the SHA-256 of the tool's description, schema and annotations by then: a tool
	// that has changed is asked about again. It is absent for resources and with [RememberNever].
	Digest string `json:"digest,omitempty"`
	// Described is the tool at that time, without its fields. Only the store has it; lists and the journal do not.
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

// ToolSettings are of the tools that a model calls.
type ToolSettings struct {
	// AutoApprove is absent if the person has not said: it is then [AutoApproveNever].
	AutoApprove AutoApprove `json:"autoApprove,omitempty"`
	// Timeout is for how many seconds a call of a tool may have neither a result nor progress; 0 is for ever. A server's
	// "toolTimeout" comes first. The time in which the server waits for a person is not counted, nor is an MCP task.
	Timeout int64 `json:"timeout,omitempty"`
}

// AutoApprove says which calls of a model are made without asking.
type AutoApprove string

// The calls that are approved without asking.
const (
	AutoApproveNever AutoApprove = "never"
	// AutoApproveReadOnly: those of tools with a server that claims that they change nothing.
	AutoApproveReadOnly AutoApprove = "readOnly"
)

// ChatSettings are of conversations with a model.
type ChatSettings struct {
	// MaxRounds is how often a turn may go to the tools and back; absent means 50.
	MaxRounds int `json:"maxRounds,omitempty"`
	// MaxTokens is how much a model may write in one message; absent means 8192.
	MaxTokens int64 `json:"maxTokens,omitempty"`
	// SystemPrompt goes before every conversation, after Assent's own few words.
	SystemPrompt string `json:"systemPrompt,omitempty"`
}
