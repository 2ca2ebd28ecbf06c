// Package broker turns what MCP servers ask into asks of the task that they work for, and a
// person's answers into MCP's results.
//
// It is the one place that applies policy, for every era and transport. It gets the request's params as they were on the
// wire, and returns a result to marshal or the JSON-RPC error to send. A call blocks until the ask is settled. A [Broker] may
// be used from any goroutine. Between requests it keeps only what it declared to each server and what the person said about
// each.
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
	"assent/sidecar/form"
	"assent/sidecar/grant"
	"assent/sidecar/jsonscan"
	"assent/sidecar/model"
	"assent/sidecar/reason"
	"assent/sidecar/secret"
	"assent/sidecar/stack"
	"assent/sidecar/task"
)

// codeUserRejected is what the specification gives for a person's refusal of a sampling request
// (2025-11-25, "Sampling: error handling").
const codeUserRejected = -1

// Models is the part of [model.Set] that the broker needs.
type Models interface {
	// CallTools reports whether a model is known to.
	CallTools(ctx context.Context) bool
	Propose(ctx context.Context, request *protocol.McpSamplingRequest) (m *protocol.Model, why string, err error)
	Find(ctx context.Context, id string) (*protocol.Model, error)
	Generate(ctx context.Context, id string, request *protocol.McpSamplingRequest, emit func(string)) (*model.Completion, error)
}

// Broker serves the requests of MCP servers.
type Broker struct {
	opts   Options
	models func(server string) Models
	log    zerolog.Logger
	meter  meter
	crowd  crowd
	forms  form.Cache
	// scanner finds secrets in requests.
	scanner *secret.Scanner

	mu sync.Mutex // guards the fields below
	// capabilities holds what servers were told.
	capabilities map[string]SamplingCapability
	// chosen holds, by server, the person's last choice that differed from the proposal.
	chosen map[string]choice
	// declining holds the servers from which everything is declined, each with the front end in which the person said so.
	declining map[string]string
	// trusted holds the servers to which a person let a completion go.
	trusted map[string]bool
}

// Options are what a broker needs.
type Options struct {
	// Models returns what a server may have of the models, as they are configured now.
	Models func(server string) Models
	// Settings returns how completions are asked for, as it is configured now; nil means the defaults.
	Settings func() protocol.SamplingSettings
	// Held returns the secrets that Assent holds now, and that no request is to carry away; nil means none.
	Held func() []secret.Held
	// Grants are the person's grants; nil if there can be none.
	Grants *grant.Book
	// ToolRules are the person's rules about tools that models call; nil if none are kept.
	ToolRules *grant.ToolRules
	// Tools returns which calls are made without asking, as it is configured now; nil means none.
	Tools func() protocol.ToolSettings
	// Elicitation returns how servers may elicit, as it is configured now; nil means the defaults.
	Elicitation func() protocol.ElicitationSettings
	// AskTimeout returns how long an ask waits for the person; nil and 0 mean no limit.
	AskTimeout func() time.Duration
	// Denied is called for requests that were refused before they belonged to a task, as [Asker.Denied] is for the others.
	// It may be nil.
	Denied func(origin protocol.Origin, method string, outcome protocol.Outcome, count int64)
	// DeclinedChanged is called at each change, in order, with the servers from which everything is declined. It must not
	// call the broker. It may be nil.
	DeclinedChanged func([]protocol.DeclinedServer)
	// FrontEnd returns what can be shown, and where the person can be sent; nil means nothing.
	FrontEnd func() protocol.FrontEndCapabilities
	// Stacks are the stacks on which requests are read; nil means the callers' own.
	Stacks *stack.Pool
	Log    zerolog.Logger
}

// New returns a broker.
func New(opts Options) *Broker {
	if opts.Settings == nil {
		opts.Settings = func() protocol.SamplingSettings { return protocol.SamplingSettings{} }
	}
	if opts.Elicitation == nil {
		opts.Elicitation = func() protocol.ElicitationSettings { return protocol.ElicitationSettings{} }
	}
	if opts.Denied == nil {
		opts.Denied = func(protocol.Origin, string, protocol.Outcome, int64) {}
	}
	if opts.DeclinedChanged == nil {
		opts.DeclinedChanged = func([]protocol.DeclinedServer) {}
	}
	if opts.FrontEnd == nil {
		opts.FrontEnd = func() protocol.FrontEndCapabilities { return protocol.FrontEndCapabilities{} }
	}
	if opts.Tools == nil {
		opts.Tools = func() protocol.ToolSettings { return protocol.ToolSettings{} }
	}
	return &Broker{
		opts: opts, models: opts.Models, log: opts.Log, scanner: secret.New(),
		trusted: map[string]bool{}, declining: map[string]string{}, chosen: map[string]choice{}, capabilities: map[string]SamplingCapability{},
	}
}

// question is what a task is asked.
func (b *Broker) question(origin protocol.Origin, body protocol.UseMcpServer) task.Question {
	q := task.Question{Body: body, Check: b.Check(body)}
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
		return func(p *protocol.AskResponseParams) (*task.Answer, error) {
			answer, err := checkElicitation(q.ElicitationRequest.Fields, p)
			return b.withDecline(q.ServerName, p, answer, err)
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
		return b.checkToolUse(grant.ToolUse{ServerName: q.ServerName, Tool: &q.Tool})
	case protocol.AccessMcpResource:
		return b.checkToolUse(grant.ToolUse{ServerName: q.ServerName, URI: q.URI})
	case protocol.McpURLElicitation:
		return func(p *protocol.AskResponseParams) (*task.Answer, error) {
			answer, err := checkWayOut(p)
			return b.withDecline(q.ServerName, p, answer, err)
		}
	default:
		return checkWayOut
	}
}

// Asker is the part of [task.Task] that a request needs of the task that it belongs to.
type Asker interface {
	Ask(ctx context.Context, q task.Question) (*task.Answer, error)
	Asked(key string) protocol.UseMcpServer
	LastCalls(ctx context.Context) ([]protocol.Call, error)
	BeginCompletion(ctx context.Context, messageID int64, model *protocol.Model) (context.Context, func())
	ReviewCompletion(messageID int64)
	Progress(messageID int64, chunk string)
	EndSampling(messageID int64, result protocol.SamplingResult, usage *protocol.SamplingUsage)
	Denied(origin protocol.Origin, method string, outcome protocol.Outcome, count int64)
	Tell(notice protocol.Notice)
}

// refuse has the journal say that a request is refused without asking, and returns the error.
func (b *Broker) refuse(t Asker, origin protocol.Origin, method string, reason protocol.OutcomeReason, err error) error {
	if count := b.meter.refused(origin.ServerName); count > 0 {
		t.Denied(origin, method, protocol.Outcome{Reason: reason, Detail: err.Error()}, count)
	}
	return err
}

// notDeclared is the answer to a request that the server was not told that it may make: no front end can
// show it.
func notDeclared(method string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: method + " was not declared by this client: no front end can show it"}
}

// invalidParams is the answer to a request that is not as the specification says.
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

// wrongWayOut refuses an answer that is none of the ways out.
func wrongWayOut(params *protocol.AskResponseParams) error {
	return protocol.Errorf(protocol.CodeInvalidParams, "askResponse %q is none of %s, %s and %s", params.AskResponse,
		protocol.YesButtonClicked, protocol.NoButtonClicked, protocol.CancelButtonClicked)
}

// ended returns why an ask has no answer, or nil where the error is another.
func ended(err error) *task.Ended {
	var e *task.Ended
	if errors.As(err, &e) {
		return e
	}
	return nil
}
