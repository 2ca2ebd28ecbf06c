package broker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/model"
	"assent/sidecar/task"
	"assent/sidecar/task/ask"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

var (
	yes = protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked}
	no  = protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked}
)

// answerNext answers the next ask that is not in seen, and returns it as it was before.
func (f *fixture) answerNext(t *testing.T, params protocol.AskResponseParams, seen ...string) protocol.Ask {
	t.Helper()
	ask, _ := tasktest.AwaitAsk(t, f.events, seen...)
	params.AskID = ask.AskID
	if _, err := f.task.Answer(t.Context(), &params, "a test"); err != nil {
		t.Fatal(err)
	}
	return ask
}

// sampled returns the stored sampling request of the task.
func (f *fixture) sampled(t *testing.T) protocol.McpSampling {
	t.Helper()
	return f.message(t).Question.(protocol.McpSampling)
}

// text returns content with one text block.
func text(s string) []protocol.ContentBlock {
	return []protocol.ContentBlock{protocol.TextContent{Text: s}}
}

func textOf(t *testing.T, r protocol.SamplingResult) string {
	t.Helper()
	response, ok := r.(protocol.McpSamplingResponse)
	if !ok {
		t.Fatalf("the result is %+v", r)
	}
	return response.Content[0].(protocol.TextContent).Text
}

func TestAReviewedCompletion(t *testing.T) {
	tests := []struct {
		name   string
		answer protocol.AskResponseParams
		want   string // of the result, or
		err    string
	}{
		{"as it is", yes, "Hello", ""},
		{"edited", protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, SamplingContent: text("Bye")}, "Bye", ""},
		{"withheld", no, "", "User rejected sampling request"},
		{"put away", protocol.AskResponseParams{AskResponse: protocol.CancelButtonClicked}, "", "User dismissed"},
		{"edited, and withheld", protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked, SamplingContent: text("Bye")}, "", "User rejected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, &scripted{words: []string{"Hel", "lo"}})
			f.review = protocol.ReviewAlways
			done := f.serve(t.Context(), f.CreateMessage, sample)
			approved := f.answerNext(t, yes)
			review, _ := tasktest.AwaitAsk(t, f.events, approved.AskID)
			if q := f.sampled(t); !q.InReview || q.Progress != nil || q.Result != nil {
				t.Errorf("the approved request before the review = %+v", q)
			}
			q := review.Question.(protocol.McpSamplingReview)
			if got := textOf(t, q.SamplingResponse); got != "Hello" {
				t.Errorf("the person was shown %q", got)
			}
			f.answerNext(t, tt.answer, approved.AskID)
			got := <-done
			kept := f.sampled(t)
			if kept.InReview {
				t.Error("it is still in review")
			}
			if tt.err != "" {
				wantError(t, got.err, -1, tt.err)
				if _, ok := kept.Result.(protocol.SamplingWithheld); !ok {
					t.Errorf("what is kept = %+v", kept.Result)
				}
				return
			}
			if got.err != nil {
				t.Fatal(got.err)
			}
			wantJSON(t, got.result, fmt.Sprintf(`{"role":"assistant","content":{"type":"text","text":%q},"model":"first-2026","stopReason":"endTurn"}`, tt.want))
			if text := textOf(t, kept.Result); text != tt.want {
				t.Errorf("what is kept = %q", text)
			}
		})
	}
}

func TestAnEmptyAnswerIsRefusedAndTheReviewStaysOpen(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"x"}})
	f.review = protocol.ReviewAlways
	done := f.serve(t.Context(), f.CreateMessage, sample)
	approved := f.answerNext(t, yes)
	review, _ := tasktest.AwaitAsk(t, f.events, approved.AskID)
	for _, wrong := range []protocol.AskResponseParams{
		{AskID: review.AskID, AskResponse: protocol.YesButtonClicked, SamplingContent: text(" \n")},
		{AskID: review.AskID, AskResponse: protocol.RegenerateButtonClicked, ModelID: "openai:third"},
	} {
		_, err := f.task.Answer(t.Context(), &wrong, "a test")
		if e := (*protocol.Error)(nil); !errors.As(err, &e) || e.Code != protocol.CodeInvalidAnswer {
			t.Errorf("Answer(%+v) = %v", wrong, err)
		}
	}
	f.answerNext(t, yes, approved.AskID)
	if got := <-done; got.err != nil {
		t.Error(got.err)
	}
}

func TestWhenAPersonReviews(t *testing.T) {
	tests := []struct {
		review protocol.SamplingReview
		want   []bool
	}{
		{protocol.ReviewAlways, []bool{true, true}},
		{protocol.ReviewFirstFromServer, []bool{true, false}},
		{protocol.ReviewNever, []bool{false, false}},
		{"of a later version", []bool{true, true}},
	}
	for _, tt := range tests {
		t.Run(string(tt.review), func(t *testing.T) {
			f := newFixture(t, &scripted{words: []string{"x"}})
			f.review = tt.review
			var seen []string
			for i, reviewed := range tt.want {
				done := f.serve(t.Context(), f.CreateMessage, sample)
				seen = append(seen, f.answerNext(t, yes, seen...).AskID)
				if reviewed {
					seen = append(seen, f.answerNext(t, yes, seen...).AskID)
				}
				if got := <-done; got.err != nil {
					t.Fatalf("request %d: %v", i, got.err)
				}
			}
		})
	}
}

func TestAWithheldAnswerEarnsNoTrust(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"x"}})
	f.review = protocol.ReviewFirstFromServer
	var seen []string
	for range 2 {
		done := f.serve(t.Context(), f.CreateMessage, sample)
		seen = append(seen, f.answerNext(t, yes, seen...).AskID)
		seen = append(seen, f.answerNext(t, no, seen...).AskID)
		wantError(t, (<-done).err, -1, "User rejected")
	}
}

func TestAnotherAnswerOfAnotherModel(t *testing.T) {
	provider := &fickle{}
	f := newFixture(t, provider)
	f.review = protocol.ReviewAlways
	done := f.serve(t.Context(), f.CreateMessage, sample)
	first := f.answerNext(t, yes)
	second := f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.RegenerateButtonClicked, ModelID: "openai:second"}, first.AskID)
	// The next one fails. The earlier answer is kept.
	third := f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.RegenerateButtonClicked, ModelID: "openai:first"}, first.AskID, second.AskID)
	fourth := f.answerNext(t, yes, first.AskID, second.AskID, third.AskID)
	q := fourth.Question.(protocol.McpSamplingReview)
	if !strings.Contains(q.Problem, "First gave no other answer: the model failed: no more") || q.Model.ID != "openai:second" {
		t.Errorf("the last review = %+v", q)
	}
	wantJSON(t, (<-done).result, `{"role":"assistant","content":{"type":"text","text":"answer 2 of second"},"model":"second","stopReason":"endTurn"}`)
	var sequences []int64
	for _, e := range f.events.All() {
		if p, ok := e.(protocol.McpSamplingProgressParams); ok {
			sequences = append(sequences, p.Sequence)
		}
	}
	if diff := cmp.Diff([]int64{0, 1}, sequences); diff != "" {
		t.Errorf("the pieces' numbers (-want +got):\n%s", diff)
	}
}

// fickle is a provider that numbers its answers. The third attempt fails.
type fickle struct {
	scripted
	mu       sync.Mutex // guards attempts
	attempts int
}

func (p *fickle) Generate(_ context.Context, id string, _ *protocol.McpSamplingRequest, emit func(string)) (*model.Completion, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempts++
	if p.attempts == 3 {
		return nil, fmt.Errorf("%w: no more", model.ErrFailed)
	}
	text := fmt.Sprintf("answer %d of %s", p.attempts, id)
	emit(text)
	return &model.Completion{Text: text, Model: id, StopReason: "endTurn"}, nil
}

func TestStop(t *testing.T) {
	tests := []struct {
		name   string
		keep   bool
		review protocol.SamplingReview
	}{
		{"and return what is there", true, protocol.ReviewNever},
		{"and review what is there", true, protocol.ReviewAlways},
		{"and return nothing", false, protocol.ReviewAlways},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, &endless{})
			f.review = tt.review
			done := f.serve(t.Context(), f.CreateMessage, sample)
			ask, _ := tasktest.AwaitAsk(t, f.events)
			if stopped, err := f.task.StopCompletion(t.Context(), ask.AskID, false, "a test"); stopped || err != nil {
				t.Errorf("before the approval, StopCompletion = %v, %v", stopped, err)
			}
			f.answerNext(t, yes)
			tasktest.Await(t, f.events, func(p protocol.McpSamplingProgressParams) bool { return p.Chunk == "half an " })
			if stopped, err := f.task.StopCompletion(t.Context(), ask.AskID, tt.keep, "a test"); !stopped || err != nil {
				t.Fatalf("StopCompletion = %v, %v", stopped, err)
			}
			if tt.review == protocol.ReviewAlways && tt.keep {
				f.answerNext(t, yes, ask.AskID)
			}
			got := <-done
			if tt.keep {
				wantJSON(t, got.result, `{"role":"assistant","content":{"type":"text","text":"half an "},"model":"First","stopReason":"userStopped"}`)
			} else {
				wantError(t, got.err, -1, "User rejected sampling request")
				want := protocol.SamplingWithheld{Reason: "The model was stopped in a test."}
				if diff := cmp.Diff(protocol.SamplingResult(want), f.sampled(t).Result); diff != "" {
					t.Errorf("what is kept (-want +got):\n%s", diff)
				}
			}
			if stopped, err := f.task.StopCompletion(t.Context(), ask.AskID, false, "a test"); stopped || err != nil {
				t.Errorf("when it is over, StopCompletion = %v, %v", stopped, err)
			}
		})
	}
}

func TestStopWhatIsNotThere(t *testing.T) {
	f := newFixture(t, nil)
	_, err := f.task.StopCompletion(t.Context(), "id-9", false, "a test")
	if e := (*protocol.Error)(nil); !errors.As(err, &e) || e.Code != protocol.CodeUnknownAsk {
		t.Errorf("StopCompletion = %v", err)
	}
}

// endless writes half an answer, and waits until it is stopped.
type endless struct{ scripted }

func (*endless) Generate(ctx context.Context, _ string, _ *protocol.McpSamplingRequest, emit func(string)) (*model.Completion, error) {
	emit("half an ")
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAServerThatLeavesEndsTheReview(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"x"}})
	f.review = protocol.ReviewAlways
	ctx, cancel := context.WithCancelCause(t.Context())
	done := f.serve(ctx, f.CreateMessage, sample)
	approved := f.answerNext(t, yes)
	tasktest.AwaitAsk(t, f.events, approved.AskID)
	cancel(&task.Ended{Reason: protocol.OutcomeServerLost, Detail: "It died."})
	wantError(t, (<-done).err, -1, "The completion was not reviewed: the connection to the server was lost")
	if diff := cmp.Diff(protocol.SamplingResult(protocol.SamplingFailure{Reason: "It died."}), f.sampled(t).Result); diff != "" {
		t.Errorf("what is kept (-want +got):\n%s", diff)
	}
}

func TestAnEditedRequest(t *testing.T) {
	provider := &scripted{words: []string{"x"}}
	f := newFixture(t, provider)
	done := f.serve(t.Context(), f.CreateMessage, sample)
	bad := protocol.SamplingEdit{
		Messages:    []protocol.SamplingMessage{{Role: "system", Content: []protocol.ContentBlock{protocol.TextContent{Text: "x"}}}},
		Temperature: new(2.5), MaxTokens: 6,
	}
	err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, SamplingEdit: &bad})
	var e *protocol.Error
	if !errors.As(err, &e) || e.Code != protocol.CodeInvalidAnswer {
		t.Fatalf("an edit beyond the limits = %v", err)
	}
	want := protocol.InvalidAnswerData{Problems: []protocol.FieldProblem{
		{Name: "messages", Message: `Message 1: role is "system", it must be user or assistant.`},
		{Name: "temperature", Message: "The temperature must be from 0 to 2."},
		{Name: "maxTokens", Message: "The server asked for at most 5 tokens."},
	}}
	if diff := cmp.Diff(want, e.Data); diff != "" {
		t.Errorf("what is wrong (-want +got):\n%s", diff)
	}
	for name, edit := range map[string]protocol.SamplingEdit{
		"no messages": {Messages: []protocol.SamplingMessage{}, MaxTokens: 1},
		"no tokens":   {},
	} {
		if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, SamplingEdit: &edit}); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
	good := protocol.SamplingEdit{SystemPrompt: "Be kind.", MaxTokens: 4}
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, SamplingEdit: &good}); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil {
		t.Fatal(got.err)
	}
	q := f.sampled(t)
	sent := q.SamplingRequest
	sent.SystemPrompt, sent.Temperature, sent.MaxTokens = "Be kind.", nil, 4
	if diff := cmp.Diff(sent, provider.got); diff != "" {
		t.Errorf("the model was asked (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&sent, q.SentRequest); diff != "" {
		t.Errorf("what is kept as sent (-want +got):\n%s", diff)
	}
	if q.SamplingRequest.SystemPrompt != "Be brief." {
		t.Error("what was asked is not kept")
	}
}

func TestAnEditThatChangesNothingIsNone(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"x"}})
	done := f.serve(t.Context(), f.CreateMessage, sample)
	same := protocol.SamplingEdit{SystemPrompt: "Be brief.", Temperature: new(0.0), MaxTokens: 5}
	if err := f.answer(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, SamplingEdit: &same}); err != nil {
		t.Fatal(err)
	}
	<-done
	if sent := f.sampled(t).SentRequest; sent != nil {
		t.Errorf("sent = %+v", sent)
	}
}

// keyed returns a request for a completion with keys for its asks.
func keyed(t attribution.Task, key string) *attribution.Request {
	r := request(t, origin, sample)
	r.Key = key
	return r
}

// TestARestart kills a sidecar between the model's answer and its review, and between two answers. Neither
// the person nor the model is asked twice.
func TestARestart(t *testing.T) {
	dir := t.TempDir()
	provider := &fickle{}
	set := model.NewSet(map[protocol.ModelProvider]model.Provider{protocol.ProviderOpenAI: provider}, protocol.ModelSettings{}, model.DefaultTimeout)
	models := func(server string) broker.Models { return set.For(server) }
	key := ask.McpTaskPrefix("s", "mcp-task") + "q"
	var taskID string
	ids := 0

	// life runs one sidecar; do gets its task, and returns before the sidecar is killed.
	life := func(do func(f *fixture, done <-chan served)) {
		t.Helper()
		b := broker.New(broker.Options{Models: models, FrontEnd: func() protocol.FrontEndCapabilities { return frontEnd }, Log: zerolog.Nop()})
		events := &tasktest.Events{}
		registry := task.NewRegistry(task.Options{
			OpenStore: func() (*store.Store, error) { return store.Open(dir) },
			Events:    events, Check: b.Check, Log: zerolog.New(zerolog.NewTestWriter(t)), Now: time.Now,
			NewID: func() string { ids++; return fmt.Sprintf("id-%d", ids) },
		})
		defer func() {
			if err := registry.Close(); err != nil {
				t.Error(err)
			}
		}()
		if taskID == "" {
			info, err := registry.Create("")
			if err != nil {
				t.Fatal(err)
			}
			taskID = info.ID
		}
		tk, err := registry.Get(taskID)
		if err != nil {
			t.Fatal(err)
		}
		ctx, kill := context.WithCancelCause(t.Context())
		done := make(chan served, 1)
		f := &fixture{Broker: b, task: tk, events: events}
		go func() {
			result, err := b.CreateMessage(ctx, keyed(tk, key))
			done <- served{result, err}
			close(done)
		}()
		do(f, done)
		kill(&task.Ended{Reason: protocol.OutcomeRestarted})
		<-done
	}

	life(func(f *fixture, _ <-chan served) {
		id, err := f.task.StartCall("s", protocol.CallToolRequest{ToolName: "t", Arguments: json.RawMessage(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		f.task.CallTask(id, protocol.McpTask{TaskID: "mcp-task", Status: protocol.McpTaskInputRequired})
		approved := f.answerNext(t, yes)
		tasktest.AwaitAsk(t, f.events, approved.AskID)
	})
	openAsks := func(f *fixture) []protocol.Ask {
		opened, err := f.task.Open(t.Context(), 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		var open []protocol.Ask
		for _, m := range opened.Messages {
			if a, ok := m.Body.(protocol.Ask); ok && a.Outcome == nil {
				open = append(open, a)
			}
		}
		return open
	}
	life(func(f *fixture, _ <-chan served) {
		open := openAsks(f)
		if len(open) != 1 {
			t.Fatalf("open after the restart: %+v", open)
		}
		again := protocol.AskResponseParams{AskID: open[0].AskID, AskResponse: protocol.RegenerateButtonClicked, ModelID: "openai:second"}
		if _, err := f.task.Answer(t.Context(), &again, "a test"); err != nil {
			t.Fatal(err)
		}
		tasktest.AwaitAsk(t, f.events)
		if !slices.ContainsFunc(f.events.All(), func(e any) bool {
			p, ok := e.(protocol.TaskEventParams)
			moved, isMove := p.Event.(protocol.SamplingMoved)
			return ok && isMove && !moved.InReview && moved.Progress != nil && moved.Model.ID == "openai:second"
		}) {
			t.Error("front ends were not told that the text begins anew")
		}
	})
	life(func(f *fixture, done <-chan served) {
		open := openAsks(f)
		if len(open) != 1 {
			t.Fatalf("open after the second restart: %+v", open)
		}
		deliver := protocol.AskResponseParams{AskID: open[0].AskID, AskResponse: protocol.YesButtonClicked}
		if _, err := f.task.Answer(t.Context(), &deliver, "a test"); err != nil {
			t.Fatal(err)
		}
		got := <-done
		if got.err != nil {
			t.Fatal(got.err)
		}
		wantJSON(t, got.result, `{"role":"assistant","content":{"type":"text","text":"answer 2 of second"},"model":"second","stopReason":"endTurn"}`)
		if provider.attempts != 2 {
			t.Errorf("the model was asked %d times", provider.attempts)
		}
	})
}
