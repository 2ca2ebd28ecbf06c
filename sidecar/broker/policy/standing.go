package policy

import (
	"context"

	"assent/protocol"
	"assent/sidecar/broker/grant"
)

// grantFor approves a sampling request if a grant covers it, and reserves its maximum cost. Otherwise the decision says
// why the nearest grant does not.
func (p *Policy) grantFor(ctx context.Context, r *Request, q *protocol.McpSampling) Decision {
	if r.Stage != Ready || p.opts.Grants == nil || r.Repeated {
		return Decision{}
	}
	held, reason, err := p.opts.Grants.Reserve(ctx, grant.Request{
		Origin: r.Origin, Model: q.Model, Most: grant.Most(q.Model, &q.SamplingRequest), Objection: grant.Objection(q),
	})
	if err != nil {
		p.opts.Log.Error().Err(err).Str("server", r.Origin.ServerName).Msg("the grants cannot be read, so the person is asked")
	}
	if held == nil {
		return Decision{GrantReason: reason}
	}
	return Decision{Verdict: Approve, Held: held, by: grantEntry(held.GrantID), Outcome: protocol.Outcome{
		Reason: protocol.OutcomeGranted, GrantID: held.GrantID, Detail: held.Detail,
	}}
}

// CheckGrant returns why a grant with these terms cannot be made, or nil.
func (p *Policy) CheckGrant(terms *protocol.GrantTerms) error {
	if p.opts.Grants == nil {
		return protocol.Errorf(protocol.CodeInvalidAnswer, "no grant can be made here")
	}
	return p.opts.Grants.Check(terms)
}

// CreateGrant makes a grant together with its first request; see [grant.Book.CreateFor]. [Policy.CheckGrant] has
// accepted its terms.
func (p *Policy) CreateGrant(ctx context.Context, terms protocol.GrantTerms, by string, first grant.Request) (*grant.Reservation, error) {
	return p.opts.Grants.CreateFor(ctx, terms, by, first)
}

// Resume returns the reservation of a request that a grant approved before a restart, or nil if a person approved it.
func (p *Policy) Resume(ctx context.Context, grantID string) *grant.Reservation {
	if grantID == "" || p.opts.Grants == nil {
		return nil
	}
	return p.opts.Grants.Resume(ctx, grantID)
}

// toolRule decides about a model's call: by the person's rule, or by the setting for read-only tools. If the rules
// cannot be read, the person is asked, because a rule may forbid the call.
func (p *Policy) toolRule(ctx context.Context, r *Request) Decision {
	var rule *protocol.ToolRule
	if p.opts.ToolRules != nil {
		var err error
		if rule, err = p.opts.ToolRules.Find(ctx, r.Use); err != nil {
			p.opts.Log.Error().Err(err).Str("server", r.Use.ServerName).Msg("the rules about tools cannot be read, so the person is asked")
			return Decision{Changed: p.toolChange(ctx, r.Use)}
		}
	}
	caps := p.opts.Caps()
	if rule != nil && rule.Remember != protocol.RememberNever && caps.Answers != "" {
		return Decision{Changed: p.toolChange(ctx, r.Use)} // the rule sleeps
	}
	readOnly := rule == nil && caps.AutoApprove == "" && r.Use.Tool != nil && p.opts.Settings().Tools.AutoApprove == protocol.AutoApproveReadOnly && ReadOnly(r.Use.Tool.Annotations)
	if readOnly { // unless the claim is another one than the person knows
		if change := p.toolChange(ctx, r.Use); change != nil && change.Tool {
			return Decision{Changed: change}
		}
	}
	switch {
	case readOnly:
		return approve(settingEntry(settingAutoApprove), "Its server claims that it changes nothing, and your setting "+settingAutoApprove+" approves such tools.", "")
	case rule == nil:
		return Decision{Changed: p.toolChange(ctx, r.Use)}
	case rule.Remember == protocol.RememberNever:
		return Decision{Verdict: Decline, by: ruleEntry(rule.ID), Outcome: protocol.Outcome{
			Reason: protocol.OutcomeDenied, Detail: "You said in " + rule.By + " that this is never to be done.", Standing: protocol.StandingNever,
		}}
	case rule.Remember == protocol.RememberTask:
		return approve(ruleEntry(rule.ID), "You allowed it for this task in "+rule.By+".", protocol.StandingTask)
	default:
		return approve(ruleEntry(rule.ID), "You allowed it always in "+rule.By+".", protocol.StandingAlways)
	}
}

func approve(by entry, detail string, standing protocol.StandingDecision) Decision {
	return Decision{Verdict: Approve, by: by, Outcome: protocol.Outcome{Reason: protocol.OutcomeGranted, Detail: detail, Standing: standing}}
}

// ReadOnly reports whether a server claims that a tool is read-only, and does not also claim that it is
// destructive.
func ReadOnly(a *protocol.ToolAnnotations) bool {
	return a != nil && a.ReadOnlyHint != nil && *a.ReadOnlyHint && (a.DestructiveHint == nil || !*a.DestructiveHint)
}

// toolChange returns how a tool has changed since it was last let run; nil if it has not.
func (p *Policy) toolChange(ctx context.Context, use grant.ToolUse) *protocol.ToolChange {
	if p.opts.ToolRules == nil {
		return nil
	}
	change, err := p.opts.ToolRules.Changed(ctx, use)
	if err != nil {
		p.opts.Log.Error().Err(err).Str("server", use.ServerName).Msg("cannot find out whether a tool has changed")
	}
	return change
}

// CheckRemember returns why an answer about a tool cannot be remembered, or nil.
func (p *Policy) CheckRemember(response protocol.AskResponse, remember protocol.Remember) error {
	fits := response == protocol.YesButtonClicked && (remember == protocol.RememberTask || remember == protocol.RememberAlways) ||
		response == protocol.NoButtonClicked && remember == protocol.RememberNever
	switch {
	case !fits:
		return protocol.Errorf(protocol.CodeInvalidAnswer, "%q cannot be remembered of the answer %q", remember, response)
	case p.opts.ToolRules == nil:
		return protocol.Errorf(protocol.CodeInvalidAnswer, "nothing can be remembered here")
	default:
		return nil
	}
}

// Remember saves an answer about a tool as a rule; by names the front end. [Policy.CheckRemember] has accepted it.
func (p *Policy) Remember(ctx context.Context, use grant.ToolUse, remember protocol.Remember, by string) error {
	defer p.Changed()
	_, err := p.opts.ToolRules.Remember(ctx, use, remember, by)
	return err
}

// Allowed saves a tool as the person has let it run; by names the front end. It logs its error: the call is approved all the
// same.
func (p *Policy) Allowed(ctx context.Context, use grant.ToolUse, by string) {
	if p.opts.ToolRules == nil {
		return
	}
	if err := p.opts.ToolRules.Allowed(ctx, use, by); err != nil {
		p.opts.Log.Error().Err(err).Str("server", use.ServerName).Msg("cannot save the tool that was approved, so that a change of it is not seen")
	}
}

// CalledByHost returns how a tool that a host calls has changed since it was last let run; see
// [grant.ToolRules.CalledByHost]. It logs its error, and the host's own approval then counts.
func (p *Policy) CalledByHost(ctx context.Context, use grant.ToolUse, hostName string) *protocol.ToolChange {
	if p.opts.ToolRules == nil {
		return nil
	}
	change, err := p.opts.ToolRules.CalledByHost(ctx, use, hostName)
	if err != nil {
		p.opts.Log.Error().Err(err).Str("server", use.ServerName).Msg("cannot find out whether a tool has changed")
	}
	return change
}
