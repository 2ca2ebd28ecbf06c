// Package procinfo looks at what else runs on this machine: who listens on a port, which processes were left
// behind, and which have an entry in their environment. It only looks: nothing is started, signalled or written.
//
// It keeps no state, and its functions may be called from any goroutine. On Linux they read /proc, and see
// as much as this user may. macOS has [Boot], [StartOf] and [Processes]. Functions that a system does not have fail with
// [errors.ErrUnsupported]. The name of a process is untrusted text.
package procinfo

import "time"

// Process is a process of this machine.
type Process struct {
	PID int
	// Name is what the system calls it: 15 bytes at most.
	Name string
	// Since is when it began; zero where that is not known.
	Since time.Time
}
