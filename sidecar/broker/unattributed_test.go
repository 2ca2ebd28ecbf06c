package broker_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/broker/attribution"
	"assent/sidecar/task"
)

const (
	elicitation = "elicitation/create"
	completion  = "sampling/createMessage"
)

// person assigns requests to tasks.
type person func(ctx context.Context, r *attribution.Request) error

// Await implements [broker.Queue].
func (p person) Await(ctx context.Context, r *attribution.Request) error { return p(ctx, r) }

// brief is what a person sees of a request.
type brief struct {
	ServerName, Method string
	Wants              protocol.AskWants
	Text               string
	// Whole: the person sees the whole question.
	Whole bool
}

func briefOf(r *attribution.Request) brief {
	return brief{r.Origin.ServerName, r.Method, r.Wants, r.Text, r.Question != nil}
}

// here assigns every request to the fixture's task, as a request of its tool "t".
func (f *fixture) here(asked *[]brief) {
	f.person = func(_ context.Context, r *attribution.Request) error {
		*asked = append(*asked, briefOf(r))
		r.Assign(&attribution.Assignment{Task: f.task, By: "a test", Asked: func(int64, string) {}})
		r.Origin.ToolNames = []string{"t"}
		return nil
	}
}

// isNotAsked fails the test if a request waits for a person.
func (f *fixture) isNotAsked(t *testing.T) {
	f.person = func(_ context.Context, r *attribution.Request) error {
		t.Errorf("somebody is asked whose %+v is", briefOf(r))
		return &task.Ended{Reason: protocol.OutcomeDismissed}
	}
}

func (f *fixture) serveUnattributed(ctx context.Context, method, params string) <-chan served {
	return f.serve(ctx, func(ctx context.Context, r *attribution.Request) (any, error) {
		r.Method, r.Task, r.Origin = method, nil, protocol.Origin{ServerName: "s"}
		return f.Serve(ctx, r)
	}, params)
}

func TestAPlacedRequestIsAnAskLikeAnyOther(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"yes"}})
	var asked []brief
	f.here(&asked)
	done := f.serveUnattributed(t.Context(), elicitation, namedForm)
	ask := f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(`{"name":"x"}`)})
	wantJSON(t, (<-done).result, `{"action":"accept","content":{"name":"x"}}`)
	if o := ask.Question.(protocol.McpElicitation).Origin; o.PlacedBy != "a test" {
		t.Errorf("origin = %+v", o)
	}
	done = f.serveUnattributed(t.Context(), completion, sample)
	second := f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked}, ask.AskID)
	if got := <-done; got.err != nil {
		t.Error(got.err)
	}
	large := strings.Replace(namedForm, `"type":"integer"`, `"type":"integer","description":"`+strings.Repeat("x", 64<<10)+`"`, 1)
	done = f.serveUnattributed(t.Context(), elicitation, large)
	f.answerNext(t, no, ask.AskID, second.AskID)
	wantJSON(t, (<-done).result, `{"action":"decline"}`)
	want := []brief{
		{ServerName: "s", Method: elicitation, Wants: protocol.WantsForm, Text: "m", Whole: true},
		{ServerName: "s", Method: completion, Wants: protocol.WantsCompletion},
		{ServerName: "s", Method: elicitation, Wants: protocol.WantsForm, Text: "m"},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked whose (-want +got):\n%s", diff)
	}
}

func TestDecisionsAboutOneToolDoNotApplyToAssignedRequests(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"yes"}})
	f.answers = []protocol.FixedAnswer{{ServerName: "s", ToolName: "t", Content: json.RawMessage(`{"name":"set","age":1}`)}}
	var asked []brief
	f.here(&asked)
	done := f.serveUnattributed(t.Context(), elicitation, namedForm)
	ask := f.answerNext(t, no)
	wantJSON(t, (<-done).result, `{"action":"decline"}`)

	terms := protocol.GrantTerms{ServerName: "s", ToolName: "t", Models: []string{"openai:first"}, MaxRequests: 5}
	if _, err := f.grants.Create(t.Context(), terms, "a test"); err != nil {
		t.Fatal(err)
	}
	done = f.serveUnattributed(t.Context(), completion, sample)
	f.answerNext(t, no, ask.AskID)
	wantError(t, (<-done).err, -1, "User rejected")
}

func TestARefusedRequestIsNotAsked(t *testing.T) {
	f := newFixture(t, &scripted{})
	f.maxOpen = new(int64(0))
	f.isNotAsked(t)
	for _, tt := range []struct {
		name, method, params string
		code                 int64
		want                 string
	}{
		{"a bad form", elicitation, `{"message":"m","requestedSchema":{"type":"array"}}`, -32602, "requestedSchema"},
		{"a bad completion", completion, `{"messages":[]}`, -32602, "messages is missing"},
		{"one too many", elicitation, namedForm, -32000, "the user's setting assent.limits.maxOpen allows 0"},
		{"another method", "roots/list", `{}`, -32601, "is not served"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantError(t, (<-f.serveUnattributed(t.Context(), tt.method, tt.params)).err, tt.code, tt.want)
		})
	}
}

func TestAnUnattributedRequestIsDeclinedInAdvance(t *testing.T) {
	f := newFixture(t, nil)
	done := f.serve(t.Context(), f.Elicit, namedForm)
	f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked, DeclineAll: true})
	<-done
	f.isNotAsked(t)
	wantJSON(t, (<-f.serveUnattributed(t.Context(), elicitation, namedForm)).result, `{"action":"decline"}`)
}

func TestAnUnassignedRequest(t *testing.T) {
	for _, tt := range []struct {
		name                string
		ended               task.Ended
		elicited, completed string
	}{
		{"dismissed", task.Ended{Reason: protocol.OutcomeDismissed}, `{"action":"cancel"}`, "User dismissed the sampling request without an answer"},
		{"lost", task.Ended{Reason: protocol.OutcomeServerLost}, `{"action":"cancel"}`, "The sampling request was not answered: the connection to the server was lost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, &scripted{})
			f.maxOpen = new(int64(1)) // each has left the count
			f.person = func(context.Context, *attribution.Request) error { return &tt.ended }
			for range 2 {
				wantJSON(t, (<-f.serveUnattributed(t.Context(), elicitation, namedForm)).result, tt.elicited)
				wantError(t, (<-f.serveUnattributed(t.Context(), completion, sample)).err, -1, tt.completed)
			}
		})
	}
}

// The person's time limit for answers applies to the assignment, too. The ask has its own after that.
func TestAnUnplacedRequestHasTheTimeOfAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := broker.New(broker.Options{
			Queue: person(func(ctx context.Context, _ *attribution.Request) error {
				<-ctx.Done()
				return context.Cause(ctx)
			}),
			FrontEnd: func() protocol.FrontEndCapabilities { return frontEnd }, AskTimeout: func() time.Duration { return time.Minute },
		})
		began := time.Now()
		r := request(nil, protocol.Origin{ServerName: "s"}, namedForm)
		r.Method = elicitation
		result, err := b.Serve(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		wantJSON(t, result, `{"action":"cancel"}`)
		if waited := time.Since(began); waited != time.Minute {
			t.Errorf("it waited %v, want a minute", waited)
		}
	})
}
