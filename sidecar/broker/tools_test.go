package broker_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/model"
	"assent/sidecar/task/tasktest"
)

// caller is a provider with one model, which calls tools.
type caller struct {
	completion model.Completion
	got        protocol.McpSamplingRequest
}

func (c *caller) Models(context.Context) ([]protocol.Model, error) {
	return []protocol.Model{{ID: "openai:caller", Name: "Caller", Provider: protocol.ProviderOpenAI, ModelFacts: protocol.ModelFacts{Tools: new(true)}}}, nil
}

func (c *caller) Generate(_ context.Context, _ string, r *protocol.McpSamplingRequest, _ func(string)) (*model.Completion, error) {
	c.got = *r
	made := c.completion
	return &made, nil
}

func use(id, name, input string) protocol.ToolUseContent {
	return protocol.ToolUseContent{ID: id, Name: name, Input: json.RawMessage(input)}
}

const withTools = `{"messages":[{"role":"user","content":{"type":"text","text":"Weather?"}}],"maxTokens":50,
	"tools":[{"name":"weather","description":"d","inputSchema":{"type":"object"}},{"name":"time","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"auto"}}`

func TestCallsOfToolsAreReviewed(t *testing.T) {
	first, second := use("c1", "weather", `{"city":"Oslo"}`), use("c2", "time", `{}`)
	both := `[{"type":"text","text":"Let me see."},{"type":"tool_use","id":"c1","name":"weather","input":{"city":"Oslo"}},{"type":"tool_use","id":"c2","name":"time","input":{}}]`
	tests := []struct {
		name     string
		content  []protocol.ContentBlock
		want     string // of the result's content
		stop     string
		isEdited bool
	}{
		{"as they are", nil, both, "toolUse", false},
		{"sent back unchanged", []protocol.ContentBlock{protocol.TextContent{Text: "Let me see."}, first, second}, both, "toolUse", false},
		{"one is left out", []protocol.ContentBlock{first}, `{"type":"tool_use","id":"c1","name":"weather","input":{"city":"Oslo"}}`, "toolUse", true},
		{"another input", []protocol.ContentBlock{use("c1", "weather", `{"city":"Rome"}`), second}, `[{"type":"tool_use","id":"c1","name":"weather","input":{"city":"Rome"}},{"type":"tool_use","id":"c2","name":"time","input":{}}]`, "toolUse", true},
		{"none is left", text("I would rather not."), `{"type":"text","text":"I would rather not."}`, "endTurn", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			provider := &caller{completion: model.Completion{Text: "Let me see.", ToolUses: []protocol.ToolUseContent{first, second}, Model: "c", StopReason: "toolUse"}}
			f := newFixture(t, provider)
			f.review = protocol.ReviewAlways
			if !f.DeclareSampling(t.Context(), "s").Tools {
				t.Fatal("tools are not declared")
			}
			done := f.serve(t.Context(), f.CreateMessage, withTools)
			approved := f.answerNext(t, yes)
			review := f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, SamplingContent: tt.content}, approved.AskID)
			if n := len(review.Question.(protocol.McpSamplingReview).SamplingResponse.Content); n != 3 {
				t.Errorf("the person was shown %d blocks, want 3", n)
			}
			got := <-done
			if got.err != nil {
				t.Fatal(got.err)
			}
			wantJSON(t, got.result, `{"role":"assistant","content":`+tt.want+`,"model":"c","stopReason":"`+tt.stop+`"}`)
			if len(provider.got.Tools) != 2 || provider.got.ToolChoice == nil {
				t.Errorf("the model was offered %+v", provider.got)
			}
			if kept := f.settled(t, review.AskID); (kept.SentResponse != nil) != tt.isEdited {
				t.Errorf("what is kept of the edit = %+v", kept.SentResponse)
			}
		})
	}
}

// settled returns the review after it was settled.
func (f *fixture) settled(t *testing.T, askID string) protocol.McpSamplingReview {
	t.Helper()
	opened, err := f.task.Open(t.Context(), 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range opened.Messages {
		if ask, ok := m.Body.(protocol.Ask); ok && ask.AskID == askID {
			return ask.Question.(protocol.McpSamplingReview)
		}
	}
	t.Fatal("the review is gone")
	return protocol.McpSamplingReview{}
}

func TestCallsThatTheModelDidNotMakeAreRefused(t *testing.T) {
	f := newFixture(t, &caller{completion: model.Completion{ToolUses: []protocol.ToolUseContent{use("c1", "weather", `{}`), use("c2", "time", `{}`)}, Model: "c", StopReason: "toolUse"}})
	f.review = protocol.ReviewAlways
	f.DeclareSampling(t.Context(), "s")
	done := f.serve(t.Context(), f.CreateMessage, withTools)
	approved := f.answerNext(t, yes)
	review, _ := tasktest.AwaitAsk(t, f.events, approved.AskID)
	for name, content := range map[string][]protocol.ContentBlock{
		"nothing":        {},
		"a text":         text("x"),
		"another tool":   {use("c1", "time", `{}`)},
		"another call":   {use("c3", "weather", `{}`)},
		"another order":  {use("c2", "time", `{}`), use("c1", "weather", `{}`)},
		"an input twice": {use("c1", "weather", `{}`), use("c1", "weather", `{}`)},
		"no object":      {use("c1", "weather", `[]`)},
	} {
		// This is as on the wire, where an empty list must not become an absent one.
		raw, err := json.Marshal(map[string]any{"askId": review.AskID, "askResponse": protocol.YesButtonClicked, "samplingContent": content})
		if err != nil {
			t.Fatal(err)
		}
		var params protocol.AskResponseParams
		if err := json.Unmarshal(raw, &params); err != nil {
			t.Fatal(err)
		}
		_, err = f.task.Answer(t.Context(), &params, "a test")
		if e := (*protocol.Error)(nil); !errors.As(err, &e) || e.Code != protocol.CodeInvalidAnswer {
			t.Errorf("%s: Answer = %v", name, err)
		}
	}
	f.answerNext(t, yes, approved.AskID)
	if got := <-done; got.err != nil {
		t.Error(got.err)
	}
}

func TestToolsInARequest(t *testing.T) {
	const (
		ask     = `{"role":"user","content":{"type":"text","text":"x"}}`
		calls   = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}},{"type":"tool_use","id":"b","name":"t","input":{}}]}`
		results = `{"role":"user","content":[{"type":"tool_result","toolUseId":"a","content":[{"type":"text","text":"1"}]},{"type":"tool_result","toolUseId":"b","content":[],"isError":true}]}`
	)
	tests := []struct {
		name, messages, more, want string
	}{
		{"a round of tools", ask + "," + calls + "," + results, `"tools":[]`, ""},
		{"a round of tools, and a text", ask + "," + calls + "," + results + `,{"role":"assistant","content":{"type":"text","text":"y"}},` + ask, `"toolChoice":{"mode":"none"}`, ""},
		{"a result without its call", ask + "," + results, `"tools":[]`, `messages[1]: content: the tool result "a" matches no call`},
		{"calls without results", ask + "," + calls, `"tools":[]`, `messages[1]: content: Tool result missing in request: "a", "b"`},
		{"a call without its result", ask + "," + calls + `,{"role":"user","content":[{"type":"tool_result","toolUseId":"a","content":[]}]}`, `"tools":[]`, `messages[2]: content: Tool result missing in request: "b"`},
		{"something before the results", ask + "," + calls + "," + ask + "," + results, `"tools":[]`, `messages[2]: content: Tool result missing in request`},
		{"results and something else", ask + "," + calls + `,{"role":"user","content":[{"type":"tool_result","toolUseId":"a","content":[]},{"type":"tool_result","toolUseId":"b","content":[]},{"type":"text","text":"x"}]}`, `"tools":[]`, "messages[2]: content: Tool results mixed with other content"},
		{"a result twice", ask + "," + calls + `,{"role":"user","content":[{"type":"tool_result","toolUseId":"a","content":[]},{"type":"tool_result","toolUseId":"a","content":[]}]}`, `"tools":[]`, `the tool result "a" is there twice`},
		{"a call twice", `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}},{"type":"tool_use","id":"a","name":"t","input":{}}]}`, `"tools":[]`, `the tool use "a" is there twice`},
		{"a call of the user's", `{"role":"user","content":{"type":"tool_use","id":"a","name":"t","input":{}}}`, `"tools":[]`, "only the assistant can use tools"},
		{"a result of the assistant's", `{"role":"assistant","content":{"type":"tool_result","toolUseId":"a","content":[]}}`, `"tools":[]`, "only the user can give tool results"},
		{"a call without a name", `{"role":"assistant","content":{"type":"tool_use","id":"a","input":{}}}`, `"tools":[]`, "a tool use needs an id and a name"},
		{"an input that is no object", `{"role":"assistant","content":{"type":"tool_use","id":"a","name":"t","input":"x"}}`, `"tools":[]`, `the input of the tool use "a" is not a JSON object`},
		{"a picture in a result that is none", ask + "," + calls + `,{"role":"user","content":[{"type":"tool_result","toolUseId":"a","content":[{"type":"image","data":"%","mimeType":"image/png"}]},{"type":"tool_result","toolUseId":"b","content":[]}]}`, `"tools":[]`, `messages[2]: content: the tool result "a": data is not base64`},
		{"a tool without a name", ask, `"tools":[{"inputSchema":{}}]`, "tools[0]: name is missing"},
		{"a tool twice", ask, `"tools":[{"name":"t","inputSchema":{}},{"name":"t","inputSchema":{}}]`, `tools[1]: the name "t" is there twice`},
		{"a tool without a schema", ask, `"tools":[{"name":"t","inputSchema":5}]`, "tools[0]: inputSchema is not a JSON object"},
		{"tools that are none", ask, `"tools":"all"`, "params cannot be read"},
		{"an unknown choice", ask, `"tools":[],"toolChoice":{"mode":"maybe"}`, `mode is "maybe"`},
		{"a choice of nothing", ask, `"tools":[],"toolChoice":{"mode":"required"}`, "a tool is required, and there is none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, &caller{completion: model.Completion{Text: "z", Model: "c"}})
			params := `{"maxTokens":5,"messages":[` + tt.messages + `],` + tt.more + `}`
			if _, err := f.CreateMessage(t.Context(), request(f.task, origin, params)); err == nil {
				t.Error("tools were taken that were not declared")
			} else {
				wantError(t, err, jsonrpc.CodeInvalidParams, "")
			}
			f.DeclareSampling(t.Context(), "s")
			done := f.serve(t.Context(), f.CreateMessage, params)
			if tt.want == "" {
				f.answerNext(t, yes)
				if got := <-done; got.err != nil {
					t.Error(got.err)
				}
				return
			}
			wantError(t, (<-done).err, jsonrpc.CodeInvalidParams, tt.want)
		})
	}
}

func TestToolsAreDeclaredWhereAModelCallsThem(t *testing.T) {
	if f := newFixture(t, &scripted{}); f.DeclareSampling(t.Context(), "s").Tools {
		t.Error("no model is known to call tools, and they are declared")
	}
	f := newFixtureWith(t, &caller{}, protocol.ModelSettings{Allowed: []protocol.AllowedModels{{ServerName: "poor"}}})
	if f.DeclareSampling(t.Context(), "poor").Tools {
		t.Error("the server may have no model, and tools are declared")
	}
	if !f.DeclareSampling(t.Context(), "rich").Tools {
		t.Error("tools are not declared")
	}
}
