package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// percentNow returns how the collector runs.
func percentNow() int {
	now := debug.SetGCPercent(usualPercent)
	debug.SetGCPercent(now)
	return now
}

// awaitPercent collects garbage until the collector runs as it should: what adapts it runs soon after a run.
func awaitPercent(t *testing.T, want int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); percentNow() != want; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatalf("the collector runs at %d %%, want %d", percentNow(), want)
		}
	}
}

// eased has the collector adapted until the test ends.
func eased(t *testing.T) *garbage {
	t.Helper()
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	before := percentNow()
	g := easeGarbage()
	t.Cleanup(func() {
		g.end()
		debug.SetGCPercent(before)
	})
	return g
}

func TestTheCollectorIsEasyWhileThereIsLittle(t *testing.T) {
	eased(t)
	awaitPercent(t, easyPercent)
	much := make([]byte, 2*largeHeap)
	awaitPercent(t, usualPercent)
	runtime.KeepAlive(much)
	awaitPercent(t, easyPercent)
}

func TestARestGivesMemoryBackOnce(t *testing.T) {
	g := eased(t)
	debug.SetGCPercent(-1) // nobody else collects
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
	// Its own runs begin no rest, as the next one of somebody else does.
	g.adapt()
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
	defer easeGarbage().end()
	avoidGarbage()
	if got := percentNow(); got != before {
		t.Errorf("the collector runs at %d %%, want %d", got, before)
	}
}

func TestBetweenTheSizesTheCollectorStaysAsItIs(t *testing.T) {
	const between = (smallHeap + largeHeap) / 2
	for _, now := range []int{easyPercent, usualPercent} {
		if got := percentFor(between, now); got != now {
			t.Errorf("percentFor(%d, %d) = %d", between, now, got)
		}
	}
}
