package broker

import (
	"context"

	"assent/protocol"
	"assent/sidecar/model"
)

// propose returns the model to propose, and why: the one that the person chose when the server asked last,
// as long as it can answer what is asked now, or else the one that suits the server's wishes.
func (b *Broker) propose(ctx context.Context, models Models, serverName string, request *protocol.McpSamplingRequest) (*protocol.Model, string, error) {
	proposed, why, err := models.Propose(ctx, request)
	b.mu.Lock()
	id := b.chosen[serverName]
	b.mu.Unlock()
	if id == "" || proposed != nil && proposed.ID == id {
		return proposed, why, err
	}
	own, findErr := models.Find(ctx, id)
	if findErr != nil || !model.Suits(*own, request) {
		return proposed, why, err
	}
	return own, "You chose it when this server asked last.", nil
}

// choseFor notes that the person chose another model than the proposed one.
func (b *Broker) choseFor(serverName string, proposed, answering *protocol.Model) {
	if answering == nil || proposed != nil && proposed.ID == answering.ID {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.chosen[serverName] = answering.ID
}
