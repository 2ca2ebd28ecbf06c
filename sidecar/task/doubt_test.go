package task_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/task/ask"
	"assent/sidecar/task/store"
	"assent/sidecar/task/tasktest"
)

// answerNext answers the next open ask, and returns its message.
func (f *fixture) answerNext(t *testing.T, q task.Question, seen *[]string) {
	t.Helper()
	done := f.ask(t.Context(), q)
	open, _ := tasktest.AwaitAsk(t, f.events, *seen...)
	*seen = append(*seen, open.AskID)
	if _, err := f.task.Answer(t.Context(), &protocol.AskResponseParams{AskID: open.AskID, AskResponse: protocol.YesButtonClicked, ElicitationContent: json.RawMessage(`{}`)}, "a test"); err != nil {
		t.Fatal(err)
	}
	<-done
}

// formOf is a question of a call.
func formOf(call int64, key string) task.Question {
	q := question(form)
	body := q.Body.(protocol.McpElicitation)
	body.MessageID = call
	q.Body, q.Key = body, key
	return q
}

// A killed Assent does not know whether the server of a lost call got the last answer. The ask says so after the restart.
func TestAnAnswerOfALostCallIsInDoubt(t *testing.T) {
	for _, tt := range []struct {
		name string
		ask  func(t *testing.T, f *fixture, call int64, seen *[]string)
		want []string // what each ask says of its answer
	}{
		{"a question of 2025-11-25", func(t *testing.T, f *fixture, call int64, seen *[]string) {
			f.answerNext(t, formOf(call, ""), seen)
		}, []string{ask.AnswerLost}},
		{"an answer that led to the next question", func(t *testing.T, f *fixture, call int64, seen *[]string) {
			f.answerNext(t, formOf(call, ""), seen)
			f.answerNext(t, formOf(call, ""), seen)
		}, []string{"", ask.AnswerLost}},
		{"a round whose answers were being written", func(t *testing.T, f *fixture, call int64, seen *[]string) {
			f.task.CallRound(call, &task.Round{Required: json.RawMessage(`{}`)})
			f.answerNext(t, formOf(call, ask.RoundPrefix(call)+"0\x00q"), seen)
			f.task.CallRound(call, nil)
		}, []string{ask.AnswerLost}},
		{"an answer that did not arrive", func(t *testing.T, f *fixture, call int64, seen *[]string) {
			f.answerNext(t, formOf(call, ""), seen)
			f.task.Undelivered(f.messages(t)[1].ID, "late")
		}, []string{"late"}},
		{"a round that goes on", func(t *testing.T, f *fixture, call int64, seen *[]string) {
			f.task.CallRound(call, &task.Round{Required: json.RawMessage(`{}`)})
			f.answerNext(t, formOf(call, ask.RoundPrefix(call)+"0\x00q"), seen)
		}, []string{""}},
		{"an MCP task that goes on", func(t *testing.T, f *fixture, call int64, seen *[]string) {
			f.task.CallTask(call, protocol.McpTask{TaskID: "job", Status: protocol.McpTaskInputRequired})
			f.answerNext(t, formOf(call, ask.McpTaskPrefix("s", "job")+"q"), seen)
		}, []string{""}},
		{"a call that had ended", func(t *testing.T, f *fixture, call int64, seen *[]string) {
			f.answerNext(t, formOf(call, ""), seen)
			f.task.EndCall(call, protocol.ToolResult{})
		}, []string{""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			living, dir := t.TempDir(), filepath.Join(t.TempDir(), "killed")
			var ticks atomic.Int64
			f := newFixture(t, func() (*store.Store, error) { return store.Open(living) }, func(o *task.Options) {
				o.Now = func() time.Time { return time.UnixMilli(ticks.Add(1)) } // no two things at once
			})
			defer f.close(t)
			call, err := f.task.StartCall("s", tool("tool"))
			if err != nil {
				t.Fatal(err)
			}
			var seen []string
			tt.ask(t, f, call, &seen)
			if err := copyStore(dir, living); err != nil {
				t.Fatal(err)
			}

			r, events := tasktest.Registry(t, func() (*store.Store, error) { return store.Open(dir) })
			after := &fixture{registry: r, events: events}
			defer after.close(t)
			if after.task, err = r.Get(f.task.Info().ID); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range after.messages(t) {
				switch body := m.Body.(type) {
				case protocol.Ask:
					got = append(got, body.Outcome.Undelivered)
				case protocol.Call:
					if lost, ok := body.Result.(protocol.CallLost); ok && (!strings.Contains(lost.Reason, "Whether the tool did its work is not known") || strings.Contains(lost.Reason, "sidecar")) {
						t.Errorf("the call says %q", lost.Reason)
					}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("the asks say (-want +got):\n%s", diff)
			}
		})
	}
}

// A call that ends without its server marks the answers that were not sent, or of which nothing is known.
func TestACallThatEndsWithoutItsServerMarksItsAnswers(t *testing.T) {
	f := newFixture(t, nil)
	defer f.close(t)
	var seen []string
	call, err := f.task.StartCall("s", tool("tool"))
	if err != nil {
		t.Fatal(err)
	}
	f.task.CallRound(call, &task.Round{Number: 2, Required: json.RawMessage(`{}`)})
	f.answerNext(t, formOf(call, ask.RoundPrefix(call)+"1\x00earlier"), &seen)
	f.answerNext(t, formOf(call, ask.RoundPrefix(call)+"2\x00last"), &seen)
	f.task.EndCall(call, protocol.CallLost{Reason: "its configuration has changed"})
	f.answerNext(t, formOf(call, "s\x00job\x00one"), &seen)
	f.answerNext(t, formOf(call, "s\x00job\x00two"), &seen)
	f.task.Delivered("s\x00job\x00one")
	f.task.ReleaseUndelivered("s\x00job\x00", &task.Ended{Reason: protocol.OutcomeCallEnded}, ask.AnswerUnknown)
	var got []string
	for _, m := range f.messages(t) {
		if body, ok := m.Body.(protocol.Ask); ok {
			got = append(got, body.Outcome.Undelivered)
		}
	}
	if diff := cmp.Diff([]string{"", ask.AnswerUnsent, "", ask.AnswerUnknown}, got); diff != "" {
		t.Errorf("the asks say (-want +got):\n%s", diff)
	}
}
