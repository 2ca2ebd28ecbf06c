package broker

import (
	"context"

	"assent/protocol"
	"assent/sidecar/model"
)

// choice is a model that a person chose in place of the proposed one.
type choice struct {
	modelID string
	// messageID is the call's during which they did, or 0 where they also allowed the server's next requests.
	messageID int64
}

// propose returns the model to propose, and why: the one that the person chose earlier in the same call, or
// with what they allowed the server from then on, as long as it can answer what is asked now; or else the
// one that suits the server's wishes.
func (b *Broker) propose(ctx context.Context, models Models, origin protocol.Origin, request *protocol.McpSamplingRequest) (*protocol.Model, string, error) {
	proposed, why, err := models.Propose(ctx, request)
	b.mu.Lock()
	chosen, ok := b.chosen[origin.ServerName]
	b.mu.Unlock()
	if !ok || chosen.messageID != 0 && chosen.messageID != origin.MessageID || proposed != nil && proposed.ID == chosen.modelID {
		return proposed, why, err
	}
	own, findErr := models.Find(ctx, chosen.modelID)
	if findErr != nil || !model.Suits(*own, request) {
		return proposed, why, err
	}
	return own, "You chose it when this server asked last.", nil
}

// choseFor notes what a person made of the proposed model; granted: they also allowed the next requests.
func (b *Broker) choseFor(origin protocol.Origin, proposed, answering *protocol.Model, granted bool) {
	if answering == nil || proposed != nil && proposed.ID == answering.ID || origin.MessageID == 0 && !granted {
		return
	}
	c := choice{modelID: answering.ID, messageID: origin.MessageID}
	if granted {
		c.messageID = 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.chosen[origin.ServerName] = c
}
