// Package model answers sampling requests with whatever models the person has.
//
// A [Provider] is one way to reach models; a [Set] is all of them, in the person's order. Both may
// be used from any goroutine. The package asks nobody's permission and knows no MCP: the broker
// decides what is generated, and for whom.
package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"assent/protocol"
)

// The ways in which a completion fails. An error of [Set.Generate] wraps one of them and is a
// sentence for the person; the server is told no more than which of them it was.
var (
	ErrNone    = errors.New("no model is available")
	ErrFailed  = errors.New("the model failed")
	ErrRefused = errors.New("the model refused")
	ErrStalled = errors.New("the model stopped answering")
)

// DefaultPatience is how long a model may be silent. Local ones are loaded from disk first.
const DefaultPatience = 2 * time.Minute

// Completion is a whole answer.
type Completion struct {
	Text string
	// Model is the name that the provider gave.
	Model string
	// StopReason is in MCP's words.
	StopReason string
}

// Provider is one way to reach models.
type Provider interface {
	// Models returns the models that can answer now. An error means that they cannot be known now.
	Models(ctx context.Context) ([]protocol.Model, error)
	// Generate asks the model with the given id, the part after "PROVIDER:". It calls emit with
	// each piece of the text, in order.
	Generate(ctx context.Context, id string, request *protocol.McpSamplingRequest, emit func(string)) (*Completion, error)
}

// Set is every model that the person has.
type Set struct {
	providers map[protocol.ModelProvider]Provider
	settings  protocol.ModelSettings
	patience  time.Duration
}

// NewSet returns the models of the given providers; the settings say which comes first.
func NewSet(providers map[protocol.ModelProvider]Provider, settings protocol.ModelSettings, patience time.Duration) *Set {
	return &Set{providers: providers, settings: settings, patience: patience}
}

// List returns the models that can answer now, the one to propose first. A provider that cannot say
// is left out, and its error returned beside the others' models.
func (s *Set) List(ctx context.Context) ([]protocol.Model, error) {
	order := []protocol.ModelProvider{protocol.ProviderOpenAI, protocol.ProviderVSCode, protocol.ProviderDemo}
	if i := slices.Index(order, s.settings.Provider); i > 0 {
		order = slices.Insert(slices.Delete(order, i, i+1), 0, s.settings.Provider)
	}
	preferred := string(protocol.ProviderVSCode) + ":" + s.settings.VSCodeModel
	var models []protocol.Model
	var errs []error
	for _, name := range order {
		p := s.providers[name]
		if p == nil {
			continue
		}
		found, err := p.Models(ctx)
		if err != nil {
			errs = append(errs, fmt.Errorf("list the models of %s: %w", name, err))
		}
		if i := slices.IndexFunc(found, func(m protocol.Model) bool { return m.ID == preferred }); i > 0 {
			found = append([]protocol.Model{found[i]}, slices.Delete(slices.Clone(found), i, i+1)...)
		}
		models = append(models, found...)
	}
	return models, errors.Join(errs...)
}

// Find returns the model with this id, or the one to propose where id is empty.
func (s *Set) Find(ctx context.Context, id string) (*protocol.Model, error) {
	models, err := s.List(ctx)
	for _, m := range models {
		if id == "" || m.ID == id {
			return &m, nil
		}
	}
	if id != "" {
		return nil, errors.Join(fmt.Errorf("%w: there is no model %q now", ErrNone, id), err)
	}
	return nil, errors.Join(fmt.Errorf("%w: configure one in the settings under Assent: Model", ErrNone), err)
}

// Generate asks a model of [Set.List]. It gives up when the model is silent for too long.
func (s *Set) Generate(ctx context.Context, id string, request *protocol.McpSamplingRequest, emit func(string)) (*Completion, error) {
	name, rest, _ := strings.Cut(id, ":")
	p := s.providers[protocol.ModelProvider(name)]
	if p == nil {
		return nil, fmt.Errorf("%w: there is no model %q", ErrNone, id)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(s.patience, func() {
		cancel(fmt.Errorf("%w: nothing came for %v", ErrStalled, s.patience))
	})
	defer silence.Stop()
	completion, err := p.Generate(ctx, rest, request, func(piece string) {
		silence.Reset(s.patience)
		emit(piece)
	})
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, ErrStalled) {
			return nil, cause
		}
		return nil, err
	}
	return completion, nil
}
