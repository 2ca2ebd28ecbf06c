package browser

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
)

// confirmation is a server that the workspace asks the person about: host.ts, ServerToConfirm.
type confirmation struct {
	ID string `json:"id"`
	// Server is as the workspace shows it: [protocol.ConfirmServerParams].
	Server  json.RawMessage `json:"server"`
	request json.RawMessage // its id
}

// offerConfirmation asks the person whether a server may run. The request is answered when the person has decided.
func (b *bridge) offerConfirmation(ctx context.Context, m message) error {
	b.mu.Lock()
	b.confirmations = append(b.confirmations, confirmation{rand.Text(), m.Params, m.ID})
	b.mu.Unlock()
	return b.tellConfirmations(ctx)
}

// decide passes on what the person decided: host/confirmed. Nothing that is unclear is a decision.
func (b *bridge) decide(ctx context.Context, params json.RawMessage) error {
	var decided struct {
		ID       string                   `json:"id"`
		Decision *protocol.ServerDecision `json:"decision"`
	}
	if err := jsonscan.Unmarshal(params, &decided); err != nil {
		return refuse(`A decision has the id of its question, and says "allowed", "refused" or nothing.`)
	}
	var result protocol.ConfirmServerResult
	if decided.Decision != nil {
		result.Decision = *decided.Decision
		if result.Decision != protocol.ServerAllowed && result.Decision != protocol.ServerRefused {
			return refuse(`A decision is "allowed" or "refused", or is left out.`)
		}
	}
	known, err := b.confirmed(ctx, func(c confirmation) bool { return c.ID == decided.ID }, result)
	if !known {
		return refuse("The question whether that server may run is no longer open.")
	}
	return err
}

// confirmed answers the workspace's request to confirm a server, and reports whether it is open. The first answer counts.
func (b *bridge) confirmed(ctx context.Context, match func(confirmation) bool, result protocol.ConfirmServerResult) (known bool, err error) {
	b.mu.Lock()
	i := slices.IndexFunc(b.confirmations, match)
	if i < 0 {
		b.mu.Unlock()
		return false, nil
	}
	done := b.confirmations[i]
	b.confirmations = slices.Delete(b.confirmations, i, i+1)
	b.mu.Unlock()
	raw, err := json.Marshal(result)
	if err == nil {
		err = b.toWorkspace(message{ID: done.request, Result: raw})
	}
	return true, errors.Join(err, b.tellConfirmations(ctx))
}

func (b *bridge) tellConfirmations(ctx context.Context) error {
	b.telling.Lock()
	defer b.telling.Unlock()
	b.mu.Lock()
	all := slices.Clone(b.confirmations)
	b.mu.Unlock()
	return b.tell(ctx, "host/confirmations", map[string]any{"confirmations": all})
}
