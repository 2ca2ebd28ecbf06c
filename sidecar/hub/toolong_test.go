package hub_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/hub"
)

// An answer that is too long is an error of its call alone, however it comes: the one beside it goes on, on the
// same connection.
func TestAnAnswerThatIsTooLongFailsItsCallAlone(t *testing.T) {
	stdio := func(era string) func(*testing.T) config.Server {
		return func(*testing.T) config.Server {
			return config.Server{Transport: protocol.TransportStdio, Command: os.Args[0], Env: map[string]*string{elicitorEnv: &era}}
		}
	}
	at := func(transport protocol.Transport, scheme string, handler http.Handler) func(*testing.T) config.Server {
		return func(t *testing.T) config.Server {
			return config.Server{Transport: transport, URL: strings.Replace(serveElicitor(t, handler), "http", scheme, 1)}
		}
	}
	lost := protocol.CallLost{Reason: `The answer of the MCP server "s" has 17.0 MB, and no more than 16 MB are read. Ask for less at a time.`}
	for _, tt := range []struct {
		name   string
		server func(*testing.T) config.Server
		want   func(protocol.CallResult) bool
	}{
		{"stdio", stdio("legacy"), nil},
		{"events", at(protocol.TransportHTTP, "http", &overStreams{}), nil},
		{"a body", at(protocol.TransportHTTP, "http", http.HandlerFunc(overPosts)), nil},
		{"a WebSocket", at(protocol.TransportWS, "ws", http.HandlerFunc(overWebSocket)), nil},
		{"HTTP with SSE", at(protocol.TransportSSE, "http", &overEvents{answers: make(chan string, 10)}), func(got protocol.CallResult) bool {
			e, ok := got.(protocol.CallError)
			return ok && strings.HasPrefix(e.Message, "its answer has 1782")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.server(t)
			s.Name, s.Source = "s", "test"
			f := newFixtureWith(t, s)
			beside := make(chan protocol.CallResult, 1)
			go func() {
				beside <- f.CallTool(t.Context(), "t", "s", "ask", json.RawMessage(`{"n":7}`), hub.Hooks{})
			}()
			question := <-f.asks.requests

			got := f.CallTool(t.Context(), "t", "s", "ask", json.RawMessage(`{"n":-17825792}`), hub.Hooks{})
			if tt.want == nil && got != lost || tt.want != nil && !tt.want(got) {
				t.Errorf("the call ended with %.300v", got)
			}

			question.answer <- protocol.McpElicitationResponse{Action: protocol.ActionAccept, Content: json.RawMessage(`{"n":7}`)}
			if got, ok := (<-beside).(protocol.ToolResult); !ok || len(got.Content) != 1 || got.Content[0] != (protocol.TextContent{Text: "7"}) {
				t.Errorf("the call beside it ended with %+v", got)
			}
		})
	}
}
