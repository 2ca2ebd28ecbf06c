package broker_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/task"
)

const (
	elicitation = "elicitation/create"
	completion  = "sampling/createMessage"
)

// here places every request in the fixture's task, as one of its tool "t".
func (f *fixture) here(asked *[]broker.Unclaimed) broker.Whose {
	return func(_ context.Context, u broker.Unclaimed) (broker.Asker, protocol.Origin, error) {
		*asked = append(*asked, u)
		return f.task, protocol.Origin{ServerName: "s", ToolNames: []string{"t"}, PlacedBy: "a test"}, nil
	}
}

func nobodyIsAsked(t *testing.T) broker.Whose {
	return func(_ context.Context, u broker.Unclaimed) (broker.Asker, protocol.Origin, error) {
		t.Errorf("somebody is asked whose %+v is", u)
		return nil, protocol.Origin{}, &task.Ended{Reason: protocol.OutcomeDismissed}
	}
}

func (f *fixture) serveUnclaimed(ctx context.Context, method, params string, whose broker.Whose) <-chan served {
	done := make(chan served, 1)
	go func() {
		result, err := f.ServeUnclaimed(ctx, "s", method, json.RawMessage(params), whose)
		done <- served{result, err}
	}()
	return done
}

func TestAPlacedRequestIsAnAskLikeAnyOther(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"yes"}})
	var asked []broker.Unclaimed
	done := f.serveUnclaimed(t.Context(), elicitation, namedForm, f.here(&asked))
	ask := f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(`{"name":"x"}`)})
	wantJSON(t, (<-done).result, `{"action":"accept","content":{"name":"x"}}`)
	if o := ask.Question.(protocol.McpElicitation).Origin; o.PlacedBy != "a test" {
		t.Errorf("origin = %+v", o)
	}
	done = f.serveUnclaimed(t.Context(), completion, sample, f.here(&asked))
	f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.YesButtonClicked}, ask.AskID)
	if got := <-done; got.err != nil {
		t.Error(got.err)
	}
	want := []broker.Unclaimed{
		{ServerName: "s", Method: elicitation, Wants: protocol.WantsForm, Text: "m"},
		{ServerName: "s", Method: completion, Wants: protocol.WantsCompletion},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked whose (-want +got):\n%s", diff)
	}
}

func TestWhatIsForOneToolDoesNotApplyToWhatAPersonPlaced(t *testing.T) {
	f := newFixture(t, &scripted{words: []string{"yes"}})
	f.answers = []protocol.FixedAnswer{{ServerName: "s", ToolName: "t", Content: json.RawMessage(`{"name":"set","age":1}`)}}
	var asked []broker.Unclaimed
	done := f.serveUnclaimed(t.Context(), elicitation, namedForm, f.here(&asked))
	ask := f.answerNext(t, no)
	wantJSON(t, (<-done).result, `{"action":"decline"}`)

	terms := protocol.GrantTerms{ServerName: "s", ToolName: "t", Models: []string{"openai:first"}, MaxRequests: 5}
	if _, err := f.grants.Create(t.Context(), terms, "a test"); err != nil {
		t.Fatal(err)
	}
	done = f.serveUnclaimed(t.Context(), completion, sample, f.here(&asked))
	f.answerNext(t, no, ask.AskID)
	wantError(t, (<-done).err, -1, "User rejected")
}

func TestNobodyIsAskedAboutWhatIsRefusedAnyway(t *testing.T) {
	f := newFixture(t, &scripted{})
	f.maxOpen = new(int64(0))
	for _, tt := range []struct {
		name, method, params string
		code                 int64
		want                 string
	}{
		{"a bad form", elicitation, `{"message":"m","requestedSchema":{"type":"array"}}`, -32602, "requestedSchema"},
		{"a bad completion", completion, `{"messages":[]}`, -32602, "messages is missing"},
		{"one too many", elicitation, namedForm, -32000, "the user's setting assent.elicitation.maxOpen allows 0"},
		{"another method", "roots/list", `{}`, -32601, "is not served"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantError(t, (<-f.serveUnclaimed(t.Context(), tt.method, tt.params, nobodyIsAsked(t))).err, tt.code, tt.want)
		})
	}
}

func TestWhatIsDeclinedInAdvanceIsDeclinedUnplaced(t *testing.T) {
	f := newFixture(t, nil)
	done := f.serve(t.Context(), f.Elicit, namedForm)
	f.answerNext(t, protocol.AskResponseParams{AskResponse: protocol.NoButtonClicked, DeclineAll: true})
	<-done
	wantJSON(t, (<-f.serveUnclaimed(t.Context(), elicitation, namedForm, nobodyIsAsked(t))).result, `{"action":"decline"}`)
}

func TestARequestThatNobodyPlaces(t *testing.T) {
	for _, tt := range []struct {
		name                string
		ended               task.Ended
		elicited, completed string
	}{
		{"dismissed", task.Ended{Reason: protocol.OutcomeDismissed}, `{"action":"cancel"}`, "User dismissed the sampling request without an answer"},
		{"lost", task.Ended{Reason: protocol.OutcomeServerLost}, `{"action":"cancel"}`, "Nobody answered the sampling request: the connection to the server was lost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, &scripted{})
			f.maxOpen = new(int64(1)) // each is gone from the count
			whose := func(context.Context, broker.Unclaimed) (broker.Asker, protocol.Origin, error) {
				return nil, protocol.Origin{}, &tt.ended
			}
			for range 2 {
				wantJSON(t, (<-f.serveUnclaimed(t.Context(), elicitation, namedForm, whose)).result, tt.elicited)
				wantError(t, (<-f.serveUnclaimed(t.Context(), completion, sample, whose)).err, -1, tt.completed)
			}
		})
	}
}

// The time that a person has set for answers is the time for saying whose a question is, too; the ask has its
// own after that.
func TestAnUnplacedRequestHasTheTimeOfAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := broker.New(broker.Options{FrontEnd: func() protocol.FrontEndCapabilities { return frontEnd }, AskTimeout: func() time.Duration { return time.Minute }})
		began := time.Now()
		result, err := b.ServeUnclaimed(t.Context(), "s", elicitation, json.RawMessage(namedForm), func(ctx context.Context, _ broker.Unclaimed) (broker.Asker, protocol.Origin, error) {
			<-ctx.Done()
			return nil, protocol.Origin{}, context.Cause(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		wantJSON(t, result, `{"action":"cancel"}`)
		if waited := time.Since(began); waited != time.Minute {
			t.Errorf("it waited %v, want a minute", waited)
		}
	})
}
