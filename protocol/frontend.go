package protocol

import "context"

// FrontEnd has the methods that the sidecar calls on a front end. A method that returns a result is a
// request; one that returns only an error is a notification. The sidecar sends a request only if the
// front end's [FrontEndCapabilities] allow it.
type FrontEnd interface {
	// TaskEvent reports one change of one task. The numbers of a task's events are consecutive.
	//
	//protocol:method task/event
	TaskEvent(ctx context.Context, params *TaskEventParams) error

	// UnattributedChanged reports that an unattributed request arrived, was assigned, or ended.
	//
	//protocol:method ask/unattributedChanged
	UnattributedChanged(ctx context.Context, params *UnattributedChangedParams) error

	// OthersChanged reports that an ask of another workspace arrived or was settled, so [Sidecar.ListOpenAsks] has
	// changed, or that its own params have changed. Before the first report they are zero.
	//
	//protocol:method ask/othersChanged
	OthersChanged(ctx context.Context, params *OthersChangedParams) error

	// DeclinedChanged reports a change of the servers with all elicitations declined; see [DeclinedServer].
	//
	//protocol:method ask/declinedChanged
	DeclinedChanged(ctx context.Context, params *DeclinedChangedParams) error

	// McpSamplingProgress is a piece of a completion that a model is writing for a server. It has
	// no event number and is not saved: [SamplingEnded] brings the complete text.
	//
	//protocol:method mcpSamplingProgress
	McpSamplingProgress(ctx context.Context, params *McpSamplingProgressParams) error

	// ChatProgress is a piece of a model's text in a conversation. It has no event number and is not
	// saved: [ModelMessageEnded] brings the complete text.
	//
	//protocol:method chat/progress
	ChatProgress(ctx context.Context, params *ChatProgressParams) error

	// CallProgress reports the progress of a call, as the server sends it. It has no event number and
	// is not saved.
	//
	//protocol:method callProgress
	CallProgress(ctx context.Context, params *CallProgressParams) error

	// ServerChanged reports one server's new state.
	//
	//protocol:method server/changed
	ServerChanged(ctx context.Context, params *Server) error

	// ServersChanged reports the whole list after the configuration changed.
	//
	//protocol:method servers/changed
	ServersChanged(ctx context.Context, params *ServersChangedParams) error

	// ServerItemsChanged reports that a server's list has changed. A front end that shows it reads it again.
	//
	//protocol:method server/itemsChanged
	ServerItemsChanged(ctx context.Context, params *ServerItemsChangedParams) error

	// GrantChanged reports a grant that is new, was used, or ended.
	//
	//protocol:method grant/changed
	GrantChanged(ctx context.Context, params *Grant) error

	// PolicyChanged reports that [Sidecar.ListPolicy] has changed, also because an entry was used. It is sent once
	// after each call of ListPolicy, and not for changes that [FrontEnd.GrantChanged] reports.
	//
	//protocol:method policy/changed
	PolicyChanged(ctx context.Context) error

	// StorageFailed reports that tasks can no longer be saved. The session continues in memory.
	//
	//protocol:method storage/failed
	StorageFailed(ctx context.Context, params *StorageFailedParams) error

	// StorageRecovered reports that tasks are saved again: after [FrontEnd.StorageFailed], with all changes
	// since then, or in a new store that replaces a damaged one.
	//protocol:method storage/recovered
	StorageRecovered(ctx context.Context, params *StorageRecoveredParams) error

	// PromptInput asks the person for the value of an mcp.json input at a server's first start.
	//
	//protocol:method input/prompt
	PromptInput(ctx context.Context, params *PromptInputParams) (*PromptInputResult, error)

	// ConfirmServer asks the person whether a server may run as a file of the workspace configures it. The sidecar asks
	// once for each definition, before the first connection to a server with a new or changed one.
	//
	//protocol:method server/confirm
	ConfirmServer(ctx context.Context, params *ConfirmServerParams) (*ConfirmServerResult, error)

	// OpenURL opens a page in the person's browser.
	//
	//protocol:method window/openUrl
	OpenURL(ctx context.Context, params *OpenURLParams) (*OpenURLResult, error)

	// GetSecret reads a value that SetSecret stored.
	//
	//protocol:method secret/get
	GetSecret(ctx context.Context, params *GetSecretParams) (*GetSecretResult, error)

	// SetSecret stores a value in the system's secret storage, or removes it.
	//
	//protocol:method secret/set
	SetSecret(ctx context.Context, params *SetSecretParams) (*SetSecretResult, error)

	// ListLanguageModels returns the editor's own models.
	//
	//protocol:method languageModel/list
	ListLanguageModels(ctx context.Context) (*ListLanguageModelsResult, error)

	// SendLanguageModelRequest asks one of the editor's own models. The answer streams back by
	// [Sidecar.LanguageModelProgress]; the response ends it.
	//
	//protocol:method languageModel/send
	SendLanguageModelRequest(ctx context.Context, params *LanguageModelRequest) (*LanguageModelResponse, error)
}

// CallProgressParams is the progress of a call.
type CallProgressParams struct {
	TaskID    string   `json:"taskId"`
	MessageID int64    `json:"messageId"`
	Progress  Progress `json:"progress"`
}

// StorageFailedParams says why the store failed.
type StorageFailedParams struct {
	// Message is a sentence for the person.
	Message string `json:"message"`
}

// StorageRecoveredParams says where tasks are saved now.
type StorageRecoveredParams struct {
	// Message is a sentence for the person.
	Message string `json:"message"`
}

// PromptInputParams is an entry of mcp.json's "inputs" that a starting server refers to.
type PromptInputParams struct {
	// ID is the input's id, unique within its source.
	ID string `json:"id"`
	// Source is the file that defines the input, or "settings".
	Source     string    `json:"source"`
	ServerName string    `json:"serverName"`
	Kind       InputKind `json:"kind"`
	// Description is the prompt's text, from the configuration file.
	Description string `json:"description,omitempty"`
	Default     string `json:"default,omitempty"`
	// Password: the front end masks the input.
	Password bool `json:"password,omitempty"`
	// Options are the choices of a [PickString].
	Options []string `json:"options,omitempty"`
}

// InputKind is the kind of an mcp.json input.
type InputKind string

// The kinds of inputs.
const (
	// PromptString is a line of text.
	PromptString InputKind = "promptString"
	// PickString is one of a list.
	PickString InputKind = "pickString"
)

// PromptInputResult is the person's value; absent if they dismissed the prompt.
type PromptInputResult struct {
	Value *Secret `json:"value"`
}

// ConfirmServerParams is a server that the person has not confirmed yet.
type ConfirmServerParams struct {
	ServerName string `json:"serverName"`
	// Folder is where a server of the person's own would use files of that folder, for example because it starts there;
	// absent for a server that a file of the workspace configures.
	Folder string `json:"folder,omitempty"`
	// Source is the file that configures the server, and Line the server's line, counted from 1; 0 is unknown.
	Source string `json:"source"`
	Line   int    `json:"line,omitempty"`
	// Definition is the definition of the process that would run, or of the endpoint.
	Definition ServerDefinition `json:"definition"`
	// Hides is the person's own server that this one hides; absent if it hides none.
	Hides *HiddenServer `json:"hides,omitempty"`
	// Earlier is the definition that the person confirmed last for this name; absent if they confirmed none.
	Earlier *ServerDefinition `json:"earlier,omitempty"`
}

// HiddenServer is a server of the person's own that a workspace's server of the same name hides.
type HiddenServer struct {
	// Source and Line say where it is configured, as in [ConfirmServerParams].
	Source     string           `json:"source"`
	Line       int              `json:"line,omitempty"`
	Definition ServerDefinition `json:"definition"`
}

// ServerDefinition is the definition of a server and its meaning. Variables for folders are replaced in Command, Args,
// Cwd and URL; those for inputs and the environment are not. Secrets that the file itself has are masked in Env, Headers and
// Login. The other values there are as they are written.
type ServerDefinition struct {
	Transport Transport `json:"transport"`
	// Warnings are sentences for the person: what else the program gets, reads or runs, and which host gets which value. A front end
	// shows them first.
	Warnings []string `json:"warnings,omitempty"`
	// Files are the full paths of the files outside the workspace that are read. A front end names them in its question.
	Files []string `json:"files,omitempty"`
	// Command, Program, Args, Cwd, Env and EnvFile are of a [TransportStdio] server.
	Command string `json:"command,omitempty"`
	// Program is the full path of the program that was found; absent if none was, or if it depends on an input.
	Program string   `json:"program,omitempty"`
	Args    []string `json:"args,omitempty"`
	Cwd     string   `json:"cwd,omitempty"`
	// Env has the variables that the configuration sets, and those of an envFile in the workspace.
	Env []DefinedValue `json:"env,omitempty"`
	// EnvFile is a full path.
	EnvFile string `json:"envFile,omitempty"`
	// URL, Headers and Login are of every other server. Login has the members of "oauth".
	URL     string         `json:"url,omitempty"`
	Headers []DefinedValue `json:"headers,omitempty"`
	Login   []DefinedValue `json:"login,omitempty"`
	// Speaks has the members that say how Assent speaks with the server.
	Speaks []DefinedValue `json:"speaks,omitempty"`
	// Masked changes when a masked value does; absent if none is masked.
	Masked string `json:"masked,omitempty"`
}

// DefinedValue is a named value of a [ServerDefinition].
type DefinedValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ConfirmServerResult is the person's decision. If Decision is absent, the server does not run, and the person is asked
// again when they start it themselves.
type ConfirmServerResult struct {
	Decision ServerDecision `json:"decision,omitempty"`
}

// ServerDecision is a person's decision about a server.
type ServerDecision string

// The decisions.
const (
	// ServerAllowed: it may run, as long as its definition stays the same.
	ServerAllowed ServerDecision = "allowed"
	// ServerRefused: it may not run, until the person starts it themselves and is asked again.
	ServerRefused ServerDecision = "refused"
)

// OpenURLParams is a page to open. The person is asked for consent to the whole URL first, unless
// they have just asked for it themselves.
type OpenURLParams struct {
	URL string `json:"url"`
	// Reason is a sentence for the person: who wants the page opened, and what for.
	Reason string `json:"reason"`
	// Consented: the person has just seen the whole URL and asked for it to be opened.
	Consented bool `json:"consented,omitempty"`
}

// OpenURLResult says whether the page was opened.
type OpenURLResult struct {
	Opened bool `json:"opened"`
}

// GetSecretParams names a secret.
type GetSecretParams struct {
	Key string `json:"key"`
}

// GetSecretResult is the secret, or nothing.
type GetSecretResult struct {
	Value *Secret `json:"value"`
}

// SetSecretParams is a secret to store. Without a value it is removed.
type SetSecretParams struct {
	Key   string  `json:"key"`
	Value *Secret `json:"value"`
}

// SetSecretResult confirms that the secret is stored.
type SetSecretResult struct{}

// Secret is a value that no log, transcript or store may show. It is encoded as {"secret": "..."}.
// The wire tap masks every member of that name.
type Secret struct {
	Secret string `json:"secret"`
}

// String returns a placeholder, so formatting never shows the value.
func (Secret) String() string { return "***" }

// ListLanguageModelsResult holds the editor's models.
type ListLanguageModelsResult struct {
	Models []LanguageModel `json:"models,omitempty"`
}

// LanguageModel is one of the editor's own models.
type LanguageModel struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Vendor string `json:"vendor"`
	// Family is the provider's name for the line of models that it belongs to.
	Family string `json:"family,omitempty"`
	// MaxInputTokens is the size of the model's input; 0 if unknown.
	MaxInputTokens int `json:"maxInputTokens,omitempty"`
}

// LanguageModelRequest is a conversation for one of the editor's models to continue.
type LanguageModelRequest struct {
	// RequestID ties the pieces of the answer to this request.
	RequestID string                 `json:"requestId"`
	ModelID   string                 `json:"modelId"`
	Messages  []LanguageModelMessage `json:"messages,omitempty"`
	// MaxTokens bounds the answer, if the model supports a bound.
	MaxTokens int64 `json:"maxTokens"`
	// Temperature is absent if the server gave none. 0 is a value.
	Temperature   *float64 `json:"temperature,omitempty"`
	StopSequences []string `json:"stopSequences,omitempty"`
	// Tools are the tools that the model may call. ToolRequired: it must call one of them.
	Tools        []SamplingTool `json:"tools,omitempty"`
	ToolRequired bool           `json:"toolRequired,omitempty"`
	// Justification is the sentence that the editor's consent dialog shows.
	Justification string `json:"justification"`
}

// LanguageModelMessage is one turn. The editor knows no system role: a system prompt is folded into
// a first user turn before it gets here.
type LanguageModelMessage struct {
	Role    Role           `json:"role"`
	Content []ContentBlock `json:"content,omitempty"`
}

// LanguageModelResponse ends a [LanguageModelRequest]; its text was streamed before.
type LanguageModelResponse struct {
	// ToolUses are the calls that the model asked for, in its order.
	ToolUses []ToolUseContent `json:"toolUses,omitempty"`
}
