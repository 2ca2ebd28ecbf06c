package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/model"
)

// request is the last request to a local endpoint.
type request struct {
	count  int
	path   string
	header http.Header
	body   map[string]any
}

// serve answers every request with a body, and records the request. It returns its address.
func serve(t *testing.T, status int, header http.Header, body string) (base string, got *request) {
	t.Helper()
	got = &request{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.count++
		got.path, got.header = r.URL.Path, r.Header
		if r.Method == http.MethodPost {
			got.body = nil
			if err := json.NewDecoder(r.Body).Decode(&got.body); err != nil {
				t.Error(err)
			}
		}
		for name := range header {
			w.Header().Set(name, header.Get(name))
		}
		w.WriteHeader(status)
		// A caller may hang up early. The test is about the caller's result.
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

// endpointOf returns a preset at another address.
func endpointOf(provider protocol.ModelProvider, base string, models ...string) model.Provider {
	return model.Endpoints(protocol.ModelSettings{Endpoints: []protocol.EndpointSettings{
		{Provider: provider, BaseURL: base, Models: models, APIKey: &protocol.Secret{Secret: "sk-1"}},
	}}, http.DefaultClient)[provider]
}

func TestARequestMeetsTheEndOfAnIdleConnection(t *testing.T) {
	posts := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
		case posts == 0:
			posts++
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				err = conn.Close()
			}
			if err != nil {
				t.Error(err)
			}
		default:
			posts++
			if _, sent := r.Header["Idempotency-Key"]; sent {
				t.Error("the server got an idempotency key")
			}
			_, _ = io.WriteString(w, events(delta("x"), finish("stop"))+done)
		}
	}))
	defer server.Close()
	p := endpointOf(protocol.ProviderOllama, server.URL)
	if _, err := p.Models(t.Context()); err != nil { // it leaves an idle connection
		t.Fatal(err)
	}
	got, err := p.Generate(t.Context(), "m", ask("Hi"), func(string) {})
	if err != nil || got.Text != "x" || posts != 2 {
		t.Errorf("after %d requests, Generate = %+v, %v", posts, got, err)
	}
}

func TestEndpointsListTheirModels(t *testing.T) {
	deaf := []protocol.RequestPart{protocol.PartAudio}
	free := protocol.ModelFacts{InputCost: new(0.0), OutputCost: new(0.0)}
	tests := []struct {
		provider protocol.ModelProvider
		body     string
		want     []protocol.Model
	}{
		{
			protocol.ProviderOllama, `{"object":"list","data":[{"id":"llama3.2:latest","object":"model","created":1,"owned_by":"library"},{"id":"nomic-embed-text","object":"model"}]}`,
			[]protocol.Model{{ID: "ollama:llama3.2:latest", Name: "llama3.2:latest (Ollama)", Provider: protocol.ProviderOllama, ModelFacts: free, Cannot: deaf}},
		},
		{
			protocol.ProviderVLLM, `{"object":"list","data":[{"id":"Qwen/Qwen3-8B","max_model_len":40960}]}`,
			[]protocol.Model{{ID: "vllm:Qwen/Qwen3-8B", Name: "Qwen/Qwen3-8B (vLLM)", Provider: protocol.ProviderVLLM, ModelFacts: protocol.ModelFacts{ContextTokens: 40960, InputCost: new(0.0), OutputCost: new(0.0)}, Cannot: deaf}},
		},
		{
			protocol.ProviderOpenRouter, `{"data":[{"id":"mistralai/mistral-x","name":"Mistral: X","context_length":131072,"pricing":{"prompt":"0.000002","completion":"0.000006"}},{"id":"openrouter/auto","name":"Auto","pricing":{"prompt":"-1","completion":"-1"}}]}`,
			[]protocol.Model{
				{ID: "openrouter:mistralai/mistral-x", Name: "Mistral: X (OpenRouter)", Provider: protocol.ProviderOpenRouter, ModelFacts: protocol.ModelFacts{ContextTokens: 131072, InputCost: new(2.0), OutputCost: new(6.0)}, Cannot: deaf},
				{ID: "openrouter:openrouter/auto", Name: "Auto (OpenRouter)", Provider: protocol.ProviderOpenRouter, Cannot: deaf},
			},
		},
		{
			protocol.ProviderGemini, `{"object":"list","data":[{"id":"models/gemini-2.5-flash"},{"id":"models/gemini-embedding-001"}]}`,
			[]protocol.Model{{ID: "gemini:gemini-2.5-flash", Name: "gemini-2.5-flash (Gemini)", Provider: protocol.ProviderGemini, Cannot: deaf}},
		},
		{
			protocol.ProviderAnthropic, `{"data":[{"type":"model","id":"claude-x","display_name":"Claude X","created_at":"2026-01-01T00:00:00Z"}],"has_more":false}`,
			[]protocol.Model{{ID: "anthropic:claude-x", Name: "Claude X (Anthropic)", Provider: protocol.ProviderAnthropic, Cannot: deaf}},
		},
	}
	for _, tt := range tests {
		t.Run(string(tt.provider), func(t *testing.T) {
			base, got := serve(t, http.StatusOK, nil, tt.body)
			p := endpointOf(tt.provider, base+"/v1")
			for range 2 { // the second from the cache
				models, err := p.Models(t.Context())
				if diff := cmp.Diff(tt.want, models); diff != "" || err != nil {
					t.Errorf("models (-want +got):\n%s%v", diff, err)
				}
			}
			if got.path != "/v1/models" || got.count != 1 {
				t.Errorf("the endpoint got %d requests, of %s", got.count, got.path)
			}
			key := got.header.Get("Authorization")
			if tt.provider == protocol.ProviderAnthropic {
				key = "Bearer " + got.header.Get("X-Api-Key")
			}
			if key != "Bearer sk-1" {
				t.Errorf("the key was sent as %q", key)
			}
		})
	}
}

func TestConfiguredModelsAreTakenAtTheirWord(t *testing.T) {
	p := endpointOf(protocol.ProviderLMStudio, "http://127.0.0.1:1/v1", "a", "b")
	models, err := p.Models(t.Context())
	if err != nil || len(models) != 2 || models[1].ID != "lmstudio:b" || models[1].Name != "b (LM Studio)" {
		t.Errorf("models = %+v, %v", models, err)
	}
	if _, err := endpointOf(protocol.ProviderLMStudio, "http://127.0.0.1:1/v1").Models(t.Context()); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("a list of an endpoint that is down = %v", err)
	}
}

func TestAListThatCannotBeRead(t *testing.T) {
	for name, body := range map[string]string{"a page": "<html>", "nothing": "", "another shape": `{"data":{"id":"x"}}`} {
		t.Run(name, func(t *testing.T) {
			base, _ := serve(t, http.StatusOK, nil, body)
			if models, err := endpointOf(protocol.ProviderOllama, base).Models(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be read") {
				t.Errorf("models = %v, %v", models, err)
			}
		})
	}
	base, _ := serve(t, http.StatusOK, nil, `{"data":[`+strings.Repeat(`{"id":"x"},`, 3000)+`{"id":"x"}]}`)
	if models, err := endpointOf(protocol.ProviderOllama, base).Models(t.Context()); err != nil || len(models) != 1000 {
		t.Errorf("a long list has %d models, %v", len(models), err)
	}
}

// Settings of a front end may name any provider. Unknown ones are ignored.
func TestUnknownEndpointsAreLeftOut(t *testing.T) {
	providers := model.Endpoints(protocol.ModelSettings{Endpoints: []protocol.EndpointSettings{
		{Provider: "nonsense"}, {Provider: protocol.ProviderDemo}, {Provider: protocol.ProviderVSCode}, {Provider: protocol.ProviderGemini},
	}}, http.DefaultClient)
	if len(providers) != 1 || providers[protocol.ProviderGemini] == nil {
		t.Errorf("providers = %v", providers)
	}
}

func TestRefusalsOfEndpoints(t *testing.T) {
	tests := []struct {
		name   string
		status int
		header http.Header
		body   string
		want   string
	}{
		{"a limit, with the time", 429, http.Header{"Retry-After": {"90"}}, `{"error":{"message":"Rate limit reached"}}`, "takes no more requests for now: Rate limit reached (try again in 1m30s)"},
		{"a limit, without", 429, nil, ``, "takes no more requests for now: it answered 429 Too Many Requests"},
		{"a limit, with a date that is past", 429, http.Header{"Retry-After": {"Mon, 02 Jan 2006 15:04:05 GMT"}}, `{"error":"slow down"}`, "slow down"},
		{"Gemini's array", 400, nil, `[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]`, "API key not valid"},
		{"LM Studio's string", 404, nil, `{"error":"No models loaded"}`, "No models loaded"},
		{"vLLM's message", 404, nil, `{"object":"error","message":"The model does not exist"}`, "The model does not exist"},
		{"a forbidden model", 403, nil, `{"error":{"message":"no access"}}`, "did not accept the API key: no access"},
		{"elsewhere", 307, http.Header{"Location": {"http://127.0.0.1:1/"}}, ``, "sends elsewhere (307 Temporary Redirect), which is not followed"},
		{"a page", 502, nil, "<html>", "it answered 502 Bad Gateway"},
		{"a very long message", 500, nil, `{"error":{"message":"` + strings.Repeat("x\\n", 1000) + `"}}`, "x x x …"},
	}
	for _, tt := range tests {
		for _, provider := range []protocol.ModelProvider{protocol.ProviderAnthropic, protocol.ProviderOpenRouter} {
			t.Run(tt.name+" of "+string(provider), func(t *testing.T) {
				base, got := serve(t, tt.status, tt.header, tt.body)
				_, err := endpointOf(provider, base, "m").Generate(t.Context(), "m", ask("Hi"), func(string) {})
				if !errors.Is(err, model.ErrFailed) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("Generate = %v, want %q", err, tt.want)
				}
				if err != nil && (len(err.Error()) > 1000 || strings.Contains(err.Error(), "\n")) {
					t.Errorf("the error is no sentence: %v", err)
				}
				if got.count != 1 {
					t.Errorf("the endpoint got %d requests", got.count)
				}
			})
		}
	}
}

// An endpoint that never stops is cut off, even if it sends no text.
func TestAnAnswerThatDoesNotEnd(t *testing.T) {
	const line = ": keep-alive\n\n"
	tests := []struct {
		provider protocol.ModelProvider
		lines    int
		want     string
	}{
		{protocol.ProviderAnthropic, 65 << 20 / len(line), "longer than 64 MiB"},
		{protocol.ProviderOpenRouter, 10_000, "too many empty messages"},
	}
	for _, tt := range tests {
		t.Run(string(tt.provider), func(t *testing.T) {
			base, _ := serve(t, http.StatusOK, nil, strings.Repeat(line, tt.lines))
			_, err := endpointOf(tt.provider, base, "m").Generate(t.Context(), "m", ask("Hi"), func(string) {})
			if !errors.Is(err, model.ErrFailed) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Generate = %v, want %q", err, tt.want)
			}
		})
	}
}

// begun returns an endpoint that begins an answer, and then calls a function.
func begun(t *testing.T, then func(*http.Request)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The server notices the end of its caller only after it has read the whole body.
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		if _, err := io.WriteString(w, events(delta("Well, "))+claudeEvents(claudeStart(), claudeText("Well, "))); err != nil {
			t.Error(err)
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		then(r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestAnEndpointThatDisconnects(t *testing.T) {
	base := begun(t, func(*http.Request) { panic(http.ErrAbortHandler) })
	for _, provider := range []protocol.ModelProvider{protocol.ProviderAnthropic, protocol.ProviderOllama} {
		_, err := endpointOf(provider, base, "m").Generate(t.Context(), "m", ask("Hi"), func(string) {})
		if !errors.Is(err, model.ErrFailed) || !strings.Contains(err.Error(), "ended its answer in the middle") {
			t.Errorf("%s: Generate = %v", provider, err)
		}
	}
}

func TestAnEndpointThatHangsUp(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(server.Close)
	for _, provider := range []protocol.ModelProvider{protocol.ProviderAnthropic, protocol.ProviderOllama} {
		_, err := endpointOf(provider, server.URL, "m").Generate(t.Context(), "m", ask("Hi"), func(string) {})
		want := "the model failed: " + server.URL + " closed the connection without an answer"
		if !errors.Is(err, model.ErrFailed) || err.Error() != want {
			t.Errorf("%s: Generate = %v, want %s", provider, err, want)
		}
	}
}

// A cancelled request ends the connection, so that the endpoint stops generating tokens that cost
// money.
func TestARequestThatIsGivenUpHangsUp(t *testing.T) {
	for _, provider := range []protocol.ModelProvider{protocol.ProviderAnthropic, protocol.ProviderOllama} {
		hungUp := make(chan struct{})
		base := begun(t, func(r *http.Request) {
			<-r.Context().Done()
			close(hungUp)
		})
		ctx, cancel := context.WithCancel(t.Context())
		_, err := endpointOf(provider, base, "m").Generate(ctx, "m", ask("Hi"), func(piece string) {
			if piece != "" {
				cancel()
			}
		})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Generate = %v", provider, err)
		}
		<-hungUp
	}
}
