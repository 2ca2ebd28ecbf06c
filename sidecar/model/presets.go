package model

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"assent/protocol"
)

// preset holds the built-in facts about a provider.
type preset struct {
	label string
	base  string
	// free: the person runs the models, and does not pay by the token.
	free bool
	// counts: documented to support stream_options.include_usage.
	counts bool
}

var presets = map[protocol.ModelProvider]preset{
	protocol.ProviderOpenAI:     {}, // any address, of any provider
	protocol.ProviderAnthropic:  {label: "Anthropic", base: "https://api.anthropic.com/v1"},
	protocol.ProviderGemini:     {label: "Gemini", base: "https://generativelanguage.googleapis.com/v1beta/openai", counts: true},
	protocol.ProviderOpenRouter: {label: "OpenRouter", base: "https://openrouter.ai/api/v1", counts: true},
	protocol.ProviderOllama:     {label: "Ollama", base: "http://localhost:11434/v1", free: true},
	protocol.ProviderLMStudio:   {label: "LM Studio", base: "http://localhost:1234/v1", free: true},
	protocol.ProviderVLLM:       {label: "vLLM", base: "http://localhost:8000/v1", free: true},
}

// Address returns the URL of an endpoint. It is empty for a provider that is none.
func Address(s protocol.EndpointSettings) string {
	return trimmed(cmp.Or(s.BaseURL, presets[s.Provider].base))
}

// Endpoints returns the providers in the settings that are endpoints over HTTP, with the given
// client. It ignores other providers.
func Endpoints(settings protocol.ModelSettings, client *http.Client) map[protocol.ModelProvider]Provider {
	providers := map[protocol.ModelProvider]Provider{}
	client = notFollowing(client)
	for _, s := range settings.Endpoints {
		known, ok := presets[s.Provider]
		if !ok {
			continue
		}
		e := &endpoint{
			provider: s.Provider, label: known.label, free: known.free, models: s.Models,
			base: Address(s), key: secret(s.APIKey), client: client,
		}
		if s.Provider == protocol.ProviderAnthropic {
			providers[s.Provider] = newAnthropic(e)
		} else {
			p := newOpenAI(e)
			p.option.taken.Store(known.counts)
			providers[s.Provider] = p
		}
	}
	return providers
}

// Key is the API key of an endpoint.
type Key struct {
	// Owner is the owner of the key: "Anthropic", or the endpoint's address.
	Owner string
	Value protocol.Secret
}

// Keys returns the API keys of the settings.
func Keys(settings protocol.ModelSettings) []Key {
	var keys []Key
	for _, s := range settings.Endpoints {
		if s.APIKey != nil {
			keys = append(keys, Key{cmp.Or(presets[s.Provider].label, place(s.BaseURL)), *s.APIKey})
		}
	}
	return keys
}

// place returns a base URL without the parts that may be secret.
func place(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return "the OpenAI-compatible endpoint"
	}
	return u.Host
}

func trimmed(base string) string { return strings.TrimRight(base, "/") }

func secret(s *protocol.Secret) string {
	if s == nil {
		return ""
	}
	return s.Secret
}
