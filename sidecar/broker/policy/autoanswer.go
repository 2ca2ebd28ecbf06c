package policy

import (
	"encoding/json"
	"maps"
	"slices"

	"assent/protocol"
	"assent/sidecar/broker/form"
)

// DeclineAll declines all elicitations of a server from now on; by names the person's front end.
func (p *Policy) DeclineAll(serverName, by string) {
	defer p.Changed()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.declining[serverName] = declining{by, p.opts.Now()}
	p.opts.DeclinedChanged(p.declinedLocked())
}

// AskAgain ends the declining of all elicitations of a server.
func (p *Policy) AskAgain(serverName string) {
	defer p.Changed()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.declining, serverName)
	delete(p.used, declinedEntry(serverName))
	p.opts.DeclinedChanged(p.declinedLocked())
}

// Declined returns the servers with all elicitations declined, sorted by name.
func (p *Policy) Declined() []protocol.DeclinedServer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.declinedLocked()
}

func (p *Policy) declinedLocked() (all []protocol.DeclinedServer) {
	for _, name := range slices.Sorted(maps.Keys(p.declining)) {
		all = append(all, protocol.DeclinedServer{ServerName: name, By: p.declining[name].by})
	}
	return all
}

// autoDecline declines an elicitation of a server with all elicitations declined.
func (p *Policy) autoDecline(r *Request) (_ Decision, declined bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	said, ok := p.declining[r.Origin.ServerName]
	if !ok {
		return Decision{}, false
	}
	return Decision{Verdict: Decline, by: declinedEntry(r.Origin.ServerName), Outcome: protocol.Outcome{
		Reason: protocol.OutcomeDeclined, By: said.by, DeclinedAll: true, Standing: protocol.StandingDeclineAll,
		Detail: "You declined everything that this server asks for.",
	}}, true
}

// setAnswer answers a form from the settings. The request must be attributed to one tool.
func (p *Policy) setAnswer(r *Request, fields []protocol.Field) (_ Decision, set bool) {
	if r.Stage != Ready || len(r.Origin.ToolNames) != 1 || r.Origin.PlacedBy != "" || p.opts.Caps().Answers != "" {
		return Decision{}, false
	}
	for _, set := range p.opts.Settings().Elicitation.Answers {
		if set.ServerName != r.Origin.ServerName || set.ToolName != r.Origin.ToolNames[0] || !answersAll(set.Content, fields) {
			continue
		}
		content, problems := form.Check(fields, set.Content)
		if problems != nil {
			continue
		}
		return Decision{Verdict: Approve, Content: content, by: answerEntry(&set), Outcome: protocol.Outcome{
			Reason: protocol.OutcomeGranted,
			Detail: "Answered without asking, by your setting " + settingAnswers + ".",
		}}, true
	}
	return Decision{}, false
}

// answersAll reports whether an answer has exactly the members of the fields. A form with a secret field
// never gets a set answer, because settings are no place for secrets.
func answersAll(content json.RawMessage, fields []protocol.Field) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(content, &members) != nil || len(members) != len(fields) || len(fields) == 0 {
		return false
	}
	return !slices.ContainsFunc(fields, func(f protocol.Field) bool { return members[f.Head().Name] == nil || f.Head().Secret })
}
