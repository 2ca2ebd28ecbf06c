package broker

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/base/reason"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/broker/grant"
	"assent/sidecar/broker/policy"
	"assent/sidecar/model"
	"assent/sidecar/task"
	"assent/sidecar/wire"
)

// findTimeout bounds the search for a model that a person chose.
const findTimeout = 10 * time.Second

// declareTimeout bounds the search for a model that can call tools. A server's start waits for it.
const declareTimeout = time.Second

// SamplingCapability is the capability that is declared to a server (2025-11-25, "Sampling:
// capabilities").
type SamplingCapability struct {
	// Tools: there is a model that can call them.
	Tools bool
}

// DeclareSampling returns the capability to declare to a new connection of a server. Later requests of
// the server must not exceed it.
func (b *Broker) DeclareSampling(ctx context.Context, serverName string) SamplingCapability {
	ctx, cancel := context.WithTimeout(ctx, declareTimeout)
	defer cancel()
	declared := SamplingCapability{Tools: b.models(serverName).CallTools(ctx)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.capabilities[serverName] = declared
	return declared
}

func (b *Broker) declared(serverName string) SamplingCapability {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.capabilities[serverName]
}

// CreateMessage serves sampling/createMessage (2024-11-05 and later, "Sampling"). The result is
// MCP's CreateMessageResult.
func (b *Broker) CreateMessage(ctx context.Context, r *attribution.Request) (any, error) {
	p := &policy.Request{Method: policy.SamplingCreate, Origin: r.Origin, Task: r.Task}
	request, err := b.readSampling(ctx, p, r)
	defer p.Done()
	if err != nil {
		return nil, err
	}
	wire.Accept(ctx)
	if r.Task == nil {
		if err := b.awaitTask(ctx, r, p); err != nil {
			return nil, b.unanswered(r.Origin.ServerName, err)
		}
	}
	return b.createMessage(ctx, r, p, request)
}

// readSampling reads a request of sampling/createMessage. The error says why it is refused.
func (b *Broker) readSampling(ctx context.Context, p *policy.Request, r *attribution.Request) (*protocol.McpSamplingRequest, error) {
	if d := b.policy.Decide(ctx, p); d.Verdict == policy.Refuse {
		return nil, refused(d)
	}
	request, err := b.parsed(r)
	if err != nil {
		b.policy.Invalid(p, why(err))
		return nil, err
	}
	p.Stage, p.Body = policy.Read, protocol.McpSampling{Origin: p.Origin, SamplingRequest: *request}
	if d := b.policy.Decide(ctx, p); d.Verdict == policy.Refuse {
		return nil, refused(d)
	}
	return request, nil
}

// parsed returns the request for a model.
func (b *Broker) parsed(r *attribution.Request) (*protocol.McpSamplingRequest, error) {
	host := r.ForwardsTo()
	return parseSampling(r.Params, b.declared(r.Origin.ServerName).Tools || host != nil && host.CallsTools)
}

// createMessage serves a request that was parsed and has a task.
func (b *Broker) createMessage(ctx context.Context, r *attribution.Request, p *policy.Request, request *protocol.McpSamplingRequest) (any, error) {
	origin := r.Origin
	models := b.models(origin.ServerName)
	proposed, why, err := b.propose(ctx, models, origin, request)
	if err != nil {
		b.log.Warn().Err(err).Msg("no model to propose")
	}

	added, err := conversation(ctx, r.Task, origin.ServerName, request.IncludeContext)
	if err != nil {
		b.log.Warn().Err(err).Msg("the context of a sampling request cannot be read")
	}

	q := protocol.McpSampling{
		Origin: origin, SamplingRequest: *request, Model: proposed, ModelReason: why,
		Secrets: b.secrets(request), Context: added,
	}
	p.Stage, p.Body, p.Repeated = policy.Ready, q, r.Asked("") != nil
	d := b.policy.Decide(ctx, p)
	q.GrantReason = d.GrantReason
	if d.Verdict == policy.Approve {
		// Only a person may add the context that a server asks for. Under a grant the request is sent
		// without it.
		q.Context = nil
	}
	question := b.question(origin, q)
	if question.Granted = granted(d); question.Granted != nil {
		question.Granted.Answer.Model, question.Granted.Answer.Held = q.Model, d.Held
	}
	answer, err := b.ask(ctx, r, question)
	b.releaseUnused(d.Held, answer)
	if err != nil {
		return nil, b.unanswered(origin.ServerName, err)
	}
	if answer.Response != protocol.YesButtonClicked {
		return nil, rejected(answer.Response)
	}
	b.choseFor(origin, proposed, answer.Model, answer.GrantID != "")
	if answer.SentResponse != nil { // the person wrote it
		return toResult(*answer.SentResponse), nil
	}
	switch earlier := answer.Result.(type) { // an MCP task that repeats its request
	case protocol.McpSamplingResponse:
		return toResult(earlier), nil
	case protocol.SamplingWithheld:
		return nil, rejected(protocol.NoButtonClicked)
	case protocol.SamplingFailure:
		return nil, samplingError(model.ErrFailed)
	}
	c := &completion{Broker: b, models: models, asker: r, origin: origin, answer: answer, request: request, held: b.reservation(ctx, answer)}
	if answer.SentRequest != nil {
		c.request = answer.SentRequest
	}
	return c.run(ctx)
}

// unanswered returns the error for the server if no person decided about its request.
func (b *Broker) unanswered(serverName string, err error) error {
	if why := ended(err); why != nil {
		b.log.Info().Str("server", serverName).Str("reason", string(why.Reason)).Msg("sampling ended without an answer")
		if why.Reason == protocol.OutcomeDismissed {
			return rejected(protocol.CancelButtonClicked)
		}
		return &jsonrpc.Error{Code: codeUserRejected, Message: "The sampling request was not answered: " + undecided(why.Reason)}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: reason.Of(err)}
}

// undecided returns the text for the server on why no person decided.
func undecided(why protocol.OutcomeReason) string {
	switch why {
	case protocol.OutcomeTimedOut:
		return "the user did not answer in time"
	case protocol.OutcomeServerStoppedWaiting:
		return "the server cancelled it"
	case protocol.OutcomeCallEnded:
		return "its call ended first"
	case protocol.OutcomeServerLost:
		return "the connection to the server was lost"
	case protocol.OutcomeRestarted:
		return "the client stopped while it was open"
	default:
		return "it ended without an answer"
	}
}

// rejected returns the error for the server if a person did not approve its request, or withheld the completion.
func rejected(response protocol.AskResponse) error {
	if response == protocol.NoButtonClicked {
		return &jsonrpc.Error{Code: codeUserRejected, Message: "User rejected sampling request"}
	}
	return &jsonrpc.Error{Code: codeUserRejected, Message: "User dismissed the sampling request without an answer"}
}

// createMessageResult is MCP's result. Content is one block or, since 2025-11-25, an array of
// several.
type createMessageResult struct {
	Role       protocol.Role `json:"role"`
	Content    any           `json:"content"`
	Model      string        `json:"model"`
	StopReason string        `json:"stopReason,omitempty"`
}

func toResult(r protocol.McpSamplingResponse) createMessageResult {
	result := createMessageResult{Role: r.Role, Content: r.Content, Model: r.Model, StopReason: r.StopReason}
	if len(r.Content) == 1 {
		result.Content = r.Content[0]
	}
	return result
}

// samplingError returns the error for the server. It says how a model failed, but not the model's
// address or the provider's message, which are private to the person.
func samplingError(err error) error {
	for _, kind := range []error{model.ErrNone, model.ErrRefused, model.ErrStalled} {
		if errors.Is(err, kind) {
			return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Sampling failed: " + kind.Error()}
		}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Sampling failed: " + model.ErrFailed.Error()}
}

func (b *Broker) checkSampling(p *protocol.AskResponseParams, q *protocol.McpSampling) (*task.Answer, error) {
	answer := &task.Answer{Response: p.AskResponse, Model: q.Model}
	switch p.AskResponse {
	case protocol.YesButtonClicked:
		if p.HandWritten != nil {
			return handWritten(p)
		}
		sent, err := edited(&q.SamplingRequest, p.SamplingEdit)
		if err != nil {
			return nil, err
		}
		if p.IncludeContext {
			if q.Context == nil {
				return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "there is no context to include")
			}
			sent = withContext(cmp.Or(sent, &q.SamplingRequest), q.Context)
		}
		answer.SentRequest = sent
		if err := b.checkSecrets(cmp.Or(sent, &q.SamplingRequest), p); err != nil {
			return nil, err
		}
		answer.Model, err = choose(b.models(q.ServerName), p.ModelID, q.Model)
		if err != nil || p.Grant == nil {
			return answer, err
		}
		return answer, b.takeGrant(answer, *p.Grant, q)
	case protocol.NoButtonClicked, protocol.CancelButtonClicked:
		return answer, nil
	default:
		return nil, wrongWayOut(p)
	}
}

// choose returns the model that a person chose, or the proposed one.
func choose(models Models, id string, proposed *protocol.Model) (*protocol.Model, error) {
	if id == "" && proposed != nil {
		return proposed, nil
	}
	// The front end waits for this, so ctx of the server's request does not apply.
	ctx, cancel := context.WithTimeout(context.Background(), findTimeout)
	defer cancel()
	chosen, err := models.Find(ctx, id)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "%s", reason.Of(err))
	}
	return chosen, nil
}

// takeGrant makes a grant together with an answer. The request being answered counts as its first one, as
// it is sent.
func (b *Broker) takeGrant(answer *task.Answer, terms protocol.GrantTerms, q *protocol.McpSampling) error {
	if err := b.policy.CheckGrant(&terms); err != nil {
		return err
	}
	sent := &q.SamplingRequest
	if answer.SentRequest != nil {
		sent = answer.SentRequest
	}
	answer.Take = func(by string) error {
		// The front end waits for this, so ctx of the server's request does not apply.
		held, err := b.policy.CreateGrant(context.Background(), terms, by, grant.Request{
			Origin: q.Origin, Model: answer.Model, Most: grant.Most(answer.Model, sent),
		})
		if err == nil {
			answer.GrantID, answer.Held = held.GrantID, held
		}
		return err
	}
	return nil
}

// releaseUnused releases the reservation of a question that the grant did not answer: the task refused the
// question, or an MCP task had asked it before.
func (b *Broker) releaseUnused(held *grant.Reservation, answer *task.Answer) {
	if held == nil || answer != nil && answer.Held == held {
		return
	}
	if err := held.Release(); err != nil {
		b.log.Error().Err(err).Msg("grant")
	}
}

// choice is a model that a person chose instead of the proposed one.
type choice struct {
	modelID string
	// messageID is the call during which they chose it, or 0 if they also allowed the server's next
	// requests.
	messageID int64
}

// propose returns the model to propose, and the reason. The person's earlier choice comes first, for the
// same call or together with a grant, if that model supports the request. Otherwise the server's
// preferences decide.
func (b *Broker) propose(ctx context.Context, models Models, origin protocol.Origin, request *protocol.McpSamplingRequest) (*protocol.Model, string, error) {
	proposed, why, err := models.Propose(ctx, request)
	b.mu.Lock()
	chosen, ok := b.chosen[origin.ServerName]
	b.mu.Unlock()
	if !ok || chosen.messageID != 0 && chosen.messageID != origin.MessageID || proposed != nil && proposed.ID == chosen.modelID {
		return proposed, why, err
	}
	own, findErr := models.Find(ctx, chosen.modelID)
	if findErr != nil || !model.Suits(*own, request) {
		return proposed, why, err
	}
	return own, "You chose it when this server asked last.", nil
}

// choseFor records the person's choice of a model. granted: they also allowed the next requests.
func (b *Broker) choseFor(origin protocol.Origin, proposed, answering *protocol.Model, granted bool) {
	if answering == nil || proposed != nil && proposed.ID == answering.ID || origin.MessageID == 0 && !granted {
		return
	}
	c := choice{modelID: answering.ID, messageID: origin.MessageID}
	if granted {
		c.messageID = 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.chosen[origin.ServerName] = c
}
