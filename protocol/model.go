package protocol

// Model is a model that can answer a sampling request.
type Model struct {
	// ID is "PROVIDER:NAME", as [AskResponseParams] takes it.
	ID string `json:"id"`
	// Name is for the person.
	Name string `json:"name"`
	// Provider is the model's provider.
	Provider ModelProvider `json:"provider"`
	ModelFacts
	// Cannot are the parts of a request that this model does not support. A card says so if its
	// request has one of them.
	Cannot []RequestPart `json:"cannot,omitempty"`
	// MayIgnore are the parts that are passed on, but that the provider does not promise to
	// honour.
	MayIgnore []RequestPart `json:"mayIgnore,omitempty"`
}

// ModelFacts are the known facts about a model. Unknown facts are absent.
type ModelFacts struct {
	// Family is the line of models that it belongs to, without a version: "claude-sonnet".
	Family string `json:"family,omitempty"`
	// ContextTokens is the size of its context, input and output together.
	ContextTokens int64 `json:"contextTokens,omitempty"`
	// InputCost and OutputCost are US dollars per million tokens. 0 is free.
	InputCost  *float64 `json:"inputCost,omitempty"`
	OutputCost *float64 `json:"outputCost,omitempty"`
	// Images: it accepts images.
	Images *bool `json:"images,omitempty"`
	// Tools: it can call tools.
	Tools *bool `json:"tools,omitempty"`
	// Speed and Intelligence are from 0 to 1, and only serve to order models.
	Speed        *float64 `json:"speed,omitempty"`
	Intelligence *float64 `json:"intelligence,omitempty"`
}

// RequestPart is a part of a [McpSamplingRequest] that some models do not support.
type RequestPart string

// The parts.
const (
	// PartSystemPrompt is sent as a first user message if the model has no system prompt.
	PartSystemPrompt RequestPart = "systemPrompt"
	// PartMaxTokens, PartTemperature and PartStopSequences are left out.
	PartMaxTokens     RequestPart = "maxTokens"
	PartTemperature   RequestPart = "temperature"
	PartStopSequences RequestPart = "stopSequences"
	// PartImages, PartAudio and PartTools make the request fail.
	PartImages RequestPart = "images"
	PartAudio  RequestPart = "audio"
	PartTools  RequestPart = "tools"
)

// ModelProvider is a way to reach models.
type ModelProvider string

// The providers. All except the demo and the editor are endpoints over HTTP.
const (
	// ProviderDemo is a scripted substitute that needs no network. It is not a model.
	ProviderDemo ModelProvider = "demo"
	// ProviderOpenAI is any endpoint that speaks OpenAI's chat completions.
	ProviderOpenAI ModelProvider = "openai"
	// ProviderVSCode is the editor's own language models.
	ProviderVSCode ModelProvider = "vscode"
	// ProviderAnthropic is Anthropic's Messages API.
	ProviderAnthropic ModelProvider = "anthropic"
	// ProviderGemini is Google's Gemini, by its endpoint for chat completions.
	ProviderGemini ModelProvider = "gemini"
	// ProviderOpenRouter is a broker of models of many providers.
	ProviderOpenRouter ModelProvider = "openrouter"
	// ProviderOllama, ProviderLMStudio and ProviderVLLM run models on the person's own machines.
	ProviderOllama   ModelProvider = "ollama"
	ProviderLMStudio ModelProvider = "lmstudio"
	ProviderVLLM     ModelProvider = "vllm"
)

// ModelSettings are the settings for models.
type ModelSettings struct {
	// Provider is preferred over a server's preferences. If absent, the server's preferences choose
	// among all models. If the server has none, the first configured endpoint is used, then the
	// editor's models, then the demo model.
	Provider ModelProvider `json:"provider,omitempty"`
	// Endpoints are those to use over HTTP.
	Endpoints []EndpointSettings `json:"endpoints,omitempty"`
	// VSCodeModel is the id of the editor's preferred model.
	VSCodeModel string `json:"vscodeModel,omitempty"`
	// Table adds to Assent's own table of models, and overrides it.
	Table []ModelRow `json:"table,omitempty"`
	// Allowed limits the models that servers get. A server without a rule gets any.
	Allowed []AllowedModels `json:"allowed,omitempty"`
}

// EndpointSettings is an endpoint over HTTP.
type EndpointSettings struct {
	// Provider is one of the endpoints over HTTP.
	Provider ModelProvider `json:"provider"`
	// BaseURL is its address, up to and without "/chat/completions" or "/messages". If absent, it is the provider's
	// default; ProviderOpenAI has none.
	BaseURL string `json:"baseUrl,omitempty"`
	// Models are the names to offer; absent means those that the endpoint lists.
	Models []string `json:"models,omitempty"`
	// APIKey is absent if the endpoint needs none.
	APIKey *Secret `json:"apiKey,omitempty"`
}

// ModelRow holds facts about all models whose names contain Match.
type ModelRow struct {
	// Match is a part of a name, in any case. If several rows match, the longest one applies.
	Match string `json:"match"`
	ModelFacts
}

// AllowedModels is a rule for one server.
type AllowedModels struct {
	// ServerName may be "*": every server without its own rule.
	ServerName string `json:"serverName"`
	// Models are ids, with * for any text. An empty list allows none.
	Models []string `json:"models,omitempty"`
}
