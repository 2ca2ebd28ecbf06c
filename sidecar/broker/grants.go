package broker

import (
	"context"

	"assent/protocol"
	"assent/sidecar/grant"
	"assent/sidecar/task"
)

// approve has a grant approve a question, if one covers it; otherwise the question says why the nearest
// one does not. What looks like a secret is for a person to see, and the context that a server asks for is
// a person's to give: under a grant the request goes without. The reservation, nil where no grant approves,
// is to be checked after the ask with [Broker.unused].
func (b *Broker) approve(ctx context.Context, t Asker, origin protocol.Origin, q protocol.McpSampling) (task.Question, *grant.Reservation) {
	if b.opts.Grants == nil || t.Asked("") != nil { // asked before, by an MCP task: it has its answer, or awaits it
		return b.question(origin, q), nil
	}
	held, reason, err := b.opts.Grants.Reserve(ctx, grant.Request{
		Origin: origin, Model: q.Model, Most: grant.Most(q.Model, &q.SamplingRequest), Objection: grant.Objection(&q),
	})
	if err != nil {
		b.log.Error().Err(err).Str("server", origin.ServerName).Msg("the grants cannot be read, so the person is asked")
	}
	if held == nil {
		q.GrantReason = reason
		return b.question(origin, q), nil
	}
	q.Context = nil
	question := b.question(origin, q)
	question.Granted = &task.Granted{
		Answer:  &task.Answer{Response: protocol.YesButtonClicked, Model: q.Model, Held: held},
		Outcome: protocol.Outcome{Reason: protocol.OutcomeGranted, GrantID: held.GrantID, Detail: held.Detail},
	}
	return question, held
}

// unused gives back what was held for a question that the grant did not answer: the task took none, or an
// MCP task had asked it before.
func (b *Broker) unused(held *grant.Reservation, answer *task.Answer) {
	if held == nil || answer != nil && answer.Held == held {
		return
	}
	if err := held.Release(); err != nil {
		b.log.Error().Err(err).Msg("grant")
	}
}

// reservation returns what an approved request holds of its grant, or nil where a person approved it alone.
func (b *Broker) reservation(ctx context.Context, answer *task.Answer) *grant.Reservation {
	if held, ok := answer.Held.(*grant.Reservation); ok {
		return held
	}
	if answer.GrantID == "" || b.opts.Grants == nil {
		return nil
	}
	return b.opts.Grants.Resume(ctx, answer.GrantID) // approved before a restart of the sidecar
}

// takeGrant has a grant made with an answer. Its first request is the one that is answered, as it is sent.
func (b *Broker) takeGrant(answer *task.Answer, terms protocol.GrantTerms, q *protocol.McpSampling) error {
	if b.opts.Grants == nil {
		return protocol.Errorf(protocol.CodeInvalidAnswer, "no grant can be made here")
	}
	if err := b.opts.Grants.Check(&terms); err != nil {
		return err
	}
	sent := &q.SamplingRequest
	if answer.SentRequest != nil {
		sent = answer.SentRequest
	}
	answer.Take = func(by string) error {
		// The front end waits for its answer to be taken, whoever asked.
		held, err := b.opts.Grants.CreateFor(context.Background(), terms, by, grant.Request{
			Origin: q.Origin, Model: answer.Model, Most: grant.Most(answer.Model, sent),
		})
		if err == nil {
			answer.GrantID, answer.Held = held.GrantID, held
		}
		return err
	}
	return nil
}

// needsReview reports whether a person sees the answer before the server gets it. Under a grant its own
// terms say so, for the request that it was made with too; what was approved by a grant that is revoked by
// now is reviewed.
func (c *completion) needsReview(ctx context.Context) bool {
	if c.held == nil {
		return c.reviews(c.origin.ServerName)
	}
	return c.held.Review || c.held.Revoked(ctx)
}
