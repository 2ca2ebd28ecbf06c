package broker

import (
	"encoding/json"
	"maps"
	"slices"

	"assent/protocol"
	"assent/sidecar/form"
	"assent/sidecar/task"
)

// declineAll declines everything that a server elicits from now on; by names the front end in which the person said so.
func (b *Broker) declineAll(serverName, by string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.declining[serverName] = by
	b.opts.DeclinedChanged(b.declinedLocked())
}

// AskAgain ends the declining of everything that a server elicits.
func (b *Broker) AskAgain(serverName string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.declining, serverName)
	b.opts.DeclinedChanged(b.declinedLocked())
}

// Declined returns the servers from which everything is declined, sorted by name.
func (b *Broker) Declined() []protocol.DeclinedServer {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.declinedLocked()
}

func (b *Broker) declinedLocked() (all []protocol.DeclinedServer) {
	for _, name := range slices.Sorted(maps.Keys(b.declining)) {
		all = append(all, protocol.DeclinedServer{ServerName: name, By: b.declining[name]})
	}
	return all
}

// declinedUnasked returns the answer and outcome with which a server's elicitation is declined without asking; nil if the
// person is to be asked.
func (b *Broker) declinedUnasked(serverName string) *task.Granted {
	b.mu.Lock()
	defer b.mu.Unlock()
	by, ok := b.declining[serverName]
	if !ok {
		return nil
	}
	return &task.Granted{
		Answer: &task.Answer{Response: protocol.NoButtonClicked},
		Outcome: protocol.Outcome{
			Reason: protocol.OutcomeDeclined, By: by, DeclinedAll: true, Standing: protocol.StandingDeclineAll,
			Detail: "You declined everything that this server asks for.",
		},
	}
}

// answeredUnasked returns how a form is answered that the person has set an answer for, or nil.
func (b *Broker) answeredUnasked(origin protocol.Origin, fields []protocol.Field) *task.Granted {
	if len(origin.ToolNames) != 1 || origin.PlacedBy != "" { // it has to be certain which tool asks
		return nil
	}
	for _, set := range b.opts.Elicitation().Answers {
		if set.ServerName != origin.ServerName || set.ToolName != origin.ToolNames[0] || !answersAll(set.Content, fields) {
			continue
		}
		content, problems := form.Check(fields, set.Content)
		if problems != nil {
			continue
		}
		return &task.Granted{
			Answer: &task.Answer{Response: protocol.YesButtonClicked, Content: content},
			Outcome: protocol.Outcome{
				Reason: protocol.OutcomeGranted,
				Detail: "Answered without asking, by your setting assent.elicitation.answers.",
			},
		}
	}
	return nil
}

// answersAll reports whether an answer has a member for each of the fields, and no other. A secret is never
// given unasked: settings are no place for it.
func answersAll(content json.RawMessage, fields []protocol.Field) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(content, &members) != nil || len(members) != len(fields) || len(fields) == 0 {
		return false
	}
	return !slices.ContainsFunc(fields, func(f protocol.Field) bool { return members[f.Head().Name] == nil || f.Head().Secret })
}
