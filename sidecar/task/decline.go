package task

import "assent/protocol"

// DeclineAll declines every open ask in which a server elicits something, in any task: a person said in
// the front end that by names that they decline everything from it.
func (r *Registry) DeclineAll(serverName, by string) {
	for _, t := range r.all() {
		t.mu.Lock()
		for _, a := range t.asks.inOrder() {
			if !elicits(a.question.Question, serverName) {
				continue
			}
			t.settle(a, &Answer{Response: protocol.NoButtonClicked}, protocol.Outcome{
				Reason: protocol.OutcomeDeclined, By: by, At: r.now(), DeclinedAll: true, Standing: protocol.StandingDeclineAll,
				Detail: "You declined everything that this server asks for.",
			})
		}
		t.mu.Unlock()
	}
}

func elicits(question protocol.UseMcpServer, serverName string) bool {
	switch q := question.(type) {
	case protocol.McpElicitation:
		return q.ServerName == serverName
	case protocol.McpURLElicitation:
		return q.ServerName == serverName
	default:
		return false
	}
}
