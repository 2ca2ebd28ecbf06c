package hub

import (
	"context"
	"errors"
	"testing"

	"assent/protocol"
	"assent/sidecar/task"
	"assent/sidecar/wire"
)

// A server that hears of the end of its call withdraws its requests at once. That can overtake the end that the hub gives
// them, and must not look as if the server had stopped waiting by itself.
func TestAnAskThatIsWithdrawnForItsCancelledCallEndsWithTheCall(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	atWork := t.Context()
	for _, tt := range []struct {
		name  string
		calls []*call
		want  protocol.OutcomeReason
	}{
		{"its call is cancelled", []*call{{ctx: cancelled}}, protocol.OutcomeCallEnded},
		{"its call goes on", []*call{{ctx: atWork}}, protocol.OutcomeServerStoppedWaiting},
		{"another call that may have asked goes on", []*call{{ctx: cancelled}, {ctx: atWork}}, protocol.OutcomeServerStoppedWaiting},
		{"it belongs to no call", nil, protocol.OutcomeServerStoppedWaiting},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &conn{ctx: t.Context(), asks: map[*asking]struct{}{}}
			request, withdraw := context.WithCancelCause(t.Context())
			ctx, _, done := c.asking(request, tt.calls)
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
