package broker

import (
	"fmt"

	"assent/protocol"
	"assent/sidecar/base/secret"
	"assent/sidecar/model"
)

// mostSecrets bounds how many secrets of a request are shown. If there are more, the person sees the
// others at the next attempt.
const mostSecrets = 100

// secrets returns the texts in a request that look like secrets, each once.
func (b *Broker) secrets(request *protocol.McpSamplingRequest) []protocol.SecretFinding {
	var known []secret.Known
	if b.opts.Known != nil {
		known = b.opts.Known()
	}
	var found []protocol.SecretFinding
	seen := map[string]bool{}
	for text := range model.Texts(request) {
		for _, f := range b.scanner.Scan(text, known) {
			part := text[f.Start:f.End]
			if seen[part] {
				continue
			}
			if len(found) == mostSecrets {
				return found
			}
			seen[part] = true
			found = append(found, protocol.SecretFinding{Description: f.Description, Text: part})
		}
	}
	return found
}

// checkSecrets refuses to send texts that look like secrets, unless the person confirmed them.
func (b *Broker) checkSecrets(request *protocol.McpSamplingRequest, p *protocol.AskResponseParams) error {
	if p.ConfirmSecrets {
		return nil
	}
	var problems []protocol.FieldProblem
	for _, f := range b.secrets(request) {
		problems = append(problems, protocol.FieldProblem{Name: "secrets", Message: "There is " + f.Description + " in it."})
	}
	if problems == nil {
		return nil
	}
	return &protocol.Error{
		Code:    protocol.CodeInvalidAnswer,
		Message: fmt.Sprintf("The request has what looks like a secret (%s): redact it, or confirm that it may be sent.", problems[0].Message),
		Data:    protocol.InvalidAnswerData{Problems: problems},
	}
}
