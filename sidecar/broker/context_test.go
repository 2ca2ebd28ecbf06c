package broker_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/task/tasktest"
)

// call adds a call that has ended to the task.
func (f *fixture) call(t *testing.T, serverName, toolName, arguments string, result protocol.CallResult) {
	t.Helper()
	id, err := f.task.StartCall(serverName, protocol.CallToolRequest{ToolName: toolName, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	f.task.EndCall(id, result)
}

func returned(texts ...string) protocol.ToolResult {
	var result protocol.ToolResult
	for _, s := range texts {
		result.Content = append(result.Content, protocol.TextContent{Text: s})
	}
	return result
}

func TestIncludeContext(t *testing.T) {
	tests := []struct {
		include, want string
		servers       []string
	}{
		{`"none"`, "", nil},
		{`"everything"`, "", nil},
		{`"thisServer"`, "What MCP servers returned earlier in this conversation:\n\n[s: first {\"a\":1}]\none\ntwo\n\n[s: third]\n{\"n\":3}", []string{"s"}},
		{`"allServers"`, "What MCP servers returned earlier in this conversation:\n\n[s: first {\"a\":1}]\none\ntwo\n\n[another: second]\nsecret\n\n[s: third]\n{\"n\":3}", []string{"another", "s"}},
	}
	for _, tt := range tests {
		t.Run(tt.include, func(t *testing.T) {
			provider := &scripted{words: []string{"x"}}
			f := newFixture(t, provider)
			f.call(t, "s", "first", `{"a":1}`, returned("one", "two"))
			f.call(t, "another", "second", `{}`, returned("secret"))
			f.call(t, "s", "third", `{}`, protocol.ToolResult{StructuredContent: json.RawMessage(`{"n":3}`)})
			f.call(t, "s", "fourth", `{}`, protocol.CallError{Code: -1, Message: "no"})
			if _, err := f.task.StartCall("s", protocol.CallToolRequest{ToolName: "running"}); err != nil {
				t.Fatal(err)
			}
			params := `{"maxTokens":5,"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"includeContext":` + tt.include + `}`

			done := f.serve(t.Context(), f.CreateMessage, params)
			ask, _ := tasktest.AwaitAsk(t, f.events)
			q := ask.Question.(protocol.McpSampling)
			with := protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.YesButtonClicked, IncludeContext: true}
			if tt.want == "" {
				if q.Context != nil {
					t.Errorf("the card shows the context %+v", q.Context)
				}
				_, err := f.task.Answer(t.Context(), &with, "a test")
				if e := (*protocol.Error)(nil); !errors.As(err, &e) || e.Code != protocol.CodeInvalidAnswer {
					t.Errorf("Answer = %v", err)
				}
				f.answerNext(t, yes)
				<-done
				return
			}
			if q.Context == nil || q.Context.Text != tt.want || strings.Join(q.Context.ServerNames, " ") != strings.Join(tt.servers, " ") || q.Context.Omitted != 0 {
				t.Errorf("the card shows the context %+v, want %q", q.Context, tt.want)
			}
			f.answerNext(t, yes) // without it, which is the default
			<-done
			if n := len(provider.got.Messages); n != 1 {
				t.Errorf("the model was sent %d messages, want 1", n)
			}
			done = f.serve(t.Context(), f.CreateMessage, params)
			f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, IncludeContext: true}, ask.AskID)
			<-done
			if got := provider.got.Messages; len(got) != 2 || got[0].Role != protocol.RoleUser || got[0].Content[0].(protocol.TextContent).Text != tt.want {
				t.Errorf("the model was sent %+v", got)
			}
		})
	}
}

func TestContextIsBounded(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"x"}})
	long := strings.Repeat("x", 20<<10)
	for _, name := range []string{"oldest", "older", "newest"} {
		f.call(t, "s", name, `{}`, returned(long))
	}
	done := f.serve(t.Context(), f.CreateMessage, `{"maxTokens":5,"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"includeContext":"thisServer"}`)
	ask := f.answerNext(t, no)
	<-done
	q := ask.Question.(protocol.McpSampling)
	if q.Context == nil || q.Context.Omitted != 2 || !strings.Contains(q.Context.Text, "[s: newest]") || strings.Contains(q.Context.Text, "older") {
		t.Errorf("the context has %+v", q.Context)
	}
}
