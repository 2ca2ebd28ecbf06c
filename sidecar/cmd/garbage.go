package cmd

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// daemonPercent is the daemon's GOGC. With the default of 100 the collector runs at every few asks, and takes a seventh of
// their CPU.
const daemonPercent = 200

// restAfter is how long after the last run of the collector the daemon counts as idle. It then returns free memory to the
// system, most of it from when servers were connected, and shrinks the stacks of goroutines that wait.
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

// collectGarbage sets the collector of a daemon, and returns free memory to the system whenever the daemon is idle, until
// the result is ended. If the environment says how the collector is to run, collectGarbage changes nothing.
func collectGarbage() *garbage {
	g := &garbage{}
	if !garbageIsSet() {
		debug.SetGCPercent(daemonPercent)
		g.rest = time.AfterFunc(restAfter, g.giveBack)
		g.afterNext()
	}
	return g
}

// garbage returns memory to the system while the daemon is idle.
type garbage struct {
	mu    sync.Mutex // guards the fields below
	ended bool
	// rest calls giveBack, unless the collector runs before.
	rest *time.Timer
	// given is the number of runs of the collector when memory was returned last.
	given uint64
}

// end stops g. The collector stays as it is.
func (g *garbage) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	if g.rest != nil {
		g.rest.Stop()
	}
}

// afterNext makes the next run of the collector call collected, by leaving it something to collect.
func (g *garbage) afterNext() {
	runtime.AddCleanup(new([64]byte), (*garbage).collected, g)
}

// collected restarts the rest after a run of the collector.
func (g *garbage) collected() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return
	}
	if collections() != g.given { // the daemon used memory: it was not giveBack that collected
		g.rest.Reset(restAfter)
	}
	g.afterNext()
}

// collections returns how often the collector has run.
func collections() uint64 {
	sample := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// giveBack returns memory to the system. Its own runs of the collector begin no rest: collected waits for them.
func (g *garbage) giveBack() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return
	}
	runtime.GC() // a run halves stacks, and the next one does it again
	debug.FreeOSMemory()
	g.given = collections()
}
