package hub_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
)

func TestAResultIsComparedWithWhatItsToolDeclares(t *testing.T) {
	const declared = `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`
	tests := []struct {
		name, schema, result string
		want                 protocol.ToolResult
	}{
		{
			"as declared, and said twice", declared,
			`{"content":[{"type":"image","data":"QQ==","mimeType":"image/png"},{"type":"text","text":"{ \"id\": 1 }"}],"structuredContent":{"id":1}}`,
			protocol.ToolResult{
				Content:           []protocol.ContentBlock{protocol.ImageContent{Data: "QQ==", MIMEType: "image/png"}, protocol.TextContent{Text: `{ "id": 1 }`}},
				StructuredContent: json.RawMessage(`{"id":1}`),
				Repeats:           []int{1},
			},
		},
		{
			"otherwise", declared, `{"content":[],"structuredContent":{"id":"one"}}`,
			protocol.ToolResult{
				StructuredContent: json.RawMessage(`{"id":"one"}`),
				Mismatches:        []string{"id is a text, and must be a whole number."},
			},
		},
		{
			"with a number that a double cannot hold", declared, `{"content":[],"structuredContent":{"id":9007199254740993}}`,
			protocol.ToolResult{
				StructuredContent: json.RawMessage(`{"id":9007199254740993}`), StructuredText: `{"id":9007199254740993}`,
			},
		},
		{
			"without structured content", declared, `{"content":[]}`,
			protocol.ToolResult{Mismatches: []string{"The result has no structured content, which the tool declares."}},
		},
		{"failed", declared, `{"content":[],"isError":true}`, protocol.ToolResult{IsError: true}},
		{"undeclared", `null`, `{"content":[],"structuredContent":[]}`, protocol.ToolResult{StructuredContent: json.RawMessage(`[]`)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, handshake("s")+`
{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"tool","inputSchema":{"type":"object"},"outputSchema":`+tt.schema+`}]}}
-- client s --
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"tool","arguments":{}}}
-- server s --
{"jsonrpc":"2.0","id":3,"result":`+tt.result+`}
`, "s")
			if _, err := f.Tools(t.Context(), "s"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(protocol.CallResult(tt.want), <-f.call(t.Context(), "t1", "s", "tool")); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAResultCostsTheSameInALongListOfTools(t *testing.T) {
	cost := func(tools int) float64 {
		const tool = `{"name":"tool","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`
		others := strings.Repeat(`,{"name":"other","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`, tools-1)
		f := newFixture(t, handshake("s")+`
{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
-- server s --
{"jsonrpc":"2.0","id":2,"result":{"tools":[`+tool+others+`]}}
`, "s")
		if _, err := f.Tools(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		params, result := json.RawMessage(`{"name":"tool","arguments":{}}`), json.RawMessage(`{"content":[],"structuredContent":{}}`)
		return testing.AllocsPerRun(100, func() { f.ParseResult("s", "tools/call", params, result) })
	}
	if few, many := cost(1), cost(200); many > few+5 {
		t.Errorf("a result takes %v allocations among 200 tools, and %v among one", many, few)
	}
}

func TestTheIdentityOfAServerFollowsItsEnvFile(t *testing.T) {
	s := server("s")
	s.EnvFile = filepath.Join(t.TempDir(), "env")
	f := newFixtureWith(t, s)
	identity := func(variables string) string {
		t.Helper()
		if err := os.WriteFile(s.EnvFile, []byte(variables), 0o600); err != nil {
			t.Fatal(err)
		}
		identity, _ := f.Identity("s")
		return identity
	}
	one, two, again := identity("A=1"), identity("A=2"), identity("A=1")
	if one == two || one != again {
		t.Errorf("the identities are %s, %s and %s", one, two, again)
	}
}
