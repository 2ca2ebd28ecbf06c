package broker

import (
	"context"

	"assent/protocol"
)

// RepeatCall asks whether a call is made once more that has failed. The answer is no where the person gave none.
// No grant and no rule answers this: what a person allowed in advance is a call, and not two of them.
func (b *Broker) RepeatCall(ctx context.Context, t Asker, q protocol.RepeatMcpCall) (bool, error) {
	if !b.opts.FrontEnd().Elicitation {
		return false, nil
	}
	answer, err := t.Ask(ctx, b.question(protocol.Origin{}, q))
	if ended(err) != nil {
		return false, nil
	}
	return err == nil && answer.Response == protocol.YesButtonClicked, err
}
