package exchange_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/hub/exchange"
)

// shared has all tasks use one connection.
func shared(s *config.Server) { s.Shared = true }

func TestAQuestionDuringACall(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func(question)
		want   string
	}{
		{"accepted", func(q question) { q.accept(`{"day":1.0}`) }, `{"action":"accept","content":{"day":1.0}}`},
		{"declined", question.decline, `{"action":"decline"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answered := make(chan string, 1)
				f := newFixture(t, func(p *peer) {
					p.shake(`{"tools":{}}`)
					call := p.await("tools/call")
					p.elicit("7", "day?")
					answered <- p.answerTo("7")
					p.done(call)
					p.rest()
				})
				end := f.call(t.Context(), exchange.Hooks{MessageID: 4})
				q := f.ask(t, end)
				want := protocol.Origin{ServerName: "s", ToolNames: []string{"tool"}, MessageID: 4}
				if diff := cmp.Diff(want, q.origin); diff != "" || q.task != "t" || q.message != "day?" {
					t.Errorf("%q was asked in %q (-want +got):\n%s", q.message, q.task, diff)
				}
				tt.answer(q)
				if got := <-answered; got != tt.want {
					t.Errorf("the server got %s, want %s", got, tt.want)
				}
				if diff := cmp.Diff(protocol.CallResult(text), <-end); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestQuestionsAreAskedInTheOrderOfTheirFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 30
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{}}`)
			call := p.await("tools/call")
			for i := range n {
				p.elicit(strconv.Itoa(i), fmt.Sprintf("question %d", i))
			}
			p.answerTo(strconv.Itoa(n - 1))
			p.done(call)
			p.rest()
		})
		var found atomic.Bool
		f.find = func() {
			if !found.Swap(true) {
				time.Sleep(time.Second) // the first task is slower than the others
			}
		}
		end := f.call(t.Context(), exchange.Hooks{})
		var open []question
		for i := range n {
			q := f.ask(t, end)
			if want := fmt.Sprintf("question %d", i); q.message != want {
				t.Errorf("%q was asked, want %q", q.message, want)
			}
			open = append(open, q)
		}
		open[n-1].accept("{}") // the others need no answer for that
		<-end
		for _, q := range open[:n-1] {
			if got := q.outcome(); got != protocol.OutcomeCallEnded {
				t.Errorf("after the call, %q ended as %q", q.message, got)
			}
		}
	})
}

func TestAQuestionThatTheServerWithdraws(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, next := make(chan struct{}), make(chan string, 1)
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{}}`)
			call := p.await("tools/call")
			p.elicit("7", "day?")
			<-asked
			p.write(`{"method":"notifications/cancelled","params":{"requestId":7,"reason":"too late"}}`)
			p.done(call)
			got, _ := p.read()
			next <- string(got.ID) + got.Method
		})
		end := f.call(t.Context(), exchange.Hooks{})
		q := f.ask(t, end)
		close(asked)
		if got := q.outcome(); got != protocol.OutcomeServerStoppedWaiting {
			t.Errorf("the question ended as %q", got)
		}
		<-end
		synctest.Wait()
		select {
		case got := <-next:
			t.Errorf("the server got %q, want nothing", got)
		default:
		}
	})
}

func TestACancelledCallEndsItsQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		frames := make(chan string, 10)
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{}}`)
			p.await("tools/call")
			p.elicit("7", "day?")
			for {
				got, ok := p.read()
				if !ok {
					return
				}
				frames <- got.Method + string(got.ID)
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		end := f.call(ctx, exchange.Hooks{})
		q := f.ask(t, end)
		cancel()
		if got := q.outcome(); got != protocol.OutcomeCallEnded {
			t.Errorf("the question ended as %q", got)
		}
		if got := <-end; got != (protocol.CallCancelled{}) {
			t.Errorf("result = %+v", got)
		}
		synctest.Wait()
		if got := <-frames; got != "notifications/cancelled" || len(frames) != 0 {
			t.Errorf("the server got %s and %d more, want the cancellation alone", got, len(frames))
		}
	})
}

// The clock of a call stands while the server waits for a person.
func TestTheTimeOfAPersonIsNotTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{}}`)
			call := p.await("tools/call")
			time.Sleep(9 * time.Second)
			p.elicit("7", "day?")
			p.answerTo("7")
			p.done(call)
			p.rest()
		}, limited)
		end := f.call(t.Context(), exchange.Hooks{})
		q := f.ask(t, end)
		time.Sleep(time.Hour)
		q.accept("{}")
		if diff := cmp.Diff(protocol.CallResult(text), <-end); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	})
}

func TestAQuestionWithoutACall(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*config.Server)
		// task is where the question is asked, and want the error that the server gets if it is asked nowhere.
		task, want string
	}{
		{"on the connection of a task", func(*config.Server) {}, "t", ""},
		{"on the connection of all tasks", shared, "", "this connection belongs to no task: ask during a tool call"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				called, answered := make(chan struct{}), make(chan string, 1)
				f := newFixture(t, func(p *peer) {
					p.shake(`{"tools":{}}`)
					p.done(p.await("tools/call"))
					<-called
					p.elicit("7", "day?")
					answered <- p.answerTo("7")
					p.rest()
				}, tt.edit)
				<-f.call(t.Context(), exchange.Hooks{})
				close(called)
				if tt.task != "" {
					q := <-f.questions
					if q.task != tt.task || len(q.origin.ToolNames) != 0 {
						t.Errorf("it was asked in %q for %v", q.task, q.origin.ToolNames)
					}
					q.accept("{}")
				}
				if got := <-answered; !strings.Contains(got, tt.want) || (tt.want != "") != strings.Contains(got, `"code"`) {
					t.Errorf("the server got %s", got)
				}
			})
		})
	}
}

func TestAQuestionForATaskThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answered := make(chan string, 1)
		f := newFixture(t, func(p *peer) {
			p.shake(`{"tools":{}}`)
			call := p.await("tools/call")
			p.elicit("7", "day?")
			answered <- p.answerTo("7")
			p.done(call)
			p.rest()
		})
		f.CallTool(t.Context(), "gone", "tool", nil, exchange.Hooks{})
		if got := <-answered; !strings.Contains(got, "this connection belongs to no task") {
			t.Errorf("the server got %s", got)
		}
	})
}

// A server of 2025-11-25 makes a task of its question, and comes back for the answer.
func TestAQuestionThatIsATask(t *testing.T) {
	type made struct {
		Task struct{ TaskID, Status string }
	}
	for _, tt := range []struct {
		name string
		// then is what the server does with its task. It returns what it got.
		then func(p *peer, id string) string
		// answers is set if the person answers.
		answers bool
		want    string
		// detail is why the question ends without an answer.
		detail string
	}{
		{"its result", func(p *peer, id string) string {
			p.write(`{"id":8,"method":"tasks/result","params":{"taskId":%q}}`, id)
			return p.answerTo("8")
		}, true, `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"ID"}},"action":"accept","content":{"day":1}}`, ""},
		{"cancelled", func(p *peer, id string) string {
			p.write(`{"id":8,"method":"tasks/cancel","params":{"taskId":%q}}`, id)
			p.answerTo("8")
			p.write(`{"id":9,"method":"tasks/result","params":{"taskId":%q}}`, id)
			return p.answerTo("9")
		}, false, `{"code":-32603,"message":"the task was cancelled"}`, "The server stopped waiting."},
		{"of which the time is over", func(p *peer, id string) string {
			time.Sleep(time.Minute + time.Second)
			p.write(`{"id":8,"method":"tasks/get","params":{"taskId":%q}}`, id)
			return p.answerTo("8")
		}, false, `{"code":-32602,"message":"there is no task ID, or none any more"}`, "The server did not come back for the answer in time."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, ended := make(chan struct{}), make(chan string, 1)
				f := newFixture(t, func(p *peer) {
					p.shake(`{"tools":{}}`)
					call := p.await("tools/call")
					p.write(`{"id":7,"method":"elicitation/create","params":{"message":"day?","task":{"ttl":60000}}}`)
					var m made
					if err := json.Unmarshal([]byte(p.answerTo("7")), &m); err != nil || m.Task.Status != "working" {
						t.Errorf("the task is %+v, %v", m, err)
					}
					<-asked
					ended <- strings.ReplaceAll(tt.then(p, m.Task.TaskID), m.Task.TaskID, "ID")
					p.done(call)
					p.rest()
				})
				end := f.call(t.Context(), exchange.Hooks{})
				q := f.ask(t, end)
				close(asked)
				if tt.answers {
					q.accept(`{"day":1}`)
				} else if got := q.outcome(); got != protocol.OutcomeServerStoppedWaiting || context.Cause(q.ctx).Error() != tt.detail {
					t.Errorf("the question ended as %q: %v", got, context.Cause(q.ctx))
				}
				if got := <-ended; got != tt.want {
					t.Errorf("the server got %s, want %s", got, tt.want)
				}
				<-end
			})
		})
	}
}
