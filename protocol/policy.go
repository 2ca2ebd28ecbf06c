package protocol

import "encoding/json"

// PolicyEntry is one thing that decides about requests before the person is asked: a decision in a front end, or a
// setting. It answers for the person, or limits the requests that reach them.
//
//protocol:union
type PolicyEntry interface {
	isPolicyEntry()
	Head() PolicyHead
}

// PolicyHead has the members of all entries.
type PolicyHead struct {
	Effect PolicyEffect `json:"effect"`
	// ServerName and ToolName limit the entry to requests of that server or tool; absent if it is
	// about all.
	ServerName string `json:"serverName,omitempty"`
	ToolName   string `json:"toolName,omitempty"`
	// By names the front end in which the person decided, and At is when; absent for a setting.
	By string `json:"by,omitempty"`
	At int64  `json:"at,omitempty"`
	// Setting is the name of the setting in VS Code; absent for a decision in a front end.
	Setting string `json:"setting,omitempty"`
	// Asleep says in a sentence why the organisation does not let the entry have effect now, or not as it is; absent if it does.
	Asleep string `json:"asleep,omitempty"`
	// Used counts the entry's decisions; absent if there were none since Assent started.
	Used *PolicyUse `json:"used,omitempty"`
}

// Head returns the members that all entries have.
func (h PolicyHead) Head() PolicyHead { return h }

// PolicyEffect is the effect of an entry on a request.
type PolicyEffect string

// The effects.
const (
	// EffectApprove and EffectDecline answer for the person.
	EffectApprove PolicyEffect = "approve"
	EffectDecline PolicyEffect = "decline"
	// EffectLimit refuses requests above a limit. The person is asked about the rest.
	EffectLimit PolicyEffect = "limit"
	// EffectAsk has the person asked where another program would not ask.
	EffectAsk PolicyEffect = "ask"
)

// PolicyUse counts an entry's decisions since Assent started.
type PolicyUse struct {
	// Count is of requests.
	Count int64 `json:"count"`
	// LastAt is the time of the last decision, and LastServer the name of its server.
	LastAt     int64  `json:"lastAt"`
	LastServer string `json:"lastServer"`
}

// PolicyGrant is a grant, including one that is used up, expired or revoked. It ends with
// [Sidecar.RevokeGrant].
//
//protocol:variant PolicyEntry grant
type PolicyGrant struct {
	Type tag[PolicyGrant] `json:"type"`
	PolicyHead
	Grant Grant `json:"grant"`
}

// PolicyToolRule is a remembered answer about a tool or a resource, until [Sidecar.RemoveToolRule].
//
//protocol:variant PolicyEntry toolRule
type PolicyToolRule struct {
	Type   tag[PolicyToolRule] `json:"type"`
	RuleID string              `json:"ruleId"`
	PolicyHead
	// ResourceURI is set instead of ToolName if the rule is about a resource.
	ResourceURI string `json:"resourceUri,omitempty"`
	// AppDomains is set instead of both if the rule is about what apps of the server may load from.
	AppDomains []string `json:"appDomains,omitempty"`
	Remember   Remember `json:"remember"`
	// TaskID is set with [RememberTask].
	TaskID string `json:"taskId,omitempty"`
}

// PolicyDeclinedServer is a [DeclinedServer], until [Sidecar.AskAgain].
//
//protocol:variant PolicyEntry declinedServer
type PolicyDeclinedServer struct {
	Type tag[PolicyDeclinedServer] `json:"type"`
	PolicyHead
}

// PolicyAskFirst has an agent's host ask before something, also where a model or a rule of the host would allow it, until
// [Sidecar.RemoveAskFirst].
//
//protocol:variant PolicyEntry askFirst
type PolicyAskFirst struct {
	Type   tag[PolicyAskFirst] `json:"type"`
	RuleID string              `json:"ruleId"`
	PolicyHead
	AskFirstTerms
}

// AskFirstTerms say before what an agent's host asks. One member is set.
type AskFirstTerms struct {
	// Command is the beginning of a command, such as "git push".
	Command string `json:"command,omitempty"`
	// Tool is the host's name of a tool. A * at its end stands for any text.
	Tool string `json:"tool,omitempty"`
	// Outside: what is outside of the folder of the host's session.
	Outside bool `json:"outside,omitempty"`
}

// AddAskFirstResult names a new rule.
type AddAskFirstResult struct {
	RuleID string `json:"ruleId"`
}

// RemoveAskFirstParams names a rule.
type RemoveAskFirstParams struct {
	RuleID string `json:"ruleId"`
}

// RemoveAskFirstResult says whether there was such a rule.
type RemoveAskFirstResult struct {
	Removed bool `json:"removed"`
}

// PolicyFixedAnswer is a [FixedAnswer].
//
//protocol:variant PolicyEntry fixedAnswer
type PolicyFixedAnswer struct {
	Type tag[PolicyFixedAnswer] `json:"type"`
	PolicyHead
	Content json.RawMessage `json:"content"`
}

// PolicyReadOnlyTools is [AutoApproveReadOnly].
//
//protocol:variant PolicyEntry readOnlyTools
type PolicyReadOnlyTools struct {
	Type tag[PolicyReadOnlyTools] `json:"type"`
	PolicyHead
}

// PolicyReview says which completions a server gets without a review. It exists if not all are
// reviewed.
//
//protocol:variant PolicyEntry samplingReview
type PolicyReview struct {
	Type tag[PolicyReview] `json:"type"`
	PolicyHead
	Review SamplingReview `json:"review"`
}

// PolicyAllowedModels limits the models that a server gets, as [AllowedModels] does.
//
//protocol:variant PolicyEntry allowedModels
type PolicyAllowedModels struct {
	Type tag[PolicyAllowedModels] `json:"type"`
	PolicyHead
	// Models are ids, with * for any text. An empty list allows none.
	Models []string `json:"models,omitempty"`
}

// PolicyLimit is a limit for each server's requests.
//
//protocol:variant PolicyEntry limit
type PolicyLimit struct {
	Type tag[PolicyLimit] `json:"type"`
	PolicyHead
	Limit PolicyLimitName `json:"limit"`
	Max   int64           `json:"max"`
	// Default: the person has not set it.
	Default bool `json:"default,omitempty"`
}

// PolicyLimitName is a limit of the settings: one of [SamplingLimits], [ElicitationSettings.MaxOpen], or
// [Configuration.AskTimeout].
type PolicyLimitName string

// The limits.
const (
	LimitRequestsPerMinute PolicyLimitName = "requestsPerMinute"
	LimitInFlight          PolicyLimitName = "inFlight"
	LimitToolRounds        PolicyLimitName = "toolRounds"
	LimitPromptBytes       PolicyLimitName = "promptBytes"
	LimitImageBytes        PolicyLimitName = "imageBytes"
	LimitMaxOpen           PolicyLimitName = "maxOpen"
	// LimitAnswerSeconds is in the list only if it is set.
	LimitAnswerSeconds PolicyLimitName = "answerSeconds"
)

// ListPolicyResult holds the entries: those of a kind together, the newest first.
type ListPolicyResult struct {
	Entries []PolicyEntry `json:"entries,omitempty"`
}
