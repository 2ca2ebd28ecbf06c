package cmd

import (
	"os"
	"runtime/debug"
)

const (
	// daemonPercent is the daemon's GOGC. With the default of 100 the collector takes a seventh of the CPU of an ask.
	daemonPercent = 200
	// relayMemory is how many bytes a relay may use before the collector runs. A relay makes nearly no garbage.
	relayMemory = 16 << 20
)

// paceDaemon and paceRelay set the garbage collector of a process, unless its environment does.

func paceDaemon() {
	if !garbageIsSet() {
		debug.SetGCPercent(daemonPercent)
	}
}

func paceRelay() {
	if !garbageIsSet() {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(relayMemory)
	}
}

func garbageIsSet() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }
