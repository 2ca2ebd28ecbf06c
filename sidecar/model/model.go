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
	"sync"
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

// DefaultTimeout is how long a model may be silent. Local ones are loaded from disk first.
const DefaultTimeout = 2 * time.Minute

// listTimeout bounds the wait for a provider's list of models: an ask is shown without its models
// rather than late.
const listTimeout = 3 * time.Second

// mostText bounds an answer, in bytes. What is longer is no answer but a model run wild.
const mostText = 8 << 20

// Completion is a whole answer.
type Completion struct {
	Text string
	// ToolUses are the calls that the model asks for; what it wrote beside them is Text.
	ToolUses []protocol.ToolUseContent
	// Model is the name that the provider gave.
	Model string
	// StopReason is in MCP's words.
	StopReason string
	// Usage is nil where the provider does not say.
	Usage *Usage
}

// Provider is one way to reach models. It may be used from any goroutine.
type Provider interface {
	// Models returns the models that can answer now. An error means that they cannot be known now.
	Models(ctx context.Context) ([]protocol.Model, error)
	// Generate asks the model with the given id, the part after "PROVIDER:". It calls emit with
	// each piece of the text, in order, and with nothing for other signs that the model works.
	Generate(ctx context.Context, id string, request *protocol.McpSamplingRequest, emit func(string)) (*Completion, error)
}

// order is in which providers are proposed, where the person has not said.
var order = []protocol.ModelProvider{
	protocol.ProviderOpenAI, protocol.ProviderAnthropic, protocol.ProviderGemini, protocol.ProviderOpenRouter,
	protocol.ProviderOllama, protocol.ProviderLMStudio, protocol.ProviderVLLM,
	protocol.ProviderVSCode, protocol.ProviderDemo,
}

// Set is every model that the person has, or those of them that one server may have.
type Set struct {
	providers map[protocol.ModelProvider]Provider
	settings  protocol.ModelSettings
	timeout   time.Duration
	// server is whom the set is for, allowed what it may have: nil for anything.
	server  string
	allowed []string
}

// NewSet returns the models of the given providers, under the person's settings.
func NewSet(providers map[protocol.ModelProvider]Provider, settings protocol.ModelSettings, timeout time.Duration) *Set {
	return &Set{providers: providers, settings: settings, timeout: timeout}
}

// For returns those of the models that a server may have. No other can be found or asked there.
func (s *Set) For(server string) *Set {
	forServer := *s
	forServer.server, forServer.allowed = server, nil
	named := false
	for _, rule := range s.settings.Allowed {
		if rule.ServerName == server || rule.ServerName == "*" && !named {
			named = named || rule.ServerName == server
			forServer.allowed = append([]string{}, rule.Models...) // not nil: no model at all is a rule too
		}
	}
	return &forServer
}

// List returns the models that can answer now, in the person's order, with what is known of them. A
// provider that cannot say is left out, and its error returned beside the others' models.
func (s *Set) List(ctx context.Context) ([]protocol.Model, error) {
	order := order
	if i := slices.Index(order, s.settings.Provider); i > 0 {
		order = slices.Insert(slices.Delete(slices.Clone(order), i, i+1), 0, s.settings.Provider)
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	found := make([][]protocol.Model, len(order))
	errs := make([]error, len(order))
	var wg sync.WaitGroup
	for i, name := range order {
		if p := s.providers[name]; p != nil {
			wg.Go(func() { found[i], errs[i] = p.Models(ctx) })
		}
	}
	wg.Wait()

	preferred := string(protocol.ProviderVSCode) + ":" + s.settings.VSCodeModel
	var models []protocol.Model
	for i, name := range order {
		if errs[i] != nil {
			errs[i] = fmt.Errorf("list the models of %s: %w", name, errs[i])
		}
		first := len(models)
		for _, m := range found[i] {
			if !Permits(s.allowed, m.ID) {
				continue
			}
			m.ModelFacts = facts(m, s.settings.Table)
			if m.ID == preferred {
				models = slices.Insert(models, first, m)
			} else {
				models = append(models, m)
			}
		}
	}
	return models, errors.Join(errs...)
}

// CallTools reports whether one of the models is known to call tools.
func (s *Set) CallTools(ctx context.Context) bool {
	models, _ := s.List(ctx) // those that cannot be listed cannot be asked
	if actual := withoutScripts(models); len(actual) > 0 {
		models = actual
	}
	return slices.ContainsFunc(models, func(m protocol.Model) bool {
		return m.Tools != nil && *m.Tools && !slices.Contains(m.Cannot, protocol.PartTools)
	})
}

// Find returns the model with this id, or the first where id is empty.
func (s *Set) Find(ctx context.Context, id string) (*protocol.Model, error) {
	if id != "" && !Permits(s.allowed, id) {
		return nil, s.forbidden(id)
	}
	models, err := s.List(ctx)
	for _, m := range models {
		if id == "" || m.ID == id {
			return &m, nil
		}
	}
	if id != "" {
		return nil, errors.Join(fmt.Errorf("%w: there is no model %q now. Choose another", ErrNone, id), err)
	}
	return nil, s.none(err)
}

// Propose returns the model that suits a request best, and in a line for the person why it is that
// one.
func (s *Set) Propose(ctx context.Context, request *protocol.McpSamplingRequest) (*protocol.Model, string, error) {
	models, err := s.List(ctx)
	if len(models) == 0 {
		return nil, "", s.none(err)
	}
	var why []string
	own := ofProvider(s.settings.Provider, models)
	if len(own) > 0 && len(own) < len(models) {
		models = own
		why = append(why, fmt.Sprintf("Your settings prefer %s.", s.settings.Provider))
	}
	if actual := withoutScripts(models); len(actual) > 0 {
		models = actual // a script suits anything, because it answers nothing
	}
	models, fitting := suited(models, request)
	chosen, reason, ok := Choose(models, request.ModelPreferences, nil)
	if !ok {
		return nil, "", s.none(err)
	}
	if len(why) == 0 || len(own) > 1 { // one that is preferred is not all that there is
		why = append(why, reason)
	}
	if fitting != "" {
		why = append(why, fitting)
	}
	return &chosen, strings.Join(why, " "), nil
}

func ofProvider(provider protocol.ModelProvider, models []protocol.Model) []protocol.Model {
	var own []protocol.Model
	for _, m := range models {
		if m.Provider == provider {
			own = append(own, m)
		}
	}
	return own
}

// none is the error where there is no model, and what to do about it.
func (s *Set) none(err error) error {
	if s.allowed != nil {
		return errors.Join(fmt.Errorf("%w: none that the setting assent.model.allowed lets %q have can answer now. Add one there", ErrNone, s.server), err)
	}
	return errors.Join(fmt.Errorf("%w: configure one in the settings under Assent: Model", ErrNone), err)
}

func (s *Set) forbidden(id string) error {
	return fmt.Errorf("%w: the setting assent.model.allowed does not let %q have %q. Choose another, or add it there", ErrNone, s.server, id)
}

// Generate asks a model of [Set.List] for a server. It gives up when the model is silent for too long, or
// writes without an end, or asks for tools in a way that no server could serve.
func (s *Set) Generate(ctx context.Context, id string, request *protocol.McpSamplingRequest, emit func(string)) (*Completion, error) {
	completion, err := s.generate(ctx, id, request, emit)
	if err != nil {
		return nil, err
	}
	if err := checkUses(completion.ToolUses, request); err != nil {
		return nil, err
	}
	return completion, nil
}

// Converse asks a model of [Set.List] to go on with a conversation of the person's own, and gives up as
// Generate does. What it asks of tools is passed on as the model wrote it: the names may be made up, and the
// Input of a call need be no JSON. It is the caller's to tell the model.
func (s *Set) Converse(ctx context.Context, id string, request *protocol.McpSamplingRequest, emit func(string)) (*Completion, error) {
	return s.generate(context.WithValue(ctx, conversing{}, true), id, request, emit)
}

// conversing is the key of a context in which no server waits for the answer.
type conversing struct{}

// generate asks a model of [Set.List].
func (s *Set) generate(ctx context.Context, id string, request *protocol.McpSamplingRequest, emit func(string)) (*Completion, error) {
	if !Permits(s.allowed, id) {
		return nil, s.forbidden(id)
	}
	name, rest, _ := strings.Cut(id, ":")
	p := s.providers[protocol.ModelProvider(name)]
	if p == nil {
		return nil, fmt.Errorf("%w: there is no model %q", ErrNone, id)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(s.timeout, func() {
		cancel(fmt.Errorf("%w: nothing came for %v", ErrStalled, s.timeout))
	})
	defer silence.Stop()
	written := 0
	completion, err := p.Generate(ctx, rest, request, func(piece string) {
		silence.Reset(s.timeout)
		if written += len(piece); written > mostText {
			cancel(fmt.Errorf("%w: it wrote more than %d MiB", ErrFailed, mostText>>20))
		} else if piece != "" {
			emit(piece)
		}
	})
	if written > mostText {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		// What it was given up for is the reason, whatever the provider made of it.
		if cause := context.Cause(ctx); errors.Is(cause, ErrStalled) {
			return nil, cause
		}
		return nil, err
	}
	return completion, nil
}
