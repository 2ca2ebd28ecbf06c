package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assent/protocol"
)

// visit implements [prompter]. It shows the whole URL of a page and asks for consent. It opens nothing.
func (q *dialogs) visit(ctx context.Context, a *openAsk, page protocol.McpURLElicitation) (*protocol.AskResponseParams, error) {
	// Facts come first, because the text below them is from the server.
	text := "You are asked to go to a page.\n" + addressText(page.URL, strong) + "\n\n" + safe(describe(a))
	at, err := q.choose(ctx, text, "Do you consent, and go there yourself?", true,
		"Yes, I go there myself", "Decline: say no to the server", "Cancel: dismiss it without an answer")
	switch {
	case err != nil:
		return nil, err
	case at == 1:
		return nil, errDeclined
	case at == 2:
		return nil, errDismissed
	}
	q.s.note("\n%s", describe(a)) // the URL is written when the sidecar asks to open it
	_, err = q.s.sidecar.OpenAskURL(ctx, &protocol.OpenAskURLParams{TaskID: a.taskID, AskID: a.AskID})
	if err != nil || !page.AwaitsCompletion {
		return nil, alreadySettled(err) // going to the page was the answer
	}
	// The server may report the end first, which ends ctx and the dialog.
	if _, err := q.choose(ctx, "Go to:\n  "+safe(page.URL), "Are you done there?", false, "Yes, I am done"); err != nil {
		return nil, err
	}
	return a.response(protocol.YesButtonClicked), nil
}

// approve shows a request for a completion, and asks whether it may go to a model.
func (q *dialogs) approve(ctx context.Context, a *openAsk, s protocol.McpSampling, problems []protocol.FieldProblem) (*protocol.AskResponseParams, error) {
	response := a.response(protocol.YesButtonClicked)
	model, request := s.Model, s.SamplingRequest
	for {
		var b strings.Builder
		if problems != nil {
			fmt.Fprintf(&b, "That cannot be sent:\n%s\n", safe(problemLines(problems)))
		}
		fmt.Fprintf(&b, "%s\n%s\n", safe(describe(a)), safe(requestText(request)))
		if s.GrantReason != "" {
			fmt.Fprintf(&b, "%s\n", safe(s.GrantReason))
		}
		if model == nil {
			b.WriteString("There is no model for this request.")
		} else {
			fmt.Fprintf(&b, "It would go to %s (%s). %s", strong(oneLine(model.Name, 200)), safe(model.ID), safe(s.ModelReason))
		}
		at, err := q.choose(ctx, b.String(), "May it go to the model?", true,
			"Approve", "Edit it first", "Choose another model", "Answer as the model: write the completion yourself",
			"Decline: say no to the server", "Cancel: dismiss it without an answer")
		if err != nil {
			return nil, err
		}
		switch at {
		case 0:
			if err := q.conditions(ctx, s, response); err != nil {
				return nil, err
			}
			q.s.note("\n%s\nYou approved it.", describe(a))
			return response, nil
		case 1:
			edit, err := q.editRequest(ctx, request, s.SamplingRequest.MaxTokens)
			if err == nil && edit != nil {
				response.SamplingEdit, problems = edit, nil
				request.Messages, request.SystemPrompt = edit.Messages, edit.SystemPrompt
				request.MaxTokens, request.Temperature = edit.MaxTokens, edit.Temperature
			}
			if err != nil && !errors.Is(err, errDismissed) { // Esc ends only the editing
				return nil, err
			}
		case 2:
			chosen, err := q.model(ctx, a.Question.From().ServerName)
			if err == nil && chosen != nil {
				model, response.ModelID = chosen, chosen.ID
			}
			if err != nil && !errors.Is(err, errDismissed) {
				return nil, err
			}
		case 3:
			written, err := q.handWritten(ctx)
			if err == nil {
				q.s.note("\n%s\nYou answered as the model.", describe(a))
				response := a.response(protocol.YesButtonClicked)
				response.HandWritten = written
				return response, nil
			}
			if !errors.Is(err, errDismissed) {
				return nil, err
			}
		case 4:
			return nil, errDeclined
		default:
			return nil, errDismissed
		}
	}
}

// handWritten lets the person write a completion.
func (q *dialogs) handWritten(ctx context.Context) (*protocol.HandWritten, error) {
	e := &editor{}
	text := e.text("the completion", "")
	name := e.line("the model's name that the server gets", handWriter, func(text string) error {
		if strings.TrimSpace(text) == "" {
			return errors.New("type a name")
		}
		return nil
	})
	stopReason := e.line("stop reason: endTurn, stopSequence, maxTokens or another word; nothing sends none", "endTurn", anything)
	if err := q.run(ctx, e.dialog()); err != nil {
		return nil, err
	}
	return &protocol.HandWritten{Text: text(), Model: name(), StopReason: stopReason()}, nil
}

// conditions asks two questions on which an approval depends: whether to send what looks like a secret, and whether to
// send the conversation along. A no to the first one declines the request.
func (q *dialogs) conditions(ctx context.Context, s protocol.McpSampling, response *protocol.AskResponseParams) error {
	if len(s.Secrets) > 0 {
		var b strings.Builder
		for _, secret := range s.Secrets {
			fmt.Fprintf(&b, "The server's request holds what looks like %s:\n  %s\n", safe(secret.Description), oneLine(secret.Text, 80))
		}
		at, err := q.choose(ctx, b.String(), "Send it to the model all the same?", true, "No, decline", "Yes, send the rest")
		switch {
		case err != nil:
			return err
		case at == 0:
			return errDeclined
		}
		response.ConfirmSecrets = true
	}
	if s.Context != nil {
		text := "The server wants this to go before its messages:\n\n" + safe(s.Context.Text)
		at, err := q.choose(ctx, text, "Send it along?", true, "No, without it", "Yes, send it along")
		if err != nil {
			return err
		}
		response.IncludeContext = at == 1
	}
	return nil
}

// model lets the person choose a model. It returns nil if there is none.
func (q *dialogs) model(ctx context.Context, serverName string) (*protocol.Model, error) {
	list, err := q.s.sidecar.ListModels(ctx, &protocol.ListModelsParams{ServerName: serverName})
	if err != nil || len(list.Models) == 0 {
		return nil, err
	}
	names := make([]string, len(list.Models))
	for i, m := range list.Models {
		names[i] = oneLine(fmt.Sprintf("%s (%s)", m.Name, m.ID), 200)
	}
	at, err := q.choose(ctx, "Esc keeps it.", "Which model?", false, names...)
	if err != nil {
		return nil, err
	}
	return &list.Models[at], nil
}

// editRequest lets the person edit the texts of a request, and the bounds of its answer.
func (q *dialogs) editRequest(ctx context.Context, r protocol.McpSamplingRequest, most int64) (*protocol.SamplingEdit, error) {
	e := &editor{}
	system := e.text("system prompt", r.SystemPrompt)
	messages := make([]protocol.SamplingMessage, len(r.Messages))
	var takes []func()
	for i, m := range r.Messages {
		messages[i] = m
		messages[i].Content = slices.Clone(m.Content)
		takes = append(takes, e.blocks(string(m.Role), messages[i].Content))
	}
	tokens := e.line(fmt.Sprintf("most tokens of the answer (at most %d)", most), strconv.FormatInt(r.MaxTokens, 10), func(text string) error {
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < 1 || n > most {
			return fmt.Errorf("type a whole number from 1 to %d", most)
		}
		return nil
	})
	shown := ""
	if r.Temperature != nil {
		shown = strconv.FormatFloat(*r.Temperature, 'g', -1, 64)
	}
	temperature := e.line("temperature, from 0 to 2; nothing leaves it to the model", shown, func(text string) error {
		if n, err := strconv.ParseFloat(text, 64); text != "" && (err != nil || n < 0 || n > 2) {
			return errors.New("type a number from 0 to 2, or nothing")
		}
		return nil
	})
	if err := q.run(ctx, e.dialog()); err != nil {
		return nil, err
	}
	for _, take := range takes {
		take()
	}
	edit := &protocol.SamplingEdit{Messages: messages, SystemPrompt: system()}
	edit.MaxTokens, _ = strconv.ParseInt(tokens(), 10, 64) // checked above
	if text := temperature(); text != "" {
		n, _ := strconv.ParseFloat(text, 64)
		edit.Temperature = &n
	}
	return edit, nil
}

// review shows a model's answer, and asks whether the server gets it.
func (q *dialogs) review(ctx context.Context, a *openAsk, r protocol.McpSamplingReview, problems []protocol.FieldProblem) (*protocol.AskResponseParams, error) {
	content := slices.Clone(r.SamplingResponse.Content)
	response := a.response(protocol.YesButtonClicked)
	for {
		var b strings.Builder
		if problems != nil {
			fmt.Fprintf(&b, "That is not possible:\n%s\n", safe(problemLines(problems)))
		}
		fmt.Fprintf(&b, "%s\n\n", safe(describe(a)))
		for _, block := range content {
			fmt.Fprintf(&b, "%s\n", safe(blockText(block)))
		}
		if r.Problem != "" {
			fmt.Fprintf(&b, "\n%s\n", safe(r.Problem))
		}
		at, err := q.choose(ctx, b.String(), "Does the server get it?", true,
			"Send it to the server", "Edit it first", "Have another answer written", "Decline: the server gets none", "Cancel: dismiss it")
		if err != nil {
			return nil, err
		}
		switch at {
		case 0:
			return response, nil
		case 1:
			e := &editor{}
			edited := slices.Clone(content)
			take := e.blocks("answer", edited)
			if len(e.pages) == 0 {
				problems = []protocol.FieldProblem{{Message: errNotWhole.Error()}}
				continue
			}
			err := q.run(ctx, e.dialog())
			if err == nil {
				take()
				content, response.SamplingContent, problems = edited, edited, nil
			} else if !errors.Is(err, errDismissed) {
				return nil, err
			}
		case 2:
			return a.response(protocol.RegenerateButtonClicked), nil
		case 3:
			return nil, errDeclined
		default:
			return nil, errDismissed
		}
	}
}

// editor builds a dialog with a page for each text to edit. It does not change a text that it cannot show exactly.
type editor struct{ pages []*page }

// text adds a page for a text, if the control shows it exactly, and returns a function that returns the edited text.
func (e *editor) text(title, raw string) func() string {
	typed, c := newTypedText(raw, func(value *string) control { return textControl(value, anything) })
	if !typed.whole() {
		return func() string { return raw }
	}
	e.pages = append(e.pages, &page{text: editingText, title: title, control: c})
	return func() string { text, _ := typed.text(); return text }
}

func editingText() string { return "Esc leaves everything as it was." }

// line adds a page for one line, and returns a function that returns the edited line.
func (e *editor) line(title, raw string, check func(string) error) func() string {
	typed, c := newTypedText(raw, func(value *string) control { return lineControl(value, false, check) })
	e.pages = append(e.pages, &page{text: editingText, title: title, control: c})
	return func() string { text, _ := typed.text(); return text }
}

// blocks adds a page for each text among content blocks, and returns a function that puts the edited texts back into
// the blocks.
func (e *editor) blocks(title string, blocks []protocol.ContentBlock) func() {
	takes := make([]func(), 0, len(blocks))
	for i, block := range blocks {
		if c, ok := block.(protocol.TextContent); ok {
			text := e.text(title, c.Text)
			takes = append(takes, func() { c.Text = text(); blocks[i] = c })
		}
	}
	return func() {
		for _, take := range takes {
			take()
		}
	}
}

func (e *editor) dialog() *dialog { return &dialog{pages: e.pages} }
