// Package model answers sampling requests with the person's models.
//
// A [Provider] is one way to reach models. A [Set] is all of them, in the person's order. Both may
// be used from any goroutine. The package asks no permission and does not know MCP: the broker
// decides what is generated, and for which server.
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

// The ways in which a completion fails. An error of [Set.Generate] wraps one of them, and is a
// sentence for the person. The server only gets the kind.
var (
	ErrNone    = errors.New("no model is available")
	ErrFailed  = errors.New("the model failed")
	ErrRefused = errors.New("the model refused")
	ErrStalled = errors.New("the model stopped answering")
)

// DefaultTimeout is how long a model may be silent. Local models first have to be loaded from disk.
const DefaultTimeout = 2 * time.Minute

// listTimeout bounds the wait for a provider's list of models. After it, an ask is shown without
// these models.
const listTimeout = 3 * time.Second

// mostText bounds an answer, in bytes. A model that writes more is out of control.
const mostText = 8 << 20

// Completion is a complete answer.
type Completion struct {
	Text string
	// ToolUses are the calls that the model asks for. Text is the text beside them.
	ToolUses []protocol.ToolUseContent
	// Model is the name that the provider gave.
	Model string
	// StopReason is in MCP's terms.
	StopReason string
	// Usage is nil if the provider does not report it.
	Usage *Usage
}

// Provider is one way to reach models. It may be used from any goroutine.
type Provider interface {
	// Models returns the models that can answer now. An error means that they are unknown at
	// present.
	Models(ctx context.Context) ([]protocol.Model, error)
	// Generate asks the model with the given id, the part after "PROVIDER:". It calls emit with
	// each piece of the text, in order, and with "" for other signs of activity.
	Generate(ctx context.Context, id string, request *protocol.McpSamplingRequest, emit func(string)) (*Completion, error)
}

// order is the default order of providers.
var order = []protocol.ModelProvider{
	protocol.ProviderOpenAI, protocol.ProviderAnthropic, protocol.ProviderGemini, protocol.ProviderOpenRouter,
	protocol.ProviderOllama, protocol.ProviderLMStudio, protocol.ProviderVLLM,
	protocol.ProviderVSCode, protocol.ProviderDemo,
}

// Set holds the person's models, or those that one server may use.
type Set struct {
	providers map[protocol.ModelProvider]Provider
	settings  protocol.ModelSettings
	timeout   time.Duration
	// server is the server that the set is for. allowed are the ids that it may use; nil means
	// any.
	server  string
	allowed []string
}

// NewSet returns the models of the given providers, under the person's settings.
func NewSet(providers map[protocol.ModelProvider]Provider, settings protocol.ModelSettings, timeout time.Duration) *Set {
	return &Set{providers: providers, settings: settings, timeout: timeout}
}

// For returns the models that a server may use. The result finds and asks no others.
func (s *Set) For(server string) *Set {
	forServer := *s
	forServer.server, forServer.allowed = server, nil
	named := false
	for _, rule := range s.settings.Allowed {
		if rule.ServerName == server || rule.ServerName == "*" && !named {
			named = named || rule.ServerName == server
			forServer.allowed = append([]string{}, rule.Models...) // not nil: a rule may allow no model
		}
	}
	return &forServer
}

// List returns the models that can answer now, in the person's order, with their known facts. If a
// provider fails, List returns the models of the others and the error.
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
	models, _ := s.List(ctx) // models that cannot be listed cannot be asked
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

// Propose returns the model that suits a request best, and the reason in a line for the person.
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
		models = actual // a script suits every request, because it does not answer any
	}
	models, fitting := suited(models, request)
	chosen, reason, ok := Choose(models, request.ModelPreferences, nil)
	if !ok {
		return nil, "", s.none(err)
	}
	if len(why) == 0 || len(own) > 1 { // a preference is not the only reason
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

// none returns the error for a missing model, with what to do.
func (s *Set) none(err error) error {
	if s.allowed != nil {
		return errors.Join(fmt.Errorf("%w: none that the setting assent.model.allowed lets %q have can answer now. Add one there", ErrNone, s.server), err)
	}
	return errors.Join(fmt.Errorf("%w: configure one in the settings under Assent: Model", ErrNone), err)
}

func (s *Set) forbidden(id string) error {
	return fmt.Errorf("%w: the setting assent.model.allowed does not let %q have %q. Choose another, or add it there", ErrNone, s.server, id)
}

// Generate asks a model of [Set.List] for a server. It fails if the model is silent for too long, writes
// too much, or asks for tools in a way that no server can serve.
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

// Converse asks a model of [Set.List] to continue a conversation of the person, with the limits of Generate.
// It returns calls as the model wrote them: names may not exist, and the Input of a call need not be JSON.
// The caller reports that to the model.
func (s *Set) Converse(ctx context.Context, id string, request *protocol.McpSamplingRequest, emit func(string)) (*Completion, error) {
	return s.generate(context.WithValue(ctx, conversing{}, true), id, request, emit)
}

// conversing is the key of a context for [Set.Converse], in which no server waits for the answer.
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
	request, own := ready(request)
	completion, err := p.Generate(ctx, rest, request, func(piece string) {
		silence.Reset(s.timeout)
		if written += len(piece); written > mostText {
			cancel(fmt.Errorf("%w: it wrote more than %d MiB", ErrFailed, mostText>>20))
		} else if piece != "" {
			emit(piece)
		}
	})
	if err == nil {
		for i, use := range completion.ToolUses {
			if name, known := own[use.Name]; known {
				completion.ToolUses[i].Name = name
			}
		}
	}
	if written > mostText {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		// The cause of the cancellation is the reason, not the provider's error.
		if cause := context.Cause(ctx); errors.Is(cause, ErrStalled) {
			return nil, cause
		}
		return nil, err
	}
	return completion, nil
}
