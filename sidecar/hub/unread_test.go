package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/hub"
)

// unreadable are answers without a usable result, and the errors for them. %s is the id.
var unreadable = []struct{ name, answer, want string }{
	{"an error that is a text", `{"jsonrpc":"2.0","id":%s,"error":"no"}`, "its error: it is a string and must be an object"},
	{"a code that is a text", `{"jsonrpc":"2.0","id":%s,"error":{"code":"E_NO","message":"no"}}`, `its error: "code" is a string and must be an integer`},
	{"a message that is a list", `{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":["no"]}}`, `its error: "message" is an array and must be a string`},
	{"an empty error", `{"jsonrpc":"2.0","id":%s,"error":{}}`, "its error has no code and no message"},
	{"an error that is null", `{"jsonrpc":"2.0","id":%s,"error":null}`, "it has no result and no error"},
	{"neither a result nor an error", `{"jsonrpc":"2.0","id":%s}`, "it has no result and no error"},
	{"no version, and members of a log", `{"id":%s,"result":{},"level":"info"}`, `it does not say "jsonrpc": "2.0"`},
	{"what is not JSON", `{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":NaN}}`, "it is not JSON"},
}

func TestAnAnswerThatCannotBeReadEndsItsCall(t *testing.T) {
	for _, tt := range unreadable {
		t.Run(tt.name, func(t *testing.T) {
			came := make(chan string, 1)
			c := converse(t, serveRaw(t, func(s *rawServer) {
				s.shake(`{"tools":{}}`)
				answer := fmt.Sprintf(tt.answer, s.await("tools/call").ID)
				came <- answer
				s.write(answer)
				s.write(resultOf(s.await("tools/call")))
				s.rest()
			}))
			got := reasonOf(t, <-c.call(t.Context(), nil))
			want := fmt.Sprintf("The answer of the MCP server \"s\" cannot be used: %s: %s.", tt.want, <-came)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("reason (-want +got):\n%s", diff)
			}
			if _, ok := (<-c.call(t.Context(), nil)).(protocol.ToolResult); !ok {
				t.Error("the next call has no result")
			}
		})
	}
}

func TestAListThatCannotBeReadIsQuoted(t *testing.T) {
	for _, tt := range unreadable {
		t.Run(tt.name, func(t *testing.T) {
			c := converse(t, serveRaw(t, func(s *rawServer) {
				s.shake(`{"tools":{}}`)
				s.write(fmt.Sprintf(tt.answer, s.await("tools/list").ID))
				s.rest()
			}))
			_, err := c.Tools(t.Context(), "s")
			if err == nil || !strings.Contains(err.Error(), tt.want+": {") {
				t.Errorf("Tools = %v, want %s", err, tt.want)
			}
		})
	}
}

// A long answer is not quoted as a whole, nor what hides in it.
func TestAQuoteIsShortAndHasNoHiddenCharacters(t *testing.T) {
	c := converse(t, serveRaw(t, func(s *rawServer) {
		s.shake(`{"tools":{}}`)
		call := s.await("tools/call")
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":"%s%s"}`, call.ID, "\u202e\u009b2J", strings.Repeat("x", 100_000)))
		s.rest()
	}))
	got := reasonOf(t, <-c.call(t.Context(), nil))
	if len(got) > 400 || !strings.Contains(got, `"error":"<U+202E><U+009B>2Jxxx`) || !strings.Contains(got, "x….") {
		t.Errorf("the reason is %q", got)
	}
}

func TestASlowHandshakeSaysWhatCameInItsPlace(t *testing.T) {
	c := converse(t, serveRaw(t, func(s *rawServer) {
		s.write("hello from another protocol")
		s.rest()
	}), func(o *hub.Options) { o.Handshake = 500 * time.Millisecond })
	_, err := c.Tools(t.Context(), "s")
	want := "It sent a message that is not MCP, and did not answer: hello from another protocol."
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("Tools = %v, want %s", err, want)
	}
}

// Such a response ends no call. The log of the server is the only place where a person sees it.
func TestAResponseThatMatchesNoRequestIsInTheLog(t *testing.T) {
	const stray = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`
	c := converse(t, serveRaw(t, func(s *rawServer) {
		s.shake(`{"tools":{}}`)
		call := s.await("tools/call")
		s.write(stray, resultOf(call))
		s.rest()
	}))
	if _, ok := (<-c.call(t.Context(), nil)).(protocol.ToolResult); !ok {
		t.Error("the call has no result")
	}
	log := inspected(t, c.Hub).Log
	if !slices.ContainsFunc(log, func(l protocol.ServerLogLine) bool { return l.Text == stray }) {
		t.Errorf("the log is %+v", log)
	}
}
