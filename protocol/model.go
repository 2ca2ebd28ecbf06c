package protocol

// Model is a model that can answer a sampling request.
type Model struct {
	// ID is "PROVIDER:NAME", as [AskResponseParams] takes it.
	ID string `json:"id"`
	// Name is for the person.
	Name string `json:"name"`
	// Provider is who runs it.
	Provider ModelProvider `json:"provider"`
}

// ModelProvider is a way to reach models.
type ModelProvider string

// The providers.
const (
	// ProviderDemo is the scripted stand-in that needs no network and is no model at all.
	ProviderDemo ModelProvider = "demo"
	// ProviderOpenAI is any endpoint that speaks OpenAI's chat completions.
	ProviderOpenAI ModelProvider = "openai"
	// ProviderVSCode is the editor's own language models.
	ProviderVSCode ModelProvider = "vscode"
)

// ModelSettings says where completions come from.
type ModelSettings struct {
	// Provider is preferred; absent means the OpenAI-compatible endpoint where it is configured,
	// else the editor's models where there are any, else the demo model.
	Provider ModelProvider `json:"provider,omitempty"`
	// OpenAI is an OpenAI-compatible endpoint; absent where none is configured.
	OpenAI *OpenAISettings `json:"openai,omitempty"`
	// VSCodeModel is the id of the editor's model to prefer.
	VSCodeModel string `json:"vscodeModel,omitempty"`
}

// OpenAISettings is an OpenAI-compatible endpoint.
type OpenAISettings struct {
	// BaseURL is the endpoint's, up to and without "/chat/completions".
	BaseURL string `json:"baseUrl"`
	Model   string `json:"model"`
	// APIKey is absent where the endpoint needs none.
	APIKey *Secret `json:"apiKey,omitempty"`
}
