package grant

import (
	"context"
	"slices"

	"assent/protocol"
	"assent/sidecar/model"
)

// mostPreviewed bounds the past requests in a preview.
const mostPreviewed = 500

// past is an earlier sampling request, with its usage.
type past struct {
	protocol.PreviewedRequest
	request Request
}

// Preview returns the server's past requests with the decision that a grant with these terms would have made, if it had
// existed before the first of them. It changes nothing. A request that was not approved counts with its maximum usage.
func (b *Book) Preview(ctx context.Context, terms *protocol.GrantTerms) (*protocol.PreviewGrantResult, error) {
	if err := b.Check(terms); err != nil {
		return nil, err
	}
	s, err := b.opts.Store()
	if err != nil {
		return nil, err
	}
	places, err := s.Samplings(ctx, terms.ServerName, mostPreviewed+1)
	if err != nil {
		return nil, err
	}
	result := &protocol.PreviewGrantResult{Truncated: len(places) > mostPreviewed}
	newest := make([]past, 0, len(places))
	for _, place := range places[:min(len(places), mostPreviewed)] {
		// Read one at a time: each may have megabytes, and the store serves other callers in
		// between.
		e, err := s.Message(ctx, place.TaskID, place.MessageID)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil: // an unreadable message must not hide the others
			b.opts.Log.Warn().Err(err).Str("task", place.TaskID).Int64("message", place.MessageID).Msg("a sampling request cannot be read")
			continue
		case e == nil:
			continue
		}
		if ask, ok := e.Message.Body.(protocol.Ask); ok {
			if q, ok := ask.Question.(protocol.McpSampling); ok {
				newest = append(newest, pastOf(place.TaskID, e.Message, &q))
			}
		}
	}
	g := protocol.Grant{GrantTerms: *terms}
	for _, p := range slices.Backward(newest) {
		why := covers(&g, p.request, g.Identity, "The grant", b.opts.Now())
		if p.Allowed, p.Reason = why.text == "", why.text; p.Allowed {
			spend(&g, 1, tokensOf(p.Usage), costOf(p.Usage))
		}
		result.Requests = append(result.Requests, p.PreviewedRequest)
	}
	slices.Reverse(result.Requests)
	return result, nil
}

func pastOf(taskID string, m protocol.Message, q *protocol.McpSampling) past {
	p := past{
		PreviewedRequest: protocol.PreviewedRequest{TaskID: taskID, MessageID: m.ID, At: m.Time, ToolNames: q.ToolNames},
		request:          Request{Origin: q.Origin, Model: q.Model, Most: Most(q.Model, &q.SamplingRequest), Objection: Objection(q)},
	}
	if q.Model != nil {
		p.ModelID = q.Model.ID
	}
	switch response, answered := q.Result.(protocol.McpSamplingResponse); {
	case q.Usage != nil:
		p.Usage = *q.Usage
	case answered: // by a version of Assent without usage
		p.Usage = Estimate(q.Model, &q.SamplingRequest, response.Content)
	default:
		p.Usage = p.request.Most
	}
	return p
}

// Objection returns why a person must see a request even if a grant covers it. It is empty if there is no
// reason.
func Objection(q *protocol.McpSampling) string {
	if len(q.Secrets) > 0 {
		return "something in it looks like a secret"
	}
	return ""
}

// Estimate returns an estimate of an answer's usage, for providers that do not report it.
func Estimate(m *protocol.Model, request *protocol.McpSamplingRequest, answer []protocol.ContentBlock) protocol.SamplingUsage {
	usage := protocol.SamplingUsage{
		InputTokens:  model.Estimate(request),
		OutputTokens: model.EstimateContent(answer),
		Estimated:    true,
	}
	if m != nil {
		if cost, known := model.Cost(m.ModelFacts, usage.InputTokens, usage.OutputTokens); known {
			usage.Cost = &cost
		}
	}
	return usage
}
