package broker

import (
	"fmt"
	"strings"

	"assent/protocol"
	"assent/sidecar/model"
	"assent/sidecar/task"
)

// longestWord bounds a model's name and a stop reason that a person types, in bytes.
const longestWord = 200

// handWritten returns the answer of a person who writes the completion in place of a model. No model is asked, so no
// budget is spent, and nothing of the request leaves.
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
		problem("text", "An empty text is no answer.")
	}
	switch {
	case strings.TrimSpace(written.Model) == "":
		problem("model", "The server must get a model's name.")
	case len(written.Model) > longestWord:
		problem("model", "There can be at most %d bytes.", longestWord)
	}
	switch {
	case written.StopReason == model.StopToolUse:
		problem("stopReason", "The answer has no calls of tools, so it cannot end with %s.", model.StopToolUse)
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
