package terminal

import (
	"context"

	"assent/protocol"
)

// repeat asks whether to repeat a failed call.
func (p *person) repeat(ctx context.Context, a *openAsk) (*protocol.AskResponseParams, error) {
	p.s.note("\n%s", describe(a))
	word, err := p.choose(ctx, "Call it once more? (yes, no; :cancel dismisses it): ", "yes", "no")
	switch {
	case err != nil:
		return nil, err
	case word == "no":
		return nil, errDeclined
	default:
		return a.response(protocol.YesButtonClicked), nil
	}
}

// repeat asks whether to repeat a failed call.
func (q *dialogs) repeat(ctx context.Context, a *openAsk) (*protocol.AskResponseParams, error) {
	at, err := q.choose(ctx, safe(describe(a))+"\n", "Call it once more?", true, "Call it once more", "Leave it as it failed")
	switch {
	case err != nil:
		return nil, err
	case at == 1:
		return nil, errDeclined
	default:
		return a.response(protocol.YesButtonClicked), nil
	}
}
