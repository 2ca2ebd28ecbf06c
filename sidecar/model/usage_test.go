package model_test

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/model"
)

// counted returns a chunk with only a usage.
func counted(usage string) string {
	return fmt.Sprintf("data: {\"id\":\"1\",\"choices\":[],\"usage\":%s}\n\n", usage)
}

func TestOpenAIUsage(t *testing.T) {
	answer := events(delta("x"), finish("stop"))
	tests := []struct {
		name, stream string
		want         *model.Usage
	}{
		{"at the end", answer + counted(`{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}`), &model.Usage{InputTokens: 9, OutputTokens: 2}},
		{"in every chunk, the last one counts", counted(`{"prompt_tokens":9,"completion_tokens":1}`) + answer + counted(`{"prompt_tokens":9,"completion_tokens":2}`), &model.Usage{InputTokens: 9, OutputTokens: 2}},
		{"thoughts only in the total, as Gemini does", answer + counted(`{"prompt_tokens":9,"completion_tokens":2,"total_tokens":500}`), &model.Usage{InputTokens: 9, OutputTokens: 491}},
		{"none", answer, nil},
		{"null", answer + counted("null"), nil},
		{"zeros", answer + counted(`{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`), nil},
		{"less than nothing", answer + counted(`{"prompt_tokens":-9,"completion_tokens":2,"total_tokens":1}`), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := endpoint(t, http.StatusOK, tt.stream+done)
			c, err := p.Generate(t.Context(), "gpt-x", ask("Hi"), func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, c.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

// strict returns an endpoint that refuses unknown members, like old versions of vLLM, and the bodies
// that it received.
func strict(t *testing.T, refuses func(body string) bool) (model.Provider, *[]string) {
	t.Helper()
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, string(body))
		answer := events(delta("x"), finish("stop")) + done
		if refuses(string(body)) {
			w.WriteHeader(http.StatusBadRequest)
			answer = `{"object":"error","message":"Extra inputs are not permitted","code":400}`
		}
		if _, err := io.WriteString(w, answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return openAI(protocol.EndpointSettings{BaseURL: server.URL, Models: []string{"m"}}), &got
}

func TestAnEndpointThatKnowsNoUsageIsAskedWithoutIt(t *testing.T) {
	hasOption := func(body string) bool { return strings.Contains(body, "stream_options") }
	p, got := strict(t, hasOption)
	for range 2 {
		if c, err := p.Generate(t.Context(), "m", ask("Hi"), func(string) {}); err != nil || c.Text != "x" || c.Usage != nil {
			t.Fatalf("Generate = %+v, %v", c, err)
		}
	}
	var with []bool
	for _, body := range *got {
		with = append(with, hasOption(body))
	}
	if diff := cmp.Diff([]bool{true, false, false}, with); diff != "" { // the endpoint's answer is remembered
		t.Errorf("requests with the option (-want +got):\n%s", diff)
	}
}

func TestAWrongRequestIsNotSentAgainToAnEndpointThatKnowsUsage(t *testing.T) {
	p, got := strict(t, func(body string) bool { return strings.Contains(body, "wrong") })
	if _, err := p.Generate(t.Context(), "m", ask("Hi"), func(string) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Generate(t.Context(), "m", ask("wrong"), func(string) {}); err == nil || !strings.Contains(err.Error(), "Extra inputs") {
		t.Errorf("Generate = %v", err)
	}
	if len(*got) != 2 {
		t.Errorf("the endpoint got %d requests", len(*got))
	}
}

func TestAnthropicUsage(t *testing.T) {
	start := func(usage string) string {
		return fmt.Sprintf(`{"type":"message_start","message":{"model":"claude-x","usage":%s}}`, usage)
	}
	stop := func(usage string) string {
		return fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":%s}`, usage)
	}
	tests := []struct {
		name, start, stop string
		want              *model.Usage
	}{
		{"the rest at the end", start(`{"input_tokens":9,"output_tokens":1}`), stop(`{"output_tokens":2}`), &model.Usage{InputTokens: 9, OutputTokens: 2}},
		{"cached input is input", start(`{"input_tokens":9,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":1}`), stop(`{"output_tokens":2}`), &model.Usage{InputTokens: 1109, OutputTokens: 2}},
		{"all of it again at the end", start(`{"input_tokens":9,"cache_read_input_tokens":1000,"output_tokens":1}`), stop(`{"input_tokens":10,"cache_read_input_tokens":1001,"output_tokens":2}`), &model.Usage{InputTokens: 1011, OutputTokens: 2}},
		{"none", start(`null`), stop(`null`), nil},
		{"less than nothing", start(`{"input_tokens":9,"cache_read_input_tokens":-1000}`), stop(`{"output_tokens":-2}`), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := claude(t, http.StatusOK, claudeEvents(tt.start, claudeText("x"), tt.stop, claudeEnd))
			c, err := p.Generate(t.Context(), "claude-x", ask("Hi"), func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, c.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEstimate(t *testing.T) {
	of := func(blocks ...protocol.ContentBlock) *protocol.McpSamplingRequest {
		r := ask("")
		r.Messages[0].Content = blocks
		return r
	}
	text := protocol.TextContent{Text: strings.Repeat("word", 1000)}
	picture := protocol.ImageContent{Data: strings.Repeat("A", 4<<20), MIMEType: "image/png"}
	tools := of()
	tools.Tools = []protocol.SamplingTool{{Name: "get", InputSchema: []byte(strings.Repeat("word", 500))}}
	prompt := of()
	prompt.SystemPrompt = strings.Repeat("word", 700)
	tests := []struct {
		name        string
		request     *protocol.McpSamplingRequest
		least, most int64
	}{
		{"nothing", of(), 1, 10},
		{"text", of(text), 1000, 1020},
		{"a system prompt", prompt, 700, 720},
		{"a picture, of whatever size", of(picture), 1000, 2000},
		{"a second of sound", of(protocol.AudioContent{Data: strings.Repeat("A", 20_000)}), 10, 100},
		{"tools", tools, 500, 520},
		{"a call", of(protocol.ToolUseContent{Name: "get", Input: []byte(text.Text)}), 1000, 1020},
		{"a result", of(protocol.ToolResultContent{Content: []protocol.ToolResultBlock{text, picture}}), 2000, 3020},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.request.MaxTokens = math.MaxInt64 // not part of the estimate
			if got := model.Estimate(tt.request); got < tt.least || got > tt.most {
				t.Errorf("Estimate = %d, want %d to %d", got, tt.least, tt.most)
			}
		})
	}
	if got := model.EstimateText("four"); got != 1 {
		t.Errorf("EstimateText of a word = %d", got)
	}
}

// The maximum of a server's MaxTokens fits no model, and does not overflow.
func TestALimitWithoutBoundFitsNowhere(t *testing.T) {
	request := ask("?")
	request.MaxTokens = math.MaxInt64
	_, why, err := set(protocol.ModelSettings{}, listed{provider: protocol.ProviderOpenAI, ids: []string{"gpt-3.5-turbo", "gpt-4o"}}).Propose(t.Context(), request)
	if err != nil || !strings.Contains(why, "No model is known to take a request of this length.") {
		t.Errorf("Propose = %q, %v", why, err)
	}
}

func TestCost(t *testing.T) {
	tests := []struct {
		name    string
		facts   protocol.ModelFacts
		in, out int64
		want    float64
		known   bool
	}{
		{"priced", protocol.ModelFacts{InputCost: new(3.0), OutputCost: new(15.0)}, 2_000_000, 100_000, 7.5, true},
		{"free", protocol.ModelFacts{InputCost: new(0.0), OutputCost: new(0.0)}, 2_000_000, 100_000, 0, true},
		{"nothing known", protocol.ModelFacts{}, 1, 1, 0, false},
		{"half known", protocol.ModelFacts{InputCost: new(3.0)}, 1, 1, 0, false},
		{"a price below zero", protocol.ModelFacts{InputCost: new(-3.0), OutputCost: new(1.0)}, 1, 1, 0, false},
		{"a price beyond measure", protocol.ModelFacts{InputCost: new(math.MaxFloat64), OutputCost: new(math.MaxFloat64)}, math.MaxInt64, 1, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dollars, known := model.Cost(tt.facts, tt.in, tt.out)
			if math.Abs(dollars-tt.want) > 1e-9 || known != tt.known {
				t.Errorf("Cost = %v, %v; want %v, %v", dollars, known, tt.want, tt.known)
			}
		})
	}
}
