// Package procinfo reads which processes run on this machine: those that listen on a port, those that were left
// behind, and those with an entry in their environment. It only reads; it does not start, signal or write
// anything.
//
// It has no state, and its functions may be called from any goroutine. On Linux they read /proc, with this user's
// permissions. macOS has [Boot], [StartOf] and [Processes]. Functions that a system does not support fail with
// [errors.ErrUnsupported]. The name of a process is untrusted text.
package procinfo

import "time"

// Process is a process of this machine.
type Process struct {
	PID int
	// Name is the system's name for the process: at most 15 bytes.
	Name string
	// Since is when the process started; zero if unknown.
	Since time.Time
}
