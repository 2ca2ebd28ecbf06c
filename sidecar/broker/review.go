package broker

import (
	"strings"

	"assent/protocol"
	"assent/sidecar/task"
)

// reviews reports whether a person sees a completion before this server gets it.
func (b *Broker) reviews(serverName string) bool {
	switch b.review() {
	case protocol.ReviewNever:
		return false
	case protocol.ReviewFirstFromServer:
		b.mu.Lock()
		defer b.mu.Unlock()
		return !b.trusted[serverName]
	default:
		return true
	}
}

// trust notes that a person let a completion go to a server.
func (b *Broker) trust(serverName string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trusted[serverName] = true
}

func checkReview(models Models, p *protocol.AskResponseParams, q *protocol.McpSamplingReview) (*task.Answer, error) {
	answer := &task.Answer{Response: p.AskResponse}
	switch p.AskResponse {
	case protocol.YesButtonClicked:
		if p.SamplingText == nil {
			return answer, nil
		}
		written, ok := q.SamplingResponse.Content.(protocol.TextContent)
		switch {
		case !ok:
			return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "only a text can be edited")
		case strings.TrimSpace(*p.SamplingText) == "":
			return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "an empty text is no answer: withhold it instead")
		case *p.SamplingText != written.Text:
			sent := q.SamplingResponse
			sent.Content = protocol.TextContent{Text: *p.SamplingText}
			answer.SentResponse = &sent
		}
		return answer, nil
	case protocol.RegenerateButtonClicked:
		m, err := choose(models, p.ModelID, q.Model)
		if err != nil {
			return nil, err
		}
		answer.Model = m
		return answer, nil
	case protocol.NoButtonClicked, protocol.CancelButtonClicked:
		return answer, nil
	default:
		return nil, wrongWayOut(p)
	}
}
