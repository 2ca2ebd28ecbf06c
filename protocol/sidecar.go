package protocol

import (
	"context"
	"encoding/json"
)

// Sidecar has the methods that a front end may call. A method that returns a result is a request;
// one that returns only an error is a notification. Every request may be cancelled with
// $/cancelRequest and then fails with [CodeRequestCancelled].
type Sidecar interface {
	// Initialize is the handshake and must be the first request. It fails with
	// [CodeVersionMismatch] if the versions differ; the message names the side to update.
	//
	//protocol:method initialize
	Initialize(ctx context.Context, params *InitializeParams) (*InitializeResult, error)

	// DidChangeConfiguration replaces the settings and folders of the handshake. A server keeps
	// running if its configuration is unchanged.
	//
	//protocol:method workspace/didChangeConfiguration
	DidChangeConfiguration(ctx context.Context, params *Configuration) error

	// DidFocus says that the person has focused this front end. The front end focused last is the one that is asked
	// for inputs and pages, and that notifies the person.
	//
	//protocol:method window/didFocus
	DidFocus(ctx context.Context) error

	// CreateTask starts a conversation.
	//
	//protocol:method task/create
	CreateTask(ctx context.Context, params *CreateTaskParams) (*Task, error)

	// ListTasks returns every task, the most recently created first, and the deleted ones in a
	// separate list.
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
	// can still be read.
	//
	//protocol:method task/close
	CloseTask(ctx context.Context, params *CloseTaskParams) (*Task, error)

	// DeleteTask removes a task from all lists, in every window. It fails with [CodeTaskBusy] while an ask is open,
	// a call runs, or a turn is under way; with [DeleteTaskParams.Close] it closes the task first. The rules about
	// tools for this task alone are removed; its records in the journal stay. RestoreTask works until the task is
	// removed permanently: a day later, or when a sidecar first starts after that of this window has ended. For a
	// deleted task it does nothing.
	//
	//protocol:method task/delete
	DeleteTask(ctx context.Context, params *DeleteTaskParams) (*Task, error)

	// RestoreTask restores a deleted task, except its rules about tools. It fails with [CodeUnknownTask]
	// if the task was removed permanently. For a task that is not deleted it does nothing.
	//
	//protocol:method task/restore
	RestoreTask(ctx context.Context, params *RestoreTaskParams) (*Task, error)

	// SearchTasks finds a text in the messages of all tasks, or of one, the newest task and message first. Case
	// does not matter. The search ends after a few seconds. It skips messages that a model is still writing.
	//
	//protocol:method task/search
	SearchTasks(ctx context.Context, params *SearchTasksParams) (*SearchTasksResult, error)

	// BranchTask starts another task with a copy of a task's conversation up to a message: what the person and
	// the model said, the calls that have ended, and the settings. Asks are not copied.
	//
	//protocol:method task/branch
	BranchTask(ctx context.Context, params *BranchTaskParams) (*Task, error)

	// ConfigureTask sets the model of a task's conversation, from its next completion on, and the servers, from
	// its next turn on.
	//
	//protocol:method task/configure
	ConfigureTask(ctx context.Context, params *ConfigureTaskParams) (*Task, error)

	// SendChat sends a message to the model of a task's conversation and begins a turn. While a turn is
	// under way, the message is queued. SendChat returns as soon as the message is saved. The answer
	// arrives as messages of the task and as [FrontEnd.ChatProgress].
	//
	//protocol:method chat/send
	SendChat(ctx context.Context, params *SendChatParams) (*SendChatResult, error)

	// StopChat stops the turn that is under way: the model stops writing, its calls are cancelled,
	// and asks about them are dismissed. The text so far stays.
	//
	//protocol:method chat/stop
	StopChat(ctx context.Context, params *ChatParams) (*StopChatResult, error)

	// SkipServers asks the model without the tools of the servers that the turn waits for ([Task.Awaits]).
	//
	//protocol:method chat/skipServers
	SkipServers(ctx context.Context, params *ChatParams) (*SkipServersResult, error)

	// RetryChat asks the model again, and waits for its servers again. Its last message and the calls that followed leave the conversation. It fails
	// with [CodeInvalidParams] while a turn is under way, and if the conversation is empty.
	//
	//protocol:method chat/retry
	RetryChat(ctx context.Context, params *ChatParams) (*RetryChatResult, error)

	// UnqueueChat removes a message from the queue.
	//
	//protocol:method chat/unqueue
	UnqueueChat(ctx context.Context, params *UnqueueChatParams) (*UnqueueChatResult, error)

	// RemoveToolRule removes a remembered answer about a tool or a resource. The person is then asked again.
	//
	//protocol:method toolRule/remove
	RemoveToolRule(ctx context.Context, params *RemoveToolRuleParams) (*RemoveToolRuleResult, error)

	// AddAskFirst makes a rule before what the hosts of agents ask the person. It fails with [CodeInvalidAnswer] if the terms make
	// no rule.
	//
	//protocol:method askFirst/add
	AddAskFirst(ctx context.Context, params *AskFirstTerms) (*AddAskFirstResult, error)

	// RemoveAskFirst removes such a rule.
	//
	//protocol:method askFirst/remove
	RemoveAskFirst(ctx context.Context, params *RemoveAskFirstParams) (*RemoveAskFirstResult, error)

	// ListOpenAsks returns at most 500 asks that wait for a person, of all open workspaces. The list changes with
	// each change of [TaskEventParams.OpenAsks], and with [FrontEnd.UnattributedChanged], [FrontEnd.DeclinedChanged] and
	// [FrontEnd.OthersChanged].
	//
	// Every request that names a task also works for tasks of other open workspaces. A front end gets the events of
	// such a task after it has opened the task.
	//
	//protocol:method ask/list
	ListOpenAsks(ctx context.Context) (*ListOpenAsksResult, error)

	// ClaimAsk assigns an [UnattributedAsk] to a task of the same workspace, and returns when it is an ask there. The
	// first assignment counts. A later one fails with [CodeAskSettled], also after the request has ended. A call that
	// is no longer a candidate fails with [CodeInvalidParams], and the request keeps waiting.
	//
	//protocol:method ask/claim
	ClaimAsk(ctx context.Context, params *ClaimAskParams) (*ClaimAskResult, error)

	// AskResponse answers an ask. The first answer settles it; a later one fails with
	// [CodeAskSettled]. An answer that the ask's own rules forbid fails with [CodeInvalidAnswer]
	// and leaves the ask open.
	//
	//protocol:method askResponse
	AskResponse(ctx context.Context, params *AskResponseParams) (*AskResponseResult, error)

	// CheckForm returns the problems of a form as the person has filled it in so far: of an ask, or of a call. It
	// changes nothing. An answer is checked again when it is sent. The problems are in the order of the fields.
	//
	//protocol:method ask/check
	CheckForm(ctx context.Context, params *CheckFormParams) (*CheckFormResult, error)

	// SaveDraft saves the draft of an answer to an open ask, and replaces the earlier one. If the ask is not open,
	// it does nothing. It fails with [CodeInvalidParams] for a draft over 256 KiB.
	//
	//protocol:method ask/draft
	SaveDraft(ctx context.Context, params *SaveDraftParams) (*SaveDraftResult, error)

	// ExtendAsk extends an ask by its original time limit. It fails as [Sidecar.AskResponse] does if the
	// ask is not open, and with [CodeInvalidParams] if the ask has no time limit.
	//
	//protocol:method ask/extend
	ExtendAsk(ctx context.Context, params *ExtendAskParams) (*ExtendAskResult, error)

	// AskAgain ends the declining of all elicitations of a server.
	//
	//protocol:method ask/again
	AskAgain(ctx context.Context, params *ServerParams) (*AskAgainResult, error)

	// StopSampling stops the model that is answering an approved [McpSampling]. It fails with
	// [CodeInvalidAnswer] if there is no text to keep; the model then continues.
	//
	//protocol:method sampling/stop
	StopSampling(ctx context.Context, params *StopSamplingParams) (*StopSamplingResult, error)

	// OpenAskURL opens the page of a [McpURLElicitation] by [FrontEnd.OpenURL], after the person has consented to
	// the whole URL. Like an answer, it can fail with [CodeUnknownAsk] or [CodeAskSettled].
	//
	//protocol:method ask/openUrl
	OpenAskURL(ctx context.Context, params *OpenAskURLParams) (*OpenURLResult, error)

	// ListServers returns every configured MCP server, and the errors in the configuration.
	//
	//protocol:method server/list
	ListServers(ctx context.Context) (*ServersChangedParams, error)

	// InspectServer returns all known facts about a server, and why it does not start. It does not start the server
	// and does not ask the person. If the program is not in PATH, it asks the person's login shell for PATH, as a
	// start does. A front end calls it again after [FrontEnd.ServerChanged].
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

	// FindImports looks for servers that other programs have configured on this machine. It
	// changes nothing.
	//
	//protocol:method import/find
	FindImports(ctx context.Context) (*FindImportsResult, error)

	// Import copies servers that [Sidecar.FindImports] found into a folder's .vscode/mcp.json. It
	// keeps the comments in that file, and does not change the file that a server comes from.
	//
	//protocol:method import/apply
	Import(ctx context.Context, params *ImportParams) (*ImportResult, error)

	// PlanSetup finds the hosts on this machine and their servers, and plans how the hosts use those through Assent. It
	// changes nothing. The files of workspace folders are in the plan, and no plan changes them.
	//
	//protocol:method setup/plan
	PlanSetup(ctx context.Context, params *PlanSetupParams) (*SetupPlan, error)

	// ApplySetup carries out a plan of [Sidecar.PlanSetup]. It fails with [CodeInvalidParams] if the plan has changed
	// since, because a file did, and then changes nothing.
	//
	//protocol:method setup/apply
	ApplySetup(ctx context.Context, params *ApplySetupParams) (*ApplySetupResult, error)

	// RestoreSetup undoes all that ApplySetup and "assent setup" did.
	//
	//protocol:method setup/restore
	RestoreSetup(ctx context.Context) (*RestoreSetupResult, error)

	// ListTools returns a server's tools. It starts the server if it is not running.
	//
	//protocol:method tools/list
	ListTools(ctx context.Context, params *ServerParams) (*ListToolsResult, error)

	// StartCall starts a request to a server in a task, and returns as soon as the call is a
	// message of the task. The result arrives as [CallEnded].
	//
	//protocol:method call/start
	StartCall(ctx context.Context, params *StartCallParams) (*StartCallResult, error)

	// CancelCall cancels a call. A call that has ended does not change. If the call is an MCP task,
	// the server is asked to cancel it, and the call ends with the server's answer. The second
	// cancellation ends the call at once.
	//
	//protocol:method call/cancel
	CancelCall(ctx context.Context, params *CancelCallParams) (*CancelCallResult, error)

	// RunSeparately runs the equal call that joined a call last ([Call.Joined]) on its own: it is another message, of the
	// task of its host's session, with its own questions. The first call goes on.
	//
	//protocol:method call/runSeparately
	RunSeparately(ctx context.Context, params *RunSeparatelyParams) (*RunSeparatelyResult, error)

	// OpenApp opens the MCP App of a call, or of an open ask: it reads the app's page from the server and serves it to one
	// frame. At most 32 apps are open at once; the one that was opened first is closed for another. It fails with
	// [CodeInvalidParams] if the message has no app, and with [CodeUnavailable] if its page cannot be read or shown.
	//
	//protocol:method app/open
	OpenApp(ctx context.Context, params *OpenAppParams) (*OpenAppResult, error)

	// CloseApp closes an app. Its page is no longer served, and its requests are cancelled. Closing it again does
	// nothing. The apps of a front end that detaches are closed.
	//
	//protocol:method app/close
	CloseApp(ctx context.Context, params *CloseAppParams) (*CloseAppResult, error)

	// RequestApp makes a request of an app to its own server. A call of a tool is approved like that of a model. The app of an
	// ask may only read resources, and only while the ask is open. It fails
	// with [CodeInvalidParams] for what no app may ask, with [CodeInvalidRequest] if the app is not open, and with the
	// server's own error.
	//
	//protocol:method app/request
	RequestApp(ctx context.Context, params *AppRequestParams) (*AppRequestResult, error)

	// ForgetLogins signs out of every server whose login is in the front end's secret storage. The logins and their
	// stored secrets are deleted, in all open workspaces that use that storage. Connections stay open and calls
	// continue. A server that needs a login asks for it at its next request. A login in progress continues.
	//
	//protocol:method login/forget
	ForgetLogins(ctx context.Context) (*ForgetLoginsResult, error)

	// ListMcpTasks returns the first page of the MCP tasks of every conversation.
	//
	//protocol:method mcpTask/list
	ListMcpTasks(ctx context.Context) (*ListMcpTasksResult, error)

	// MoreMcpTasks returns the next page.
	//
	//protocol:method mcpTask/more
	MoreMcpTasks(ctx context.Context, params *MoreMcpTasksParams) (*ListMcpTasksResult, error)

	// GetMcpTask finds an MCP task by its id. It fails with [CodeUnknownMcpTask] if there is none, and with
	// [CodeInvalidParams] if there are several.
	//
	//protocol:method mcpTask/get
	GetMcpTask(ctx context.Context, params *GetMcpTaskParams) (*GetMcpTaskResult, error)

	// ListServerMcpTasks asks the running servers for their tasks (2025-11-25, "Tasks: Listing Tasks"),
	// and returns those that no call of a conversation has. It takes a few seconds at most.
	//
	//protocol:method mcpTask/listOfServers
	ListServerMcpTasks(ctx context.Context) (*ListServerMcpTasksResult, error)

	// ListResources returns a server's resources. It starts the server if it is not running.
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

	// ListIcons returns the icons of a server, and of those of its tools, resources and prompts that were listed. It does
	// not start the server.
	//
	//protocol:method icons/list
	ListIcons(ctx context.Context, params *ServerParams) (*ListIconsResult, error)

	// Complete returns a server's proposals for an argument that the person is typing.
	//
	//protocol:method completion/complete
	Complete(ctx context.Context, params *CompleteParams) (*CompleteResult, error)

	// ListModels returns the models that can answer a sampling request now, the default first.
	// With a task of another workspace, it returns the models of that workspace.
	//
	//protocol:method model/list
	ListModels(ctx context.Context, params *ListModelsParams) (*ListModelsResult, error)

	// ListPolicy returns everything that answers requests for the person, or limits them.
	// [FrontEnd.PolicyChanged] reports changes.
	//
	//protocol:method policy/list
	ListPolicy(ctx context.Context) (*ListPolicyResult, error)

	// CreateGrant makes a grant outside of an ask. Invalid terms fail with [CodeInvalidAnswer]; the
	// problems name the fields of [GrantTerms].
	//
	//protocol:method grant/create
	CreateGrant(ctx context.Context, params *GrantTerms) (*Grant, error)

	// RevokeGrant ends a grant at once. The person reviews the answers under way under this grant. Revoking it again
	// does nothing.
	//
	//protocol:method grant/revoke
	RevokeGrant(ctx context.Context, params *RevokeGrantParams) (*Grant, error)

	// PreviewGrant says which of the past requests a grant with such terms would have approved. It
	// changes nothing.
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
	// Transient: its configuration does not replace another front end's. A command in a terminal is one such.
	Transient bool `json:"transient,omitempty"`
}

// InitializeResult introduces the sidecar.
type InitializeResult struct {
	ProtocolVersion int            `json:"protocolVersion"`
	ServerInfo      Implementation `json:"serverInfo"`
	// ConfiguredBy names the front end whose configuration applies instead of this one's; absent if its own does.
	ConfiguredBy string `json:"configuredBy,omitempty"`
}

// Implementation names a program and its version.
type Implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// FrontEndCapabilities is what a front end can do now. MCP servers are offered no more than this.
type FrontEndCapabilities struct {
	// Elicitation: it can show a form and send a person's answer.
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
	// Attention: it notifies the person of waiting questions, as [FrontEnd.OthersChanged] says.
	Attention bool `json:"attention,omitempty"`
	// Apps: it shows MCP Apps in frames, from addresses of [OpenAppResult.URL].
	Apps bool `json:"apps,omitempty"`
	// AppForms: it also shows the apps of [McpElicitationRequest.AppURI].
	AppForms bool `json:"appForms,omitempty"`
}

// Configuration is the settings and the open folders.
type Configuration struct {
	// WorkspaceFolders are the open folders; each may hold a .vscode/mcp.json and a .mcp.json.
	WorkspaceFolders []WorkspaceFolder `json:"workspaceFolders,omitempty"`
	// Servers are MCP servers from user settings, in the shape of mcp.json's "servers".
	Servers json.RawMessage `json:"servers,omitempty"`
	// Inputs are the variables that Servers use, in the shape of mcp.json's "inputs".
	Inputs json.RawMessage `json:"inputs,omitempty"`
	// EditorFile is the editor's own mcp.json, with the person's servers for every folder. It is an absolute path, and there
	// may be no file.
	EditorFile string `json:"editorFile,omitempty"`
	// EditorPolicies are VS Code's policies about MCP servers, as its settings show them, in the shape of its policy.json. It is
	// absent if they restrict nothing. Other front ends have none.
	EditorPolicies json.RawMessage `json:"editorPolicies,omitempty"`
	// ExampleServer adds the MCP server that is included in Assent. Like any other server, it
	// starts at its first use.
	ExampleServer bool          `json:"exampleServer,omitempty"`
	Model         ModelSettings `json:"model"`
	// Elicitation is absent if the person has changed no setting of it.
	Elicitation *ElicitationSettings `json:"elicitation,omitempty"`
	// AskTimeout is how many seconds an ask waits for the person; 0 is no limit.
	AskTimeout int64 `json:"askTimeout,omitempty"`
	// Sampling is absent if the person has changed no setting of it.
	Sampling *SamplingSettings `json:"sampling,omitempty"`
	// McpTasks is absent if the person has changed no setting of it.
	McpTasks *McpTaskSettings `json:"mcpTasks,omitempty"`
	// Journal is absent if the person has changed no setting of it.
	Journal *JournalSettings `json:"journal,omitempty"`
	// IdleMinutes is how many minutes a conversation's own connection to a legacy server may be idle
	// before it is closed; the next use opens it again. 0 keeps it open. The default is 30.
	IdleMinutes *int64 `json:"idleMinutes,omitempty"`
	// Tools is absent if the person has changed no setting of it.
	Tools *ToolSettings `json:"tools,omitempty"`
	// Chat is absent if the person has changed no setting of it.
	Chat *ChatSettings `json:"chat,omitempty"`
}

// McpTaskSettings are the settings for MCP tasks.
type McpTaskSettings struct {
	// KeepResults is how many days the result of an MCP task is kept after a front end has received it,
	// by opening the conversation or because it was open. 0 keeps it for ever. Without these settings it
	// is 30.
	KeepResults int `json:"keepResults"`
}

// WorkspaceFolder is a folder that the front end has open.
type WorkspaceFolder struct {
	Name string `json:"name"`
	// Path is absolute, in the form of the sidecar's system.
	Path string `json:"path"`
	// Untrusted: the person has not trusted the folder. Its mcp.json is not read, no server starts in it, and no
	// server gets it as a root.
	Untrusted bool `json:"untrusted,omitempty"`
	// RootOnly: servers get the folder as a root, and its files configure none. No server starts there.
	RootOnly bool `json:"rootOnly,omitempty"`
	// NoRoot: no server gets the folder as a root.
	NoRoot bool `json:"noRoot,omitempty"`
	// ConfigFile configures the folder's servers in place of its .vscode/mcp.json and .mcp.json; an absolute path.
	ConfigFile string `json:"configFile,omitempty"`
	// Confirmed: the person has confirmed everything that the folder's file configures, so [FrontEnd.ConfirmServer] is not
	// called for its servers.
	Confirmed bool `json:"confirmed,omitempty"`
	// Vouched: the person trusts the folder in the program that has it open, as in VS Code. A server of their own may start
	// there without a question.
	Vouched bool `json:"vouched,omitempty"`
}

// CreateTaskParams names a new task.
type CreateTaskParams struct {
	// Title may be empty: the task is then named after its first message or tool call.
	Title string `json:"title,omitempty"`
}

// ListTasksResult holds every task that is not deleted.
type ListTasksResult struct {
	Tasks []Task `json:"tasks,omitempty"`
	// Deleted are the tasks that [Sidecar.RestoreTask] can restore, the last deleted first.
	Deleted []Task `json:"deleted,omitempty"`
	// StorageFailure is the last [FrontEnd.StorageFailed] message, as long as the failure lasts.
	StorageFailure string `json:"storageFailure,omitempty"`
	// StorageNote is the last [FrontEnd.StorageRecovered] message about a damaged store that was replaced,
	// for a front end that attached later.
	StorageNote string `json:"storageNote,omitempty"`
}

// OpenTaskParams says which part of a task to read.
type OpenTaskParams struct {
	TaskID string `json:"taskId"`
	// After selects the messages that changed after this event number, and those that a model is
	// writing; 0 selects the newest.
	After int64 `json:"after,omitempty"`
	// Before selects instead messages with a smaller id, to page backwards.
	Before int64 `json:"before,omitempty"`
	// Limit bounds how many messages are returned, the newest first; 0 means 200. If more changed
	// after After, the result is a Reset.
	Limit int `json:"limit,omitempty"`
}

// OpenTaskResult is a part of a task as it stands.
type OpenTaskResult struct {
	Task Task `json:"task"`
	// Messages are whole and current, in ascending order of id.
	Messages []Message `json:"messages,omitempty"`
	// Reset: Messages replace all that the front end has of the task, because After was 0 or too
	// old.
	Reset bool `json:"reset,omitempty"`
	// Earlier: there are messages with smaller ids. It is set only on a Reset and on a page of
	// older messages.
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
	// Close closes the task first, as [Sidecar.CloseTask] does.
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
	// ElicitationContent is the filled-in form, with one member per field; with [YesButtonClicked] on
	// an [McpElicitation] only. A number that a double cannot hold exactly may be given as a text.
	ElicitationContent json.RawMessage `json:"elicitationContent,omitempty"`
	// SecretFields names the fields that the person marked as secret, besides those with [FieldHead.Secret]. Only the
	// server gets their values. With ElicitationContent only.
	SecretFields []string `json:"secretFields,omitempty"`
	// DeclineAll declines all elicitations of the server, now and until the sidecar ends; with
	// [NoButtonClicked] on an [McpElicitation] or an [McpURLElicitation] only.
	DeclineAll bool `json:"declineAll,omitempty"`
	// ModelID chooses another model of [Sidecar.ListModels]; with [YesButtonClicked] on an
	// [McpSampling] and [RegenerateButtonClicked] on an [McpSamplingReview] only.
	ModelID string `json:"modelId,omitempty"`
	// SamplingEdit is the edited request for the model; with [YesButtonClicked] on an
	// [McpSampling] only.
	SamplingEdit *SamplingEdit `json:"samplingEdit,omitempty"`
	// HandWritten is a completion by the person; no model is asked. With [YesButtonClicked] on an
	// [McpSampling] only, and not together with fields for a model.
	HandWritten *HandWritten `json:"handWritten,omitempty"`
	// SamplingContent is the edited answer of the model: the same blocks, with other texts or other
	// inputs of calls, or fewer of them; with [YesButtonClicked] on an [McpSamplingReview] only.
	SamplingContent []ContentBlock `json:"samplingContent,omitempty"`
	// IncludeContext sends [McpSampling.Context], and ConfirmSecrets sends the texts that look like
	// secrets; with [YesButtonClicked] on an [McpSampling] only.
	IncludeContext bool `json:"includeContext,omitempty"`
	ConfirmSecrets bool `json:"confirmSecrets,omitempty"`
	// Grant makes a grant for the server's next requests; this one counts as the first. With
	// [YesButtonClicked] on an [McpSampling] only. Problems are reported as in
	// [Sidecar.CreateGrant]. The grant's Review applies from this request on.
	Grant *GrantTerms `json:"grant,omitempty"`
	// ToolArguments is the JSON object of edited arguments; with [YesButtonClicked] on a [UseMcpTool]
	// only.
	ToolArguments json.RawMessage `json:"toolArguments,omitempty"`
	// ToolArgumentsText is the same object as a text, and replaces ToolArguments. A front end sends it so
	// that no number loses precision.
	ToolArgumentsText string `json:"toolArgumentsText,omitempty"`
	// Remember remembers the answer for later calls; on a [UseMcpTool] or an [AccessMcpResource]
	// only.
	Remember Remember `json:"remember,omitempty"`
	// Permission says more than yes or no; on a [HostPermission] only.
	Permission *PermissionAnswer `json:"permission,omitempty"`
}

// CheckFormParams is a form, or a part of it, with the person's values.
type CheckFormParams struct {
	// Fields are the fields to check: all for a submission, or the one that the person leaves. Fields that the person
	// marked as secret have [FieldHead.Secret].
	Fields []Field `json:"fields,omitempty"`
	// Content is an object with the values of these fields, as in [AskResponseParams.ElicitationContent].
	Content json.RawMessage `json:"content"`
}

// CheckFormResult lists the problems. It is empty if there are none.
type CheckFormResult struct {
	Problems []FieldProblem `json:"problems,omitempty"`
}

// SaveDraftParams is the draft of an answer to an ask.
type SaveDraftParams struct {
	TaskID string `json:"taskId"`
	AskID  string `json:"askId"`
	// Draft is a JSON object in a form of the front end's choice, without texts that look like secrets;
	// null deletes the earlier draft.
	Draft json.RawMessage `json:"draft"`
}

// SaveDraftResult confirms that the draft is saved: on disk, unless [FrontEnd.StorageFailed] was reported.
type SaveDraftResult struct{}

// ExtendAskParams names an ask with an [Ask.ExpiresAt].
type ExtendAskParams struct {
	TaskID string `json:"taskId"`
	AskID  string `json:"askId"`
}

// ExtendAskResult is the new time limit.
type ExtendAskResult struct {
	ExpiresAt int64 `json:"expiresAt"`
}

// AskAgainResult confirms that the person is asked again.
type AskAgainResult struct{}

// OpenAskURLParams names an ask.
type OpenAskURLParams struct {
	TaskID string `json:"taskId"`
	AskID  string `json:"askId"`
}

// AskResponse is the way in which a person settled an ask.
type AskResponse string

// The ways to settle an ask.
const (
	// YesButtonClicked approves or submits: MCP's "accept".
	YesButtonClicked AskResponse = "yesButtonClicked"
	// NoButtonClicked is an explicit no: MCP's "decline".
	NoButtonClicked AskResponse = "noButtonClicked"
	// CancelButtonClicked dismisses without a choice: MCP's "cancel".
	CancelButtonClicked AskResponse = "cancelButtonClicked"
	// RegenerateButtonClicked asks a model for another answer instead of the one to review.
	RegenerateButtonClicked AskResponse = "regenerateButtonClicked"
)

// AskResponseResult confirms that an answer is saved on disk.
type AskResponseResult struct {
	Outcome Outcome `json:"outcome"`
	// Unsaved: the answer is not on disk, because the store cannot be written. The answer still counts, and the server
	// gets it. See [TaskEventParams.Unsaved].
	Unsaved bool `json:"unsaved,omitempty"`
}

// ServerParams names a configured MCP server.
type ServerParams struct {
	ServerName string `json:"serverName"`
}

// ListToolsResult holds a server's tools in the server's order.
type ListToolsResult struct {
	Tools []Tool `json:"tools,omitempty"`
	// Problems are sentences about the odd parts of the server's list, and about the items left out for them.
	Problems []string `json:"problems,omitempty"`
}

// StartCallParams is a request, with its server and its task.
type StartCallParams struct {
	TaskID     string      `json:"taskId"`
	ServerName string      `json:"serverName"`
	Request    CallRequest `json:"request"`
}

// ListResourcesResult holds a server's resources in the server's order.
type ListResourcesResult struct {
	Resources []Resource `json:"resources,omitempty"`
	// Problems are as in [ListToolsResult].
	Problems []string `json:"problems,omitempty"`
}

// ListResourceTemplatesResult holds a server's resource templates in the server's order.
type ListResourceTemplatesResult struct {
	ResourceTemplates []ResourceTemplate `json:"resourceTemplates,omitempty"`
	// Problems are as in [ListToolsResult].
	Problems []string `json:"problems,omitempty"`
}

// ListPromptsResult holds a server's prompts in the server's order.
type ListPromptsResult struct {
	Prompts []Prompt `json:"prompts,omitempty"`
	// Problems are as in [ListToolsResult].
	Problems []string `json:"problems,omitempty"`
}

// ListIconsResult holds the icons of a server (2025-11-25, "Icons"). What has no icon, or none that may be shown, is
// missing.
type ListIconsResult struct {
	// Images are data: URIs, each once, of pictures of at most 64 KiB: PNG, JPEG, WebP, GIF or SVG. A front end draws an SVG
	// picture only as an image, which runs no script and loads nothing. All of them have 2 MiB at most.
	Images []string `json:"images,omitempty"`
	// Server is the icon of the server itself.
	Server *Icons `json:"server,omitempty"`
	// Tools are by name, Resources by URI, ResourceTemplates by URI template and Prompts by name.
	Tools             map[string]Icons `json:"tools,omitempty"`
	Resources         map[string]Icons `json:"resources,omitempty"`
	ResourceTemplates map[string]Icons `json:"resourceTemplates,omitempty"`
	Prompts           map[string]Icons `json:"prompts,omitempty"`
}

// Icons are the icon for a light background and the one for a dark background, as places in
// [ListIconsResult.Images], counted from 0. They may be the same.
type Icons struct {
	Light int `json:"light"`
	Dark  int `json:"dark"`
}

// CompleteParams is an argument that the person is typing: of a prompt, or of a resource template.
type CompleteParams struct {
	ServerName string `json:"serverName"`
	// PromptName or URITemplate is set.
	PromptName  string `json:"promptName,omitempty"`
	URITemplate string `json:"uriTemplate,omitempty"`
	// ArgumentName and Value are the argument that the person is typing. Arguments are the ones
	// filled in before.
	ArgumentName string            `json:"argumentName"`
	Value        string            `json:"value"`
	Arguments    map[string]string `json:"arguments,omitempty"`
}

// CompleteResult holds the server's proposals, the best first.
type CompleteResult struct {
	Values []string `json:"values,omitempty"`
	// HasMore: the server has more proposals than it returned.
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

// RunSeparatelyParams names the message of the first call.
type RunSeparatelyParams struct {
	TaskID    string `json:"taskId"`
	MessageID int64  `json:"messageId"`
}

// RunSeparatelyResult says whether an equal call was waiting, and runs now.
type RunSeparatelyResult struct {
	Started bool `json:"started"`
}

// ListModelsParams selects models.
type ListModelsParams struct {
	// ServerName limits the models to those that the server may use; empty limits nothing.
	ServerName string `json:"serverName,omitempty"`
	// TaskID is the task to list models for; empty means the front end's own workspace.
	TaskID string `json:"taskId,omitempty"`
}

// ListModelsResult holds the models that can answer now.
type ListModelsResult struct {
	Models []Model `json:"models,omitempty"`
	// Away says in a sentence why VS Code's models are missing; empty if no window is needed to lend them, or if one
	// does.
	Away string `json:"away,omitempty"`
}

// ForgetLoginsResult is empty.
type ForgetLoginsResult struct{}

// LanguageModelProgressParams is a piece of an answer.
type LanguageModelProgressParams struct {
	RequestID string `json:"requestId"`
	Text      string `json:"text"`
}
