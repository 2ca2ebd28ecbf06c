//go:build unix

// The servers are scripts of the shell.

package hub_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/config"
)

// answering is a program that answers initialize, one call, and stays until its input ends.
func answering(t *testing.T, initialize string) config.Server {
	t.Helper()
	const no = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`
	s := script(t, `while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
  *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" '`+initialize+`' ;;
  *tools/call*) printf '\357\273\277{"jsonrpc":"2.0","id":"%s","result":{"content":[{"type":"text","text":"done"}]}}\n' "$id" ;;
  *'"id"'*) printf '`+no+`\n' "$id" ;;
  esac
done
`)
	s.Name = "s"
	return s
}

// TestWhateverAServerAnswersToInitialize: the person gets a sentence, and it is true. The program never ends by itself. Its
// answer to the call has a byte order mark, and its id as a text.
func TestWhateverAServerAnswersToInitialize(t *testing.T) {
	result := func(members string) string {
		return `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}` + members + `}`
	}
	for _, tt := range []struct{ name, answer, want string }{
		{"right", result(""), ""},
		{"lists for objects", result(`,"capabilities":{"tools":[],"logging":[]},"instructions":[],"_meta":[]`), ""},
		{"a number for a version", result(`,"serverInfo":{"name":"s","version":1.2}`), ""},
		{"a text for a server", result(`,"serverInfo":"s"`), ""},
		{"no server", `"result":{"protocolVersion":"2025-06-18","capabilities":{}}`, ""},
		{"no version", `"result":{"capabilities":{}}`, "protocolVersion in its answer to initialize is missing and must be a string"},
		{"a version that is a number", result(`,"protocolVersion":1`), "protocolVersion in its answer to initialize is a number and must be a string"},
		{"an empty version", result(`,"protocolVersion":""`), "protocolVersion in its answer to initialize is empty"},
		{"an unknown version", result(`,"protocolVersion":"1999-01-01"`), "It speaks MCP 1999-01-01 only"},
		{"null", `"result":null`, "its answer to initialize is null and must be an object"},
		{"a list", `"result":[]`, "its answer to initialize is an array and must be an object"},
		{"a refusal without words", `"error":{"code":-32600,"message":""}`, "It refused the handshake: (no message) (-32600)"},
		{"a refusal that offers what is not spoken", `"error":{"code":-32602,"message":"no","data":{"supported":["1999-01-01"]}}`, "It speaks MCP 1999-01-01 only"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := converse(t, answering(t, tt.answer))
			switch got := (<-c.call(t.Context(), nil)).(type) {
			case protocol.ToolResult:
				if diff := cmp.Diff(protocol.CallResult(done), got); diff != "" || tt.want != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
			case protocol.CallLost:
				if tt.want == "" || !strings.Contains(got.Reason, tt.want) || strings.Contains(got.Reason, "ended") {
					t.Errorf("reason = %s, want %s", got.Reason, tt.want)
				}
			default:
				t.Errorf("the call ended with %+v", got)
			}
		})
	}
}

func TestAnOfferedVersionIsTried(t *testing.T) {
	c := converse(t, serveRaw(t, func(s *rawServer) {
		f := s.await("server/discover")
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, f.ID))
		f = s.await("initialize")
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no","data":{"supported":["2024-11-05"],"requested":"x"}}}`, f.ID))
		f = s.await("initialize")
		if !strings.Contains(string(f.Params), `"protocolVersion":"2024-11-05"`) {
			t.Errorf("it asks again with %s", f.Params)
		}
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`, f.ID))
		f = s.await("tools/call")
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}`, f.ID))
		s.rest()
	}))
	if diff := cmp.Diff(protocol.CallResult(done), <-c.call(t.Context(), nil)); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}
