package protocol

import "encoding/json"

// HostPermission asks whether an agent may do something. It is the question that the agent's host puts to the person
// itself. The host's own prompt may be open as well, and the first answer counts. [YesButtonClicked] allows it
// as [PermissionAnswer.OptionID] says, [NoButtonClicked] refuses it, and [CancelButtonClicked] leaves it to the host's
// own prompt.
//
// [Ask.Delivered] is set once the host's later messages show that it took the answer.
//
//protocol:variant UseMcpServer host_permission
type HostPermission struct {
	Type tag[HostPermission] `json:"type"`
	Origin
	// SessionID is the host's name for its conversation.
	SessionID string `json:"sessionId"`
	// Folder is where the agent works.
	Folder string `json:"folder,omitempty"`
	// Agent is the kind of the sub-agent that asks; absent for the main one.
	Agent string `json:"agent,omitempty"`
	// Tool is the host's name for the tool.
	Tool string `json:"tool"`
	// Command is the exact command, for a tool that runs one.
	Command string `json:"command,omitempty"`
	// Changes are the exact changes of files, for a tool that makes them.
	Changes []FileChange `json:"changes,omitempty"`
	// Plan is the whole plan that the model wants to follow, in Markdown, if it asks for that. A yes approves it.
	Plan string `json:"plan,omitempty"`
	// Input is the JSON text of the tool's whole input, as the host wrote it. It includes Command, Changes, Plan and Claim.
	Input string `json:"input"`
	// Claim is what the model says that the tool does. It is no description of what will be done.
	Claim string `json:"claim,omitempty"`
	// AskFirst says in a sentence which rule of the person's own is about this use ([PolicyAskFirst]); absent if there is none.
	// It may quote Input.
	AskFirst string `json:"askFirst,omitempty"`
	// Options are the ways to allow it, as the host offered them. The first allows this one use and nothing more.
	Options []PermissionOption `json:"options,omitempty"`
	// DeclineMeans is a sentence for the person: what a no does beside refusing this. Absent if it does nothing more.
	DeclineMeans string `json:"declineMeans,omitempty"`
	// Answer is what the person chose; absent before, and if they did not say more than yes or no.
	Answer *PermissionAnswer `json:"answer,omitempty"`
}

// FileChange is a change that an agent wants to make in a file.
type FileChange struct {
	Path string `json:"path"`
	// Old is replaced by New. Without it, New is the whole file.
	Old *string `json:"old,omitempty"`
	New string  `json:"new"`
	// All: every place with Old changes, not only one.
	All bool `json:"all,omitempty"`
}

// PermissionOption is a way to allow what an agent asks for.
type PermissionOption struct {
	ID string `json:"id"`
	// Name is the short name, and Means a sentence for the person: what happens, for how long and where. Both may quote
	// the host.
	Name  string `json:"name"`
	Means string `json:"means"`
	// Scope says for how long the permission lasts.
	Scope PermissionScope `json:"scope"`
	// Rule is what the host is told to keep, in its own form; absent for a permission that is not kept.
	Rule json.RawMessage `json:"rule,omitempty"`
}

// PermissionScope is how long a permission lasts.
type PermissionScope string

// The scopes.
const (
	// ScopeOnce: for this use.
	ScopeOnce PermissionScope = "once"
	// ScopeSession: for the host's session.
	ScopeSession PermissionScope = "session"
	// ScopeProject: for this project, in a file there.
	ScopeProject PermissionScope = "project"
	// ScopeUser: for everything that the person does with the host.
	ScopeUser PermissionScope = "user"
)

// PermissionAnswer is what a person says beside yes or no.
type PermissionAnswer struct {
	// OptionID is one of [HostPermission.Options]; with [YesButtonClicked] only. Absent means the first.
	OptionID string `json:"optionId,omitempty"`
	// Message tells the model why it may not; with [NoButtonClicked] only.
	Message string `json:"message,omitempty"`
}
