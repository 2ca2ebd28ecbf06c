package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/model"
)

// endpoint answers with a body, and records the request.
func endpoint(t *testing.T, status int, body string) (model.Provider, *map[string]any) {
	t.Helper()
	var got map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer sk-1" {
			t.Errorf("%s %s, Authorization %q", r.Method, r.URL.Path, r.Header.Get("Authorization"))
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		if status == http.StatusOK {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // a client stops reading after an invalid answer
	}))
	t.Cleanup(server.Close)
	settings := protocol.EndpointSettings{BaseURL: server.URL + "/v1/", Models: []string{"gpt-x"}, APIKey: &protocol.Secret{Secret: "sk-1"}}
	return openAI(settings), &got
}

func openAI(settings protocol.EndpointSettings) model.Provider {
	settings.Provider = protocol.ProviderOpenAI
	return model.Endpoints(protocol.ModelSettings{Endpoints: []protocol.EndpointSettings{settings}}, http.DefaultClient)[protocol.ProviderOpenAI]
}

// events returns a stream of chunks.
func events(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		fmt.Fprintf(&b, "data: {\"id\":\"1\",\"model\":\"gpt-x-2026\",\"choices\":[%s]}\n\n", c)
	}
	return b.String()
}

const done = "data: [DONE]\n\n"

func delta(text string) string {
	return fmt.Sprintf(`{"index":0,"delta":{"content":%q}}`, text)
}

func finish(reason string) string {
	return fmt.Sprintf(`{"index":0,"delta":{},"finish_reason":%q}`, reason)
}

func TestOpenAIStreams(t *testing.T) {
	p, got := endpoint(t, http.StatusOK, events(delta("Hel"), delta("lo"), finish("length"))+done)
	request := &protocol.McpSamplingRequest{
		SystemPrompt: "Be brief.",
		Messages: []protocol.SamplingMessage{
			{Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.TextContent{Text: "Hi"}}},
			{Role: protocol.RoleAssistant, Content: []protocol.ContentBlock{protocol.TextContent{Text: "Yes?"}}},
			{Role: protocol.RoleUser, Content: []protocol.ContentBlock{
				protocol.TextContent{Text: "What is this?"}, protocol.ImageContent{Data: "QQ==", MIMEType: "image/png"},
			}},
		},
		MaxTokens: 7, Temperature: new(0.5), StopSequences: []string{"."},
	}
	var pieces []string
	c, err := p.Generate(t.Context(), "gpt-x", request, func(s string) {
		if s != "" {
			pieces = append(pieces, s)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&model.Completion{Text: "Hello", Model: "gpt-x-2026", StopReason: "maxTokens"}, c); diff != "" {
		t.Errorf("completion (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Hel", "lo"}, pieces); diff != "" {
		t.Errorf("pieces (-want +got):\n%s", diff)
	}
	want := map[string]any{
		"model": "gpt-x", "stream": true, "stream_options": map[string]any{"include_usage": true}, "max_tokens": 7.0, "temperature": 0.5, "stop": []any{"."},
		"messages": []any{
			map[string]any{"role": "system", "content": "Be brief."},
			map[string]any{"role": "user", "content": "Hi"},
			map[string]any{"role": "assistant", "content": "Yes?"},
			map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "text", "text": "What is this?"},
				map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64,QQ=="}},
			}},
		},
	}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Errorf("the endpoint got (-want +got):\n%s", diff)
	}
}

func TestOpenAIForwardsATemperatureOfZero(t *testing.T) {
	p, got := endpoint(t, http.StatusOK, events(delta("x"), finish("stop"))+done)
	request := ask("Hi")
	request.Temperature = new(0.0)
	if _, err := p.Generate(t.Context(), "gpt-x", request, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if temperature, ok := (*got)["temperature"].(float64); !ok || temperature > 1e-30 {
		t.Errorf("the endpoint got the temperature %v", (*got)["temperature"])
	}
	request.Temperature = nil
	if _, err := p.Generate(t.Context(), "gpt-x", request, func(string) {}); err != nil {
		t.Fatal(err)
	}
}

func TestOpenAIKnowsTheNewerNameOfTheLimit(t *testing.T) {
	p, got := endpoint(t, http.StatusOK, events(delta("x"), finish("stop"))+done)
	if _, err := p.Generate(t.Context(), "o3-mini", ask("Hi"), func(string) {}); err != nil {
		t.Fatal(err)
	}
	if (*got)["max_completion_tokens"] != 500.0 || (*got)["max_tokens"] != nil {
		t.Errorf("the endpoint got %v", *got)
	}
}

func TestOpenAIFailures(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		kind   error
		want   string
	}{
		{"a wrong key", 401, `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error"}}`, model.ErrFailed, "did not accept the API key: Incorrect API key provided"},
		{"too many requests", 429, `{"error":{"message":"Rate limit reached"}}`, model.ErrFailed, "Rate limit reached"},
		{"a page instead of JSON", 502, `<html>Bad gateway</html>`, model.ErrFailed, "502"},
		{"a refusal", 200, events(`{"index":0,"delta":{"refusal":"I cannot help with that."}}`, finish("stop")) + done, model.ErrRefused, "I cannot help with that."},
		{"a content filter", 200, events(delta("Well, "), finish("content_filter")) + done, model.ErrRefused, "content filter"},
		{"an empty answer", 200, events(finish("stop")) + done, model.ErrFailed, "empty answer"},
		{"an end in the middle", 200, events(delta("Well, ")), model.ErrFailed, "ended its answer in the middle"},
		{"an error in the middle", 200, events(delta("Well, ")) + "data: {\"error\":{\"message\":\"overloaded\"}}\n\n", model.ErrFailed, "overloaded"},
		{"garbage", 200, "data: {]\n\n", model.ErrFailed, "sent what cannot be read: invalid character"},
		{"JSON of another shape", 200, "data: {\"choices\":7}\n\n", model.ErrFailed, "sent what cannot be read: json: cannot unmarshal"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := endpoint(t, tt.status, tt.body)
			_, err := p.Generate(t.Context(), "gpt-x", ask("Hi"), func(string) {})
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Generate = %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "sk-1") {
				t.Errorf("the error holds the key: %v", err)
			}
		})
	}
	down := openAI(protocol.EndpointSettings{BaseURL: "http://127.0.0.1:1/v1", Models: []string{"m"}})
	if _, err := down.Generate(t.Context(), "m", ask("Hi"), func(string) {}); !errors.Is(err, model.ErrFailed) || strings.Count(err.Error(), "http://127.0.0.1:1") != 1 {
		t.Errorf("an endpoint that is down = %v", err)
	}
	p, _ := endpoint(t, 200, "")
	sound := &protocol.McpSamplingRequest{MaxTokens: 1, Messages: []protocol.SamplingMessage{
		{Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.AudioContent{}}},
	}}
	if _, err := p.Generate(t.Context(), "m", sound, func(string) {}); !errors.Is(err, model.ErrFailed) || !strings.Contains(err.Error(), "text, images and tools only") {
		t.Errorf("a sound = %v", err)
	}
}

func call(index int, id, name, arguments string) string {
	return fmt.Sprintf(`{"index":0,"delta":{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}]}}`, index, id, name, arguments)
}

func TestOpenAIForwardsTools(t *testing.T) {
	p, got := endpoint(t, http.StatusOK, events(delta("x"), finish("stop"))+done)
	if _, err := p.Generate(t.Context(), "gpt-x", weather(), func(string) {}); err != nil {
		t.Fatal(err)
	}
	function := func(id, arguments string) map[string]any {
		return map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "get", "arguments": arguments}}
	}
	want := []any{
		map[string]any{"role": "system", "content": "Be brief."},
		map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "text", "text": "Paris?"},
			map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64,QQ=="}},
		}},
		map[string]any{"role": "assistant", "content": "I look.", "tool_calls": []any{function("c1", `{"city":"Paris"}`), function("c2", `{}`)}},
		map[string]any{"role": "tool", "tool_call_id": "c1", "content": "18\ncloudy"},
		map[string]any{"role": "tool", "tool_call_id": "c2", "content": "The tool failed: no city"},
	}
	if diff := cmp.Diff(want, (*got)["messages"]); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	wantTools := []any{
		map[string]any{"type": "function", "function": map[string]any{
			"name": "get", "description": "The weather",
			"parameters": map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}},
		}},
		map[string]any{"type": "function", "function": map[string]any{"name": "bare", "parameters": map[string]any{"type": "object"}}},
	}
	if diff := cmp.Diff(wantTools, (*got)["tools"]); diff != "" || (*got)["tool_choice"] != "required" {
		t.Errorf("tool_choice is %v, tools (-want +got):\n%s", (*got)["tool_choice"], diff)
	}
}

func TestOpenAICallsTools(t *testing.T) {
	paris := protocol.ToolUseContent{ID: "a", Name: "get", Input: []byte(`{"city":"Paris"}`)}
	london := protocol.ToolUseContent{ID: "b", Name: "get", Input: []byte(`{"city":"London"}`)}
	tests := []struct {
		name   string
		stream string
		want   []protocol.ToolUseContent
	}{
		{"in pieces, at once", events(
			call(0, "a", "get", ""), call(1, "b", "get", `{"city":`), call(0, "", "", `{"city":"Paris"}`), call(1, "", "", `"London"}`),
			finish("tool_calls")) + done, []protocol.ToolUseContent{paris, london}},
		{"whole, with one number, as Gemini does", events(
			call(0, "a", "get", `{"city":"Paris"}`), call(0, "b", "get", `{"city":"London"}`),
			finish("stop")) + done, []protocol.ToolUseContent{paris, london}},
		{"without ids or arguments", events(
			`{"index":0,"delta":{"tool_calls":[{"type":"function","function":{"name":"bare"}}]}}`,
			finish("tool_calls")) + done, []protocol.ToolUseContent{{ID: "call_1", Name: "bare", Input: []byte(`{}`)}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := endpoint(t, http.StatusOK, tt.stream)
			c, err := p.Generate(t.Context(), "gpt-x", weather(), func(string) {})
			want := &model.Completion{Model: "gpt-x-2026", StopReason: "toolUse", ToolUses: tt.want}
			if diff := cmp.Diff(want, c); diff != "" || err != nil {
				t.Errorf("completion (-want +got):\n%s%v", diff, err)
			}
		})
	}
	var many []string
	for i := range 2000 {
		many = append(many, call(i, "", "get", "{}"))
	}
	for name, stream := range map[string]string{
		"more than 1024 tools": events(many...) + done,
		"more than 1024 KiB":   events(call(0, "a", "get", strings.Repeat("x", 2<<20))) + done,
	} {
		p, _ := endpoint(t, http.StatusOK, stream)
		if _, err := p.Generate(t.Context(), "gpt-x", weather(), func(string) {}); !errors.Is(err, model.ErrFailed) || !strings.Contains(err.Error(), name) {
			t.Errorf("Generate = %v, want %q", err, name)
		}
	}
	p, _ := endpoint(t, http.StatusOK, "")
	sound := weather()
	sound.Messages[2].Content = []protocol.ContentBlock{protocol.ToolResultContent{Content: []protocol.ToolResultBlock{protocol.AudioContent{}}}}
	if _, err := p.Generate(t.Context(), "gpt-x", sound, func(string) {}); !errors.Is(err, model.ErrFailed) || !strings.Contains(err.Error(), "no more than text and images from a tool") {
		t.Errorf("a sound of a tool = %v", err)
	}
}

// This API allows only text in tool results, so their images follow after all of them.
func TestOpenAIForwardsTheImagesOfTools(t *testing.T) {
	p, got := endpoint(t, http.StatusOK, events(delta("x"), finish("stop"))+done)
	request := weather()
	result := func(id string, content ...protocol.ToolResultBlock) protocol.ContentBlock {
		return protocol.ToolResultContent{ToolUseID: id, Content: content}
	}
	request.Messages = []protocol.SamplingMessage{{Role: protocol.RoleUser, Content: []protocol.ContentBlock{
		result("c1", protocol.TextContent{Text: "A map:"}, protocol.ImageContent{Data: "QQ==", MIMEType: "image/png"}),
		result("c2", protocol.TextContent{Text: "18"}),
	}}}
	request.SystemPrompt = ""
	if _, err := p.Generate(t.Context(), "gpt-x", request, func(string) {}); err != nil {
		t.Fatal(err)
	}
	want := []any{
		map[string]any{"role": "tool", "tool_call_id": "c1", "content": "A map:\n(an image, which follows)"},
		map[string]any{"role": "tool", "tool_call_id": "c2", "content": "18"},
		map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64,QQ=="}},
		}},
	}
	if diff := cmp.Diff(want, (*got)["messages"]); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// Invalid arguments of a model are passed on. The caller decides about them.
func TestOpenAIPassesOnArgumentsThatAreNone(t *testing.T) {
	p, _ := endpoint(t, http.StatusOK, events(call(0, "a", "get", "[1"), finish("tool_calls"))+done)
	c, err := p.Generate(t.Context(), "gpt-x", weather(), func(string) {})
	if err != nil || len(c.ToolUses) != 1 || string(c.ToolUses[0].Input) != "[1" {
		t.Errorf("Generate = %+v, %v", c, err)
	}
}

// The parts that a reasoning model does not support are listed with the model, and not sent.
func TestOpenAISaysWhatItLeavesOut(t *testing.T) {
	p, got := endpoint(t, http.StatusOK, events(delta("x"), finish("stop"))+done)
	if _, err := p.Generate(t.Context(), "o3-mini", weather(), func(string) {}); err != nil {
		t.Fatal(err)
	}
	if (*got)["temperature"] != nil || (*got)["stop"] != nil {
		t.Errorf("the endpoint got %v", *got)
	}
	models, err := openAI(protocol.EndpointSettings{Models: []string{"o3-mini"}}).Models(t.Context())
	want := []protocol.Model{{ID: "openai:o3-mini", Name: "o3-mini", Provider: protocol.ProviderOpenAI, Cannot: []protocol.RequestPart{
		protocol.PartAudio, protocol.PartTemperature, protocol.PartStopSequences,
	}}}
	if diff := cmp.Diff(want, models); diff != "" || err != nil {
		t.Errorf("models (-want +got):\n%s%v", diff, err)
	}
}
