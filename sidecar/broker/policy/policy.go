// Package policy decides about a request before the person is asked. [Policy.Decide] lets the person decide, approves
// or declines for them, or refuses the request because a limit forbids it, with the reason to show and to journal.
//
// It owns everything that answers for the person: their grants and tool rules, which package grant saves; the settings
// that approve, answer or limit; and decisions until the sidecar ends, such as to decline all elicitations of a server.
// A [Policy] may be used from any goroutine. It does not read MCP's params, ask the person or know MCP's errors; the
// broker does that.
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
	"assent/sidecar/broker/askfirst"
	"assent/sidecar/broker/grant"
)

// The MCP methods that the policy decides about.
const (
	ElicitationCreate = "elicitation/create"
	SamplingCreate    = "sampling/createMessage"
)

// Settings are the person's present settings.
type Settings struct {
	Sampling    protocol.SamplingSettings
	Elicitation protocol.ElicitationSettings
	Tools       protocol.ToolSettings
	// Allowed and AnswerSeconds are only for the list. Package model applies the one, and package broker the other.
	Allowed       []protocol.AllowedModels
	AnswerSeconds int64
}

// Caps are what the person's organisation takes from their settings and decisions. Each text is the reason, a sentence for the
// person; empty takes nothing.
type Caps struct {
	// Answers: no setting answers a form, and no remembered answer approves a call.
	Answers string
	// AutoApprove: no setting approves calls.
	AutoApprove string
	// Review is the laxest review of completions; empty is no limit.
	Review       protocol.SamplingReview
	ReviewReason string
}

// Options are what a policy needs.
type Options struct {
	// Settings returns the settings; nil means the defaults.
	Settings func() Settings
	// Caps returns what the organisation takes; nil means nothing.
	Caps func() Caps
	// FrontEnd returns the capabilities of the front ends; nil means none.
	FrontEnd func() protocol.FrontEndCapabilities
	// Grants are the person's grants; nil if there can be none.
	Grants *grant.Book
	// ToolRules are the person's rules about tools that models call; nil if none are kept.
	ToolRules *grant.ToolRules
	// AskFirst are the person's rules about what the hosts of agents ask first; nil if there are none.
	AskFirst *askfirst.Rules
	// Denied is [Task.Denied] for requests that were refused before their task was known. It may be
	// nil.
	Denied func(origin protocol.Origin, method string, outcome protocol.Outcome, count int64)
	// Invalid is [Task.Invalid] for requests without a known task. It may be nil.
	Invalid func(origin protocol.Origin, method, why string)
	// DeclinedChanged is called at each change, in order, with the servers whose elicitations are all declined. It
	// must not call the policy. It may be nil.
	DeclinedChanged func([]protocol.DeclinedServer)
	// Changed is called when the result of [Policy.List] has changed, once after each call of it. It may be nil. It is
	// not called for changes of grants, which their book reports.
	Changed func()
	// Now returns the time; nil means [time.Now].
	Now func() time.Time
	Log zerolog.Logger
}

// Task is the part of the package task's Task that reports refused requests.
type Task interface {
	// Denied journals count requests that were refused without asking; outcome is that of the
	// last.
	Denied(origin protocol.Origin, method string, outcome protocol.Outcome, count int64)
	// Invalid journals a question that cannot be shown, and tells the person why.
	Invalid(origin protocol.Origin, method, why string)
	Tell(notice protocol.Notice)
}

// Policy decides about requests.
type Policy struct {
	opts  Options
	rates rateLimiter
	open  openLimiter
	// listed is set if nothing has changed since the last [Policy.List]; it is false before the first.
	listed atomic.Bool

	mu sync.Mutex // guards the fields below
	// declining holds the servers with all elicitations declined.
	declining map[string]declining
	// trusted holds the servers for which a person has approved a completion.
	trusted map[string]bool
	// used holds the uses of each entry.
	used map[entry]protocol.PolicyUse
}

// declining is the front end in which the person declined all elicitations of a server, and the
// time.
type declining struct {
	by string
	at time.Time
}

// New returns a policy.
func New(opts Options) *Policy {
	if opts.Settings == nil {
		opts.Settings = func() Settings { return Settings{} }
	}
	if opts.Caps == nil {
		opts.Caps = func() Caps { return Caps{} }
	}
	if opts.FrontEnd == nil {
		opts.FrontEnd = func() protocol.FrontEndCapabilities { return protocol.FrontEndCapabilities{} }
	}
	if opts.Invalid == nil {
		opts.Invalid = func(protocol.Origin, string, string) {}
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

// Stage is how far a request has been processed. The policy decides at each stage, so that the person does not assign
// a request to a task that is refused anyway.
type Stage int

const (
	// Arrived requests are not parsed yet.
	Arrived Stage = iota
	// Read requests have a body. Nothing approves them yet, because their task may be unknown.
	Read
	// Ready requests have their task, and the whole question.
	Ready
)

// Request is one request, from its arrival to its answer. One goroutine uses it at a time.
type Request struct {
	Stage  Stage
	Method string // MCP's; empty if a model asks
	Origin protocol.Origin
	// Task is nil until the task of the request is known.
	Task Task
	// Body is the question for the person; nil if the request is not parsed yet.
	Body protocol.UseMcpServer
	// Use is the call of a model, if Body asks about one.
	Use grant.ToolUse
	// Repeated reports that an MCP task asked the same question before: the ask has its answer, or waits for it.
	Repeated bool
	// Held is the reservation for the request whose completion Body reviews; nil if a person approved it.
	Held *grant.Reservation

	// sized reports that the size was checked.
	sized bool
	// done stops counting the request; nil if it is not counted.
	done func()
}

// Done stops counting a request as open. The caller calls it once, when the request is answered or refused.
func (r *Request) Done() {
	if r.done != nil {
		r.done()
	}
}

// Verdict is a decision about a request.
type Verdict int

// The verdicts.
const (
	// Ask lets the person decide.
	Ask Verdict = iota
	// Approve and Decline answer for the person.
	Approve
	Decline
	// Refuse answers with an error, because a setting forbids the request.
	Refuse
)

// Decision is a verdict with its details.
type Decision struct {
	Verdict Verdict
	// Outcome is the request's outcome without the time, unless the verdict is Ask.
	Outcome protocol.Outcome
	// Content is the answer to a form that is approved.
	Content json.RawMessage
	// Held is the reservation of the grant that approves a sampling request.
	Held *grant.Reservation
	// GrantReason says why the nearest grant does not approve a sampling request, if the person is asked.
	GrantReason string
	// Changed is how a tool has changed since it was last let run, if the person is asked.
	Changed *protocol.ToolChange
	// Limit is the limit that a refused request exceeds; nil if it was refused because no front
	// end can show it.
	Limit *LimitError

	// by is the entry of the list that decided; zero if none did.
	by entry
}

// Decide decides about a request at its present stage. It counts the request with its server and with the deciding
// entry, and journals it if nothing else does. The caller always calls [Request.Done] in the end.
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
		return Decision{} // only a person decides
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

// Invalid reports a request that cannot be shown to the person, unless the server sends very many of them.
func (p *Policy) Invalid(r *Request, why string) {
	switch {
	case !p.rates.invalid(r.Origin.ServerName):
	case r.Task != nil:
		r.Task.Invalid(r.Origin, r.Method, why)
	default:
		p.opts.Invalid(r.Origin, r.Method, why)
	}
}

// arrived refuses requests that no front end can show, and counts sampling requests, before they are
// parsed.
func (p *Policy) arrived(r *Request) Decision {
	frontEnd := p.opts.FrontEnd()
	switch {
	case r.Method == SamplingCreate && frontEnd.Sampling:
		return p.limitRate(r)
	case r.Method == ElicitationCreate && frontEnd.Elicitation:
		return Decision{}
	default:
		return Decision{Verdict: Refuse, Outcome: protocol.Outcome{
			Reason: protocol.OutcomeNoFrontEnd, Detail: r.Method + " was not declared by this client",
		}}
	}
}

// review decides whether the person sees a completion before the server gets it. A grant's terms decide for its
// requests, including the one that it was made with. If the grant has been revoked since, the completion is reviewed.
func (p *Policy) review(ctx context.Context, r *Request) Decision {
	shown := true
	switch {
	case r.Held != nil:
		shown = r.Held.Review || r.Held.Revoked(ctx)
	case p.reviewed() == protocol.ReviewNever:
		shown = false
	case p.reviewed() == protocol.ReviewFirstFromServer:
		p.mu.Lock()
		shown = !p.trusted[r.Origin.ServerName]
		p.mu.Unlock()
	}
	switch {
	case shown:
		return Decision{}
	case r.Held != nil:
		return Decision{Verdict: Approve} // by the grant that approved the request, which was counted then
	default:
		return Decision{Verdict: Approve, by: settingEntry(settingReview)}
	}
}

// laxness orders the reviews, from the strictest on.
var laxness = map[protocol.SamplingReview]int{protocol.ReviewFirstFromServer: 1, protocol.ReviewNever: 2}

// reviewed returns the setting for the review of completions, as far as the organisation lets it.
func (p *Policy) reviewed() protocol.SamplingReview {
	set, caps := p.opts.Settings().Sampling.Review, p.opts.Caps()
	if caps.Review != "" && laxness[set] > laxness[caps.Review] {
		return caps.Review
	}
	return set
}

// Trust records that a person approved a completion for a server.
func (p *Policy) Trust(serverName string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trusted[serverName] = true
}
