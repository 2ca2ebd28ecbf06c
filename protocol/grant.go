package protocol

// Grant lets sampling requests of one server go to a model without a person's approval of each. Nothing
// else does.
type Grant struct {
	ID string `json:"id"`
	GrantTerms
	// Identity, in hexadecimal, is the SHA-256 of the server's whole definition when the grant was made: its
	// command, arguments, folder, environment, URL, headers and login. A server with another definition that has
	// taken the name is not covered. It is absent in a grant of an older Assent, which no longer covers anything.
	Identity string `json:"identity,omitempty"`
	// Command is the server's [Server.Command] at that time, for people.
	Command string `json:"command,omitempty"`
	// By names the front end in which it was made.
	By        string     `json:"by"`
	CreatedAt int64      `json:"createdAt"`
	Spent     GrantSpent `json:"spent"`
	// EndedAt is when it was revoked or its session ended; absent while it may still approve something.
	EndedAt int64 `json:"endedAt,omitempty"`
}

// GrantTerms are the bounds of a grant. A request that would leave one of them is asked about.
type GrantTerms struct {
	ServerName string `json:"serverName"`
	// ToolName limits the grant to what is asked during calls of that tool; empty limits nothing.
	ToolName string `json:"toolName,omitempty"`
	// Models are ids, in which a * stands for any text: the grant covers requests for which one of them is
	// proposed. There is at least one.
	Models []string `json:"models,omitempty"`
	// MaxRequests, MaxTokens, read and written, and MaxCost, in US dollars, bound the sum of all requests;
	// 0 sets no bound. Under MaxCost, a model whose price is not known is not covered.
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

// GrantSpent is what the requests under a grant came to. What is under way counts as much as it may
// come to at most.
type GrantSpent struct {
	Requests int64   `json:"requests"`
	Tokens   int64   `json:"tokens"`
	Cost     float64 `json:"cost"`
	// InFlight counts the requests of this sidecar that are under way. What one that was killed had under
	// way stays spent.
	InFlight int64 `json:"inFlight,omitempty"`
}

// RevokeGrantParams names a grant.
type RevokeGrantParams struct {
	GrantID string `json:"grantId"`
}

// PreviewGrantResult says what a grant would have done.
type PreviewGrantResult struct {
	// Requests are the past requests of the server, the newest first; the bounds are spent from the oldest
	// on.
	Requests []PreviewedRequest `json:"requests,omitempty"`
	// Truncated: there were more, older ones.
	Truncated bool `json:"truncated,omitempty"`
}

// PreviewedRequest is a past sampling request under a grant that was not there.
type PreviewedRequest struct {
	TaskID    string `json:"taskId"`
	MessageID int64  `json:"messageId"`
	At        int64  `json:"at"`
	// ToolNames are as in its [Origin].
	ToolNames []string `json:"toolNames,omitempty"`
	// ModelID is absent if there was none to propose.
	ModelID string        `json:"modelId,omitempty"`
	Usage   SamplingUsage `json:"usage"`
	// Allowed: the grant would have approved it. Reason is a line for the person that says why not.
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason,omitempty"`
}
