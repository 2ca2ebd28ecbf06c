package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/model"
)

// listed is a provider that only lists models.
type listed struct {
	provider protocol.ModelProvider
	ids      []string
	cannot   []protocol.RequestPart
	err      error
}

func (l listed) Models(context.Context) ([]protocol.Model, error) {
	var models []protocol.Model
	for _, id := range l.ids {
		models = append(models, protocol.Model{ID: string(l.provider) + ":" + id, Name: id, Provider: l.provider, Cannot: l.cannot})
	}
	return models, l.err
}

func (l listed) Generate(context.Context, string, *protocol.McpSamplingRequest, func(string)) (*model.Completion, error) {
	return nil, errors.New("not asked for")
}

func set(settings protocol.ModelSettings, providers ...listed) *model.Set {
	m := map[protocol.ModelProvider]model.Provider{}
	for _, p := range providers {
		m[p.provider] = p
	}
	return model.NewSet(m, settings, model.DefaultTimeout)
}

func TestTheOrderIsThePersons(t *testing.T) {
	openai := listed{provider: protocol.ProviderOpenAI, ids: []string{"o"}}
	vscode := listed{provider: protocol.ProviderVSCode, ids: []string{"v1", "v2", "v3"}}
	demo := listed{provider: protocol.ProviderDemo, ids: []string{"d"}}
	tests := []struct {
		name     string
		settings protocol.ModelSettings
		want     []string
	}{
		{"by itself", protocol.ModelSettings{}, []string{"openai:o", "vscode:v1", "vscode:v2", "vscode:v3", "demo:d"}},
		{"a provider first", protocol.ModelSettings{Provider: protocol.ProviderVSCode}, []string{"vscode:v1", "vscode:v2", "vscode:v3", "openai:o", "demo:d"}},
		{"a model of the editor first", protocol.ModelSettings{VSCodeModel: "v3"}, []string{"openai:o", "vscode:v3", "vscode:v1", "vscode:v2", "demo:d"}},
		{"the demo first", protocol.ModelSettings{Provider: protocol.ProviderDemo}, []string{"demo:d", "openai:o", "vscode:v1", "vscode:v2", "vscode:v3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			models, err := set(tt.settings, openai, vscode, demo).List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range models {
				got = append(got, m.ID)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("models (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAProviderThatCannotSayLeavesTheOthers(t *testing.T) {
	s := set(protocol.ModelSettings{}, listed{provider: protocol.ProviderVSCode, err: errors.New("no consent")}, listed{provider: protocol.ProviderDemo, ids: []string{"d"}})
	models, err := s.List(t.Context())
	if len(models) != 1 || err == nil || !strings.Contains(err.Error(), "vscode: no consent") {
		t.Errorf("List = %+v, %v", models, err)
	}
	if m, err := s.Find(t.Context(), ""); err != nil || m.ID != "demo:d" {
		t.Errorf("Find = %+v, %v", m, err)
	}
	if _, err := s.Find(t.Context(), "vscode:x"); !errors.Is(err, model.ErrNone) || !strings.Contains(err.Error(), "no consent") {
		t.Errorf("Find of a model that is not there = %v", err)
	}
	if _, err := s.Generate(t.Context(), "nobody:x", nil, nil); !errors.Is(err, model.ErrNone) {
		t.Errorf("Generate of a provider that is not there = %v", err)
	}
	if _, err := set(protocol.ModelSettings{}).Find(t.Context(), ""); !errors.Is(err, model.ErrNone) || !strings.Contains(err.Error(), "configure one") {
		t.Errorf("Find without any = %v", err)
	}
}

func ask(text string) *protocol.McpSamplingRequest {
	return &protocol.McpSamplingRequest{
		Messages: []protocol.SamplingMessage{
			{Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.TextContent{Text: text}}},
		},
		MaxTokens: 500,
	}
}

func TestTheDemoSaysWhatItIs(t *testing.T) {
	demo := model.Demo{}
	for _, question := range []string{"What is sampling?", "elicitation?", "2+2?", "", strings.Repeat("x", 1000)} {
		var streamed strings.Builder
		c, err := demo.Generate(t.Context(), "script", ask(question), func(s string) { streamed.WriteString(s) })
		if err != nil {
			t.Fatal(err)
		}
		if c.Text != streamed.String() {
			t.Errorf("%q: streamed %q, returned %q", question, streamed.String(), c.Text)
		}
		if !strings.Contains(c.Model, "not a language model") || c.StopReason != "endTurn" {
			t.Errorf("%q: %+v does not say what it is", question, c)
		}
	}
	short := ask("What is sampling?")
	short.MaxTokens = 3
	if c, err := demo.Generate(t.Context(), "script", short, func(string) {}); err != nil || c.Text != "Sampling lets an " || c.StopReason != "maxTokens" || *c.Usage != (model.Usage{InputTokens: 3, OutputTokens: 3}) {
		t.Errorf("with 3 tokens = %+v, %v", c, err)
	}
}

func TestAModelThatIsSilentForTooLongIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pace = 50 * time.Second // slow, but never silent for a minute
		slow := map[protocol.ModelProvider]model.Provider{protocol.ProviderDemo: model.Demo{Pace: pace}}
		c, err := model.NewSet(slow, protocol.ModelSettings{}, time.Minute).Generate(t.Context(), "demo:script", ask("?"), func(string) {})
		if err != nil || c.StopReason != "endTurn" {
			t.Errorf("a slow model = %+v, %v", c, err)
		}
		began := time.Now()
		_, err = model.NewSet(slow, protocol.ModelSettings{}, 20*time.Second).Generate(t.Context(), "demo:script", ask("?"), func(string) {})
		if !errors.Is(err, model.ErrStalled) || !strings.Contains(err.Error(), "20s") {
			t.Errorf("a silent model = %v", err)
		}
		if waited := time.Since(began); waited != 20*time.Second {
			t.Errorf("it was given up after %v", waited)
		}
	})
}

// editor streams pieces, then ends.
type editor struct {
	vscode *model.VSCode
	pieces []string
	uses   []protocol.ToolUseContent
	err    error
	got    *protocol.LanguageModelRequest
}

func (e *editor) ListLanguageModels(context.Context) (*protocol.ListLanguageModelsResult, error) {
	return &protocol.ListLanguageModelsResult{Models: []protocol.LanguageModel{{ID: "m", Name: "M", Vendor: "v", Family: "f", MaxInputTokens: 9}}}, nil
}

func (e *editor) SendLanguageModelRequest(_ context.Context, r *protocol.LanguageModelRequest) (*protocol.LanguageModelResponse, error) {
	e.got = r
	e.vscode.Progress(&protocol.LanguageModelProgressParams{RequestID: "another", Text: "not ours"})
	for _, p := range e.pieces {
		e.vscode.Progress(&protocol.LanguageModelProgressParams{RequestID: r.RequestID, Text: p})
	}
	return &protocol.LanguageModelResponse{ToolUses: e.uses}, e.err
}

func TestTheEditorsModels(t *testing.T) {
	e := &editor{pieces: []string{"a", "b", "c"}}
	e.vscode = model.NewVSCode(e)
	models, err := e.vscode.Models(t.Context())
	want := []protocol.Model{{
		ID: "vscode:m", Name: "M (v)", Provider: protocol.ProviderVSCode,
		ModelFacts: protocol.ModelFacts{Family: "f", ContextTokens: 9},
		Cannot:     []protocol.RequestPart{protocol.PartSystemPrompt, protocol.PartAudio},
		MayIgnore:  []protocol.RequestPart{protocol.PartMaxTokens, protocol.PartTemperature, protocol.PartStopSequences},
	}}
	if diff := cmp.Diff(want, models); diff != "" || err != nil {
		t.Errorf("models (-want +got):\n%s%v", diff, err)
	}

	request := ask("Hi")
	request.SystemPrompt, request.Temperature, request.StopSequences = "Be brief.", new(0.0), []string{"."}
	var streamed strings.Builder
	c, err := e.vscode.Generate(t.Context(), "m", request, func(s string) { streamed.WriteString(s) })
	if err != nil || c.Text != "abc" || streamed.String() != "abc" || c.Model != "m" {
		t.Errorf("Generate = %+v, %v, streamed %q", c, err, streamed.String())
	}
	wantMessages := []protocol.LanguageModelMessage{
		{Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.TextContent{Text: "Be brief."}}},
		{Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.TextContent{Text: "Hi"}}},
	}
	if diff := cmp.Diff(wantMessages, e.got.Messages); diff != "" {
		t.Errorf("the editor was asked (-want +got):\n%s", diff)
	}
	if e.got.MaxTokens != 500 || *e.got.Temperature != 0 || e.got.StopSequences[0] != "." || e.got.ModelID != "m" {
		t.Errorf("the editor was asked %+v", e.got)
	}

	e.err = errors.New("You have no quota left.")
	if _, err := e.vscode.Generate(t.Context(), "m", request, func(string) {}); !errors.Is(err, model.ErrFailed) || !strings.Contains(err.Error(), "quota") {
		t.Errorf("a failure = %v", err)
	}
	e.err, e.pieces = nil, nil
	if _, err := e.vscode.Generate(t.Context(), "m", request, func(string) {}); !errors.Is(err, model.ErrFailed) || !strings.Contains(err.Error(), "empty") {
		t.Errorf("an empty answer = %v", err)
	}
}

func TestTheEditorsModelsCallTools(t *testing.T) {
	e := &editor{uses: []protocol.ToolUseContent{{ID: "1", Name: "get", Input: []byte(`{}`)}}}
	e.vscode = model.NewVSCode(e)
	c, err := e.vscode.Generate(t.Context(), "m", weather(), func(string) {})
	if diff := cmp.Diff(&model.Completion{Model: "m", StopReason: "toolUse", ToolUses: e.uses}, c); diff != "" || err != nil {
		t.Errorf("completion (-want +got):\n%s%v", diff, err)
	}
	if diff := cmp.Diff(weather().Tools, e.got.Tools); diff != "" || !e.got.ToolRequired {
		t.Errorf("required: %v, tools (-want +got):\n%s", e.got.ToolRequired, diff)
	}
	none := weather()
	none.ToolChoice.Mode = protocol.ToolChoiceNone
	if _, err := e.vscode.Generate(t.Context(), "m", none, func(string) {}); err != nil || e.got.Tools != nil || e.got.ToolRequired {
		t.Errorf("with no tool allowed the editor got %+v, %v", e.got, err)
	}
}

// generates is a provider that answers with a function.
type generates func(ctx context.Context, emit func(string)) (*model.Completion, error)

func (generates) Models(context.Context) ([]protocol.Model, error) { return nil, nil }

func (g generates) Generate(ctx context.Context, _ string, _ *protocol.McpSamplingRequest, emit func(string)) (*model.Completion, error) {
	return g(ctx, emit)
}

func generate(t *testing.T, g generates, request *protocol.McpSamplingRequest, emit func(string)) (*model.Completion, error) {
	t.Helper()
	providers := map[protocol.ModelProvider]model.Provider{protocol.ProviderOpenAI: g}
	return model.NewSet(providers, protocol.ModelSettings{}, time.Minute).Generate(t.Context(), "openai:m", request, emit)
}

func TestAModelThatWritesWithoutEndIsCutOff(t *testing.T) {
	emitted := 0
	_, err := generate(t, func(ctx context.Context, emit func(string)) (*model.Completion, error) {
		for ctx.Err() == nil {
			emit(strings.Repeat("x", 1<<20))
		}
		return &model.Completion{Text: "x"}, nil // a provider may not notice the end
	}, ask("?"), func(piece string) { emitted += len(piece) })
	if !errors.Is(err, model.ErrFailed) || !strings.Contains(err.Error(), "more than 8 MiB") || emitted != 8<<20 {
		t.Errorf("Generate = %v, after %d bytes", err, emitted)
	}
}

func TestAModelThatThinksIsNotSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pieces []string
		c, err := generate(t, func(ctx context.Context, emit func(string)) (*model.Completion, error) {
			for range 10 {
				time.Sleep(50 * time.Second) // of the bubble's clock
				emit("")
			}
			return &model.Completion{Text: "42"}, ctx.Err()
		}, ask("?"), func(piece string) { pieces = append(pieces, piece) })
		if err != nil || c.Text != "42" || pieces != nil {
			t.Errorf("Generate = %+v, %v, with the pieces %q", c, err, pieces)
		}
	})
}

func TestAToolThatWasNotOfferedIsRefused(t *testing.T) {
	uses := func(name string) generates {
		return func(context.Context, func(string)) (*model.Completion, error) {
			return &model.Completion{ToolUses: []protocol.ToolUseContent{{ID: "1", Name: name}}}, nil
		}
	}
	if c, err := generate(t, uses("get"), weather(), nil); err != nil || len(c.ToolUses) != 1 {
		t.Errorf("a tool that was offered = %+v, %v", c, err)
	}
	none := weather()
	none.ToolChoice.Mode = protocol.ToolChoiceNone
	for name, request := range map[string]*protocol.McpSamplingRequest{"rm": weather(), "get": none, "": ask("?")} {
		if _, err := generate(t, uses(name), request, nil); !errors.Is(err, model.ErrFailed) || !strings.Contains(err.Error(), "which it was not offered") {
			t.Errorf("the tool %q = %v", name, err)
		}
	}
}

// A server gets no call that it cannot serve; in a conversation, the model gets an error.
func TestInvalidCallsOfAModel(t *testing.T) {
	var thousand []protocol.ToolUseContent
	for range 1000 {
		thousand = append(thousand, protocol.ToolUseContent{ID: "1", Name: "get"})
	}
	for name, uses := range map[string][]protocol.ToolUseContent{
		"are not a JSON object":    {{ID: "1", Name: "get", Input: json.RawMessage(`[1`)}},
		"more than 128 tools":      thousand,
		"which it was not offered": {{ID: "1", Name: "rm"}},
	} {
		made := generates(func(context.Context, func(string)) (*model.Completion, error) {
			return &model.Completion{ToolUses: uses}, nil
		})
		if _, err := generate(t, made, weather(), nil); !errors.Is(err, model.ErrFailed) || !strings.Contains(err.Error(), name) {
			t.Errorf("Generate = %v, want %q", err, name)
		}
		s := model.NewSet(map[protocol.ModelProvider]model.Provider{protocol.ProviderOpenAI: made}, protocol.ModelSettings{}, model.DefaultTimeout)
		c, err := s.Converse(t.Context(), "openai:m", weather(), func(string) {})
		if err != nil || len(c.ToolUses) != len(uses) {
			t.Errorf("Converse = %+v, %v", c, err)
		}
	}
}

func TestTemporaryFailures(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		want   bool
	}{{"too many", 429, true}, {"broken", 500, true}, {"overloaded", 529, true}, {"wrong", 400, false}, {"a wrong key", 401, false}} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(tt.status)
			}))
			defer server.Close()
			p := openAI(protocol.EndpointSettings{BaseURL: server.URL, Models: []string{"m"}})
			_, err := p.Generate(t.Context(), "m", ask("?"), func(string) {})
			if after, soon := model.TryAgain(err); soon != tt.want || after != 7*time.Second {
				t.Errorf("TryAgain(%v) = %v, %v", err, after, soon)
			}
		})
	}
	if _, soon := model.TryAgain(model.ErrStalled); soon {
		t.Error("a model that stalled may answer soon")
	}
}

func TestTheDemoCallsTools(t *testing.T) {
	request := &protocol.McpSamplingRequest{
		MaxTokens: 100,
		Messages:  []protocol.SamplingMessage{{Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.TextContent{Text: "Weather?"}}}},
		Tools: []protocol.SamplingTool{
			{Name: "weather", InputSchema: json.RawMessage(`{"properties":{"city":{"type":"string"},"days":{"type":"integer"},"unit":{"enum":["C","F"]},"place":{}},"required":["city","days","unit"]}`)},
			{Name: "time", InputSchema: json.RawMessage(`{"type":"object"}`)},
			{Name: "third", InputSchema: json.RawMessage(`{"type":"object"}`)},
		},
	}
	generate := func() *model.Completion {
		t.Helper()
		completion, err := model.Demo{}.Generate(t.Context(), "script", request, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		return completion
	}
	if got := generate(); got.ToolUses != nil {
		t.Errorf("it calls tools that nobody asked for: %+v", got.ToolUses)
	}
	required := &protocol.ToolChoice{Mode: protocol.ToolChoiceRequired}
	request.ToolChoice = required
	first := generate()
	want := []protocol.ToolUseContent{
		{ID: "demo_1", Name: "weather", Input: json.RawMessage(`{"city":"demo","days":1,"unit":"C"}`)},
		{ID: "demo_2", Name: "time", Input: json.RawMessage(`{}`)},
	}
	if diff := cmp.Diff(want, first.ToolUses); diff != "" || first.StopReason != model.StopToolUse {
		t.Errorf("it stops with %s and calls (-want +got):\n%s", first.StopReason, diff)
	}
	request.ToolChoice = &protocol.ToolChoice{Mode: protocol.ToolChoiceNone}
	if got := generate(); got.ToolUses != nil || got.StopReason != model.StopEndTurn {
		t.Errorf("it calls tools that it must not: %+v", got)
	}
	request.ToolChoice = required
	request.Messages = append(request.Messages,
		protocol.SamplingMessage{Role: protocol.RoleAssistant, Content: []protocol.ContentBlock{first.ToolUses[0]}},
		protocol.SamplingMessage{Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.ToolResultContent{
			ToolUseID: "demo_1", Content: []protocol.ToolResultBlock{protocol.TextContent{Text: "Rain."}},
		}}})
	if got := generate(); got.ToolUses != nil || !strings.Contains(got.Text, `"Rain."`) {
		t.Errorf("after the results it says %+v", got)
	}
}
