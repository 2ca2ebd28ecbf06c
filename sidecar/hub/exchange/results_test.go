package exchange_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/hub/exchange"
)

func TestResultsAreReadWhereTheirMeaningIsClear(t *testing.T) {
	text := func(text string) protocol.ContentBlock { return protocol.TextContent{Text: text} }
	unknown := func(raw string) protocol.ContentBlock {
		return protocol.UnknownContent{Raw: json.RawMessage(raw)}
	}
	memo := protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "memo://1", Text: "hi"}}
	for _, tt := range []struct {
		name, method, result string
		content              []protocol.ContentBlock
	}{
		{"a text", "tools/call", `{"content":"hi"}`, []protocol.ContentBlock{text("hi")}},
		{"one block", "tools/call", `{"content":{"type":"text","text":"hi"}}`, []protocol.ContentBlock{text("hi")}},
		{"a list of texts", "tools/call", `{"content":["hi","ho"]}`, []protocol.ContentBlock{text("hi"), text("ho")}},
		{"a text without a type", "tools/call", `{"content":[{"text":"hi"}]}`, []protocol.ContentBlock{text("hi")}},
		{"a flat resource", "tools/call", `{"content":[{"type":"resource","uri":"memo://1","text":"hi"}]}`, []protocol.ContentBlock{memo}},
		{"a resource without contents", "tools/call", `{"content":[{"type":"resource","resource":{"uri":"x"}}]}`, []protocol.ContentBlock{unknown(`{"type":"resource","resource":{"uri":"x"}}`)}},
		{"a block without its text", "tools/call", `{"content":[{"type":"text"},{"type":"image"}]}`, []protocol.ContentBlock{unknown(`{"type":"text"}`), unknown(`{"type":"image"}`)}},
		{"a block of another kind", "tools/call", `{"content":[{"type":"chart","x":1},5,null]}`, []protocol.ContentBlock{unknown(`{"type":"chart","x":1}`), unknown(`5`), unknown(`null`)}},
		{"isError that is a text", "tools/call", `{"content":["hi"],"isError":"no"}`, []protocol.ContentBlock{text("hi")}},
		{"a member in other letters", "tools/call", `{"content":["hi"],"IsError":5}`, []protocol.ContentBlock{text("hi")}},
		{"structuredContent that is null", "tools/call", `{"content":["hi"],"structuredContent":null}`, []protocol.ContentBlock{text("hi")}},
		{"a list with gaps, in PHP", "tools/call", `{"content":{"0":"hi","2":{"type":"text","text":"ho"}}}`, []protocol.ContentBlock{text("hi"), text("ho")}},
		{"a result in a result", "tools/call", `{"result":{"content":["hi"]}}`, []protocol.ContentBlock{text("hi")}},
		{"another member result", "tools/call", `{"content":["hi"],"result":{"content":["ho"]}}`, []protocol.ContentBlock{text("hi")}},
		{"nothing, which is said", "tools/call", `{"content":[]}`, nil},
		{"one resource", "resources/read", `{"contents":{"uri":"memo://1","text":"hi"}}`, []protocol.ContentBlock{memo}},
		{"a text for a resource", "resources/read", `{"contents":["hi"]}`, []protocol.ContentBlock{protocol.EmbeddedResource{Resource: protocol.ResourceContents{Text: "hi"}}}},
		{"a resource with odd members", "resources/read", `{"contents":[{"uri":"memo://1","text":"hi","mimeType":5}]}`, []protocol.ContentBlock{memo}},
		{"a block with odd members", "tools/call", `{"content":[{"type":"resource_link","uri":"x:y","name":"n","title":5},{"type":"resource","resource":{"uri":"memo://1","text":"hi","mimeType":5}}]}`, []protocol.ContentBlock{protocol.ResourceLink{URI: "x:y", Name: "n"}, memo}},
		{"an odd resource beside a good one", "resources/read", `{"contents":[{"uri":5},{"uri":"memo://1","text":"hi"}]}`, []protocol.ContentBlock{unknown(`{"uri":5}`), memo}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := exchange.ParseResult("s", tt.method, json.RawMessage(tt.result)).(protocol.ToolResult)
			if diff := cmp.Diff(tt.content, got.Content); diff != "" || !ok || got.IsError || got.StructuredContent != nil {
				t.Errorf("%+v, content (-want +got):\n%s", got, diff)
			}
		})
	}
}

func TestPromptsAreReadWhereTheirMeaningIsClear(t *testing.T) {
	const prompt = `{"description":5,"messages":[{"role":"assistant","content":"hi"},{"content":{"type":"text","text":"ho"}},"he"]}`
	want := protocol.PromptResult{Messages: []protocol.PromptMessage{
		{Role: protocol.RoleAssistant, Content: protocol.TextContent{Text: "hi"}},
		{Role: protocol.RoleUser, Content: protocol.TextContent{Text: "ho"}},
		{Role: protocol.RoleUser, Content: protocol.UnknownContent{Raw: json.RawMessage(`"he"`)}},
	}}
	if diff := cmp.Diff(protocol.CallResult(want), exchange.ParseResult("s", "prompts/get", json.RawMessage(prompt))); diff != "" {
		t.Errorf("prompt (-want +got):\n%s", diff)
	}
}

func TestAResultThatSaysNothingIsNoSilentSuccess(t *testing.T) {
	for _, tt := range []struct{ name, method, result, want string }{
		{"nothing", "tools/call", `{}`, `its result has no "content"`},
		{"null", "tools/call", `null`, `its result is null and must be an object`},
		{"a list", "tools/call", `[]`, `its result is an array and must be an object`},
		{"a list of blocks", "tools/call", `[{"type":"text"}]`, `its result is an array and must be an object: [{"type":"text"}]`},
		{"a text", "tools/call", `"42"`, `its result is a string and must be an object: "42"`},
		{"content that is null", "tools/call", `{"content":null,"_meta":{}}`, `its result has no "content"`},
		{"a result without content in a result", "tools/call", `{"result":{"a":1}}`, `its result has no "content", and has "result": {"a":1}`},
		{"another member", "tools/call", `{"toolResult":{"a":1}}`, `its result has no "content", and has "toolResult": {"a":1}`},
		{"a task", "tools/call", `{"task":{"taskId":7}}`, `its result has no "content", and the MCP task in it cannot be read: {"taskId":7}`},
		{
			"a question", "tools/call", `{"inputRequests":{"a":{}}}`,
			`its result has no "content", and asks a question in "inputRequests" without "resultType": "input_required"`,
		},
		{"content that is a number", "tools/call", `{"content":7}`, `"content" is a number and must be an array`},
		{"no contents", "resources/read", `{}`, `its result has no "contents"`},
		{"no messages", "prompts/get", `{"description":"d"}`, `its result has no "messages", and has "description": "d"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := protocol.CallLost{Reason: `The answer of the MCP server "s" cannot be used: ` + tt.want + "."}
			if diff := cmp.Diff(protocol.CallResult(want), exchange.ParseResult("s", tt.method, json.RawMessage(tt.result))); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}
