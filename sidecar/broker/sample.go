package broker

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/attribution"
	"assent/sidecar/grant"
	"assent/sidecar/model"
	"assent/sidecar/policy"
	"assent/sidecar/reason"
	"assent/sidecar/task"
)

// findTimeout bounds the search for a model that a person chose.
const findTimeout = 10 * time.Second

// declareTimeout bounds the search for a model that can call tools: no server starts late for it.
const declareTimeout = time.Second

// SamplingCapability is what a server is told of sampling (2025-11-25, "Sampling: capabilities").
type SamplingCapability struct {
	// Tools: there is a model that can call them.
	Tools bool
}

// DeclareSampling returns what a server that is about to be connected is to be told, and holds it to that
// from now on.
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
	var request *protocol.McpSamplingRequest
	var err error
	b.opts.Stacks.Call(func() { request, err = b.readSampling(ctx, p, r) })
	defer p.Done()
	if err != nil {
		return nil, err
	}
	if r.Task == nil {
		if err := b.awaitTask(ctx, r, p); err != nil {
			return nil, b.unanswered(r.Origin.ServerName, err)
		}
	}
	return b.createMessage(ctx, r, p, request)
}

// readSampling reads a request of sampling/createMessage, or says why it is refused.
func (b *Broker) readSampling(ctx context.Context, p *policy.Request, r *attribution.Request) (*protocol.McpSamplingRequest, error) {
	if d := b.policy.Decide(ctx, p); d.Verdict == policy.Refuse {
		return nil, refused(d)
	}
	host := r.ForwardsTo()
	request, err := parseSampling(r.Params, b.declared(p.Origin.ServerName).Tools || host != nil && host.CallsTools)
	if err != nil {
		return nil, err
	}
	p.Stage, p.Body = policy.Read, protocol.McpSampling{Origin: p.Origin, SamplingRequest: *request}
	if d := b.policy.Decide(ctx, p); d.Verdict == policy.Refuse {
		return nil, refused(d)
	}
	return request, nil
}

// createMessage serves a request that was read and has its task.
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
		// The context that a server asks for is a person's to give: under a grant the request goes without.
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
	switch earlier := answer.Result.(type) { // an MCP task that asks again
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

// unanswered returns the error for the server if no person decided its request.
func (b *Broker) unanswered(serverName string, err error) error {
	if why := ended(err); why != nil {
		b.log.Info().Str("server", serverName).Str("reason", string(why.Reason)).Msg("sampling ended without an answer")
		if why.Reason == protocol.OutcomeDismissed {
			return rejected(protocol.CancelButtonClicked)
		}
		return &jsonrpc.Error{Code: codeUserRejected, Message: "Nobody answered the sampling request: " + undecided(why.Reason)}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: reason.Of(err)}
}

// undecided tells a server in words why no person decided.
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

// createMessageResult is MCP's own. Content is a block or, where there are several, which is since
// 2025-11-25, the array of them.
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

// samplingError tells the server which way a model failed, and not where the model is or what its
// provider said: that is the person's business.
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
				return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "there is no context to send along")
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

// choose returns the model that a person named, or else the one that was proposed.
func choose(models Models, id string, proposed *protocol.Model) (*protocol.Model, error) {
	if id == "" && proposed != nil {
		return proposed, nil
	}
	// The front end waits for its answer to be taken, whoever asked.
	ctx, cancel := context.WithTimeout(context.Background(), findTimeout)
	defer cancel()
	chosen, err := models.Find(ctx, id)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "%s", reason.Of(err))
	}
	return chosen, nil
}

// takeGrant has a grant made with an answer. Its first request is the one that is answered, as it is sent.
func (b *Broker) takeGrant(answer *task.Answer, terms protocol.GrantTerms, q *protocol.McpSampling) error {
	if err := b.policy.CheckGrant(&terms); err != nil {
		return err
	}
	sent := &q.SamplingRequest
	if answer.SentRequest != nil {
		sent = answer.SentRequest
	}
	answer.Take = func(by string) error {
		// The front end waits for its answer to be taken, whoever asked.
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

// releaseUnused gives back what was held for a question that the grant did not answer: the task took none, or an
// MCP task had asked it before.
func (b *Broker) releaseUnused(held *grant.Reservation, answer *task.Answer) {
	if held == nil || answer != nil && answer.Held == held {
		return
	}
	if err := held.Release(); err != nil {
		b.log.Error().Err(err).Msg("grant")
	}
}

// choice is a model that a person chose in place of the proposed one.
type choice struct {
	modelID string
	// messageID is the call's during which they did, or 0 where they also allowed the server's next requests.
	messageID int64
}

// propose returns the model to propose, and why: the one that the person chose earlier in the same call, or
// with what they allowed the server from then on, as long as it can answer what is asked now; or else the
// one that suits the server's wishes.
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

// choseFor notes what a person made of the proposed model; granted: they also allowed the next requests.
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
