package hub_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"assent/protocol"
	"assent/sidecar/hub"
)

// notASentence matches what no text for a person has: terms of Go, and gaps where a server left a text out.
var notASentence = regexp.MustCompile(`json:|unmarshal|map\[|%!|<nil>|interface|invalid character|"" |: \.|  `)

// TestAnyAnswerToACallIsSaid changes the answer to a call at random. The person gets the result, the server's error, or a
// sentence. The server runs on, so that the sentence must not say that it ended.
func TestAnyAnswerToACallIsSaid(t *testing.T) {
	answers := []string{
		`{"result":{"content":[{"type":"text","text":"x","annotations":{"audience":["user"]}},{"type":"image","data":"QQ==","mimeType":"image/png"}],"isError":false,"_meta":{"a":1}}}`,
		`{"result":{"content":[{"type":"resource","resource":{"uri":"x:y","text":"t","mimeType":"text/plain"}},{"type":"resource_link","uri":"x:y","name":"n","size":5}],"structuredContent":{"a":1}}}`,
		`{"result":{"content":[],"isError":true,"resultType":"complete"}}`,
		`{"error":{"code":-32603,"message":"It is broken","data":{"a":[1]}}}`,
	}
	values := []string{`null`, `true`, `"true"`, `5`, `-1.5e300`, `""`, `"x"`, `[]`, `[null]`, `[[]]`, `{}`, `{"a":[]}`, `[{"type":"text"}]`, `{"type":"text","text":"y"}`, `"input_required"`, `"task"`}
	l := serveLists(t, false)
	rapid.Check(t, func(t *rapid.T) {
		answer := mutate(t, rapid.SampledFrom(answers).Draw(t, "answer"), values)
		members, ok := strings.CutPrefix(answer, "{")
		if !ok || members == "}" {
			return // it is no answer any more
		}
		l.give(strings.TrimSuffix(members, "}"))
		switch result := l.CallTool(t.Context(), l.task.ID(), "s", "t", json.RawMessage(`{}`), hub.Hooks{}).(type) {
		case protocol.ToolResult:
		case protocol.CallError:
			if strings.TrimSpace(result.Message) == "" {
				t.Fatalf("%s is an error without a message", answer)
			}
		case protocol.CallLost:
			if !strings.HasSuffix(result.Reason, ".") || notASentence.MatchString(result.Reason) || strings.Contains(result.Reason, "ended") {
				t.Fatalf("%s is said as %q", answer, result.Reason)
			}
		default:
			t.Fatalf("%s is %#v", answer, result)
		}
	})
}

// wantSentence fails if a text for a person is no sentence, or says of a server that runs on that it ended.
func wantSentence(t *rapid.T, answer, text string) {
	t.Helper()
	if !strings.HasSuffix(text, ".") || notASentence.MatchString(text) || strings.Contains(text, "ended") {
		t.Fatalf("%s is said as %q", answer, text)
	}
}

// TestAnyAnswerToAListIsSaid changes the answer to tools/list at random. The person gets the tools, with sentences about the odd
// parts, or a sentence.
func TestAnyAnswerToAListIsSaid(t *testing.T) {
	answers := []string{
		`{"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"b","ttlMs":0,"_meta":{}}}`,
		`{"result":{"tools":[],"resultType":"complete"}}`,
		`{"error":{"code":-32603,"message":"It is broken","data":[1]}}`,
	}
	values := []string{`null`, `true`, `5`, `-1.5e300`, `""`, `"x"`, `[]`, `[null]`, `[[]]`, `{}`, `{"a":[]}`, `[{"name":5}]`, `[{"name":"b"}]`}
	l := serveLists(t, false)
	rapid.Check(t, func(t *rapid.T) {
		answer := mutate(t, rapid.SampledFrom(answers).Draw(t, "answer"), values)
		members, ok := strings.CutPrefix(answer, "{")
		if !ok || members == "}" {
			return // it is no answer any more
		}
		l.give(strings.TrimSuffix(members, "}"))
		if _, err := l.Tools(t.Context(), "s"); err != nil {
			wantSentence(t, answer, strings.TrimSuffix(err.Error(), ".")+".")
			return
		}
		for _, problem := range l.ListProblems("s", protocol.ListTools) {
			wantSentence(t, answer, problem)
		}
	})
}

// TestAnyAnswerToInitializeIsSaid changes the answer to initialize at random. The server works, or the person gets a sentence.
func TestAnyAnswerToInitializeIsSaid(t *testing.T) {
	answers := []string{
		`{"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"tasks":{}},"serverInfo":{"name":"s","version":"1"},"instructions":"i","_meta":{}}}`,
		`{"error":{"code":-32602,"message":"It is not supported","data":{"supported":["2024-11-05","1999-01-01"]}}}`,
	}
	values := []string{`null`, `true`, `5`, `-1.5e300`, `""`, `"x"`, `"2024-11-05"`, `[]`, `[null]`, `[[]]`, `{}`, `{"a":[]}`, `["2024-11-05"]`}
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		answer := mutate(t, rapid.SampledFrom(answers).Draw(t, "answer"), values)
		members, ok := strings.CutPrefix(answer, "{")
		if !ok || members == "}" {
			return // it is no answer any more
		}
		c := converse(outer, serveRaw(outer, func(s *rawServer) {
			for f, ok := s.read(); ok; f, ok = s.read() {
				switch {
				case f.ID == nil || f.Method == "":
				case f.Method == "initialize":
					s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s`, f.ID, members))
				case f.Method == "tools/call":
					s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, f.ID))
				default:
					s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, f.ID))
				}
			}
		}))
		switch result := c.CallTool(t.Context(), c.task.ID(), "s", "t", json.RawMessage(`{}`), hub.Hooks{}).(type) {
		case protocol.ToolResult:
		case protocol.CallLost:
			wantSentence(t, answer, result.Reason)
		default:
			t.Fatalf("%s is %#v", answer, result)
		}
		c.Close()
	})
}
