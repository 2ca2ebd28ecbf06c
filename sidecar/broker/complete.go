package broker

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/base/reason"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/broker/grant"
	"assent/sidecar/broker/policy"
	"assent/sidecar/model"
	"assent/sidecar/task"
)

// stopReasonStopped is the stop reason of a completion that a person stopped and returned unfinished.
const stopReasonStopped = "userStopped"

// completion is the processing of an approved request: a model answers, the person reviews the answer,
// perhaps a model answers again, and the server gets it.
type completion struct {
	*Broker
	models Models
	asker  *attribution.Request
	origin protocol.Origin
	// answer is the approval.
	answer *task.Answer
	// request is the request to the model.
	request *protocol.McpSamplingRequest
	// held is the reservation on the grant that approved the request, or nil.
	held *grant.Reservation
	// usage is the usage of all attempts so far.
	usage usage
}

// run returns the server's result.
func (c *completion) run(ctx context.Context) (any, error) {
	m := c.answer.Model
	var before *protocol.McpSamplingReview
	for attempt := 0; ; attempt++ {
		review := c.reviewed(attempt)
		if review == nil {
			var err error
			if review, err = c.propose(ctx, m, before); err != nil {
				return nil, c.fail(ctx, err)
			}
			if before == nil && !c.needsReview(ctx, review) {
				return c.end(review.SamplingResponse), nil
			}
			c.asker.Task.ReviewCompletion(c.answer.MessageID)
		} else { // the completion of an earlier request, without a stored usage
			c.usage.add(grant.Estimate(review.Model, c.request, review.SamplingResponse.Content))
		}
		question := c.question(c.origin, *review)
		question.Key = c.key(attempt)
		verdict, err := c.asker.Ask(ctx, question)
		if err != nil {
			return nil, c.unreviewed(err)
		}
		switch verdict.Response {
		case protocol.YesButtonClicked:
			c.policy.Trust(c.origin.ServerName)
			if verdict.SentResponse != nil {
				return c.end(*verdict.SentResponse), nil
			}
			return c.end(review.SamplingResponse), nil
		case protocol.RegenerateButtonClicked:
			m, before = verdict.Model, review
		default:
			c.ended(protocol.SamplingWithheld{Reason: "The answer was not returned to the server."})
			return nil, rejected(verdict.Response)
		}
	}
}

// propose asks a model, and returns the answer for review. If the model fails after an earlier answer,
// it proposes the earlier one again.
func (c *completion) propose(ctx context.Context, m *protocol.Model, before *protocol.McpSamplingReview) (*protocol.McpSamplingReview, error) {
	response, err := c.generate(ctx, m)
	switch {
	case err == nil:
		return &protocol.McpSamplingReview{
			Origin: c.origin, SamplingMessageID: c.answer.MessageID, Model: m, SamplingResponse: *response,
		}, nil
	case before == nil || ctx.Err() != nil || errors.As(err, new(*task.Stopped)):
		return nil, err
	default:
		again := *before
		again.Problem = m.Name + " gave no other answer: " + reason.Of(err)
		return &again, nil
	}
}

// key returns the name of an attempt's review, if the approval has a name that outlives the
// sidecar.
func (c *completion) key(attempt int) string {
	if !c.answer.Kept {
		return ""
	}
	return "\x00review " + strconv.Itoa(attempt)
}

// reviewed returns the stored review of an attempt, so that a model is not asked twice, or nil.
func (c *completion) reviewed(attempt int) *protocol.McpSamplingReview {
	key := c.key(attempt)
	if key == "" {
		return nil
	}
	if q, ok := c.asker.Asked(key).(protocol.McpSamplingReview); ok {
		return &q
	}
	return nil
}

// generate asks the model and shows its answer while it arrives.
func (c *completion) generate(ctx context.Context, m *protocol.Model) (*protocol.McpSamplingResponse, error) {
	ctx, done := c.asker.Task.BeginCompletion(ctx, c.answer.MessageID, m)
	var written strings.Builder
	made, err := c.models.Generate(ctx, m.ID, c.request, func(piece string) {
		written.WriteString(piece)
		c.asker.Task.Progress(c.answer.MessageID, piece)
	})
	done()
	var stopped *task.Stopped
	switch {
	case errors.As(context.Cause(ctx), &stopped) && stopped.Keep:
		// A stopped model has not reported its name.
		made = &model.Completion{Text: stopped.Text, Model: m.Name, StopReason: stopReasonStopped}
	case stopped != nil:
		c.usage.broken(m, c.request, written.String(), stopped)
		return nil, stopped
	case err != nil:
		c.usage.broken(m, c.request, written.String(), err)
		c.log.Warn().Err(err).Str("server", c.origin.ServerName).Str("model", m.ID).Msg("sampling failed")
		return nil, err
	}
	c.usage.made(m, c.request, made)
	return &protocol.McpSamplingResponse{
		Role:       protocol.RoleAssistant,
		Content:    contentOf(made),
		Model:      made.Model,
		StopReason: made.StopReason,
	}, nil
}

// contentOf returns the model's text, followed by the calls that it asked for.
func contentOf(made *model.Completion) []protocol.ContentBlock {
	var content []protocol.ContentBlock
	if made.Text != "" || len(made.ToolUses) == 0 {
		content = append(content, protocol.TextContent{Text: made.Text})
	}
	for _, use := range made.ToolUses {
		content = append(content, use)
	}
	return content
}

// end stores the completion, and returns it as the server's result.
func (c *completion) end(response protocol.McpSamplingResponse) any {
	c.ended(response)
	return toResult(response)
}

// ended stores the result and the usage in the task, and charges the usage to the grant.
func (c *completion) ended(result protocol.SamplingResult) {
	c.asker.Task.EndSampling(c.answer.MessageID, result, c.usage.total)
	if c.held == nil {
		return
	}
	if err := c.held.Settle(c.usage.total); err != nil {
		c.log.Error().Err(err).Msg("grant")
	}
}

// fail stores why there is no completion, and returns the error for the server.
func (c *completion) fail(ctx context.Context, err error) error {
	var stopped *task.Stopped
	if errors.As(err, &stopped) {
		c.ended(protocol.SamplingWithheld{Reason: stopped.Error()})
		return rejected(protocol.NoButtonClicked)
	}
	text := reason.Of(err)
	if why := ended(context.Cause(ctx)); why != nil {
		if c.answer.Kept && why.Reason == protocol.OutcomeRestarted {
			return samplingError(err) // the server asks again, and the request starts from the beginning
		}
		text = why.Error()
	}
	c.ended(protocol.SamplingFailure{Reason: text})
	return samplingError(err)
}

// unreviewed records that no person reviewed the completion, and returns the error for the server.
func (c *completion) unreviewed(err error) error {
	why := ended(err)
	if why == nil {
		c.ended(protocol.SamplingFailure{Reason: reason.Of(err)})
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: reason.Of(err)}
	}
	if !c.answer.Kept || why.Reason != protocol.OutcomeRestarted {
		c.ended(protocol.SamplingFailure{Reason: why.Error()})
	}
	return &jsonrpc.Error{Code: codeUserRejected, Message: "The completion was not reviewed: " + undecided(why.Reason)}
}

// needsReview reports whether a person sees the answer before the server gets it.
func (c *completion) needsReview(ctx context.Context, review *protocol.McpSamplingReview) bool {
	d := c.policy.Decide(ctx, &policy.Request{Stage: policy.Ready, Origin: c.origin, Task: c.asker.Task, Body: *review, Held: c.held})
	return d.Verdict == policy.Ask
}

// reservation returns the grant's reservation for an approved request, or nil if the person approved it
// without a grant.
func (b *Broker) reservation(ctx context.Context, answer *task.Answer) *grant.Reservation {
	if held, ok := answer.Held.(*grant.Reservation); ok {
		return held
	}
	return b.policy.Resume(ctx, answer.GrantID)
}

// usage sums the tokens of all models for one request, over all answers.
type usage struct {
	total *protocol.SamplingUsage // nil while there is none
}

// add counts one answer. The cost is known as long as that of each answer is.
func (u *usage) add(one protocol.SamplingUsage) {
	if u.total == nil {
		u.total = &one
		return
	}
	sum := protocol.SamplingUsage{
		InputTokens:  u.total.InputTokens + one.InputTokens,
		OutputTokens: u.total.OutputTokens + one.OutputTokens,
		Estimated:    u.total.Estimated || one.Estimated,
	}
	if u.total.Cost != nil && one.Cost != nil {
		cost := *u.total.Cost + *one.Cost
		sum.Cost = &cost
	}
	u.total = &sum
}

// made counts a completion, by the provider's numbers or else by Assent's own estimate.
func (u *usage) made(m *protocol.Model, request *protocol.McpSamplingRequest, made *model.Completion) {
	if made.Usage == nil {
		u.add(grant.Estimate(m, request, contentOf(made)))
		return
	}
	one := protocol.SamplingUsage{InputTokens: made.Usage.InputTokens, OutputTokens: made.Usage.OutputTokens}
	if cost, known := model.Cost(m.ModelFacts, one.InputTokens, one.OutputTokens); known {
		one.Cost = &cost
	}
	u.add(one)
}

// broken counts an interrupted answer. An answer that failed before its first word does not count,
// unless the model timed out: then it has read the request.
func (u *usage) broken(m *protocol.Model, request *protocol.McpSamplingRequest, written string, err error) {
	if written == "" && !errors.Is(err, model.ErrStalled) && !errors.As(err, new(*task.Stopped)) {
		return
	}
	u.add(grant.Estimate(m, request, []protocol.ContentBlock{protocol.TextContent{Text: written}}))
}
