package grant

import (
	"context"
	"slices"

	"assent/protocol"
	"assent/sidecar/model"
)

// mostPreviewed bounds the past requests that a preview looks at.
const mostPreviewed = 500

// past is a sampling request that was, and what it came to.
type past struct {
	protocol.PreviewedRequest
	request Request
}

// Preview says which of the server's past requests a grant with such terms would have approved, had it
// been there before the first of them. Nothing is changed. What a request came to that nobody approved is
// counted as the most that it could have been.
func (b *Book) Preview(ctx context.Context, terms *protocol.GrantTerms) (*protocol.PreviewGrantResult, error) {
	if err := b.Check(terms); err != nil {
		return nil, err
	}
	s, err := b.opts.Store()
	if err != nil {
		return nil, err
	}
	result := &protocol.PreviewGrantResult{}
	var newest []past
	err = s.Samplings(ctx, terms.ServerName, func(taskID string, m protocol.Message) bool {
		ask, ok := m.Body.(protocol.Ask)
		if !ok {
			return true
		}
		q, ok := ask.Question.(protocol.McpSampling)
		if !ok {
			return true
		}
		if result.Truncated = len(newest) == mostPreviewed; !result.Truncated {
			newest = append(newest, pastOf(taskID, m, &q))
		}
		return !result.Truncated
	})
	if err != nil {
		return nil, err
	}
	g := protocol.Grant{GrantTerms: *terms}
	for _, p := range slices.Backward(newest) {
		why := covers(&g, p.request, "The grant", b.opts.Now())
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
	case answered: // by an Assent that did not count yet
		p.Usage = Estimate(q.Model, &q.SamplingRequest, response.Content)
	default:
		p.Usage = p.request.Most
	}
	return p
}

// Objection is why a person has to see a request whatever they allowed, or empty.
func Objection(q *protocol.McpSampling) string {
	if len(q.Secrets) > 0 {
		return "something in it looks like a secret"
	}
	return ""
}

// Estimate measures what an answer came to where its provider did not say.
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
