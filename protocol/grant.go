package protocol

// Grant lets sampling requests of one server go to a model without asking the person each time. Nothing
// else does.
type Grant struct {
	ID string `json:"id"`
	GrantTerms
	// Identity, in hexadecimal, is the SHA-256 of the server's whole definition when the grant was made: its
	// command, arguments, folder, environment, URL, headers and login. The grant does not cover another server
	// that has the same name.
	Identity string `json:"identity,omitempty"`
	// Command is the server's [Server.Command] at that time, for people.
	Command string `json:"command,omitempty"`
	// By names the front end in which it was made.
	By        string     `json:"by"`
	CreatedAt int64      `json:"createdAt"`
	Spent     GrantSpent `json:"spent"`
	// EndedAt is when it was revoked or its session ended; absent while the grant is in force.
	EndedAt int64 `json:"endedAt,omitempty"`
}

// GrantTerms are the bounds of a grant. The person is asked about a request that would exceed one
// of them.
type GrantTerms struct {
	ServerName string `json:"serverName"`
	// ToolName limits the grant to requests during calls of that tool. If empty, it covers all
	// requests.
	ToolName string `json:"toolName,omitempty"`
	// Models are ids, with * for any text. The grant covers requests with a proposed model that matches
	// one of them. There is at least one.
	Models []string `json:"models,omitempty"`
	// MaxRequests, MaxTokens (input and output) and MaxCost (US dollars) bound the sum over all requests;
	// 0 sets no bound. With MaxCost, models of unknown price are not covered.
	MaxRequests int64   `json:"maxRequests,omitempty"`
	MaxTokens   int64   `json:"maxTokens,omitempty"`
	MaxCost     float64 `json:"maxCost,omitempty"`
	// ExpiresAt is when it ends; 0 sets no end.
	ExpiresAt int64 `json:"expiresAt,omitempty"`
	// Session: it ends with the sidecar.
	Session bool `json:"session,omitempty"`
	// Review: the person still sees each answer before the server gets it.
	Review bool `json:"review,omitempty"`
}

// GrantSpent is the sum over the requests under a grant. A request under way counts with its
// maximum.
type GrantSpent struct {
	Requests int64   `json:"requests"`
	Tokens   int64   `json:"tokens"`
	Cost     float64 `json:"cost"`
	// InFlight counts the requests under way in this sidecar. Requests that were under way in a killed
	// sidecar stay spent.
	InFlight int64 `json:"inFlight,omitempty"`
}

// RevokeGrantParams names a grant.
type RevokeGrantParams struct {
	GrantID string `json:"grantId"`
}

// PreviewGrantResult says what a grant would have done.
type PreviewGrantResult struct {
	// Requests are the past requests of the server, the newest first. The bounds are applied from the
	// oldest on.
	Requests []PreviewedRequest `json:"requests,omitempty"`
	// Truncated: there were more, older ones.
	Truncated bool `json:"truncated,omitempty"`
}

// PreviewedRequest is a past sampling request, with the decision that the grant would have made.
type PreviewedRequest struct {
	TaskID    string `json:"taskId"`
	MessageID int64  `json:"messageId"`
	At        int64  `json:"at"`
	// ToolNames are as in its [Origin].
	ToolNames []string `json:"toolNames,omitempty"`
	// ModelID is absent if no model could be proposed.
	ModelID string        `json:"modelId,omitempty"`
	Usage   SamplingUsage `json:"usage"`
	// Allowed: the grant would have approved the request. If not, Reason is a line for the person
	// that says why.
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason,omitempty"`
}
