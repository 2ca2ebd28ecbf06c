package broker_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/task/tasktest"
)

func TestAFloodOfQuestionsIsBounded(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  *int64
		most int
	}{
		{"by itself", nil, 32},
		{"as it is set", new(int64(2)), 2},
		{"wholly", new(int64(0)), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.maxOpen = tt.set
			const requests = 1000
			done := make(chan error, requests)
			for range requests {
				go func() {
					_, err := f.Elicit(t.Context(), request(f.task, origin, namedForm))
					done <- err
				}()
			}
			for range requests - tt.most {
				err := <-done
				wantError(t, err, -32000, "the user's setting assent.limits.maxOpen allows ")
				var refused *jsonrpc.Error
				var data struct {
					Limit string
					Max   int
				}
				if !errors.As(err, &refused) || json.Unmarshal(refused.Data, &data) != nil || data.Limit != "maxOpen" || data.Max != tt.most {
					t.Fatalf("data = %s", refused.Data)
				}
			}
			seen := []string{}
			for range tt.most {
				ask, _ := tasktest.AwaitAsk(t, f.events, seen...)
				seen = append(seen, ask.AskID)
			}
			if n := f.task.Info().OpenAsks; n != tt.most {
				t.Errorf("%d asks are open, want %d", n, tt.most)
			}
			var notices []string
			counted := int64(1)
			opened, err := f.task.Open(t.Context(), 0, 0, requests)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range opened.Messages {
				if n, ok := m.Body.(protocol.Notice); ok {
					notices = append(notices, n.Text)
					want := &protocol.RefusedQuestions{ServerName: "s", Count: counted, Setting: "assent.limits.maxOpen", Max: int64(tt.most)}
					if diff := cmp.Diff(want, n.Refused); diff != "" {
						t.Errorf("the notice counts other questions (-want +got):\n%s", diff)
					}
					counted *= 10
				}
			}
			refused := requests - tt.most
			if want := len(strconv.Itoa(refused)); len(notices) != want { // of the first, the tenth, and so on
				t.Errorf("the person is told %d times of %d that were refused, want %d: %q", len(notices), refused, want, notices)
			}
			if want := fmt.Sprintf("A question of s was refused without asking you: your setting assent.limits.maxOpen lets %d ", tt.most); !slices.ContainsFunc(notices, func(n string) bool { return strings.HasPrefix(n, want) }) {
				t.Errorf("the person is told %q, want %q", notices, want)
			}
			page := broker.URLElicitation{URL: "https://example.com/"}
			if _, err := f.AwaitURL(t.Context(), request(f.task, origin, ""), page); err == nil {
				t.Error("a page came in nevertheless")
			} else {
				wantError(t, err, -32000, "maxOpen")
			}
			for _, id := range slices.Clone(seen) { // each makes room for another
				params := protocol.AskResponseParams{AskID: id, AskResponse: protocol.NoButtonClicked}
				if _, err := f.task.Answer(t.Context(), &params, "a test"); err != nil {
					t.Fatal(err)
				}
				if err := <-done; err != nil {
					t.Errorf("one that was declined is told as %v", err)
				}
				next := f.serve(t.Context(), f.Elicit, namedForm)
				seen = append(seen, f.answerNext(t, no, seen...).AskID)
				wantJSON(t, (<-next).result, `{"action":"decline"}`)
			}
		})
	}
}

func TestAFloodHoldsUpNoOtherServer(t *testing.T) {
	f := newFixture(t, nil)
	f.maxOpen = new(int64(1))
	first := f.serve(t.Context(), f.Elicit, namedForm)
	ask, _ := tasktest.AwaitAsk(t, f.events)
	_, err := f.Elicit(t.Context(), request(f.task, origin, namedForm))
	wantError(t, err, -32000, "questions of this server that wait for the user: 1")

	answered := make(chan served, 1)
	go func() {
		result, err := f.Elicit(t.Context(), request(f.task, protocol.Origin{ServerName: "another"}, namedForm))
		answered <- served{result, err}
	}()
	f.answerNext(t, no, ask.AskID)
	wantJSON(t, (<-answered).result, `{"action":"decline"}`)

	// A question that the person is not asked does not count.
	params := protocol.AskResponseParams{AskID: ask.AskID, AskResponse: protocol.NoButtonClicked, DeclineAll: true}
	if _, err := f.task.Answer(t.Context(), &params, "a test"); err != nil {
		t.Fatal(err)
	}
	<-first
	f.maxOpen = new(int64(0))
	result, err := f.Elicit(t.Context(), request(f.task, origin, namedForm))
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, result, `{"action":"decline"}`)
}
