package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// The garbage collector of a daemon with little in memory runs at every few asks, and takes a seventh of their
// CPU: by default, whenever 4 MB have become garbage. Up to smallHeap it waits for twice that. Where more lives
// it is the runtime's own default, as memory is then what is short; docs/performance.md has what was measured.
const (
	smallHeap    = 8 << 20 // bytes
	largeHeap    = 12 << 20
	easyPercent  = 200
	usualPercent = 100
)

// restAfter is how long the collector has not run when the daemon is taken to be at rest: what it has no use for goes
// back to the system then, most of it from when servers were connected, and the stacks of goroutines that wait shrink.
const restAfter = 5 * time.Second

// relayMemory is how many bytes a relay may use before the collector runs. A relay uses a sixth of it, and makes nearly no
// garbage. A run of the collector takes 0.8 MB itself, for each window.
const relayMemory = 16 << 20

// avoidGarbage has the collector run only when a relay uses much memory, unless the environment says how it is to run.
func avoidGarbage() {
	if !garbageIsSet() {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(relayMemory)
	}
}

// garbageIsSet reports whether the environment says how the collector is to run.
func garbageIsSet() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }

// easeGarbage adapts the garbage collector to the heap after each of its runs, until it is ended; unless the
// environment says how it is to run.
func easeGarbage() *garbage {
	g := &garbage{percent: easyPercent}
	if !garbageIsSet() {
		debug.SetGCPercent(easyPercent)
		g.rest = time.AfterFunc(restAfter, g.giveBack)
		g.afterNext()
	}
	return g
}

// garbage is how the collector runs now.
type garbage struct {
	mu      sync.Mutex // guards the fields below
	percent int
	ended   bool
	// rest calls giveBack, unless the collector runs before.
	rest *time.Timer
	// given is how often the collector had run when memory was given back last.
	given uint64
}

// end leaves the collector as it is then.
func (g *garbage) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	if g.rest != nil {
		g.rest.Stop()
	}
}

// afterNext has the next run call adapt, by leaving it something to collect.
func (g *garbage) afterNext() {
	runtime.AddCleanup(new([64]byte), (*garbage).adapt, g)
}

func (g *garbage) adapt() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return
	}
	live, runs := collected()
	if percent := percentFor(live, g.percent); percent != g.percent {
		g.percent = percent
		debug.SetGCPercent(percent)
	}
	if runs != g.given { // somebody used memory, and it was not giveBack that collected
		g.rest.Reset(restAfter)
	}
	g.afterNext()
}

// collected returns how many bytes lived at the last run of the collector, and how many runs there were.
func collected() (live, runs uint64) {
	told := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(told)
	return told[0].Value.Uint64(), told[1].Value.Uint64()
}

// giveBack gives memory back to the system. Its own runs of the collector begin no rest: adapt waits for them.
func (g *garbage) giveBack() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return
	}
	runtime.GC() // a run halves stacks, and the next one does it again
	debug.FreeOSMemory()
	_, g.given = collected()
}

// percentFor returns how the collector is to run with so many bytes alive; between the two sizes it stays as it
// is.
func percentFor(live uint64, now int) int {
	switch {
	case live <= smallHeap:
		return easyPercent
	case live >= largeHeap:
		return usualPercent
	default:
		return now
	}
}
