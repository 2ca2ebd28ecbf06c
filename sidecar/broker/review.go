package broker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/model"
	"assent/sidecar/task"
)

func checkReview(models Models, p *protocol.AskResponseParams, q *protocol.McpSamplingReview) (*task.Answer, error) {
	answer := &task.Answer{Response: p.AskResponse}
	switch p.AskResponse {
	case protocol.YesButtonClicked:
		sent, err := editedResponse(&q.SamplingResponse, p.SamplingContent)
		if err != nil {
			return nil, err
		}
		answer.SentResponse = sent
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

// editedResponse returns the person's edit of the model's answer, or nil if nothing changed. A person may
// change texts and the inputs of calls, and remove either. They cannot add any, because the server takes
// the answer for the model's.
func editedResponse(written *protocol.McpSamplingResponse, content []protocol.ContentBlock) (*protocol.McpSamplingResponse, error) {
	if content == nil {
		return nil, nil
	}
	rest, calls := written.Content, 0
	for _, block := range content {
		place := slices.IndexFunc(rest, func(w protocol.ContentBlock) bool { return becomes(w, block) })
		if place < 0 {
			return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "the edited answer has something that the model did not write, or in another order")
		}
		rest = rest[place+1:]
		switch block := block.(type) {
		case protocol.TextContent:
			if strings.TrimSpace(block.Text) == "" {
				return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "the text is empty: withhold the answer instead")
			}
		case protocol.ToolUseContent:
			calls++
			if err := checkObject(block.Input); err != nil {
				return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "the input of the call of %q %v", block.Name, err)
			}
		}
	}
	if len(content) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "nothing of the answer is left: withhold it instead")
	}
	sent := *written
	sent.Content = content
	if calls == 0 && sent.StopReason == model.StopToolUse {
		sent.StopReason = model.StopEndTurn // otherwise the server would look for calls
	}
	before, err := json.Marshal(written)
	if err != nil {
		return nil, fmt.Errorf("compare the edited answer: %w", err)
	}
	after, err := json.Marshal(sent)
	if err != nil {
		return nil, fmt.Errorf("compare the edited answer: %w", err)
	}
	if bytes.Equal(before, after) {
		return nil, nil
	}
	return &sent, nil
}

// becomes reports whether a block of the edited answer can come from one that the model wrote.
func becomes(written, edited protocol.ContentBlock) bool {
	switch written := written.(type) {
	case protocol.TextContent:
		_, ok := edited.(protocol.TextContent)
		return ok
	case protocol.ToolUseContent:
		use, ok := edited.(protocol.ToolUseContent)
		return ok && use.ID == written.ID && use.Name == written.Name
	default:
		return false
	}
}
