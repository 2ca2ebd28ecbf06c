package cmd

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// percentNow returns the collector's GOGC.
func percentNow() int {
	now := debug.SetGCPercent(daemonPercent)
	debug.SetGCPercent(now)
	return now
}

// collecting sets the collector as a daemon does, until the test ends.
func collecting(t *testing.T) *garbage {
	t.Helper()
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	before := percentNow()
	g := collectGarbage()
	t.Cleanup(func() {
		g.end()
		debug.SetGCPercent(before)
	})
	return g
}

func TestTheCollectorOfADaemonRunsSeldom(t *testing.T) {
	collecting(t)
	if got := percentNow(); got != daemonPercent {
		t.Errorf("the collector runs at %d %%, want %d", got, daemonPercent)
	}
}

func TestARestGivesMemoryBackOnce(t *testing.T) {
	g := collecting(t)
	debug.SetGCPercent(-1) // only the test collects
	resident := func() uint64 {
		all := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
		metrics.Read(all)
		return all[0].Value.Uint64() + all[1].Value.Uint64() + all[2].Value.Uint64()
	}
	const size = 64 << 20
	much := make([]byte, size)
	with := resident()
	runtime.KeepAlive(much)
	g.rest.Stop()
	g.giveBack()
	if without := resident(); without > with-size/2 {
		t.Errorf("%d bytes are resident, of %d", without, with)
	}
	// Its own runs begin no rest, and the next run does.
	g.collected()
	if g.rest.Stop() {
		t.Error("its own runs begin a rest")
	}
	runtime.GC()
	await(t, g.rest.Stop)
}

// await waits for what happens soon after a run of the collector.
func await(t *testing.T, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !happened(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen")
		}
	}
}

func TestTheCollectorOfARelayWaitsForMuchMemory(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	percent, limit := percentNow(), debug.SetMemoryLimit(-1)
	defer func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}()
	avoidGarbage()
	if gotPercent, gotLimit := percentNow(), debug.SetMemoryLimit(-1); gotPercent != -1 || gotLimit != relayMemory {
		t.Errorf("the collector runs at %d %% and at %d bytes, want never and at %d", gotPercent, gotLimit, relayMemory)
	}
}

func TestTheCollectorRunsAsTheEnvironmentSays(t *testing.T) {
	t.Setenv("GOGC", "150")
	before := percentNow()
	defer collectGarbage().end()
	avoidGarbage()
	if got := percentNow(); got != before {
		t.Errorf("the collector runs at %d %%, want %d", got, before)
	}
}
