package attribution

import (
	"context"
	"errors"
	"testing"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/wire"
)

// A server that hears of the end of its call withdraws its requests at once. That can overtake the end that the ledger gives
// them, and must not look as if the server had stopped waiting by itself.
func TestAnAskThatIsWithdrawnForItsCancelledCallEndsWithTheCall(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	atWork := t.Context()
	for _, tt := range []struct {
		name  string
		calls []*Call
		want  protocol.OutcomeReason
	}{
		{"its call is cancelled", []*Call{{ctx: cancelled}}, protocol.OutcomeCallEnded},
		{"its call goes on", []*Call{{ctx: atWork}}, protocol.OutcomeServerStoppedWaiting},
		{"another call that may have asked goes on", []*Call{{ctx: cancelled}, {ctx: atWork}}, protocol.OutcomeServerStoppedWaiting},
		{"it belongs to no call", nil, protocol.OutcomeServerStoppedWaiting},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := NewLedger(t.Context(), "t")
			for _, one := range tt.calls {
				l.Begin(one.ctx, one)
			}
			request, withdraw := context.WithCancelCause(t.Context())
			ctx, _, done := l.Open(request, &Request{}, nil, nil)
			defer done()
			withdraw(wire.ErrCancelled)
			<-ctx.Done()
			var ended *task.Ended
			if !errors.As(context.Cause(ctx), &ended) || ended.Reason != tt.want {
				t.Errorf("the ask ended by %v, want %s", context.Cause(ctx), tt.want)
			}
		})
	}
}
