package cmd

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestTheGarbageCollectorOfAProcess(t *testing.T) {
	for _, tt := range []struct {
		name, gogc, limit string
		pace              func()
		percent           int
		memory            int64
	}{
		{"daemon", "", "", paceDaemon, daemonPercent, math.MaxInt64},
		{"relay", "", "", paceRelay, -1, relayMemory},
		{"daemon with the person's GOGC", "70", "", paceDaemon, 100, math.MaxInt64},
		{"relay with the person's GOMEMLIMIT", "", "1GiB", paceRelay, 100, math.MaxInt64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("GOGC", tt.gogc)
			t.Setenv("GOMEMLIMIT", tt.limit)
			percent, memory := debug.SetGCPercent(100), debug.SetMemoryLimit(math.MaxInt64)
			tt.pace()
			gotPercent, gotMemory := debug.SetGCPercent(percent), debug.SetMemoryLimit(memory)
			if gotPercent != tt.percent || gotMemory != tt.memory {
				t.Errorf("GOGC %d and GOMEMLIMIT %d, want %d and %d", gotPercent, gotMemory, tt.percent, tt.memory)
			}
		})
	}
}
