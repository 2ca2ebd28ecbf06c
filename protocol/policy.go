package protocol

import "encoding/json"

// PolicyEntry is one of the things that decide about requests before the person is asked: what they said in a front end,
// or one of their settings. It answers in their name, or limits what reaches them.
//
//protocol:union
type PolicyEntry interface {
	isPolicyEntry()
	Head() PolicyHead
}

// PolicyHead is what every entry has.
type PolicyHead struct {
	Effect PolicyEffect `json:"effect"`
	// ServerName and ToolName say whose requests it decides about; absent for those of all.
	ServerName string `json:"serverName,omitempty"`
	ToolName   string `json:"toolName,omitempty"`
	// By names the front end in which the person said so, and At is when; absent for a setting.
	By string `json:"by,omitempty"`
	At int64  `json:"at,omitempty"`
	// Setting is the setting's name, as VS Code's settings have it; absent for what the person said in a front end.
	Setting string `json:"setting,omitempty"`
	// Used says what it decided; absent if that is nothing since Assent started.
	Used *PolicyUse `json:"used,omitempty"`
}

// Head returns what an entry has in common with the others.
func (h PolicyHead) Head() PolicyHead { return h }

// PolicyEffect is what becomes of a request that an entry decides about.
type PolicyEffect string

// The effects.
const (
	// EffectApprove and EffectDecline answer in the person's name.
	EffectApprove PolicyEffect = "approve"
	EffectDecline PolicyEffect = "decline"
	// EffectLimit refuses what goes beyond a limit. The person is asked about the rest.
	EffectLimit PolicyEffect = "limit"
)

// PolicyUse is what an entry decided since Assent started.
type PolicyUse struct {
	// Count is of requests.
	Count int64 `json:"count"`
	// LastAt is when the last one was decided, and LastServer the name of its server.
	LastAt     int64  `json:"lastAt"`
	LastServer string `json:"lastServer"`
}

// PolicyGrant is a grant, also one that is used up, over or revoked. It ends with [Sidecar.RevokeGrant].
//
//protocol:variant PolicyEntry grant
type PolicyGrant struct {
	Type tag[PolicyGrant] `json:"type"`
	PolicyHead
	Grant Grant `json:"grant"`
}

// PolicyToolRule is an answer about a tool or a resource that is remembered, until [Sidecar.RemoveToolRule].
//
//protocol:variant PolicyEntry toolRule
type PolicyToolRule struct {
	Type   tag[PolicyToolRule] `json:"type"`
	RuleID string              `json:"ruleId"`
	PolicyHead
	// ResourceURI takes the place of ToolName if the rule is about a resource.
	ResourceURI string   `json:"resourceUri,omitempty"`
	Remember    Remember `json:"remember"`
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

// PolicyReview says which completions go to a server unseen, if not all are reviewed.
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
	// Models are ids, in which a * stands for any text. None at all allows none.
	Models []string `json:"models,omitempty"`
}

// PolicyLimit is a limit of each server's requests.
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
