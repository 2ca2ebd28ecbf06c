package model_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/model"
)

// claude returns Anthropic's provider at a local endpoint that answers with a body.
func claude(t *testing.T, status int, body string) (model.Provider, *request) {
	t.Helper()
	base, got := serve(t, status, nil, body)
	return endpointOf(protocol.ProviderAnthropic, base+"/v1/", "claude-x"), got
}

// claudeEvents returns a stream in Anthropic's format, each event with its name.
func claudeEvents(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		name, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", name, e)
	}
	return b.String()
}

func claudeStart() string {
	return `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"claude-x-20260101","stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}`
}

func claudeText(text string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, text)
}

func claudeStop(reason string) string {
	return fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":2}}`, reason)
}

const claudeEnd = `{"type":"message_stop"}`

// weather returns a request in the middle of a tool loop.
func weather() *protocol.McpSamplingRequest {
	return &protocol.McpSamplingRequest{
		SystemPrompt: "Be brief.",
		Messages: []protocol.SamplingMessage{
			{Role: protocol.RoleUser, Content: []protocol.ContentBlock{
				protocol.TextContent{Text: "Paris?"}, protocol.ImageContent{Data: "QQ==", MIMEType: "image/png"},
			}},
			{Role: protocol.RoleAssistant, Content: []protocol.ContentBlock{
				protocol.TextContent{Text: "I look."},
				protocol.ToolUseContent{ID: "c1", Name: "get", Input: []byte(`{"city":"Paris"}`)},
				protocol.ToolUseContent{ID: "c2", Name: "get"},
			}},
			{Role: protocol.RoleUser, Content: []protocol.ContentBlock{
				protocol.ToolResultContent{ToolUseID: "c1", Content: []protocol.ToolResultBlock{protocol.TextContent{Text: "18"}, protocol.TextContent{Text: "cloudy"}}},
				protocol.ToolResultContent{ToolUseID: "c2", IsError: true, Content: []protocol.ToolResultBlock{protocol.TextContent{Text: "no city"}}},
			}},
		},
		MaxTokens: 7, Temperature: new(0.0), StopSequences: []string{"."},
		Tools: []protocol.SamplingTool{
			{Name: "get", Description: "The weather", InputSchema: []byte(`{"type":"object","properties":{"city":{"type":"string"}}}`)},
			{Name: "bare"},
		},
		ToolChoice: &protocol.ToolChoice{Mode: protocol.ToolChoiceRequired},
	}
}

func TestAnthropicStreams(t *testing.T) {
	p, got := claude(t, http.StatusOK, claudeEvents(
		claudeStart(), `{"type":"ping"}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		claudeText("Hel"), claudeText("lo"),
		`{"type":"content_block_stop","index":0}`,
		claudeStop("stop_sequence"), claudeEnd,
	))
	var pieces strings.Builder
	c, err := p.Generate(t.Context(), "claude-x", weather(), func(s string) { pieces.WriteString(s + "|") })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&model.Completion{Text: "Hello", Model: "claude-x-20260101", StopReason: "stopSequence", Usage: &model.Usage{InputTokens: 9, OutputTokens: 2}}, c); diff != "" {
		t.Errorf("completion (-want +got):\n%s", diff)
	}
	if !strings.Contains(pieces.String(), "|Hel|lo|") {
		t.Errorf("pieces = %q", pieces.String())
	}
	if got.path != "/v1/messages" || got.header.Get("X-Api-Key") != "sk-1" || got.header.Get("Anthropic-Version") != "2023-06-01" || got.header.Get("Authorization") != "" {
		t.Errorf("the endpoint got %s %v", got.path, got.header)
	}
	want := map[string]any{
		"model": "claude-x", "stream": true, "max_tokens": 7.0, "temperature": 0.0, "system": "Be brief.", "stop_sequences": []any{"."},
		"messages": []any{
			map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "text", "text": "Paris?"},
				map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": "QQ=="}},
			}},
			map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "text", "text": "I look."},
				map[string]any{"type": "tool_use", "id": "c1", "name": "get", "input": map[string]any{"city": "Paris"}},
				map[string]any{"type": "tool_use", "id": "c2", "name": "get", "input": map[string]any{}},
			}},
			map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "tool_result", "tool_use_id": "c1", "content": []any{
					map[string]any{"type": "text", "text": "18"}, map[string]any{"type": "text", "text": "cloudy"},
				}},
				map[string]any{"type": "tool_result", "tool_use_id": "c2", "is_error": true, "content": []any{
					map[string]any{"type": "text", "text": "no city"},
				}},
			}},
		},
		"tools": []any{
			map[string]any{"name": "get", "description": "The weather", "input_schema": map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}}},
			map[string]any{"name": "bare", "input_schema": map[string]any{"type": "object"}},
		},
		"tool_choice": map[string]any{"type": "any"},
	}
	if diff := cmp.Diff(want, got.body); diff != "" {
		t.Errorf("the endpoint got (-want +got):\n%s", diff)
	}
}

func TestAnthropicCallsTools(t *testing.T) {
	p, got := claude(t, http.StatusOK, claudeEvents(
		claudeStart(), claudeText("I look."),
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"get","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\":"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"Paris\"}"}}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"bare","input":{}}}`,
		claudeStop("tool_use"), claudeEnd,
	))
	request := weather()
	request.ToolChoice = nil
	c, err := p.Generate(t.Context(), "claude-x", request, func(string) {})
	want := &model.Completion{Text: "I look.", Model: "claude-x-20260101", StopReason: "toolUse", ToolUses: []protocol.ToolUseContent{
		{ID: "toolu_1", Name: "get", Input: []byte(`{"city":"Paris"}`)}, {ID: "toolu_2", Name: "bare", Input: []byte(`{}`)},
	}, Usage: &model.Usage{InputTokens: 9, OutputTokens: 2}}
	if diff := cmp.Diff(want, c); diff != "" || err != nil {
		t.Errorf("completion (-want +got):\n%s%v", diff, err)
	}
	if diff := cmp.Diff(map[string]any{"type": "auto"}, got.body["tool_choice"]); diff != "" {
		t.Errorf("tool_choice (-want +got):\n%s", diff)
	}
}

func TestAnthropicFailures(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		kind   error
		want   string
	}{
		{"a wrong key", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key sk-1"}}`, model.ErrFailed, "did not accept the API key: invalid x-api-key ***. The command Assent: Choose a Model"},
		{"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, model.ErrFailed, "Overloaded"},
		{"overloaded in the middle", 200, claudeEvents(claudeStart(), claudeText("Well, "), `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), model.ErrFailed, "Overloaded"},
		{"a refusal", 200, claudeEvents(claudeStart(), claudeText("Well, "), claudeStop("refusal"), claudeEnd), model.ErrRefused, "declined"},
		{"an empty answer", 200, claudeEvents(claudeStart(), claudeStop("end_turn"), claudeEnd), model.ErrFailed, "empty answer"},
		{"an end in the middle", 200, claudeEvents(claudeStart(), claudeText("Well, ")), model.ErrFailed, "ended its answer in the middle"},
		{"garbage", 200, "data: {]\n\n", model.ErrFailed, "cannot be read"},
		{"another kind of garbage", 200, "<html>\n", model.ErrFailed, "in the middle"},
		{"a line without an end", 200, "data: " + strings.Repeat("x", 5<<20), model.ErrFailed, "too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := claude(t, tt.status, tt.body)
			_, err := p.Generate(t.Context(), "claude-x", weather(), func(string) {})
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Generate = %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "sk-1") {
				t.Errorf("the error holds the key: %v", err)
			}
		})
	}
	p, _ := claude(t, 200, "")
	sound := ask("?")
	sound.Messages[0].Content = []protocol.ContentBlock{protocol.AudioContent{}}
	if _, err := p.Generate(t.Context(), "m", sound, func(string) {}); !errors.Is(err, model.ErrFailed) || !strings.Contains(err.Error(), "has audio") {
		t.Errorf("a sound = %v", err)
	}
}
