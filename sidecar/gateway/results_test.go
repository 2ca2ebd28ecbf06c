package gateway

import (
	"encoding/json"
	"testing"

	"assent/sidecar/gateway/mcpserver"
)

func TestRepeatedResults(t *testing.T) {
	tests := []struct{ name, host, result, want string }{
		{
			"a host that hides it", "gemini-cli-mcp-client-shop",
			`{"content":[{"type":"text","text":"two"}],"structuredContent":{"n":1.50,"a":"\"é<"},"x":1}`,
			`{"content":[{"type":"text","text":"two"},{"type":"text","text":"{\"n\":1.50,\"a\":\"\\\"é<\"}"}],"structuredContent":{"n":1.50,"a":"\"é<"},"x":1}`,
		},
		{
			"a text says the same", "opencode",
			`{"content":[{"type":"text","text":"{ \"a\": 1, \"n\": 1.50 }"}],"structuredContent":{"n":1.50,"a":1}}`,
			`{"content":[{"type":"text","text":"{ \"a\": 1, \"n\": 1.50 }"}],"structuredContent":{"n":1.50,"a":1}}`,
		},
		{
			"a text for each item", "opencode",
			`{"content":[{"type":"text","text":"a"},{"type":"text","text":"2"}],"structuredContent":{"result":["a",2]}}`,
			`{"content":[{"type":"text","text":"a"},{"type":"text","text":"2"}],"structuredContent":{"result":["a",2]}}`,
		},
		{
			"no content", "opencode",
			`{"content":[],"structuredContent":{}}`,
			`{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}`,
		},
		{"none", "opencode", `{"content":[]}`, `{"content":[]}`},
		{"a host that shows it", "claude-code", `{"content":[],"structuredContent":{}}`, `{"content":[],"structuredContent":{}}`},
		{"a text, said before", "mine", `{"content":[{"type":"text","text":"a"}],"structuredContent":"a"}`, `{"content":[{"type":"text","text":"a"}]}`},
		{"a text", "mine", `{"content":[],"structuredContent":"a"}`, `{"content":[{"type":"text","text":"\"a\""}]}`},
		{"a number", "mine", `{"content":[],"structuredContent":1.50}`, `{"content":[{"type":"text","text":"1.50"}]}`},
		{"an empty list", "mine", `{"content":[],"structuredContent":[]}`, `{"content":[{"type":"text","text":"[]"}]}`},
		{"a host that is not known", "mine", `{"content":[],"structuredContent":{}}`, `{"content":[],"structuredContent":{}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := repeated(mcpserver.Client{Name: test.host}, json.RawMessage(test.result)); string(got) != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
