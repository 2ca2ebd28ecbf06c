package exchange_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/hub/exchange"
)

// pagesRequired answers a call with the error that the person has to go to pages first.
func (p *peer) pagesRequired(to frame, pages string) {
	p.write(`{"id":%s,"error":{"code":-32042,"message":"log in first","data":{"elicitations":[%s]}}}`, to.ID, pages)
}

const twoPages = `{"elicitationId":"one","mode":"url","message":"m","url":"https://a.example/"},` +
	`{"elicitationId":"two","mode":"url","message":"m","url":"https://b.example/"}`

func TestACallThatNeedsPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := make(chan struct{})
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{}}`)
			p.pagesRequired(p.await("tools/call"), twoPages)
			<-opened
			p.write(`{"method":"notifications/elicitation/complete","params":{"elicitationId":"two"}}`)
			p.done(p.await("tools/call"))
			p.rest()
		})
		end := f.call(t.Context(), exchange.Hooks{MessageID: 4})
		one, two := f.ask(t, end), f.ask(t, end)
		if one.message != "https://a.example/" || two.message != "https://b.example/" || one.origin.MessageID != 4 {
			t.Errorf("the pages are %s and %s, of %+v", one.message, two.message, one.origin)
		}
		close(opened)
		if got := two.outcome(); got != protocol.OutcomeCompleted {
			t.Errorf("the page of which the server said that it is done ended as %q", got)
		}
		one.accept("")
		if diff := cmp.Diff(protocol.CallResult(text), <-end); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	})
}

// A page that the person does not open ends the others, and the call has the server's error.
func TestAPageThatIsNotOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{}}`)
			p.pagesRequired(p.await("tools/call"), twoPages)
			p.rest()
		})
		end := f.call(t.Context(), exchange.Hooks{})
		one, two := f.ask(t, end), f.ask(t, end)
		one.decline()
		if got := two.outcome(); got != protocol.OutcomeCallEnded {
			t.Errorf("the other page ended as %q", got)
		}
		if got, ok := (<-end).(protocol.CallError); !ok || got.Code != -32042 {
			t.Errorf("result = %+v", got)
		}
	})
}

func TestACallThatNeedsPagesAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		called := 0
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{}}`)
			for {
				call := p.await("tools/call")
				if call.Method == "" {
					return
				}
				called++
				p.pagesRequired(call, `{"mode":"url","message":"m","url":"https://a.example/"}`)
			}
		})
		end := f.call(t.Context(), exchange.Hooks{})
		for range 5 {
			f.ask(t, end).accept("")
		}
		if got, ok := (<-end).(protocol.CallError); !ok || got.Code != -32042 || called != 6 {
			t.Errorf("after %d calls, result = %+v", called, got)
		}
	})
}

// A server asks for a page by a request, and says later that the person is done there.
func TestAnOpenedPageIsCompleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{}}`)
			call := p.await("tools/call")
			for _, id := range []string{"one", "two"} {
				p.write(`{"id":7,"method":"elicitation/create","params":{"message":"m","mode":"url","elicitationId":%q,"url":"https://a.example/"}}`, id)
				if got := p.answerTo("7"); !strings.Contains(got, "accept") {
					t.Errorf("the server got %s", got)
				}
			}
			p.write(`{"method":"notifications/elicitation/complete","params":{"elicitationId":"another"}}`)
			p.write(`{"method":"notifications/elicitation/complete","params":{"elicitationId":"two"}}`)
			p.write(`{"method":"notifications/elicitation/complete","params":{"elicitationId":"two"}}`)
			p.done(call)
			p.rest()
		})
		end := f.call(t.Context(), exchange.Hooks{})
		f.ask(t, end).accept("{}")
		f.ask(t, end).accept("{}")
		<-end
		synctest.Wait()
		if diff := cmp.Diff([]int64{2}, f.completed); diff != "" {
			t.Errorf("completed (-want +got):\n%s", diff)
		}
	})
}
