// Package policy decides what becomes of a request before a person is asked about it. [Policy.Decide] has them asked,
// approves or declines in their name, or refuses the request because a limit forbids it, with the reason that is shown and
// journalled.
//
// It owns all that answers in the person's name: their grants and tool rules, which package grant keeps; the settings that
// approve, answer or limit; and what they said until the sidecar ends, such as to decline everything from a server. A
// [Policy] may be used from any goroutine. It reads no params of MCP, asks nobody, and knows none of MCP's errors: that is
// the broker's.
package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/grant"
)

// The methods of MCP that are decided about.
const (
	ElicitationCreate = "elicitation/create"
	SamplingCreate    = "sampling/createMessage"
)

// Settings are the person's, as they are configured now.
type Settings struct {
	Sampling    protocol.SamplingSettings
	Elicitation protocol.ElicitationSettings
	Tools       protocol.ToolSettings
	// Allowed and AnswerSeconds are for the list alone. Package model keeps to the one, and package broker to the other.
	Allowed       []protocol.AllowedModels
	AnswerSeconds int64
}

// Options are what a policy needs.
type Options struct {
	// Settings may be nil, which means the defaults.
	Settings func() Settings
	// FrontEnd returns what can be shown; nil means nothing.
	FrontEnd func() protocol.FrontEndCapabilities
	// Grants are the person's grants; nil if there can be none.
	Grants *grant.Book
	// ToolRules are the person's rules about tools that models call; nil if none are kept.
	ToolRules *grant.ToolRules
	// Denied is [Task.Denied] for requests that were refused before their task was known. It may be nil.
	Denied func(origin protocol.Origin, method string, outcome protocol.Outcome, count int64)
	// DeclinedChanged is called at each change, in order, with the servers from which everything is declined. It must not
	// call the policy. It may be nil.
	DeclinedChanged func([]protocol.DeclinedServer)
	// Changed is called when [Policy.List] returns something else than it did last, once after each call of it. It may be
	// nil. Changes of grants, which their book reports, do not call it.
	Changed func()
	// Now may be nil, which means [time.Now].
	Now func() time.Time
	Log zerolog.Logger
}

// Task is the part of the package task's Task that is told about refused requests.
type Task interface {
	// Denied journals count requests that were refused without asking; outcome is that of the last.
	Denied(origin protocol.Origin, method string, outcome protocol.Outcome, count int64)
	Tell(notice protocol.Notice)
}

// Policy decides about requests.
type Policy struct {
	opts  Options
	rates rateLimiter
	open  openLimiter
	// listed reports that nothing has changed since the last [Policy.List]; false if nothing is listed yet.
	listed atomic.Bool

	mu sync.Mutex // guards the fields below
	// declining holds the servers from which everything is declined.
	declining map[string]declining
	// trusted holds the servers to which a person let a completion go.
	trusted map[string]bool
	// used holds what each entry decided.
	used map[entry]protocol.PolicyUse
}

// declining says in which front end the person had everything from a server declined, and when.
type declining struct {
	by string
	at time.Time
}

// New returns a policy.
func New(opts Options) *Policy {
	if opts.Settings == nil {
		opts.Settings = func() Settings { return Settings{} }
	}
	if opts.FrontEnd == nil {
		opts.FrontEnd = func() protocol.FrontEndCapabilities { return protocol.FrontEndCapabilities{} }
	}
	if opts.Denied == nil {
		opts.Denied = func(protocol.Origin, string, protocol.Outcome, int64) {}
	}
	if opts.DeclinedChanged == nil {
		opts.DeclinedChanged = func([]protocol.DeclinedServer) {}
	}
	if opts.Changed == nil {
		opts.Changed = func() {}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Policy{opts: opts, declining: map[string]declining{}, trusted: map[string]bool{}, used: map[entry]protocol.PolicyUse{}}
}

// Stage is how far a request has come. It is decided about at each stage, so that nobody is asked which task a request
// belongs to that is refused anyway.
type Stage int

const (
	// Arrived requests are not read yet.
	Arrived Stage = iota
	// Read requests have a body. Nothing approves them yet: their task may be unknown.
	Read
	// Ready requests have their task, and all that the person would be shown.
	Ready
)

// Request is one request, from its arrival to its answer. One goroutine uses it at a time.
type Request struct {
	Stage  Stage
	Method string // MCP's; empty if a model asks
	Origin protocol.Origin
	// Task is nil until the task of the request is known.
	Task Task
	// Body is what the person would be asked; nil if the request is not read yet.
	Body protocol.UseMcpServer
	// Use is what a model wants to do, if Body asks about that.
	Use grant.ToolUse
	// Repeated reports that the task was asked the same before, by an MCP task: the ask has its answer, or awaits it.
	Repeated bool
	// Held is what a grant holds for the request whose completion Body reviews; nil if a person approved it.
	Held *grant.Reservation

	// sized reports that the size was checked.
	sized bool
	// done stops counting the request; nil if it is not counted.
	done func()
}

// Done stops counting a request among those of its server that are open. It is called once, when the request is answered
// or refused.
func (r *Request) Done() {
	if r.done != nil {
		r.done()
	}
}

// Verdict is what becomes of a request.
type Verdict int

// The verdicts.
const (
	// Ask has the person decide.
	Ask Verdict = iota
	// Approve and Decline answer in the person's name.
	Approve
	Decline
	// Refuse answers with an error: the person's settings do not let the server ask.
	Refuse
)

// Decision is a verdict and what follows from it.
type Decision struct {
	Verdict Verdict
	// Outcome is the request's outcome without the time, unless the verdict is Ask.
	Outcome protocol.Outcome
	// Content is the answer to a form that is approved.
	Content json.RawMessage
	// Held is what a grant holds for the sampling request that it approves.
	Held *grant.Reservation
	// GrantReason says why the nearest grant does not approve a sampling request about which the person is asked.
	GrantReason string
	// Changed is how a tool about which the person is asked has changed since they allowed it.
	Changed *protocol.ToolChange
	// Limit is the limit that a refused request exceeds; nil if no front end can show it.
	Limit *LimitError

	// by is the entry of the list that decided; zero if none did.
	by entry
}

// Decide returns what becomes of a request at its present stage, counts the request with its server and with the entry that
// decided, and journals it if nothing else records it. The caller calls [Request.Done] in the end, whatever the verdict.
func (p *Policy) Decide(ctx context.Context, r *Request) Decision {
	d := p.decide(ctx, r)
	if d.by != (entry{}) {
		p.use(d.by, cmp.Or(r.Use.ServerName, r.Origin.ServerName))
	}
	if d.Verdict == Refuse || d.Verdict == Decline && r.Task == nil {
		p.record(r, d.Outcome)
	}
	return d
}

func (p *Policy) decide(ctx context.Context, r *Request) Decision {
	if r.Stage == Arrived {
		return p.arrived(r)
	}
	switch body := r.Body.(type) {
	case protocol.McpElicitation:
		if d, declined := p.autoDecline(r); declined {
			return d
		}
		if d, set := p.setAnswer(r, body.ElicitationRequest.Fields); set {
			return d
		}
		return p.limitOpen(r)
	case protocol.McpURLElicitation:
		if d, declined := p.autoDecline(r); declined {
			return d
		}
		return p.limitOpen(r)
	case protocol.McpSampling:
		if d := p.limitSize(r, &body.SamplingRequest); d.Verdict == Refuse {
			return d
		}
		return p.grantFor(ctx, r, &body)
	case protocol.McpSamplingReview:
		return p.review(ctx, r)
	case protocol.UseMcpTool, protocol.AccessMcpResource:
		return p.toolRule(ctx, r)
	default:
		return Decision{} // a person's alone
	}
}

// record journals that a request was not shown to the person.
func (p *Policy) record(r *Request, outcome protocol.Outcome) {
	count := p.rates.refused(r.Origin.ServerName)
	switch {
	case count == 0:
	case r.Task != nil:
		r.Task.Denied(r.Origin, r.Method, outcome, count)
	default:
		p.opts.Denied(r.Origin, r.Method, outcome, count)
	}
}

// arrived refuses requests that no front end can show, and counts completions, before they are read.
func (p *Policy) arrived(r *Request) Decision {
	frontEnd := p.opts.FrontEnd()
	switch {
	case r.Method == SamplingCreate && frontEnd.Sampling:
		return p.limitRate(r)
	case r.Method == ElicitationCreate && frontEnd.Elicitation:
		return Decision{}
	default:
		return Decision{Verdict: Refuse, Outcome: protocol.Outcome{
			Reason: protocol.OutcomeNoFrontEnd, Detail: r.Method + " was not declared by this client: no front end can show it",
		}}
	}
}

// review decides whether the person sees a completion before the server gets it. Under a grant its own terms say so, for
// the request that it was made with too; what was approved by a grant that is revoked by now is reviewed.
func (p *Policy) review(ctx context.Context, r *Request) Decision {
	shown := true
	switch {
	case r.Held != nil:
		shown = r.Held.Review || r.Held.Revoked(ctx)
	case p.opts.Settings().Sampling.Review == protocol.ReviewNever:
		shown = false
	case p.opts.Settings().Sampling.Review == protocol.ReviewFirstFromServer:
		p.mu.Lock()
		shown = !p.trusted[r.Origin.ServerName]
		p.mu.Unlock()
	}
	switch {
	case shown:
		return Decision{}
	case r.Held != nil:
		return Decision{Verdict: Approve} // by the grant that approved the request, which is counted
	default:
		return Decision{Verdict: Approve, by: settingEntry(settingReview)}
	}
}

// Trust notes that a person let a completion go to a server.
func (p *Policy) Trust(serverName string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trusted[serverName] = true
}
