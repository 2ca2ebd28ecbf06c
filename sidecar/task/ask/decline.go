package ask

import "assent/protocol"

// DeclineAll declines every open elicitation of a server, because a person declined them all. By names the person's front
// end.
func (s *Asks) DeclineAll(serverName, by string) {
	s.log.Lock()
	defer s.log.Unlock()
	for _, a := range s.open.inOrder() {
		if !elicits(a.question.Question, serverName) {
			continue
		}
		s.settle(a, &Answer{Response: protocol.NoButtonClicked}, protocol.Outcome{
			Reason: protocol.OutcomeDeclined, By: by, At: s.now(), DeclinedAll: true, Standing: protocol.StandingDeclineAll,
			Detail: "You declined everything that this server asks for.",
		})
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
