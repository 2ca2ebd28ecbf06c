package broker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"assent/protocol"
	"assent/sidecar/model"
	"assent/sidecar/task"
)

// maxTemperature is the maximum that any provider accepts.
const maxTemperature = 2

// edited returns the edited request for the model, or nil if it equals the server's. The error lists
// the problems by field.
func edited(asked *protocol.McpSamplingRequest, edit *protocol.SamplingEdit) (*protocol.McpSamplingRequest, error) {
	if edit == nil {
		return nil, nil
	}
	if problems := checkEdit(asked, edit); problems != nil {
		return nil, &protocol.Error{
			Code:    protocol.CodeInvalidAnswer,
			Message: "The edited request cannot be sent: " + problems[0].Message,
			Data:    protocol.InvalidAnswerData{Problems: problems},
		}
	}
	sent := *asked
	sent.SystemPrompt, sent.Temperature, sent.MaxTokens = edit.SystemPrompt, edit.Temperature, edit.MaxTokens
	if edit.Messages != nil {
		sent.Messages = edit.Messages
	}
	before, err := json.Marshal(asked)
	if err != nil {
		return nil, fmt.Errorf("compare the edited request: %w", err)
	}
	after, err := json.Marshal(sent)
	if err != nil {
		return nil, fmt.Errorf("compare the edited request: %w", err)
	}
	if bytes.Equal(before, after) {
		return nil, nil
	}
	return &sent, nil
}

func checkEdit(asked *protocol.McpSamplingRequest, edit *protocol.SamplingEdit) []protocol.FieldProblem {
	var problems []protocol.FieldProblem
	problem := func(name, format string, args ...any) {
		problems = append(problems, protocol.FieldProblem{Name: name, Message: fmt.Sprintf(format, args...)})
	}
	if edit.Messages != nil && len(edit.Messages) == 0 {
		problem("messages", "There must be a message.")
	}
	if len(edit.Messages) > maxMessages {
		problem("messages", "There can be at most %d messages.", maxMessages)
	}
	if i, err := checkMessages(edit.Messages); err != nil {
		problem("messages", "Message %d: %v.", i+1, err)
	}
	if t := edit.Temperature; t != nil && (*t < 0 || *t > maxTemperature) {
		problem("temperature", "The temperature must be from 0 to %d.", maxTemperature)
	}
	switch {
	case edit.MaxTokens < 1:
		problem("maxTokens", "There must be at least 1 token.")
	case edit.MaxTokens > asked.MaxTokens:
		problem("maxTokens", "The server asked for at most %d tokens.", asked.MaxTokens)
	}
	return problems
}

// longestWord bounds a model's name and a stop reason typed by a person, in bytes.
const longestWord = 200

// handWritten returns the answer of a person who writes the completion. No model is asked, so no budget is spent,
// and nothing of the request is sent.
func handWritten(p *protocol.AskResponseParams) (*task.Answer, error) {
	if p.ModelID != "" || p.SamplingEdit != nil || p.IncludeContext || p.ConfirmSecrets || p.Grant != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "handWritten goes without modelId, samplingEdit, includeContext, confirmSecrets and grant: no model is asked")
	}
	written := p.HandWritten
	var problems []protocol.FieldProblem
	problem := func(name, format string, args ...any) {
		problems = append(problems, protocol.FieldProblem{Name: name, Message: fmt.Sprintf(format, args...)})
	}
	if strings.TrimSpace(written.Text) == "" {
		problem("text", "The text is empty.")
	}
	switch {
	case strings.TrimSpace(written.Model) == "":
		problem("model", "The server must get a model's name.")
	case len(written.Model) > longestWord:
		problem("model", "There can be at most %d bytes.", longestWord)
	}
	switch {
	case written.StopReason == model.StopToolUse:
		problem("stopReason", "The answer has no tool calls, so its stop reason cannot be %s.", model.StopToolUse)
	case len(written.StopReason) > longestWord:
		problem("stopReason", "There can be at most %d bytes.", longestWord)
	}
	if problems != nil {
		return nil, &protocol.Error{
			Code:    protocol.CodeInvalidAnswer,
			Message: "The answer cannot be returned: " + problems[0].Message,
			Data:    protocol.InvalidAnswerData{Problems: problems},
		}
	}
	return &task.Answer{
		Response: p.AskResponse,
		SentResponse: &protocol.McpSamplingResponse{
			Role:       protocol.RoleAssistant,
			Content:    []protocol.ContentBlock{protocol.TextContent{Text: written.Text}},
			Model:      written.Model,
			StopReason: written.StopReason,
			ByPerson:   true,
		},
	}, nil
}
