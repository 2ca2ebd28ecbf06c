package terminal

import (
	"context"
	"encoding/json"
	"strings"

	"assent/protocol"
)

// allow shows the call or read that a model requests of a server, and asks whether it may run.
func (p *person) allow(ctx context.Context, a *openAsk, problems []protocol.FieldProblem) (*protocol.AskResponseParams, error) {
	response := a.response(protocol.YesButtonClicked)
	if problems != nil {
		p.s.note("That cannot be sent:\n%s", problemLines(problems))
	} else {
		p.s.note("\n%s", describe(a))
	}
	choices := []string{"yes", "no"}
	prompt := "Approve? (yes, no; :cancel dismisses it): "
	if q, ok := a.Question.(protocol.UseMcpTool); ok {
		if q.Destructive {
			p.s.note("By what its server says, or does not say, it may destroy something.")
		}
		if text := changeText(q.Changed); text != "" {
			p.s.note("%s", strings.TrimSuffix(text, "\n"))
		}
		if q.HostName == "" {
			choices = append(choices, "edit")
			prompt = "Approve? (yes, no, edit; :cancel dismisses it): "
		}
	}
	for {
		word, err := p.choose(ctx, prompt, choices...)
		switch {
		case err != nil:
			return nil, err
		case word == "no":
			return nil, errDeclined
		case word == "yes":
			return response, nil
		}
		text, err := p.line(ctx, false, "Arguments, as a JSON object, or nothing to leave them: ")
		if err != nil {
			return nil, err
		}
		var members map[string]json.RawMessage
		switch {
		case text == "":
		case json.Unmarshal([]byte(text), &members) != nil || members == nil:
			p.s.note("That is not a JSON object.")
		default:
			response.ToolArguments = json.RawMessage(text)
			return response, nil
		}
	}
}
