package hub_test

import (
	"encoding/json"
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
