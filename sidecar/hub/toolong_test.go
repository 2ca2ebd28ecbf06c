package hub_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/hub"
)

// elicitors are an elicitor of either era, reached in each of the ways.
func elicitors() map[string]func(*testing.T) config.Server {
	stdio := func(*testing.T) config.Server {
		return config.Server{Transport: protocol.TransportStdio, Command: os.Args[0], Env: map[string]*string{elicitorEnv: new("legacy")}}
	}
	at := func(transport protocol.Transport, scheme string, handler http.Handler) func(*testing.T) config.Server {
		return func(t *testing.T) config.Server {
			return config.Server{Transport: transport, URL: strings.Replace(serveElicitor(t, handler), "http", scheme, 1)}
		}
	}
	return map[string]func(*testing.T) config.Server{
		"stdio":         stdio,
		"events":        at(protocol.TransportHTTP, "http", &overStreams{}),
		"a body":        at(protocol.TransportHTTP, "http", http.HandlerFunc(overPosts)),
		"a WebSocket":   at(protocol.TransportWS, "ws", http.HandlerFunc(overWebSocket)),
		"HTTP with SSE": at(protocol.TransportSSE, "http", &overEvents{answers: make(chan string, 10)}),
	}
}

// An answer that cannot be read is an error of its call alone, however it comes: the one beside it goes on, on the
// same connection.
func TestAnAnswerThatIsNotReadFailsItsCallAlone(t *testing.T) {
	for name, server := range elicitors() {
		t.Run(name, func(t *testing.T) {
			s := server(t)
			s.Name, s.Source = "s", "test"
			f := newFixtureWith(t, s)
			beside := make(chan protocol.CallResult, 1)
			go func() {
				beside <- f.CallTool(t.Context(), "t", "s", "ask", json.RawMessage(`{"n":7}`), hub.Hooks{})
			}()
			question := <-f.asks.requests

			for n, want := range map[int]string{
				-17 << 20: `The answer of the MCP server "s" has 17.0 MB, and no more than 16 MB are read. Ask for less at a time.`,
				deepest:   `The MCP server "s" gave no answer: its answer is nested more than 1000 deep, and no deeper is read.`,
			} {
				got := f.CallTool(t.Context(), "t", "s", "ask", json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), hub.Hooks{})
				if got != (protocol.CallLost{Reason: want}) {
					t.Errorf("the call ended with %.300v, want %s", got, want)
				}
			}

			question.answer <- protocol.McpElicitationResponse{Action: protocol.ActionAccept, Content: json.RawMessage(`{"n":7}`)}
			if got, ok := (<-beside).(protocol.ToolResult); !ok || len(got.Content) != 1 || got.Content[0] != (protocol.TextContent{Text: "7"}) {
				t.Errorf("the call beside it ended with %+v", got)
			}
		})
	}
}

// A question that cannot be read is refused, however it comes, and the connection goes on.
func TestAQuestionThatIsNotReadIsRefused(t *testing.T) {
	for name, server := range elicitors() {
		if name == "a body" {
			continue // such a server asks by its answer
		}
		t.Run(name, func(t *testing.T) {
			s := server(t)
			s.Name, s.Source = "s", "test"
			f := newFixtureWith(t, s)
			refused := map[int]string{deepQuestion: "-32602"}
			if s.Transport == protocol.TransportSSE { // where go-sdk's stream is between; of the others, wire has tests
				refused[longQuestion] = "-32000"
			}
			for n, code := range refused {
				got, ok := f.CallTool(t.Context(), "t", "s", "ask", json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), hub.Hooks{}).(protocol.ToolResult)
				if !ok || len(got.Content) != 1 || got.Content[0] != (protocol.TextContent{Text: code}) {
					t.Errorf("the server was told %+v, want %s", got, code)
				}
			}
		})
	}
}
