package broker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/base/secret"
	"assent/sidecar/broker"
	"assent/sidecar/broker/grant"
	"assent/sidecar/broker/policy"
	"assent/sidecar/model"
	"assent/sidecar/task"
	"assent/sidecar/task/ask"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

// tenRequests are good terms for the requests of the tests.
var tenRequests = protocol.GrantTerms{ServerName: "s", ToolName: "t", Models: []string{"openai:*"}, MaxRequests: 10}

func (f *fixture) grant(t *testing.T, terms protocol.GrantTerms) *protocol.Grant {
	t.Helper()
	g, err := f.grants.Create(t.Context(), terms, "a test")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (f *fixture) wantSpent(t *testing.T, want ...protocol.GrantSpent) {
	t.Helper()
	list, err := f.grants.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []protocol.GrantSpent
	for _, g := range list {
		got = append(got, g.Spent)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spent (-want +got):\n%s", diff)
	}
}

// counted is a provider that reports the usage of its answers. If it has a gate, each answer waits for
// it.
type counted struct {
	scripted
	usage *model.Usage
	begun chan struct{} // gets a value when an answer begins; nil if the test does not wait
	gate  chan struct{}
}

func (c *counted) Generate(ctx context.Context, id string, r *protocol.McpSamplingRequest, emit func(string)) (*model.Completion, error) {
	if c.begun != nil {
		c.begun <- struct{}{}
		select {
		case <-c.gate:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	made, err := c.scripted.Generate(ctx, id, r, emit)
	if made != nil {
		made.Usage = c.usage
	}
	return made, err
}

func (c *counted) Models(context.Context) ([]protocol.Model, error) {
	in, out := 1.0, 2.0
	facts := protocol.ModelFacts{InputCost: &in, OutputCost: &out}
	return []protocol.Model{
		{ID: "openai:first", Name: "First", Provider: protocol.ProviderOpenAI, ModelFacts: facts},
		{ID: "openai:second", Name: "Second", Provider: protocol.ProviderOpenAI},
	}, nil
}

func TestAGrantApprovesInPlaceOfAPerson(t *testing.T) {
	f := newFixture(t, &counted{scripted: scripted{words: []string{"Hel", "lo"}}, usage: &model.Usage{InputTokens: 1000, OutputTokens: 500}})
	f.review = protocol.ReviewAlways // the grant's terms apply
	g := f.grant(t, tenRequests)
	got := <-f.serve(t.Context(), f.CreateMessage, sample)
	if got.err != nil {
		t.Fatal(got.err)
	}
	kept := f.message(t)
	if o := kept.Outcome; o.Reason != protocol.OutcomeGranted || o.GrantID != g.ID || o.By != "" || !strings.HasPrefix(o.Detail, "Allowed by the grant made in a test on ") {
		t.Errorf("the outcome = %+v", o)
	}
	q := f.sampled(t)
	if textOf(t, q.Result) != "Hello" || q.Model.ID != "openai:first" || q.GrantReason != "" {
		t.Errorf("what is kept = %+v", q)
	}
	if diff := cmp.Diff(&protocol.SamplingUsage{InputTokens: 1000, OutputTokens: 500, Cost: new(0.002)}, q.Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	for _, e := range f.events.All() {
		if p, ok := e.(protocol.TaskEventParams); ok && p.OpenAsks != 0 {
			t.Errorf("a person was asked: %+v", p)
		}
	}
	f.wantSpent(t, protocol.GrantSpent{Requests: 1, Tokens: 1500, Cost: 0.002})
	answer := protocol.AskResponseParams{AskID: kept.AskID, AskResponse: protocol.NoButtonClicked}
	_, err := f.task.Answer(t.Context(), &answer, "a test")
	if e := (*protocol.Error)(nil); !errors.As(err, &e) || e.Code != protocol.CodeAskSettled || !strings.Contains(e.Message, "by a grant") {
		t.Errorf("Answer after the grant = %v", err)
	}
}

func TestARequestWithoutAGrantIsAsked(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"x"}})
	terms := tenRequests
	terms.MaxRequests = 1
	f.grant(t, terms)
	if got := <-f.serve(t.Context(), f.CreateMessage, sample); got.err != nil {
		t.Fatal(got.err)
	}
	first := f.message(t)
	done := f.serve(t.Context(), f.CreateMessage, sample)
	asked := f.answerNext(t, no, first.AskID)
	wantError(t, (<-done).err, -1, "User rejected sampling request")
	if reason := asked.Question.(protocol.McpSampling).GrantReason; !strings.HasSuffix(reason, "for 1 request is used up.") {
		t.Errorf("the person was told %q", reason)
	}
}

func TestASecretIsAskedAboutDespiteAGrant(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"x"}})
	f.known = []secret.Known{{Value: knownPassword, Description: "the password of db"}}
	f.grant(t, tenRequests)
	done := f.serve(t.Context(), f.CreateMessage, `{"maxTokens":5,"messages":[{"role":"user","content":{"type":"text","text":"Use `+knownPassword+`"}}]}`)
	asked := f.answerNext(t, no)
	<-done
	if reason := asked.Question.(protocol.McpSampling).GrantReason; !strings.HasSuffix(reason, "does not cover it: something in it looks like a secret.") {
		t.Errorf("the person was told %q", reason)
	}
	f.wantSpent(t, protocol.GrantSpent{})
}

func TestAGrantGivesNoContext(t *testing.T) {
	provider := &scripted{words: []string{"x"}}
	f := newFixture(t, provider)
	f.call(t, "s", "first", `{}`, returned("what was returned"))
	f.grant(t, tenRequests)
	got := <-f.serve(t.Context(), f.CreateMessage, `{"maxTokens":5,"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"includeContext":"thisServer"}`)
	if got.err != nil {
		t.Fatal(got.err)
	}
	if n := len(provider.got.Messages); n != 1 {
		t.Errorf("the model was sent %d messages, want 1", n)
	}
	ended := tasktest.Await(t, f.events, func(p protocol.TaskEventParams) bool {
		added, ok := p.Event.(protocol.MessageAdded)
		ask, isAsk := added.Message.Body.(protocol.Ask)
		return ok && isAsk && ask.Outcome != nil
	})
	ask := ended.Event.(protocol.MessageAdded).Message.Body.(protocol.Ask)
	if c := ask.Question.(protocol.McpSampling).Context; c != nil {
		t.Errorf("what is kept says that %+v went along", c)
	}
}

func TestAGrantIsMadeWithAYes(t *testing.T) {
	f := newFixture(t, &counted{scripted: scripted{words: []string{"x"}}, usage: &model.Usage{InputTokens: 3, OutputTokens: 1}})
	f.review = protocol.ReviewAlways
	with := func(p protocol.AskResponseParams, change func(*protocol.GrantTerms)) protocol.AskResponseParams {
		terms := tenRequests
		change(&terms)
		p.Grant = &terms
		return p
	}
	as := func(*protocol.GrantTerms) {}

	done := f.serve(t.Context(), f.CreateMessage, sample)
	denied := f.answerNext(t, with(no, as))
	wantError(t, (<-done).err, -1, "User rejected")
	f.wantSpent(t)

	done = f.serve(t.Context(), f.CreateMessage, sample)
	asked, _ := tasktest.AwaitAsk(t, f.events, denied.AskID)
	for _, wrong := range []func(*protocol.GrantTerms){
		func(g *protocol.GrantTerms) { g.MaxRequests = 0 },
		func(g *protocol.GrantTerms) { g.ServerName = "another" },
		func(g *protocol.GrantTerms) { g.MaxTokens = 1 },
	} {
		params := with(yes, wrong)
		params.AskID = asked.AskID
		_, err := f.task.Answer(t.Context(), &params, "a test")
		if e := (*protocol.Error)(nil); !errors.As(err, &e) || e.Code != protocol.CodeInvalidAnswer {
			t.Errorf("Answer with %+v = %v", params.Grant, err)
		}
	}
	f.wantSpent(t)
	f.answerNext(t, with(yes, as), denied.AskID)
	if got := <-done; got.err != nil {
		t.Fatal(got.err)
	}
	f.wantSpent(t, protocol.GrantSpent{Requests: 1, Tokens: 4, Cost: 0.000005})
	if got := <-f.serve(t.Context(), f.CreateMessage, sample); got.err != nil { // unasked
		t.Fatal(got.err)
	}
	f.wantSpent(t, protocol.GrantSpent{Requests: 2, Tokens: 8, Cost: 0.00001})
}

func TestGrantedCompletionsAreReviewed(t *testing.T) {
	tests := []struct {
		name   string
		review bool
		revoke bool
		want   bool
	}{
		{"as its terms say", true, false, true},
		{"not, as they say", false, false, false},
		{"because it was revoked meanwhile", false, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			provider := &counted{scripted: scripted{words: []string{"x"}}, begun: make(chan struct{}), gate: make(chan struct{})}
			f := newFixture(t, provider)
			terms := tenRequests
			terms.Review = tt.review
			g := f.grant(t, terms)
			done := f.serve(t.Context(), f.CreateMessage, sample)
			<-provider.begun
			if tt.revoke {
				if _, err := f.grants.Revoke(t.Context(), g.ID, "a test"); err != nil {
					t.Fatal(err)
				}
			}
			close(provider.gate)
			if tt.want {
				f.answerNext(t, no, f.message(t).AskID)
				wantError(t, (<-done).err, -1, "User rejected")
			} else if got := <-done; got.err != nil {
				t.Fatal(got.err)
			}
		})
	}
}

func TestARequestThatTheTaskDoesNotTakeSpendsNothing(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"x"}})
	f.grant(t, tenRequests)
	f.task.Close("a test")
	if got := <-f.serve(t.Context(), f.CreateMessage, sample); got.err == nil {
		t.Error("a closed task took a request")
	}
	f.wantSpent(t, protocol.GrantSpent{})
}

func TestTheUsageOfAnswersIsSummed(t *testing.T) {
	t.Run("over all that were asked for", func(t *testing.T) {
		provider := &counted{scripted: scripted{words: []string{"x"}}, usage: &model.Usage{InputTokens: 10, OutputTokens: 2}}
		f := newFixture(t, provider)
		f.review = protocol.ReviewAlways
		done := f.serve(t.Context(), f.CreateMessage, sample)
		approved := f.answerNext(t, yes)
		review := f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.RegenerateButtonClicked}, approved.AskID)
		f.answerNext(t, no, approved.AskID, review.AskID)
		<-done
		want := &protocol.SamplingUsage{InputTokens: 20, OutputTokens: 4, Cost: new(0.000028)}
		if diff := cmp.Diff(want, f.sampled(t).Usage); diff != "" {
			t.Errorf("usage (-want +got):\n%s", diff)
		}
	})
	t.Run("by Assent's own measure, where the provider says nothing", func(t *testing.T) {
		f := newFixture(t, &scripted{words: []string{"four", "four"}})
		done := f.serve(t.Context(), f.CreateMessage, sample)
		f.answer(t, yes)
		<-done
		if u := f.sampled(t).Usage; u == nil || !u.Estimated || u.InputTokens < 1500 || u.OutputTokens < 2 || u.Cost != nil {
			t.Errorf("usage = %+v", u)
		}
	})
	t.Run("of one that broke off", func(t *testing.T) {
		f := newFixture(t, &scripted{words: []string{"four"}, err: fmt.Errorf("%w: it broke", model.ErrFailed)})
		done := f.serve(t.Context(), f.CreateMessage, sample)
		f.answer(t, yes)
		<-done
		if u := f.sampled(t).Usage; u == nil || !u.Estimated || u.OutputTokens < 1 {
			t.Errorf("usage = %+v", u)
		}
	})
	t.Run("of none", func(t *testing.T) {
		f := newFixture(t, &scripted{err: fmt.Errorf("%w: refused", model.ErrFailed)})
		done := f.serve(t.Context(), f.CreateMessage, sample)
		f.answer(t, yes)
		<-done
		if u := f.sampled(t).Usage; u != nil {
			t.Errorf("usage = %+v, want none", u)
		}
	})
}

// An MCP task repeats its request after a restart. The request is charged once.
func TestARestartSpendsNothingTwice(t *testing.T) {
	tests := []struct {
		name   string
		params *protocol.AskResponseParams // the answer that creates the grant; nil if the grant exists
	}{
		{"approved by a grant", nil},
		{"approved with a grant", &protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, Grant: &tenRequests}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			provider := &counted{scripted: scripted{words: []string{"x"}}, begun: make(chan struct{}), gate: make(chan struct{})}
			set := model.NewSet(map[protocol.ModelProvider]model.Provider{protocol.ProviderOpenAI: provider}, protocol.ModelSettings{}, model.DefaultTimeout)
			key := ask.McpTaskPrefix("s", "mcp-task") + "q"
			taskID, ids := "", 0
			// life runs one sidecar; do returns before it is killed.
			life := func(do func(f *fixture, done <-chan served)) {
				t.Helper()
				f := &fixture{events: &tasktest.Events{}}
				var registry *task.Registry
				f.grants = grant.NewBook(grant.Options{Store: func() (*store.Store, error) { return registry.Store() }})
				shown := func() protocol.FrontEndCapabilities { return frontEnd }
				f.Broker = broker.New(broker.Options{
					FrontEnd: shown, Policy: policy.New(policy.Options{FrontEnd: shown, Grants: f.grants, Log: zerolog.Nop()}),
					Models: func(server string) broker.Models { return set.For(server) }, Log: zerolog.Nop(),
				})
				registry = task.NewRegistry(task.Options{
					OpenStore: func() (*store.Store, error) { return store.Open(dir) },
					Events:    f.events, Check: f.Check, Log: zerolog.New(zerolog.NewTestWriter(t)), Now: time.Now,
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
					if tt.params == nil {
						f.grant(t, tenRequests)
					}
				}
				var err error
				if f.task, err = registry.Get(taskID); err != nil {
					t.Fatal(err)
				}
				ctx, kill := context.WithCancelCause(t.Context())
				done := make(chan served, 1)
				go func() {
					result, err := f.CreateMessage(ctx, keyed(f.task, key))
					done <- served{result, err}
					close(done)
				}()
				do(f, done)
				kill(&task.Ended{Reason: protocol.OutcomeRestarted})
				<-done
			}

			held := protocol.GrantSpent{Requests: 1, Tokens: 1517, Cost: 0.001522}
			life(func(f *fixture, _ <-chan served) {
				id, err := f.task.StartCall("s", protocol.CallToolRequest{ToolName: "t", Arguments: json.RawMessage(`{}`)})
				if err != nil {
					t.Fatal(err)
				}
				f.task.CallTask(id, protocol.McpTask{TaskID: "mcp-task", Status: protocol.McpTaskInputRequired})
				if tt.params != nil {
					f.answerNext(t, *tt.params)
				}
				<-provider.begun
				inFlight := held
				inFlight.InFlight = 1
				f.wantSpent(t, inFlight)
			})
			life(func(f *fixture, done <-chan served) {
				<-provider.begun // again, without a question
				f.wantSpent(t, held)
				close(provider.gate)
				if got := <-done; got.err != nil {
					t.Error(got.err)
				}
				f.wantSpent(t, held)
			})
			life(func(f *fixture, done <-chan served) { // repeated: it has its answer
				got := <-done
				if got.err != nil {
					t.Error(got.err)
				}
				wantJSON(t, got.result, `{"role":"assistant","content":{"type":"text","text":"x"},"model":"first-2026","stopReason":"endTurn"}`)
				f.wantSpent(t, held)
			})
		})
	}
}
