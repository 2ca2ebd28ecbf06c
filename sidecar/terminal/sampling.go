package terminal

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"assent/protocol"
)

// visit implements [prompter]. It shows the whole URL of a page and asks for consent. It opens nothing.
func (p *person) visit(ctx context.Context, a *openAsk, q protocol.McpURLElicitation) (*protocol.AskResponseParams, error) {
	p.s.note("\n%s\n%s", describe(a), addressText(q.URL, plain))
	p.s.note("(no declines, :cancel dismisses it)")
	word, err := p.choose(ctx, "Do you consent, and go there yourself? (yes, no): ", "yes", "no")
	switch {
	case err != nil:
		return nil, err
	case word == "no":
		return nil, errDeclined
	}
	_, err = p.s.sidecar.OpenAskURL(ctx, &protocol.OpenAskURLParams{TaskID: a.taskID, AskID: a.AskID})
	if err != nil || !q.AwaitsCompletion {
		return nil, alreadySettled(err) // going to the page was the answer
	}
	if _, err := p.line(ctx, false, "Press Enter when you are done there, unless the server says so first: "); err != nil {
		return nil, err
	}
	return a.response(protocol.YesButtonClicked), nil
}

// approve shows a request for a completion, and asks whether it may go to a model.
func (p *person) approve(ctx context.Context, a *openAsk, q protocol.McpSampling, problems []protocol.FieldProblem) (*protocol.AskResponseParams, error) {
	if problems != nil {
		p.s.note("That cannot be sent:\n%s", problemLines(problems))
	} else {
		p.s.note("\n%s\n%s", describe(a), requestText(q.SamplingRequest))
	}
	response := a.response(protocol.YesButtonClicked)
	model := q.Model
	if q.GrantReason != "" {
		p.s.note("%s", q.GrantReason)
	}
	for {
		if model == nil {
			p.s.note("There is no model for this request.")
		} else {
			p.s.note("It would go to %s (%s). %s", model.Name, model.ID, q.ModelReason)
		}
		word, err := p.choose(ctx, "Approve? (yes, no, model, answer; :cancel dismisses it): ", "yes", "no", "model", "answer")
		switch {
		case err != nil:
			return nil, err
		case word == "no":
			return nil, errDeclined
		case word == "yes":
			return response, p.conditions(ctx, q, response)
		case word == "answer":
			response := a.response(protocol.YesButtonClicked)
			response.HandWritten, err = p.handWritten(ctx)
			return response, err
		}
		chosen, err := p.model(ctx, a.Question.From().ServerName)
		if err != nil {
			return nil, err
		}
		if chosen != nil {
			model, response.ModelID = chosen, chosen.ID
		}
	}
}

// handWriter is the model's name for a completion that a person writes, unless they give another name.
const handWriter = "human"

// handWritten reads a completion that the person types in one line. If the sidecar refuses it, the person is asked
// again.
func (p *person) handWritten(ctx context.Context) (*protocol.HandWritten, error) {
	text, err := p.line(ctx, false, "Your completion: ")
	if err != nil {
		return nil, err
	}
	name, err := p.line(ctx, false, "The model's name that the server gets ("+handWriter+"): ")
	if err != nil {
		return nil, err
	}
	return &protocol.HandWritten{Text: text, Model: cmp.Or(name, handWriter), StopReason: "endTurn"}, nil
}

// conditions asks two questions on which an approval depends: whether to send what looks like a secret, and whether to
// send the conversation along. A no to the first one declines the request.
func (p *person) conditions(ctx context.Context, q protocol.McpSampling, response *protocol.AskResponseParams) error {
	if len(q.Secrets) > 0 {
		for _, secret := range q.Secrets {
			p.s.note("  It holds what looks like %s: %s", secret.Description, oneLine(secret.Text, 80))
		}
		word, err := p.choose(ctx, "Send it to the model all the same? (yes, no): ", "yes", "no")
		if err != nil {
			return err
		}
		if word == "no" {
			return errDeclined
		}
		response.ConfirmSecrets = true
	}
	if q.Context != nil {
		p.s.note("The server wants this to go before its messages:\n%s", q.Context.Text)
		word, err := p.choose(ctx, "Send it along? (yes, no): ", "yes", "no")
		if err != nil {
			return err
		}
		response.IncludeContext = word == "yes"
	}
	return nil
}

// model lets the person choose a model. It returns nil to keep the current one.
func (p *person) model(ctx context.Context, serverName string) (*protocol.Model, error) {
	list, err := p.s.sidecar.ListModels(ctx, &protocol.ListModelsParams{ServerName: serverName})
	if err != nil {
		return nil, err
	}
	if len(list.Models) == 0 {
		p.s.note("There is no model to choose.")
		return nil, nil
	}
	for i, m := range list.Models {
		p.s.note("  %d. %s (%s)", i+1, m.Name, m.ID)
	}
	for {
		text, err := p.line(ctx, false, "Number, or nothing to leave it: ")
		if err != nil || text == "" {
			return nil, err
		}
		if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n >= 1 && n <= len(list.Models) {
			return &list.Models[n-1], nil
		}
		p.s.note("Type a number from 1 to %d.", len(list.Models))
	}
}

// review shows a model's answer, and asks whether the server gets it.
func (p *person) review(ctx context.Context, a *openAsk, q protocol.McpSamplingReview, problems []protocol.FieldProblem) (*protocol.AskResponseParams, error) {
	if problems != nil {
		p.s.note("That is not possible:\n%s", problemLines(problems))
	} else {
		p.s.note("\n%s", describe(a))
		for _, block := range q.SamplingResponse.Content {
			p.s.note("  %s", strings.ReplaceAll(blockText(block), "\n", "\n  "))
		}
	}
	if q.Problem != "" {
		p.s.note("%s", q.Problem)
	}
	word, err := p.choose(ctx, "Send it to the server? (yes, no, regenerate): ", "yes", "no", "regenerate")
	switch {
	case err != nil:
		return nil, err
	case word == "no":
		return nil, errDeclined
	case word == "regenerate":
		return a.response(protocol.RegenerateButtonClicked), nil
	}
	return a.response(protocol.YesButtonClicked), nil
}

// requestText returns a request for a completion, for reading.
func requestText(r protocol.McpSamplingRequest) string {
	var b strings.Builder
	if r.SystemPrompt != "" {
		fmt.Fprintf(&b, "  system: %s\n", r.SystemPrompt)
	}
	for _, m := range r.Messages {
		for _, block := range m.Content {
			fmt.Fprintf(&b, "  %s: %s\n", m.Role, strings.ReplaceAll(blockText(block), "\n", "\n    "))
		}
	}
	for _, t := range r.Tools {
		fmt.Fprintf(&b, "  offers the tool %s: %s\n", t.Name, oneLine(t.Description, 200))
	}
	fmt.Fprintf(&b, "  at most %d tokens", r.MaxTokens)
	if r.Temperature != nil {
		fmt.Fprintf(&b, ", temperature %g", *r.Temperature)
	}
	if len(r.StopSequences) > 0 {
		fmt.Fprintf(&b, ", stopping at %q", r.StopSequences)
	}
	return b.String()
}
