package ask

import (
	"encoding/json"
	"strings"
	"testing"

	"assent/protocol"
)

func TestWordsHaveNoMarkup(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, markdown, want string }{
		{"emphasis", "Delete **1,204** rows, *really* or __not__?", "Delete 1,204 rows, really or not?"},
		{"names with underscores", "Call delete_inactive_users and __init__.", "Call delete_inactive_users and init."},
		{"arithmetic", "2 * 3 * 4", "2 * 3 * 4"},
		{"a heading, a list and code", "# Plan\n\n- one\n- `two`\n\n```sql\nSELECT 1\n```\n---\n> said", "Plan one two SELECT 1 said"},
		{"code that begins as a block would", "```DROP TABLE users``` now?", "DROP TABLE users now?"},
		{"a link shows where it leads", "See [our page](https://evil.example/x \"Good\").", "See our page (https://evil.example/x)."},
		{"a picture", "![A cat](https://a.example/cat.png)", "A cat (https://a.example/cat.png)"},
		{"escapes", `Not \*this\*`, "Not *this*"},
		{"crossed out", "~~old~~ new", "old new"},
		{"nothing", " \n ", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := words(tt.markdown); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := words(strings.Repeat("**a** ", 1000)); len(got) > maxBrief+len(cutMark) || !strings.HasSuffix(got, cutMark) {
		t.Errorf("a long text is %q", got)
	}
}

// What a list and a notification quote of a request has no secret in it, even one that a line would cut or that Markdown
// would change.
func TestSecretsAreNotInBrief(t *testing.T) {
	t.Parallel()
	text := "Is `my_key_1` or my_key_12 in use? " + strings.Repeat("x", maxBrief-50) + " my_key_1"
	_, got := InBrief(protocol.McpSampling{
		SamplingRequest: protocol.McpSamplingRequest{Messages: []protocol.SamplingMessage{{
			Content: []protocol.ContentBlock{protocol.TextContent{Text: text}},
		}}},
		Secrets: []protocol.SecretFinding{{Description: "a key", Text: "my_key_1"}, {Description: "another", Text: "my_key_12"}},
	})
	if want := "Is [redacted: a key] or [redacted: another] in use? x"; !strings.HasPrefix(got, want) || strings.Contains(got, "key_") {
		t.Errorf("got %q, want %q and no key", got, want)
	}
}

func TestSimpleQuestions(t *testing.T) {
	t.Parallel()
	long := longestShort + 1
	form := func(message string, fields ...protocol.Field) protocol.McpElicitation {
		return protocol.McpElicitation{ElicitationRequest: protocol.McpElicitationRequest{Message: message, Fields: fields}}
	}
	call := func(q protocol.UseMcpTool, arguments string) protocol.UseMcpTool {
		q.Tool.Name, q.Arguments = "count", json.RawMessage(arguments)
		return q
	}
	options := make([]protocol.Option, mostOptions+1)
	for _, tt := range []struct {
		name     string
		question protocol.UseMcpServer
		fields   int
		want     bool
	}{
		{"a form without fields", form("Go on?"), 0, true},
		{"a yes or no", form("Sure?", protocol.BooleanField{}), 1, true},
		{"a short text", form("Who?", protocol.StringField{}), 1, true},
		{"a few choices", form("Which?", protocol.ChoiceField{Options: options[1:]}), 1, true},
		{"many choices", form("Which?", protocol.ChoiceField{Options: options}), 0, false},
		{"two fields", form("Who?", protocol.BooleanField{}, protocol.BooleanField{}), 0, false},
		{"a secret", form("Who?", protocol.StringField{FieldHead: protocol.FieldHead{Secret: true}}), 0, false},
		{"a long text", form("Who?", protocol.StringField{MaxLength: &long}), 0, false},
		{"a date", form("When?", protocol.StringField{Format: protocol.FormatDate}), 0, false},
		{"a question that the list cuts", form(strings.Repeat("why ", 100), protocol.BooleanField{}), 0, false},
		{"no words but markup", form("~~~ all of it"), 0, false},
		{"a call", call(protocol.UseMcpTool{}, "{}"), 0, true},
		{"a call that may destroy something", call(protocol.UseMcpTool{Destructive: true}, "{}"), 0, false},
		{"a call of a tool that has changed", call(protocol.UseMcpTool{Changed: &protocol.ToolChange{}}, "{}"), 0, false},
		{"a call with arguments that the list cuts", call(protocol.UseMcpTool{}, `{"a":"`+strings.Repeat("x", 400)+`"}`), 0, false},
		{"a page", protocol.McpURLElicitation{Message: "Log in"}, 0, false},
		{"a completion", protocol.McpSampling{}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, text := InBrief(tt.question)
			fields, got := Simple(tt.question, text)
			if got != tt.want || len(fields) != tt.fields {
				t.Errorf("got %t and %v", got, fields)
			}
		})
	}
}
