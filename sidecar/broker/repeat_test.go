package broker_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/broker"
	"assent/sidecar/task"
	"assent/sidecar/task/tasktest"
)

var repeated = protocol.RepeatMcpCall{
	Origin: protocol.Origin{ServerName: "s", ToolNames: []string{"t"}, MessageID: 1}, Reason: "It failed.",
}

func TestOnlyAYesHasACallMadeOnceMore(t *testing.T) {
	answer := func(way protocol.AskResponse) func(*fixture, context.CancelCauseFunc) {
		return func(f *fixture, _ context.CancelCauseFunc) {
			if err := f.answer(t, protocol.AskResponseParams{AskResponse: way}); err != nil {
				t.Error(err)
			}
		}
	}
	tests := []struct {
		name string
		end  func(*fixture, context.CancelCauseFunc)
		want bool
	}{
		{"yes", answer(protocol.YesButtonClicked), true},
		{"no", answer(protocol.NoButtonClicked), false},
		{"put away", answer(protocol.CancelButtonClicked), false},
		{"cancelled", func(f *fixture, cancel context.CancelCauseFunc) {
			tasktest.AwaitAsk(t, f.events)
			cancel(&task.Ended{Reason: protocol.OutcomeDismissed})
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			done := make(chan bool, 1)
			go func() {
				again, err := f.RepeatCall(ctx, f.task, repeated)
				if err != nil {
					t.Error(err)
				}
				done <- again
			}()
			tt.end(f, cancel)
			if got := <-done; got != tt.want {
				t.Errorf("RepeatCall = %v, want %v", got, tt.want)
			}
		})
	}
}

// Without a front end that shows questions, no call is repeated.
func TestWithoutAPersonNoCallIsMadeOnceMore(t *testing.T) {
	b := broker.New(broker.Options{})
	again, err := b.RepeatCall(t.Context(), nil, repeated)
	if diff := cmp.Diff(false, again); diff != "" || err != nil {
		t.Errorf("RepeatCall = %v, %v", again, err)
	}
}
