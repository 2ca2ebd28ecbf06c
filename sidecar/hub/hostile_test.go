package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/hub"
	"assent/sidecar/task/tasktest"
)

// termsOfGo are what neither a person nor a server is told.
var termsOfGo = regexp.MustCompile(`json: |Go (struct|value)|of type |context (canceled|deadline)|\b(protocol|mcp|jsonrpc2?|hub|wire|broker)\.[A-Z]|struct ?\{|map\[`)

// reasonOf returns why a call has no result.
func reasonOf(t *testing.T, result protocol.CallResult) string {
	t.Helper()
	switch r := result.(type) {
	case protocol.CallLost:
		return r.Reason
	case protocol.CallAbandoned:
		return r.Reason
	default:
		t.Fatalf("result = %+v", result)
		return ""
	}
}

// A server with unusable answers is not reported as gone, and errors describe its answers in terms of JSON.
func TestErrorsAboutUnusableAnswers(t *testing.T) {
	const cannot = `The answer of the MCP server "s" cannot be used: `
	for _, tt := range []struct {
		name, result string
		modern       bool
		want         string
	}{
		{"a result that is a text", `"text"`, false, cannot + `its result is a string and must be an object: "text".`},
		{"content that is a number", `{"content":5}`, false, cannot + `"content" is a number and must be an array.`},
		{"nothing", `{}`, false, cannot + `its result has no "content".`},
		{"a kind that is a number", `{"resultType":5}`, true, cannot + `its result cannot be read: "resultType" is a number and must be a string.`},
		{"an unknown kind", `{"resultType":"hologram"}`, true, cannot + `it answered with a result of the type "hologram", which Assent does not know.`},
		{"questions in an array", `{"resultType":"input_required","inputRequests":[]}`, true, cannot + `its questions cannot be read: "inputRequests" is an array and must be an object.`},
		{"a question that is a text", `{"resultType":"input_required","inputRequests":{"q":"day?"}}`, true, cannot + `its questions cannot be read: the question "q": it is a string and must be an object.`},
		{"a round for nothing", `{"resultType":"input_required"}`, true, cannot + `it returned neither questions nor a state for the next call.`},
		{"a task without an id", `{"resultType":"task","status":"working"}`, true, cannot + `it made a task of the call that cannot be followed: it has no taskId that can be read.`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := converse(t, serveRaw(t, func(s *rawServer) {
				if tt.modern {
					s.shakeModern()
				} else {
					s.shake(`{"tools":{}}`)
				}
				call := s.await("tools/call")
				s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, tt.result))
				s.rest()
			}))
			if diff := cmp.Diff(tt.want, reasonOf(t, <-c.call(t.Context(), nil))); diff != "" {
				t.Errorf("reason (-want +got):\n%s", diff)
			}
			if got := c.Servers()[0].State; got != protocol.ServerRunning {
				t.Errorf("the server is %s", got)
			}
		})
	}
}

// An MCP task that its server no longer knows was lost by a server that lives.
func TestReasonsOfALostMCPTask(t *testing.T) {
	for _, tt := range []struct{ name, answer, want string }{
		{
			"unknown", `"error":{"code":-32602,"message":"unknown task"}`,
			`The MCP task "one" of the server "s" cannot be followed: the server no longer knows it: unknown task (-32602). Run the tool again to start another.`,
		},
		{
			"a status that is a number", `"result":{"taskId":"one","status":5}`,
			`The MCP task "one" of the server "s" cannot be followed: the server's answers have no status of it. It may still run: find out before you start another.`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := converse(t, serveRaw(t, func(s *rawServer) {
				s.shake(`{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`)
				for {
					f, ok := s.read()
					if !ok {
						return
					}
					answer := tt.answer
					switch f.Method {
					case "tools/list":
						answer = `"result":{"tools":[{"name":"tool","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`
					case "tools/call":
						answer = `"result":{"task":{` + status("working", `,"pollInterval":1`) + `}}`
					}
					s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, f.ID, answer))
				}
			}))
			if diff := cmp.Diff(tt.want, reasonOf(t, <-c.call(t.Context(), nil))); diff != "" {
				t.Errorf("reason (-want +got):\n%s", diff)
			}
		})
	}
}

func TestListsThatCannotBeReadAreToldInTheWordsOfJSON(t *testing.T) {
	for _, tt := range []struct{ name, result, want string }{
		{"a list that is a text", `"text"`, `its list of tools is a string and must be an object`},
		{"tools that are a text", `{"tools":"none"}`, `"tools" is a string and must be an array`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := converse(t, serveRaw(t, func(s *rawServer) {
				s.shake(`{"tools":{}}`)
				list := s.await("tools/list")
				s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, list.ID, tt.result))
				s.rest()
			}))
			_, err := c.Tools(t.Context(), "s")
			if err == nil {
				t.Fatal("the list was read")
			}
			if text := err.Error(); termsOfGo.MatchString(text) || !strings.HasSuffix(text, tt.want) {
				t.Errorf("a person is told: %s", text)
			}
		})
	}
}

func TestRequestsThatCannotBeReadAreToldInTheWordsOfJSON(t *testing.T) {
	const sampling, elicitation = "sampling/createMessage", "elicitation/create"
	for _, tt := range []struct{ name, method, params, want string }{
		{"params in an array", elicitation, `[]`, `params cannot be read: it is an array and must be an object`},
		{"a mode that is an object", elicitation, `{"mode":{},"message":"?"}`, `params cannot be read: "mode" is an object and must be a string`},
		{"a schema that is a text", elicitation, `{"message":"?","requestedSchema":"none"}`, ``},
		{"properties in an array", elicitation, `{"message":"?","requestedSchema":{"type":"object","properties":[5]}}`, ``},
		{"a property that is a text", elicitation, `{"message":"?","requestedSchema":{"type":"object","properties":{"day":"string"}}}`, ``},
		{"choices that are a text", elicitation, `{"message":"?","requestedSchema":{"type":"object","properties":{"day":{"type":"string","enum":"x"}}}}`, ``},
		{"a length of less than nothing", elicitation, `{"message":"?","requestedSchema":{"type":"object","properties":{"day":{"type":"string","maxLength":-5}}}}`, ``},
		{"messages that are a text", sampling, `{"messages":"hello","maxTokens":5}`, `params cannot be read: "messages" is a string and must be an array`},
		{"tokens that are a text", sampling, `{"messages":[],"maxTokens":"many"}`, ``},
		{"content that is a number", sampling, `{"messages":[{"role":"user","content":5}],"maxTokens":5}`, ``},
		{"a text that is an object", sampling, `{"messages":[{"role":"user","content":{"type":"text","text":{}}}],"maxTokens":5}`, ``},
		{"a tool that is a text", sampling, `{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":5,"tools":["one"]}`, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refused := make(chan rawFrame, 1)
			c := converse(t, serveRaw(t, func(s *rawServer) {
				s.shake(`{"tools":{}}`)
				call := s.await("tools/call")
				s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q","method":%q,"params":%s}`, tt.method, tt.params))
				refused <- s.answer(`"q"`)
				s.write(resultOf(call))
				s.rest()
			}))
			<-c.call(t.Context(), nil)
			var e struct {
				Code    int
				Message string
			}
			if f := <-refused; json.Unmarshal(f.Error, &e) != nil || e.Code != -32602 {
				t.Fatalf("the server was told %s %s", f.Result, f.Error)
			}
			if termsOfGo.MatchString(e.Message) || tt.want != "" && e.Message != tt.want {
				t.Errorf("the server is told: %s", e.Message)
			}
		})
	}
}

// What a cancelled request is told of goes to the server, too.
func TestNoServerHearsOfContexts(t *testing.T) {
	frames := make(chan string, 100)
	c := converse(t, serveRaw(t, func(s *rawServer) {
		s.shake(`{"tools":{}}`)
		s.await("tools/call")
		s.write(`{"jsonrpc":"2.0","id":"r","method":"tasks/result","params":{"taskId":"none"}}`, form("q", "day?"))
		s.rest()
	}), func(o *hub.Options) {
		o.Tap = func(_ string, fromServer bool, frame []byte) {
			if !fromServer {
				frames <- string(frame)
			}
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	end := c.call(ctx, nil)
	tasktest.AwaitAsk(t, c.events)
	cancel()
	<-end
	c.Close()
	close(frames)
	for f := range frames {
		if termsOfGo.MatchString(f) {
			t.Errorf("the server is sent %s", f)
		}
	}
}
