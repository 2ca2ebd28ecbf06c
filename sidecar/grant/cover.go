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
	// Model is the one that is proposed, or nil.
	Model *protocol.Model
	// Most is what it may come to; see [Most].
	Most protocol.SamplingUsage
	// Objection, where it is not empty, says why a person has to see it whatever they allowed: "something
	// in it looks like a secret".
	Objection string
}

// mostTokens is more than any request comes to. What a server asks for beyond it must not overflow sums.
const mostTokens = 1 << 40

// Most returns what a request that this model answers may come to: what it reads, by Assent's measure,
// and all that it may write. A provider's own measure may be higher, and a model that cannot be held to
// [protocol.PartMaxTokens], or may ignore it, may write more. Then it is settled for more, and by that much
// the requests that were under way at the time may leave a bound; none after them does.
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

// telling orders the reasons why a grant does not cover a request: the greater, the less is missing.
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

// reason is why a grant does not cover a request; the zero value says that it does.
type reason struct {
	telling
	text string
}

// covers says why a grant does not cover a request. Name is what the person knows the grant by; the
// reason's dates are in the time zone of now. Identity is the server's now.
func covers(g *protocol.Grant, r Request, identity, name string, now time.Time) reason {
	switch {
	case g.EndedAt != 0:
		return reason{revoked, name + " was revoked."}
	case g.ExpiresAt != 0 && g.ExpiresAt <= now.UnixMilli():
		return reason{expired, fmt.Sprintf("%s ended on %s.", name, moment(g.ExpiresAt, now))}
	case g.ExpiresAt != 0 && g.CreatedAt > now.UnixMilli():
		return reason{expired, name + " has an end, and the clock was put back: nobody knows whether it has come."}
	case g.Identity == "" && identity != "":
		return reason{otherServer, name + " does not hold any more: the Assent that made it kept only the server's command line, and not its whole definition."}
	case g.Identity != identity:
		return reason{otherServer, fmt.Sprintf("%s was for a server that was configured otherwise: %s.", name, g.Command)}
	case g.ToolName != "" && (!slices.Equal(r.Origin.ToolNames, []string{g.ToolName}) || r.Origin.PlacedBy != ""):
		return reason{otherTool, fmt.Sprintf("%s covers only what is asked during calls of %q, which is not certain here.", name, g.ToolName)}
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

// leaves says which bound of a grant a request that comes to most would leave.
func leaves(g *protocol.Grant, most protocol.SamplingUsage, modelName string) reason {
	tokens := tokensOf(most)
	switch {
	case g.MaxRequests > 0 && g.Spent.Requests >= g.MaxRequests:
		return reason{usedUp, fmt.Sprintf(" for %s is used up.", plural(g.MaxRequests, "request"))}
	case g.MaxTokens > 0 && g.Spent.Tokens+tokens > g.MaxTokens:
		return reason{usedUp, fmt.Sprintf(" for %s has %d left, and the request may come to %d.",
			plural(g.MaxTokens, "token"), max(0, g.MaxTokens-g.Spent.Tokens), tokens)}
	case g.MaxCost > 0 && most.Cost == nil:
		return reason{noPrice, fmt.Sprintf(" for %s cannot cover %s, whose price is not known.", dollars(g.MaxCost), modelName)}
	case g.MaxCost > 0 && even(g.Spent.Cost+*most.Cost) > even(g.MaxCost):
		return reason{usedUp, fmt.Sprintf(" for %s has %s left, and the request may come to %s.",
			dollars(g.MaxCost), dollars(max(0, g.MaxCost-g.Spent.Cost)), dollars(*most.Cost))}
	}
	return reason{}
}

// spend counts a request, or what it came to beyond what was counted.
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

// even rounds to a billionth of a dollar, so that sums of small prices come out even.
func even(cost float64) float64 { return math.Round(cost*1e9) / 1e9 }

// dollars is for a sentence: two digits at least, and as many as a small amount needs.
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

// moment is a time for a sentence, in the time zone of now.
func moment(millis int64, now time.Time) string {
	return time.UnixMilli(millis).In(now.Location()).Format("2 Jan 2006, 15:04")
}
