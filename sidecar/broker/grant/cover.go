package grant

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"assent/protocol"
	"assent/sidecar/model"
)

// Request is a sampling request that a grant may approve.
type Request struct {
	Origin protocol.Origin
	// Model is the proposed model, or nil.
	Model *protocol.Model
	// Most is the maximum usage of the request; see [Most].
	Most protocol.SamplingUsage
	// Objection, if it is not empty, says why a person must see the request even if a grant covers it: "something in
	// it looks like a secret".
	Objection string
}

// mostTokens is more than any request uses. A server may ask for more; the bound keeps sums from overflowing.
const mostTokens = 1 << 40

// Most returns the maximum usage of a request with this model: the input tokens, by Assent's estimate, and the limit
// of output tokens. The provider may count more, and a model that ignores [protocol.PartMaxTokens] may write more. The
// request is then settled for more, so requests that were under way at the time may exceed a bound by that much. Later
// ones do not.
func Most(m *protocol.Model, request *protocol.McpSamplingRequest) protocol.SamplingUsage {
	usage := protocol.SamplingUsage{
		InputTokens:  min(model.Estimate(request), mostTokens),
		OutputTokens: min(request.MaxTokens, mostTokens),
		Estimated:    true,
	}
	if m != nil {
		if cost, known := model.Cost(m.ModelFacts, usage.InputTokens, usage.OutputTokens); known {
			usage.Cost = &cost
		}
	}
	return usage
}

// telling orders the reasons why a grant does not cover a request, from the least to the most useful
// for the person.
type telling int

const (
	revoked telling = iota + 1
	expired
	otherServer
	otherTool
	otherModel
	noPrice
	usedUp
	objected
)

// reason is why a grant does not cover a request. The zero value means that it does.
type reason struct {
	telling
	text string
}

// covers returns why a grant does not cover a request. Name is the person's name for the grant, and identity the present
// one of the server. The dates in the reason are in the time zone of now.
func covers(g *protocol.Grant, r Request, identity, name string, now time.Time) reason {
	switch {
	case g.EndedAt != 0:
		return reason{revoked, name + " was revoked."}
	case g.ExpiresAt != 0 && g.ExpiresAt <= now.UnixMilli():
		return reason{expired, fmt.Sprintf("%s ended on %s.", name, moment(g.ExpiresAt, now))}
	case g.ExpiresAt != 0 && g.CreatedAt > now.UnixMilli():
		return reason{expired, name + " has an end, and the clock was set back, so it may have ended."}
	case g.Identity != identity:
		return reason{otherServer, fmt.Sprintf("%s was for a server with another configuration: %s.", name, g.Command)}
	case g.ToolName != "" && (!slices.Equal(r.Origin.ToolNames, []string{g.ToolName}) || r.Origin.PlacedBy != ""):
		return reason{otherTool, fmt.Sprintf("%s covers only requests during calls of %q, and this one may not be.", name, g.ToolName)}
	case r.Model == nil:
		return reason{otherModel, name + " does not cover it: there is no model to propose."}
	case !model.Permits(g.Models, r.Model.ID):
		return reason{otherModel, fmt.Sprintf("%s does not cover the model %s.", name, r.Model.Name)}
	}
	if why := leaves(g, r.Most, r.Model.Name); why.text != "" {
		return reason{why.telling, name + why.text}
	}
	if r.Objection != "" {
		return reason{objected, name + " does not cover it: " + r.Objection + "."}
	}
	return reason{}
}

// leaves returns the bound of a grant that a request with this maximum usage would exceed.
func leaves(g *protocol.Grant, most protocol.SamplingUsage, modelName string) reason {
	tokens := tokensOf(most)
	switch {
	case g.MaxRequests > 0 && g.Spent.Requests >= g.MaxRequests:
		return reason{usedUp, fmt.Sprintf(" for %s is used up.", plural(g.MaxRequests, "request"))}
	case g.MaxTokens > 0 && g.Spent.Tokens+tokens > g.MaxTokens:
		return reason{usedUp, fmt.Sprintf(" for %s has %d left, and the request may come to %d.",
			plural(g.MaxTokens, "token"), max(0, g.MaxTokens-g.Spent.Tokens), tokens)}
	case g.MaxCost > 0 && most.Cost == nil:
		return reason{noPrice, fmt.Sprintf(" for %s cannot cover %s: its price is unknown.", dollars(g.MaxCost), modelName)}
	case g.MaxCost > 0 && even(g.Spent.Cost+*most.Cost) > even(g.MaxCost):
		return reason{usedUp, fmt.Sprintf(" for %s has %s left, and the request may come to %s.",
			dollars(g.MaxCost), dollars(max(0, g.MaxCost-g.Spent.Cost)), dollars(*most.Cost))}
	}
	return reason{}
}

// spend adds to a grant's usage. Tokens and cost are negative if a request used less than was reserved.
func spend(g *protocol.Grant, requests, tokens int64, cost float64) {
	g.Spent.Requests += requests
	g.Spent.Tokens = max(0, g.Spent.Tokens+tokens)
	g.Spent.Cost = max(0, even(g.Spent.Cost+cost))
}

func tokensOf(u protocol.SamplingUsage) int64 {
	return min(u.InputTokens, mostTokens) + min(u.OutputTokens, mostTokens)
}

func costOf(u protocol.SamplingUsage) float64 {
	if u.Cost == nil {
		return 0
	}
	return *u.Cost
}

// even rounds to a billionth of a dollar, so that sums of small prices have no rounding errors.
func even(cost float64) float64 { return math.Round(cost*1e9) / 1e9 }

// dollars formats an amount for a sentence: with at least two digits, and as many as a small amount
// needs.
func dollars(cost float64) string {
	digits := 2
	for limit := 0.1; cost > 0 && cost < limit && digits < 6; limit /= 10 {
		digits++
	}
	return "$" + strconv.FormatFloat(cost, 'f', digits, 64)
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// moment formats a time for a sentence, in the time zone of now.
func moment(millis int64, now time.Time) string {
	return time.UnixMilli(millis).In(now.Location()).Format("2 Jan 2006, 15:04")
}
