package journal_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/base/secret"
	"assent/sidecar/task/journal"
	"assent/sidecar/task/store"
)

var origin = protocol.Origin{ServerName: "s", ToolNames: []string{"t"}}

// change returns the records of a change, as kinds and bodies.
func change(t *testing.T, j *journal.Journal, body protocol.Body, event protocol.Event) []string {
	t.Helper()
	var all []string
	for _, r := range j.Change("task", 7, protocol.Message{ID: 3, Body: body}, event) {
		if r.TaskID != "task" || r.At != 7 || r.Server != "s" {
			t.Errorf("record of %q at %d in %q", r.Server, r.At, r.TaskID)
		}
		if !json.Valid([]byte(r.Body)) {
			t.Errorf("the body is no JSON: %s", r.Body)
		}
		all = append(all, r.Kind+" "+r.Body)
	}
	return all
}

func TestRecords(t *testing.T) {
	outcome := func(reason protocol.OutcomeReason) *protocol.Outcome {
		return &protocol.Outcome{Reason: reason, By: "a test", At: 7}
	}
	request := protocol.McpSamplingRequest{MaxTokens: 9, Messages: []protocol.SamplingMessage{{
		Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.TextContent{Text: "Hi"}},
	}}}
	response := protocol.McpSamplingResponse{Role: protocol.RoleAssistant, Model: "x", Content: []protocol.ContentBlock{protocol.TextContent{Text: "Ho"}}}
	sampling := protocol.McpSampling{Origin: origin, SamplingRequest: request, Model: &protocol.Model{ID: "demo:x"}, GrantReason: "none"}
	edited := sampling
	edited.SentRequest = &protocol.McpSamplingRequest{MaxTokens: 2}
	form := protocol.McpElicitation{Origin: origin, ElicitationRequest: protocol.McpElicitationRequest{Message: "Which?"}}
	filled := form
	filled.ElicitationResponse = &protocol.McpElicitationResponse{Action: protocol.ActionAccept, Content: json.RawMessage(`{"b":1,"a":2}`)}
	call := protocol.Call{ServerName: "s", Request: protocol.CallToolRequest{ToolName: "t", Arguments: json.RawMessage(`{"b":1,"a":2}`)}}
	tests := []struct {
		name  string
		body  protocol.Body
		event protocol.Event
		want  []string
	}{
		{"a call", call, protocol.MessageAdded{}, []string{`callStarted {"messageId":3,"request":{"type":"tools/call","toolName":"t","arguments":{"b":1,"a":2}}}`}},
		{
			"its result, which is the conversation's", call,
			protocol.CallEnded{Result: protocol.ToolResult{IsError: true, Content: []protocol.ContentBlock{protocol.TextContent{Text: "four"}}}},
			[]string{`callEnded {"messageId":3,"end":"result","isError":true,"bytes":4}`},
		},
		{"its error", call, protocol.CallEnded{Result: protocol.CallError{Code: -3, Message: "no"}}, []string{`callEnded {"messageId":3,"end":"error","code":-3,"reason":"no"}`}},
		{"its loss", call, protocol.CallEnded{Result: protocol.CallLost{Reason: "gone"}}, []string{`callEnded {"messageId":3,"end":"lost","reason":"gone"}`}},
		{"a result that was removed", call, protocol.CallEnded{Result: protocol.ToolResult{RemovedAfter: 5}}, []string{`resultRemoved {"messageId":3,"end":"result","removedAfter":5}`}},
		{
			"an MCP task", call,
			protocol.CallTaskChanged{Task: protocol.McpTask{TaskID: "m", Status: protocol.McpTaskWorking}},
			[]string{`callTaskChanged {"messageId":3,"mcpTaskId":"m","status":"working"}`},
		},
		{
			"a form",
			protocol.Ask{AskID: "a", Ask: protocol.AskUseMcpServer, Question: form, ExpiresAt: 9},
			protocol.MessageAdded{},
			[]string{`askOpened {"messageId":3,"ask":"use_mcp_server","question":{"type":"mcp_elicitation","serverName":"s","toolNames":["t"],"elicitationRequest":{"message":"Which?"}},"expiresAt":9}`},
		},
		{
			"its answer",
			protocol.Ask{AskID: "a", Question: filled, Outcome: outcome(protocol.OutcomeAnswered)},
			protocol.AskSettled{},
			[]string{`askSettled {"messageId":3,"outcome":{"reason":"answered","by":"a test","at":7},"elicitationResponse":{"action":"accept","content":{"b":1,"a":2}}}`},
		},
		{
			"a request that a grant approved",
			protocol.Ask{AskID: "a", Ask: protocol.AskUseMcpServer, Question: sampling, Outcome: &protocol.Outcome{Reason: protocol.OutcomeGranted, GrantID: "g", At: 7}},
			protocol.MessageAdded{},
			[]string{
				`askOpened {"messageId":3,"ask":"use_mcp_server","question":{"type":"mcp_sampling","serverName":"s","toolNames":["t"],"samplingRequest":{"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}],"maxTokens":9},"model":{"id":"demo:x","name":"","provider":""},"grantReason":"none"}}`,
				`askSettled {"messageId":3,"outcome":{"reason":"granted","at":7,"grantId":"g"},"model":"demo:x"}`,
			},
		},
		{
			"a request that was edited",
			protocol.Ask{AskID: "a", Question: edited, Outcome: outcome(protocol.OutcomeAnswered)},
			protocol.AskSettled{},
			[]string{`askSettled {"messageId":3,"outcome":{"reason":"answered","by":"a test","at":7},"model":"demo:x","sentRequest":{"maxTokens":2}}`},
		},
		{
			"a request that nobody approved names no model",
			protocol.Ask{AskID: "a", Question: sampling, Outcome: outcome(protocol.OutcomeDeclined)},
			protocol.AskSettled{},
			[]string{`askSettled {"messageId":3,"outcome":{"reason":"declined","by":"a test","at":7}}`},
		},
		{
			"a completion",
			protocol.Ask{AskID: "a", Question: sampling, Outcome: outcome(protocol.OutcomeAnswered)},
			protocol.SamplingEnded{Result: response, Usage: &protocol.SamplingUsage{InputTokens: 1, OutputTokens: 2}},
			[]string{`samplingEnded {"messageId":3,"model":"demo:x","result":{"type":"response","role":"assistant","content":[{"type":"text","text":"Ho"}],"model":"x"},"usage":{"inputTokens":1,"outputTokens":2}}`},
		},
		{
			"a review that was edited",
			protocol.Ask{AskID: "a", Question: protocol.McpSamplingReview{Origin: origin, SamplingResponse: response, SentResponse: &response}, Outcome: outcome(protocol.OutcomeAnswered)},
			protocol.AskSettled{},
			[]string{`askSettled {"messageId":3,"outcome":{"reason":"answered","by":"a test","at":7},"sentResponse":{"type":"response","role":"assistant","content":[{"type":"text","text":"Ho"}],"model":"x"}}`},
		},
		{"a notice is nobody's request", protocol.Notice{}, protocol.MessageAdded{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, change(t, journal.New(journal.Options{}), tt.body, tt.event)); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
}

const (
	awsKey = "AKIAQYLPMN5HHHFPZAM2"
	pem    = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu3aozN3tihPmljnnudb9G3HECdnH\nlWu2/a1gB9JW5TBQ+AVpum9Okx7KfqkfBKL9mcHgSlWWdMSfjNMJdOvUTr==\n-----END RSA PRIVATE KEY-----"
)

func TestSecretsAreLeftOut(t *testing.T) {
	held := secret.Known{Value: "held-by-assent-4711", Description: "the key of a model"}
	quoted := secret.Known{Value: `held"by\assent-4712`, Description: "a password"}
	j := journal.New(journal.Options{Known: func() []secret.Known { return []secret.Known{held, quoted} }})
	prompt := func(text string) protocol.Ask {
		return protocol.Ask{AskID: "a", Question: protocol.McpSampling{Origin: origin, SamplingRequest: protocol.McpSamplingRequest{
			Messages: []protocol.SamplingMessage{{Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.TextContent{Text: text}}}},
		}}}
	}
	form := func(f protocol.Field, content string) protocol.Ask {
		return protocol.Ask{AskID: "a", Outcome: &protocol.Outcome{}, Question: protocol.McpElicitation{
			Origin: origin, ElicitationRequest: protocol.McpElicitationRequest{Fields: []protocol.Field{f}},
			ElicitationResponse: &protocol.McpElicitationResponse{Content: json.RawMessage(content)},
		}}
	}
	marked := form(protocol.StringField{FieldHead: protocol.FieldHead{Name: "word"}}, `{"word":"s3cret"}`)
	marked.Question.(protocol.McpElicitation).ElicitationResponse.SecretFields = []string{"word"}
	called := func(arguments string) protocol.Call {
		return protocol.Call{ServerName: "s", Request: protocol.CallToolRequest{Arguments: json.RawMessage(arguments), ArgumentsText: arguments}}
	}
	confirmed := prompt("what the person saw: zzzz")
	q := confirmed.Question.(protocol.McpSampling)
	q.Secrets = []protocol.SecretFinding{{Description: "a thing", Text: "zzzz"}}
	confirmed.Question = q
	tests := []struct {
		name  string
		body  protocol.Body
		event protocol.Event
		gone  string
		want  string
	}{
		{"a key in a prompt", prompt("use " + awsKey + " here"), protocol.MessageAdded{}, awsKey, "use [redacted: "},
		{"a key over lines", prompt("it is\n" + pem), protocol.MessageAdded{}, "lWu2", "[redacted: "},
		{"what Assent holds", prompt("use held-by-assent-4711"), protocol.MessageAdded{}, "4711", "[redacted: the key of a model]"},
		{"what Assent holds, in JSON within the text", prompt(`{"p":"held\"by\\assent-4712"}`), protocol.MessageAdded{}, "4712", "[redacted: a password]"},
		{"what was found before", confirmed, protocol.MessageAdded{}, "zzzz", "[redacted: a thing]"},
		{"a page's URL", protocol.Ask{Question: protocol.McpURLElicitation{Origin: origin, URL: "https://example.org/?k=" + awsKey}}, protocol.MessageAdded{}, awsKey, "[redacted: "},
		{"a text field", form(protocol.StringField{FieldHead: protocol.FieldHead{Name: "apiKey", Secret: true}}, `{"apiKey":"s3cret"}`), protocol.AskSettled{}, "s3cret", `{"apiKey":"•••"}`},
		{"a number field", form(protocol.NumberField{FieldHead: protocol.FieldHead{Name: "x", Title: "Your PIN", Secret: true}}, `{"x":4711}`), protocol.AskSettled{}, "4711", `{"x":"•••"}`},
		{"a field that the person marked", marked, protocol.AskSettled{}, "s3cret", `{"word":"•••"}`},
		{"an argument", called(`{"to":{"access_token":"s3cret"},"n":12345678901234567890}`), protocol.MessageAdded{}, "s3cret", `12345678901234567890`},
		{"an argument that a model wrote", protocol.Ask{Question: protocol.UseMcpTool{
			Origin: origin, Arguments: json.RawMessage(`{"access_token":"s3cret"}`), ArgumentsText: `{"access_token":"s3cret"}`,
		}}, protocol.MessageAdded{}, "s3cret", `"•••"`},
		{"an argument of a prompt", protocol.Call{ServerName: "s", Request: protocol.GetPromptRequest{Arguments: map[string]string{"password": "s3cret"}}}, protocol.MessageAdded{}, "s3cret", `"•••"`},
		{"a key in an argument", called(`{"q":"a\n` + awsKey + `"}`), protocol.MessageAdded{}, awsKey, "[redacted: "},
		{"a model's answer", prompt(""), protocol.SamplingEnded{Result: protocol.McpSamplingResponse{Content: []protocol.ContentBlock{protocol.TextContent{Text: awsKey}}}}, awsKey, "[redacted: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(change(t, j, tt.body, tt.event), "\n")
			if strings.Contains(got, tt.gone) || !strings.Contains(got, tt.want) {
				t.Errorf("recorded %s, want %s and not %s", got, tt.want, tt.gone)
			}
		})
	}
}

// BenchmarkChange measures the cost of a record, by the length of the question.
func BenchmarkChange(b *testing.B) {
	j := journal.New(journal.Options{Known: func() []secret.Known {
		return []secret.Known{{Value: "held-by-assent-4711"}, {Value: "held-by-assent-4712"}, {Value: "held-by-assent-4713"}}
	}})
	for _, length := range []int{100, 10_000, 1_000_000} {
		text := strings.Repeat("What is the weather\nlike? ", length/25+1)[:length]
		m := protocol.Message{ID: 1, Body: protocol.Ask{AskID: "a", Question: protocol.McpSampling{Origin: origin, SamplingRequest: protocol.McpSamplingRequest{
			Messages: []protocol.SamplingMessage{{Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.TextContent{Text: text}}}},
		}}}}
		b.Run(strconv.Itoa(length), func(b *testing.B) {
			for b.Loop() {
				j.Change("task", 7, m, protocol.MessageAdded{})
			}
		})
	}
}

func TestPicturesAreNamed(t *testing.T) {
	data := strings.Repeat("QUJD", 1000)
	image := protocol.ImageContent{Data: data, MIMEType: "image/png"}
	ask := protocol.Ask{AskID: "a", Question: protocol.McpSampling{Origin: origin, SamplingRequest: protocol.McpSamplingRequest{Messages: []protocol.SamplingMessage{{
		Content: []protocol.ContentBlock{
			image,
			protocol.ToolResultContent{Content: []protocol.ToolResultBlock{image}},
			protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "u", Blob: data}},
			protocol.AudioContent{Data: data},
		},
	}}}}}
	got := change(t, journal.New(journal.Options{}), ask, protocol.MessageAdded{})[0]
	const name = "[4000 characters of base64, sha256:"
	if strings.Contains(got, data) || strings.Count(got, name) != 4 || !strings.Contains(got, "image/png") {
		t.Errorf("recorded %s, want 4 of %s", got, name)
	}
	if image.Data != data {
		t.Error("the message itself was changed")
	}
}

func TestALineIsOneAndHarmless(t *testing.T) {
	tests := []struct {
		name, kind, body, want string
	}{
		{"a call", "callStarted", `{"request":{"type":"tools/call","toolName":"t","arguments":{"a":1}}}`, `tools/call t {"a":1}`},
		{"a question", "askOpened", `{"question":{"type":"mcp_elicitation","elicitationRequest":{"message":"a\n\u001b[2Jb\u202ec"}}}`, "asks: a \uFFFD[2Jb\uFFFDc"},
		{"a request to a model", "askOpened", `{"question":{"type":"mcp_sampling","samplingRequest":{"messages":[{}],"maxTokens":20}}}`, "asks for a completion of 1 message and up to 20 tokens"},
		{"a settlement", "askSettled", `{"outcome":{"reason":"answered","by":"VS Code"},"sentRequest":{}}`, "answered in VS Code, edited"},
		{"a completion", "samplingEnded", `{"model":"m","result":{"type":"response"},"usage":{"inputTokens":1,"outputTokens":2}}`, "the server got the answer of m (1 tokens read, 2 written)"},
		{"a failure", "samplingEnded", `{"model":"m","result":{"type":"failure","reason":"no"}}`, "the server got no answer of m: no"},
		{"a grant", "grantCreated", `{"id":"g","by":"VS Code","models":["*"]}`, "grant g was made in VS Code, for *"},
		{"a new rule for agents", "askFirstChanged", `{"id":"r","by":"VS Code","after":"ask before the command git push"}`, "rule made in VS Code: ask before the command git push"},
		{"a removed rule for agents", "askFirstChanged", `{"id":"r","by":"VS Code","before":"ask before the tool x\n"}`, "rule removed in VS Code: ask before the tool x"},
		{"a removed rule", "toolRuleRemoved", `{"id":"r","by":"VS Code","toolName":"t","remember":"always"}`, "rule removed in VS Code for t: always"},
		{"a removed rule of an earlier version", "toolRuleRemoved", `{"id":"r","by":"VS Code","toolName":"t"}`, "rule removed in VS Code for t"},
		{"what was altered", "askSettled", `"no object"`, "askSettled (it is a string and must be an object)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := journal.Wire(&store.Record{Seq: 5, At: 1000, Kind: tt.kind, Server: "s", Body: tt.body})
			got := journal.Line(r, time.UTC)
			if want := "     5  1970-01-01 00:00:01  s  " + tt.want; !strings.HasPrefix(got, want) || strings.ContainsAny(got, "\n\x1b") {
				t.Errorf("line %q, want %q", got, want)
			}
		})
	}
}
