package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/broker/form"
	"assent/sidecar/task"
)

// errSettled is the cause that ends a host's question if the ask was settled in Assent.
var errSettled = errors.New("the question was settled in Assent")

// ask asks a request's task and, if the person has chosen that, also the host that made the call. The first answer
// counts. A question that the policy answers goes to neither. A question of an earlier daemon is open in Assent, and goes
// to the host again.
func (b *Broker) ask(ctx context.Context, r *attribution.Request, q *task.Question) (*task.Answer, error) {
	h := r.ForwardsTo()
	if h == nil || q.Granted != nil {
		return r.Ask(ctx, q)
	}
	isOpen := r.IsOpen(q.Key)
	if !isOpen && r.Asked(q.Key) != nil {
		return r.Ask(ctx, q)
	}
	return b.askBoth(ctx, r, h, q, isOpen)
}

// askBoth asks the host and the task. The task may have the question open already.
func (b *Broker) askBoth(ctx context.Context, r *attribution.Request, h *attribution.Host, q *task.Question, isOpen bool) (*task.Answer, error) {
	asking, cancel := context.WithCancelCause(ctx)
	var host sync.WaitGroup
	defer host.Wait()
	defer cancel(errSettled)
	answers, gone := make(chan *task.Granted, 1), make(chan struct{})
	host.Go(func() {
		defer close(gone)
		if answer := b.askHost(asking, r, h, q); answer != nil {
			answers <- answer
		}
	})
	if h.HeadStart > 0 && !isOpen {
		timer := time.NewTimer(h.HeadStart)
		defer timer.Stop()
		select {
		case <-gone:
		case <-timer.C:
		case <-ctx.Done():
		}
		select {
		case q.Granted = <-answers:
			q.Body = answeredBody(q.Body, q.Granted.Answer)
		default:
		}
	}
	q.Other = answers
	return r.Ask(ctx, q)
}

// askHost asks a host, and returns its answer, or nil if it gives none.
func (b *Broker) askHost(ctx context.Context, r *attribution.Request, h *attribution.Host, q *task.Question) *task.Granted {
	raw, err := h.Ask(ctx, r)
	var answer *task.Answer
	switch {
	case errors.Is(err, attribution.ErrHostDeclined):
		answer = &task.Answer{Response: protocol.NoButtonClicked}
	case err != nil:
		b.log.Info().Str("host", h.Name).Str("method", r.Method).Err(err).Msg("the host gave no answer")
		return nil
	default:
		if answer, err = hostAnswer(q, raw); err != nil {
			b.log.Warn().Str("host", h.Name).Str("method", r.Method).Str("reason", reason.Of(err)).Msg("the host's answer cannot be used")
			return nil
		}
	}
	outcome := protocol.Outcome{By: h.Name, Reason: protocol.OutcomeAnswered}
	switch answer.Response {
	case protocol.NoButtonClicked:
		outcome.Reason = protocol.OutcomeDeclined
	case protocol.CancelButtonClicked:
		if h.HeadStart == 0 {
			return nil // the question is still open in Assent
		}
		outcome.Reason = protocol.OutcomeDismissed
	}
	return &task.Granted{Answer: answer, Outcome: outcome}
}

// hostAnswer reads a host's result as the answer to a question, and checks it like a person's. Content that violates the form
// is no answer, and so is an accepted form without content, unless no field is required: some hosts show no fields. A schema
// allows members that it does not describe, and some hosts add them. The server, which did not ask for them, gets none.
func hostAnswer(q *task.Question, raw json.RawMessage) (*task.Answer, error) {
	if _, isSampling := q.Body.(protocol.McpSampling); isSampling {
		return hostCompletion(raw)
	}
	var result struct {
		Action  protocol.ElicitationAction `json:"action"`
		Content json.RawMessage            `json:"content"`
	}
	if err := jsonscan.Unmarshal(raw, &result); err != nil {
		return nil, err
	}
	p := &protocol.AskResponseParams{}
	switch result.Action {
	case protocol.ActionAccept:
		p.AskResponse, p.ElicitationContent = protocol.YesButtonClicked, result.Content
	case protocol.ActionDecline:
		p.AskResponse = protocol.NoButtonClicked
	case protocol.ActionCancel:
		p.AskResponse = protocol.CancelButtonClicked
	default:
		return nil, fmt.Errorf("its action is %q", result.Action)
	}
	if body, isForm := q.Body.(protocol.McpElicitation); isForm {
		p.ElicitationContent = form.Described(body.ElicitationRequest.Fields, p.ElicitationContent)
	}
	return q.Check(p)
}

// hostCompletion reads the result of sampling/createMessage.
func hostCompletion(raw json.RawMessage) (*task.Answer, error) {
	var result struct {
		Role       protocol.Role   `json:"role"`
		Content    json.RawMessage `json:"content"`
		Model      string          `json:"model"`
		StopReason string          `json:"stopReason"`
	}
	if err := jsonscan.Unmarshal(raw, &result); err != nil {
		return nil, err
	}
	content, err := parseContent(result.Content)
	if err != nil {
		return nil, err
	}
	if err := checkMessage(protocol.SamplingMessage{Role: result.Role, Content: content}); err != nil {
		return nil, err
	}
	return &task.Answer{Response: protocol.YesButtonClicked, SentResponse: &protocol.McpSamplingResponse{
		Role: result.Role, Content: content, Model: result.Model, StopReason: result.StopReason,
	}}, nil
}

// answeredBody returns a question with an answer that exists before the person is asked.
func answeredBody(body protocol.UseMcpServer, answer *task.Answer) protocol.UseMcpServer {
	switch q := body.(type) {
	case protocol.McpElicitation:
		q.ElicitationResponse = elicitationResponse(answer)
		return q
	case protocol.McpURLElicitation:
		q.ElicitationResponse = elicitationResponse(answer)
		return q
	case protocol.McpSampling:
		if answer.SentResponse != nil {
			q.Result = *answer.SentResponse
		}
		return q
	}
	return body
}

// elicitationResponse returns an answer as MCP's result.
func elicitationResponse(answer *task.Answer) *protocol.McpElicitationResponse {
	switch answer.Response {
	case protocol.YesButtonClicked:
		return &protocol.McpElicitationResponse{Action: protocol.ActionAccept, Content: answer.Content}
	case protocol.NoButtonClicked:
		return &protocol.McpElicitationResponse{Action: protocol.ActionDecline}
	default:
		return &protocol.McpElicitationResponse{Action: protocol.ActionCancel}
	}
}
