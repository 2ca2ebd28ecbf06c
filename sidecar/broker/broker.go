// Package broker turns the requests of MCP servers into asks of their task, and a person's answers
// into MCP's results.
//
// It serves every era and transport: it parses the request's params as they were on the wire, has package policy
// decide, asks the person, and returns a result to marshal or the JSON-RPC error to send. A call blocks until the ask
// is settled. A [Broker] may be used from any goroutine. Between requests it stores only the capabilities that it
// declared to each server and the models that the person chose for it.
package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
	"assent/sidecar/base/secret"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/broker/form"
	"assent/sidecar/broker/grant"
	"assent/sidecar/broker/policy"
	"assent/sidecar/model"
	"assent/sidecar/task"
)

// codeUserRejected is the specification's error for a sampling request that the person refused
// (2025-11-25, "Sampling: error handling").
const codeUserRejected = -1

// codeLimited is the error of a valid request that exceeds the limits in the settings. The code is in
// JSON-RPC's range for implementations, in which MCP defines none.
const codeLimited = -32000

// Models is the part of [model.Set] that the broker needs.
type Models interface {
	// CallTools reports whether a model is known to call tools.
	CallTools(ctx context.Context) bool
	Propose(ctx context.Context, request *protocol.McpSamplingRequest) (m *protocol.Model, why string, err error)
	Find(ctx context.Context, id string) (*protocol.Model, error)
	Generate(ctx context.Context, id string, request *protocol.McpSamplingRequest, emit func(string)) (*model.Completion, error)
}

// Broker serves the requests of MCP servers.
type Broker struct {
	opts   Options
	policy *policy.Policy
	models func(server string) Models
	log    zerolog.Logger
	forms  form.Cache
	// scanner finds secrets in requests.
	scanner *secret.Scanner

	mu sync.Mutex // guards the fields below
	// capabilities holds the capabilities declared to servers.
	capabilities map[string]SamplingCapability
	// chosen holds, by server, the person's last choice that differed from the proposal.
	chosen map[string]choice
}

// Options are what a broker needs.
type Options struct {
	// Models returns the models that a server may use, as they are configured now.
	Models func(server string) Models
	// Policy decides which questions the person is asked.
	Policy *policy.Policy
	// Queue has the person assign requests to tasks; nil refuses requests without a task.
	Queue Queue
	// Known returns the secrets that Assent knows now, which no request may contain; nil means none.
	Known func() []secret.Known
	// AskTimeout returns how long an ask waits for the person; nil and 0 mean no limit.
	AskTimeout func() time.Duration
	// FrontEnd returns the capabilities of the front ends; nil means none.
	FrontEnd func() protocol.FrontEndCapabilities
	Log      zerolog.Logger
}

// New returns a broker.
func New(opts Options) *Broker {
	if opts.Policy == nil {
		opts.Policy = policy.New(policy.Options{FrontEnd: opts.FrontEnd, Log: opts.Log})
	}
	if opts.FrontEnd == nil {
		opts.FrontEnd = func() protocol.FrontEndCapabilities { return protocol.FrontEndCapabilities{} }
	}
	return &Broker{
		opts: opts, policy: opts.Policy, models: opts.Models, log: opts.Log, scanner: secret.New(),
		chosen: map[string]choice{}, capabilities: map[string]SamplingCapability{},
	}
}

// question returns the question for a task.
func (b *Broker) question(origin protocol.Origin, body protocol.UseMcpServer) *task.Question {
	q := &task.Question{Body: body, Check: b.Check(body)}
	if b.opts.AskTimeout != nil {
		q.Timeout = b.opts.AskTimeout()
	}
	if origin.ResourceURI != "" {
		q.Kind = protocol.AskAccessMcpResource
	}
	return q
}

// Check returns the check of a question's answers; it is the same after a restart of the sidecar.
func (b *Broker) Check(question protocol.UseMcpServer) task.Check {
	switch q := question.(type) {
	case protocol.McpElicitation:
		server, fields := q.ServerName, q.ElicitationRequest.Fields // an open ask keeps these, and not a copy of q
		return func(p *protocol.AskResponseParams) (*task.Answer, error) {
			answer, err := checkElicitation(fields, p)
			return b.withDecline(server, p, answer, err)
		}
	case protocol.McpSampling:
		return func(p *protocol.AskResponseParams) (*task.Answer, error) {
			return b.checkSampling(p, &q)
		}
	case protocol.McpSamplingReview:
		return func(p *protocol.AskResponseParams) (*task.Answer, error) {
			return checkReview(b.models(q.ServerName), p, &q)
		}
	case protocol.UseMcpTool:
		use := grant.ToolUse{ServerName: q.ServerName, Tool: &q.Tool}
		if q.HostName != "" {
			return b.checkHostCall(use)
		}
		return b.checkToolUse(use)
	case protocol.AccessMcpResource:
		return b.checkToolUse(grant.ToolUse{ServerName: q.ServerName, URI: q.URI})
	case protocol.HostPermission:
		return func(p *protocol.AskResponseParams) (*task.Answer, error) { return checkPermission(q.Options, p) }
	case protocol.McpURLElicitation:
		server := q.ServerName
		return func(p *protocol.AskResponseParams) (*task.Answer, error) {
			answer, err := checkWayOut(p)
			return b.withDecline(server, p, answer, err)
		}
	default:
		return checkWayOut
	}
}

// Asker is the part of [task.Task] for questions that come from Assent, not from a server.
type Asker interface {
	policy.Task
	Ask(ctx context.Context, q *task.Question) (*task.Answer, error)
}

// Methods are the requests of servers that the broker serves.
var Methods = []string{policy.ElicitationCreate, policy.SamplingCreate}

// Serve serves a request of a server. The result is that of [Broker.Elicit] or [Broker.CreateMessage].
//
// A request without a task is checked and counted like any other, so a person never assigns a request that is refused
// anyway. If the person declined it in advance, it is declined. Otherwise it waits until a person assigns it to a task,
// and is asked there. No grant and no set answer approves it.
func (b *Broker) Serve(ctx context.Context, r *attribution.Request) (any, error) {
	if r.Task == nil && b.opts.Queue == nil {
		return nil, ErrNoTask
	}
	switch r.Method {
	case policy.ElicitationCreate:
		return b.Elicit(ctx, r)
	case policy.SamplingCreate:
		return b.CreateMessage(ctx, r)
	default:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("method %q is not served", r.Method)}
	}
}

// Readable says why a request can never be shown to a person, and tells the person. It returns nil for one that may be.
// It asks nothing.
func (b *Broker) Readable(r *attribution.Request) error {
	request := &policy.Request{Method: r.Method, Origin: r.Origin, Task: r.Task}
	frontEnd := b.opts.FrontEnd()
	var err error
	switch {
	case r.Method == policy.ElicitationCreate && frontEnd.Elicitation:
		_, err = b.readElicitation(r.Origin, r.Params)
	case r.Method == policy.SamplingCreate && frontEnd.Sampling:
		_, err = b.parsed(r)
	}
	if err != nil {
		b.policy.Invalid(request, why(err))
	}
	return err
}

// refused returns the error for a request that the policy refuses.
func refused(d policy.Decision) error {
	if d.Limit == nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: d.Outcome.Detail}
	}
	data, err := json.Marshal(struct {
		Limit      string `json:"limit"`
		Max        int64  `json:"max"`
		RetryAfter int64  `json:"retryAfterMs,omitempty"`
	}{d.Limit.Name, d.Limit.Max, d.Limit.RetryAfter.Milliseconds()})
	if err != nil {
		return err
	}
	return &jsonrpc.Error{Code: codeLimited, Data: data, Message: d.Limit.Error()}
}

// granted returns the policy's answer for the person, or nil if the person decides.
func granted(d policy.Decision) *task.Granted {
	answer := &task.Answer{Content: d.Content}
	switch d.Verdict {
	case policy.Approve:
		answer.Response = protocol.YesButtonClicked
	case policy.Decline:
		answer.Response = protocol.NoButtonClicked
	default:
		return nil
	}
	return &task.Granted{Answer: answer, Outcome: d.Outcome}
}

// invalidParams returns the error for an invalid request.
func invalidParams(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// decode reads a request's params.
func decode(params json.RawMessage, into any) error {
	if len(params) == 0 {
		return invalidParams("params are missing")
	}
	if err := jsonscan.Unmarshal(params, into); err != nil {
		return invalidParams("params cannot be read: %s", reason.Of(err))
	}
	return nil
}

// wrongWayOut returns the error for an unknown [protocol.AskResponse].
func wrongWayOut(params *protocol.AskResponseParams) error {
	return protocol.Errorf(protocol.CodeInvalidParams, "askResponse %q is none of %s, %s and %s", params.AskResponse,
		protocol.YesButtonClicked, protocol.NoButtonClicked, protocol.CancelButtonClicked)
}

// ended returns why an ask has no answer, or nil if err has another cause.
func ended(err error) *task.Ended {
	var e *task.Ended
	if errors.As(err, &e) {
		return e
	}
	return nil
}
