package ask

import (
	"cmp"
	"encoding/json"
	"time"

	"assent/protocol"
)

// Question is an ask to make.
type Question struct {
	// Kind is empty for [protocol.AskUseMcpServer].
	Kind  protocol.AskKind
	Body  protocol.UseMcpServer
	Check Check
	// Key identifies a question that may be asked again; it may be empty. Until [Asks.Release], a question with the same
	// key is the same ask, or gets the same answer. Such an ask outlives the sidecar.
	Key string
	// Granted settles the ask at once unless it is nil; see [Granted].
	Granted *Granted
	// Other delivers an answer from elsewhere, such as the host of the call. It settles the ask unless the ask is settled
	// already. Nil means that only front ends answer.
	Other <-chan *Granted
	// Timeout limits how long the ask waits for the person; 0 is no limit.
	Timeout time.Duration
	// Asked is called with the id of the ask's message once it exists; it may be nil.
	Asked func(messageID int64, askID string)
	// Queued is called once the ask has its place in the task; it may be nil. A question that is asked from then on comes
	// after it. Queued must not block, nor call the task.
	Queued func()
	// WaitsUntil is when the asker gives up and ends its context; zero if that is unknown.
	WaitsUntil time.Time
}

// Granted answers a question in the name of a person, who determined the answer before. Front ends see a settled ask, and
// never an open one. If the question has a key and was asked before, Granted changes nothing.
type Granted struct {
	Answer *Answer
	// Outcome is the ask's outcome without the time.
	Outcome protocol.Outcome
}

// Check refuses answers that a question's own rules forbid, and completes the others. It is called
// before an answer settles the ask, so that a refused person can try again.
type Check func(*protocol.AskResponseParams) (*Answer, error)

// Answer is a person's answer.
type Answer struct {
	// Response is the button that the person chose.
	Response protocol.AskResponse
	// Content is the form's content for the server, if the question was a form and the answer is yes; or a tool's
	// arguments, if the person edited them.
	Content json.RawMessage
	// SecretFields are the fields of a form that the person marked as secret.
	SecretFields []string
	// Model is the model to ask: for a sampling request that was approved, and for a completion that the person had
	// generated again.
	Model *protocol.Model
	// SentRequest is the server's request as the person edited it; nil if they did not.
	SentRequest *protocol.McpSamplingRequest
	// SentResponse is the completion as the person edited it in the review, or wrote it in place of a model; nil if they
	// did neither.
	SentResponse *protocol.McpSamplingResponse
	// MessageID is the ask's message. Ask sets it.
	MessageID int64
	// Result is the known result of an approved sampling request that was asked before; nil if there is none.
	Result protocol.SamplingResult
	// Kept reports that the ask has a key.
	Kept bool
	// Delivered reports that the server has acknowledged the answer; see [Asks.Delivered].
	Delivered bool
	// GrantID names the grant that approved, or that the person made with the answer.
	GrantID string
	// Permission is what the person said beside yes or no to an agent's host; nil if nothing.
	Permission *protocol.PermissionAnswer
	// DeclinedAll goes to the outcome.
	DeclinedAll bool
	// Take is called just before the answer settles the ask, with the name of the front end; it may be nil. It may complete
	// the answer. If it fails, the ask stays open. It must not call the task.
	Take func(by string) error
	// Held belongs to the asker, who gets it back from Ask. It does not outlive the sidecar.
	Held any
}

// Ended says why an ask ended without an answer. Code that cancels the context of an Ask gives an Ended as the cause. Any
// other cause counts as the end of the server.
type Ended struct {
	Reason protocol.OutcomeReason
	// Detail is a sentence for the person.
	Detail string
}

// Error implements error.
func (e *Ended) Error() string {
	return cmp.Or(e.Detail, string(e.Reason))
}
