package broker

import (
	"errors"

	"assent/protocol"
	"assent/sidecar/grant"
	"assent/sidecar/model"
	"assent/sidecar/task"
)

// usage sums what the models read and wrote for one request, over all answers that were asked for.
type usage struct {
	total *protocol.SamplingUsage // nil while there is none
}

// add counts one answer. The cost is known as long as that of each is.
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

// made counts what a model made of a request: what its provider says, or else Assent's own measure.
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

// broken counts an answer that came to no end. One that failed before a word of it is taken for never
// begun, unless the model was given time: it has read the request then.
func (u *usage) broken(m *protocol.Model, request *protocol.McpSamplingRequest, written string, err error) {
	if written == "" && !errors.Is(err, model.ErrStalled) && !errors.As(err, new(*task.Stopped)) {
		return
	}
	u.add(grant.Estimate(m, request, []protocol.ContentBlock{protocol.TextContent{Text: written}}))
}
