package policy

import (
	"context"

	"assent/protocol"
)

// The settings that decide, with their names in VS Code.
const (
	settingAutoApprove = "assent.tools.autoApprove"
	settingAnswers     = "assent.elicitation.answers"
	settingReview      = "assent.sampling.review"
	settingAllowed     = "assent.model.allowed"
	settingLimits      = "assent.limits"
)

// entry identifies an entry of the policy: by its kind, and by the values that distinguish it from
// others of the kind.
type entry struct{ kind, id, tool, content string }

func grantEntry(id string) entry        { return entry{kind: "grant", id: id} }
func ruleEntry(id string) entry         { return entry{kind: "rule", id: id} }
func declinedEntry(server string) entry { return entry{kind: "declined", id: server} }
func settingEntry(setting string) entry { return entry{kind: "setting", id: setting} }
func (l limit) entry() entry            { return entry{kind: "limit", id: string(l.name)} }
func answerEntry(a *protocol.FixedAnswer) entry {
	return entry{"answer", a.ServerName, a.ToolName, string(a.Content)}
}

// use counts a request that an entry decided.
func (p *Policy) use(by entry, serverName string) {
	p.mu.Lock()
	used := p.used[by]
	used.Count++
	used.LastAt, used.LastServer = p.opts.Now().UnixMilli(), serverName
	p.used[by] = used
	p.mu.Unlock()
	p.Changed()
}

// usedLocked returns the uses of an entry; nil if there are none. The lock must be held.
func (p *Policy) usedLocked(by entry) *protocol.PolicyUse {
	if used, ok := p.used[by]; ok {
		return &used
	}
	return nil
}

// Changed calls [Options.Changed], once after each [Policy.List]. It is for changes of the settings and of
// tool rules.
func (p *Policy) Changed() {
	if p.listed.CompareAndSwap(true, false) {
		p.opts.Changed()
	}
}

// List returns everything that answers for the person, has them asked by another program, or limits the requests that reach them, with the uses of each
// entry.
func (p *Policy) List(ctx context.Context) ([]protocol.PolicyEntry, error) {
	p.listed.Store(true) // first, so that a concurrent change is reported
	var grants []protocol.Grant
	var rules []protocol.ToolRule
	var all []protocol.PolicyEntry
	var err error
	if p.opts.Grants != nil {
		if grants, err = p.opts.Grants.List(ctx); err != nil {
			return nil, err
		}
	}
	if p.opts.ToolRules != nil {
		if rules, err = p.opts.ToolRules.List(ctx); err != nil {
			return nil, err
		}
	}
	if p.opts.AskFirst != nil {
		first, err := p.opts.AskFirst.List()
		if err != nil {
			return nil, err
		}
		all = append(all, first...)
	}
	settings, caps := p.opts.Settings(), p.opts.Caps()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range grants {
		all = append(all, protocol.PolicyGrant{Grant: g, PolicyHead: protocol.PolicyHead{
			Effect: protocol.EffectApprove, ServerName: g.ServerName, ToolName: g.ToolName,
			By: g.By, At: g.CreatedAt, Used: p.usedLocked(grantEntry(g.ID)), Asleep: p.opts.Grants.Asleep(&g),
		}})
	}
	for _, rule := range rules {
		effect, asleep := protocol.EffectApprove, caps.Answers
		if rule.Remember == protocol.RememberNever {
			effect, asleep = protocol.EffectDecline, ""
		}
		all = append(all, protocol.PolicyToolRule{
			RuleID: rule.ID, ResourceURI: rule.ResourceURI, AppDomains: rule.AppDomains, Remember: rule.Remember, TaskID: rule.TaskID,
			PolicyHead: protocol.PolicyHead{
				Effect: effect, ServerName: rule.ServerName, ToolName: rule.ToolName,
				By: rule.By, At: rule.CreatedAt, Used: p.usedLocked(ruleEntry(rule.ID)), Asleep: asleep,
			},
		})
	}
	for _, server := range p.declinedLocked() {
		all = append(all, protocol.PolicyDeclinedServer{PolicyHead: protocol.PolicyHead{
			Effect: protocol.EffectDecline, ServerName: server.ServerName,
			By: server.By, At: p.declining[server.ServerName].at.UnixMilli(), Used: p.usedLocked(declinedEntry(server.ServerName)),
		}})
	}
	return append(all, p.settingsLocked(&settings, caps)...), nil
}

// settingsLocked returns the entries of the settings. The lock must be held.
func (p *Policy) settingsLocked(s *Settings, caps Caps) (all []protocol.PolicyEntry) {
	listed := map[entry]bool{}
	for _, answer := range s.Elicitation.Answers {
		if listed[answerEntry(&answer)] {
			continue // a repeated answer has no effect
		}
		listed[answerEntry(&answer)] = true
		all = append(all, protocol.PolicyFixedAnswer{Content: answer.Content, PolicyHead: protocol.PolicyHead{
			Effect: protocol.EffectApprove, ServerName: answer.ServerName, ToolName: answer.ToolName,
			Setting: settingAnswers, Used: p.usedLocked(answerEntry(&answer)), Asleep: caps.Answers,
		}})
	}
	approving := func(setting, asleep string) protocol.PolicyHead {
		return protocol.PolicyHead{Effect: protocol.EffectApprove, Setting: setting, Used: p.usedLocked(settingEntry(setting)), Asleep: asleep}
	}
	if s.Tools.AutoApprove == protocol.AutoApproveReadOnly {
		all = append(all, protocol.PolicyReadOnlyTools{PolicyHead: approving(settingAutoApprove, caps.AutoApprove)})
	}
	if review := s.Sampling.Review; review == protocol.ReviewNever || review == protocol.ReviewFirstFromServer {
		asleep := ""
		if caps.Review != "" && laxness[review] > laxness[caps.Review] {
			asleep = caps.ReviewReason
		}
		all = append(all, protocol.PolicyReview{Review: review, PolicyHead: approving(settingReview, asleep)})
	}
	for _, allowed := range s.Allowed {
		head := protocol.PolicyHead{Effect: protocol.EffectLimit, ServerName: allowed.ServerName, Setting: settingAllowed}
		if allowed.ServerName == "*" {
			head.ServerName = ""
		}
		all = append(all, protocol.PolicyAllowedModels{Models: allowed.Models, PolicyHead: head})
	}
	for _, l := range s.limits() {
		all = append(all, protocol.PolicyLimit{Limit: l.name, Max: l.max, Default: l.isDefault, PolicyHead: protocol.PolicyHead{
			Effect: protocol.EffectLimit, Setting: settingLimits, Used: p.usedLocked(l.entry()),
		}})
	}
	return all
}
