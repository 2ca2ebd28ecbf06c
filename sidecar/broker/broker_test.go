package broker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/base/secret"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/broker/grant"
	"assent/sidecar/broker/policy"
	"assent/sidecar/model"
	"assent/sidecar/task"
	"assent/sidecar/task/tasktest"
)

// scripted is a provider with one model, which writes words or fails.
type scripted struct {
	words []string
	err   error
	got   protocol.McpSamplingRequest
}

func (s *scripted) Models(context.Context) ([]protocol.Model, error) {
	return []protocol.Model{
		{ID: "openai:first", Name: "First", Provider: protocol.ProviderOpenAI},
		{ID: "openai:second", Name: "Second", Provider: protocol.ProviderOpenAI},
	}, nil
}

func (s *scripted) Generate(_ context.Context, id string, r *protocol.McpSamplingRequest, emit func(string)) (*model.Completion, error) {
	s.got = *r
	for _, w := range s.words {
		emit(w)
	}
	if s.err != nil {
		return nil, s.err
	}
	return &model.Completion{Text: strings.Join(s.words, ""), Model: id + "-2026", StopReason: "endTurn"}, nil
}

type fixture struct {
	*broker.Broker
	task    *task.Task
	grants  *grant.Book
	policy  *policy.Policy
	events  *tasktest.Events
	review  protocol.SamplingReview
	limits  *protocol.SamplingLimits
	known   []secret.Known
	answers []protocol.FixedAnswer
	// person assigns requests without a task.
	person  person
	maxOpen *int64
}

func newFixture(t *testing.T, provider model.Provider) *fixture {
	t.Helper()
	return newFixtureWith(t, provider, protocol.ModelSettings{})
}

func newFixtureWith(t *testing.T, provider model.Provider, settings protocol.ModelSettings) *fixture {
	t.Helper()
	registry, events := tasktest.Registry(t, nil)
	t.Cleanup(func() {
		if err := registry.Close(); err != nil {
			t.Error(err)
		}
	})
	info, err := registry.Create("")
	if err != nil {
		t.Fatal(err)
	}
	tk, err := registry.Get(info.ID)
	if err != nil {
		t.Fatal(err)
	}
	providers := map[protocol.ModelProvider]model.Provider{}
	if provider != nil {
		providers[protocol.ProviderOpenAI] = provider
	}
	set := model.NewSet(providers, settings, model.DefaultTimeout)
	f := &fixture{task: tk, events: events, review: protocol.ReviewNever}
	f.grants = grant.NewBook(grant.Options{Store: registry.Store})
	models := func(server string) broker.Models { return set.For(server) }
	log := zerolog.New(zerolog.NewTestWriter(t))
	f.policy = policy.New(policy.Options{
		FrontEnd: func() protocol.FrontEndCapabilities { return frontEnd },
		Settings: func() policy.Settings {
			return policy.Settings{
				Sampling:    protocol.SamplingSettings{Review: f.review, Limits: f.limits},
				Elicitation: protocol.ElicitationSettings{Answers: f.answers, MaxOpen: f.maxOpen},
			}
		},
		Grants: f.grants,
		Log:    log,
	})
	f.Broker = broker.New(broker.Options{
		Models:   models,
		Policy:   f.policy,
		FrontEnd: func() protocol.FrontEndCapabilities { return frontEnd },
		Known:    func() []secret.Known { return f.known },
		Queue:    person(func(ctx context.Context, r *attribution.Request) error { return f.person(ctx, r) }),
		Log:      log,
	})
	return f
}

// frontEnd can show everything except pages.
var frontEnd = protocol.FrontEndCapabilities{Elicitation: true, Sampling: true}

var origin = protocol.Origin{ServerName: "s", ToolNames: []string{"t"}}

type served struct {
	result any
	err    error
}

type method func(context.Context, *attribution.Request) (any, error)

// request is a request of a task.
func request(t attribution.Task, o protocol.Origin, params string) *attribution.Request {
	return &attribution.Request{Params: json.RawMessage(params), Task: t, Origin: o}
}

// serve serves a request in a goroutine, and returns the channel for the answer.
func (f *fixture) serve(ctx context.Context, m method, params string) <-chan served {
	done := make(chan served, 1)
	go func() {
		result, err := m(ctx, request(f.task, origin, params))
		done <- served{result, err}
	}()
	return done
}

// answer answers the task's only ask.
func (f *fixture) answer(t *testing.T, params protocol.AskResponseParams) error {
	t.Helper()
	ask, _ := tasktest.AwaitAsk(t, f.events)
	params.AskID = ask.AskID
	_, err := f.task.Answer(t.Context(), &params, "a test")
	return err
}

// message returns the ask's message as it stands.
func (f *fixture) message(t *testing.T) protocol.Ask {
	t.Helper()
	opened, err := f.task.Open(t.Context(), 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return opened.Messages[0].Body.(protocol.Ask)
}

func wantJSON(t *testing.T, got any, want string) {
	t.Helper()
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != want {
		t.Errorf("the server got %s, want %s", data, want)
	}
}

func wantError(t *testing.T, err error, code int64, message string) {
	t.Helper()
	var e *jsonrpc.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Message, message) {
		t.Errorf("the server got %v, want %d and %q", err, code, message)
	}
}

const (
	elicitSchema = `{"type":"object","properties":{"name":{"type":"string","minLength":2},"age":{"type":"integer"}},"required":["name"]}`
	elicit       = `{"message":"Who?","requestedSchema":` + elicitSchema + `}`
)

func TestElicit(t *testing.T) {
	tests := []struct {
		name   string
		answer protocol.AskResponseParams
		want   string
	}{
		{
			"accept",
			protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(`{"age":7,"name":"Ada"}`)},
			`{"action":"accept","content":{"name":"Ada","age":7}}`,
		},
		{"decline", protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked}, `{"action":"decline"}`},
		{"cancel", protocol.AskResponseParams{AskResponse: protocol.CancelButtonClicked}, `{"action":"cancel"}`},
		{
			"what is typed before a decline stays here",
			protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked, ElicitationContent: json.RawMessage(`{"name":"Ada"}`)},
			`{"action":"decline"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			done := f.serve(t.Context(), f.Elicit, elicit)
			if err := f.answer(t, tt.answer); err != nil {
				t.Fatal(err)
			}
			got := <-done
			if got.err != nil {
				t.Fatal(got.err)
			}
			wantJSON(t, got.result, tt.want)
			want := protocol.McpElicitationRequest{Message: "Who?", Fields: []protocol.Field{
				protocol.StringField{FieldHead: protocol.FieldHead{Name: "name", Required: true}, MinLength: new(2)},
				protocol.NumberField{FieldHead: protocol.FieldHead{Name: "age"}, Integer: true},
			}, RequestedSchema: elicitSchema}
			q := f.message(t).Question.(protocol.McpElicitation)
			if diff := cmp.Diff(want, q.ElicitationRequest); diff != "" {
				t.Errorf("the person was shown (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(origin, q.Origin); diff != "" {
				t.Errorf("who asks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnAnswerThatViolatesTheSchemaCanBeMended(t *testing.T) {
	f := newFixture(t, nil)
	done := f.serve(t.Context(), f.Elicit, elicit)
	err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(`{"name":"A","age":1.5}`)})
	var e *protocol.Error
	if !errors.As(err, &e) || e.Code != protocol.CodeInvalidAnswer {
		t.Fatalf("Answer = %v", err)
	}
	want := protocol.InvalidAnswerData{Problems: []protocol.FieldProblem{
		{Name: "name", Message: "This must have at least 2 characters.", Keyword: "minLength"},
		{Name: "age", Message: "This must be a whole number.", Keyword: "type"},
	}}
	if diff := cmp.Diff(want, e.Data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: "maybe"}); err == nil || !strings.Contains(err.Error(), `"maybe" is none of`) {
		t.Errorf("an answer that is no way out = %v", err)
	}
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(`{"name":"Ada"}`)}); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, (<-done).result, `{"action":"accept","content":{"name":"Ada"}}`)
}

func TestDeclineIsSaidOnlyByAPerson(t *testing.T) {
	for reason, words := range map[protocol.OutcomeReason]string{
		protocol.OutcomeTimedOut:             "the user did not answer in time",
		protocol.OutcomeServerStoppedWaiting: "the server cancelled it",
		protocol.OutcomeCallEnded:            "its call ended first",
		protocol.OutcomeServerLost:           "the connection to the server was lost",
		protocol.OutcomeRestarted:            "the client stopped while it was open",
		"unknown":                            "it ended without an answer",
	} {
		t.Run(string(reason), func(t *testing.T) {
			f := newFixture(t, &scripted{})
			ctx, cancel := context.WithCancelCause(t.Context())
			form := f.serve(ctx, f.Elicit, elicit)
			tasktest.AwaitAsk(t, f.events)
			cancel(&task.Ended{Reason: reason})
			got := <-form
			if got.err != nil {
				t.Fatal(got.err)
			}
			wantJSON(t, got.result, `{"action":"cancel"}`)
			_, err := f.CreateMessage(ctx, request(f.task, origin, sample))
			wantError(t, err, -1, "The sampling request was not answered: "+words)
		})
	}
}

// A message of another type than a text is shown as its JSON.
func TestAMessageThatIsNoTextIsShown(t *testing.T) {
	for _, tt := range []struct{ message, want string }{{`5`, "5"}, {`["a","b"]`, `["a","b"]`}, {`{"en":"Go on?"}`, `{"en":"Go on?"}`}, {`"Go on?"`, "Go on?"}} {
		f := newFixture(t, nil)
		done := f.serve(t.Context(), f.Elicit, `{"message":`+tt.message+`,"requestedSchema":{"type":"object"}}`)
		if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked}); err != nil {
			t.Fatal(err)
		}
		<-done
		if got := f.message(t).Question.(protocol.McpElicitation).ElicitationRequest.Message; got != tt.want {
			t.Errorf("the person was shown %q, want %q", got, tt.want)
		}
	}
}

func TestElicitRefusesWhatIsNotAsTheSpecificationSays(t *testing.T) {
	tests := []struct {
		name, params, want string
	}{
		{"no params", ``, "params are missing"},
		{"no object", `[]`, "params cannot be read"},
		{"no message", `{"requestedSchema":{"type":"object"}}`, "message is missing"},
		{"a message in another case", `{"Message":"m","requestedSchema":{"type":"object"}}`, "message is missing"},
		{"a mode that was not declared", `{"mode":"url","message":"m","url":"https://example.org"}`, `mode "url" was not declared`},
		{"a schema with nesting", `{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"object"}}}}`, `requestedSchema: property a is an object`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			_, err := f.Elicit(t.Context(), request(f.task, origin, tt.params))
			wantError(t, err, jsonrpc.CodeInvalidParams, tt.want)
			if n := f.task.Info().OpenAsks; n != 0 {
				t.Error("the person was shown it all the same")
			}
		})
	}
}

func TestAFormWithoutAMessageIsShown(t *testing.T) {
	f := newFixture(t, nil)
	done := f.serve(t.Context(), f.Elicit, `{"requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`)
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(`{"name":"Ada"}`)}); err != nil {
		t.Fatal(err)
	}
	got := <-done
	if got.err != nil {
		t.Fatal(got.err)
	}
	wantJSON(t, got.result, `{"action":"accept","content":{"name":"Ada"}}`)
}

const sample = `{"messages":[{"role":"user","content":{"type":"text","text":"Hi"}},{"role":"assistant","content":[{"type":"image","data":"iVBORw0KGgoAAAANSUhEUg==","mimeType":"image/png"}]}],"maxTokens":5,"temperature":0,"systemPrompt":"Be brief.","stopSequences":["."],"modelPreferences":{"hints":[{"name":"x"}],"costPriority":0},"metadata":{"b":1,"a":2}}`

func TestCreateMessage(t *testing.T) {
	provider := &scripted{words: []string{"Hel", "lo"}}
	f := newFixture(t, provider)
	done := f.serve(t.Context(), f.CreateMessage, sample)
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked}); err != nil {
		t.Fatal(err)
	}
	got := <-done
	if got.err != nil {
		t.Fatal(got.err)
	}
	wantJSON(t, got.result, `{"role":"assistant","content":{"type":"text","text":"Hello"},"model":"first-2026","stopReason":"endTurn"}`)
	want := protocol.McpSamplingRequest{
		Messages: []protocol.SamplingMessage{
			{Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.TextContent{Text: "Hi"}}},
			{Role: protocol.RoleAssistant, Content: []protocol.ContentBlock{protocol.ImageContent{Data: "iVBORw0KGgoAAAANSUhEUg==", MIMEType: "image/png"}}},
		},
		ModelPreferences: &protocol.ModelPreferences{Hints: []protocol.ModelHint{{Name: "x"}}, CostPriority: new(0.0)},
		SystemPrompt:     "Be brief.", Temperature: new(0.0), MaxTokens: 5, StopSequences: []string{"."},
		Metadata: json.RawMessage(`{"b":1,"a":2}`),
	}
	if diff := cmp.Diff(want, provider.got); diff != "" {
		t.Errorf("the model was asked (-want +got):\n%s", diff)
	}
	q := f.message(t).Question.(protocol.McpSampling)
	if diff := cmp.Diff(want, q.SamplingRequest); diff != "" {
		t.Errorf("the person was shown (-want +got):\n%s", diff)
	}
	kept := protocol.McpSamplingResponse{
		Role: protocol.RoleAssistant, Content: text("Hello"), Model: "first-2026", StopReason: "endTurn",
	}
	if diff := cmp.Diff(kept, q.Result); diff != "" {
		t.Errorf("what is kept (-want +got):\n%s", diff)
	}
}

// Unusual but valid JSON is accepted. Names in another case belong to other members.
func TestCreateMessageTakesWhatIsWrittenInAnUnusualWay(t *testing.T) {
	f := newFixture(t, &caller{})
	f.DeclareSampling(t.Context(), origin.ServerName)
	done := f.serve(t.Context(), f.CreateMessage, `{"tools":[],"messages":[{"role":"user","Role":"assistant","content":[
		{"type":"image","data":"iVBORw0KGgoAAAANSUhEUg==","mimeType":"Image/PNG; name=\"a\"","MimeType":"text/html"},
		{"type":"audio","data":"QQ==","mimeType":"AUDIO/l16;rate=16000"}
	]},{"role":"assistant","content":{"type":"tool_use","id":"a","name":"t","input":{}}},{"role":"user","content":{"type":"tool_result","toolUseId":"a","content":[
		{"type":"image","data":"iVBORw0KGgoAAAANSUhEUg==","mimeType":"Image/PNG"}
	]}}],"maxTokens":50.0,"MaxTokens":7,"modelPreferences":{"CostPriority":1,"speedPriority":0.5}}`)
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked}); err != nil {
		t.Fatal(err)
	}
	<-done
	want := protocol.McpSamplingRequest{
		Messages: []protocol.SamplingMessage{
			{Role: protocol.RoleUser, Content: []protocol.ContentBlock{
				protocol.ImageContent{Data: "iVBORw0KGgoAAAANSUhEUg==", MIMEType: "image/png"},
				protocol.AudioContent{Data: "QQ==", MIMEType: "audio/l16; rate=16000"},
			}},
			{Role: protocol.RoleAssistant, Content: []protocol.ContentBlock{use("a", "t", "{}")}},
			{Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.ToolResultContent{
				ToolUseID: "a", Content: []protocol.ToolResultBlock{protocol.ImageContent{Data: "iVBORw0KGgoAAAANSUhEUg==", MIMEType: "image/png"}},
			}}},
		},
		ModelPreferences: &protocol.ModelPreferences{SpeedPriority: new(0.5)},
		MaxTokens:        50,
	}
	if diff := cmp.Diff(want, f.message(t).Question.(protocol.McpSampling).SamplingRequest); diff != "" {
		t.Errorf("the person was shown (-want +got):\n%s", diff)
	}
}

// Clear requests are read, also if they are not as MCP has them. A wish for a model that cannot be read is left out.
func TestCreateMessageTakesWhatIsClear(t *testing.T) {
	f := newFixture(t, &caller{})
	f.DeclareSampling(t.Context(), origin.ServerName)
	done := f.serve(t.Context(), f.CreateMessage, `{"tools":[{"name":"t"},{"name":"u","inputSchema":{"type":"object","properties":[]}},
		{"name":"v","inputSchema":{"anyOf":[{"properties":{"a":{}}}]}}],"messages":[
		{"role":"user","content":"Hi"},
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t"},{"type":"tool_use","id":"b","name":"t","input":[]},{"type":"tool_use","id":"c","name":"t","input":"{\"n\":1.0}"}]},
		{"role":"user","content":[
			{"type":"tool_result","toolUseId":"a","content":"words"},
			{"type":"tool_result","toolUseId":"b","content":{"type":"text","text":"one block"}},
			{"type":"tool_result","toolUseId":"c","content":["x",{"type":"json","json":{"a":1}},null]}
		]}],"maxTokens":"50","modelPreferences":{"hints":["gpt",{"name":"claude"},5,{}],"costPriority":"1","speedPriority":0.5}}`)
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked}); err != nil {
		t.Fatal(err)
	}
	<-done
	words := func(texts ...string) (blocks []protocol.ToolResultBlock) {
		for _, text := range texts {
			blocks = append(blocks, protocol.TextContent{Text: text})
		}
		return blocks
	}
	want := protocol.McpSamplingRequest{
		Messages: []protocol.SamplingMessage{
			{Role: protocol.RoleUser, Content: []protocol.ContentBlock{protocol.TextContent{Text: "Hi"}}},
			{Role: protocol.RoleAssistant, Content: []protocol.ContentBlock{use("a", "t", "{}"), use("b", "t", "{}"), use("c", "t", `{"n":1.0}`)}},
			{Role: protocol.RoleUser, Content: []protocol.ContentBlock{
				protocol.ToolResultContent{ToolUseID: "a", Content: words("words")},
				protocol.ToolResultContent{ToolUseID: "b", Content: words("one block")},
				protocol.ToolResultContent{ToolUseID: "c", Content: words("x", `{"type":"json","json":{"a":1}}`, "null")},
			}},
		},
		Tools: []protocol.SamplingTool{
			{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)},
			{Name: "u", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)},
			{Name: "v", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{}}}`)},
		},
		ModelPreferences: &protocol.ModelPreferences{Hints: []protocol.ModelHint{{Name: "gpt"}, {Name: "claude"}, {}}, SpeedPriority: new(0.5)},
		MaxTokens:        50,
	}
	if diff := cmp.Diff(want, f.message(t).Question.(protocol.McpSampling).SamplingRequest); diff != "" {
		t.Errorf("the person was shown (-want +got):\n%s", diff)
	}
}

func TestARequestWithoutALimitOfTokensHasTheUsualOne(t *testing.T) {
	for _, limit := range []string{``, `,"maxTokens":0`, `,"maxTokens":null`, `,"MaxTokens":5`} {
		t.Run(limit, func(t *testing.T) {
			f := newFixture(t, &scripted{})
			done := f.serve(t.Context(), f.CreateMessage, `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}]`+limit+`}`)
			if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked}); err != nil {
				t.Fatal(err)
			}
			<-done
			if got := f.message(t).Question.(protocol.McpSampling).SamplingRequest.MaxTokens; got != 4096 {
				t.Errorf("the person was shown a limit of %d tokens", got)
			}
		})
	}
}

func TestTheModelThatSuitsTheServerIsProposed(t *testing.T) {
	provider := &scripted{words: []string{"x"}}
	f := newFixture(t, provider)
	wish := strings.Replace(sample, `{"name":"x"}`, `{"name":"second"}`, 1)
	done := f.serve(t.Context(), f.CreateMessage, wish)
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked}); err != nil {
		t.Fatal(err)
	}
	<-done
	q := f.message(t).Question.(protocol.McpSampling)
	if q.Model.ID != "openai:second" || q.ModelReason != `The server asked for "second".` {
		t.Errorf("proposed was %+v: %s", q.Model, q.ModelReason)
	}
}

func TestAServerGetsNoModelThatItMayNotHave(t *testing.T) {
	settings := protocol.ModelSettings{Allowed: []protocol.AllowedModels{{ServerName: origin.ServerName, Models: []string{"*:second"}}}}
	f := newFixtureWith(t, &scripted{words: []string{"x"}}, settings)
	done := f.serve(t.Context(), f.CreateMessage, sample)
	err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, ModelID: "openai:first"})
	if err == nil || !strings.Contains(err.Error(), "assent.model.allowed") {
		t.Fatalf("a model that the server may not have = %v", err)
	}
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked}); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, (<-done).result, `{"role":"assistant","content":{"type":"text","text":"x"},"model":"second-2026","stopReason":"endTurn"}`)
}

func TestAPersonCanChooseAnotherModel(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"x"}})
	done := f.serve(t.Context(), f.CreateMessage, sample)
	err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, ModelID: "openai:third"})
	if err == nil || !strings.Contains(err.Error(), `no model "openai:third"`) {
		t.Fatalf("an unknown model = %v", err)
	}
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, ModelID: "openai:second"}); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, (<-done).result, `{"role":"assistant","content":{"type":"text","text":"x"},"model":"second-2026","stopReason":"endTurn"}`)
	if m := f.message(t).Question.(protocol.McpSampling).Model; m == nil || m.ID != "openai:second" {
		t.Errorf("the model that is kept = %+v", m)
	}
}

func TestRefusedSampling(t *testing.T) {
	tests := []struct {
		response protocol.AskResponse
		want     string
	}{
		{protocol.NoButtonClicked, "User rejected sampling request"},
		{protocol.CancelButtonClicked, "User dismissed"},
	}
	for _, tt := range tests {
		t.Run(string(tt.response), func(t *testing.T) {
			provider := &scripted{words: []string{"x"}}
			f := newFixture(t, provider)
			done := f.serve(t.Context(), f.CreateMessage, sample)
			if err := f.answer(t, protocol.AskResponseParams{AskResponse: tt.response}); err != nil {
				t.Fatal(err)
			}
			wantError(t, (<-done).err, -1, tt.want)
			if provider.got.MaxTokens != 0 {
				t.Error("the model was asked all the same")
			}
		})
	}
}

func TestAModelThatFails(t *testing.T) {
	tests := []struct {
		kind error
		told string
	}{
		{model.ErrFailed, "Sampling failed: the model failed"},
		{model.ErrRefused, "Sampling failed: the model refused"},
		{model.ErrStalled, "Sampling failed: the model stopped answering"},
		{errors.New("anything"), "Sampling failed: the model failed"},
	}
	for _, tt := range tests {
		t.Run(tt.kind.Error(), func(t *testing.T) {
			f := newFixture(t, &scripted{words: []string{"half an ans"}, err: fmt.Errorf("%w: https://secret.example.org said no", tt.kind)})
			done := f.serve(t.Context(), f.CreateMessage, sample)
			if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked}); err != nil {
				t.Fatal(err)
			}
			err := (<-done).err
			wantError(t, err, jsonrpc.CodeInternalError, tt.told)
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the server was told where the model is: %v", err)
			}
			failure, ok := f.message(t).Question.(protocol.McpSampling).Result.(protocol.SamplingFailure)
			if !ok || !strings.Contains(failure.Reason, "https://secret.example.org said no") {
				t.Errorf("the person was told %+v", failure)
			}
		})
	}
}

func TestWithoutAModelThePersonIsToldWhatToDo(t *testing.T) {
	f := newFixture(t, nil)
	done := f.serve(t.Context(), f.CreateMessage, sample)
	err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked})
	if err == nil || !strings.Contains(err.Error(), "configure one in the settings") {
		t.Errorf("approval without a model = %v", err)
	}
	if m := f.message(t).Question.(protocol.McpSampling).Model; m != nil {
		t.Errorf("the model proposed = %+v", m)
	}
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked}); err != nil {
		t.Fatal(err)
	}
	wantError(t, (<-done).err, -1, "User rejected")
}

func TestCreateMessageRefusesWhatIsNotAsTheSpecificationSays(t *testing.T) {
	message := func(m string) string { return `{"maxTokens":1,"messages":[` + m + `]}` }
	tests := []struct {
		name, params, want string
	}{
		{"no messages", `{"maxTokens":1}`, "messages is missing or empty"},
		{"empty messages", message(``), "messages is missing or empty"},
		{"negative maxTokens", `{"maxTokens":-1,"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`, "maxTokens is -1"},
		{"an unknown role", message(`{"role":"system","content":{"type":"text","text":"x"}}`), `messages[0]: role is "system"`},
		{"no content", message(`{"role":"user"}`), "messages[0]: content: is missing"},
		{"empty content", message(`{"role":"user","content":[]}`), "messages[0]: content: is empty"},
		{"unknown content", message(`{"role":"user","content":{"type":"smell"}}`), "messages[0]: content: must be text, image, audio, tool_use or tool_result"},
		{"more messages than can be read", message(strings.Repeat(`{"role":"user","content":{"type":"text","text":"x"}},`, 9999) + `{"role":"user","content":{"type":"text","text":"x"}}`), "messages has 10000 entries"},
		{"a picture that is not base64", message(`{"role":"user","content":{"type":"image","data":"a picture","mimeType":"image/png"}}`), "messages[0]: content: data is not base64"},
		{"an empty sound", message(`{"role":"user","content":{"type":"audio","data":"","mimeType":"audio/wav"}}`), "data is missing or empty"},
		{"a picture that is none", message(`{"role":"user","content":{"type":"image","data":"QQ==","mimeType":"text/html"}}`), `mimeType is "text/html"`},
		{"a fraction of a token", `{"maxTokens":1.5,"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`, `"maxTokens" is a number and must be an integer`},
		{"more tokens than can be counted", `{"maxTokens":1e19,"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`, `"maxTokens" is a number and must be an integer`},
		{"tokens in words", `{"maxTokens":"five","messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`, `"maxTokens" is a string and must be an integer`},
		{"a role in another case", message(`{"Role":"user","content":{"type":"text","text":"x"}}`), `role is ""`},
		{"a picture whose members are in another case", message(`{"role":"user","content":{"type":"image","Data":"QQ==","mimeType":"image/png"}}`), "data is missing or empty"},
		{"a media type that only begins right", message(`{"role":"user","content":{"type":"image","data":"QQ==","mimeType":"image/png;base64,AAAA"}}`), `mimeType is "image/png;base64,AAAA", which is not a media type`},
		{"a media type without its second half", message(`{"role":"user","content":{"type":"image","data":"QQ==","mimeType":"image/"}}`), `mimeType is "image/", which is not a media type`},
		{"a media type that is one word", message(`{"role":"user","content":{"type":"audio","data":"QQ==","mimeType":"audio"}}`), `mimeType is "audio", it must begin with audio/`},
		{"content of a tool", message(`{"role":"user","content":{"type":"resource_link","uri":"x","name":"x"}}`), "must be text, image, audio"},
		{"tools that were not declared", `{"maxTokens":1,"tools":[],"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`, "sampling.tools was not declared"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, &scripted{})
			_, err := f.CreateMessage(t.Context(), request(f.task, origin, tt.params))
			wantError(t, err, jsonrpc.CodeInvalidParams, tt.want)
			if n := f.task.Info().OpenAsks; n != 0 {
				t.Error("the person was shown it all the same")
			}
		})
	}
}

func TestAServerThatLeavesStopsTheModel(t *testing.T) {
	f := newFixture(t, &waiting{})
	ctx, cancel := context.WithCancelCause(t.Context())
	done := f.serve(ctx, f.CreateMessage, sample)
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked}); err != nil {
		t.Fatal(err)
	}
	cancel(&task.Ended{Reason: protocol.OutcomeServerLost, Detail: "It died."})
	if got := <-done; got.err == nil {
		t.Error("a completion was returned to nobody")
	}
	failure, ok := f.message(t).Question.(protocol.McpSampling).Result.(protocol.SamplingFailure)
	if !ok || failure.Reason != "It died." {
		t.Errorf("the person was told %+v", failure)
	}
}

// waiting is a model that never answers by itself.
type waiting struct{ scripted }

func (*waiting) Generate(ctx context.Context, _ string, _ *protocol.McpSamplingRequest, _ func(string)) (*model.Completion, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAQuestionDuringAReadingIsOfThatKind(t *testing.T) {
	f := newFixture(t, nil)
	reading := func(ctx context.Context, r *attribution.Request) (any, error) {
		r.Origin.ToolNames, r.Origin.ResourceURI = nil, "x://y"
		return f.Elicit(ctx, r)
	}
	done := f.serve(t.Context(), reading, `{"message":"m","requestedSchema":{"type":"object","properties":{}}}`)
	ask, _ := tasktest.AwaitAsk(t, f.events)
	if ask.Ask != protocol.AskAccessMcpResource {
		t.Errorf("the ask is %q, want %q", ask.Ask, protocol.AskAccessMcpResource)
	}
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.CancelButtonClicked}); err != nil {
		t.Error(err)
	}
	<-done
}

func TestTheModelThatAPersonChoseIsProposedNext(t *testing.T) {
	provider := &scripted{words: []string{"x"}}
	f := newFixture(t, provider)
	var seen []string
	ask := func(o protocol.Origin, p protocol.AskResponseParams) protocol.McpSampling {
		t.Helper()
		done := make(chan error, 1)
		go func() {
			_, err := f.CreateMessage(t.Context(), request(f.task, o, `{"maxTokens":5,"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`))
			done <- err
		}()
		asked := f.answerNext(t, p, seen...)
		seen = append(seen, asked.AskID)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		return asked.Question.(protocol.McpSampling)
	}
	first, next := origin, origin
	first.MessageID, next.MessageID = 1, 2
	other := protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, ModelID: "openai:second"}
	const chosen = "You chose it when this server asked last."
	if q := ask(first, other); q.Model.ID != "openai:first" {
		t.Errorf("at first %s is proposed", q.Model.ID)
	}
	if q := ask(first, yes); q.Model.ID != "openai:second" || q.ModelReason != chosen {
		t.Errorf("later in the call %s is proposed: %s", q.Model.ID, q.ModelReason)
	}
	if q := ask(next, yes); q.Model.ID != "openai:first" {
		t.Errorf("in another call %s is proposed", q.Model.ID)
	}
	ask(first, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, ModelID: "openai:first"})
	if q := ask(first, yes); q.Model.ID != "openai:first" {
		t.Errorf("after a change of mind %s is proposed", q.Model.ID)
	}
	other.Grant = &protocol.GrantTerms{ServerName: "s", Models: []string{"openai:second"}, MaxRequests: 1}
	ask(first, other)
	if q := ask(next, yes); q.Model.ID != "openai:second" || q.GrantReason == "" {
		t.Errorf("after a grant for it %s is proposed: %s", q.Model.ID, q.GrantReason)
	}
	if q := ask(protocol.Origin{ServerName: "another", MessageID: 1}, yes); q.Model.ID != "openai:first" {
		t.Errorf("to another server %s is proposed", q.Model.ID)
	}
}
