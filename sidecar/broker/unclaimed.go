package broker

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/ask"
	"assent/sidecar/policy"
	"assent/sidecar/task"
)

// Unclaimed is a request that nothing proves to be of one task, in brief.
type Unclaimed struct {
	ServerName string
	// Method is elicitation/create or sampling/createMessage.
	Method string
	Wants  protocol.AskWants
	// Text is as in [protocol.OpenAsk].
	Text string
}

// Whose asks the person whose a request is, and blocks until they have said so. The error is a [task.Ended]
// where they dismissed it, or ctx ended.
type Whose func(ctx context.Context, u Unclaimed) (Asker, protocol.Origin, error)

// ServeUnclaimed serves a request of which it is not known whose it is. It is checked and counted as any
// other, so that nobody is asked about what is refused anyway; and it is everything else only after whose
// has returned: neither a grant nor an answer that was set approves what no task has. What a person declined
// in advance is declined here too.
func (b *Broker) ServeUnclaimed(ctx context.Context, serverName, method string, params json.RawMessage, whose Whose) (any, error) {
	r := &policy.Request{Method: method, Origin: protocol.Origin{ServerName: serverName}}
	defer r.Done()
	switch method {
	case policy.ElicitationCreate:
		return b.elicitUnclaimed(ctx, r, params, whose)
	case policy.SamplingCreate:
		return b.sampleUnclaimed(ctx, r, params, whose)
	default:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("method %q is not served", method)}
	}
}

func (b *Broker) elicitUnclaimed(ctx context.Context, r *policy.Request, params json.RawMessage, whose Whose) (_ any, err error) {
	if r.Body, err = b.readElicitation(ctx, r, params); err != nil {
		return nil, err
	}
	r.Stage = policy.Read
	switch d := b.policy.Decide(ctx, r); d.Verdict {
	case policy.Decline:
		return protocol.McpElicitationResponse{Action: protocol.ActionDecline}, nil
	case policy.Refuse:
		return nil, refused(d)
	}
	t, err := b.place(ctx, r, whose)
	if err != nil {
		return b.elicited(nil, err)
	}
	r.Body = at(r.Body, r.Origin)
	question, err := b.elicitation(ctx, r)
	if err != nil {
		return nil, err
	}
	return b.elicited(t.Ask(ctx, *question))
}

func (b *Broker) sampleUnclaimed(ctx context.Context, r *policy.Request, params json.RawMessage, whose Whose) (any, error) {
	request, err := b.readSampling(ctx, r, params)
	if err != nil {
		return nil, err
	}
	t, err := b.place(ctx, r, whose)
	if err != nil {
		return nil, b.unanswered(r.Origin.ServerName, err)
	}
	return b.createMessage(ctx, t, r, request)
}

// place has the person say whose a request is, within the time that they have set for answers. Once they
// have, the ask has its own.
func (b *Broker) place(ctx context.Context, r *policy.Request, whose Whose) (Asker, error) {
	if b.opts.AskTimeout != nil {
		if timeout := b.opts.AskTimeout(); timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, timeout, &task.Ended{Reason: protocol.OutcomeTimedOut, Detail: "Nobody said in time which conversation it belongs to."})
			defer cancel()
		}
	}
	wants, text := ask.InBrief(r.Body)
	t, origin, err := whose(ctx, Unclaimed{ServerName: r.Origin.ServerName, Method: r.Method, Wants: wants, Text: text})
	if err != nil {
		return nil, err
	}
	r.Task, r.Origin = t, origin
	return t, nil
}

// at returns a question with the origin that it turned out to have.
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
