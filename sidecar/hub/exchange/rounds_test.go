package exchange_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/hub/exchange"
	"assent/sidecar/hub/session"
	"assent/sidecar/task"
)

// required answers a call with questions or a state.
func (p *peer) required(to frame, members string) {
	p.result(to, `{"resultType":"input_required",`+members+`}`)
}

// complete answers a call of 2026-07-28 with a text.
func (p *peer) complete(to frame) {
	p.result(to, `{"resultType":"complete","content":[{"type":"text","text":"done"}]}`)
}

// elicitation is a question of a round.
func elicitation(message string) string {
	return fmt.Sprintf(`{"method":"elicitation/create","params":{"message":%q}}`, message)
}

// round is what a request of a round has beside the request itself.
type round struct {
	State     json.RawMessage `json:"requestState"`
	Responses json.RawMessage `json:"inputResponses"`
}

func roundOf(t *testing.T, f frame) string {
	var r round
	if err := json.Unmarshal(f.Params, &r); err != nil {
		t.Error(err)
	}
	return fmt.Sprintf("%s %s", r.State, r.Responses)
}

func TestTheRoundsOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rounds := make(chan string, 3)
		f := newFixture(t, func(p *peer) {
			p.shakeModern()
			call := p.await("tools/call")
			rounds <- roundOf(t, call)
			p.required(call, `"inputRequests":{"two":`+elicitation("second?")+`,"one":`+elicitation("first?")+`,"roots":{"method":"roots/list"}},"requestState":"\u0041/\/é"`)
			call = p.await("tools/call")
			rounds <- roundOf(t, call)
			p.required(call, `"inputRequests":{"three":`+elicitation("third?")+`}`)
			call = p.await("tools/call")
			rounds <- roundOf(t, call)
			p.complete(call)
			p.rest()
		})
		f.dialer.SetFolders([]protocol.WorkspaceFolder{{Name: "ws", Path: "/ws"}})
		end := f.call(t.Context(), exchange.Hooks{MessageID: 4})
		open := []question{f.ask(t, end), f.ask(t, end)}
		for i, want := range []string{"second?", "first?"} { // as the server wrote them
			if open[i].message != want {
				t.Errorf("question %d is %q, want %q", i, open[i].message, want)
			}
			origin := protocol.Origin{ServerName: "s", ToolNames: []string{"tool"}, MessageID: 4}
			if diff := cmp.Diff(origin, open[i].origin); diff != "" || open[i].task != "t" {
				t.Errorf("asked in %q (-want +got):\n%s", open[i].task, diff)
			}
		}
		open[0].decline() // which is an answer like the other
		open[1].accept(`{"n":1.0}`)
		f.ask(t, end).accept(`{}`)
		if diff := cmp.Diff(protocol.CallResult(text), <-end); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		for _, want := range []string{
			" ",
			`"\u0041/\/é" {"one":{"action":"accept","content":{"n":1.0}},"roots":{"roots":[{"name":"ws","uri":"file:///ws"}]},"two":{"action":"decline"}}`,
			` {"three":{"action":"accept","content":{}}}`, // no state was given, so none goes back
		} {
			if got := <-rounds; got != want {
				t.Errorf("round = %s, want %s", got, want)
			}
		}
	})
}

// A state without a question has the call made again, after a pause that grows.
func TestRoundsWithoutAQuestion(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rounds int // until the call is complete
		took   time.Duration
		want   string
	}{
		{"complete in the end", 3, 3 * idlePause, ""},
		{"for ever", 1000, 45 * idlePause, "it asked 10 times in a row to be called again, and never for anything"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, func(p *peer) {
					p.shakeModern()
					for i := range tt.rounds {
						call := p.await("tools/call")
						if call.Method == "" {
							return
						}
						if i > 0 && !strings.Contains(string(call.Params), fmt.Sprintf(`"requestState":"%d"`, i-1)) {
							t.Errorf("round %d has the params %s", i, call.Params)
						}
						p.required(call, fmt.Sprintf(`"requestState":"%d"`, i))
					}
					p.complete(p.await("tools/call"))
					p.rest()
				})
				began := time.Now()
				result := <-f.call(t.Context(), exchange.Hooks{})
				if took := time.Since(began); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				if tt.want == "" {
					if diff := cmp.Diff(protocol.CallResult(text), result); diff != "" {
						t.Errorf("result (-want +got):\n%s", diff)
					}
				} else if got := reasonOf(t, result); !strings.Contains(got, tt.want) {
					t.Errorf("reason = %s", got)
				}
			})
		})
	}
}

func TestAServerThatAsksForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(p *peer) {
			p.shakeModern()
			for {
				call := p.await("tools/call")
				if call.Method == "" {
					return
				}
				p.required(call, `"inputRequests":{"one":`+elicitation("again?")+`}`)
			}
		})
		end := f.call(t.Context(), exchange.Hooks{})
		asked := 0
		for {
			select {
			case q := <-f.questions:
				asked++
				q.accept("{}")
				continue
			case result := <-end:
				if got := reasonOf(t, result); !strings.Contains(got, "it came back with questions 32 times and with no result") || asked != 32 {
					t.Errorf("after %d questions: %s", asked, got)
				}
			}
			return
		}
	})
}

func TestResultsThatCannotBeUsed(t *testing.T) {
	for _, tt := range []struct{ result, want string }{
		{`{"resultType":"new","content":[]}`, `it answered with a result of the type "new", which Assent does not know`},
		{`{"resultType":"input_required"}`, "it returned neither questions nor a state for the next call"},
		{`{"resultType":"input_required","inputRequests":[]}`, "its questions cannot be read"},
		{`{"resultType":"task"}`, "it made a task of the call that cannot be followed"},
	} {
		t.Run(tt.result, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, func(p *peer) {
					p.shakeModern()
					p.result(p.await("tools/call"), tt.result)
					p.rest()
				})
				if got := reasonOf(t, <-f.call(t.Context(), exchange.Hooks{})); !strings.Contains(got, tt.want) {
					t.Errorf("reason = %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// A question that can never be answered ends the call before a person answers another one of the round.
func TestAQuestionThatCannotBeAnswered(t *testing.T) {
	for _, tt := range []struct{ name, questions, want string }{
		{"last", `"one":` + elicitation("day?") + `,"two":{"method":"new/method"}`, `The server asked for "new/method", which Assent does not know.`},
		{"first", `"one":{"method":"new/method"},"two":` + elicitation("day?"), `The server asked for "new/method", which Assent does not know.`},
		{"between", `"one":` + elicitation("day?") + `,"two":{"method":"elicitation/create"},"three":` + elicitation("hour?"), "The server did not get an answer: no params"},
	} {
		t.Run(tt.name, func(t *testing.T) { askTogether(t, tt.questions, tt.want) })
	}
}

func askTogether(t *testing.T, questions, reason string) {
	synctest.Test(t, func(t *testing.T) {
		called := 0
		f := newFixture(t, func(p *peer) {
			p.shakeModern()
			for {
				call := p.await("tools/call")
				if call.Method == "" {
					return
				}
				called++
				p.required(call, `"inputRequests":{`+questions+`}`)
			}
		})
		end := f.call(t.Context(), exchange.Hooks{})
		var result protocol.CallResult
		select {
		case q := <-f.questions:
			t.Errorf("the person was asked %q", q.message)
			q.decline()
			result = <-end
		case result = <-end:
		}
		want := protocol.CallAbandoned{Reason: reason}
		if result != want || called != 1 {
			t.Errorf("after %d calls, result = %+v", called, result)
		}
	})
}

func TestACancelledRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		called := 0
		f := newFixture(t, func(p *peer) {
			p.shakeModern()
			for {
				call := p.await("tools/call")
				if call.Method == "" {
					return
				}
				called++
				p.required(call, `"inputRequests":{"one":`+elicitation("day?")+`}`)
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		end := f.call(ctx, exchange.Hooks{})
		q := f.ask(t, end)
		cancel()
		if got := q.outcome(); got != protocol.OutcomeCallEnded {
			t.Errorf("the question ended as %q", got)
		}
		if got := <-end; got != (protocol.CallCancelled{}) || called != 1 {
			t.Errorf("after %d calls, result = %+v", called, got)
		}
	})
}

// A question in a result outlives the connection that brought it, and the answer goes to the next one.
func TestARoundOnAnotherConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connections, gone := 0, make(chan struct{})
		rounds := make(chan string, 1)
		f := newFixture(t, func(p *peer) {
			p.shakeModern()
			connections++
			call := p.await("tools/call")
			if connections == 1 {
				p.required(call, `"inputRequests":{"one":`+elicitation("day?")+`},"requestState":"s"`)
				<-gone
				return
			}
			rounds <- roundOf(t, call)
			p.complete(call)
			p.rest()
		})
		end := f.call(t.Context(), exchange.Hooks{})
		q := f.ask(t, end)
		close(gone)
		synctest.Wait()
		if q.ctx.Err() != nil {
			t.Fatalf("the question ended with the connection: %v", context.Cause(q.ctx))
		}
		q.accept("{}")
		if diff := cmp.Diff(protocol.CallResult(text), <-end); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		if got, want := <-rounds, `"s" {"one":{"action":"accept","content":{}}}`; got != want || connections != 2 {
			t.Errorf("on connection %d, round = %s, want %s", connections, got, want)
		}
	})
}

func TestARoundThatTheNextSidecarContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rounds := make(chan string, 2)
		f := newFixture(t, func(p *peer) {
			p.shakeModern()
			for {
				call := p.await("tools/call")
				if call.Method == "" {
					return
				}
				if got := roundOf(t, call); got != " " {
					rounds <- got
					p.complete(call)
					continue
				}
				p.required(call, `"inputRequests":{"one":`+elicitation("day?")+`},"requestState":"s"`)
			}
		})
		saved := make(chan *task.Round, 10)
		hooks := exchange.Hooks{MessageID: 4, Round: func(r *task.Round) { saved <- r }}
		end := f.call(t.Context(), hooks)
		q := f.ask(t, end)
		f.server.Stop(session.Stopped{Reason: "Assent is closing", Asks: protocol.OutcomeRestarted})
		if got := <-end; got != nil {
			t.Fatalf("result = %+v, want none", got)
		}
		first := <-saved
		if first == nil || first.Number != 0 || len(saved) != 0 {
			t.Fatalf("the saved round is %+v, and %d more", first, len(saved))
		}

		hooks.Resume = first
		end = f.call(t.Context(), hooks)
		again := f.ask(t, end)
		if again.message != "day?" || again.key != q.key || again.key == "" {
			t.Errorf("%q with the key %q, and then %q with the key %q", q.message, q.key, again.message, again.key)
		}
		if len(saved) != 1 || (<-saved).Number != 0 {
			t.Error("the open round was not saved")
		}
		again.accept("{}")
		if diff := cmp.Diff(protocol.CallResult(text), <-end); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		if got, want := <-rounds, `"s" {"one":{"action":"accept","content":{}}}`; got != want {
			t.Errorf("round = %s, want %s", got, want)
		}
		if len(saved) != 1 || <-saved != nil {
			t.Error("the round was not ended before its answers were sent")
		}
	})
}
