package tasklog

import "assent/protocol"

// shown returns a message as front ends see it. The answer to an ask with a key is stored with its secrets until the server
// has it; front ends never see them.
func shown(m protocol.Message) protocol.Message {
	ask, ok := m.Body.(protocol.Ask)
	if !ok {
		return m
	}
	if q, ok := ask.Question.(protocol.McpElicitation); ok && q.ElicitationResponse != nil {
		m.Body = WithoutSecrets(ask)
	}
	return m
}

// WithoutSecrets returns an ask with its answer masked; see [MaskElicitation].
func WithoutSecrets(ask protocol.Ask) protocol.Ask {
	if q, ok := ask.Question.(protocol.McpElicitation); ok && q.ElicitationResponse != nil {
		ask.Question = MaskElicitation(q)
	}
	return ask
}

// MaskElicitation masks the values of fields that ask for a secret or that the person marked as secret.
func MaskElicitation(q protocol.McpElicitation) protocol.McpElicitation {
	if q.ElicitationResponse != nil {
		masked := *q.ElicitationResponse
		masked.Content = protocol.MaskSecrets(q.ElicitationRequest.Fields, masked.Content, masked.SecretFields...)
		q.ElicitationResponse = &masked
	}
	return q
}
