package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"golang.org/x/term"

	"assent/protocol"
)

// prompter is a way to ask a person: in dialogs, or line by line. The methods that ask are called between begin and done,
// and end with ctx. Their errors [errDeclined] and [errDismissed] are answers of the person, which MCP distinguishes as
// decline and cancel.
type prompter interface {
	// begin waits until the person is free, and occupies them until done is called.
	begin(ctx context.Context) (done func(), err error)
	// fill asks the person to fill in a form, and returns the JSON object.
	fill(ctx context.Context, words formWords, fields []protocol.Field, kept *filled, problems []protocol.FieldProblem) (json.RawMessage, error)
	visit(ctx context.Context, a *openAsk, page protocol.McpURLElicitation) (*protocol.AskResponseParams, error)
	approve(ctx context.Context, a *openAsk, s protocol.McpSampling, problems []protocol.FieldProblem) (*protocol.AskResponseParams, error)
	review(ctx context.Context, a *openAsk, r protocol.McpSamplingReview, problems []protocol.FieldProblem) (*protocol.AskResponseParams, error)
	// allow asks whether a model may use a tool, or read a resource.
	allow(ctx context.Context, a *openAsk, problems []protocol.FieldProblem) (*protocol.AskResponseParams, error)
	// permit asks whether an agent may do something.
	permit(ctx context.Context, a *openAsk, q protocol.HostPermission) (*protocol.AskResponseParams, error)
	// repeat asks whether to repeat a failed call.
	repeat(ctx context.Context, a *openAsk) (*protocol.AskResponseParams, error)
	input(ctx context.Context, params *protocol.PromptInputParams) (*string, error)
	// confirm asks whether a server may run as it is configured.
	confirm(ctx context.Context, params *protocol.ConfirmServerParams) (bool, error)
	// page asks whether the person goes to a page for something other than an ask.
	page(ctx context.Context, params *protocol.OpenURLParams) (bool, error)
	// report writes what the person did, unless the screen shows that already.
	report(text string)
	// lineReader returns a reader of lines that are not answers. The reader and the questions take turns.
	lineReader() *person
	// restore restores the terminal's state, even during a question.
	restore()
}

// formWords are the texts of a form.
type formWords struct {
	// about says who asks for what.
	about string
	// question is asked once the form is filled in. send, decline and cancel are the answers to it; an empty decline is
	// not offered.
	question, send, decline, cancel string
	// secrets reports whether the person may mark answers as secret.
	secrets bool
}

// personAnswerer is the answerer that asks a person.
type personAnswerer struct {
	prompter
	s *session
}

var _ answerer = (*personAnswerer)(nil)

// newPersonAnswerer returns an answerer that asks in dialogs if they can be drawn, and otherwise line by line.
func newPersonAnswerer(s *session) *personAnswerer {
	if tty, ok := s.o.Stdin.(*os.File); ok && s.stderr.display != nil {
		if state, err := term.GetState(int(tty.Fd())); err == nil {
			return &personAnswerer{&dialogs{s: s, turn: make(chan struct{}, 1), tty: tty, state: state}, s}
		}
	}
	return &personAnswerer{newPerson(s), s}
}

// take implements [answerer].
func (o *personAnswerer) take(a *openAsk) (reply, error) {
	var kept filled // the form keeps it if the sidecar refuses the answer
	return func(ctx context.Context, problems []protocol.FieldProblem) (*protocol.AskResponseParams, error) {
		done, err := o.begin(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		response, err := o.ask(ctx, a, &kept, problems)
		switch {
		case errors.Is(err, errDeclined):
			o.report("You declined.")
			return a.response(protocol.NoButtonClicked), nil
		case errors.Is(err, errDismissed):
			if !o.s.gone() { // otherwise the run ends and reports the reason
				o.report("You dismissed the question.")
			}
			return a.response(protocol.CancelButtonClicked), nil
		}
		return response, err
	}, nil
}

func (o *personAnswerer) ask(ctx context.Context, a *openAsk, kept *filled, problems []protocol.FieldProblem) (*protocol.AskResponseParams, error) {
	switch q := a.Question.(type) {
	case protocol.McpElicitation:
		words := formWords{
			about: describe(a), question: "Send this to the server?", secrets: true,
			send: "Send it", decline: "Decline: say no to the server", cancel: "Cancel: dismiss it without an answer",
		}
		content, err := o.fill(ctx, words, q.ElicitationRequest.Fields, kept, problems)
		if err != nil {
			return nil, err
		}
		response := a.response(protocol.YesButtonClicked)
		response.ElicitationContent, response.SecretFields = content, kept.secret
		return response, nil
	case protocol.McpURLElicitation:
		return o.visit(ctx, a, q)
	case protocol.McpSampling:
		return o.approve(ctx, a, q, problems)
	case protocol.McpSamplingReview:
		return o.review(ctx, a, q, problems)
	case protocol.UseMcpTool, protocol.AccessMcpResource:
		return o.allow(ctx, a, problems)
	case protocol.RepeatMcpCall:
		return o.repeat(ctx, a)
	case protocol.HostPermission:
		return o.permit(ctx, a, q)
	default:
		o.s.note("\n%s", describe(a))
		return a.response(protocol.CancelButtonClicked), nil
	}
}

// inTurn waits until the person is free, and then calls ask.
func inTurn[T any](ctx context.Context, o *personAnswerer, ask func() (T, error)) (T, error) {
	done, err := o.begin(ctx)
	if err != nil {
		var none T
		return none, err
	}
	defer done()
	return ask()
}

// input implements [answerer].
func (o *personAnswerer) input(ctx context.Context, params *protocol.PromptInputParams) (*string, error) {
	return inTurn(ctx, o, func() (*string, error) { return o.prompter.input(ctx, params) })
}

func (o *personAnswerer) page(ctx context.Context, params *protocol.OpenURLParams) (bool, error) {
	return inTurn(ctx, o, func() (bool, error) { return o.prompter.page(ctx, params) })
}

func (o *personAnswerer) confirm(ctx context.Context, params *protocol.ConfirmServerParams) (bool, error) {
	return inTurn(ctx, o, func() (bool, error) { return o.prompter.confirm(ctx, params) })
}

// arguments asks the person to fill in arguments of a tool, and returns them as a JSON object.
func (o *personAnswerer) arguments(ctx context.Context, words formWords, fields []protocol.Field) (json.RawMessage, error) {
	return inTurn(ctx, o, func() (json.RawMessage, error) {
		var kept filled
		return o.fill(ctx, words, fields, &kept, nil)
	})
}

// completions implements [answerer]. A person has no completions ready.
func (*personAnswerer) completions() []completion { return nil }

// end implements [answerer].
func (*personAnswerer) end(context.Context) error { return nil }
