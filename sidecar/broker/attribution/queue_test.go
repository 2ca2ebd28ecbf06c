package attribution

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/task"
)

// told is what a queue told its owner, in order.
type told struct {
	*Queue
	said []string
	// refuse is why no conversation can be made.
	refuse error
}

// open is an open task.
type open struct{ Task }

func (open) Info() protocol.Task { return protocol.Task{} }

func newQueue() *told {
	f := &told{}
	ids := 0
	f.Queue = NewQueue(QueueOptions{
		Changed: func(count int) { f.said = append(f.said, fmt.Sprintf("%d wait", count)) },
		Ended: func(r *Request, o protocol.Outcome) {
			f.said = append(f.said, strings.TrimSpace(r.Method+" "+string(o.Reason)+" "+o.By))
		},
		Task:    func(string) (Task, error) { return open{}, nil },
		NewTask: func(*Request) (string, error) { return "new", f.refuse },
		Now:     time.Now,
		NewID:   func() string { ids++; return fmt.Sprintf("u%d", ids) },
	})
	return f
}

var candidates = []protocol.AskCandidate{
	{TaskID: "t1", MessageID: 1, ToolName: "a", State: protocol.CandidateInFlight},
	{TaskID: "t1", MessageID: 2, ToolName: "a", State: protocol.CandidateInFlight},
	{TaskID: "t2", MessageID: 1, ToolName: "b", State: protocol.CandidateGivenUp},
	{TaskID: "t3", MessageID: 1, ToolName: "c", State: protocol.CandidateEnded},
}

type awaited struct {
	assigned *Assignment
	err      error
}

func (f *told) await(ctx context.Context) <-chan awaited {
	done := make(chan awaited, 1)
	go func() {
		r := &Request{
			Method: "elicitation/create", Origin: protocol.Origin{ServerName: "s"}, Wants: protocol.WantsForm, Text: "Which?",
			proof: proof{Candidates: func() []protocol.AskCandidate { return append([]protocol.AskCandidate{}, candidates...) }},
		}
		err := f.Await(ctx, r)
		if err == nil {
			r.assignment.Asked(7, "a7")
			r.assignment.Asked(0, "")
		}
		done <- awaited{r.assignment, err}
	}()
	synctest.Wait()
	return done
}

func TestWhereAQuestionIsPlaced(t *testing.T) {
	for _, tt := range []struct {
		name   string
		params protocol.ClaimAskParams
		// want is the task and the call of the assignment; if it is empty, the claim is refused with wrong.
		want  string
		wrong string
	}{
		{"a call", protocol.ClaimAskParams{TaskID: "t1", MessageID: 2}, "t1 2", ""},
		{"the only call of a task", protocol.ClaimAskParams{TaskID: "t2"}, "t2 1", ""},
		{"a task whose call is over", protocol.ClaimAskParams{TaskID: "t3"}, "t3 0", ""},
		{"a new task", protocol.ClaimAskParams{NewTask: true}, "new 0", ""},
		{"one of two calls", protocol.ClaimAskParams{TaskID: "t1"}, "", "the question cannot be of that call"},
		{"a task that is none", protocol.ClaimAskParams{TaskID: "t4"}, "", "the question cannot be of that call"},
		{"nowhere", protocol.ClaimAskParams{}, "", "exactly one of"},
		{"twice", protocol.ClaimAskParams{TaskID: "t2", NewTask: true}, "", "exactly one of"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newQueue()
				ctx, cancel := context.WithCancel(t.Context())
				done := f.await(ctx)
				tt.params.ID = "u1"
				result, err := f.Claim(ctx, &tt.params, "a test")
				if tt.want == "" {
					var e *protocol.Error
					if !errors.As(err, &e) || e.Code != protocol.CodeInvalidParams || !strings.Contains(e.Message, tt.wrong) {
						t.Errorf("Claim = %v, want %q", err, tt.wrong)
					}
					if n := len(f.List()); n != 1 {
						t.Errorf("%d wait, want that it waits on", n)
					}
					cancel()
					<-done
					return
				}
				cancel()
				if err != nil {
					t.Fatal(err)
				}
				place := (<-done).assigned
				if got := fmt.Sprintf("%s %d", place.TaskID, place.MessageID); got != tt.want || place.By != "a test" {
					t.Errorf("place = %+v, want %q", place, tt.want)
				}
				if diff := cmp.Diff(&protocol.ClaimAskResult{TaskID: place.TaskID, MessageID: 7, AskID: "a7"}, result); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{"1 wait", "0 wait"}, f.said); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestAQuestionIsSettledOnce(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(f *told, cancel context.CancelCauseFunc)
		// err is of the one who waits, late of the one who claims after the end.
		err, late string
		said      []string
	}{
		{
			"placed",
			func(f *told, _ context.CancelCauseFunc) {
				_, _ = f.Claim(context.Background(), &protocol.ClaimAskParams{ID: "u1", NewTask: true}, "one")
			},
			"", "this question was already placed by one at ",
			[]string{"1 wait", "0 wait"},
		},
		{
			"dismissed",
			func(f *told, _ context.CancelCauseFunc) {
				_, _ = f.Claim(context.Background(), &protocol.ClaimAskParams{ID: "u1", Dismiss: true}, "one")
			},
			"The person dismissed it.", "this question was already dismissed by one at ",
			[]string{"1 wait", "elicitation/create dismissed one", "0 wait"},
		},
		{
			"given up by the server",
			func(_ *told, cancel context.CancelCauseFunc) {
				cancel(&task.Ended{Reason: protocol.OutcomeServerLost, Detail: "It died."})
			},
			"It died.", "this question ended at ",
			[]string{"1 wait", "elicitation/create serverLost", "0 wait"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newQueue()
				ctx, cancel := context.WithCancelCause(t.Context())
				done := f.await(ctx)
				tt.end(f, cancel)
				got := <-done
				cancel(errors.New("later"))
				if tt.err == "" && got.err != nil || tt.err != "" && (got.err == nil || got.err.Error() != tt.err) {
					t.Errorf("Await = %v, want %q", got.err, tt.err)
				}
				_, err := f.Claim(t.Context(), &protocol.ClaimAskParams{ID: "u1", NewTask: true}, "another")
				var e *protocol.Error
				if !errors.As(err, &e) || e.Code != protocol.CodeAskSettled || !strings.HasPrefix(e.Message, tt.late) {
					t.Errorf("a late Claim = %v, want %q", err, tt.late)
				}
				if diff := cmp.Diff(tt.said, f.said); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestAConversationThatCannotBeMadeLeavesTheQuestionWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newQueue()
		f.refuse = errors.New("no disk")
		ctx, cancel := context.WithCancel(t.Context())
		done := f.await(ctx)
		if _, err := f.Claim(ctx, &protocol.ClaimAskParams{ID: "u1", NewTask: true}, "a test"); !errors.Is(err, f.refuse) {
			t.Errorf("Claim = %v, want %v", err, f.refuse)
		}
		_, err := f.Claim(ctx, &protocol.ClaimAskParams{ID: "u2", NewTask: true}, "a test")
		var e *protocol.Error
		if !errors.As(err, &e) || e.Code != protocol.CodeUnknownAsk {
			t.Errorf("Claim of nothing = %v", err)
		}
		list := f.List()
		want := []protocol.UnattributedAsk{{ID: "u1", Time: time.Now().UnixMilli(), ServerName: "s", Wants: protocol.WantsForm, Text: "Which?", Candidates: candidates}}
		if diff := cmp.Diff(want, list); diff != "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
		cancel()
		<-done
	})
}
