package exchange_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/hub/exchange"
	"assent/sidecar/hub/session"
	"assent/sidecar/task"
)

// Assent stops after the person has answered, and before the server is up. The next one sends the answer, once: the round
// is kept until the answer is about to be written.
func TestAnAnswerWaitsForTheNextStartUntilItsServerIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, saved := make(chan struct{}), make(chan *task.Round, 10)
		f := newFixture(t, func(*peer) { <-up })
		resume := &task.Round{Number: 0, Required: []byte(`{"resultType":"input_required","inputRequests":{"one":` + elicitation("day?") + `},"requestState":"s"}`)}
		hooks := exchange.Hooks{MessageID: 4, Round: func(r *task.Round) { saved <- r }, Resume: resume}
		end := f.call(t.Context(), hooks)
		f.ask(t, end).accept("{}")
		synctest.Wait() // the server is being started
		go func() { f.server.Stop(session.Stopped{Reason: "Assent is closing", Asks: protocol.OutcomeRestarted}) }()
		if got := <-end; got != nil {
			t.Fatalf("result = %+v, want none", got)
		}
		if len(saved) != 1 || <-saved == nil || len(f.notices()) != 0 {
			t.Fatalf("the round was deleted before the server was up, or the person was told %q", f.notices())
		}
		close(up)

		rounds := make(chan string, 2)
		f = newFixture(t, func(p *peer) {
			p.shakeModern()
			call := p.await("tools/call")
			rounds <- roundOf(t, call)
			if len(saved) != 2 || <-saved == nil || <-saved != nil {
				t.Error("the round was not deleted before the answer came")
			}
			p.complete(call)
			p.rest()
		})
		end = f.call(t.Context(), hooks)
		f.ask(t, end).accept("{}")
		if diff := cmp.Diff(protocol.CallResult(text), <-end); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		if got, want := <-rounds, `"s" {"one":{"action":"accept","content":{}}}`; got != want || len(rounds) != 0 {
			t.Errorf("round = %s, want %s", got, want)
		}
	})
}

// The connection ends after the answer was written. The person learns that it may be lost; a tool that can run twice is
// called again.
func TestAnAnswerThatIsLostInTheWrite(t *testing.T) {
	const unknown = "The answer is not known to have reached the server."
	for _, tt := range []struct {
		name, annotations string
		// asked: the person is asked whether to send the answer again. again is the person's answer.
		asked, again bool
		calls        int
		told         []string
	}{
		{"a tool that may change something", `{}`, true, false, 1, []string{unknown}},
		{"a tool that may change something, and the person sends it again", `{}`, true, true, 2, nil},
		{"a tool that destroys", `{"readOnlyHint":true,"destructiveHint":true}`, true, false, 1, []string{unknown}},
		{"an idempotent tool", `{"idempotentHint":true}`, false, false, 2, nil},
		{"a tool that only reads", `{"readOnlyHint":true}`, false, false, 2, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rounds := make(chan string, 5)
				f := newFixture(t, func(p *peer) {
					p.shakeModern()
					for {
						call := p.await("tools/call")
						if call.Method == "" {
							return
						}
						if got := roundOf(t, call); got != " " {
							if rounds <- got; len(rounds) == 1 {
								return // with the answer
							}
							p.complete(call)
							continue
						}
						p.required(call, `"inputRequests":{"one":`+elicitation("day?")+`},"requestState":"s"`)
					}
				})
				f.tools = `{"tools":[{"name":"tool","annotations":` + tt.annotations + `}]}`
				end := f.call(t.Context(), exchange.Hooks{MessageID: 4, Round: func(*task.Round) {}})
				f.ask(t, end).accept("{}")
				if tt.asked {
					q := f.ask(t, end)
					if !strings.HasPrefix(q.message, "Your answer may not have reached the server: ") {
						t.Errorf("the person was asked %q", q.message)
					}
					if tt.again {
						q.accept("{}")
					} else {
						q.decline()
					}
				}
				result := <-end
				if _, lost := result.(protocol.CallLost); lost != (tt.calls == 1) || len(rounds) != tt.calls {
					t.Errorf("after %d rounds, result = %+v", len(rounds), result)
				}
				if diff := cmp.Diff(tt.told, f.notices()); diff != "" {
					t.Errorf("the person was told (-want +got):\n%s", diff)
				}
			})
		})
	}
}
