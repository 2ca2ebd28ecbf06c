package broker

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
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
	origin := protocol.Origin{ServerName: serverName}
	switch method {
	case elicitationCreate:
		return b.elicitUnclaimed(ctx, origin, params, whose)
	case samplingCreate:
		return b.sampleUnclaimed(ctx, origin, params, whose)
	default:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("method %q is not served", method)}
	}
}

func (b *Broker) elicitUnclaimed(ctx context.Context, origin protocol.Origin, params json.RawMessage, whose Whose) (any, error) {
	body, err := b.readElicitation(nobody{broker: b}, origin, params)
	if err != nil {
		return nil, err
	}
	if declined := b.declinedUnasked(origin.ServerName); declined != nil {
		if count := b.meter.refused(origin.ServerName); count > 0 {
			b.opts.Denied(origin, elicitationCreate, declined.Outcome, count)
		}
		return protocol.McpElicitationResponse{Action: protocol.ActionDecline}, nil
	}
	done, err := b.crowd.admit(origin.ServerName, b.maxOpen())
	if err != nil {
		b.log.Warn().Str("server", origin.ServerName).Err(err).Msg("elicitation refused")
		return nil, b.refuse(nobody{broker: b}, origin, elicitationCreate, protocol.OutcomeDenied, err)
	}
	defer done()
	t, origin, err := b.place(ctx, origin, elicitationCreate, body, whose)
	if err != nil {
		return b.elicited(nil, err)
	}
	return b.elicited(t.Ask(ctx, *b.elicitation(origin, at(body, origin)))) // it is counted
}

func (b *Broker) sampleUnclaimed(ctx context.Context, origin protocol.Origin, params json.RawMessage, whose Whose) (any, error) {
	request, done, err := b.admitSampling(nobody{broker: b}, origin, params)
	if err != nil {
		return nil, err
	}
	defer done()
	t, origin, err := b.place(ctx, origin, samplingCreate, protocol.McpSampling{Origin: origin, SamplingRequest: *request}, whose)
	if err != nil {
		return nil, b.unanswered(origin.ServerName, err)
	}
	return b.createMessage(ctx, t, origin, request)
}

// place has the person say whose a question is, within the time that they have set for answers. Once they
// have, the ask has its own.
func (b *Broker) place(ctx context.Context, origin protocol.Origin, method string, body protocol.UseMcpServer, whose Whose) (Asker, protocol.Origin, error) {
	if b.opts.AskTimeout != nil {
		if timeout := b.opts.AskTimeout(); timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, timeout, &task.Ended{Reason: protocol.OutcomeTimedOut, Detail: "Nobody said in time which conversation it belongs to."})
			defer cancel()
		}
	}
	wants, text := task.InBrief(body)
	t, placed, err := whose(ctx, Unclaimed{ServerName: origin.ServerName, Method: method, Wants: wants, Text: text})
	if err != nil {
		return nil, origin, err
	}
	return t, placed, nil
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

// nobody stands for the task of a request that has none yet and is refused: nothing else is asked of it.
type nobody struct {
	Asker
	broker *Broker
}

// Denied implements [Asker].
func (n nobody) Denied(origin protocol.Origin, method string, outcome protocol.Outcome, count int64) {
	n.broker.opts.Denied(origin, method, outcome, count)
}
