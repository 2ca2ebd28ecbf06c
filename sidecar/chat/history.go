package chat

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"assent/protocol"
	"assent/sidecar/model"
	"assent/sidecar/task"
)

// maxHistory bounds the conversation in memory, in bytes. No model has a larger context.
var maxHistory = 32 << 20

// step is a part of a conversation that is sent as a whole or not at all: a message of the person with
// its attachments, or a model's message with the results of its calls, which must stay together.
type step struct {
	messages []protocol.SamplingMessage
	// fromUser: it is a message of the person.
	fromUser bool
}

// past is a conversation so far, the oldest step first.
type past struct {
	steps []step
	// omitted counts the messages after the first step that are too old to keep in memory. shortened counts
	// the truncated results.
	omitted, shortened int
}

// add adds a step. If the conversation exceeds maxHistory, older results are truncated.
func (p *past) add(s step) {
	p.steps = append(p.steps, s)
	held := 0
	for i := range p.steps {
		held += p.steps[i].size()
	}
	for i := 0; held > maxHistory && i < len(p.steps)-1; i++ {
		f := fitted{step: p.steps[i]}
		before := f.step.size()
		p.shortened += f.shorten()
		p.steps[i] = f.step
		held -= before - f.step.size()
	}
}

// history returns a task's conversation: its newest part, and the person's first message. If before is not 0,
// messages with an id of before or higher are left out.
func history(ctx context.Context, t *task.Task, before int64) (*past, error) {
	p := &past{}
	results := map[protocol.ToolUseRef]protocol.ToolResultContent{} // of the calls read so far; a result is read before its call
	held := 0
	var first *protocol.UserMessage // if it is older than maxHistory allows
	add := func(s step) {
		if len(s.messages) > 0 {
			p.steps = append(p.steps, s)
			held += s.size()
		}
	}
	var failed error
	err := t.Conversation(ctx, before, func(m protocol.Message) bool {
		if held > maxHistory {
			switch body := m.Body.(type) {
			case protocol.UserMessage:
				first = &body
				p.omitted++
			case protocol.ModelMessage:
				p.omitted++
			}
			return true
		}
		switch body := m.Body.(type) {
		case protocol.Call:
			if body.ToolUse != nil {
				results[*body.ToolUse] = resultOf(body.ToolUse.ToolUseID, body.Result)
			}
		case protocol.ModelMessage:
			add(saidByModel(m.ID, body, results))
			for _, use := range body.ToolUses {
				delete(results, protocol.ToolUseRef{MessageID: m.ID, ToolUseID: use.ID})
			}
		case protocol.UserMessage:
			var s step
			if s, failed = saidByUser(ctx, t, body); failed != nil {
				return false
			}
			add(s)
		}
		return true
	})
	if err == nil && failed == nil && first != nil {
		var s step
		s, failed = saidByUser(ctx, t, *first)
		p.steps = append(p.steps, s)
		p.omitted--
	}
	slices.Reverse(p.steps)
	if err == nil {
		err = failed
	}
	return p, err
}

// size estimates the bytes of a step.
func (s *step) size() (bytes int) {
	for _, m := range s.messages {
		for _, block := range m.Content {
			bytes += sizeOf(block)
			if result, ok := block.(protocol.ToolResultContent); ok {
				for _, part := range result.Content {
					bytes += sizeOf(part)
				}
			}
		}
	}
	return bytes
}

func sizeOf(block protocol.ContentBlock) int {
	switch b := block.(type) {
	case protocol.TextContent:
		return len(b.Text)
	case protocol.ImageContent:
		return len(b.Data)
	case protocol.ToolUseContent:
		return len(b.Input)
	default:
		return 0
	}
}

// saidByUser returns a message of the person, after its attachments.
func saidByUser(ctx context.Context, t *task.Task, said protocol.UserMessage) (step, error) {
	s := step{fromUser: true}
	own := protocol.SamplingMessage{Role: protocol.RoleUser}
	for _, id := range said.Attachments {
		m, err := t.Message(ctx, id)
		if errors.As(err, new(*protocol.Error)) {
			continue // a branch does not have all of them
		}
		if err != nil {
			return s, err
		}
		if file, ok := m.Body.(protocol.Attachment); ok {
			own.Content = append(own.Content, attached(file)...)
			continue
		}
		call, ok := m.Body.(protocol.Call)
		if !ok {
			continue
		}
		switch result := call.Result.(type) {
		case protocol.PromptResult:
			for _, p := range result.Messages {
				s.messages = append(s.messages, protocol.SamplingMessage{
					Role: p.Role, Content: asContent(readable([]protocol.ContentBlock{p.Content}, nil)),
				})
			}
		default:
			own.Content = append(own.Content, asContent(resultOf("", result).Content)...)
		}
	}
	if said.Text != "" {
		own.Content = append(own.Content, protocol.TextContent{Text: said.Text})
	}
	if len(own.Content) == 0 && len(s.messages) == 0 {
		own.Content = []protocol.ContentBlock{protocol.TextContent{Text: "[an attachment is missing here]"}}
	}
	if len(own.Content) > 0 {
		s.messages = append(s.messages, own)
	}
	return s, nil
}

// saidByModel returns a model's message with the results of its calls. Failed messages are left out.
func saidByModel(id int64, said protocol.ModelMessage, results map[protocol.ToolUseRef]protocol.ToolResultContent) step {
	var s step
	if said.End == nil || said.End.Reason == protocol.ModelEndFailed || said.End.Reason == protocol.ModelEndRefused {
		return s
	}
	own := protocol.SamplingMessage{Role: protocol.RoleAssistant}
	if said.Text != "" {
		own.Content = append(own.Content, protocol.TextContent{Text: said.Text})
	}
	answers := protocol.SamplingMessage{Role: protocol.RoleUser}
	if said.End.Reason == protocol.ModelEndToolUse {
		for _, use := range said.ToolUses {
			own.Content = append(own.Content, toolUseOf(use))
			result, ok := results[protocol.ToolUseRef{MessageID: id, ToolUseID: use.ID}]
			if use.Error != "" || !ok {
				result = failedUse(use.ID, use.Error)
				if use.Error == "" {
					result = failedUse(use.ID, "The result of the call is unknown.")
				}
			}
			answers.Content = append(answers.Content, result)
		}
	}
	if len(own.Content) > 0 {
		s.messages = append(s.messages, own)
	}
	if len(answers.Content) > 0 {
		s.messages = append(s.messages, answers)
	}
	return s
}

// toolUseOf returns a call as its model gets it again, with a name that providers accept.
func toolUseOf(use protocol.ModelToolUse) protocol.ToolUseContent {
	input := use.Arguments
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	name := model.Cut(model.Sanitized(use.Name), model.MaxName)
	if name == "" {
		name = "unnamed"
	}
	return protocol.ToolUseContent{ID: use.ID, Name: name, Input: input}
}

func asContent(blocks []protocol.ToolResultBlock) []protocol.ContentBlock {
	content := make([]protocol.ContentBlock, len(blocks))
	for i, b := range blocks {
		content[i] = b
	}
	return content
}
