package quirk_test

import (
	"testing"
	"time"

	"assent/sidecar/wire/quirk"
)

// A machine on which a ping takes long gets a longer pause, within limits.
func TestRootsPause(t *testing.T) {
	for _, tt := range []struct{ ping, want time.Duration }{
		{0, 15 * time.Millisecond},
		{time.Millisecond, 15 * time.Millisecond},
		{10 * time.Millisecond, 50 * time.Millisecond},
		{time.Second, 100 * time.Millisecond},
	} {
		if got := quirk.RootsPause(tt.ping); got != tt.want {
			t.Errorf("RootsPause(%v) = %v, want %v", tt.ping, got, tt.want)
		}
	}
}
