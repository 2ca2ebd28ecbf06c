package protocol

import (
	"context"
	"encoding/json"
)

// Sidecar is what a front end may call. A method that returns a result is a request; one that
// returns only an error is a notification. Every request may be cancelled with $/cancelRequest and
// then fails with [CodeRequestCancelled].
type Sidecar interface {
	// Initialize is the handshake and must be the first request. It fails with
	// [CodeVersionMismatch], naming the side to update, when the versions differ.
	//
	//protocol:method initialize
	Initialize(ctx context.Context, params *InitializeParams) (*InitializeResult, error)

	// DidChangeConfiguration replaces the settings and folders given at the handshake. Servers
	// whose configuration is unchanged keep running.
	//
	//protocol:method workspace/didChangeConfiguration
	DidChangeConfiguration(ctx context.Context, params *Configuration) error

	// DidFocus says that the person has turned to this front end. Of several, it is then the one that is asked for an input
	// or a page, and notifies the person.
	//
	//protocol:method window/didFocus
	DidFocus(ctx context.Context) error

	// CreateTask starts a conversation.
	//
	//protocol:method task/create
	CreateTask(ctx context.Context, params *CreateTaskParams) (*Task, error)

	// ListTasks returns every task, the most recently created first, and those that were deleted apart.
	//
	//protocol:method task/list
	ListTasks(ctx context.Context) (*ListTasksResult, error)

	// OpenTask reads a task: every message that changed after a number, or a page of older ones.
	// Later changes arrive as [FrontEnd.TaskEvent]; a front end that sees a gap in their numbers
	// opens the task again after the last number that it has.
	//
	//protocol:method task/open
	OpenTask(ctx context.Context, params *OpenTaskParams) (*OpenTaskResult, error)

	// RenameTask gives a task another title.
	//
	//protocol:method task/rename
	RenameTask(ctx context.Context, params *RenameTaskParams) (*Task, error)

	// CloseTask ends a task: its calls are cancelled, its asks dismissed, its servers stopped. It
	// stays readable.
	//
	//protocol:method task/close
	CloseTask(ctx context.Context, params *CloseTaskParams) (*Task, error)

	// DeleteTask takes a task out of all lists, in every window. It fails with [CodeTaskBusy] while a question is
	// open in it, a call runs, or a model is at work; with [DeleteTaskParams.Close] it is closed first. The rules
	// about tools for this task alone are removed; its records in the journal stay. RestoreTask works until the task
	// is removed for good: a day later, or when a sidecar first starts after that of this window has ended. For a
	// deleted task it does nothing.
	//
	//protocol:method task/delete
	DeleteTask(ctx context.Context, params *DeleteTaskParams) (*Task, error)

	// RestoreTask brings a deleted task back as it was, except its rules about tools. It fails with
	// [CodeUnknownTask] if the task was removed for good. For a task that is not deleted it does nothing.
	//
	//protocol:method task/restore
	RestoreTask(ctx context.Context, params *RestoreTaskParams) (*Task, error)

	// SearchTasks finds a text in the messages of all tasks, or of one, the newest task and message first, without
	// regard to case. It looks for a few seconds at most. What a model is still writing is not looked at.
	//
	//protocol:method task/search
	SearchTasks(ctx context.Context, params *SearchTasksParams) (*SearchTasksResult, error)

	// BranchTask starts another task with a copy of a task's conversation up to a message: what the person and
	// the model said, the calls that have ended, and the settings. Asks are not copied.
	//
	//protocol:method task/branch
	BranchTask(ctx context.Context, params *BranchTaskParams) (*Task, error)

	// ConfigureTask chooses the model of a task's conversation from its next completion on, and the servers from
	// its next turn on.
	//
	//protocol:method task/configure
	ConfigureTask(ctx context.Context, params *ConfigureTaskParams) (*Task, error)

	// SendChat says something to the model of a task's conversation, and begins a turn; while one is under
	// way, it is queued. It returns as soon as the message is kept. What follows arrives as messages of the
	// task and as [FrontEnd.ChatProgress].
	//
	//protocol:method chat/send
	SendChat(ctx context.Context, params *SendChatParams) (*SendChatResult, error)

	// StopChat stops the turn that is under way: the model writes no more, calls that it asked for are
	// cancelled, and asks about those are dismissed. The text so far stays.
	//
	//protocol:method chat/stop
	StopChat(ctx context.Context, params *ChatParams) (*StopChatResult, error)

	// RetryChat asks the model again. Its last message and the calls that followed leave the conversation. It fails
	// with [CodeInvalidParams] while a turn is under way, and if the conversation is empty.
	//
	//protocol:method chat/retry
	RetryChat(ctx context.Context, params *ChatParams) (*RetryChatResult, error)

	// UnqueueChat takes a message out of the queue.
	//
	//protocol:method chat/unqueue
	UnqueueChat(ctx context.Context, params *UnqueueChatParams) (*UnqueueChatResult, error)

	// RemoveToolRule takes back an answer about a tool or a resource that is remembered: the person is asked again.
	//
	//protocol:method toolRule/remove
	RemoveToolRule(ctx context.Context, params *RemoveToolRuleParams) (*RemoveToolRuleResult, error)

	// ListOpenAsks returns the asks that wait for a person, of all open workspaces: 500 at most. It changes whenever a
	// [TaskEventParams.OpenAsks] does, and with each [FrontEnd.UnclaimedChanged], [FrontEnd.DeclinedChanged] and
	// [FrontEnd.OthersChanged].
	//
	// Every request that names a task is served if any open workspace has the task. Of a task of another workspace, a
	// front end gets the events once it has opened the task.
	//
	//protocol:method ask/list
	ListOpenAsks(ctx context.Context) (*ListOpenAsksResult, error)

	// ClaimAsk says whose an [UnclaimedAsk] is, which is a task of the same workspace, and returns when it is an ask there. The first to say so
	// places it; a later one fails with [CodeAskSettled], as does one after the request has ended. A call
	// that is no candidate any more fails with [CodeInvalidParams], and the ask waits on.
	//
	//protocol:method ask/claim
	ClaimAsk(ctx context.Context, params *ClaimAskParams) (*ClaimAskResult, error)

	// AskResponse answers an ask. The first answer settles it; a later one fails with
	// [CodeAskSettled]. An answer that the ask's own rules forbid fails with [CodeInvalidAnswer]
	// and leaves the ask open.
	//
	//protocol:method askResponse
	AskResponse(ctx context.Context, params *AskResponseParams) (*AskResponseResult, error)

	// CheckForm returns the problems of what the person has filled in so far: the form of an ask, or of a call by hand. It
	// changes nothing, and an answer is checked again when it is given. The problems are in the order of the fields.
	//
	//protocol:method ask/check
	CheckForm(ctx context.Context, params *CheckFormParams) (*CheckFormResult, error)

	// SaveDraft keeps the draft of an answer to an open ask, in place of the earlier one. For an ask that is not open
	// it does nothing. It fails with [CodeInvalidParams] for a draft over 256 KiB.
	//
	//protocol:method ask/draft
	SaveDraft(ctx context.Context, params *SaveDraftParams) (*SaveDraftResult, error)

	// ExtendAsk gives the person as much time again as there was for the ask at first. It fails as
	// [Sidecar.AskResponse] does where the ask is not open, and with [CodeInvalidParams] where its time is
	// not limited.
	//
	//protocol:method ask/extend
	ExtendAsk(ctx context.Context, params *ExtendAskParams) (*ExtendAskResult, error)

	// AskAgain takes back that everything which a server elicits is declined.
	//
	//protocol:method ask/again
	AskAgain(ctx context.Context, params *ServerParams) (*AskAgainResult, error)

	// StopSampling stops the model that is answering an approved [McpSampling]. It fails with
	// [CodeInvalidAnswer] if there is no text to keep; the model then goes on.
	//
	//protocol:method sampling/stop
	StopSampling(ctx context.Context, params *StopSamplingParams) (*StopSamplingResult, error)

	// OpenAskURL opens the page of a [McpURLElicitation] by [FrontEnd.OpenURL], after the person has consented to the
	// whole URL. It fails with [CodeUnknownAsk] or [CodeAskSettled] as an answer does.
	//
	//protocol:method ask/openUrl
	OpenAskURL(ctx context.Context, params *OpenAskURLParams) (*OpenURLResult, error)

	// ListServers returns every configured MCP server, and the errors in the configuration.
	//
	//protocol:method server/list
	ListServers(ctx context.Context) (*ServersChangedParams, error)

	// InspectServer returns all known facts about a server, and why it does not start. It starts no server and asks no
	// person. If the program is not in PATH, it asks the person's login shell for PATH, as a start does. A front end
	// calls it again after [FrontEnd.ServerChanged].
	//
	//protocol:method server/inspect
	InspectServer(ctx context.Context, params *ServerParams) (*ServerInspection, error)

	// StartServer connects to a server if there is no connection.
	//
	//protocol:method server/start
	StartServer(ctx context.Context, params *ServerParams) (*Server, error)

	// RestartServer stops every connection to a server and starts one again.
	//
	//protocol:method server/restart
	RestartServer(ctx context.Context, params *ServerParams) (*Server, error)

	// StopServer stops every connection to a server. Calls in flight end as lost.
	//
	//protocol:method server/stop
	StopServer(ctx context.Context, params *ServerParams) (*Server, error)

	// FindImports looks for servers that other programs have configured on this machine. Nothing is
	// changed.
	//
	//protocol:method import/find
	FindImports(ctx context.Context) (*FindImportsResult, error)

	// Import copies servers from what [Sidecar.FindImports] found into a folder's .vscode/mcp.json,
	// whose comments it keeps. The file that a server comes from is never changed.
	//
	//protocol:method import/apply
	Import(ctx context.Context, params *ImportParams) (*ImportResult, error)

	// ListTools returns a server's tools, starting the server first where it is not running.
	//
	//protocol:method tools/list
	ListTools(ctx context.Context, params *ServerParams) (*ListToolsResult, error)

	// StartCall starts a request to a server in a task and returns as soon as the call is one of the
	// task's messages. How it ends arrives as [CallEnded].
	//
	//protocol:method call/start
	StartCall(ctx context.Context, params *StartCallParams) (*StartCallResult, error)

	// CancelCall cancels a call. One that has ended is left as it is. Where the call is an MCP task the
	// server is asked to cancel it, and its word is awaited; cancelled again, the call is given up.
	//
	//protocol:method call/cancel
	CancelCall(ctx context.Context, params *CancelCallParams) (*CancelCallResult, error)

	// ForgetLogins signs out of every server whose login the front end's secret storage keeps: the logins and their kept
	// secrets are forgotten, in all open workspaces with that storage. Connections stay and calls go on. A server that
	// needs the login asks for it at its next request. A login whose page is open goes on.
	//
	//protocol:method login/forget
	ForgetLogins(ctx context.Context) (*ForgetLoginsResult, error)

	// ListMcpTasks returns the first page of the MCP tasks of every conversation.
	//
	//protocol:method mcpTask/list
	ListMcpTasks(ctx context.Context) (*ListMcpTasksResult, error)

	// MoreMcpTasks returns the page after another one.
	//
	//protocol:method mcpTask/more
	MoreMcpTasks(ctx context.Context, params *MoreMcpTasksParams) (*ListMcpTasksResult, error)

	// GetMcpTask finds an MCP task by its id. It fails with [CodeUnknownMcpTask] if there is none, and with
	// [CodeInvalidParams] if there are several.
	//
	//protocol:method mcpTask/get
	GetMcpTask(ctx context.Context, params *GetMcpTaskParams) (*GetMcpTaskResult, error)

	// ListServerMcpTasks asks the servers that are running and list their tasks (2025-11-25, "Tasks:
	// Listing Tasks") for those that no call of a conversation stands for. It takes a few seconds at most.
	//
	//protocol:method mcpTask/listOfServers
	ListServerMcpTasks(ctx context.Context) (*ListServerMcpTasksResult, error)

	// ListResources returns a server's resources, starting the server first where it is not running.
	//
	//protocol:method resources/list
	ListResources(ctx context.Context, params *ServerParams) (*ListResourcesResult, error)

	// ListResourceTemplates returns the URIs with variables that a server can read.
	//
	//protocol:method resources/templates/list
	ListResourceTemplates(ctx context.Context, params *ServerParams) (*ListResourceTemplatesResult, error)

	// ListPrompts returns a server's prompts.
	//
	//protocol:method prompts/list
	ListPrompts(ctx context.Context, params *ServerParams) (*ListPromptsResult, error)

	// Complete returns what a server proposes for an argument that is being typed.
	//
	//protocol:method completion/complete
	Complete(ctx context.Context, params *CompleteParams) (*CompleteResult, error)

	// ListModels returns the models that can answer a sampling request now, the one that will be
	// proposed first. With a task of another workspace they are those of that workspace.
	//
	//protocol:method model/list
	ListModels(ctx context.Context, params *ListModelsParams) (*ListModelsResult, error)

	// ListPolicy returns everything that answers requests in the person's name, or limits them. After
	// [FrontEnd.PolicyChanged] it returns something else.
	//
	//protocol:method policy/list
	ListPolicy(ctx context.Context) (*ListPolicyResult, error)

	// CreateGrant makes a grant outside of an ask. Terms that make no sense fail with [CodeInvalidAnswer],
	// its problems named by the fields of [GrantTerms].
	//
	//protocol:method grant/create
	CreateGrant(ctx context.Context, params *GrantTerms) (*Grant, error)

	// RevokeGrant ends a grant at once. The person reviews the answers under way because of it before the server gets
	// them. Revoking it again does nothing.
	//
	//protocol:method grant/revoke
	RevokeGrant(ctx context.Context, params *RevokeGrantParams) (*Grant, error)

	// PreviewGrant says which of the past requests a grant with such terms would have approved. Nothing is
	// changed.
	//
	//protocol:method grant/preview
	PreviewGrant(ctx context.Context, params *GrantTerms) (*PreviewGrantResult, error)

	// ListJournal returns a part of the journal.
	//
	//protocol:method journal/list
	ListJournal(ctx context.Context, params *ListJournalParams) (*ListJournalResult, error)

	// LanguageModelProgress is a piece of the answer to [FrontEnd.SendLanguageModelRequest], sent
	// before its response.
	//
	//protocol:method languageModel/progress
	LanguageModelProgress(ctx context.Context, params *LanguageModelProgressParams) error
}

// InitializeParams introduces a front end.
type InitializeParams struct {
	// ProtocolVersion is the [Version] that the front end was built with.
	ProtocolVersion int                  `json:"protocolVersion"`
	ClientInfo      Implementation       `json:"clientInfo"`
	Capabilities    FrontEndCapabilities `json:"capabilities"`
	Configuration   Configuration        `json:"configuration"`
	// Visitor: its configuration takes the place of no other front end's, as that of a command in a terminal.
	Visitor bool `json:"visitor,omitempty"`
}

// InitializeResult introduces the sidecar.
type InitializeResult struct {
	ProtocolVersion int            `json:"protocolVersion"`
	ServerInfo      Implementation `json:"serverInfo"`
	// ConfiguredBy is the name of the front end whose configuration counts in place of the visitor's; absent if its own does.
	ConfiguredBy string `json:"configuredBy,omitempty"`
}

// Implementation names a program and its version.
type Implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// FrontEndCapabilities is what a front end can do now. MCP servers are told no more than this.
type FrontEndCapabilities struct {
	// Elicitation: it can show a form and send what a person filled in.
	Elicitation bool `json:"elicitation,omitempty"`
	// Sampling: it can show a sampling request and ask a person to approve it.
	Sampling bool `json:"sampling,omitempty"`
	// LanguageModels: it serves [FrontEnd.ListLanguageModels] and [FrontEnd.SendLanguageModelRequest].
	LanguageModels bool `json:"languageModels,omitempty"`
	// Inputs: it serves [FrontEnd.PromptInput].
	Inputs bool `json:"inputs,omitempty"`
	// ConfirmServers: it serves [FrontEnd.ConfirmServer]. Without it, servers that need a confirmation do not run.
	ConfirmServers bool `json:"confirmServers,omitempty"`
	// OpenURL: it serves [FrontEnd.OpenURL].
	OpenURL bool `json:"openUrl,omitempty"`
	// Secrets: it serves [FrontEnd.GetSecret] and [FrontEnd.SetSecret].
	Secrets bool `json:"secrets,omitempty"`
	// Attention: it notifies the person of questions that wait, as [FrontEnd.OthersChanged] says.
	Attention bool `json:"attention,omitempty"`
}

// Configuration is what the person has set, and where they work.
type Configuration struct {
	// WorkspaceFolders are the open folders; each may hold a .vscode/mcp.json.
	WorkspaceFolders []WorkspaceFolder `json:"workspaceFolders,omitempty"`
	// Servers are MCP servers from user settings, in the shape of mcp.json's "servers".
	Servers json.RawMessage `json:"servers,omitempty"`
	// Inputs are the variables that Servers ask for, in the shape of mcp.json's "inputs".
	Inputs json.RawMessage `json:"inputs,omitempty"`
	// ExampleServer adds the MCP server that Assent brings along. It starts with its first use, as
	// any other does.
	ExampleServer bool          `json:"exampleServer,omitempty"`
	Model         ModelSettings `json:"model"`
	// Elicitation is absent if the person has set nothing of it.
	Elicitation *ElicitationSettings `json:"elicitation,omitempty"`
	// AskTimeout is for how many seconds an ask waits for the person; 0 is for ever.
	AskTimeout int64 `json:"askTimeout,omitempty"`
	// Sampling is absent if the person has set nothing of it.
	Sampling *SamplingSettings `json:"sampling,omitempty"`
	// McpTasks is absent if the person has set nothing of it.
	McpTasks *McpTaskSettings `json:"mcpTasks,omitempty"`
	// Journal is absent if the person has set nothing of it.
	Journal *JournalSettings `json:"journal,omitempty"`
	// IdleMinutes is for how many minutes a conversation's own connection to a legacy server may go unused
	// before it is closed, to be opened again by its next use; 0 keeps it. Where it is absent it is 30.
	IdleMinutes *int64 `json:"idleMinutes,omitempty"`
	// Tools is absent if the person has set nothing of it.
	Tools *ToolSettings `json:"tools,omitempty"`
	// Chat is absent if the person has set nothing of it.
	Chat *ChatSettings `json:"chat,omitempty"`
}

// McpTaskSettings are of MCP tasks.
type McpTaskSettings struct {
	// KeepResults is for how many days the result of an MCP task is kept after a front end has got it: the
	// conversation was opened since the end, or had been before. 0 keeps it for ever; where the settings
	// are absent it is 30.
	KeepResults int `json:"keepResults"`
}

// WorkspaceFolder is a folder that the front end has open.
type WorkspaceFolder struct {
	Name string `json:"name"`
	// Path is absolute, in the form of the sidecar's own system.
	Path string `json:"path"`
	// Untrusted: the person has not said that they trust the folder. Its mcp.json is not read, no server starts in it,
	// and no server gets it as a root.
	Untrusted bool `json:"untrusted,omitempty"`
	// ConfigFile configures the folder's servers in place of its .vscode/mcp.json; an absolute path.
	ConfigFile string `json:"configFile,omitempty"`
	// Confirmed: the person has confirmed everything that the folder's file configures, so [FrontEnd.ConfirmServer] is not
	// called for its servers.
	Confirmed bool `json:"confirmed,omitempty"`
}

// CreateTaskParams names a new task.
type CreateTaskParams struct {
	// Title may be empty: the task is then named after the first message, or tool call.
	Title string `json:"title,omitempty"`
}

// ListTasksResult holds every task that is not deleted.
type ListTasksResult struct {
	Tasks []Task `json:"tasks,omitempty"`
	// Deleted are those that [Sidecar.RestoreTask] can bring back, the one deleted last first.
	Deleted []Task `json:"deleted,omitempty"`
	// StorageFailure is what [FrontEnd.StorageFailed] said, for as long as it lasts.
	StorageFailure string `json:"storageFailure,omitempty"`
	// StorageNote is what [FrontEnd.StorageRecovered] said of a store that was damaged and is set aside, for a
	// front end that was not there yet.
	StorageNote string `json:"storageNote,omitempty"`
}

// OpenTaskParams says which part of a task to read.
type OpenTaskParams struct {
	TaskID string `json:"taskId"`
	// After asks for every message that changed after this event number, and for those that a model is
	// writing; 0 asks for the newest.
	After int64 `json:"after,omitempty"`
	// Before asks instead for messages with a smaller id, to page backwards.
	Before int64 `json:"before,omitempty"`
	// Limit bounds how many messages are returned, the newest winning; 0 means 200. Where more
	// than that changed after After, the result is a Reset.
	Limit int `json:"limit,omitempty"`
}

// OpenTaskResult is a part of a task as it stands.
type OpenTaskResult struct {
	Task Task `json:"task"`
	// Messages are whole and current, in ascending order of id.
	Messages []Message `json:"messages,omitempty"`
	// Reset reports that Messages replace all that the front end has of the task: After was 0, or
	// too far behind.
	Reset bool `json:"reset,omitempty"`
	// Earlier reports that there are messages with smaller ids than those returned. It is set on a
	// Reset and on a page of older messages only.
	Earlier bool `json:"earlier,omitempty"`
}

// RenameTaskParams gives a task a title.
type RenameTaskParams struct {
	TaskID string `json:"taskId"`
	Title  string `json:"title"`
}

// CloseTaskParams names the task to close.
type CloseTaskParams struct {
	TaskID string `json:"taskId"`
}

// DeleteTaskParams names the task to delete.
type DeleteTaskParams struct {
	TaskID string `json:"taskId"`
	// Close: what goes on in the task ends, as by [Sidecar.CloseTask].
	Close bool `json:"close,omitempty"`
}

// RestoreTaskParams names the task to bring back.
type RestoreTaskParams struct {
	TaskID string `json:"taskId"`
}

// AskResponseParams answers one ask.
type AskResponseParams struct {
	TaskID      string      `json:"taskId"`
	AskID       string      `json:"askId"`
	AskResponse AskResponse `json:"askResponse"`
	// ElicitationContent is what the person filled in, one member a field; with
	// [YesButtonClicked] on an [McpElicitation] only. A number that a double does not hold exactly may
	// be the text of one.
	ElicitationContent json.RawMessage `json:"elicitationContent,omitempty"`
	// SecretFields names the fields that the person marked as secret, besides those that have [FieldHead.Secret]. Only the
	// server gets their values. With ElicitationContent only.
	SecretFields []string `json:"secretFields,omitempty"`
	// DeclineAll declines everything else that the server elicits, now and until the sidecar ends; with
	// [NoButtonClicked] on an [McpElicitation] or an [McpURLElicitation] only.
	DeclineAll bool `json:"declineAll,omitempty"`
	// ModelID chooses another of [Sidecar.ListModels]; with [YesButtonClicked] on an
	// [McpSampling] and [RegenerateButtonClicked] on an [McpSamplingReview] only.
	ModelID string `json:"modelId,omitempty"`
	// SamplingEdit is what goes to the model in place of what the server asked for; with
	// [YesButtonClicked] on an [McpSampling] only.
	SamplingEdit *SamplingEdit `json:"samplingEdit,omitempty"`
	// HandWritten is the completion that the server gets, and no model is asked; with [YesButtonClicked] on an
	// [McpSampling] only, and with nothing that is for a model.
	HandWritten *HandWritten `json:"handWritten,omitempty"`
	// SamplingContent is what the server gets in place of what the model answered: the same blocks with
	// other texts and other inputs of calls, or fewer of them; with [YesButtonClicked] on an
	// [McpSamplingReview] only.
	SamplingContent []ContentBlock `json:"samplingContent,omitempty"`
	// IncludeContext sends [McpSampling.Context] along, and ConfirmSecrets what looks like secrets; with
	// [YesButtonClicked] on an [McpSampling] only.
	IncludeContext bool `json:"includeContext,omitempty"`
	ConfirmSecrets bool `json:"confirmSecrets,omitempty"`
	// Grant makes a grant for the server's next requests, this one counting as the first; with
	// [YesButtonClicked] on an [McpSampling] only. Its problems are named as those of
	// [Sidecar.CreateGrant]. From this one on, its terms say what is reviewed.
	Grant *GrantTerms `json:"grant,omitempty"`
	// ToolArguments is a JSON object that the tool is called with in place of what the model wrote; with
	// [YesButtonClicked] on a [UseMcpTool] only.
	ToolArguments json.RawMessage `json:"toolArguments,omitempty"`
	// ToolArgumentsText is the text of that object, in place of it: what its numbers are no front end has to
	// know.
	ToolArgumentsText string `json:"toolArgumentsText,omitempty"`
	// Remember has the answer hold for longer; on a [UseMcpTool] or an [AccessMcpResource] only.
	Remember Remember `json:"remember,omitempty"`
}

// CheckFormParams is a form, or a part of it, as it is filled in.
type CheckFormParams struct {
	// Fields are those to check: all for a submission, or the one that the person leaves. Those that the person marked as
	// secret have [FieldHead.Secret].
	Fields []Field `json:"fields,omitempty"`
	// Content is an object with the values of these fields, as in [AskResponseParams.ElicitationContent].
	Content json.RawMessage `json:"content"`
}

// CheckFormResult is empty if nothing is wrong.
type CheckFormResult struct {
	Problems []FieldProblem `json:"problems,omitempty"`
}

// SaveDraftParams is the draft of an answer to an ask.
type SaveDraftParams struct {
	TaskID string `json:"taskId"`
	AskID  string `json:"askId"`
	// Draft is a JSON object of the front end's own making, without what looks like a secret; null forgets
	// the one before.
	Draft json.RawMessage `json:"draft"`
}

// SaveDraftResult confirms that the draft is kept: on disk, unless [FrontEnd.StorageFailed] said otherwise.
type SaveDraftResult struct{}

// ExtendAskParams names an ask with an [Ask.ExpiresAt].
type ExtendAskParams struct {
	TaskID string `json:"taskId"`
	AskID  string `json:"askId"`
}

// ExtendAskResult says until when there is time now.
type ExtendAskResult struct {
	ExpiresAt int64 `json:"expiresAt"`
}

// AskAgainResult confirms that the server is listened to again.
type AskAgainResult struct{}

// OpenAskURLParams names an ask.
type OpenAskURLParams struct {
	TaskID string `json:"taskId"`
	AskID  string `json:"askId"`
}

// AskResponse is which way out of an ask the person took.
type AskResponse string

// The ways out of an ask.
const (
	// YesButtonClicked approves or submits: MCP's "accept".
	YesButtonClicked AskResponse = "yesButtonClicked"
	// NoButtonClicked is an explicit no: MCP's "decline".
	NoButtonClicked AskResponse = "noButtonClicked"
	// CancelButtonClicked dismisses without a choice: MCP's "cancel".
	CancelButtonClicked AskResponse = "cancelButtonClicked"
	// RegenerateButtonClicked wants another answer of a model than the one to review.
	RegenerateButtonClicked AskResponse = "regenerateButtonClicked"
)

// AskResponseResult confirms an answer after it was kept on disk.
type AskResponseResult struct {
	Outcome Outcome `json:"outcome"`
	// Unsaved reports that the answer is not on disk, because the store cannot be written. It counts all the same, and the
	// server gets it. See [TaskEventParams.Unsaved].
	Unsaved bool `json:"unsaved,omitempty"`
}

// ServerParams names a configured MCP server.
type ServerParams struct {
	ServerName string `json:"serverName"`
}

// ListToolsResult holds a server's tools in the server's order.
type ListToolsResult struct {
	Tools []Tool `json:"tools,omitempty"`
}

// StartCallParams says what to ask of which server, and in which task.
type StartCallParams struct {
	TaskID     string      `json:"taskId"`
	ServerName string      `json:"serverName"`
	Request    CallRequest `json:"request"`
}

// ListResourcesResult holds a server's resources in the server's order.
type ListResourcesResult struct {
	Resources []Resource `json:"resources,omitempty"`
}

// ListResourceTemplatesResult holds a server's resource templates in the server's order.
type ListResourceTemplatesResult struct {
	ResourceTemplates []ResourceTemplate `json:"resourceTemplates,omitempty"`
}

// ListPromptsResult holds a server's prompts in the server's order.
type ListPromptsResult struct {
	Prompts []Prompt `json:"prompts,omitempty"`
}

// CompleteParams is an argument that is being typed: of a prompt, or of a resource template.
type CompleteParams struct {
	ServerName string `json:"serverName"`
	// PromptName or URITemplate is set.
	PromptName  string `json:"promptName,omitempty"`
	URITemplate string `json:"uriTemplate,omitempty"`
	// ArgumentName and Value are what is being typed, Arguments what was filled in before.
	ArgumentName string            `json:"argumentName"`
	Value        string            `json:"value"`
	Arguments    map[string]string `json:"arguments,omitempty"`
}

// CompleteResult holds the server's proposals, the best first.
type CompleteResult struct {
	Values []string `json:"values,omitempty"`
	// HasMore reports that there are more than the server gave.
	HasMore bool `json:"hasMore,omitempty"`
}

// StartCallResult names the message that stands for the call.
type StartCallResult struct {
	MessageID int64 `json:"messageId"`
}

// CancelCallParams names the message that stands for the call.
type CancelCallParams struct {
	TaskID    string `json:"taskId"`
	MessageID int64  `json:"messageId"`
}

// CancelCallResult says whether there was something to cancel.
type CancelCallResult struct {
	Cancelled bool `json:"cancelled"`
}

// ListModelsParams says for whom.
type ListModelsParams struct {
	// ServerName limits the models to those that the server may have; empty limits nothing.
	ServerName string `json:"serverName,omitempty"`
	// TaskID is of the task that the models are for; empty means the own workspace.
	TaskID string `json:"taskId,omitempty"`
}

// ListModelsResult holds the models that can answer now.
type ListModelsResult struct {
	Models []Model `json:"models,omitempty"`
	// Away is a sentence about why VS Code's models are not among them; empty if no window has to lend them, or one does.
	Away string `json:"away,omitempty"`
}

// ForgetLoginsResult is empty.
type ForgetLoginsResult struct{}

// LanguageModelProgressParams is a piece of an answer.
type LanguageModelProgressParams struct {
	RequestID string `json:"requestId"`
	Text      string `json:"text"`
}
