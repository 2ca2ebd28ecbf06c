package broker

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/broker/policy"
	"assent/sidecar/task"
	"assent/sidecar/task/ask"
)

// ErrNoTask answers a request that belongs to no task, if no person can assign it to one.
var ErrNoTask = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "this connection belongs to no task: ask during a tool call"}

// Queue is the part of [attribution.Queue] that the broker needs.
type Queue interface {
	// Await blocks until a person has assigned a request to a task. The error is a [task.Ended].
	Await(ctx context.Context, r *attribution.Request) error
}

// awaitTask waits until a person assigns a request to a task. The person's time limit for answers applies to the
// assignment, and again to the ask.
func (b *Broker) awaitTask(ctx context.Context, r *attribution.Request, p *policy.Request) error {
	if b.opts.AskTimeout != nil {
		if timeout := b.opts.AskTimeout(); timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, timeout, &task.Ended{Reason: protocol.OutcomeTimedOut, Detail: "It was not assigned to a conversation in time."})
			defer cancel()
		}
	}
	r.Wants, r.Text = ask.InBrief(p.Body)
	r.Question = listed(p.Body, len(r.Params))
	if err := b.opts.Queue.Await(ctx, r); err != nil {
		return err
	}
	p.Task, p.Origin = r.Task, r.Origin
	return nil
}

// maxListed bounds a question that the list of all questions has whole, by the bytes of its request.
const maxListed = 64 << 10

// listed returns the question that the list has, of a request of so many bytes; nil for none.
func listed(body protocol.UseMcpServer, size int) protocol.UseMcpServer {
	switch body.(type) {
	case protocol.McpElicitation, protocol.McpURLElicitation:
		if size <= maxListed {
			return body
		}
	}
	return nil
}

// elicitUnattributed serves an elicitation that was parsed and has no task.
func (b *Broker) elicitUnattributed(ctx context.Context, r *attribution.Request, p *policy.Request) (any, error) {
	p.Stage = policy.Read
	switch d := b.policy.Decide(ctx, p); d.Verdict {
	case policy.Decline:
		return protocol.McpElicitationResponse{Action: protocol.ActionDecline}, nil
	case policy.Refuse:
		return nil, refused(d)
	}
	if err := b.awaitTask(ctx, r, p); err != nil {
		return b.elicited(nil, err)
	}
	p.Body = at(p.Body, p.Origin)
	question, err := b.elicitation(ctx, p)
	if err != nil {
		return nil, err
	}
	return b.elicited(r.Ask(ctx, question))
}

// at returns a question with the origin that a person assigned.
func at(body protocol.UseMcpServer, origin protocol.Origin) protocol.UseMcpServer {
	switch q := body.(type) {
	case protocol.McpElicitation:
		q.Origin = origin
		return q
	case protocol.McpURLElicitation:
		q.Origin = origin
		return q
	default:
		return body
	}
}
