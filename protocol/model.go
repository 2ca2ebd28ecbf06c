package protocol

// Model is a model that can answer a sampling request.
type Model struct {
	// ID is "PROVIDER:NAME", as [AskResponseParams] takes it.
	ID string `json:"id"`
	// Name is for the person.
	Name string `json:"name"`
	// Provider is who runs it.
	Provider ModelProvider `json:"provider"`
	ModelFacts
	// Cannot are the parts of a request that this model is not given as the server wrote them; a card
	// whose request has one of them says so.
	Cannot []RequestPart `json:"cannot,omitempty"`
	// MayIgnore are the parts that are passed on, and that its provider promises nothing about.
	MayIgnore []RequestPart `json:"mayIgnore,omitempty"`
}

// ModelFacts is what is known of a model. What is not known is absent.
type ModelFacts struct {
	// Family is the line of models that it belongs to, whatever its version: "claude-sonnet".
	Family string `json:"family,omitempty"`
	// ContextTokens is what it can read and write in one request.
	ContextTokens int64 `json:"contextTokens,omitempty"`
	// InputCost and OutputCost are US dollars for a million tokens. 0 is free.
	InputCost  *float64 `json:"inputCost,omitempty"`
	OutputCost *float64 `json:"outputCost,omitempty"`
	// Images: it can be shown pictures.
	Images *bool `json:"images,omitempty"`
	// Tools: it can call tools.
	Tools *bool `json:"tools,omitempty"`
	// Speed and Intelligence are from 0 to 1, and good for no more than an order among models.
	Speed        *float64 `json:"speed,omitempty"`
	Intelligence *float64 `json:"intelligence,omitempty"`
}

// RequestPart is a part of a [McpSamplingRequest] that not every model can be given.
type RequestPart string

// The parts.
const (
	// PartSystemPrompt is sent as a first message of the user, where it cannot be sent as it is.
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

// The providers. All but the demo and the editor are endpoints over HTTP.
const (
	// ProviderDemo is the scripted stand-in that needs no network and is no model at all.
	ProviderDemo ModelProvider = "demo"
	// ProviderOpenAI is any endpoint that speaks OpenAI's chat completions.
	ProviderOpenAI ModelProvider = "openai"
	// ProviderVSCode is the editor's own language models.
	ProviderVSCode ModelProvider = "vscode"
	// ProviderAnthropic is Anthropic's Messages API.
	ProviderAnthropic ModelProvider = "anthropic"
	// ProviderGemini is Google's Gemini, by its endpoint for chat completions.
	ProviderGemini ModelProvider = "gemini"
	// ProviderOpenRouter is the broker of many makers' models.
	ProviderOpenRouter ModelProvider = "openrouter"
	// ProviderOllama, ProviderLMStudio and ProviderVLLM run models on the person's own machines.
	ProviderOllama   ModelProvider = "ollama"
	ProviderLMStudio ModelProvider = "lmstudio"
	ProviderVLLM     ModelProvider = "vllm"
)

// ModelSettings says where completions come from.
type ModelSettings struct {
	// Provider is preferred, whatever a server wishes; absent means that the server's wishes choose
	// among all, and where it has none the first endpoint that is configured, else the editor's models
	// where there are any, else the demo model.
	Provider ModelProvider `json:"provider,omitempty"`
	// Endpoints are those to use over HTTP.
	Endpoints []EndpointSettings `json:"endpoints,omitempty"`
	// VSCodeModel is the id of the editor's model to prefer.
	VSCodeModel string `json:"vscodeModel,omitempty"`
	// Table adds to what Assent knows of models, and goes before it.
	Table []ModelRow `json:"table,omitempty"`
	// Allowed limits the models that servers get; a server that is not named gets any.
	Allowed []AllowedModels `json:"allowed,omitempty"`
}

// EndpointSettings is an endpoint over HTTP.
type EndpointSettings struct {
	// Provider is one of the endpoints over HTTP.
	Provider ModelProvider `json:"provider"`
	// BaseURL is its address, up to and without "/chat/completions" or "/messages". Absent means the usual address, which
	// ProviderOpenAI does not have.
	BaseURL string `json:"baseUrl,omitempty"`
	// Models are the names to offer; absent means those that the endpoint lists.
	Models []string `json:"models,omitempty"`
	// APIKey is absent if the endpoint needs none.
	APIKey *Secret `json:"apiKey,omitempty"`
}

// ModelRow is what is known of the models with a part of a name in common.
type ModelRow struct {
	// Match is that part, in any case. Where several match, the longest is taken.
	Match string `json:"match"`
	ModelFacts
}

// AllowedModels is a rule for one server.
type AllowedModels struct {
	// ServerName may be "*": every server that no other rule names.
	ServerName string `json:"serverName"`
	// Models are ids, in which a * stands for any text. None at all allows none.
	Models []string `json:"models,omitempty"`
}
