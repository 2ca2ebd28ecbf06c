//go:build !windows

package diagnose

import "syscall"

// connectionRefused is the error of a connection to a port on which no process listens.
const connectionRefused = syscall.ECONNREFUSED
